/* layout.h: layered layout of one level of a graph. Edges lead downwards, boxes do not overlap, and
 * the number of crossing lines is kept small by heuristics that run in short time.
 *
 *     sb_level_layout l = {.nodes = nodes, .node_count = n, .edges = edges, .edge_count = m, ...};
 *     sb_layout_run(&l, &arena, &err);          fills in x and y of nodes, the points of edges
 *
 * Steps: cycles are broken and every node is assigned to a rank (layout_rank.c). An edge that spans
 * several ranks gets a bend in each rank between its ends. The order within ranks is improved by
 * barycentre sweeps, of which the one with the fewest crossings is kept (layout_order.c). The x
 * coordinates are the least-squares solution for that order (layout_place.c). Nodes without edges
 * are placed in a grid at the bottom. A level with more than `most_layered` nodes that have edges
 * is not layered: all its nodes are placed in a grid, in the order of their ranks.
 *
 * Equal input gives equal output on every machine: nothing depends on addresses, time or random
 * numbers. Threads: no state. Cost: about 1 microsecond per node and edge for each sweep.
 * Threads: no state. Cost: about 1 microsecond a node and edge and sweep. */
#ifndef SB_GRAPH_LAYOUT_H
#define SB_GRAPH_LAYOUT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"

typedef enum sb_layout_end { SB_END_NONE, SB_END_TOP, SB_END_BOTTOM } sb_layout_end;

typedef struct sb_layout_node {
    float w, h;
    uint8_t end;   /* an sb_layout_end: whether it must be in the first or the last rank */
    bool is_port;  /* a point on the border of the level, with no height */
    uint32_t rank; /* out */
    float x, y;    /* out: its upper left corner */
} sb_layout_node;

typedef struct sb_layout_edge {
    uint32_t from, to;
    bool is_up;                        /* out: closes a cycle, so it leads upwards */
    uint32_t first_point, point_count; /* out */
} sb_layout_edge;

typedef struct sb_layout_point {
    float x, y;
} sb_layout_point;

typedef struct sb_level_layout {
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
} sb_level_layout;

sb_status sb_layout_run(sb_level_layout *l, sb_arena *arena, sb_err *err);

#endif
