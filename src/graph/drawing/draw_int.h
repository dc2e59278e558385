/* draw_int.h: a drawing while it is made. */
#ifndef SB_GRAPH_DRAW_INT_H
#define SB_GRAPH_DRAW_INT_H

#include "graph/drawing/draw.h"

/* A piece of an edge within one level. An end is a box of the level, or a port: the box that is at
 * the other end of the whole edge. */
typedef struct sb_piece {
    uint32_t level, from, to; /* boxes of the model */
    bool from_port, to_port;
    bool only_control, is_marked, is_ref;
    uint32_t count;
    float size;
    uint32_t edge;
    uint32_t line; /* in the layout of its level */
} sb_piece;

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
    uint8_t *is_open;      /* by box; also ungrouped series, which are no level */
    uint8_t *is_ungrouped; /* by box */
    uint32_t *seen_as;     /* by box: the box in sight that it is in; NONE while not computed */
    uint32_t *drawn;       /* by box: its index among drawn boxes, or NONE */
    uint8_t *is_aside;     /* by box in sight: auxiliary */
    uint32_t *constants;   /* by box in sight */
    struct {
        sb_piece *items;
        size_t n, room;
    } pieces;
    uint32_t *by_level; /* pieces in the order of levels */
    uint32_t *first_of; /* by drawn box that is open, and one for the root: where its pieces are */
} sb_sketch;

/* The level a box stands in: its parent, or above it when that is an ungrouped series. */
uint32_t sb_sketch_level(const sb_sketch *s, uint32_t box);
/* pieces.c: edges of the model as pieces in levels. */
bool sb_sketch_pieces(sb_sketch *s);
/* aside.c: which boxes are auxiliary. */
bool sb_sketch_aside(sb_sketch *s);
/* level.c: lays all levels out, from the inside outwards. */
sb_status sb_sketch_levels(sb_sketch *s, sb_err *err);

#endif
