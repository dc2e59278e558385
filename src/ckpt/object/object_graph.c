/* object_graph.c: two passes over each node: one counts, one fills. */
#include "ckpt/object/object_graph.h"

#include "codec/proto/items.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "base/banned.h"

#define SERIALIZED_TENSOR_OPTIONAL_RESTORE 4 /* of older writers only */

typedef struct counts {
    uint32_t edges, values, slots;
    bool has_saver, says, is_true;
} counts;

static bool count_fields(sb_slice node, counts *n) {
    sb_pb c = sb_pb_over(node);
    sb_pb_field f;
    sb_pb_step step;
    *n = (counts){0};
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        if (f.wire != SB_PB_BYTES) continue;
        n->edges += f.number == SB_OBJECT_CHILDREN;
        n->values += f.number == SB_OBJECT_ATTRIBUTES;
        n->slots += f.number == SB_OBJECT_SLOT_VARIABLES;
        n->has_saver |= f.number == SB_OBJECT_REGISTERED_SAVER;
        if (f.number == SB_OBJECT_HAS_CHECKPOINT_VALUES) {
            sb_pb inner = sb_pb_over(f.bytes);
            sb_pb_field g;
            n->says = true;
            n->is_true = false;
            while (sb_pb_next(&inner, &g) == SB_PB_FIELD)
                if (g.number == SB_PB_BOOL_VALUE && g.wire == SB_PB_VARINT) n->is_true = g.u64 != 0;
        }
    }
    return step == SB_PB_END;
}

static bool read_edge(sb_graph_edge *e, sb_slice bytes, size_t nodes) {
    sb_pb c = sb_pb_over(bytes);
    sb_pb_field f;
    sb_pb_step step;
    uint64_t id = 0;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        if (f.number == SB_OBJECT_REFERENCE_NODE_ID && f.wire == SB_PB_VARINT) id = f.u64;
        if (f.number == SB_OBJECT_REFERENCE_LOCAL_NAME && f.wire == SB_PB_BYTES) e->name = f.bytes;
    }
    e->node = (uint32_t)id;
    return step == SB_PB_END && id < nodes;
}

static bool read_value(sb_graph_value *v, sb_slice bytes) {
    sb_pb c = sb_pb_over(bytes);
    sb_pb_field f;
    sb_pb_step step;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        if (f.number == SERIALIZED_TENSOR_OPTIONAL_RESTORE && f.wire == SB_PB_VARINT)
            v->is_optional = f.u64 != 0;
        if (f.wire != SB_PB_BYTES) continue;
        if (f.number == SB_SERIALIZED_TENSOR_NAME) v->name = f.bytes;
        if (f.number == SB_SERIALIZED_TENSOR_FULL_NAME) v->full_name = f.bytes;
        if (f.number == SB_SERIALIZED_TENSOR_CHECKPOINT_KEY) v->key = f.bytes;
    }
    return step == SB_PB_END;
}

static bool read_slot(sb_graph_slot *s, sb_slice bytes, size_t nodes) {
    sb_pb c = sb_pb_over(bytes);
    sb_pb_field f;
    sb_pb_step step;
    uint64_t variable = 0, value = 0;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        if (f.number == SB_SLOT_VARIABLE_SLOT_NAME && f.wire == SB_PB_BYTES) s->name = f.bytes;
        if (f.wire != SB_PB_VARINT) continue;
        if (f.number == SB_SLOT_VARIABLE_ORIGINAL_VARIABLE_NODE_ID) variable = f.u64;
        if (f.number == SB_SLOT_VARIABLE_SLOT_VARIABLE_NODE_ID) value = f.u64;
    }
    s->variable = (uint32_t)variable;
    s->value = (uint32_t)value;
    return step == SB_PB_END && variable < nodes && value < nodes;
}

static sb_status fill(sb_graph_node *node, sb_slice bytes, size_t nodes, sb_arena *arena,
                      sb_err *err) {
    counts n;
    if (!count_fields(bytes, &n))
        return sb_fail(err, SB_CORRUPT, 0, "the object graph is malformed");
    sb_graph_edge *edges = sb_arena_zeroed(arena, n.edges, sizeof *edges);
    sb_graph_value *values = sb_arena_zeroed(arena, n.values, sizeof *values);
    sb_graph_slot *slots = sb_arena_zeroed(arena, n.slots, sizeof *slots);
    if (!edges || !values || !slots) return sb_fail_nomem(err, "for an object graph");
    *node = (sb_graph_node){.edges = edges, .values = values, .slots = slots};
    node->has_values = n.says ? n.is_true : n.edges || n.values || n.slots || n.has_saver;
    sb_pb c = sb_pb_over(bytes);
    sb_pb_field f;
    bool is_good = true;
    while (is_good && sb_pb_next(&c, &f) == SB_PB_FIELD) {
        if (f.wire != SB_PB_BYTES) continue;
        if (f.number == SB_OBJECT_CHILDREN)
            is_good = read_edge(&edges[node->edge_count++], f.bytes, nodes);
        if (f.number == SB_OBJECT_ATTRIBUTES)
            is_good = read_value(&values[node->value_count++], f.bytes);
        if (f.number == SB_OBJECT_SLOT_VARIABLES)
            is_good = read_slot(&slots[node->slot_count++], f.bytes, nodes);
    }
    return is_good ? SB_OK : sb_fail(err, SB_CORRUPT, 0, "the object graph is malformed");
}

sb_status sb_graph_parse(sb_graph_node **nodes, size_t *count, sb_slice graph, sb_arena *arena,
                         sb_err *err) {
    sb_slice bytes;
    sb_status step;
    *count = 0;
    sb_items walk = sb_items_of(graph, SB_OBJECT_GRAPH_NODES);
    while ((step = sb_items_next(&walk, &bytes)) == SB_OK) ++*count;
    if (step != SB_END || *count == 0 || *count > INT32_MAX)
        return sb_fail(err, SB_CORRUPT, 0, "the object graph is malformed");
    *nodes = sb_arena_zeroed(arena, *count, sizeof **nodes);
    if (!*nodes) return sb_fail_nomem(err, "for an object graph");
    walk = sb_items_of(graph, SB_OBJECT_GRAPH_NODES);
    for (size_t i = 0; sb_items_next(&walk, &bytes) == SB_OK; i++) {
        sb_status status = fill(&(*nodes)[i], bytes, *count, arena, err);
        if (status != SB_OK) return status;
    }
    return SB_OK;
}
