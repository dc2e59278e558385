/* graph.c: views of graphs and functions. See graph.h. */
#include "codec/graph.h"

#include "codec/proto/pick_int.h"
#include "base/banned.h"

sb_status sb_graph_read(sb_graph_view *out, sb_slice graph_def) {
    static const sb_pick picks[] = {
        SB_PICK(sb_graph_view, node_count, SB_GRAPH_NODE),
        SB_PICK(sb_graph_view, library, SB_GRAPH_LIBRARY),
    };
    static const sb_pick version_picks[] = {
        SB_PICK(sb_graph_view, producer, SB_VERSIONS_PRODUCER),
        SB_PICK(sb_graph_view, min_consumer, SB_VERSIONS_MIN_CONSUMER),
    };
    *out = (sb_graph_view){.message = graph_def};
    if (SB_PICK_READ(out, graph_def, picks) != SB_OK) return SB_CORRUPT;
    sb_items versions = sb_items_of(graph_def, SB_GRAPH_VERSIONS);
    sb_slice version;
    while (sb_items_next(&versions, &version) == SB_OK)
        if (SB_PICK_READ(out, version, version_picks) != SB_OK) return SB_CORRUPT;
    return SB_OK;
}

sb_status sb_meta_graph_graph(sb_slice *graph_def, sb_slice meta_graph_def) {
    sb_items graphs = sb_items_of(meta_graph_def, SB_META_GRAPH_GRAPH_DEF);
    sb_status status;
    *graph_def = sb_slice_of(NULL, 0);
    do status = sb_items_next(&graphs, graph_def);
    while (status == SB_OK);
    return status == SB_END ? SB_OK : SB_CORRUPT;
}

sb_status sb_node_read(sb_node *out, sb_slice node_def) {
    static const sb_pick picks[] = {
        SB_PICK(sb_node, name, SB_NODE_NAME),         SB_PICK(sb_node, op, SB_NODE_OP),
        SB_PICK(sb_node, input_count, SB_NODE_INPUT), SB_PICK(sb_node, device, SB_NODE_DEVICE),
        SB_PICK(sb_node, attr_count, SB_NODE_ATTR),
    };
    *out = (sb_node){.message = node_def};
    return SB_PICK_READ(out, node_def, picks);
}

/* Decimal digits to the end; -1 when there is anything else or the number is absurd. */
static int64_t slot_of(sb_slice digits) {
    int64_t slot = 0;
    if (digits.n == 0 || digits.n > 9) return -1;
    for (size_t i = 0; i < digits.n; i++) {
        if (digits.p[i] < '0' || digits.p[i] > '9') return -1;
        slot = slot * 10 + (digits.p[i] - '0');
    }
    return slot;
}

sb_node_input sb_node_input_parse(sb_slice text) {
    if (text.n && text.p[0] == '^')
        return (sb_node_input){sb_slice_of(text.p + 1, text.n - 1), -1, true};
    const uint8_t *first = text.n ? memchr(text.p, ':', text.n) : NULL;
    if (!first) return (sb_node_input){text, 0, false};
    const uint8_t *last = memrchr(text.p, ':', text.n);
    int64_t slot = slot_of(sb_slice_of(last + 1, (size_t)(text.p + text.n - last - 1)));
    return (sb_node_input){sb_slice_of(text.p, (size_t)(first - text.p)), slot < 0 ? 0 : slot,
                           false};
}

/* Every map entry has its key as field 1 and its value as field 2. */
enum { ENTRY_KEY = 1, ENTRY_VALUE = 2 };

sb_status sb_attr_next(sb_items *entries, sb_attr *out) {
    static const sb_pick picks[] = {
        SB_PICK(sb_attr, key, ENTRY_KEY),
        SB_PICK(sb_attr, value, ENTRY_VALUE),
    };
    sb_slice entry;
    sb_status status = sb_items_next(entries, &entry);
    if (status != SB_OK) return status;
    *out = (sb_attr){0};
    return SB_PICK_READ(out, entry, picks);
}

sb_status sb_node_find_attr(sb_slice *value, const sb_node *node, sb_slice key) {
    sb_items entries = sb_items_of(node->message, SB_NODE_ATTR);
    sb_attr attr;
    sb_status status;
    while ((status = sb_attr_next(&entries, &attr)) == SB_OK) {
        if (!sb_slice_eq(attr.key, key)) continue;
        *value = attr.value;
        return SB_OK;
    }
    return status == SB_END ? SB_NOT_FOUND : SB_CORRUPT;
}

sb_status sb_attr_value_read(sb_attr_value *out, sb_slice value) {
    *out = (sb_attr_value){.kind = SB_ATTR_NONE};
    sb_pb c = sb_pb_over(value);
    sb_pb_field f;
    sb_pb_step step;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        const sb_field_info *info = sb_field_by_number(sb_message_get(SB_MSG_ATTR_VALUE), f.number);
        if (!info || f.wire != sb_field_wire(info)) continue;
        *out = (sb_attr_value){.kind = (sb_attr_kind)f.number};
        if (f.wire == SB_PB_BYTES)
            out->body = f.bytes;
        else if (f.wire == SB_PB_FIXED32)
            out->f = sb_pb_float(&f);
        else
            out->i = f.number == SB_ATTR_VALUE_B ? f.u64 != 0 : sb_pb_int64(&f);
    }
    return step == SB_PB_END ? SB_OK : SB_CORRUPT;
}

sb_status sb_shape_read(sb_shape_view *out, sb_slice tensor_shape) {
    static const sb_pick picks[] = {
        SB_PICK(sb_shape_view, rank, SB_SHAPE_DIM),
        SB_PICK(sb_shape_view, unknown_rank, SB_SHAPE_UNKNOWN_RANK),
    };
    *out = (sb_shape_view){.message = tensor_shape};
    return SB_PICK_READ(out, tensor_shape, picks);
}

sb_status sb_shape_next(sb_items *dims, int64_t *size) {
    typedef struct dim {
        int64_t size;
    } dim;
    static const sb_pick picks[] = {SB_PICK(dim, size, SB_DIM_SIZE)};
    sb_slice item;
    sb_status status = sb_items_next(dims, &item);
    if (status != SB_OK) return status;
    dim read = {0};
    status = SB_PICK_READ(&read, item, picks);
    *size = read.size;
    return status;
}

sb_status sb_function_read(sb_function *out, sb_slice function_def) {
    static const sb_pick picks[] = {
        SB_PICK(sb_function, signature, SB_FUNCTION_SIGNATURE),
        SB_PICK(sb_function, node_count, SB_FUNCTION_NODE_DEF),
    };
    static const sb_pick signature_picks[] = {SB_PICK(sb_function, name, SB_OP_NAME)};
    *out = (sb_function){.message = function_def};
    if (SB_PICK_READ(out, function_def, picks) != SB_OK) return SB_CORRUPT;
    return SB_PICK_READ(out, out->signature, signature_picks);
}

sb_status sb_op_arg_read(sb_op_arg *out, sb_slice arg_def) {
    static const sb_pick picks[] = {
        SB_PICK(sb_op_arg, name, SB_OP_ARG_NAME),
        SB_PICK(sb_op_arg, description, SB_OP_ARG_DESCRIPTION),
        SB_PICK(sb_op_arg, type, SB_OP_ARG_TYPE),
        SB_PICK(sb_op_arg, type_attr, SB_OP_ARG_TYPE_ATTR),
        SB_PICK(sb_op_arg, number_attr, SB_OP_ARG_NUMBER_ATTR),
        SB_PICK(sb_op_arg, type_list_attr, SB_OP_ARG_TYPE_LIST_ATTR),
        SB_PICK(sb_op_arg, is_ref, SB_OP_ARG_IS_REF),
    };
    *out = (sb_op_arg){0};
    return SB_PICK_READ(out, arg_def, picks);
}

sb_status sb_text_entry_next(sb_items *entries, sb_slice *key, sb_slice *value) {
    sb_attr entry; /* of the same shape: two length-delimited fields */
    sb_status status = sb_attr_next(entries, &entry);
    if (status != SB_OK) return status;
    *key = entry.key;
    *value = entry.value;
    return SB_OK;
}
