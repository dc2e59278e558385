/* walk.h: graph traversals: all operations that a box depends on, and the shortest path between two
 * boxes.
 *
 * Threads: no state. Cost: one breadth-first search over the edges that are reached. */
#ifndef SB_GRAPH_WALK_H
#define SB_GRAPH_WALK_H

#include "graph/model/model.h"

/* Marks all operations of `box` and all operations that they depend on, directly or indirectly.
 * `marked` has one byte per box and is zeroed by the caller. *count is the number of marked
 * operations. Returns false when memory runs out. */
bool sb_walk_inputs(const sb_model *m, uint32_t box, uint8_t *marked, uint32_t *count,
                    sb_arena *scratch);

/* The shortest path along the edges from an operation in one box to an operation in the other one.
 * If there is none, the path in the opposite direction is searched (is_back), then a path that
 * ignores the direction of edges (is_loose). `boxes` lists the operations of the path in order, in
 * the arena. n is 0 when the two are not connected. sb_walk_way returns false when memory runs
 * out. */
typedef struct sb_way {
    uint32_t *boxes;
    uint32_t n;
    bool is_back, is_loose;
} sb_way;
bool sb_walk_way(sb_way *out, const sb_model *m, uint32_t from, uint32_t to, sb_arena *arena);

#endif
