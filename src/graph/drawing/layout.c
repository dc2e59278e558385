/* layout.c: runs the steps of a layout, and computes the corners of boxes and the points of
 * edges. */
#include "graph/drawing/layout_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

#define MOST_LAYERED 20000u

/* ---- grids ----------------------------------------------------------------------------------- */

/* Places n nodes, in the given order, in rows that begin at y = top. The result is a little wider
 * than high, and at least as wide as the layout so far. Updates the size of the layout. */
static void grid_nodes(sb_level_layout *l, const uint32_t *order, uint32_t n, float top) {
    double area = 0;
    float widest = l->w;
    for (uint32_t i = 0; i < n; i++)
        area += (double)(l->nodes[order[i]].w + l->gap_x) * (double)(l->nodes[order[i]].h + 12);
    float limit = (float)sqrt(area * 1.6);
    if (limit < widest) limit = widest;
    float x = 0, y = top, high = 0;
    for (uint32_t i = 0; i < n; i++) {
        sb_layout_node *node = &l->nodes[order[i]];
        if (x > 0 && x + node->w > limit) {
            x = 0;
            y += high + 12;
            high = 0;
        }
        node->x = x;
        node->y = y;
        x += node->w + l->gap_x;
        if (node->h > high) high = node->h;
        if (node->x + node->w > l->w) l->w = node->x + node->w;
    }
    if (n) l->h = y + high;
}

/* ---- edges ----------------------------------------------------------------------------------- */

/* Returns the x coordinate at which the k-th of n lines meets a box. Lines are spread around its
 * centre. */
static float meets(const sb_layout_node *node, uint32_t k, uint32_t n) {
    if (node->is_port || n == 0) return node->x + node->w / 2;
    float room = node->w * 0.6f, step = room / (float)n;
    if (step > 24) step = 24;
    return node->x + node->w / 2 + ((float)k - (float)(n - 1) / 2) * step;
}

typedef struct end {
    float other; /* x coordinate of the next point of the line, to sort by */
    uint32_t edge, node;
    bool is_from;
} end;

static int by_node(const void *a, const void *b) {
    const end *x = a, *y = b;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    if (x->is_from != y->is_from) return x->is_from < y->is_from ? -1 : 1;
    if (x->other != y->other) return x->other < y->other ? -1 : 1;
    return x->edge < y->edge ? -1 : x->edge > y->edge;
}

static float middle(const sb_layout_node *node) {
    return node->x + node->w / 2;
}

/* Returns the x coordinate of the vertex next to the upper or lower end of an edge. */
static float next_x(const sb_level *v, uint32_t i, bool at_top) {
    const sb_layout_edge *e = &v->l->edges[i];
    uint32_t top = e->is_up ? e->to : e->from, bottom = e->is_up ? e->from : e->to;
    if (v->bend_count && v->bend_count[i])
        return v->x[v->first_bend[i] + (at_top ? 0 : v->bend_count[i] - 1)];
    return middle(&v->l->nodes[at_top ? bottom : top]);
}

static bool add_points(sb_level *v, const float *rank_top, const float *rank_bottom) {
    sb_level_layout *l = v->l;
    uint64_t total = 0;
    end *ends = sb_arena_get(v->arena, (2 * (size_t)l->edge_count + 1) * sizeof *ends);
    float *top_x = sb_arena_zeroed(v->arena, l->edge_count + 1, sizeof *top_x);
    float *bottom_x = sb_arena_zeroed(v->arena, l->edge_count + 1, sizeof *bottom_x);
    if (!ends || !top_x || !bottom_x) return false;
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->edge_count; i++) {
        const sb_layout_edge *e = &l->edges[i];
        if (e->from == e->to) continue;
        ends[n++] = (end){next_x(v, i, true), i, e->is_up ? e->to : e->from, true};
        ends[n++] = (end){next_x(v, i, false), i, e->is_up ? e->from : e->to, false};
        total += 2 + 2 * (v->bend_count ? v->bend_count[i] : 0);
    }
    qsort(ends, n, sizeof *ends, by_node);
    for (uint32_t i = 0, k; i < n; i = k) {
        for (k = i + 1;
             k < n && ends[k].node == ends[i].node && ends[k].is_from == ends[i].is_from;)
            k++;
        for (uint32_t j = i; j < k; j++)
            *(ends[j].is_from ? &top_x[ends[j].edge] : &bottom_x[ends[j].edge]) =
                meets(&l->nodes[ends[i].node], j - i, k - i);
    }
    l->points = sb_arena_get(v->arena, (total + 1) * sizeof *l->points);
    if (!l->points) return false;
    for (uint32_t i = 0; i < l->edge_count; i++) {
        sb_layout_edge *e = &l->edges[i];
        e->first_point = l->point_count;
        e->point_count = 0;
        if (e->from == e->to) continue;
        const sb_layout_node *top = &l->nodes[e->is_up ? e->to : e->from];
        const sb_layout_node *bottom = &l->nodes[e->is_up ? e->from : e->to];
        sb_layout_point *p = l->points + l->point_count;
        uint32_t count = 0;
        p[count++] = (sb_layout_point){top_x[i], top->y + top->h};
        for (uint32_t k = 0; v->bend_count && k < v->bend_count[i]; k++) {
            uint32_t bend = v->first_bend[i] + k;
            p[count++] = (sb_layout_point){v->x[bend], rank_top[v->rank[bend]]};
            p[count++] = (sb_layout_point){v->x[bend], rank_bottom[v->rank[bend]]};
        }
        p[count++] = (sb_layout_point){bottom_x[i], bottom->y};
        for (uint32_t k = 0; e->is_up && k < count / 2; k++) {
            sb_layout_point kept = p[k];
            p[k] = p[count - 1 - k];
            p[count - 1 - k] = kept;
        }
        e->point_count = count;
        l->point_count += count;
    }
    return true;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool finish(sb_level *v) {
    sb_level_layout *l = v->l;
    float *top = sb_arena_zeroed(v->arena, v->rank_count + 1, sizeof *top);
    float *bottom = sb_arena_zeroed(v->arena, v->rank_count + 1, sizeof *bottom);
    float left = 0, right = 0, y = 0;
    if (!top || !bottom) return false;
    for (uint32_t i = 0; i < v->vertex_count; i++) {
        float half = sb_vertex_width(v, i) / 2;
        if (i == 0 || v->x[i] - half < left) left = v->x[i] - half;
        if (i == 0 || v->x[i] + half > right) right = v->x[i] + half;
    }
    for (uint32_t i = 0; i < v->real_count; i++) {
        float h = l->nodes[v->node_of[i]].h;
        if (h > bottom[v->rank[i]]) bottom[v->rank[i]] = h;
    }
    for (uint32_t rank = 0; rank < v->rank_count; rank++) {
        float h = bottom[rank];
        top[rank] = y;
        bottom[rank] = y + h;
        y += h + (h > 0 || rank + 1 == v->rank_count ? l->gap_y : l->gap_y / 2);
    }
    l->w = right - left;
    l->h = v->rank_count ? bottom[v->rank_count - 1] : 0;
    for (uint32_t i = 0; i < v->vertex_count; i++) v->x[i] -= left;
    for (uint32_t i = 0; i < v->real_count; i++) {
        sb_layout_node *node = &l->nodes[v->node_of[i]];
        node->x = v->x[i] - node->w / 2;
        node->y = top[v->rank[i]] + (bottom[v->rank[i]] - top[v->rank[i]] - node->h) / 2;
    }
    uint32_t *loose = sb_arena_get(v->arena, ((size_t)l->node_count + 1) * sizeof *loose), n = 0;
    if (!loose) return false;
    for (uint32_t i = 0; i < l->node_count; i++)
        if (v->vertex_of[i] == SB_NO_NODE) loose[n++] = i;
    grid_nodes(l, loose, n, l->h > 0 ? l->h + l->gap_y : 0);
    return add_points(v, top, bottom);
}

static int by_rank(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* A level with too many nodes for layers: places them in rows, in the order of their ranks. */
static bool pack(sb_level *v) {
    sb_level_layout *l = v->l;
    uint32_t n = l->node_count;
    uint64_t *keys = sb_arena_get(v->arena, ((size_t)n + 1) * sizeof *keys);
    uint32_t *order = sb_arena_get(v->arena, ((size_t)n + 1) * sizeof *order);
    if (!keys || !order) return false;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t rank = l->nodes[i].end == SB_END_BOTTOM ? UINT32_MAX : l->nodes[i].rank;
        keys[i] = rank << 32 | i;
    }
    qsort(keys, n, sizeof *keys, by_rank);
    for (uint32_t i = 0; i < n; i++) order[i] = (uint32_t)keys[i];
    grid_nodes(l, order, n, 0);
    return add_points(v, NULL, NULL);
}

sb_status sb_layout_run(sb_level_layout *l, sb_arena *arena, sb_err *err) {
    sb_level v = {.l = l, .arena = arena};
    l->w = l->h = 0;
    l->points = NULL;
    l->point_count = 0;
    l->crossings = 0;
    uint32_t most = l->most_layered ? l->most_layered : MOST_LAYERED;
    bool is_done = sb_level_rank(&v);
    if (is_done && v.real_count > most)
        is_done = pack(&v);
    else if (is_done)
        is_done = sb_level_bend(&v) && sb_level_order(&v) && sb_level_place(&v) && finish(&v);
    return is_done ? SB_OK : sb_fail_nomem(err, "for the layout of a graph");
}
