/* Several lines as one: grids, gaps, statistics, against plain twins. */
#include "query/lines/group_compare.h"

#include <stdlib.h>

#include "query/lines/smooth.h"
#include "support/line_reference.h"
#include "unit/query/made.h"

/* Lines of their own, each in a store of its own. */
typedef struct lines {
    made made[8];
    sb_series series[8];
    sb_line lines[8];
    size_t n;
} lines;

static void add_line(lines *l, const int64_t *steps, const double *values, size_t n) {
    made *m = &l->made[l->n];
    *m = made_new();
    uint32_t file = made_file(m, "/run/a");
    for (size_t i = 0; i < n; i++) made_add(m, file, steps[i], 1000 + (double)i, values[i]);
    l->series[l->n] = made_take(m);
    l->lines[l->n] = (sb_line){.series = &l->series[l->n]};
    l->n++;
}

static void free_lines(lines *l) {
    for (size_t i = 0; i < l->n; i++) {
        sb_series_release(&l->series[i]);
        made_free(&l->made[i]);
    }
}

static sb_group group_of(lines *l, const sb_group_ask *ask) {
    sb_group g;
    sb_err err;
    assert_ok(sb_group_read(l->lines, l->n, ask, NULL, &l->made[0].arena, &g, &err), &err);
    return g;
}

static bool near_to(double a, double b) {
    return fabs(a - b) <= 1e-9 * (1 + fabs(b));
}

static void equal_steps_are_compared_step_by_step(void **state) {
    (void)state;
    lines l = {0};
    int64_t steps[] = {0, 10, 20};
    add_line(&l, steps, (double[]){1, 2, 3}, 3);
    add_line(&l, steps, (double[]){3, 2, 7}, 3);
    add_line(&l, steps, (double[]){5, 2, NAN}, 3);
    sb_group g = group_of(&l, &(sb_group_ask){.from = NAN, .to = NAN, .pixels = 100});
    assert_true(g.is_exact);
    assert_int_equal(g.n, 3);
    assert_int_equal(g.lines, 3);
    assert_true(g.x[0] == 0 && g.x[1] == 10 && g.x[2] == 20);
    assert_int_equal(g.count[0], 3);
    assert_int_equal(g.count[2], 2);
    assert_true(g.mean[0] == 3 && g.median[0] == 3 && g.deviation[0] == 2);
    assert_true(near_to(g.ci95[0], 4.3027 * 2 / sqrt(3)));
    assert_true(g.min[0] == 1 && g.max[0] == 5);
    assert_true(g.mean[1] == 2 && g.deviation[1] == 0);
    assert_true(g.mean[2] == 5 && g.median[2] == 5 && g.min[2] == 3 && g.max[2] == 7);
    free_lines(&l);
}

static void a_line_far_from_the_rest_is_outside_the_inner_range(void **state) {
    (void)state;
    lines l = {0};
    int64_t steps[] = {0, 10};
    for (int i = 0; i < 4; i++) add_line(&l, steps, (double[]){1 + i, 11 + i}, 2);
    sb_group_ask ask = {.from = NAN, .to = NAN, .pixels = 100};
    sb_group g = group_of(&l, &ask); /* of four lines none is far from the rest */
    assert_true(g.inner_low[0] == 1 && g.inner_high[0] == 4);
    add_line(&l, steps, (double[]){1e6, 5}, 2);
    g = group_of(&l, &ask);
    assert_true(g.max[0] == 1e6 && g.inner_low[0] == 2 && g.inner_high[0] == 4);
    assert_true(g.min[1] == 5 && g.inner_low[1] == 11 && g.inner_high[1] == 13);
    free_lines(&l);
}

static void gaps_are_filled_as_asked(void **state) {
    (void)state;
    lines l = {0};
    add_line(&l, (int64_t[]){0, 10}, (double[]){0, 10}, 2);
    add_line(&l, (int64_t[]){0, 4, 20}, (double[]){100, 100, 100}, 3);
    sb_group_ask ask = {.from = NAN, .to = NAN, .pixels = 50};
    sb_group g = group_of(&l, &ask);
    assert_int_equal(g.n, 4); /* 0 4 10 20 */
    assert_int_equal(g.count[1], 1);
    assert_true(g.mean[1] == 100 && g.deviation[1] == 0 && g.ci95[1] == 0);
    ask.gaps = SB_GAPS_CARRY;
    g = group_of(&l, &ask);
    assert_int_equal(g.count[1], 2);
    assert_true(g.mean[1] == 50);
    ask.gaps = SB_GAPS_INTERPOLATE;
    g = group_of(&l, &ask);
    assert_true(g.mean[1] == 52); /* 4 and 100 */
    assert_true(g.min[1] == 4);
    assert_int_equal(g.count[2], 2);
    /* behind its end a line does not count, whatever the policy */
    assert_int_equal(g.count[3], 1);
    free_lines(&l);
}

static void many_steps_become_columns(void **state) {
    (void)state;
    lines l = {0};
    enum { N = 5000 };
    static int64_t steps[N];
    static double values[N];
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < N; i++) {
            steps[i] = i;
            values[i] = k + sin(i / 100.0);
        }
        add_line(&l, steps, values, N);
    }
    sb_group_ask ask = {.from = NAN, .to = NAN, .pixels = 50, .gaps = SB_GAPS_INTERPOLATE};
    sb_group g = group_of(&l, &ask);
    assert_false(g.is_exact);
    assert_int_equal(g.n, 50);
    sb_scale scale = sb_scale_of(g.from, g.to, 50, 0);
    for (int32_t c = 0; c < 50; c++) {
        double sum = 0, low = INFINITY, high = -INFINITY;
        int count = 0;
        for (int i = 0; i < N; i++) {
            if (sb_scale_column(&scale, i) != c) continue;
            sum += sin(i / 100.0);
            low = fmin(low, sin(i / 100.0));
            high = fmax(high, sin(i / 100.0));
            count++;
        }
        assert_true(near_to(g.mean[c], 1 + sum / count));
        assert_true(near_to(g.median[c], 1 + sum / count));
        assert_true(near_to(g.deviation[c], 1));
        assert_true(near_to(g.min[c], low) && near_to(g.max[c], 2 + high));
        assert_true(near_to(g.x[c], g.from + (c + 0.5) * (g.to - g.from) / 50));
    }
    /* a part of it fits exactly */
    ask = (sb_group_ask){.from = 100, .to = 120, .pixels = 50};
    g = group_of(&l, &ask);
    assert_true(g.is_exact);
    assert_int_equal(g.n, 21);
    free_lines(&l);
}

static void on_a_log_axis_columns_are_equal_there(void **state) {
    (void)state;
    enum { N = 5000 };
    static int64_t steps[N];
    static double values[N];
    for (int i = 0; i < N; i++) steps[i] = i, values[i] = i;
    lines l = {0};
    add_line(&l, steps, values, N);
    sb_group_ask ask = {.from = NAN, .to = NAN, .pixels = 60, .near = 0.5};
    sb_group g = group_of(&l, &ask);
    assert_true(!g.is_exact && g.n < 60); /* the first steps are columns apart */
    for (int i = 0; i < 6; i++) assert_true(g.mean[i] == i && g.x[i] == i);
    for (size_t i = 1; i < g.n; i++)
        assert_true(g.x[i] > g.x[i - 1] && fabs(g.mean[i] - g.x[i]) < 0.1 * (g.x[i] + 1));
    free_lines(&l);
}

static void columns_without_points_are_left_out(void **state) {
    (void)state;
    lines l = {0};
    enum { N = 300 };
    static int64_t steps[N];
    static double values[N];
    for (int i = 0; i < N; i++) {
        steps[i] = i < N / 2 ? i : i + 10000;
        values[i] = 1;
    }
    add_line(&l, steps, values, N);
    sb_group_ask ask = {.from = NAN, .to = NAN, .pixels = 100, .gaps = SB_GAPS_INTERPOLATE};
    sb_group g = group_of(&l, &ask);
    assert_false(g.is_exact);
    assert_true(g.n < 10);
    free_lines(&l);
}

static void relative_time_counts_from_each_lines_own_start(void **state) {
    (void)state;
    lines l = {0};
    for (int k = 0; k < 2; k++) {
        made *m = &l.made[k];
        *m = made_new();
        uint32_t file = made_file(m, "/run/a");
        for (int i = 0; i < 3; i++) made_add(m, file, i, 1000 * k + 5 * i, k);
        l.series[k] = made_take(m);
        l.lines[k] = (sb_line){.series = &l.series[k]};
        l.n++;
    }
    sb_group_ask ask = {.axis = SB_AXIS_RELATIVE, .from = NAN, .to = NAN, .pixels = 10};
    sb_group g = group_of(&l, &ask);
    assert_int_equal(g.n, 3);
    assert_true(g.x[2] == 10 && g.mean[2] == 0.5);
    free_lines(&l);
}

static void smoothed_lines_are_grouped_by_their_smoothed_values(void **state) {
    (void)state;
    lines l = {0};
    add_line(&l, (int64_t[]){0, 1, 2, 3}, (double[]){0, 8, 0, 8}, 4);
    sb_smooth_cache *cache;
    sb_smooth_opts opts = {.alloc = &sb_alloc_libc, .line_bytes = 1 << 20, .keep_bytes = 1 << 20};
    assert_int_equal(sb_smooth_cache_new(&cache, &opts, NULL), SB_OK);
    sb_smoothing how = {.kind = SB_SMOOTH_WINDOW, .points = 3};
    assert_int_equal(sb_smooth_line(cache, &l.lines[0], &how, NULL, NULL), SB_OK);
    sb_group g = group_of(&l, &(sb_group_ask){.from = NAN, .to = NAN, .pixels = 10});
    assert_true(near_to(g.mean[1], 8.0 / 3) && near_to(g.mean[2], 16.0 / 3));
    sb_smooth_release(cache, &l.lines[0]);
    sb_smooth_cache_free(cache);
    free_lines(&l);
}

static void nothing_to_group_is_no_mistake(void **state) {
    (void)state;
    lines l = {0};
    sb_group g;
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1 << 20);
    sb_group_ask ask = {.from = NAN, .to = NAN, .pixels = 10};
    assert_int_equal(sb_group_read(NULL, 0, &ask, NULL, &arena, &g, NULL), SB_OK);
    assert_int_equal(g.n, 0);
    add_line(&l, (int64_t[]){5}, (double[]){NAN}, 1);
    assert_int_equal(sb_group_read(l.lines, 1, &ask, NULL, &arena, &g, NULL), SB_OK);
    assert_int_equal(g.n, 0);
    ask.from = 100;
    assert_int_equal(sb_group_read(l.lines, 1, &ask, NULL, &arena, &g, NULL), SB_OK);
    assert_int_equal(g.n, 0);
    ask.pixels = 0;
    sb_err err;
    assert_int_equal(sb_group_read(l.lines, 1, &ask, NULL, &arena, &g, &err), SB_INVALID);
    sb_arena_fini(&arena);
    free_lines(&l);
}

static bool over(void *ud) {
    (void)ud;
    return true;
}

static void limits_end_it(void **state) {
    (void)state;
    lines l = {0};
    add_line(&l, (int64_t[]){0, 1}, (double[]){0, 8}, 2);
    sb_budget budget = {over, NULL};
    sb_group g;
    sb_err err;
    sb_group_ask ask = {.from = NAN, .to = NAN, .pixels = 1000};
    assert_int_equal(sb_group_read(l.lines, 1, &ask, &budget, &l.made[0].arena, &g, &err),
                     SB_TIMEOUT);
    sb_arena small;
    sb_arena_init(&small, &sb_alloc_libc, 64, 64);
    assert_int_equal(sb_group_read(l.lines, 1, &ask, NULL, &small, &g, &err), SB_NOMEM);
    sb_arena_fini(&small);
    free_lines(&l);
}

static void students_factors(void **state) {
    (void)state;
    assert_true(fabs(sb_student_95(2) - 12.7062) < 1e-4);
    assert_true(fabs(sb_student_95(31) - 2.0423) < 1e-4);
    assert_true(fabs(sb_student_95(32) - 2.0395) < 1e-3);
    assert_true(fabs(sb_student_95(101) - 1.9840) < 1e-3);
    assert_true(fabs(sb_student_95(100000) - 1.96) < 1e-3);
}

/* Random lines on an exact grid, against a plain pass. */
static void random_groups_equal_a_plain_pass(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        sb_test_random r = sb_test_random_of(seed);
        lines l = {0};
        double at[6][40];
        size_t lines_n = 1 + (size_t)sb_test_below(&r, 6);
        for (size_t k = 0; k < lines_n; k++) {
            int64_t steps[40];
            double values[40];
            size_t n = 0;
            for (int i = 0; i < 40; i++) {
                at[k][i] = NAN;
                if (sb_test_below(&r, 3) == 0) continue;
                at[k][i] = made_number(&r);
                steps[n] = i;
                values[n++] = at[k][i];
            }
            if (n == 0) at[k][0] = values[n] = 1, steps[n++] = 0;
            add_line(&l, steps, values, n);
        }
        sb_group g = group_of(&l, &(sb_group_ask){.from = NAN, .to = NAN, .pixels = 40});
        size_t place = 0;
        for (int i = 0; i < 40; i++) {
            double sum = 0, low = INFINITY, high = -INFINITY, squares = 0;
            uint32_t n = 0;
            for (size_t k = 0; k < lines_n; k++)
                if (!isnan(at[k][i])) {
                    sum += at[k][i];
                    low = fmin(low, at[k][i]);
                    high = fmax(high, at[k][i]);
                    n++;
                }
            if (n == 0) continue;
            for (size_t k = 0; k < lines_n; k++)
                if (!isnan(at[k][i])) squares += pow(at[k][i] - sum / n, 2);
            assert_true(g.x[place] == i);
            assert_int_equal(g.count[place], n);
            assert_true(near_to(g.mean[place], sum / n));
            assert_true(near_to(g.deviation[place], n > 1 ? sqrt(squares / (n - 1)) : 0));
            assert_true(g.min[place] == low && g.max[place] == high);
            place++;
        }
        assert_int_equal(g.n, place);
        free_lines(&l);
    }
}

/* The last line is the baseline of the others. */
static sb_group compared(lines *l, const sb_group_ask *ask, sb_compare_kind kind) {
    sb_group g;
    sb_err err;
    sb_arena *arena = &l->made[0].arena;
    assert_ok(sb_group_read(l->lines, l->n - 1, ask, NULL, arena, &g, &err), &err);
    assert_ok(sb_group_compare(&g, &l->lines[l->n - 1], ask, kind, NULL, arena, &err), &err);
    return g;
}

static void groups_are_compared_where_the_baseline_is_known(void **state) {
    (void)state;
    lines l = {0};
    int64_t steps[] = {0, 10, 20, 30};
    add_line(&l, steps, (double[]){1, 2, 3, 9}, 4);
    add_line(&l, steps, (double[]){3, 4, 7, 9}, 4);
    add_line(&l, (int64_t[]){0, 20}, (double[]){-4, -2}, 2);
    sb_group_ask ask = {.from = NAN, .to = NAN, .pixels = 100};
    sb_group g = compared(&l, &ask, SB_COMPARE_DIFFERENCE);
    assert_int_equal(g.n, 3); /* nothing is known of it at 30; at 10 it is halfway */
    assert_true(g.x[0] == 0 && g.x[1] == 10 && g.x[2] == 20);
    assert_true(g.mean[0] == 6 && g.mean[1] == 6 && g.mean[2] == 7);
    assert_true(g.median[0] == 6 && g.min[0] == 5 && g.max[0] == 7);
    assert_true(near_to(g.deviation[2], sqrt(8)) && g.count[2] == 2);
    g = compared(&l, &ask, SB_COMPARE_RATIO);
    assert_true(g.mean[0] == -0.5 && g.min[0] == -0.75 && g.max[0] == -0.25);
    assert_true(near_to(g.deviation[2], sqrt(8) / 2));
    free_lines(&l);
}

static void a_line_in_columns_does_not_differ_from_itself(void **state) {
    (void)state;
    enum { N = 5000 };
    static int64_t steps[N];
    static double values[N];
    for (int i = 0; i < N; i++) {
        steps[i] = i;
        values[i] = 1 + (i * 7919 % 1000) / 1000.0;
    }
    lines l = {0};
    for (int i = 0; i < 2; i++) add_line(&l, steps, values, N);
    sb_group_ask ask = {.from = NAN, .to = NAN, .pixels = 100};
    sb_group g = compared(&l, &ask, SB_COMPARE_DIFFERENCE);
    assert_true(!g.is_exact && g.n == 100);
    for (size_t i = 0; i < g.n; i++) assert_true(g.mean[i] == 0);
    g = compared(&l, &ask, SB_COMPARE_RATIO);
    for (size_t i = 0; i < g.n; i++) assert_true(g.mean[i] == 1);
    free_lines(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_steps_are_compared_step_by_step),
        cmocka_unit_test(a_line_far_from_the_rest_is_outside_the_inner_range),
        cmocka_unit_test(gaps_are_filled_as_asked),
        cmocka_unit_test(many_steps_become_columns),
        cmocka_unit_test(on_a_log_axis_columns_are_equal_there),
        cmocka_unit_test(columns_without_points_are_left_out),
        cmocka_unit_test(relative_time_counts_from_each_lines_own_start),
        cmocka_unit_test(smoothed_lines_are_grouped_by_their_smoothed_values),
        cmocka_unit_test(nothing_to_group_is_no_mistake),
        cmocka_unit_test(limits_end_it),
        cmocka_unit_test(groups_are_compared_where_the_baseline_is_known),
        cmocka_unit_test(a_line_in_columns_does_not_differ_from_itself),
        cmocka_unit_test(students_factors),
        cmocka_unit_test(random_groups_equal_a_plain_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
