/* draw.h: what of a model is in sight when some of its boxes are open, and where everything stands.
 *
 * Every open box is a level of its own, laid out from the inside outwards. An edge between boxes of
 * different levels is drawn in pieces, one a level: it meets the border of an open box at a port,
 * and the piece inside begins there.
 *
 * Left out of a level: constants, which are counted at the boxes they feed; and boxes that so many
 * others use that their lines would hide the rest: they stand in the auxiliary list instead.
 *
 * Threads: no state; the drawing is in the caller's arena. Cost: one pass over the edges of the
 * model, then the layout of what is in sight. */
#ifndef SB_GRAPH_DRAW_H
#define SB_GRAPH_DRAW_H

#include "graph/drawing/layout.h"
#include "graph/model/model.h"

typedef struct sb_draw_ask {
    const uint32_t *open; /* boxes; those whose parents are not open don't count */
    size_t open_count;
    const uint32_t *ungrouped; /* series whose members stand in their parent */
    size_t ungrouped_count;
    const uint32_t *to_main; /* boxes that are never auxiliary */
    size_t to_main_count;
    const uint32_t *to_side; /* boxes that always are */
    size_t to_side_count;
    bool extract;          /* boxes with many neighbours become auxiliary */
    bool constants;        /* are drawn like other operations */
    const uint8_t *marked; /* by box: operations of a trace or a path; NULL: none */
    /* How many of all boxes are laid out; false: the drawing is not wanted any more, and sb_draw
     * answers SB_DROPPED. Called after each level. May be NULL. */
    bool (*progress)(void *ud, uint64_t done, uint64_t total);
    void *ud;
} sb_draw_ask;

enum {
    SB_DRAWN_OPEN = 1,
    SB_DRAWN_AUXILIARY = 2, /* in the list at the side: x and y mean nothing */
    SB_DRAWN_MARKED = 4,
};

typedef struct sb_drawn_box {
    uint32_t box;
    uint32_t level;   /* the drawn box it stands in; SB_BOX_NONE: none */
    float x, y, w, h; /* of the whole drawing */
    uint32_t flags;
    uint32_t constants; /* that feed it and are not drawn */
    uint32_t uses; /* of an auxiliary box: by how many boxes; of one that feeds none: of how many */
} sb_drawn_box;

enum {
    SB_LINE_CONTROL = 1, /* control edges only */
    SB_LINE_MARKED = 2,
    SB_LINE_UP = 4, /* closes a cycle */
    SB_LINE_FROM_PORT = 8,
    SB_LINE_TO_PORT = 16,
    SB_LINE_REF = 32,
};

typedef struct sb_drawn_line {
    uint32_t from, to; /* drawn boxes; behind a port: the box at the other end of the whole edge */
    uint32_t level;    /* the drawn box that it is in; SB_BOX_NONE: the whole */
    uint32_t flags;
    uint32_t count; /* edges of the model */
    float size;     /* elements of the largest tensor; -1: unknown */
    uint32_t edge;  /* the one with the largest tensor, in model->edges */
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

/* About how many boxes will be in sight; cheap. */
uint64_t sb_draw_size(const sb_model *m, const sb_draw_ask *ask);
sb_status sb_draw(sb_drawing *out, const sb_model *m, const sb_draw_ask *ask, sb_arena *arena,
                  sb_err *err);

#endif
