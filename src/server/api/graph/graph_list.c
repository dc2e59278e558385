/* graph_list.c: which graphs there are, and files that people drop on the page. */
#include "server/api/graph/graph_ask.h"
#include "base/banned.h"

/* The size in bytes of the graph that this tag shows; 0 if it has none. */
static uint64_t bytes_of(sb_app *app, sb_run *run, sb_slice tag, sb_arena *arena) {
    sb_series series;
    sb_ref_item item;
    sb_err err;
    if (sb_series_take(run, tag, arena, &series) != SB_OK) return 0;
    sb_status status = sb_graph_blob(app, &series, arena, &item, NULL, &err);
    sb_series_release(&series);
    return status == SB_OK ? item.ref.length : 0;
}

static void add_graph_entry(sb_json *j, uint32_t run, const sb_series_info *info, unsigned offers,
                            uint64_t bytes) {
    sb_json_begin_object(j);
    sb_json_put_uint(j, "run", run);
    sb_json_put_text(j, "tag", info->tag);
    sb_json_put_str(j, "kind",
                    offers & SB_GRAPH_OF_RUN       ? "run"
                    : offers & SB_GRAPH_OPS        ? "trace"
                    : offers & SB_GRAPH_CONCEPTUAL ? "keras"
                                                   : "stats");
    sb_json_put_bool(j, "hasStats", offers & SB_GRAPH_PROFILE);
    sb_json_put_uint(j, "bytes", bytes);
    sb_json_end_object(j);
}

sb_status sb_api_graphs(sb_http_request *q, sb_http_reply *r, void *opaque) {
    sb_app *app = opaque;
    sb_runs runs;
    sb_json j;
    sb_api_begin(&j, r, app);
    sb_status status = sb_store_runs(app->store, q->arena, &runs);
    if (status != SB_OK) return status;
    sb_json_key_str(&j, "graphs");
    sb_json_begin_array(&j);
    for (size_t i = 0; i < runs.n && status == SB_OK; i++) {
        sb_series_info *series;
        size_t n = 0;
        sb_arena_mark mark = sb_arena_here(q->arena);
        status = sb_run_list(runs.items[i], q->arena, &series, &n);
        for (size_t k = 0; status == SB_OK && k < n; k++) {
            unsigned offers = sb_graph_offers(&series[k]);
            if (offers)
                add_graph_entry(&j, sb_run_id(runs.items[i]), &series[k], offers,
                                bytes_of(app, runs.items[i], series[k].tag, q->arena));
        }
        sb_arena_reset(q->arena, mark);
    }
    sb_runs_release(&runs);
    if (status != SB_OK) return status;
    sb_json_end_array(&j);
    return sb_api_end(&j, r);
}

/* ---- files ----------------------------------------------------------------------------------- */

static sb_status refuse_file(sb_http_reply *r, const sb_graph_file *refused, const char *why) {
    const char *code = refused->trouble ? sb_graph_trouble_name(refused->trouble) : "corrupt";
    if (!refused->fault.line) return sb_api_fail(r, 422, code, "%s", why);
    sb_json j;
    sb_api_begin_error(&j, r, 422, code, why);
    sb_json_key_str(&j, "fault");
    sb_graph_put_fault(&j, &refused->fault);
    return sb_api_end_error(&j, r);
}

sb_status sb_api_graph_file(sb_http_request *q, sb_http_reply *r, void *opaque) {
    sb_app *app = opaque;
    char name[SB_UPLOAD_NAME];
    sb_arena scratch;
    sb_json j;
    sb_err err = {0};
    const sb_kept_model *kept = NULL;
    sb_graph_file refused = {0};
    sb_api_begin(&j, r, app);
    sb_status status = sb_uploads_keep(app->uploads, q->body, name, sb_http_err(r));
    json_t *source = status == SB_OK ? json_pack("{s:{s:s}}", "graph", "file", name) : NULL;
    if (!source) return status == SB_OK ? SB_NOMEM : status;
    sb_arena_init(&scratch, app->env->alloc, 16 << 10, SB_MOST_GRAPH_BYTES);
    sb_graph_wish wish = {
        .source = source, .arena = &scratch, .at_once = true, .refused = &refused};
    status = sb_graph_model_take(&kept, app, &wish, &err);
    sb_arena_fini(&scratch);
    json_decref(source);
    if (status == SB_CORRUPT || status == SB_INVALID) return refuse_file(r, &refused, err.text);
    if (status != SB_OK && status != SB_MORE) {
        *sb_http_err(r) = err;
        return status;
    }
    sb_json_put_str(&j, "file", name);
    sb_json_put_str(&j, "format", kept ? sb_graph_format_name(kept->about.format) : "");
    sb_json_put_bool(&j, "isLarge", !kept);
    sb_model_cache_release(app->models, kept);
    return sb_api_end(&j, r);
}
