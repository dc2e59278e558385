/* graph.c: graphs, run metadata, traces and Keras models, all serialized by the caller.
 *
 * Out: Event.graph_def, Event.meta_graph_def, Event.tagged_run_metadata {1 tag, 2 run_metadata};
 *      traces and models are string tensors of rank 0 whose plugin has the content "1". */
#include "base/slice.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "writer/body.h"
#include "writer/kinds/kinds.h"

#include "base/banned.h"

#define MAX_BYTES ((size_t)INT32_MAX)
#define PLUGIN_VERSION SB_LIT("1")

/* Is it a protobuf message? Only the outermost fields are checked, since graphs can be large. */
static sb_status check_message(sb_writer *w, const char *what, sb_slice bytes) {
    if (!w) return SB_INVALID;
    if (bytes.n && !bytes.p)
        return sb_call_refuse(w, SB_INVALID, "%s: the bytes are missing", what);
    if (bytes.n > MAX_BYTES)
        return sb_call_refuse(w, SB_LIMIT, "%s: over 2 GiB, which no event can hold", what);
    sb_pb c = sb_pb_over(bytes);
    sb_pb_field f;
    sb_pb_step field = SB_PB_END;
    while (bytes.n && (field = sb_pb_next(&c, &f)) == SB_PB_FIELD) continue;
    if (field == SB_PB_BAD)
        return sb_call_refuse(w, SB_INVALID, "%s: these bytes are not a serialized message", what);
    return SB_OK;
}

sb_status sb_graph(sb_writer *w, sb_slice graph_def) {
    sb_status status = check_message(w, "graph", graph_def);
    return status == SB_OK ? sb_put_body(w, SB_EVENT_GRAPH_DEF, graph_def, 0) : status;
}

sb_status sb_meta_graph(sb_writer *w, sb_slice meta_graph_def) {
    sb_status status = check_message(w, "meta graph", meta_graph_def);
    return status == SB_OK ? sb_put_body(w, SB_EVENT_META_GRAPH_DEF, meta_graph_def, 0) : status;
}

/* ---- run metadata ---------------------------------------------------------------------------- */

sb_status sb_run_metadata(sb_writer *w, const char *tag, sb_slice run_metadata, int64_t step) {
    sb_slice name;
    sb_status status = check_message(w, "run metadata", run_metadata);
    if (status == SB_OK)
        status = sb_take_text(w, "run metadata: the tag", tag, false, SB_TAG_MAX, &name);
    if (status != SB_OK) return status;
    sb_buf body;
    sb_buf_init(&body, sb_writer_env(w)->alloc, MAX_BYTES);
    sb_pb_add_bytes_nz(&body, SB_TAGGED_RUN_METADATA_TAG, name);
    sb_pb_add_bytes_nz(&body, SB_TAGGED_RUN_METADATA_RUN_METADATA, run_metadata);
    status = body.failed
                 ? sb_call_refuse(w, body.failed, "run metadata: no memory for it, or over 2 GiB")
                 : sb_put_body(w, SB_EVENT_TAGGED_RUN_METADATA, sb_buf_slice(&body), step);
    sb_buf_fini(&body);
    return status;
}

sb_status sb_run_tag_take(sb_encoder *e, sb_slice tagged_run_metadata, sb_err *err) {
    sb_pb c = sb_pb_over(tagged_run_metadata);
    sb_pb_field f;
    sb_slice tag = {NULL, 0};
    while (sb_pb_next(&c, &f) == SB_PB_FIELD)
        if (f.number == SB_TAGGED_RUN_METADATA_TAG && f.wire == SB_PB_BYTES) tag = f.bytes;
    /* Stored in the same table as the tags of summaries; those never begin with a NUL. */
    sb_slice key = sb_join(e, sb_slice_of("\0run metadata ", 14), tag);
    uint32_t id;
    bool is_new;
    if (!key.p || sb_intern_add(&e->seen_tags, key, &id, &is_new) != SB_OK)
        return sb_fail_nomem(err, "to remember the tags of run metadata");
    if (is_new) return SB_OK;
    return sb_fail(err, SB_INVALID, 0,
                   "run metadata '%.*s': the tag was used before; only the first was written",
                   SB_SHOWN(tag));
}

/* ---- traces and models ----------------------------------------------------------------------- */

static sb_status put_string(sb_writer *w, const char *tag, sb_slice bytes, const char *plugin,
                            int64_t step) {
    const sb_array array = {&bytes, SB_STRING, 0, NULL, NULL};
    return sb_tensor(w, tag, &array, step, plugin, PLUGIN_VERSION, NULL);
}

/* What trace_export keeps when there are no timings: partition and function graphs. */
static void keep_graphs(sb_buf *out, sb_slice run_metadata) {
    sb_pb c = sb_pb_over(run_metadata);
    sb_pb_field f;
    const uint8_t *from = c.p;
    while (run_metadata.n && sb_pb_next(&c, &f) == SB_PB_FIELD) {
        if (f.number == SB_RUN_METADATA_PARTITION_GRAPHS ||
            f.number == SB_RUN_METADATA_FUNCTION_GRAPHS)
            sb_buf_add(out, from, (size_t)(c.p - from));
        from = c.p;
    }
}

sb_status sb_trace(sb_writer *w, const char *name, sb_slice run_metadata, bool with_profile,
                   int64_t step) {
    sb_status status = check_message(w, "trace", run_metadata);
    if (status != SB_OK) return status;
    if (with_profile) return put_string(w, name, run_metadata, "graph_run_metadata", step);
    sb_buf graphs;
    sb_buf_init(&graphs, sb_writer_env(w)->alloc, MAX_BYTES);
    keep_graphs(&graphs, run_metadata);
    status = graphs.failed
                 ? sb_call_refuse(w, graphs.failed, "trace: out of memory")
                 : put_string(w, name, sb_buf_slice(&graphs), "graph_run_metadata_graph", step);
    sb_buf_fini(&graphs);
    return status;
}

sb_status sb_keras_model(sb_writer *w, const char *tag, const char *json, int64_t step) {
    sb_slice text;
    if (!w) return SB_INVALID;
    sb_status status = sb_take_text(w, "Keras model: the JSON", json, false, MAX_BYTES, &text);
    return status == SB_OK ? put_string(w, tag, text, "graph_keras_model", step) : status;
}
