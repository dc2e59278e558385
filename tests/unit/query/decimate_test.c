/* Decimation equals its plain plain, whatever the line; ranges, marks, limits. */
#include "query/lines/decimate.h"

#include <stdlib.h>
#include <string.h>

#include "support/line_reference.h"
#include "unit/query/made.h"

static void expect_like_twin(const sb_line *line, const sb_decimate_ask *ask, sb_arena *arena) {
    sb_decimated got;
    sb_err err;
    assert_ok(sb_scalar_decimate(line, ask, NULL, arena, &got, &err), &err);
    double base = sb_line_base(line, ask->axis);
    sb_reference_line plain = sb_reference_of(line);
    sb_reference_answer want = sb_reference_decimate(&plain, line, ask->axis, base, got.from,
                                                     got.to, ask->pixels, ask->near);
    long at = sb_reference_differs(&plain, &want, &got.points);
    if (at >= 0)
        fail_msg("point %ld of %zu (%zu wanted), axis %d, %u pixels, from %g to %g", at,
                 got.points.n, want.n, (int)ask->axis, ask->pixels, got.from, got.to);
    assert_int_equal(got.in_range, want.in_range);
    assert_int_equal(got.not_finite.nan, want.not_finite.nan);
    assert_int_equal(got.not_finite.plus, want.not_finite.plus);
    assert_int_equal(got.not_finite.minus, want.not_finite.minus);
    assert_int_equal(got.without_x, want.without_x);
    bool rising = true;
    for (size_t i = 1; i < want.n; i++)
        if (sb_reference_x(&plain.points[want.kept[i].at], ask->axis, base) <
            sb_reference_x(&plain.points[want.kept[i - 1].at], ask->axis, base))
            rising = false;
    assert_int_equal(got.is_rising, rising);
    free(want.kept);
    free(plain.points);
}

static sb_decimate_ask random_ask(const sb_line *line, sb_test_random *r) {
    sb_decimate_ask ask = {.axis = (sb_axis)sb_test_below(r, 4),
                           .from = NAN,
                           .to = NAN,
                           .pixels = 1 + (uint32_t)sb_test_below(r, sb_test_below(r, 2) ? 8 : 900)};
    if (sb_test_below(r, 4) == 0) ask.near = sb_axis_counts_steps(ask.axis) ? 1 : 0.001;
    double low, high, base = sb_line_base(line, ask.axis);
    if (!sb_line_extent(line, ask.axis, base, &low, &high)) return ask;
    double width = high - low;
    if (sb_test_below(r, 2)) ask.from = low + width * (made_number(r) + 0.4);
    if (sb_test_below(r, 2)) {
        ask.to = high - width * (made_number(r) + 0.4);
        if (ask.to < ask.from) ask.to = ask.from + width / 1000;
    }
    return ask;
}

static void random_lines_are_decimated_as_by_the_twin(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 120; seed++) {
        sb_test_random r = sb_test_random_of(seed);
        made m = made_new();
        made_random(&m, &r, seed % 4 == 0 ? 9000 : 2500);
        sb_series s = made_take(&m);
        for (int i = 0; i < 6; i++) {
            sb_line line = {.series = &s, .show_superseded = i % 2};
            sb_decimate_ask ask = random_ask(&line, &r);
            expect_like_twin(&line, &ask, &m.arena);
        }
        sb_series_release(&s);
        made_free(&m);
    }
}

/* Any numbers beside the raw ones. */
static void smoothed_extremes_are_kept_too(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        sb_test_random r = sb_test_random_of(seed);
        made m = made_new();
        made_random(&m, &r, 5000);
        sb_series s = made_take(&m);
        double *values = malloc((size_t)s.points * sizeof *values);
        sb_span_stats *stats = malloc(sb_span_count(&s) * sizeof *stats);
        for (uint64_t i = 0; i < s.points; i++)
            values[i] = sb_test_below(&r, 500) ? made_number(&r) : NAN;
        sb_spans walk = sb_spans_of(&s);
        sb_span span;
        while (sb_spans_next(&walk, &span))
            sb_stats_of_values(values + span.start, span.n, &stats[span.index]);
        sb_smoothed smoothed = {values, stats, s.points};
        for (int i = 0; i < 4; i++) {
            sb_line line = {.series = &s, .show_superseded = i % 2, .smoothed = &smoothed};
            sb_decimate_ask ask = random_ask(&line, &r);
            expect_like_twin(&line, &ask, &m.arena);
        }
        free(values);
        free(stats);
        sb_series_release(&s);
        made_free(&m);
    }
}

static made rising_line(size_t n) {
    made m = made_new();
    uint32_t file = made_file(&m, "/run/a");
    for (size_t i = 0; i < n; i++)
        made_add(&m, file, (int64_t)i, 100 + (double)i / 8, sin((double)i / 50));
    return m;
}

static void a_line_of_few_points_comes_whole(void **state) {
    (void)state;
    made m = rising_line(300);
    sb_series s = made_take(&m);
    sb_line line = {.series = &s};
    sb_decimated got;
    sb_decimate_ask ask = {.from = NAN, .to = NAN, .pixels = 300};
    assert_int_equal(sb_scalar_decimate(&line, &ask, NULL, &m.arena, &got, NULL), SB_OK);
    assert_int_equal(got.points.n, 300);
    assert_true(got.is_rising);
    assert_int_equal(got.n, 300);
    assert_true(sb_line_base(&line, SB_AXIS_RELATIVE) == 100);
    assert_int_equal(got.attempts, 1);
    sb_series_release(&s);
    made_free(&m);
}

static void points_outside_are_kept_where_the_line_leaves(void **state) {
    (void)state;
    made m = rising_line(5000);
    sb_series s = made_take(&m);
    sb_line line = {.series = &s};
    sb_decimated got;
    sb_decimate_ask ask = {.from = 2000.5, .to = 2002.5, .pixels = 100};
    assert_int_equal(sb_scalar_decimate(&line, &ask, NULL, &m.arena, &got, NULL), SB_OK);
    assert_int_equal(got.points.n, 4);
    assert_int_equal(got.points.steps[0], 2000);
    assert_int_equal(got.points.steps[3], 2003);
    assert_int_equal(got.in_range, 2);
    /* Between two points: the line still crosses the picture. */
    ask = (sb_decimate_ask){.from = 2000.25, .to = 2000.75, .pixels = 100};
    assert_int_equal(sb_scalar_decimate(&line, &ask, NULL, &m.arena, &got, NULL), SB_OK);
    assert_int_equal(got.points.n, 2);
    assert_int_equal(got.in_range, 0);
    /* Behind the last point there is nothing to show. */
    ask = (sb_decimate_ask){.from = 7000, .to = 8000, .pixels = 100};
    assert_int_equal(sb_scalar_decimate(&line, &ask, NULL, &m.arena, &got, NULL), SB_OK);
    assert_int_equal(got.points.n, 0);
    sb_series_release(&s);
    made_free(&m);
}

static void extreme_axes_stay_inside(void **state) {
    (void)state;
    made m = made_new();
    uint32_t file = made_file(&m, "/run/a");
    int64_t steps[] = {INT64_MIN, -1, 0, 1, INT64_MAX - 1};
    double walls[] = {-1.7e308, -1, 0, 5e-324, 1.7e308};
    for (size_t i = 0; i < SB_COUNT(steps); i++) made_add(&m, file, steps[i], walls[i], (double)i);
    sb_series s = made_take(&m);
    sb_line line = {.series = &s};
    for (int axis = 0; axis < 4; axis++)
        for (uint32_t pixels = 1; pixels < 9; pixels++) {
            sb_decimate_ask ask = {.axis = (sb_axis)axis, .from = NAN, .to = NAN, .pixels = pixels};
            expect_like_twin(&line, &ask, &m.arena);
            ask.from = 0;
            ask.to = 5e-324;
            expect_like_twin(&line, &ask, &m.arena);
        }
    sb_series_release(&s);
    made_free(&m);
}

static void a_line_of_equal_steps_is_one_column(void **state) {
    (void)state;
    made m = made_new();
    uint32_t file = made_file(&m, "/run/a");
    for (int i = 0; i < 3000; i++) made_add(&m, file, 7, 1, i % 100);
    sb_series s = made_take(&m);
    sb_line line = {.series = &s};
    sb_decimated got;
    sb_decimate_ask ask = {.from = NAN, .to = NAN, .pixels = 640};
    assert_int_equal(sb_scalar_decimate(&line, &ask, NULL, &m.arena, &got, NULL), SB_OK);
    assert_int_equal(got.points.n, 3);
    assert_int_equal(got.points.flags[0], SB_POINT_LEAST);
    assert_int_equal(got.points.flags[1], SB_POINT_GREATEST);
    sb_series_release(&s);
    made_free(&m);
}

/* On a log axis half of the picture is a few steps: they all come, and no more than a picture
 * needs. */
static void columns_can_be_equal_on_a_log_axis(void **state) {
    (void)state;
    made m = made_new();
    uint32_t file = made_file(&m, "/run/a");
    for (int64_t step = 0; step < 100000; step++)
        made_add(&m, file, step, 1000.0 + (double)step, (double)(step * 7919 % 1000));
    sb_series s = made_take(&m);
    sb_line line = {.series = &s};
    sb_decimated even, log;
    sb_err err;
    sb_decimate_ask ask = {.axis = SB_AXIS_STEP, .from = NAN, .to = NAN, .pixels = 400};
    assert_ok(sb_scalar_decimate(&line, &ask, NULL, &m.arena, &even, &err), &err);
    ask.near = 1;
    assert_ok(sb_scalar_decimate(&line, &ask, NULL, &m.arena, &log, &err), &err);
    size_t early_even = 0, early_log = 0;
    for (size_t i = 0; i < even.points.n; i++) early_even += even.points.steps[i] < 30;
    for (size_t i = 0; i < log.points.n; i++) early_log += log.points.steps[i] < 30;
    assert_true(early_even <= 4);
    assert_int_equal(early_log, 30);
    assert_true(log.points.n <= 4 * 400);
    assert_int_equal(log.in_range, 100000);
    ask.from = -50;
    assert_ok(sb_scalar_decimate(&line, &ask, NULL, &m.arena, &log, &err), &err);
    assert_int_equal(log.in_range, 100000);
    for (size_t k = 0; k < 2; k++) {
        ask.near = k ? NAN : -1;
        assert_int_equal(sb_scalar_decimate(&line, &ask, NULL, &m.arena, &log, &err), SB_INVALID);
    }
    sb_series_release(&s);
    made_free(&m);
}

static void senseless_asks_are_refused(void **state) {
    (void)state;
    made m = rising_line(10);
    sb_series s = made_take(&m);
    sb_line line = {.series = &s};
    sb_decimate_ask asks[] = {{.from = NAN, .to = NAN, .pixels = 0},
                              {.from = NAN, .to = NAN, .pixels = SB_MAX_PIXELS + 1},
                              {.from = 2, .to = 1, .pixels = 10},
                              {.from = -INFINITY, .to = 1, .pixels = 10}};
    sb_decimated got;
    sb_err err;
    for (size_t i = 0; i < SB_COUNT(asks); i++)
        assert_int_equal(sb_scalar_decimate(&line, &asks[i], NULL, &m.arena, &got, &err),
                         SB_INVALID);
    sb_series_release(&s);
    made_free(&m);
}

static bool at_once(void *ud) {
    int *left = ud;
    return (*left)-- <= 0;
}

static void the_time_limit_ends_it(void **state) {
    (void)state;
    made m = rising_line(300000);
    sb_series s = made_take(&m);
    sb_line line = {.series = &s};
    int left = 1;
    sb_budget budget = {at_once, &left};
    sb_decimated got;
    sb_err err;
    sb_decimate_ask ask = {.from = NAN, .to = NAN, .pixels = 500};
    assert_int_equal(sb_scalar_decimate(&line, &ask, &budget, &m.arena, &got, &err), SB_TIMEOUT);
    sb_envelope envelope;
    left = 1;
    assert_int_equal(sb_scalar_envelope(&line, &ask, &budget, &m.arena, &envelope, &err),
                     SB_TIMEOUT);
    sb_series_release(&s);
    made_free(&m);
}

static void a_full_arena_is_an_answer(void **state) {
    (void)state;
    made m = made_new();
    uint32_t file = made_file(&m, "/run/a");
    /* to and fro: a new group every point */
    for (int i = 0; i < 50000; i++) made_add(&m, file, i % 2 ? i : -i, i, i);
    sb_series s = made_take(&m);
    sb_line line = {.series = &s};
    sb_decimated got;
    sb_err err;
    sb_decimate_ask ask = {.from = NAN, .to = NAN, .pixels = 10, .limit = sb_at_most(1000)};
    assert_int_equal(sb_scalar_decimate(&line, &ask, NULL, &m.arena, &got, &err), SB_LIMIT);
    ask.limit = sb_at_most(0); /* an answer that has no room left is no answer without a limit */
    assert_int_equal(sb_scalar_decimate(&line, &ask, NULL, &m.arena, &got, &err), SB_LIMIT);
    ask.limit = (sb_point_limit){0};
    assert_int_equal(sb_scalar_decimate(&line, &ask, NULL, &m.arena, &got, &err), SB_OK);
    assert_true(got.points.n > 40000);
    assert_false(got.is_rising);
    sb_arena small;
    sb_arena_init(&small, &sb_alloc_libc, 4096, 64 << 10);
    assert_int_equal(sb_scalar_decimate(&line, &ask, NULL, &small, &got, &err), SB_NOMEM);
    sb_arena_fini(&small);
    sb_series_release(&s);
    made_free(&m);
}

static void envelopes_equal_a_pass_over_all_points(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        sb_test_random r = sb_test_random_of(seed + 1000);
        made m = made_new();
        made_random(&m, &r, 4000);
        sb_series s = made_take(&m);
        sb_line line = {.series = &s, .show_superseded = seed % 2};
        sb_decimate_ask ask = random_ask(&line, &r);
        sb_envelope got;
        assert_int_equal(sb_scalar_envelope(&line, &ask, NULL, &m.arena, &got, NULL), SB_OK);
        sb_reference_line plain = sb_reference_of(&line);
        sb_scale scale = sb_scale_of(got.from, got.to, ask.pixels, ask.near);
        double base = sb_line_base(&line, ask.axis);
        for (uint32_t c = 0; c < ask.pixels; c++) {
            double min = INFINITY, max = -INFINITY, sum = 0;
            uint64_t count = 0;
            for (size_t i = 0; i < plain.n; i++) {
                const sb_reference_point *p = &plain.points[i];
                double x = sb_reference_x(p, ask.axis, base);
                if ((p->superseded && !line.show_superseded) || !isfinite(x)) continue;
                if (!isfinite(p->value) || sb_scale_column(&scale, x) != (int32_t)c) continue;
                min = fmin(min, p->value);
                max = fmax(max, p->value);
                sum += p->value;
                count++;
            }
            assert_int_equal(got.count[c], count);
            if (count == 0) {
                assert_true(isnan(got.min[c]) && isnan(got.max[c]) && isnan(got.mean[c]));
                continue;
            }
            assert_true(got.min[c] == min && got.max[c] == max);
            assert_true(fabs(got.mean[c] - sum / (double)count) < 1e-9 * (1 + fabs(max - min)));
            if (c > 40) break; /* the plain is slow */
        }
        free(plain.points);
        sb_series_release(&s);
        made_free(&m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_lines_are_decimated_as_by_the_twin),
        cmocka_unit_test(smoothed_extremes_are_kept_too),
        cmocka_unit_test(a_line_of_few_points_comes_whole),
        cmocka_unit_test(points_outside_are_kept_where_the_line_leaves),
        cmocka_unit_test(extreme_axes_stay_inside),
        cmocka_unit_test(a_line_of_equal_steps_is_one_column),
        cmocka_unit_test(columns_can_be_equal_on_a_log_axis),
        cmocka_unit_test(senseless_asks_are_refused),
        cmocka_unit_test(the_time_limit_ends_it),
        cmocka_unit_test(a_full_arena_is_an_answer),
        cmocka_unit_test(envelopes_equal_a_pass_over_all_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
