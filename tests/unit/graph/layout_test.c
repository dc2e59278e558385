/* layout_test.c: properties that every layout has: no overlaps, edges downwards, equal on every
 * run, stable under small changes. */
#include "graph/drawing/layout.h"

#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "base/banned.h"

typedef struct bed {
    sb_arena arena;
    sb_level_layout l;
} bed;

static void bed_make(bed *b, uint32_t n, uint32_t m) {
    sb_arena_init(&b->arena, &sb_alloc_libc, 64 << 10, (size_t)1 << 30);
    b->l = (sb_level_layout){.gap_x = 20, .gap_y = 40, .node_count = n, .edge_count = m};
    b->l.nodes = sb_arena_zeroed(&b->arena, n + 1, sizeof *b->l.nodes);
    b->l.edges = sb_arena_zeroed(&b->arena, m + 1, sizeof *b->l.edges);
    for (uint32_t i = 0; i < n; i++) {
        b->l.nodes[i].w = (float)(60 + i * 37 % 90);
        b->l.nodes[i].h = i % 7 == 0 ? 90 : 28;
    }
}

static void bed_run(bed *b) {
    sb_err err;
    assert_ok(sb_layout_run(&b->l, &b->arena, &err), &err);
}

/* Edges to nodes of a higher number, most of them near: as models are. */
static void bed_random(bed *b, uint64_t seed, uint32_t n, uint32_t m) {
    sb_test_random random = sb_test_random_of(seed);
    bed_make(b, n, m);
    for (uint32_t i = 0; i < m; i++) {
        uint32_t from = (uint32_t)sb_test_below(&random, n - 1);
        uint32_t near = sb_test_below(&random, 10) ? 8 : n;
        uint32_t to = from + 1 + (uint32_t)sb_test_below(&random, near);
        b->l.edges[i] = (sb_layout_edge){.from = from, .to = to < n ? to : n - 1};
    }
}

static void assert_no_overlaps(const sb_level_layout *l) {
    for (uint32_t i = 0; i < l->node_count; i++) {
        const sb_layout_node *a = &l->nodes[i];
        assert_true(a->x >= -0.01f && a->x + a->w <= l->w + 0.01f);
        assert_true(a->y >= -0.01f && a->y + a->h <= l->h + 0.01f);
        for (uint32_t k = 0; k < i; k++) {
            const sb_layout_node *b = &l->nodes[k];
            bool is_apart = a->x + a->w <= b->x + 0.01f || b->x + b->w <= a->x + 0.01f ||
                            a->y + a->h <= b->y + 0.01f || b->y + b->h <= a->y + 0.01f;
            assert_true(is_apart);
        }
    }
}

static void assert_edges_down(const sb_level_layout *l) {
    for (uint32_t i = 0; i < l->edge_count; i++) {
        const sb_layout_edge *e = &l->edges[i];
        if (e->from == e->to) continue;
        const sb_layout_node *top = &l->nodes[e->is_up ? e->to : e->from];
        const sb_layout_node *bottom = &l->nodes[e->is_up ? e->from : e->to];
        assert_true(top->y + top->h < bottom->y);
        assert_true(e->point_count >= 2);
        const sb_layout_point *p = &l->points[e->first_point];
        for (uint32_t k = 1; k < e->point_count; k++)
            assert_true(e->is_up ? p[k].y <= p[k - 1].y : p[k].y >= p[k - 1].y);
        /* it begins and ends at its boxes */
        const sb_layout_node *from = &l->nodes[e->from];
        assert_true(p[0].x >= from->x && p[0].x <= from->x + from->w);
    }
}

static void boxes_do_not_overlap_and_edges_lead_downwards(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        bed b;
        bed_random(&b, seed, 20 + (uint32_t)seed * 11, 30 + (uint32_t)seed * 17);
        bed_run(&b);
        assert_no_overlaps(&b.l);
        assert_edges_down(&b.l);
        sb_arena_fini(&b.arena);
    }
}

static void cycles_and_loops_have_an_edge_upwards_each(void **state) {
    (void)state;
    bed b;
    bed_make(&b, 4, 5);
    b.l.edges[0] = (sb_layout_edge){.from = 0, .to = 1};
    b.l.edges[1] = (sb_layout_edge){.from = 1, .to = 2};
    b.l.edges[2] = (sb_layout_edge){.from = 2, .to = 0};
    b.l.edges[3] = (sb_layout_edge){.from = 2, .to = 2};
    b.l.edges[4] = (sb_layout_edge){.from = 2, .to = 3};
    bed_run(&b);
    assert_true(b.l.edges[2].is_up);
    assert_int_equal(b.l.edges[3].point_count, 0);
    assert_no_overlaps(&b.l);
    assert_edges_down(&b.l);
    sb_arena_fini(&b.arena);
}

static void equal_input_gives_equal_output(void **state) {
    (void)state;
    bed a, b;
    bed_random(&a, 5, 300, 500);
    bed_random(&b, 5, 300, 500);
    bed_run(&a);
    bed_run(&b);
    assert_memory_equal(a.l.nodes, b.l.nodes, 300 * sizeof *a.l.nodes);
    assert_memory_equal(a.l.points, b.l.points, a.l.point_count * sizeof *a.l.points);
    sb_arena_fini(&a.arena);
    sb_arena_fini(&b.arena);
}

/* As models are: branches of a trunk, with an edge across now and then. */
static void bed_branches(bed *b, uint64_t seed) {
    sb_test_random random = sb_test_random_of(seed);
    bed_make(b, 80, 110);
    for (uint32_t i = 0; i < 110; i++) {
        uint32_t to = i < 79 ? i + 1 : 3 + (uint32_t)sb_test_below(&random, 77);
        uint32_t from = i < 79 ? to / 2 : (to - 1) / 2;
        b->l.edges[i] = (sb_layout_edge){.from = from, .to = to};
    }
}

/* Of pairs that share a rank before and after, less than a tenth may have changed sides. */
static void one_more_leaf_leaves_the_order_of_the_others(void **state) {
    (void)state;
    uint32_t swapped = 0, pairs = 0, moved = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        bed a, b;
        bed_branches(&a, seed);
        bed_branches(&b, seed);
        /* the same graph with a leaf under node 40 */
        b.l.node_count = 81;
        sb_layout_node *nodes = sb_arena_zeroed(&b.arena, 82, sizeof *nodes);
        memcpy(nodes, b.l.nodes, 80 * sizeof *nodes);
        nodes[80] = (sb_layout_node){.w = 70, .h = 28};
        sb_layout_edge *edges = sb_arena_zeroed(&b.arena, 112, sizeof *edges);
        memcpy(edges, b.l.edges, 110 * sizeof *edges);
        edges[110] = (sb_layout_edge){.from = 40, .to = 80};
        b.l.nodes = nodes;
        b.l.edges = edges;
        b.l.edge_count = 111;
        bed_run(&a);
        bed_run(&b);
        for (uint32_t i = 0; i < 80; i++) {
            moved += a.l.nodes[i].rank != b.l.nodes[i].rank;
            for (uint32_t k = 0; k < i; k++) {
                if (a.l.nodes[i].rank != a.l.nodes[k].rank ||
                    b.l.nodes[i].rank != b.l.nodes[k].rank)
                    continue;
                pairs++;
                swapped += (a.l.nodes[i].x < a.l.nodes[k].x) != (b.l.nodes[i].x < b.l.nodes[k].x);
            }
        }
        sb_arena_fini(&a.arena);
        sb_arena_fini(&b.arena);
    }
    assert_true(pairs > 500);
    assert_true(swapped * 10 < pairs);
    assert_true(moved * 10 < 10 * 80);
}

static void a_chain_is_straight_and_ends_stand_at_the_ends(void **state) {
    (void)state;
    bed b;
    bed_make(&b, 6, 5);
    for (uint32_t i = 0; i < 5; i++) b.l.edges[i] = (sb_layout_edge){.from = i, .to = i + 1};
    b.l.edges[4] = (sb_layout_edge){.from = 5, .to = 4}; /* an input of the last but one */
    b.l.nodes[5].end = SB_END_TOP;
    b.l.nodes[3].end = SB_END_BOTTOM;
    b.l.edges[2] = (sb_layout_edge){.from = 2, .to = 3};
    b.l.edges[3] = (sb_layout_edge){.from = 2, .to = 4};
    bed_run(&b);
    assert_true(b.l.nodes[5].y + b.l.nodes[5].h < b.l.nodes[1].y);
    for (uint32_t i = 0; i < 6; i++)
        if (i != 3) assert_true(b.l.nodes[i].y < b.l.nodes[3].y);
    float first = b.l.nodes[0].x + b.l.nodes[0].w / 2, second = b.l.nodes[1].x + b.l.nodes[1].w / 2;
    assert_true(first - second < 1 && second - first < 1);
    sb_arena_fini(&b.arena);
}

static void a_bipartite_graph_without_need_for_crossings_has_none(void **state) {
    (void)state;
    bed b;
    bed_make(&b, 40, 20);
    for (uint32_t i = 0; i < 20; i++)
        b.l.edges[i] = (sb_layout_edge){.from = i, .to = 20 + (i * 7 + 3) % 20};
    bed_run(&b);
    assert_int_equal(b.l.crossings, 0);
    sb_arena_fini(&b.arena);
}

static void nodes_without_edges_and_too_many_nodes_are_packed(void **state) {
    (void)state;
    bed b;
    bed_make(&b, 400, 0);
    bed_run(&b);
    assert_no_overlaps(&b.l);
    assert_true(b.l.w < 4 * b.l.h && b.l.h < 4 * b.l.w);
    sb_arena_fini(&b.arena);
    bed_random(&b, 3, 300, 600);
    b.l.most_layered = 100;
    bed_run(&b);
    assert_no_overlaps(&b.l);
    assert_true(b.l.w < 4 * b.l.h && b.l.h < 4 * b.l.w);
    sb_arena_fini(&b.arena);
}

static void one_rank_of_thousands_and_one_edge_over_thousands_of_ranks_take_no_room(void **state) {
    (void)state;
    bed b;
    bed_make(&b, 3001, 3000);
    for (uint32_t i = 0; i < 3000; i++) b.l.edges[i] = (sb_layout_edge){.from = 0, .to = i + 1};
    bed_run(&b);
    assert_edges_down(&b.l);
    sb_arena_fini(&b.arena);
    bed_make(&b, 3000, 4499);
    for (uint32_t i = 0; i < 2999; i++) b.l.edges[i] = (sb_layout_edge){.from = i, .to = i + 1};
    for (uint32_t i = 0; i < 1500; i++)
        b.l.edges[2999 + i] = (sb_layout_edge){.from = i, .to = i + 1500};
    bed_run(&b);
    assert_true(b.l.point_count < 200000);
    assert_edges_down(&b.l);
    sb_arena_fini(&b.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_do_not_overlap_and_edges_lead_downwards),
        cmocka_unit_test(cycles_and_loops_have_an_edge_upwards_each),
        cmocka_unit_test(equal_input_gives_equal_output),
        cmocka_unit_test(one_more_leaf_leaves_the_order_of_the_others),
        cmocka_unit_test(a_chain_is_straight_and_ends_stand_at_the_ends),
        cmocka_unit_test(a_bipartite_graph_without_need_for_crossings_has_none),
        cmocka_unit_test(nodes_without_edges_and_too_many_nodes_are_packed),
        cmocka_unit_test(one_rank_of_thousands_and_one_edge_over_thousands_of_ranks_take_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
