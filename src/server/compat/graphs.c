/* graphs.c: /data/plugin/graphs: which graphs there are, and each as protobuf text. */
#include "graph/formats/graph.h"

#include "base/text/number.h"
#include "graph/formats/keras_graph.h"
#include "server/compat/series.h"
#include "server/graph_source.h"
#include "base/banned.h"

#define RUN_GRAPH "graphs"
#define RUN_METADATA "graph_run_metadata"
#define RUN_METADATA_GRAPH "graph_run_metadata_graph"
#define KERAS_MODEL "graph_keras_model"
#define TAGGED_RUN_METADATA "graph_tagged_run_metadata"

/* ---- /info ----------------------------------------------------------------------------------- */

static void add_flag(sb_json *j, const char *name, bool on) {
    sb_json_key_str(j, name);
    sb_json_bool(j, on);
}

static void add_graph_run(sb_json *j, sb_slice run, const sb_series_info *series, size_t n) {
    bool has_graph = false;
    sb_json_key(j, run);
    sb_json_begin_object(j);
    sb_json_put_text(j, "run", run);
    sb_json_key_str(j, "tags");
    sb_json_begin_object(j);
    for (size_t i = 0; i < n; i++) {
        unsigned bits = sb_graph_offers(&series[i]);
        has_graph |= bits == SB_GRAPH_OF_RUN;
        if (bits == 0 || bits == SB_GRAPH_OF_RUN) continue;
        sb_json_key(j, series[i].tag);
        sb_json_begin_object(j);
        sb_json_put_text(j, "tag", series[i].tag);
        add_flag(j, "conceptual_graph", bits & SB_GRAPH_CONCEPTUAL);
        add_flag(j, "op_graph", bits & SB_GRAPH_OPS);
        add_flag(j, "profile", bits & SB_GRAPH_PROFILE);
        sb_json_end_object(j);
    }
    sb_json_end_object(j);
    add_flag(j, "run_graph", has_graph);
    sb_json_end_object(j);
}

SB_COMPAT_HANDLER(graphs_info) {
    sb_app *a = app;
    sb_runs runs;
    sb_status status = sb_store_runs(a->store, q->arena, &runs);
    if (status != SB_OK) return status;
    sb_json j;
    sb_compat_json_begin(&j, r);
    sb_json_begin_object(&j);
    for (size_t i = 0; i < runs.n && status == SB_OK; i++) {
        sb_series_info *series;
        sb_run_info info;
        size_t n;
        bool any = false;
        sb_arena_mark mark = sb_arena_here(q->arena);
        status = sb_run_list(runs.items[i], q->arena, &series, &n);
        if (status != SB_OK) break;
        sb_run_get_info(runs.items[i], &info);
        for (size_t k = 0; k < n && !any; k++) any = sb_graph_offers(&series[k]) != 0;
        if (any) add_graph_run(&j, info.name, series, n);
        sb_arena_reset(q->arena, mark);
    }
    sb_runs_release(&runs);
    if (status != SB_OK) return status;
    sb_json_end_object(&j);
    return sb_compat_json_end(&j, r);
}

/* ---- one graph ------------------------------------------------------------------------------- */

/* The first blob of the last sample of a tag; SB_NOT_FOUND. In the arena. */
static sb_status read_blob(sb_http_request *q, sb_app *app, sb_slice run, sb_slice tag,
                           const char *plugin, sb_slice *out, sb_err *err) {
    sb_found_series found;
    sb_status status = sb_compat_find(&found, app, q->arena, run, tag, plugin, SB_SERIES_BLOBS);
    if (status != SB_OK) return status;
    sb_ref_item item;
    status = sb_graph_blob(app, &found.series, q->arena, &item, out, err);
    sb_compat_release(&found);
    return status;
}

/* The same, from the first plugin that has it. */
static sb_status read_either(sb_http_request *q, sb_app *app, sb_slice run, sb_slice tag,
                             const char *first, const char *second, sb_slice *out, sb_err *err) {
    sb_status status = read_blob(q, app, run, tag, first, out, err);
    return status == SB_NOT_FOUND ? read_blob(q, app, run, tag, second, out, err) : status;
}

/* Appends the GraphDef that the query asks for. */
static sb_status find_graph(sb_http_request *q, sb_app *app, sb_buf *out, sb_slice run,
                            sb_err *err) {
    sb_slice tag = sb_http_query(q, "tag"), blob;
    sb_status status;
    if (sb_slice_eq(sb_http_query(q, "conceptual"), SB_LIT("true"))) {
        status = read_blob(q, app, run, tag, KERAS_MODEL, &blob, err);
        return status == SB_OK ? sb_keras_graph(out, blob, SB_KERAS_PLAIN, q->arena, err) : status;
    }
    if (!tag.p) {
        status = read_blob(q, app, run, SB_LIT(SB_RUN_GRAPH_TAG), RUN_GRAPH, &blob, err);
        if (status == SB_OK) sb_buf_add_slice(out, blob);
        return status == SB_OK ? sb_buf_check(out, "a graph", err) : status;
    }
    status = read_either(q, app, run, tag, RUN_METADATA, RUN_METADATA_GRAPH, &blob, err);
    return status == SB_OK
               ? sb_graph_of_run_metadata(out, blob, SB_FUNCTIONS_RENAMED, q->arena, err)
               : status;
}

/* The reply for a failure: 400 with the reason, or TensorBoard's 404. */
static sb_status reply_graph_error(sb_http_reply *r, sb_status status) {
    if (status == SB_NOT_FOUND) return sb_compat_plain(r, 404, "Not found");
    if (status != SB_INVALID) return status;
    char text[sizeof sb_http_err(r)->text];
    memcpy(text, sb_http_err(r)->text, sizeof text);
    return sb_compat_plain(r, 400, "%s", text);
}

static sb_status send_text(sb_http_request *q, sb_http_reply *r, sb_message_id id,
                           sb_slice message) {
    sb_http_type(r, "text/x-protobuf; charset=utf-8");
    return sb_graph_text(sb_http_body(r), id, message, q->arena, sb_http_err(r));
}

static sb_status send_graph(sb_http_request *q, sb_http_reply *r, sb_app *app, sb_slice run,
                            int64_t limit, sb_slice large_key) {
    sb_buf graph, smaller;
    sb_err *err = sb_http_err(r);
    sb_buf_init(&graph, q->alloc, SB_MOST_GRAPH_BYTES);
    sb_buf_init(&smaller, q->alloc, SB_MOST_GRAPH_BYTES);
    sb_status status = find_graph(q, app, &graph, run, err);
    if (status == SB_OK && limit) {
        status = sb_graph_limit_attrs(&smaller, sb_buf_slice(&graph), (uint64_t)limit, large_key,
                                      q->arena, err);
        if (status == SB_OK) status = send_text(q, r, SB_MSG_GRAPH, sb_buf_slice(&smaller));
    } else if (status == SB_OK) {
        status = send_text(q, r, SB_MSG_GRAPH, sb_buf_slice(&graph));
    }
    sb_buf_fini(&smaller);
    sb_buf_fini(&graph);
    return reply_graph_error(r, status);
}

SB_COMPAT_HANDLER(graphs_graph) {
    sb_slice run = sb_http_query(q, "run");
    sb_slice limit_text = sb_http_query(q, "limit_attr_size");
    sb_slice large_key = sb_http_query(q, "large_attrs_key");
    int64_t limit = 0;
    if (!run.p) return sb_compat_plain(r, 400, "query parameter \"run\" is required");
    if (limit_text.p && !sb_parse_int64(limit_text, &limit))
        return sb_compat_plain(r, 400, "query parameter `limit_attr_size` must be an integer");
    if (limit_text.p && !large_key.p)
        return sb_compat_plain(r, 400,
                               "large_attrs_key must be != None when limit_attr_size!= None.");
    if (limit_text.p && limit <= 0)
        return sb_compat_plain(r, 400, "limit_attr_size must be > 0, but is %lld",
                               (long long)limit);
    return send_graph(q, r, app, run, limit, large_key);
}

SB_COMPAT_HANDLER(graphs_run_metadata) {
    sb_slice run = sb_http_query(q, "run"), tag = sb_http_query(q, "tag"), blob;
    if (!tag.p) return sb_compat_plain(r, 400, "query parameter \"tag\" is required");
    if (!run.p) return sb_compat_plain(r, 400, "query parameter \"run\" is required");
    sb_status status =
        read_either(q, app, run, tag, TAGGED_RUN_METADATA, RUN_METADATA, &blob, sb_http_err(r));
    if (status == SB_OK) status = send_text(q, r, SB_MSG_RUN_METADATA, blob);
    return reply_graph_error(r, status);
}
