/* layout_place.c: computes the x coordinates of vertices; their order within ranks is fixed.
 *
 * A sweep tries to place each vertex at the weighted mean of its neighbours in the rank before, and
 * moves vertices that are too close as little as possible. This is a least-squares problem with the
 * constraints x[i+1] - x[i] >= gap, known as isotonic regression. It is solved exactly by merging
 * neighbours that collide into pools (pool adjacent violators). Hops between two bends have the
 * largest weight, so that long edges are straight. */
#include "graph/drawing/layout_int.h"
#include "base/banned.h"

typedef struct pool {
    /* sum of weight * (wanted position - offset), and sum of weights, of the members */
    double sum, weight;
    uint32_t first;
} pool;

static double gap_between(const sb_level *v, uint32_t a, uint32_t b) {
    double between = v->l->gap_x;
    if (v->node_of[a] == SB_NO_NODE || v->node_of[b] == SB_NO_NODE) between *= 0.5;
    return (double)(sb_vertex_width(v, a) + sb_vertex_width(v, b)) / 2 + between;
}

static double weight_of(const sb_level *v, uint32_t a, uint32_t b) {
    int bends = (v->node_of[a] == SB_NO_NODE) + (v->node_of[b] == SB_NO_NODE);
    return bends == 2 ? 8 : bends == 1 ? 2 : 1;
}

typedef enum look { ABOVE = 1, BELOW = 2, BOTH = 3 } look;

static double wanted(const sb_level *v, uint32_t vertex, look where, double *weight) {
    double sum = 0, total = 0;
    if (where & ABOVE)
        for (uint32_t k = v->first_up[vertex]; k < v->first_up[vertex + 1]; k++) {
            double w = weight_of(v, vertex, v->ups[k]);
            sum += w * (double)v->x[v->ups[k]];
            total += w;
        }
    if (where & BELOW)
        for (uint32_t k = v->first_down[vertex]; k < v->first_down[vertex + 1]; k++) {
            double w = weight_of(v, vertex, v->downs[k]);
            sum += w * (double)v->x[v->downs[k]];
            total += w;
        }
    *weight = total > 0 ? total : 0.05;
    return total > 0 ? sum / total : (double)v->x[vertex];
}

static void place_rank(sb_level *v, uint32_t rank, look where, pool *pools, double *offsets) {
    uint32_t from = v->first[rank], n = v->first[rank + 1] - from, count = 0;
    if (n == 0) return;
    offsets[0] = 0;
    for (uint32_t i = 1; i < n; i++)
        offsets[i] = offsets[i - 1] + gap_between(v, v->order[from + i - 1], v->order[from + i]);
    for (uint32_t i = 0; i < n; i++) {
        double weight, at = wanted(v, v->order[from + i], where, &weight) - offsets[i];
        pools[count++] = (pool){at * weight, weight, i};
        while (count > 1 && pools[count - 2].sum / pools[count - 2].weight >
                                pools[count - 1].sum / pools[count - 1].weight) {
            pools[count - 2].sum += pools[count - 1].sum;
            pools[count - 2].weight += pools[count - 1].weight;
            count--;
        }
    }
    for (uint32_t k = 0; k < count; k++) {
        uint32_t end = k + 1 < count ? pools[k + 1].first : n;
        double at = pools[k].sum / pools[k].weight;
        for (uint32_t i = pools[k].first; i < end; i++)
            v->x[v->order[from + i]] = (float)(at + offsets[i]);
    }
}

bool sb_level_place(sb_level *v) {
    uint32_t widest = 0;
    for (uint32_t i = 0; i < v->rank_count; i++)
        if (v->first[i + 1] - v->first[i] > widest) widest = v->first[i + 1] - v->first[i];
    v->x = sb_arena_zeroed(v->arena, v->vertex_count + 1, sizeof *v->x);
    pool *pools = sb_arena_get(v->arena, ((size_t)widest + 1) * sizeof *pools);
    double *offsets = sb_arena_get(v->arena, ((size_t)widest + 1) * sizeof *offsets);
    if (!v->x || !pools || !offsets) return false;
    /* initial positions: next to each other, centred at 0 */
    for (uint32_t rank = 0; rank < v->rank_count; rank++) {
        double at = 0;
        uint32_t from = v->first[rank], to = v->first[rank + 1];
        for (uint32_t i = from; i < to; i++) {
            if (i > from) at += gap_between(v, v->order[i - 1], v->order[i]);
            v->x[v->order[i]] = (float)at;
        }
        for (uint32_t i = from; i < to; i++) v->x[v->order[i]] -= (float)(at / 2);
    }
    uint32_t rounds = v->vertex_count < 30000 ? 6 : 2;
    for (uint32_t round = 0; round < rounds; round++) {
        for (uint32_t i = 1; i < v->rank_count; i++) place_rank(v, i, ABOVE, pools, offsets);
        for (uint32_t i = v->rank_count - (v->rank_count > 0); i-- > 0;)
            place_rank(v, i, BELOW, pools, offsets);
    }
    for (uint32_t i = 0; i < v->rank_count; i++) place_rank(v, i, BOTH, pools, offsets);
    return true;
}
