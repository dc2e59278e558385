/* gemm_test.c: the tuned product equals the plain one, for every layout and around every edge. */
#include "train/kernels/gemm.h"

#include <math.h>
#include <stdlib.h>

#include "support/test.h"
#include "train/kernels/gemm_tile.h"
#include "base/banned.h"

static float *random_numbers(sb_test_random *r, size_t n) {
    float *p = malloc((n + 1) * sizeof *p);
    assert_non_null(p);
    for (size_t i = 0; i < n; i++) p[i] = (float)sb_test_below(r, 2000) / 1000 - 1;
    return p;
}

static void check_size(team *t, size_t m, size_t n, size_t k, int layout) {
    sb_test_random r = sb_test_random_of(m * 131 + n * 17 + k + (size_t)layout);
    float *a = random_numbers(&r, m * k), *b = random_numbers(&r, k * n);
    float *c = random_numbers(&r, m * n), *expected = malloc((m * n + 1) * sizeof *expected);
    void *scratch = malloc(sb_gemm_scratch(m, n, k) + 64);
    bool ta = layout & 1, tb = layout & 2;
    assert_true(expected && scratch);
    memcpy(expected, c, m * n * sizeof *c);
    gemm g = {.m = m,
              .n = n,
              .k = k,
              .a = a,
              .b = b,
              .a_row = ta ? 1 : k,
              .a_col = ta ? m : 1,
              .b_row = tb ? 1 : n,
              .b_col = tb ? k : 1,
              .c = c,
              .add = (layout & 4) != 0};
    sb_gemm_run(&g, t, scratch);
    g.c = expected;
    sb_gemm_plain(&g);
    for (size_t i = 0; i < m * n; i++)
        if (fabsf(c[i] - expected[i]) > 1e-4f * (1 + sqrtf((float)k)))
            fail_msg("%zux%zux%zu layout %d: [%zu] is %g, expected %g", m, n, k, layout, i,
                     (double)c[i], (double)expected[i]);
    free(a);
    free(b);
    free(c);
    free(expected);
    free(scratch);
}

static void equals_the_plain_product_around_every_edge(void **state) {
    static const size_t sizes[] = {0, 1, 5, 6, 7, 15, 16, 17, 33};
    (void)state;
    for (size_t i = 0; i < SB_COUNT(sizes); i++)
        for (size_t j = 0; j < SB_COUNT(sizes); j++)
            for (size_t k = 0; k < SB_COUNT(sizes); k++)
                for (int layout = 0; layout < 8; layout++)
                    check_size(NULL, sizes[i], sizes[j], sizes[k], layout);
}

static void equals_the_plain_product_on_several_threads(void **state) {
    team *t;
    sb_err err;
    (void)state;
    assert_ok(sb_team_new(&t, 3, &err), &err);
    for (int layout = 0; layout < 8; layout++) {
        check_size(t, 100, 128, 784, layout);
        check_size(t, 100, 10, 300, layout);
        check_size(t, 61, 97, 257, layout);
    }
    sb_team_free(t);
}

static void the_plain_tile_equals_the_fast_one(void **state) {
    sb_test_random r = sb_test_random_of(5);
    enum { K = 37 };
    float *a = random_numbers(&r, K * TILE_ROWS), *b = random_numbers(&r, K * TILE_COLUMNS);
    float x[TILE_ROWS * TILE_COLUMNS] = {0}, y[TILE_ROWS * TILE_COLUMNS] = {0};
    (void)state;
    sb_tile_any(K, a, b, x, TILE_COLUMNS, false);
    sb_tile_pick()(K, a, b, y, TILE_COLUMNS, false);
    for (size_t i = 0; i < SB_COUNT(x); i++) assert_true(fabsf(x[i] - y[i]) < 1e-4f);
    free(a);
    free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_plain_product_around_every_edge),
        cmocka_unit_test(equals_the_plain_product_on_several_threads),
        cmocka_unit_test(the_plain_tile_equals_the_fast_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
