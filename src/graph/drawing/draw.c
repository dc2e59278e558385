/* draw.c: finds the visible boxes and runs the steps of a drawing. */
#include "graph/drawing/draw_int.h"

#include <string.h>

#include "base/vec.h"
#include "base/banned.h"

#define MOST_DRAWN (1u << 22)

uint32_t sb_sketch_level(const sb_sketch *s, uint32_t box) {
    uint32_t level = s->m->boxes[box].parent;
    while (level != SB_BOX_NONE && s->is_ungrouped[level]) level = s->m->boxes[level].parent;
    return level;
}

static void mark_set(uint8_t *set, const sb_model *m, const uint32_t *boxes, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (boxes[i] < m->box_count) set[boxes[i]] = 1;
}

static bool can_open(const sb_box *b) {
    return b->child_count > 0;
}

/* Visits every box in top-down order: a box is visible when its parent is visible and open. */
static bool find_boxes(sb_sketch *s) {
    const sb_model *m = s->m;
    for (uint32_t i = 0; i < m->box_count; i++) {
        uint32_t box = m->downwards[i];
        const sb_box *b = &m->boxes[box];
        uint32_t parent = b->parent;
        bool is_in_sight =
            parent == SB_BOX_NONE ||
            (s->seen_as[parent] == parent && (s->is_open[parent] || s->is_ungrouped[parent]));
        s->is_open[box] &= is_in_sight && can_open(b);
        s->is_ungrouped[box] &= is_in_sight && b->kind == SB_BOX_SERIES;
        s->seen_as[box] = is_in_sight ? box : s->seen_as[parent];
        if (!is_in_sight || parent == SB_BOX_NONE || s->is_ungrouped[box]) continue;
        uint32_t level = sb_sketch_level(s, box);
        sb_drawn_box *drawn = SB_VEC_PUSH(&s->boxes, &s->alloc, MOST_DRAWN);
        if (!drawn) return false;
        *drawn = (sb_drawn_box){.box = box,
                                .level = level == SB_BOX_ROOT ? SB_BOX_NONE : s->drawn[level],
                                .flags = s->is_open[box] ? SB_DRAWN_OPEN : 0};
        s->drawn[box] = (uint32_t)s->boxes.n - 1;
    }
    return true;
}

static void mark_boxes(sb_sketch *s) {
    if (!s->ask->marked) return;
    for (uint32_t i = 0; i < s->m->box_count; i++) {
        uint32_t drawn = s->drawn[s->seen_as[i]];
        if (s->ask->marked[i] && drawn != SB_BOX_NONE)
            s->boxes.items[drawn].flags |= SB_DRAWN_MARKED;
    }
}

uint64_t sb_draw_size(const sb_model *m, const sb_draw_ask *ask) {
    uint64_t n = m->boxes[SB_BOX_ROOT].child_count;
    for (size_t i = 0; i < ask->open_count; i++) n += m->boxes[ask->open[i]].child_count;
    for (size_t i = 0; i < ask->ungrouped_count; i++) n += m->boxes[ask->ungrouped[i]].child_count;
    return n;
}

sb_status sb_draw(sb_drawing *out, const sb_model *m, const sb_draw_ask *ask, sb_arena *arena,
                  sb_err *err) {
    sb_sketch s = {.m = m, .ask = ask, .arena = arena, .alloc = sb_arena_alloc(arena), .d = out};
    size_t n = m->box_count;
    *out = (sb_drawing){0};
    s.is_open = sb_arena_zeroed(arena, n, 1);
    s.is_ungrouped = sb_arena_zeroed(arena, n, 1);
    s.is_aside = sb_arena_zeroed(arena, n, 1);
    s.seen_as = sb_arena_zeroed(arena, n, sizeof *s.seen_as);
    s.constants = sb_arena_zeroed(arena, n, sizeof *s.constants);
    s.drawn = sb_arena_get(arena, n * sizeof *s.drawn);
    if (!s.is_open || !s.is_ungrouped || !s.is_aside || !s.seen_as || !s.constants || !s.drawn)
        return sb_fail_nomem(err, "to draw a graph");
    memset(s.drawn, 0xff, n * sizeof *s.drawn);
    mark_set(s.is_open, m, ask->open, ask->open_count);
    mark_set(s.is_ungrouped, m, ask->ungrouped, ask->ungrouped_count);
    s.is_open[SB_BOX_ROOT] = 1;
    if (!find_boxes(&s)) return sb_fail(err, SB_LIMIT, 0, "too many boxes are open");
    mark_boxes(&s);
    if (!sb_sketch_pieces(&s) || !sb_sketch_aside(&s)) return sb_fail_nomem(err, "to draw a graph");
    sb_status status = sb_sketch_levels(&s, err);
    out->boxes = s.boxes.items;
    out->box_count = (uint32_t)s.boxes.n;
    return status;
}
