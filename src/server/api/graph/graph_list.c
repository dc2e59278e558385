/* graph_list.c: which graphs there are, and files that people drop on the page. */
#include <stdio.h>

#include "base/sha256.h"
#include "graph/graph.h"
#include "server/api/graph/graph_ask.h"
#include "base/banned.h"

/* Of the blob that is shown; 0 when there is none. */
static uint64_t bytes_of(sb_app *app, sb_run *run, sb_slice tag, sb_arena *arena) {
    sb_series series;
    sb_ref_item item;
    sb_err err;
    if (sb_series_take(run, tag, arena, &series) != SB_OK) return 0;
    sb_status status = sb_graph_blob(app, &series, arena, &item, NULL, &err);
    sb_series_release(&series);
    return status == SB_OK ? item.ref.length : 0;
}

static void add_entry(sb_json *j, uint32_t run, const sb_series_info *info, unsigned offers,
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
                add_entry(&j, sb_run_id(runs.items[i]), &series[k], offers,
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

/* A file is named by what it holds: the same one dropped again has the same name. */
static void name_file(char *out, size_t room, sb_slice bytes) {
    uint8_t digest[32];
    sb_sha256(bytes, digest);
    int at = snprintf(out, room, "file ");
    for (size_t i = 0; i < 16; i++) at += snprintf(out + at, room - (size_t)at, "%02x", digest[i]);
}

static sb_status keep_file(sb_http_request *q, sb_http_reply *r, sb_app *app, sb_arena *scratch,
                           sb_slice key, const sb_kept_model **kept) {
    sb_buf graph, lean; /* a comparison with another graph needs it, without large values */
    sb_graph_file about;
    sb_model *model = NULL;
    sb_err *err = sb_http_err(r);
    sb_buf_init(&graph, app->env->alloc, SB_MOST_GRAPH_BYTES);
    sb_buf_init(&lean, app->env->alloc, SB_MOST_GRAPH_BYTES);
    sb_status status = sb_graph_file_read(&graph, q->body, &about, scratch, err);
    if (status == SB_OK)
        status = sb_model_new(&model,
                              &(sb_model_ask){.alloc = app->env->alloc, .graph = about.graph}, err);
    if (status == SB_OK) status = sb_graph_lean(&lean, about.graph, err);
    sb_buf_fini(&graph);
    about.graph = (sb_slice){NULL, 0};
    if (status != SB_OK) {
        sb_model_free(model);
        sb_buf_fini(&lean);
        return status;
    }
    *kept = sb_model_cache_take(app->models, key, model, &lean, &about);
    return *kept ? SB_OK : sb_fail_nomem(err, "for a graph");
}

sb_status sb_api_graph_file(sb_http_request *q, sb_http_reply *r, void *opaque) {
    sb_app *app = opaque;
    char name[64];
    sb_arena scratch;
    sb_json j;
    name_file(name, sizeof name, q->body);
    sb_slice key = sb_slice_str(name);
    sb_arena_init(&scratch, app->env->alloc, 64 << 10, SB_MOST_GRAPH_BYTES);
    const sb_kept_model *kept = sb_model_cache_find(app->models, key);
    sb_status status = kept ? SB_OK : keep_file(q, r, app, &scratch, key, &kept);
    sb_arena_fini(&scratch);
    if (status == SB_CORRUPT || status == SB_INVALID) {
        char text[sizeof sb_http_err(r)->text];
        memcpy(text, sb_http_err(r)->text, sizeof text);
        return sb_api_fail(r, 422, "corrupt", "%s", text);
    }
    if (status != SB_OK) return status;
    sb_api_begin(&j, r, app);
    sb_json_put_str(&j, "file", name + 5);
    sb_json_put_str(&j, "format", sb_graph_format_name(kept->about.format));
    sb_model_cache_release(app->models, kept);
    return sb_api_end(&j, r);
}
