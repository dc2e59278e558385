/* draw_level.c: lays out the levels of a drawing, the innermost ones first, then converts all
 * positions to coordinates of the whole drawing. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/slice.h"
#include "base/text/utf8.h"
#include "base/vec.h"
#include "graph/drawing/draw_int.h"
#include "base/banned.h"

/* Sizes in units of the page, which are pixels at 100 % zoom. */
#define BOX_HEIGHT 28.0f
#define OPEN_HEAD 34.0f
#define OPEN_SIDE 20.0f
#define OPEN_FOOT 20.0f
/* an upper estimate of the width of a letter, so that names are not truncated */
#define LETTER 7.6f
#define AMOUNT 60.0f      /* room for a time or a number of parameters */
#define SERIES_TIME 96.0f /* room for a text such as "12 × 3.26 ms" */
#define LEAST_WIDTH 72.0f
#define MOST_LETTERS 30u
#define GAP_X 28.0f
#define GAP_Y 44.0f

typedef struct level {
    uint32_t drawn; /* the open box, an index of drawn boxes; NONE: the top level */
    uint32_t first_member, member_count;
    uint32_t first_piece, piece_count;
    sb_level_layout layout;
    /* by node of the layout: the box; from member_count on, the boxes that name the ports */
    uint32_t *boxes;
    /* sorted keys for binary search: port_key() of each port, with its node in the low 31 bits */
    uint64_t *ports;
    float x, y; /* origin of the level in coordinates of the whole drawing */
} level;

typedef struct levels {
    sb_sketch *s;
    /* The top level first, then open boxes in drawing order. A level comes after those that
     * contain it. */
    level *items;
    uint32_t n;
    uint32_t *of; /* by drawn box: the index of its level, if it is open */
    uint32_t *members;
    uint32_t *node_of; /* by drawn box: its node in the layout of the level that contains it */
} levels;

static float text_width(sb_slice text) {
    uint32_t letters = 0;
    for (size_t i = 0; i < text.n; i++) {
        if ((text.p[i] & 0xc0) == 0x80) continue;
        letters += text.p[i] >= 0xe0 ? 2 : 1; /* East Asian letters are twice as wide */
    }
    return (float)(letters < MOST_LETTERS ? letters : MOST_LETTERS) * LETTER;
}

/* Returns the name that a box shows. Operations of torch have only a number as name, so their type
 * is shown instead. */
static sb_slice shown_name(const sb_model *m, const sb_box *b) {
    sb_slice label = sb_box_label(b), op = sb_model_text(m, b->op);
    if (b->kind != SB_BOX_OP || op.n == 0) return label;
    for (size_t i = 0; i < label.n; i++)
        if (label.p[i] < '0' || label.p[i] > '9') return label;
    const uint8_t *colon = memrchr(op.p, ':', op.n);
    return colon ? sb_slice_of(colon + 1, (size_t)(op.p + op.n - colon - 1)) : op;
}

/* Computes the size of a closed box: room for its name, the sign that it can be opened, and a
 * number at the right side. */
static void size_closed(const sb_sketch *s, const sb_drawn_box *drawn, sb_layout_node *node) {
    const sb_box *b = &s->m->boxes[drawn->box];
    float w = text_width(shown_name(s->m, b)) + 24;
    if (b->kind != SB_BOX_OP) w += 16;
    bool has_count = b->kind == SB_BOX_SERIES || b->kind == SB_BOX_PART;
    if (b->kind == SB_BOX_SERIES && b->has_stats)
        w += SERIES_TIME;
    else if (b->has_stats || b->params || has_count)
        w += AMOUNT;
    node->w = w < LEAST_WIDTH ? LEAST_WIDTH : w;
    node->h = BOX_HEIGHT;
}

static uint32_t level_index(const levels *ls, uint32_t box) {
    return box == SB_BOX_ROOT ? 0 : ls->of[ls->s->drawn[box]];
}

/* Lists the levels, and the members and pieces of each. */
static bool find_levels(levels *ls) {
    sb_sketch *s = ls->s;
    uint32_t n = (uint32_t)s->boxes.n, pieces = (uint32_t)s->pieces.n;
    ls->of = sb_arena_zeroed(s->arena, (size_t)n + 1, sizeof *ls->of);
    ls->members = sb_arena_get(s->arena, ((size_t)n + 1) * sizeof *ls->members);
    ls->node_of = sb_arena_zeroed(s->arena, (size_t)n + 1, sizeof *ls->node_of);
    s->by_level = sb_arena_get(s->arena, ((size_t)pieces + 1) * sizeof *s->by_level);
    if (!ls->of || !ls->members || !ls->node_of || !s->by_level) return false;
    ls->n = 1;
    for (uint32_t i = 0; i < n; i++)
        if (s->boxes.items[i].flags & SB_DRAWN_OPEN) ls->of[i] = ls->n++;
    ls->items = sb_arena_zeroed(s->arena, ls->n, sizeof *ls->items);
    if (!ls->items) return false;
    ls->items[0].drawn = SB_BOX_NONE;
    for (uint32_t i = 0; i < n; i++) {
        const sb_drawn_box *b = &s->boxes.items[i];
        if (b->flags & SB_DRAWN_OPEN) ls->items[ls->of[i]].drawn = i;
        if (b->flags & SB_DRAWN_AUXILIARY) continue;
        ls->items[b->level == SB_BOX_NONE ? 0 : ls->of[b->level]].member_count++;
    }
    for (uint32_t i = 0; i < pieces; i++)
        ls->items[level_index(ls, s->pieces.items[i].level)].piece_count++;
    uint32_t members = 0, at = 0;
    for (uint32_t i = 0; i < ls->n; i++) {
        level *l = &ls->items[i];
        l->first_member = members;
        l->first_piece = at;
        members += l->member_count;
        at += l->piece_count;
        l->member_count = l->piece_count = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        const sb_drawn_box *b = &s->boxes.items[i];
        if (b->flags & SB_DRAWN_AUXILIARY) continue;
        level *l = &ls->items[b->level == SB_BOX_NONE ? 0 : ls->of[b->level]];
        ls->node_of[i] = l->member_count;
        ls->members[l->first_member + l->member_count++] = i;
    }
    for (uint32_t i = 0; i < pieces; i++) {
        level *l = &ls->items[level_index(ls, s->pieces.items[i].level)];
        s->by_level[l->first_piece + l->piece_count++] = i;
    }
    return true;
}

/* Returns the layout node of a port, and creates it on first use. Each outside box has at most one
 * port at the top and one at the bottom of a level. */
static uint32_t port_of(levels *ls, level *l, uint32_t box, sb_layout_end end, uint32_t *ports) {
    /* For the current level, `ports` has two entries per drawn box: node + 1 of the port at the top
     * and at the bottom, 0 if there is none. */
    uint32_t *slot = &ports[2 * ls->s->drawn[box] + (end == SB_END_BOTTOM)];
    if (*slot == 0) {
        uint32_t node = l->layout.node_count++;
        l->layout.nodes[node] =
            (sb_layout_node){.w = 2, .h = 0, .end = (uint8_t)end, .is_port = true};
        l->boxes[node] = box;
        *slot = node + 1;
    }
    return *slot - 1;
}

static uint64_t port_key(uint32_t box, sb_layout_end end) {
    return (uint64_t)box << 32 | (end == SB_END_BOTTOM ? (uint64_t)1 << 31 : 0);
}

static int by_key(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Sorts the ports by the box that names them, so that lines outside the level can find them. */
static bool list_ports(levels *ls, level *l) {
    uint32_t count = l->layout.node_count - l->member_count;
    l->ports = sb_arena_get(ls->s->arena, ((size_t)count + 1) * sizeof *l->ports);
    if (!l->ports) return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = l->member_count + i;
        sb_layout_end end = (sb_layout_end)l->layout.nodes[node].end;
        l->ports[i] = port_key(l->boxes[node], end) | node;
    }
    qsort(l->ports, count, sizeof *l->ports, by_key);
    return true;
}

static bool fill_layout(levels *ls, level *l, uint32_t *ports) {
    sb_sketch *s = ls->s;
    size_t room = (size_t)l->member_count + 2 * (size_t)l->piece_count + 1;
    l->layout = (sb_level_layout){.gap_x = GAP_X, .gap_y = GAP_Y, .node_count = l->member_count};
    l->layout.nodes = sb_arena_zeroed(s->arena, room, sizeof *l->layout.nodes);
    l->layout.edges =
        sb_arena_zeroed(s->arena, (size_t)l->piece_count + 1, sizeof *l->layout.edges);
    l->boxes = sb_arena_get(s->arena, room * sizeof *l->boxes);
    if (!l->layout.nodes || !l->layout.edges || !l->boxes) return false;
    for (uint32_t i = 0; i < l->member_count; i++) {
        sb_drawn_box *drawn = &s->boxes.items[ls->members[l->first_member + i]];
        sb_layout_node *node = &l->layout.nodes[i];
        l->boxes[i] = drawn->box;
        if (drawn->flags & SB_DRAWN_OPEN) {
            const sb_level_layout *inner =
                &ls->items[ls->of[ls->members[l->first_member + i]]].layout;
            float head = text_width(sb_box_label(&s->m->boxes[drawn->box])) + 130;
            node->w = (inner->w > head ? inner->w : head) + 2 * OPEN_SIDE;
            node->h = inner->h + OPEN_HEAD + OPEN_FOOT;
        } else {
            size_closed(s, drawn, node);
        }
        const sb_box *b = &s->m->boxes[drawn->box];
        if (b->kind == SB_BOX_OP)
            node->end = b->is_input ? SB_END_TOP : b->is_output ? SB_END_BOTTOM : SB_END_NONE;
    }
    l->layout.edge_count = l->piece_count;
    for (uint32_t i = 0; i < l->piece_count; i++) {
        sb_edge_piece *p = &s->pieces.items[s->by_level[l->first_piece + i]];
        sb_layout_edge *e = &l->layout.edges[i];
        p->line = i;
        e->from = p->from_port ? port_of(ls, l, p->from, SB_END_TOP, ports)
                               : ls->node_of[s->drawn[p->from]];
        e->to =
            p->to_port ? port_of(ls, l, p->to, SB_END_BOTTOM, ports) : ls->node_of[s->drawn[p->to]];
    }
    for (uint32_t i = l->member_count; i < l->layout.node_count; i++)
        memset(&ports[2 * s->drawn[l->boxes[i]]], 0, 2 * sizeof *ports);
    return list_ports(ls, l);
}

/* ---- into the whole -------------------------------------------------------------------------- */

/* Sets the positions of all members in the whole drawing, from the outer levels to the inner ones.
 * An inner level is centred in its box. */
static void set_places(levels *ls) {
    sb_sketch *s = ls->s;
    for (uint32_t i = 0; i < ls->n; i++) {
        level *l = &ls->items[i];
        if (l->drawn != SB_BOX_NONE) {
            const sb_drawn_box *b = &s->boxes.items[l->drawn];
            l->x = b->x + (b->w - l->layout.w) / 2;
            l->y = b->y + OPEN_HEAD;
        }
        for (uint32_t k = 0; k < l->member_count; k++) {
            sb_drawn_box *b = &s->boxes.items[ls->members[l->first_member + k]];
            const sb_layout_node *node = &l->layout.nodes[k];
            b->x = l->x + node->x;
            b->y = l->y + node->y;
            b->w = node->w;
            b->h = node->h;
        }
    }
}

/* Finds the x coordinate of the port of `box` at the top or bottom of the open box `drawn`. Returns
 * false when there is no such port. */
static bool port_x(const levels *ls, uint32_t drawn, uint32_t box, sb_layout_end end, float *x) {
    const level *l = &ls->items[ls->of[drawn]];
    uint32_t count = l->layout.node_count - l->member_count, i;
    uint64_t key = port_key(box, end);
    SB_PARTITION_POINT(i, 0, count, l->ports[i] < key);
    if (i == count || (l->ports[i] & ~(uint64_t)0x7fffffff) != key) return false;
    const sb_layout_node *node = &l->layout.nodes[l->ports[i] & 0x7fffffff];
    *x = l->x + node->x + node->w / 2;
    return true;
}

/* A line that enters or leaves an open box is extended to its border, across the header and the
 * margins. */
static void to_border(const levels *ls, const level *l, const sb_edge_piece *p,
                      sb_layout_point *points, uint32_t n) {
    if (l->drawn == SB_BOX_NONE || n == 0) return;
    const sb_drawn_box *b = &ls->s->boxes.items[l->drawn];
    if (p->from_port) points[0].y = b->y;
    if (p->to_port) points[n - 1].y = b->y + b->h;
}

/* Moves the end of a line at an open box to the x coordinate of the port, so that it joins the
 * piece inside. */
static void to_ports(const levels *ls, const sb_edge_piece *p, sb_layout_point *points,
                     uint32_t n) {
    const sb_sketch *s = ls->s;
    if (n == 0) return;
    uint32_t from = s->drawn[p->from], to = s->drawn[p->to];
    /* a port is named by the box at the other end of the whole edge */
    if (!p->to_port && s->boxes.items[to].flags & SB_DRAWN_OPEN)
        port_x(ls, to, p->from, SB_END_TOP, &points[n - 1].x);
    if (!p->from_port && s->boxes.items[from].flags & SB_DRAWN_OPEN)
        port_x(ls, from, p->to, SB_END_BOTTOM, &points[0].x);
}

static bool add_lines(levels *ls) {
    sb_sketch *s = ls->s;
    sb_drawing *d = s->d;
    uint64_t points = 0;
    for (uint32_t i = 0; i < ls->n; i++) points += ls->items[i].layout.point_count;
    d->points = sb_arena_get(s->arena, (points + 1) * sizeof *d->points);
    d->lines = sb_arena_zeroed(s->arena, s->pieces.n + 1, sizeof *d->lines);
    if (!d->points || !d->lines) return false;
    for (uint32_t i = 0; i < ls->n; i++) {
        const level *l = &ls->items[i];
        for (uint32_t k = 0; k < l->piece_count; k++) {
            const sb_edge_piece *p = &s->pieces.items[s->by_level[l->first_piece + k]];
            const sb_layout_edge *e = &l->layout.edges[k];
            sb_layout_point *out = d->points + d->point_count;
            for (uint32_t j = 0; j < e->point_count; j++) {
                const sb_layout_point *in = &l->layout.points[e->first_point + j];
                out[j] = (sb_layout_point){in->x + l->x, in->y + l->y};
            }
            to_border(ls, l, p, out, e->point_count);
            to_ports(ls, p, out, e->point_count);
            d->lines[d->line_count++] = (sb_drawn_line){
                .from = s->drawn[p->from],
                .to = s->drawn[p->to],
                .level = l->drawn,
                .flags = (p->only_control ? SB_LINE_CONTROL : 0u) |
                         (p->is_marked ? SB_LINE_MARKED : 0u) | (e->is_up ? SB_LINE_UP : 0u) |
                         (p->from_port ? SB_LINE_FROM_PORT : 0u) |
                         (p->to_port ? SB_LINE_TO_PORT : 0u) | (p->is_ref ? SB_LINE_REF : 0u),
                .count = p->count,
                .size = p->size,
                .edge = p->edge,
                .first_point = d->point_count,
                .point_count = e->point_count,
            };
            d->point_count += e->point_count;
        }
    }
    return true;
}

sb_status sb_sketch_levels(sb_sketch *s, sb_err *err) {
    levels ls = {.s = s};
    uint32_t *ports = sb_arena_zeroed(s->arena, 2 * s->boxes.n + 2, sizeof *ports);
    const sb_draw_ask *ask = s->ask;
    uint64_t done = 0;
    if (!ports || !find_levels(&ls)) return sb_fail_nomem(err, "to draw a graph");
    for (uint32_t i = ls.n; i-- > 0;) { /* backwards, because inner levels come after outer ones */
        level *l = &ls.items[i];
        if (!fill_layout(&ls, l, ports)) return sb_fail_nomem(err, "to draw a graph");
        sb_status status = sb_layout_run(&l->layout, s->arena, err);
        if (status != SB_OK) return status;
        done += l->member_count;
        if (ask->progress && !ask->progress(ask->ud, done, s->boxes.n))
            return sb_fail(err, SB_CANCELLED, 0, "not wanted any more");
    }
    set_places(&ls);
    s->d->w = ls.items[0].layout.w;
    s->d->h = ls.items[0].layout.h;
    return add_lines(&ls) ? SB_OK : sb_fail_nomem(err, "to draw a graph");
}
