/* graph.c: merges several graphs into one, and leaves large attributes out. */
#include "graph/formats/graph.h"

#include <stdio.h>

#include "base/slice.h"
#include "codec/graph.h"
#include "codec/proto/items.h"
#include "codec/proto/proto.h"
#include "base/banned.h"

/* The state of a rewrite: rewrite_fields calls a handler for each field of a message. A handler
 * returns true when it has written (or dropped) the field itself; all other fields are copied
 * unchanged. */
typedef struct rewrite rewrite;
typedef bool (*rewrite_fn)(rewrite *w, const sb_pb_field *f);
struct rewrite {
    sb_buf *out;
    const char *prefix; /* "graph_1" */
    sb_slice large_key; /* the attribute that lists the removed attributes */
    uint64_t limit;
    sb_slice *left_out;
    size_t left_count;
    bool is_call; /* the node is a PartitionedCall whose function is renamed */
    sb_function_names names;
    sb_status status;
};

static void rewrite_fields(rewrite *w, sb_slice message, rewrite_fn take) {
    sb_pb c = sb_pb_over(message);
    sb_pb_field f;
    sb_pb_step step = SB_PB_END;
    for (const uint8_t *from = c.p;
         w->status == SB_OK && (step = sb_pb_next(&c, &f)) == SB_PB_FIELD; from = c.p)
        if (!take(w, &f)) sb_buf_add(w->out, from, (size_t)(c.p - from));
    if (w->status == SB_OK && step != SB_PB_END) w->status = SB_CORRUPT;
}

static void rewrite_message(rewrite *w, const sb_pb_field *f, rewrite_fn take) {
    size_t at = sb_pb_begin(w->out, f->number, f->bytes.n + 16);
    rewrite_fields(w, f->bytes, take);
    sb_pb_end(w->out, at);
}

static void add_prefixed(rewrite *w, uint32_t number, char between, sb_slice name) {
    size_t at = sb_pb_begin(w->out, number, name.n + 16);
    sb_buf_add_str(w->out, w->prefix);
    sb_buf_add_byte(w->out, (uint8_t)between);
    sb_buf_add_slice(w->out, name);
    sb_pb_end(w->out, at);
}

/* ---- merging --------------------------------------------------------------------------------- */

static bool take_func(rewrite *w, const sb_pb_field *f) {
    if (f->number != SB_NAME_ATTRS_NAME || f->wire != SB_PB_BYTES) return false;
    add_prefixed(w, f->number, '_', f->bytes);
    return true;
}

static bool take_call_value(rewrite *w, const sb_pb_field *f) {
    if (f->number != SB_ATTR_VALUE_FUNC || f->wire != SB_PB_BYTES) return false;
    rewrite_message(w, f, take_func);
    return true;
}

static bool take_call_entry(rewrite *w, const sb_pb_field *f) {
    if (f->number != SB_NODE_ATTR_VALUE || f->wire != SB_PB_BYTES) return false;
    rewrite_message(w, f, take_call_value);
    return true;
}

static bool is_function_attr(sb_slice entry) {
    sb_items keys = sb_items_of(entry, SB_NODE_ATTR_KEY);
    sb_slice key;
    return sb_items_next(&keys, &key) == SB_OK && sb_slice_eq(key, SB_LIT("f"));
}

static bool take_node(rewrite *w, const sb_pb_field *f) {
    if (f->wire != SB_PB_BYTES) return false;
    if (f->number == SB_NODE_NAME || f->number == SB_NODE_INPUT) {
        add_prefixed(w, f->number, '/', f->bytes);
        return true;
    }
    if (f->number != SB_NODE_ATTR || !w->is_call || !is_function_attr(f->bytes)) return false;
    rewrite_message(w, f, take_call_entry);
    return true;
}

static bool take_signature(rewrite *w, const sb_pb_field *f) {
    if (f->number != SB_OP_NAME || f->wire != SB_PB_BYTES) return false;
    add_prefixed(w, f->number, '_', f->bytes);
    return true;
}

static bool take_function(rewrite *w, const sb_pb_field *f) {
    if (f->number != SB_FUNCTION_SIGNATURE || f->wire != SB_PB_BYTES) return false;
    rewrite_message(w, f, take_signature);
    return true;
}

static bool take_gradient(rewrite *w, const sb_pb_field *f) {
    if (f->wire != SB_PB_BYTES) return false;
    if (f->number != SB_GRADIENT_FUNCTION_NAME && f->number != SB_GRADIENT_GRADIENT_FUNC)
        return false;
    add_prefixed(w, f->number, '_', f->bytes);
    return true;
}

/* Only functions and gradients are copied, as in TensorBoard; other fields of a library are
 * dropped. */
static bool take_library(rewrite *w, const sb_pb_field *f) {
    if (f->wire != SB_PB_BYTES) return true;
    if (f->number == SB_LIBRARY_FUNCTION) rewrite_message(w, f, take_function);
    if (f->number == SB_LIBRARY_GRADIENT) rewrite_message(w, f, take_gradient);
    return true;
}

static bool has_functions(sb_slice library) {
    sb_items functions = sb_items_of(library, SB_LIBRARY_FUNCTION);
    sb_items gradients = sb_items_of(library, SB_LIBRARY_GRADIENT);
    sb_slice one;
    return sb_items_next(&functions, &one) == SB_OK || sb_items_next(&gradients, &one) == SB_OK;
}

static bool take_merged_graph(rewrite *w, const sb_pb_field *f) {
    if (f->wire != SB_PB_BYTES) return true;
    if (f->number == SB_GRAPH_NODE) {
        sb_node node;
        if (sb_node_read(&node, f->bytes) != SB_OK) w->status = SB_CORRUPT;
        w->is_call = w->status == SB_OK && w->names == SB_FUNCTIONS_RENAMED &&
                     sb_slice_eq(node.op, SB_LIT("PartitionedCall"));
        rewrite_message(w, f, take_node);
    }
    if (f->number == SB_GRAPH_LIBRARY && w->names == SB_FUNCTIONS_KEPT) return false;
    if (f->number == SB_GRAPH_LIBRARY && has_functions(f->bytes))
        rewrite_message(w, f, take_library);
    return true;
}

sb_status sb_graph_merge(sb_buf *out, const sb_slice *graphs, size_t n, sb_function_names names,
                         sb_err *err) {
    if (n == 1) sb_buf_add_slice(out, graphs[0]);
    if (n <= 1) return sb_buf_check(out, "a graph", err);
    int32_t producer = 0;
    for (size_t i = 0; i < n; i++) {
        char prefix[32];
        snprintf(prefix, sizeof prefix, "graph_%zu", i + 1);
        rewrite w = {.out = out, .prefix = prefix, .names = names};
        sb_graph_view graph;
        if (sb_graph_read(&graph, graphs[i]) != SB_OK)
            return sb_fail(err, SB_CORRUPT, 0, "not a well-formed graph");
        if (i == 0) {
            producer = graph.producer;
            sb_items versions = sb_items_of(graphs[0], SB_GRAPH_VERSIONS);
            sb_slice body;
            while (producer && sb_items_next(&versions, &body) == SB_OK)
                sb_pb_add_bytes(out, SB_GRAPH_VERSIONS, body);
        }
        if (graph.producer != producer)
            return sb_fail(err, SB_INVALID, 0, "Cannot combine GraphDefs of different versions.");
        rewrite_fields(&w, graphs[i], take_merged_graph);
        if (w.status != SB_OK) return sb_fail(err, w.status, 0, "not a well-formed graph");
    }
    return sb_buf_check(out, "a graph", err);
}

sb_status sb_graph_of_run_metadata(sb_buf *out, sb_slice run_metadata, sb_function_names names,
                                   sb_arena *scratch, sb_err *err) {
    sb_arena_mark mark = sb_arena_here(scratch);
    sb_items functions = sb_items_of(run_metadata, SB_RUN_METADATA_FUNCTION_GRAPHS);
    sb_slice function;
    size_t n = 0;
    sb_status status;
    while ((status = sb_items_next(&functions, &function)) == SB_OK) n++;
    if (status != SB_END) return sb_fail(err, SB_CORRUPT, 0, "not well-formed run metadata");
    sb_slice *graphs = sb_arena_zeroed(scratch, n + 1, sizeof *graphs);
    if (!graphs) return sb_fail_nomem(err, "for a graph");
    functions = sb_items_of(run_metadata, SB_RUN_METADATA_FUNCTION_GRAPHS);
    for (size_t i = 0; i < n && sb_items_next(&functions, &function) == SB_OK; i++) {
        sb_items parts = sb_items_of(function, SB_FUNCTION_GRAPHS_PRE_OPTIMIZATION_GRAPH);
        while (sb_items_next(&parts, &graphs[i]) == SB_OK)
            ;
    }
    status = sb_graph_merge(out, graphs, n, names, err);
    sb_arena_reset(scratch, mark);
    return status;
}

/* ---- large attributes ------------------------------------------------------------------------ */

static bool take_small_attr(rewrite *w, const sb_pb_field *f) {
    if (f->number != SB_NODE_ATTR || f->wire != SB_PB_BYTES) return false;
    sb_items entries = sb_items_of(f->bytes, SB_NODE_ATTR_VALUE);
    sb_slice value = {NULL, 0}, key = {NULL, 0};
    while (sb_items_next(&entries, &value) == SB_OK)
        ;
    if (value.n <= w->limit) return false;
    entries = sb_items_of(f->bytes, SB_NODE_ATTR_KEY);
    while (sb_items_next(&entries, &key) == SB_OK)
        ;
    w->left_out[w->left_count++] = key;
    return true;
}

/* Adds the map entry {key, {list {s, s, ...}}} after all other attributes of the node. When the
 * node already has an attribute of that name, readers use this one, because the last entry of a key
 * wins. */
static void add_left_out(rewrite *w) {
    size_t entry = sb_pb_begin(w->out, SB_NODE_ATTR, 64);
    sb_pb_add_bytes(w->out, SB_NODE_ATTR_KEY, w->large_key);
    size_t value = sb_pb_begin(w->out, SB_NODE_ATTR_VALUE, 64);
    size_t list = sb_pb_begin(w->out, SB_ATTR_VALUE_LIST, 64);
    for (size_t i = 0; i < w->left_count; i++)
        sb_pb_add_bytes(w->out, SB_ATTR_LIST_S, w->left_out[i]);
    sb_pb_end(w->out, list);
    sb_pb_end(w->out, value);
    sb_pb_end(w->out, entry);
}

static bool take_limited_graph(rewrite *w, const sb_pb_field *f) {
    if (f->number != SB_GRAPH_NODE || f->wire != SB_PB_BYTES) return false;
    size_t at = sb_pb_begin(w->out, f->number, f->bytes.n);
    w->left_count = 0;
    rewrite_fields(w, f->bytes, take_small_attr);
    if (w->left_count) add_left_out(w);
    sb_pb_end(w->out, at);
    return true;
}

static size_t most_attrs(sb_slice graph_def) {
    sb_items nodes = sb_items_of(graph_def, SB_GRAPH_NODE);
    sb_slice node, entry;
    size_t most = 0;
    while (sb_items_next(&nodes, &node) == SB_OK) {
        sb_items attrs = sb_items_of(node, SB_NODE_ATTR);
        size_t n = 0;
        while (sb_items_next(&attrs, &entry) == SB_OK) n++;
        if (n > most) most = n;
    }
    return most;
}

sb_status sb_graph_limit_attrs(sb_buf *out, sb_slice graph_def, uint64_t limit, sb_slice key,
                               sb_arena *scratch, sb_err *err) {
    sb_arena_mark mark = sb_arena_here(scratch);
    sb_buf sorted;
    sb_buf_init(&sorted, out->alloc, out->cap);
    /* Sorting comes first: it removes duplicate keys, so only the entry that is valid is
     * measured. */
    sb_status status = sb_message_sort(&sorted, SB_MSG_GRAPH, graph_def, scratch, err);
    rewrite w = {.out = out, .limit = limit, .large_key = key};
    if (status == SB_OK) {
        w.left_out =
            sb_arena_zeroed(scratch, most_attrs(sb_buf_slice(&sorted)) + 1, sizeof *w.left_out);
        if (!w.left_out) status = sb_fail_nomem(err, "for a graph");
    }
    if (status == SB_OK) {
        rewrite_fields(&w, sb_buf_slice(&sorted), take_limited_graph);
        status = w.status == SB_OK ? sb_buf_check(out, "a graph", err)
                                   : sb_fail(err, w.status, 0, "not a well-formed graph");
    }
    sb_buf_fini(&sorted);
    sb_arena_reset(scratch, mark);
    return status;
}

/* ---- without large values -------------------------------------------------------------------- */

static bool drop_large_attr(rewrite *w, const sb_pb_field *f) {
    (void)w;
    if (f->number != SB_NODE_ATTR || f->wire != SB_PB_BYTES || f->bytes.n <= SB_LEAN_BYTES)
        return false;
    sb_items keys = sb_items_of(f->bytes, SB_NODE_ATTR_KEY);
    sb_slice key;
    return sb_items_next(&keys, &key) != SB_OK || !sb_slice_eq(key, SB_LIT("_output_shapes"));
}

static bool take_lean_function(rewrite *w, const sb_pb_field *f) {
    if (f->number != SB_FUNCTION_NODE_DEF || f->wire != SB_PB_BYTES) return false;
    rewrite_message(w, f, drop_large_attr);
    return true;
}

static bool take_lean_library(rewrite *w, const sb_pb_field *f) {
    if (f->number != SB_LIBRARY_FUNCTION || f->wire != SB_PB_BYTES) return false;
    rewrite_message(w, f, take_lean_function);
    return true;
}

static bool take_lean_graph(rewrite *w, const sb_pb_field *f) {
    bool is_node = f->number == SB_GRAPH_NODE, is_library = f->number == SB_GRAPH_LIBRARY;
    if (f->wire != SB_PB_BYTES || (!is_node && !is_library)) return false;
    rewrite_message(w, f, is_node ? drop_large_attr : take_lean_library);
    return true;
}

sb_status sb_graph_lean(sb_buf *out, sb_slice graph_def, sb_err *err) {
    rewrite w = {.out = out};
    rewrite_fields(&w, graph_def, take_lean_graph);
    return sb_buf_check(out, "a graph", err);
}
