/* layout_int.h: the working state while a level is laid out. Vertices are the nodes of the level
 * and the bends of long edges; each vertex belongs to a rank. */
#ifndef SB_GRAPH_LAYOUT_INT_H
#define SB_GRAPH_LAYOUT_INT_H

#include "graph/drawing/layout.h"

/* The part of an edge between two vertices of adjacent ranks. */
typedef struct sb_hop {
    uint32_t up, down;
} sb_hop;

typedef struct sb_level {
    sb_level_layout *l;
    sb_arena *arena;
    /* vertices: first the real_count nodes that have edges or are ports, then bends */
    uint32_t vertex_count, real_count;
    uint32_t *node_of;   /* by vertex: the node; SB_NO_NODE for a bend */
    uint32_t *vertex_of; /* by node: its vertex; SB_NO_NODE for a node without edges */
    uint32_t *rank;      /* by vertex */
    uint32_t rank_count;
    uint32_t *place; /* by vertex: its position within its rank */
    uint32_t *order; /* vertices sorted by rank, then by position */
    uint32_t *first; /* by rank: index in `order` of its first vertex; one more for the end */
    float *x;        /* by vertex: x coordinate of its centre */
    /* all hops, and the adjacency lists that are made of them */
    sb_hop *hops;
    uint32_t hop_count;
    /* neighbours in the rank below; by vertex, where they begin; one more for the end */
    uint32_t *downs, *first_down;
    uint32_t *ups, *first_up;
    /* by edge: its bends from top to bottom, which are consecutive vertices */
    uint32_t *first_bend, *bend_count;
} sb_level;

#define SB_NO_NODE UINT32_MAX

static inline float sb_vertex_width(const sb_level *v, uint32_t vertex) {
    return v->node_of[vertex] == SB_NO_NODE ? 8.0f : v->l->nodes[v->node_of[vertex]].w;
}

/* layout_rank.c */
bool sb_level_rank(sb_level *v);
bool sb_level_bend(sb_level *v);
/* layout_order.c */
bool sb_level_order(sb_level *v);
/* layout_place.c */
bool sb_level_place(sb_level *v);

#endif
