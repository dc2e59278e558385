/* draw_aside.c: moves boxes to the auxiliary list when they have so many neighbours that their
 * lines would hide the rest.
 *
 * This is done in levels of fifteen or more boxes. A box is moved when its number of incoming
 * lines, or of outgoing lines, is at least five and is an outlier among the boxes of the level:
 * above the third quartile plus 1.5 times the interquartile range, which is TensorBoard's rule.
 * NoOp operations without outputs, which only group control dependencies, are moved too. Open boxes
 * and the inputs and outputs of the graph are never moved, and the viewer can move any box back
 * into the graph. */
#include <stdlib.h>
#include <string.h>

#include "base/slice.h"
#include "graph/drawing/draw_int.h"
#include "base/banned.h"

#define LEAST_BOXES 15u
#define LEAST_DEGREE 5u

static int by_degree(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Returns the largest degree that is not an outlier. Sorts `degrees`. */
static uint32_t fence(uint32_t *degrees, uint32_t n) {
    qsort(degrees, n, sizeof *degrees, by_degree);
    double q1 = degrees[n / 4], q3 = degrees[n * 3 / 4];
    double limit = q3 + 1.5 * (q3 - q1);
    return limit < LEAST_DEGREE - 1 ? LEAST_DEGREE - 1 : (uint32_t)limit;
}

/* Marks those members of one level that become auxiliary. ins and outs have the number of lines of
 * each drawn box; `sorted` is working memory for n numbers. */
static void extract_level(sb_sketch *s, const uint32_t *members, uint32_t n, const uint32_t *ins,
                          const uint32_t *outs, uint32_t *sorted) {
    if (n < LEAST_BOXES) return;
    uint32_t limits[2];
    for (int side = 0; side < 2; side++) {
        const uint32_t *degrees = side ? outs : ins;
        for (uint32_t i = 0; i < n; i++) sorted[i] = degrees[members[i]];
        limits[side] = fence(sorted, n);
    }
    for (uint32_t i = 0; i < n; i++) {
        const sb_drawn_box *drawn = &s->boxes.items[members[i]];
        const sb_box *b = &s->m->boxes[drawn->box];
        if (drawn->flags & SB_DRAWN_OPEN || b->is_input || b->is_output) continue;
        bool is_group = b->kind == SB_BOX_OP &&
                        sb_slice_eq(sb_model_text(s->m, b->op), SB_LIT("NoOp")) &&
                        outs[members[i]] == 0;
        if (ins[members[i]] > limits[0] || outs[members[i]] > limits[1] || is_group)
            s->is_aside[drawn->box] = 1;
    }
}

/* Sorts the drawn boxes by level with a counting sort, and calls extract_level for each level. */
static bool extract(sb_sketch *s, const uint32_t *ins, const uint32_t *outs) {
    uint32_t n = (uint32_t)s->boxes.n;
    uint32_t *first = sb_arena_zeroed(s->arena, (size_t)n + 3, sizeof *first);
    uint32_t *members = sb_arena_get(s->arena, ((size_t)n + 1) * sizeof *members);
    uint32_t *sorted = sb_arena_get(s->arena, ((size_t)n + 1) * sizeof *sorted);
    if (!first || !members || !sorted) return false;
    /* the top level (NONE, which wraps around) has index 0; the level of drawn box k has k + 1 */
    for (uint32_t i = 0; i < n; i++) first[s->boxes.items[i].level + 1 + 2]++;
    for (uint32_t i = 1; i < n + 3; i++) first[i] += first[i - 1];
    for (uint32_t i = 0; i < n; i++) members[first[s->boxes.items[i].level + 1 + 1]++] = i;
    for (uint32_t k = 0; k <= n; k++)
        if (first[k + 1] > first[k])
            extract_level(s, members + first[k], first[k + 1] - first[k], ins, outs, sorted);
    return true;
}

static void set_all(sb_sketch *s, const uint32_t *boxes, size_t n, uint8_t value) {
    for (size_t i = 0; i < n; i++)
        if (boxes[i] < s->m->box_count && s->drawn[boxes[i]] != SB_BOX_NONE) {
            bool is_open = s->boxes.items[s->drawn[boxes[i]]].flags & SB_DRAWN_OPEN;
            s->is_aside[boxes[i]] = is_open ? 0 : value;
        }
}

bool sb_sketch_aside(sb_sketch *s) {
    uint32_t n = (uint32_t)s->boxes.n;
    uint32_t *ins = sb_arena_zeroed(s->arena, (size_t)n + 1, sizeof *ins);
    uint32_t *outs = sb_arena_zeroed(s->arena, (size_t)n + 1, sizeof *outs);
    if (!ins || !outs) return false;
    for (size_t i = 0; i < s->pieces.n; i++) {
        const sb_edge_piece *p = &s->pieces.items[i];
        if (!p->from_port) outs[s->drawn[p->from]]++;
        if (!p->to_port) ins[s->drawn[p->to]]++;
    }
    if (s->ask->extract && !extract(s, ins, outs)) return false;
    set_all(s, s->ask->to_side, s->ask->to_side_count, 1);
    set_all(s, s->ask->to_main, s->ask->to_main_count, 0);
    for (uint32_t i = 0; i < n; i++) {
        sb_drawn_box *drawn = &s->boxes.items[i];
        drawn->constants = s->constants[drawn->box];
        drawn->uses = outs[i] ? outs[i] : ins[i];
        if (s->is_aside[drawn->box]) drawn->flags |= SB_DRAWN_AUXILIARY;
    }
    /* Pieces of edges of an auxiliary box are removed from all levels. */
    size_t kept = 0;
    for (size_t i = 0; i < s->pieces.n; i++) {
        const sb_edge_piece *p = &s->pieces.items[i];
        if (s->is_aside[p->from] || s->is_aside[p->to]) continue;
        s->pieces.items[kept++] = *p;
    }
    s->pieces.n = kept;
    return true;
}
