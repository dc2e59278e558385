/* compat.h: TensorBoard's HTTP API, as its front end, notebooks and scripts know it: every handler,
 * and what they share.
 *
 * A handler answers with TensorBoard's status codes, texts and spellings
 * (docs/formats/tensorboard-http.md). Where TensorBoard answers bad input with a 500, we say 400
 * and what is wrong.
 *
 * Threads: handlers run on many; all state is in the application. */
#ifndef SB_SERVER_COMPAT_H
#define SB_SERVER_COMPAT_H

#include "base/slice.h"
#include "base/text/json.h"
#include "server/app_int.h"
#include "server/http/http.h"

/* ---- handlers: HANDLER(name) for each row of routes.c ---------------------------------------- */

#define SB_COMPAT_HANDLER(name)                                                                    \
    sb_status sb_compat_##name(sb_http_request *q, sb_http_reply *r, void *app)

/* core.c */
SB_COMPAT_HANDLER(index);
SB_COMPAT_HANDLER(environment);
SB_COMPAT_HANDLER(logdir);
SB_COMPAT_HANDLER(window_properties);
SB_COMPAT_HANDLER(runs);
SB_COMPAT_HANDLER(no_experiments);
SB_COMPAT_HANDLER(notifications);
SB_COMPAT_HANDLER(no_notifications);
SB_COMPAT_HANDLER(to_index);
SB_COMPAT_HANDLER(not_here);
SB_COMPAT_HANDLER(healthy);
/* plugins_listing.c */
SB_COMPAT_HANDLER(plugins_listing);
SB_COMPAT_HANDLER(plugin_entry);
/* scalars.c */
SB_COMPAT_HANDLER(scalars_tags);
SB_COMPAT_HANDLER(scalars);
SB_COMPAT_HANDLER(scalars_multirun);
/* The points of one series, as the scalars route answers. */
sb_status sb_compat_scalar_series(sb_http_request *q, sb_http_reply *r, sb_app *app, sb_slice run,
                                  sb_slice tag);
/* timeseries.c */
SB_COMPAT_HANDLER(timeseries_tags);
SB_COMPAT_HANDLER(time_series);
SB_COMPAT_HANDLER(image_data);
/* histograms.c */
SB_COMPAT_HANDLER(histograms_tags);
SB_COMPAT_HANDLER(histograms);
SB_COMPAT_HANDLER(distributions);
/* media.c */
SB_COMPAT_HANDLER(images_tags);
SB_COMPAT_HANDLER(images);
SB_COMPAT_HANDLER(individual_image);
SB_COMPAT_HANDLER(audio_tags);
SB_COMPAT_HANDLER(audio);
SB_COMPAT_HANDLER(individual_audio);
/* profile.c */
SB_COMPAT_HANDLER(profile_runs);
SB_COMPAT_HANDLER(profile_run_tools);
SB_COMPAT_HANDLER(profile_tools);
SB_COMPAT_HANDLER(profile_hosts);
SB_COMPAT_HANDLER(profile_data);
SB_COMPAT_HANDLER(profile_data_csv);
SB_COMPAT_HANDLER(profile_config);
SB_COMPAT_HANDLER(profile_version);
SB_COMPAT_HANDLER(profile_modules);
SB_COMPAT_HANDLER(profile_cache);
SB_COMPAT_HANDLER(profile_capture);
/* text.c */
SB_COMPAT_HANDLER(text_tags);
SB_COMPAT_HANDLER(text);
/* pr_curves.c */
SB_COMPAT_HANDLER(pr_curves_tags);
SB_COMPAT_HANDLER(pr_curves);
/* mesh.c */
SB_COMPAT_HANDLER(mesh_tags);
SB_COMPAT_HANDLER(meshes);
SB_COMPAT_HANDLER(mesh_data);
/* graphs.c */
SB_COMPAT_HANDLER(graphs_info);
SB_COMPAT_HANDLER(graphs_graph);
SB_COMPAT_HANDLER(graphs_run_metadata);
/* custom_scalars.c */
SB_COMPAT_HANDLER(custom_scalars_layout);
SB_COMPAT_HANDLER(custom_scalars);
SB_COMPAT_HANDLER(custom_scalars_download);
/* hparams.c */
SB_COMPAT_HANDLER(hparams_experiment);
SB_COMPAT_HANDLER(hparams_session_groups);
SB_COMPAT_HANDLER(hparams_metric_evals);
SB_COMPAT_HANDLER(hparams_download);
/* debugger_v2.c */
SB_COMPAT_HANDLER(debugger_runs);
SB_COMPAT_HANDLER(debugger_no_data);

/* projector.c */
SB_COMPAT_HANDLER(projector_runs);
SB_COMPAT_HANDLER(projector_info);
SB_COMPAT_HANDLER(projector_tensor);
SB_COMPAT_HANDLER(projector_metadata);
SB_COMPAT_HANDLER(projector_bookmarks);
SB_COMPAT_HANDLER(projector_sprite_image);
/* Does any run have embeddings? */
sb_status sb_compat_projector_active(sb_http_request *q, sb_app *app, bool *is_active);

/* ---- the path, before it is looked up -------------------------------------------------------- */

/* Takes /experiment/ID off the front and checks the feature flags, for every request. */
sb_status sb_compat_rewrite(sb_http_request *q, sb_http_reply *r, void *app);
/* The ID of the experiment that was in the path; empty when there was none. */
sb_slice sb_compat_experiment(const sb_http_request *q, const sb_app *app);

/* ---- errors (errors.c): each sets the whole reply and answers SB_OK -------------------------- */

/* "Invalid argument: ..." with 400, "Not found: ..." with 404; an empty text leaves out the colon.
 */
sb_status sb_compat_invalid(sb_http_reply *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
sb_status sb_compat_not_found(sb_http_reply *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The text as it is. */
sb_status sb_compat_plain(sb_http_reply *r, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The framework's HTML page for a status; the text is escaped. NULL: what the status usually says.
 */
sb_status sb_compat_page(sb_http_reply *r, int status, sb_slice text);
/* The error-page hook: what the HTTP layer itself refuses. */
void sb_compat_error_page(sb_http_request *q, sb_http_reply *r, int status, const char *text,
                          void *app);

/* "No scalar data for run='a', tag='b'" with 404. */
sb_status sb_compat_no_data(sb_http_reply *r, const char *what, sb_slice run, sb_slice tag);

/* Appends text as Python's repr shows a str: 'x', or "it's". */
void sb_compat_add_repr(sb_buf *out, sb_slice text);
/* Appends text with the five characters of HTML escaped. */
void sb_compat_add_html(sb_buf *out, sb_slice text);

/* ---- answers --------------------------------------------------------------------------------- */

/* A JSON answer in the spelling of Python's json.dumps; ends with sb_compat_json_end. */
void sb_compat_json_begin(sb_json *j, sb_http_reply *r);
sb_status sb_compat_json_end(sb_json *j, sb_http_reply *r);

#endif
