/* draw_pieces.c: divides the edges of the model into pieces, one per level. First all edges between
 * the same two visible boxes are merged into one; then each is divided at the borders of open
 * boxes. */
#include <string.h>

#include "base/slice.h"
#include "base/vec.h"
#include "graph/drawing/draw_int.h"
#include "base/banned.h"

#define MOST_PIECES (1u << 24)
#define MOST_WAITS 16u /* a constant with more control inputs is drawn */

typedef struct whole {
    uint32_t from, to;
    sb_edge_piece sum;
} whole;

/* A hash table with open addressing. It stores indices into an array of items. */
typedef struct table {
    uint32_t *slots; /* index of the item + 1; 0: free */
    size_t room;     /* a power of two */
} table;

static uint64_t hash_of(uint64_t a, uint64_t b) {
    uint64_t x = a * 0x9e3779b97f4a7c15u ^ b * 0xc2b2ae3d27d4eb4fu;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    return x ^ x >> 32;
}

static bool table_make(table *t, sb_arena *arena, size_t items) {
    t->room = 64;
    while (t->room < 2 * items) t->room *= 2;
    t->slots = sb_arena_zeroed(arena, t->room, sizeof *t->slots);
    return t->slots != NULL;
}

typedef struct cutting {
    sb_sketch *s;
    struct {
        whole *items;
        size_t n, room;
    } wholes;
    table by_ends, by_level;
} cutting;

static void add_up(sb_edge_piece *sum, const sb_edge_piece *more) {
    bool is_first = sum->count == 0;
    sum->only_control = is_first ? more->only_control : sum->only_control && more->only_control;
    sum->is_marked |= more->is_marked;
    sum->is_ref |= more->is_ref;
    sum->count += more->count;
    if (is_first || more->size > sum->size) {
        sum->size = more->size;
        sum->edge = more->edge;
    }
}

static bool add_whole(cutting *c, uint32_t from, uint32_t to, const sb_edge_piece *one) {
    size_t at = hash_of(from, to) & (c->by_ends.room - 1);
    for (; c->by_ends.slots[at]; at = (at + 1) & (c->by_ends.room - 1)) {
        whole *w = &c->wholes.items[c->by_ends.slots[at] - 1];
        if (w->from == from && w->to == to) return add_up(&w->sum, one), true;
    }
    whole *w = SB_VEC_PUSH(&c->wholes, &c->s->alloc, MOST_PIECES);
    if (!w) return false;
    *w = (whole){from, to, {0}};
    add_up(&w->sum, one);
    c->by_ends.slots[at] = (uint32_t)c->wholes.n;
    return true;
}

/* Adds an edge that ends at `to`. This is usually the end of the edge in the model; for a control
 * edge to a hidden constant it is the operation that the constant feeds. */
static bool add_edge(cutting *c, uint32_t edge, uint32_t to) {
    sb_sketch *s = c->s;
    const sb_edge *e = &s->m->edges[edge];
    uint32_t from = s->seen_as[e->from];
    to = s->seen_as[to];
    if (from == to) return true;
    sb_edge_piece one = {.only_control = e->flags & SB_EDGE_CONTROL,
                         .is_ref = e->flags & SB_EDGE_REF,
                         .is_marked =
                             s->ask->marked && s->ask->marked[e->from] && s->ask->marked[e->to],
                         .count = 1,
                         .size = e->size,
                         .edge = edge};
    return add_whole(c, from, to, &one);
}

/* Returns true for a visible constant that is not drawn. Constants with very many control inputs
 * are drawn, because replacing their edges would add too many lines. */
static bool is_hidden(const sb_sketch *s, uint32_t op) {
    const sb_box *b = &s->m->boxes[op];
    return b->is_constant && b->out_count && b->in_count <= MOST_WAITS && s->seen_as[op] == op &&
           !s->ask->constants;
}

/* Counts a hidden constant at the box that it feeds, and redirects the control inputs of the
 * constant to that box, as TensorBoard does. */
static bool add_constant(cutting *c, uint32_t constant, uint32_t to) {
    sb_sketch *s = c->s;
    const sb_box *b = &s->m->boxes[constant];
    s->is_aside[constant] = 2;
    if (s->seen_as[to] == constant) return true;
    s->constants[s->seen_as[to]]++;
    for (uint32_t i = 0; i < b->in_count; i++)
        if (!is_hidden(s, s->m->edges[b->first_in + i].from) && !add_edge(c, b->first_in + i, to))
            return false;
    return true;
}

/* Collects the edges between visible boxes. */
static bool collect(cutting *c) {
    const sb_model *m = c->s->m;
    for (uint32_t i = 0; i < m->edge_count; i++) {
        const sb_edge *e = &m->edges[i];
        if (is_hidden(c->s, e->to)) continue;
        bool is_done =
            is_hidden(c->s, e->from) ? add_constant(c, e->from, e->to) : add_edge(c, i, e->to);
        if (!is_done) return false;
    }
    return true;
}

static bool add_piece(cutting *c, const sb_edge_piece *p) {
    sb_sketch *s = c->s;
    uint64_t ends =
        (uint64_t)(p->from << 1 | p->from_port) << 32 | (uint32_t)(p->to << 1 | p->to_port);
    size_t at = hash_of(ends, p->level) & (c->by_level.room - 1);
    for (; c->by_level.slots[at]; at = (at + 1) & (c->by_level.room - 1)) {
        sb_edge_piece *q = &s->pieces.items[c->by_level.slots[at] - 1];
        if (q->level == p->level && q->from == p->from && q->to == p->to &&
            q->from_port == p->from_port && q->to_port == p->to_port)
            return add_up(q, p), true;
    }
    sb_edge_piece *q = SB_VEC_PUSH(&s->pieces, &s->alloc, MOST_PIECES);
    if (!q) return false;
    *q = *p;
    q->count = 0;
    add_up(q, p);
    c->by_level.slots[at] = (uint32_t)s->pieces.n;
    return true;
}

/* Returns the number of levels that contain a visible box. */
static uint32_t levels_above(const sb_sketch *s, uint32_t box) {
    uint32_t n = 0;
    while ((box = sb_sketch_level(s, box)) != SB_BOX_NONE) n++;
    return n;
}

/* Divides an edge at the lowest level that contains both ends: one piece in that level, and one
 * piece in each open box between that level and the two ends. */
static bool cut(cutting *c, const whole *w) {
    sb_sketch *s = c->s;
    uint32_t a = w->from, b = w->to, deep_a = levels_above(s, a), deep_b = levels_above(s, b);
    while (deep_a > deep_b) a = sb_sketch_level(s, a), deep_a--;
    while (deep_b > deep_a) b = sb_sketch_level(s, b), deep_b--;
    if (a == b) return true; /* one end is an open box that contains the other end */
    while (sb_sketch_level(s, a) != sb_sketch_level(s, b)) {
        a = sb_sketch_level(s, a);
        b = sb_sketch_level(s, b);
    }
    sb_edge_piece p = w->sum;
    p.level = sb_sketch_level(s, a);
    p.from = a;
    p.to = b;
    p.from_port = p.to_port = false;
    if (!add_piece(c, &p)) return false;
    for (uint32_t box = w->from; box != a; box = sb_sketch_level(s, box)) {
        p.level = sb_sketch_level(s, box);
        p.from = box;
        p.to = b;
        p.to_port = true;
        if (!add_piece(c, &p)) return false;
    }
    p.to_port = false;
    for (uint32_t box = w->to; box != b; box = sb_sketch_level(s, box)) {
        p.level = sb_sketch_level(s, box);
        p.from = a;
        p.to = box;
        p.from_port = true;
        if (!add_piece(c, &p)) return false;
    }
    return true;
}

bool sb_sketch_pieces(sb_sketch *s) {
    cutting c = {.s = s};
    size_t most = s->m->edge_count;
    for (uint32_t i = 0; i < s->m->box_count; i++) {
        const sb_box *b = &s->m->boxes[i];
        if (b->is_constant && b->in_count <= MOST_WAITS) most += (size_t)b->in_count * b->out_count;
    }
    if (!table_make(&c.by_ends, s->arena, most) || !collect(&c)) return false;
    most = 0;
    for (size_t i = 0; i < c.wholes.n; i++)
        most += levels_above(s, c.wholes.items[i].from) + levels_above(s, c.wholes.items[i].to);
    if (!table_make(&c.by_level, s->arena, most + 1)) return false;
    for (size_t i = 0; i < c.wholes.n; i++)
        if (!cut(&c, &c.wholes.items[i])) return false;
    return true;
}
