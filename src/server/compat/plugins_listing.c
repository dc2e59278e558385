/* plugins_listing.c: which dashboards there are and which of them have something to show. */
#include "server/compat/compat.h"
#include "base/banned.h"

/* In the order in which TensorBoard's front end shows them. `needs`: names of plugins whose data
 * makes it active, with a blank behind each. */
static const struct {
    const char *name, *tab, *element; /* element NULL: a component of the front end itself */
    const char *needs;
    bool keeps_still; /* disable_reload */
} dashboards[] = {
    {"timeseries", "Time Series", NULL, "scalars histograms images ", false},
    {"scalars", "scalars", "tf-scalar-dashboard", "scalars ", false},
    {"custom_scalars", "Custom Scalars", "tf-custom-scalar-dashboard", "custom_scalars ", false},
    {"images", "images", "tf-image-dashboard", "images ", false},
    {"audio", "audio", "tf-audio-dashboard", "audio ", false},
    {"debugger-v2", "Debugger V2", NULL, "debugger-v2 ", false},
    {"graphs", "graphs", "tf-graph-dashboard",
     "graphs graph_run_metadata graph_run_metadata_graph graph_keras_model "
     "graph_tagged_run_metadata ",
     true},
    {"distributions", "distributions", "tf-distribution-dashboard", "histograms ", false},
    {"histograms", "histograms", "tf-histogram-dashboard", "histograms ", false},
    {"text", "text", "tf-text-dashboard", "text ", false},
    {"pr_curves", "PR Curves", "tf-pr-curve-dashboard", "pr_curves ", false},
    {"profile_redirect", "Profile", "tf-profile-redirect-dashboard", "", false},
    {"hparams", "hparams", "tf-hparams-dashboard", "hparams ", false},
    {"mesh", "mesh", "mesh-dashboard", "mesh ", false},
    {"wit_redirect", "What-If Tool", "tf-wit-redirect-dashboard", "", false},
    {"projector", "projector", "", "", true},
};
#define DASHBOARDS (sizeof dashboards / sizeof dashboards[0])
#define PROJECTOR (DASHBOARDS - 1)

static bool needs(size_t i, sb_slice plugin) {
    const char *list = dashboards[i].needs;
    while (*list) {
        size_t n = strcspn(list, " ");
        if (sb_slice_eq(sb_slice_of(list, n), plugin)) return true;
        list += n + 1;
    }
    return false;
}

static sb_status find_active(sb_app *app, sb_arena *arena, bool active[DASHBOARDS]) {
    sb_runs runs;
    sb_status status = sb_store_runs(app->store, arena, &runs);
    if (status != SB_OK) return status;
    size_t missing = DASHBOARDS;
    for (size_t i = 0; i < runs.n && status == SB_OK && missing; i++) {
        sb_series_info *series;
        size_t n = 0;
        sb_arena_mark mark = sb_arena_here(arena);
        status = sb_run_list(runs.items[i], arena, &series, &n);
        sb_slice last = {NULL, 0};
        for (size_t k = 0; k < n; k++) {
            sb_slice plugin = series[k].meta->plugin_name;
            if (k && sb_slice_eq(plugin, last))
                continue; /* most series have the same plugin as the one before */
            last = plugin;
            for (size_t d = 0; d < DASHBOARDS; d++) {
                if (active[d] || !needs(d, plugin)) continue;
                active[d] = true;
                missing--;
            }
        }
        sb_arena_reset(arena, mark);
    }
    sb_runs_release(&runs);
    return status;
}

static sb_status add_mechanism(sb_json *j, size_t i, const sb_http_request *q) {
    sb_status status = SB_OK;
    sb_json_key_str(j, "loading_mechanism");
    sb_json_begin_object(j);
    sb_json_key_str(j, "type");
    if (i == PROJECTOR) {
        sb_buf path;
        sb_buf_init(&path, q->alloc, (size_t)64 << 10);
        sb_buf_add_slice(&path, q->root);
        sb_buf_add_str(&path, "/data/plugin/projector/index.js");
        sb_json_str(j, "IFRAME");
        sb_json_put_text(j, "module_path", sb_buf_slice(&path));
        status = sb_buf_check(&path, "a path", NULL);
        sb_buf_fini(&path);
    } else if (dashboards[i].element) {
        sb_json_str(j, "CUSTOM_ELEMENT");
        sb_json_put_str(j, "element_name", dashboards[i].element);
    } else {
        sb_json_str(j, "NG_COMPONENT");
    }
    sb_json_end_object(j);
    return status;
}

SB_COMPAT_HANDLER(plugins_listing) {
    bool active[DASHBOARDS] = {false};
    sb_status status = find_active(app, q->arena, active);
    if (status != SB_OK) return status;
    status = sb_compat_projector_active(q, app, &active[PROJECTOR]);
    if (status != SB_OK) return status;
    sb_json j;
    sb_compat_json_begin(&j, r);
    sb_json_begin_object(&j);
    for (size_t i = 0; status == SB_OK && i < DASHBOARDS; i++) {
        sb_json_key_str(&j, dashboards[i].name);
        sb_json_begin_object(&j);
        sb_json_put_bool(&j, "disable_reload", dashboards[i].keeps_still);
        sb_json_put_bool(&j, "enabled", active[i]);
        sb_json_put_bool(&j, "remove_dom", false);
        sb_json_put_str(&j, "tab_name", dashboards[i].tab);
        status = add_mechanism(&j, i, q);
        sb_json_end_object(&j);
    }
    sb_json_end_object(&j);
    sb_status ended = sb_compat_json_end(&j, r);
    return status == SB_OK ? ended : status;
}

/* ---- /data/plugin_entry.html: the frame in which a plugin of its own page lives -------------- */

#define ENTRY_SCRIPT "import(\"./index.js\").then((m) => void m.render());"
/* The hash is that of the script. */
#define ENTRY_POLICY                                                                               \
    "default-src 'self';font-src 'self' data:;frame-src 'self';img-src 'self' data: blob:;"        \
    "object-src 'none';style-src 'self' data: 'unsafe-inline';connect-src 'self';"                 \
    "script-src 'self' 'unsafe-eval' 'sha256-PVZp/wXI2V6hq7T2aNiDNM+vJWIOWwNwyhE53i+6lSQ='"

SB_COMPAT_HANDLER(plugin_entry) {
    (void)app;
    sb_slice name = sb_http_query(q, "name");
    if (!name.p) return sb_compat_plain(r, 404, "Not found");
    size_t i = 0;
    while (i < DASHBOARDS && !sb_slice_eq(name, sb_slice_str(dashboards[i].name))) i++;
    if (i == DASHBOARDS) {
        sb_status status = sb_compat_plain(r, 404, "Not found: ");
        sb_buf_add_slice(sb_http_body(r), name);
        return status;
    }
    if (i != PROJECTOR) return sb_compat_plain(r, 400, "Plugin is not module loadable");
    sb_http_type(r, "text/html; charset=utf-8");
    sb_http_policy(r, ENTRY_POLICY);
    sb_buf_printf(sb_http_body(r),
                  "\n<!DOCTYPE html>\n<head><base href=\"plugin/%s/\" /></head>\n"
                  "<body><script type=\"module\">" ENTRY_SCRIPT "</script></body>\n",
                  dashboards[i].name);
    return SB_OK;
}
