/* layout_order.c: chooses the order of vertices within ranks with barycentre sweeps, and keeps the
 * order with the fewest crossings. */
#include <stdlib.h>
#include <string.h>

#include "graph/drawing/layout_int.h"
#include "base/banned.h"

typedef struct keyed {
    float key;
    uint32_t place, vertex;
} keyed;

typedef struct ordering {
    sb_level *v;
    keyed *keys;
    uint32_t *best;
    uint64_t least;
    uint32_t *counts; /* a Fenwick tree over the positions of a rank */
} ordering;

static bool list_hops(sb_level *v) {
    size_t n = (size_t)v->vertex_count + 2, m = (size_t)v->hop_count + 1;
    v->first_down = sb_arena_zeroed(v->arena, n, sizeof *v->first_down);
    v->first_up = sb_arena_zeroed(v->arena, n, sizeof *v->first_up);
    v->downs = sb_arena_get(v->arena, m * sizeof *v->downs);
    v->ups = sb_arena_get(v->arena, m * sizeof *v->ups);
    if (!v->first_down || !v->first_up || !v->downs || !v->ups) return false;
    for (uint32_t i = 0; i < v->hop_count; i++) {
        v->first_down[v->hops[i].up + 2]++;
        v->first_up[v->hops[i].down + 2]++;
    }
    for (size_t i = 1; i < n; i++) {
        v->first_down[i] += v->first_down[i - 1];
        v->first_up[i] += v->first_up[i - 1];
    }
    for (uint32_t i = 0; i < v->hop_count; i++) {
        v->downs[v->first_down[v->hops[i].up + 1]++] = v->hops[i].down;
        v->ups[v->first_up[v->hops[i].down + 1]++] = v->hops[i].up;
    }
    return true;
}

/* Initial order: a depth-first walk from the top, so that connected vertices start next to each
 * other. */
static bool first_order(sb_level *v) {
    uint32_t n = v->vertex_count;
    v->place = sb_arena_zeroed(v->arena, n + 1, sizeof *v->place);
    v->order = sb_arena_get(v->arena, ((size_t)n + 1) * sizeof *v->order);
    v->first = sb_arena_zeroed(v->arena, v->rank_count + 2, sizeof *v->first);
    uint32_t *stack = sb_arena_get(v->arena, ((size_t)n + v->hop_count + 1) * sizeof *stack);
    uint8_t *seen = sb_arena_zeroed(v->arena, n + 1, 1);
    uint32_t *filled = sb_arena_zeroed(v->arena, v->rank_count + 1, sizeof *filled);
    if (!v->place || !v->order || !v->first || !stack || !seen || !filled) return false;
    for (uint32_t i = 0; i < n; i++) v->first[v->rank[i] + 1]++;
    for (uint32_t i = 0; i < v->rank_count; i++) v->first[i + 1] += v->first[i];
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < n; i++) {
            /* first start at vertices with no neighbour above, then at those not reached yet */
            if (seen[i] || (pass == 0 && v->first_up[i] != v->first_up[i + 1])) continue;
            uint32_t depth = 0;
            stack[depth++] = i;
            while (depth) {
                uint32_t vertex = stack[--depth];
                if (seen[vertex]) continue;
                seen[vertex] = 1;
                uint32_t rank = v->rank[vertex];
                v->place[vertex] = filled[rank]++;
                v->order[v->first[rank] + v->place[vertex]] = vertex;
                for (uint32_t k = v->first_down[vertex + 1]; k-- > v->first_down[vertex];)
                    if (!seen[v->downs[k]]) stack[depth++] = v->downs[k];
            }
        }
    }
    return true;
}

/* Counts the crossings between a rank and the one below, as inversions among the ends of hops, in
 * O(n log n). */
static uint64_t crossings_below(ordering *o, uint32_t rank) {
    sb_level *v = o->v;
    uint32_t width = v->first[rank + 2] - v->first[rank + 1], seen = 0;
    uint64_t crossings = 0;
    memset(o->counts, 0, (width + 1) * sizeof *o->counts);
    for (uint32_t i = v->first[rank]; i < v->first[rank + 1]; i++) {
        uint32_t vertex = v->order[i];
        uint32_t from = v->first_down[vertex], to = v->first_down[vertex + 1];
        for (uint32_t k = from; k < to; k++) {
            uint32_t before = 0;
            for (uint32_t p = v->place[v->downs[k]] + 1; p; p &= p - 1) before += o->counts[p];
            crossings += seen - before;
        }
        for (uint32_t k = from; k < to; k++)
            for (uint32_t p = v->place[v->downs[k]] + 1; p <= width; p += p & -p) o->counts[p]++;
        seen += to - from;
    }
    return crossings;
}

static uint64_t count_crossings(ordering *o) {
    uint64_t n = 0;
    for (uint32_t rank = 0; rank + 1 < o->v->rank_count; rank++) n += crossings_below(o, rank);
    return n;
}

static int by_key(const void *a, const void *b) {
    const keyed *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Sorts a rank by the mean position (barycentre) of the neighbours above or below. Vertices without
 * such neighbours keep their position. */
static void sort_rank(ordering *o, uint32_t rank, bool is_down) {
    sb_level *v = o->v;
    const uint32_t *list = is_down ? v->ups : v->downs;
    const uint32_t *first = is_down ? v->first_up : v->first_down;
    uint32_t from = v->first[rank], n = v->first[rank + 1] - from;
    uint32_t near = is_down ? rank - 1 : rank + 1;
    float scale = (float)n / (float)(v->first[near + 1] - v->first[near] + 1);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t vertex = v->order[from + i], count = first[vertex + 1] - first[vertex];
        double sum = 0;
        for (uint32_t k = first[vertex]; k < first[vertex + 1]; k++) sum += v->place[list[k]];
        float key = count ? (float)(sum / count) * scale : (float)i;
        o->keys[i] = (keyed){key, i, vertex};
    }
    qsort(o->keys, n, sizeof *o->keys, by_key);
    for (uint32_t i = 0; i < n; i++) {
        v->order[from + i] = o->keys[i].vertex;
        v->place[o->keys[i].vertex] = i;
    }
}

static uint32_t sweeps_for(uint32_t n) {
    return n < 3000 ? 16 : n < 30000 ? 6 : 3;
}

bool sb_level_order(sb_level *v) {
    uint32_t widest = 0, n = v->vertex_count, unchanged = 0;
    if (!list_hops(v) || !first_order(v)) return false;
    for (uint32_t i = 0; i < v->rank_count; i++)
        if (v->first[i + 1] - v->first[i] > widest) widest = v->first[i + 1] - v->first[i];
    ordering o = {.v = v};
    o.keys = sb_arena_get(v->arena, ((size_t)widest + 1) * sizeof *o.keys);
    o.counts = sb_arena_get(v->arena, ((size_t)widest + 2) * sizeof *o.counts);
    o.best = sb_arena_get(v->arena, ((size_t)n + 1) * sizeof *o.best);
    if (!o.keys || !o.counts || !o.best) return false;
    o.least = count_crossings(&o);
    memcpy(o.best, v->order, n * sizeof *o.best);
    for (uint32_t sweep = 0; sweep < sweeps_for(n) && o.least && unchanged < 4; sweep++) {
        bool is_down = sweep % 2 == 0;
        for (uint32_t i = 1; i < v->rank_count; i++)
            sort_rank(&o, is_down ? i : v->rank_count - 1 - i, is_down);
        uint64_t crossings = count_crossings(&o);
        unchanged++;
        if (crossings >= o.least) continue;
        o.least = crossings;
        unchanged = 0;
        memcpy(o.best, v->order, n * sizeof *o.best);
    }
    memcpy(v->order, o.best, n * sizeof *o.best);
    for (uint32_t rank = 0; rank < v->rank_count; rank++)
        for (uint32_t i = v->first[rank]; i < v->first[rank + 1]; i++)
            v->place[v->order[i]] = i - v->first[rank];
    v->l->crossings = o.least;
    return true;
}
