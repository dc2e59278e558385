/* layout.h: layered layout of one level of a graph: edges lead downwards, boxes don't overlap,
 * lines cross as little as can be had in short time.
 *
 *     sb_layout l = {.nodes = nodes, .node_count = n, .edges = edges, .edge_count = m, ...};
 *     sb_layout_run(&l, &arena, &err);          fills in x and y of nodes, the points of edges
 *
 * Steps: cycles are broken (rank.c), every node gets a rank, long edges get a bend in each rank
 * they pass; ranks are ordered by sweeps of barycentres, the order with the fewest crossings is
 * kept (order.c); x is the least-squares place under the order (place.c). Nodes without edges stand
 * in a grid below. A level with more than `most_layered` nodes is a grid in the order of ranks.
 *
 * Equal input gives equal output on every machine: nothing depends on addresses, time or chance.
 * Threads: no state. Cost: about 1 microsecond a node and edge and sweep. */
#ifndef SB_GRAPH_LAYOUT_H
#define SB_GRAPH_LAYOUT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"

typedef enum sb_layout_end { SB_END_NONE, SB_END_TOP, SB_END_BOTTOM } sb_layout_end;

typedef struct sb_layout_node {
    float w, h;
    uint8_t end;   /* sb_layout_end: stands in the first or the last rank */
    bool is_port;  /* a place on the border, of no height */
    uint32_t rank; /* out */
    float x, y;    /* out: its left upper corner */
} sb_layout_node;

typedef struct sb_layout_edge {
    uint32_t from, to;
    bool is_up;                        /* out: part of a cycle, leads upwards */
    uint32_t first_point, point_count; /* out */
} sb_layout_edge;

typedef struct sb_layout_point {
    float x, y;
} sb_layout_point;

typedef struct sb_layout {
    sb_layout_node *nodes;
    uint32_t node_count;
    sb_layout_edge *edges;
    uint32_t edge_count;
    float gap_x, gap_y;
    uint32_t most_layered; /* 0: 20 000 */
    /* out */
    float w, h;
    sb_layout_point *points;
    uint32_t point_count;
    uint64_t crossings;
} sb_layout;

sb_status sb_layout_run(sb_layout *l, sb_arena *arena, sb_err *err);

#endif
