/* draw_int.h: the working state while a drawing is computed. */
#ifndef SB_GRAPH_DRAW_INT_H
#define SB_GRAPH_DRAW_INT_H

#include "graph/drawing/draw.h"

/* The piece of an edge inside one level. Each end is a box of the level or a port on the border of
 * the level. A port is named by the box at the other end of the whole edge. */
typedef struct sb_edge_piece {
    uint32_t level, from, to; /* boxes of the model */
    bool from_port, to_port;
    bool only_control, is_marked, is_ref;
    uint32_t count;
    float size;
    uint32_t edge;
    uint32_t line; /* index of the edge in the layout of its level */
} sb_edge_piece;

typedef struct sb_sketch {
    const sb_model *m;
    const sb_draw_ask *ask;
    sb_arena *arena;
    sb_alloc alloc; /* of the arena */
    sb_drawing *d;
    struct {
        sb_drawn_box *items;
        size_t n, room;
    } boxes;
    uint8_t *is_open;      /* by box; may be 1 for an ungrouped series, which is not a level */
    uint8_t *is_ungrouped; /* by box */
    uint32_t *seen_as;     /* by box: the visible box that it is, or that contains it */
    uint32_t *drawn;       /* by box: its index among drawn boxes, or NONE */
    /* by visible box: not 0 if it is not drawn in its level (1 auxiliary, 2 hidden constant) */
    uint8_t *is_aside;
    uint32_t *constants; /* by visible box: number of hidden constants that feed it */
    struct {
        sb_edge_piece *items;
        size_t n, room;
    } pieces;
    uint32_t *by_level; /* indices of pieces, sorted by level */
} sb_sketch;

/* Returns the level that contains a box: its parent, or the next box above that is not an ungrouped
 * series. */
uint32_t sb_sketch_level(const sb_sketch *s, uint32_t box);
/* draw_pieces.c: divides the edges of the model into pieces, one per level. */
bool sb_sketch_pieces(sb_sketch *s);
/* draw_aside.c: decides which boxes are auxiliary. */
bool sb_sketch_aside(sb_sketch *s);
/* draw_level.c: lays out all levels, the innermost ones first. */
sb_status sb_sketch_levels(sb_sketch *s, sb_err *err);

#endif
