/* routes.c: everything that is answered, in one table.
 *
 * TensorBoard checks the method of one route only, so its other routes accept any. INLINE are those
 * that answer from memory in well under a millisecond whatever the data; EITHER those that usually
 * do.
 */
#include "server/api/api.h"
#include "server/assets.h"
#include "server/compat/compat.h"
#include "base/banned.h"

#define PLUGIN(path) "/data/plugin/" path
/* Any method. */
#define ANY(where, name, run_how)                                                                  \
    { .methods = SB_HTTP_ALL, .path = (where), .run = sb_compat_##name, .how = (run_how) }

const sb_http_route sb_app_routes[] = {
    ANY("/", index, SB_HTTP_QUICK),
    ANY("/index.html", index, SB_HTTP_QUICK),
    {.methods = SB_HTTP_READ, .path = "/assets/*", .run = sb_assets_file},
    ANY("/data/environment", environment, SB_HTTP_INLINE),
    ANY("/data/logdir", logdir, SB_HTTP_INLINE),
    ANY("/data/window_properties", window_properties, SB_HTTP_INLINE),
    ANY("/data/runs", runs, SB_HTTP_QUICK),
    ANY("/data/experiments", no_experiments, SB_HTTP_INLINE),
    ANY("/data/experiment_runs", no_experiments, SB_HTTP_INLINE),
    ANY("/data/notifications", notifications, SB_HTTP_INLINE),
    ANY("/notifications_note.json", no_notifications, SB_HTTP_INLINE),
    ANY("/audio", to_index, SB_HTTP_INLINE),
    ANY("/events", to_index, SB_HTTP_INLINE),
    ANY("/graphs", to_index, SB_HTTP_INLINE),
    ANY("/histograms", to_index, SB_HTTP_INLINE),
    ANY("/images", to_index, SB_HTTP_INLINE),
    ANY("/favicon.ico", not_here, SB_HTTP_INLINE),
    ANY("/data/plugins_listing", plugins_listing, SB_HTTP_QUICK),
    ANY("/data/plugin_entry.html", plugin_entry, SB_HTTP_INLINE),
    ANY(PLUGIN("scalars/tags"), scalars_tags, SB_HTTP_QUICK),
    ANY(PLUGIN("scalars/scalars"), scalars, SB_HTTP_EITHER),
    {.methods = SB_HTTP_POST,
     .path = PLUGIN("scalars/scalars_multirun"),
     .run = sb_compat_scalars_multirun,
     .how = SB_HTTP_POOLED},
    {.methods = SB_HTTP_POST,
     .path = "/api/v1/graph/file",
     .run = sb_api_graph_file,
     .how = SB_HTTP_POOLED,
     .max_body = SB_MOST_GRAPH_FILE},
    SB_API_MAP(SB_API_ROUTE){
        .methods = SB_HTTP_GET, .path = "/api/v1/events", .how = SB_HTTP_STREAM},
    ANY(PLUGIN("timeseries/tags"), timeseries_tags, SB_HTTP_QUICK),
    ANY(PLUGIN("timeseries/timeSeries"), time_series, SB_HTTP_POOLED),
    ANY(PLUGIN("timeseries/imageData"), image_data, SB_HTTP_POOLED),
    ANY(PLUGIN("histograms/tags"), histograms_tags, SB_HTTP_QUICK),
    ANY(PLUGIN("histograms/histograms"), histograms, SB_HTTP_POOLED),
    ANY(PLUGIN("distributions/tags"), histograms_tags, SB_HTTP_QUICK),
    ANY(PLUGIN("distributions/distributions"), distributions, SB_HTTP_POOLED),
    ANY(PLUGIN("images/tags"), images_tags, SB_HTTP_QUICK),
    ANY(PLUGIN("images/images"), images, SB_HTTP_POOLED),
    ANY(PLUGIN("images/individualImage"), individual_image, SB_HTTP_POOLED),
    ANY(PLUGIN("audio/tags"), audio_tags, SB_HTTP_QUICK),
    ANY(PLUGIN("audio/audio"), audio, SB_HTTP_POOLED),
    ANY(PLUGIN("audio/individualAudio"), individual_audio, SB_HTTP_POOLED),
    ANY(PLUGIN("text/tags"), text_tags, SB_HTTP_QUICK),
    ANY(PLUGIN("text/text"), text, SB_HTTP_POOLED),
    ANY(PLUGIN("profile/runs"), profile_runs, SB_HTTP_QUICK),
    ANY(PLUGIN("profile/run_tools"), profile_run_tools, SB_HTTP_QUICK),
    ANY(PLUGIN("profile/tools"), profile_tools, SB_HTTP_QUICK),
    ANY(PLUGIN("profile/hosts"), profile_hosts, SB_HTTP_QUICK),
    ANY(PLUGIN("profile/data"), profile_data, SB_HTTP_POOLED),
    ANY(PLUGIN("profile/data_csv"), profile_data_csv, SB_HTTP_POOLED),
    ANY(PLUGIN("profile/config"), profile_config, SB_HTTP_INLINE),
    ANY(PLUGIN("profile/version"), profile_version, SB_HTTP_INLINE),
    ANY(PLUGIN("profile/module_list"), profile_modules, SB_HTTP_POOLED),
    {.methods = SB_HTTP_POST,
     .path = PLUGIN("profile/generate_cache"),
     .run = sb_compat_profile_cache,
     .how = SB_HTTP_QUICK},
    ANY(PLUGIN("profile/capture_profile"), profile_capture, SB_HTTP_INLINE),
    ANY(PLUGIN("pr_curves/tags"), pr_curves_tags, SB_HTTP_QUICK),
    ANY(PLUGIN("pr_curves/pr_curves"), pr_curves, SB_HTTP_POOLED),
    ANY(PLUGIN("mesh/tags"), mesh_tags, SB_HTTP_QUICK),
    ANY(PLUGIN("mesh/meshes"), meshes, SB_HTTP_POOLED),
    ANY(PLUGIN("mesh/data"), mesh_data, SB_HTTP_POOLED),
    ANY(PLUGIN("graphs/info"), graphs_info, SB_HTTP_POOLED),
    ANY(PLUGIN("graphs/graph"), graphs_graph, SB_HTTP_POOLED),
    ANY(PLUGIN("graphs/run_metadata"), graphs_run_metadata, SB_HTTP_POOLED),
    ANY(PLUGIN("custom_scalars/layout"), custom_scalars_layout, SB_HTTP_POOLED),
    ANY(PLUGIN("custom_scalars/scalars"), custom_scalars, SB_HTTP_POOLED),
    ANY(PLUGIN("custom_scalars/download_data"), custom_scalars_download, SB_HTTP_EITHER),
    ANY(PLUGIN("hparams/experiment"), hparams_experiment, SB_HTTP_POOLED),
    ANY(PLUGIN("hparams/session_groups"), hparams_session_groups, SB_HTTP_POOLED),
    ANY(PLUGIN("hparams/metric_evals"), hparams_metric_evals, SB_HTTP_EITHER),
    ANY(PLUGIN("hparams/download_data"), hparams_download, SB_HTTP_POOLED),
    ANY(PLUGIN("debugger-v2/runs"), debugger_runs, SB_HTTP_INLINE),
    ANY(PLUGIN("debugger-v2/alerts"), debugger_no_data, SB_HTTP_INLINE),
    ANY(PLUGIN("debugger-v2/execution/digests"), debugger_no_data, SB_HTTP_INLINE),
    ANY(PLUGIN("debugger-v2/execution/data"), debugger_no_data, SB_HTTP_INLINE),
    ANY(PLUGIN("debugger-v2/graph_execution/digests"), debugger_no_data, SB_HTTP_INLINE),
    ANY(PLUGIN("debugger-v2/graph_execution/data"), debugger_no_data, SB_HTTP_INLINE),
    ANY(PLUGIN("debugger-v2/graphs/graph_info"), debugger_no_data, SB_HTTP_INLINE),
    ANY(PLUGIN("debugger-v2/graphs/op_info"), debugger_no_data, SB_HTTP_INLINE),
    ANY(PLUGIN("debugger-v2/source_files/list"), debugger_no_data, SB_HTTP_INLINE),
    ANY(PLUGIN("debugger-v2/source_files/file"), debugger_no_data, SB_HTTP_INLINE),
    ANY(PLUGIN("debugger-v2/stack_frames/stack_frames"), debugger_no_data, SB_HTTP_INLINE),
    ANY(PLUGIN("projector/runs"), projector_runs, SB_HTTP_POOLED),
    ANY(PLUGIN("projector/info"), projector_info, SB_HTTP_POOLED),
    ANY(PLUGIN("projector/tensor"), projector_tensor, SB_HTTP_POOLED),
    ANY(PLUGIN("projector/metadata"), projector_metadata, SB_HTTP_POOLED),
    ANY(PLUGIN("projector/bookmarks"), projector_bookmarks, SB_HTTP_POOLED),
    ANY(PLUGIN("projector/sprite_image"), projector_sprite_image, SB_HTTP_POOLED),
    {.methods = SB_HTTP_READ, .path = "/healthz", .run = sb_compat_healthy, .is_open = true},
};
const size_t sb_app_route_count = sizeof sb_app_routes / sizeof sb_app_routes[0];

/* Each face has its own errors. */
static void error_page(sb_http_request *q, sb_http_reply *r, int status, const char *text,
                       void *app) {
    if (sb_slice_starts(q->path, SB_LIT("/api/")))
        sb_api_error_page(r, status, text);
    else
        sb_compat_error_page(q, r, status, text, app);
}

const sb_http_hooks sb_app_hooks = {
    .rewrite = sb_compat_rewrite,
    .error_page = error_page,
};
