/* draw_pieces.c: edges of the model as pieces within levels: first those between equal boxes in
 * sight are made one, then each is cut at the borders of open boxes. */
#include <string.h>

#include "base/slice.h"
#include "base/vec.h"
#include "graph/draw_int.h"
#include "base/banned.h"

#define MOST_PIECES (1u << 24)

typedef struct whole {
    uint32_t from, to;
    sb_piece sum;
} whole;

/* Open addressing over an array of items with a key each. */
typedef struct table {
    uint32_t *slots; /* item + 1 */
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

static void add_up(sb_piece *sum, const sb_piece *more) {
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

static bool add_whole(cutting *c, uint32_t from, uint32_t to, const sb_piece *one) {
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

static bool is_constant(const sb_model *m, const sb_box *b) {
    if (b->kind != SB_BOX_OP || b->in_count) return false;
    sb_slice op = sb_model_text(m, b->op);
    return sb_slice_eq(op, SB_LIT("Const")) || sb_slice_eq(op, SB_LIT("prim::Constant")) ||
           sb_slice_eq(op, SB_LIT("Constant")) || sb_slice_eq(op, SB_LIT("Initializer"));
}

/* Edges between boxes in sight; those of constants are only counted. */
static bool collect(cutting *c) {
    sb_sketch *s = c->s;
    const sb_model *m = s->m;
    for (uint32_t i = 0; i < m->edge_count; i++) {
        const sb_edge *e = &m->edges[i];
        uint32_t from = s->seen_as[e->from], to = s->seen_as[e->to];
        if (from == to) continue;
        if (from == e->from && !s->ask->constants && is_constant(m, &m->boxes[from])) {
            s->constants[to]++;
            s->is_aside[from] = 2;
            continue;
        }
        sb_piece one = {.only_control = e->flags & SB_EDGE_CONTROL,
                        .is_ref = e->flags & SB_EDGE_REF,
                        .is_marked =
                            s->ask->marked && s->ask->marked[e->from] && s->ask->marked[e->to],
                        .count = 1,
                        .size = e->size,
                        .edge = i};
        if (!add_whole(c, from, to, &one)) return false;
    }
    return true;
}

static bool add_piece(cutting *c, const sb_piece *p) {
    sb_sketch *s = c->s;
    uint64_t ends =
        (uint64_t)(p->from << 1 | p->from_port) << 32 | (uint32_t)(p->to << 1 | p->to_port);
    size_t at = hash_of(ends, p->level) & (c->by_level.room - 1);
    for (; c->by_level.slots[at]; at = (at + 1) & (c->by_level.room - 1)) {
        sb_piece *q = &s->pieces.items[c->by_level.slots[at] - 1];
        if (q->level == p->level && q->from == p->from && q->to == p->to &&
            q->from_port == p->from_port && q->to_port == p->to_port)
            return add_up(q, p), true;
    }
    sb_piece *q = SB_VEC_PUSH(&s->pieces, &s->alloc, MOST_PIECES);
    if (!q) return false;
    *q = *p;
    q->count = 0;
    add_up(q, p);
    c->by_level.slots[at] = (uint32_t)s->pieces.n;
    return true;
}

/* How many levels a box in sight is below the root. */
static uint32_t levels_above(const sb_sketch *s, uint32_t box) {
    uint32_t n = 0;
    while ((box = sb_sketch_level(s, box)) != SB_BOX_NONE) n++;
    return n;
}

/* An edge as its piece between the two boxes that stand in one level, and pieces from each of them
 * inwards. */
static bool cut(cutting *c, const whole *w) {
    sb_sketch *s = c->s;
    uint32_t a = w->from, b = w->to, deep_a = levels_above(s, a), deep_b = levels_above(s, b);
    while (deep_a > deep_b) a = sb_sketch_level(s, a), deep_a--;
    while (deep_b > deep_a) b = sb_sketch_level(s, b), deep_b--;
    if (a == b) return true; /* an open box and something in it */
    while (sb_sketch_level(s, a) != sb_sketch_level(s, b)) {
        a = sb_sketch_level(s, a);
        b = sb_sketch_level(s, b);
    }
    sb_piece p = w->sum;
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
    sb_arena_mark mark = sb_arena_here(s->arena);
    (void)mark;
    if (!table_make(&c.by_ends, s->arena, s->m->edge_count) || !collect(&c)) return false;
    size_t most = 0;
    for (size_t i = 0; i < c.wholes.n; i++)
        most += levels_above(s, c.wholes.items[i].from) + levels_above(s, c.wholes.items[i].to);
    if (!table_make(&c.by_level, s->arena, most + 1)) return false;
    for (size_t i = 0; i < c.wholes.n; i++)
        if (!cut(&c, &c.wholes.items[i])) return false;
    return true;
}
