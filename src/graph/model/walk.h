/* walk.h: questions that follow edges: what an operation depends on, and the way between two.
 *
 * Threads: no state. Cost: one pass over the edges that are reached. */
#ifndef SB_GRAPH_WALK_H
#define SB_GRAPH_WALK_H

#include "graph/model/model.h"

/* Marks (in marked, one byte a box, zeroed by the caller) all operations that feed those of `box`,
 * and these themselves. Answers how many; SB_NOMEM as false. */
bool sb_walk_inputs(const sb_model *m, uint32_t box, uint8_t *marked, uint32_t *count,
                    sb_arena *scratch);

/* The shortest way along the edges from an operation of one box to one of the other; when there is
 * none, from the other to the one (*is_back), then regardless of directions (*is_loose). The boxes
 * of the way in order, in the arena; n is 0 when the two have nothing to do with each other. */
typedef struct sb_way {
    uint32_t *boxes;
    uint32_t n;
    bool is_back, is_loose;
} sb_way;
bool sb_walk_way(sb_way *out, const sb_model *m, uint32_t from, uint32_t to, sb_arena *arena);

#endif
