/* layout_int.h: a level while it is laid out: nodes and bends as vertices in ranks. */
#ifndef SB_GRAPH_LAYOUT_INT_H
#define SB_GRAPH_LAYOUT_INT_H

#include "graph/drawing/layout.h"

/* A step of an edge between vertices of neighbouring ranks. */
typedef struct sb_hop {
    uint32_t up, down;
} sb_hop;

typedef struct sb_level {
    sb_layout *l;
    sb_arena *arena;
    /* vertices: first the nodes that have edges, then bends */
    uint32_t vertex_count, real_count;
    uint32_t *node_of;   /* by vertex: the node; SB_NO_NODE for a bend */
    uint32_t *vertex_of; /* by node; SB_NO_NODE for one without edges */
    uint32_t *rank;      /* by vertex */
    uint32_t rank_count;
    uint32_t *place; /* by vertex: where in its rank */
    uint32_t *order; /* vertices rank by rank */
    uint32_t *first; /* by rank, in order; one more for the end */
    float *x;        /* by vertex: its middle */
    /* hops by their upper and by their lower vertex */
    sb_hop *hops;
    uint32_t hop_count;
    uint32_t *downs, *first_down; /* vertices below; by vertex, one more for the end */
    uint32_t *ups, *first_up;
    /* of each edge: its bends from top to bottom; bends follow one another */
    uint32_t *first_bend, *bend_count;
} sb_level;

#define SB_NO_NODE UINT32_MAX

static inline float sb_vertex_width(const sb_level *v, uint32_t vertex) {
    return v->node_of[vertex] == SB_NO_NODE ? 8.0f : v->l->nodes[v->node_of[vertex]].w;
}

/* rank.c */
bool sb_level_rank(sb_level *v);
bool sb_level_bend(sb_level *v);
/* order.c */
bool sb_level_order(sb_level *v);
/* place.c */
bool sb_level_place(sb_level *v);

#endif
