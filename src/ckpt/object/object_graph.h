/* object_graph.h: a TrackableObjectGraph in memory.
 *
 *   graph     1 nodes
 *   node      1 children {1 node_id, 2 local_name} | 2 attributes {1 name, 2 full_name,
 *             3 checkpoint_key, 4 optional_restore} | 3 slot_variables {1 original node,
 *             2 slot_name, 3 slot node} | 4 registered_saver | 5 has_checkpoint_values {1 value}
 *
 * Names borrow from the message, which must live as long. Numbers of nodes are checked. */
#ifndef SB_CKPT_OBJECT_OBJECT_GRAPH_H
#define SB_CKPT_OBJECT_OBJECT_GRAPH_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"

typedef struct sb_graph_edge {
    uint32_t node;
    sb_slice name;
} sb_graph_edge;

typedef struct sb_graph_value {
    sb_slice name, full_name, key;
    bool is_optional;
} sb_graph_value;

typedef struct sb_graph_slot {
    uint32_t variable, value; /* nodes */
    sb_slice name;
} sb_graph_slot;

typedef struct sb_graph_node {
    const sb_graph_edge *edges;
    const sb_graph_value *values;
    const sb_graph_slot *slots;
    uint32_t edge_count, value_count, slot_count;
    bool has_values; /* it or one that it leads to may have; as the file says, or by its content */
} sb_graph_node;

/* In the arena. SB_CORRUPT when it is malformed or names a node that is not there. */
sb_status sb_graph_parse(sb_graph_node **nodes, size_t *count, sb_slice graph, sb_arena *arena,
                         sb_err *err);

#endif
