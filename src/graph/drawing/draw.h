/* draw.h: computes a drawing of a model: which boxes are visible when some boxes are open, and
 * where every box and line is placed.
 *
 * Every open box is a level with its own layout. Inner levels are laid out first, because the size
 * of an open box depends on what is inside. An edge between boxes of different levels is drawn in
 * pieces, one per level: where it crosses the border of an open box there is a port, and the piece
 * inside starts (or ends) at that port.
 *
 * Not drawn in a level are constants, which are only counted at the boxes that they feed, and boxes
 * with so many neighbours that their lines would hide the rest. The latter are placed in the
 * auxiliary list instead.
 *
 * Threads: no state; the drawing is allocated in the caller's arena. Cost: one pass over the edges
 * of the model, then the layout of the visible boxes. */
#ifndef SB_GRAPH_DRAW_H
#define SB_GRAPH_DRAW_H

#include "graph/drawing/layout.h"
#include "graph/model/model.h"

typedef struct sb_draw_ask {
    const uint32_t *open; /* the open boxes; a box whose parent is not open is ignored */
    size_t open_count;
    const uint32_t *ungrouped; /* series whose members are drawn directly in the parent */
    size_t ungrouped_count;
    const uint32_t *to_main; /* boxes that are never auxiliary */
    size_t to_main_count;
    const uint32_t *to_side; /* boxes that are always auxiliary */
    size_t to_side_count;
    bool extract;   /* move boxes with too many neighbours to the auxiliary list */
    bool constants; /* draw constants like other operations */
    /* by box: 1 for an operation to highlight, such as those of a path; NULL: none */
    const uint8_t *marked;
    /* Progress callback, called after each level with the number of boxes that are laid out; may be
     * NULL. When it returns false, the work is cancelled and sb_draw returns SB_CANCELLED. */
    bool (*progress)(void *ud, uint64_t done, uint64_t total);
    void *ud;
} sb_draw_ask;

enum {
    SB_DRAWN_OPEN = 1,
    SB_DRAWN_AUXILIARY = 2, /* in the auxiliary list: x, y, w and h are not set */
    SB_DRAWN_MARKED = 4,
};

typedef struct sb_drawn_box {
    uint32_t box;
    uint32_t level;   /* index of the drawn box that contains it; SB_BOX_NONE: top level */
    float x, y, w, h; /* in coordinates of the whole drawing */
    uint32_t flags;
    uint32_t constants; /* number of constants that feed it and are not drawn */
    /* number of boxes that use its outputs; if there are none, number of boxes that feed it */
    uint32_t uses;
} sb_drawn_box;

enum {
    SB_LINE_CONTROL = 1, /* control edges only */
    SB_LINE_MARKED = 2,
    SB_LINE_UP = 4, /* closes a cycle, so it leads upwards */
    SB_LINE_FROM_PORT = 8,
    SB_LINE_TO_PORT = 16,
    SB_LINE_REF = 32,
};

typedef struct sb_drawn_line {
    /* indices of drawn boxes; at a port: the box at the other end of the whole edge */
    uint32_t from, to;
    uint32_t level; /* index of the drawn box that contains the line; SB_BOX_NONE: top level */
    uint32_t flags;
    uint32_t count; /* number of edges of the model that this line represents */
    float size;     /* number of elements of the largest tensor; -1: unknown */
    uint32_t edge;  /* index in model->edges of the edge with the largest tensor */
    uint32_t first_point, point_count;
} sb_drawn_line;

typedef struct sb_drawing {
    sb_drawn_box *boxes;
    uint32_t box_count;
    sb_drawn_line *lines;
    uint32_t line_count;
    sb_layout_point *points;
    uint32_t point_count;
    float w, h;
} sb_drawing;

/* Returns an estimate of the number of visible boxes, without computing a drawing. */
uint64_t sb_draw_size(const sb_model *m, const sb_draw_ask *ask);
sb_status sb_draw(sb_drawing *out, const sb_model *m, const sb_draw_ask *ask, sb_arena *arena,
                  sb_err *err);

#endif
