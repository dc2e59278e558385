/* graph.h: views of a GraphDef, its nodes and functions, and of a RunMetadata.
 *
 *     sb_items nodes = sb_items_of(graph_def, SB_GRAPH_NODE);
 *     while ((status = sb_items_next(&nodes, &item)) == SB_OK)
 *         if (sb_node_read(&node, item) == SB_OK) ...
 *
 * In:  borrowed encoded messages.  Out: numbers, and slices into them; nothing is copied or
 * allocated, so a graph of hundreds of megabytes can be walked in place. Repeated parts are walked
 * with items.h over the message and the field number given beside each view.
 *
 * Threads: views are values.  Cost: one pass over the fields of the message read, not of those
 * inside it.
 *
 * Named sb_graph_view and sb_run_metadata_view since seaboard/writer.h has public functions
 * without the suffix, and the writer includes both headers. */
#ifndef SB_CODEC_GRAPH_H
#define SB_CODEC_GRAPH_H

#include "codec/proto/items.h"
#include "codec/proto/messages.h"

/* ---- graphs -----------------------------------------------------------------------------------
 */

typedef struct sb_graph_view {
    sb_slice message; /* nodes: SB_GRAPH_NODE */
    size_t node_count;
    sb_slice library; /* functions: SB_LIBRARY_FUNCTION, gradients: SB_LIBRARY_GRADIENT */
    int32_t producer, min_consumer;
} sb_graph_view;

sb_status sb_graph_read(sb_graph_view *out, sb_slice graph_def);

/* The GraphDef inside a MetaGraphDef; empty when there is none. */
sb_status sb_meta_graph_graph(sb_slice *graph_def, sb_slice meta_graph_def);

typedef struct sb_node {
    sb_slice name, op, device;
    sb_slice message; /* inputs: SB_NODE_INPUT; attributes: sb_node_attr_next */
    size_t input_count, attr_count;
} sb_node;

sb_status sb_node_read(sb_node *out, sb_slice node_def);

/* An input as the graph writes it: "node", "node:2" or "^node" for a control edge. */
typedef struct sb_node_input {
    sb_slice name;
    int64_t slot; /* 0 when not given, -1 for a control edge */
    bool control;
} sb_node_input;

/* Inside functions inputs read "node:output_name:2": the name is then up to the first colon and
 * the slot behind the last. */
sb_node_input sb_node_input_parse(sb_slice text);

typedef struct sb_attr {
    sb_slice key;
    sb_slice value; /* an encoded AttrValue */
} sb_attr;

/* Entries of a map<string, AttrValue>: sb_items over SB_NODE_ATTR, SB_NAME_ATTRS_ATTR or
 * SB_FUNCTION_ATTR. SB_OK, SB_END or SB_CORRUPT. */
sb_status sb_attr_next(sb_items *entries, sb_attr *out);

/* Looks an attribute of a node up by name: SB_OK, SB_NOT_FOUND or SB_CORRUPT. */
sb_status sb_node_find_attr(sb_slice *value, const sb_node *node, sb_slice key);

/* The numbers are those of the fields. */
typedef enum sb_attr_kind {
    SB_ATTR_NONE = 0,
    SB_ATTR_LIST = SB_ATTR_VALUE_LIST,
    SB_ATTR_STRING = SB_ATTR_VALUE_S,
    SB_ATTR_INT = SB_ATTR_VALUE_I,
    SB_ATTR_FLOAT = SB_ATTR_VALUE_F,
    SB_ATTR_BOOL = SB_ATTR_VALUE_B,
    SB_ATTR_TYPE = SB_ATTR_VALUE_TYPE,
    SB_ATTR_SHAPE = SB_ATTR_VALUE_SHAPE,
    SB_ATTR_TENSOR = SB_ATTR_VALUE_TENSOR,
    SB_ATTR_PLACEHOLDER = SB_ATTR_VALUE_PLACEHOLDER,
    SB_ATTR_FUNC = SB_ATTR_VALUE_FUNC,
} sb_attr_kind;

typedef struct sb_attr_value {
    sb_attr_kind kind;
    int64_t i; /* int, bool, type */
    float f;   /* float */
    sb_slice
        body; /* bytes of s and placeholder; an encoded ListValue, shape, tensor, NameAttrList */
} sb_attr_value;

sb_status sb_attr_value_read(sb_attr_value *out, sb_slice value);

typedef struct sb_shape_view {
    sb_slice message; /* dims: sb_shape_next over SB_SHAPE_DIM */
    size_t rank;
    bool unknown_rank;
} sb_shape_view;

sb_status sb_shape_read(sb_shape_view *out, sb_slice tensor_shape);
/* The next dim's size, -1 when unknown. SB_OK, SB_END or SB_CORRUPT. */
sb_status sb_shape_next(sb_items *dims, int64_t *size);

typedef struct sb_function {
    sb_slice name;
    sb_slice signature; /* an OpDef: SB_OP_INPUT_ARG, SB_OP_OUTPUT_ARG, SB_OP_ATTR */
    sb_slice message;   /* nodes: SB_FUNCTION_NODE_DEF; returns: SB_FUNCTION_RET */
    size_t node_count;
} sb_function;

sb_status sb_function_read(sb_function *out, sb_slice function_def);

/* An argument of a function's signature. */
typedef struct sb_op_arg {
    sb_slice name, description, type_attr, number_attr, type_list_attr;
    int32_t type;
    bool is_ref;
} sb_op_arg;

sb_status sb_op_arg_read(sb_op_arg *out, sb_slice arg_def);

/* An entry of a map<string, string>, e.g. of SB_FUNCTION_RET. */
sb_status sb_text_entry_next(sb_items *entries, sb_slice *key, sb_slice *value);

/* ---- run metadata -----------------------------------------------------------------------------
 */

typedef struct sb_run_metadata_view {
    sb_slice message;    /* partition graphs: SB_RUN_METADATA_PARTITION_GRAPHS, function graphs:
                            SB_RUN_METADATA_FUNCTION_GRAPHS */
    sb_slice step_stats; /* devices: SB_STEP_STATS_DEV_STATS */
} sb_run_metadata_view;

sb_status sb_run_metadata_read(sb_run_metadata_view *out, sb_slice run_metadata);

typedef struct sb_device_stats {
    sb_slice device;
    sb_slice message; /* nodes: SB_DEVICE_STATS_NODE_STATS */
    size_t node_count;
} sb_device_stats;

sb_status sb_device_stats_read(sb_device_stats *out, sb_slice dev_stats);

typedef struct sb_node_stats {
    sb_slice name, label;
    int64_t all_start_micros, op_start_rel_micros, op_end_rel_micros, all_end_rel_micros;
    int64_t scheduled_micros;
    int64_t all_start_nanos, op_start_rel_nanos, op_end_rel_nanos, all_end_rel_nanos;
    int64_t scheduled_nanos;
    uint32_t thread_id;
    sb_slice message; /* memory: SB_NODE_STATS_MEMORY, outputs: SB_NODE_STATS_OUTPUT */
} sb_node_stats;

sb_status sb_node_stats_read(sb_node_stats *out, sb_slice node_stats);

typedef struct sb_memory_used {
    sb_slice allocator;
    int64_t total_bytes, peak_bytes, live_bytes, in_use_bytes;
} sb_memory_used;

sb_status sb_memory_used_read(sb_memory_used *out, sb_slice memory);

typedef struct sb_node_output {
    int32_t slot;
    int32_t dtype;
    sb_slice shape; /* an encoded TensorShapeProto */
    sb_slice allocator;
    int64_t requested_bytes, allocated_bytes;
} sb_node_output;

sb_status sb_node_output_read(sb_node_output *out, sb_slice output);

#endif
