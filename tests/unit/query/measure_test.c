/* Nearest points, extremes and means between two places, against a pass over all points. */
#include "query/lines/measure.h"

#include <stdlib.h>

#include "query/lines/smooth.h"
#include "support/line_reference.h"
#include "unit/query/made.h"

static sb_measure measured(const sb_line *line, sb_axis axis, double from, double to) {
    sb_measure out;
    sb_err err;
    sb_measure_ask ask = {.axis = axis, .from = from, .to = to};
    assert_ok(sb_measure_line(line, &ask, NULL, &out, &err), &err);
    return out;
}

static made made_of(const double *values, size_t n) {
    made m = made_new();
    uint32_t file = made_file(&m, "/run/a");
    for (size_t i = 0; i < n; i++)
        made_add(&m, file, (int64_t)(10 * i), 100 + (double)i, values[i]);
    return m;
}

static void nearest_points_bound_what_is_measured(void **state) {
    (void)state;
    made m = made_of((double[]){5, 1, 4, 9, 2}, 5);
    sb_series s = made_take(&m);
    sb_line line = {.series = &s};
    sb_measure got = measured(&line, SB_AXIS_STEP, 8, 31);
    assert_int_equal(got.n, 3);
    assert_int_equal(got.start.step, 10);
    assert_int_equal(got.end.step, 30);
    assert_int_equal(got.raw.min.step, 10);
    assert_int_equal(got.raw.max.step, 30);
    assert_true(got.raw.mean == (1 + 4 + 9) / 3.0);
    assert_true(got.smooth.mean == got.raw.mean && got.start.smooth == got.start.value);
    got = measured(&line, SB_AXIS_WALL, 103.2, 103.2);
    assert_int_equal(got.n, 1);
    assert_int_equal(got.start.step, 30);
    assert_int_equal(got.end.step, 30);
    got = measured(&line, SB_AXIS_RELATIVE, -50, 1e300);
    assert_int_equal(got.n, 5);
    assert_true(got.end.wall == 104);
    sb_series_release(&s);
    made_free(&m);
}

static void of_two_equally_near_points_the_earlier_counts(void **state) {
    (void)state;
    made m = made_of((double[]){5, 1, 4}, 3);
    sb_series s = made_take(&m);
    sb_line line = {.series = &s};
    assert_int_equal(measured(&line, SB_AXIS_STEP, 5, 5).start.step, 0);
    assert_int_equal(measured(&line, SB_AXIS_STEP, 15, 15).end.step, 10);
    sb_series_release(&s);
    made_free(&m);
}

static void values_that_are_not_finite_have_no_extremes(void **state) {
    (void)state;
    made m = made_of((double[]){NAN, INFINITY, -INFINITY, 7}, 4);
    sb_series s = made_take(&m);
    sb_line line = {.series = &s};
    sb_measure got = measured(&line, SB_AXIS_STEP, 0, 20);
    assert_int_equal(got.n, 3);
    assert_int_equal(got.raw.finite, 0);
    assert_true(isnan(got.start.value) && got.end.value == -INFINITY);
    got = measured(&line, SB_AXIS_STEP, 0, 30);
    assert_int_equal(got.raw.finite, 1);
    assert_true(got.raw.min.value == 7 && got.raw.max.value == 7 && got.raw.mean == 7);
    sb_series_release(&s);
    made_free(&m);
}

static void a_mean_is_right_where_the_sum_is_beyond_a_double(void **state) {
    (void)state;
    made m = made_new();
    uint32_t file = made_file(&m, "/run/a");
    for (int i = 0; i < 4000; i++) made_add(&m, file, i, i, 1e308);
    sb_series s = made_take(&m);
    sb_measure got = measured(&(sb_line){.series = &s}, SB_AXIS_STEP, 0, 4000);
    assert_int_equal(got.n, 4000);
    assert_true(fabs(got.raw.mean / 1e308 - 1) < 1e-12);
    sb_series_release(&s);
    made_free(&m);
}

static void a_line_without_places_has_no_measure(void **state) {
    (void)state;
    made m = made_new();
    uint32_t file = made_file(&m, "/run/a");
    for (int i = 0; i < 3; i++) made_add(&m, file, i, NAN, i);
    sb_series s = made_take(&m);
    sb_line line = {.series = &s};
    assert_int_equal(measured(&line, SB_AXIS_WALL, 0, 1).n, 0);
    assert_int_equal(measured(&line, SB_AXIS_STEP, 0, 1).n, 2);
    sb_measure out;
    sb_measure_ask turned = {.from = 2, .to = 1}, none = {.from = NAN, .to = 1};
    assert_int_equal(sb_measure_line(&line, &turned, NULL, &out, NULL), SB_INVALID);
    assert_int_equal(sb_measure_line(&line, &none, NULL, &out, NULL), SB_INVALID);
    sb_series_release(&s);
    made_free(&m);
}

/* ---- against a pass over all points ---------------------------------------------------------- */

static const sb_reference_point *nearest_of(const sb_reference_line *plain, const sb_line *line,
                                            sb_axis axis, double target) {
    const sb_reference_point *best = NULL;
    double base = sb_line_base(line, axis), least = 0;
    for (size_t i = 0; i < plain->n; i++) {
        const sb_reference_point *p = &plain->points[i];
        double x = sb_reference_x(p, axis, base);
        if ((p->superseded && !line->show_superseded) || !isfinite(x)) continue;
        double d = fabs(x * 0.5 - target * 0.5);
        if (best && d >= least) continue;
        best = p;
        least = d;
    }
    return best;
}

static void expect_point(const sb_measure_point *got, const sb_reference_point *want,
                         bool smoothed) {
    assert_int_equal(got->step, want->step);
    assert_true(sb_reference_same_bits(got->wall, want->wall));
    assert_true(sb_reference_same_bits(got->value, want->value));
    assert_true(sb_reference_same_bits(got->smooth, smoothed ? want->smoothed : want->value));
}

static void expect_values(const sb_measure_values *got, const sb_reference_line *plain,
                          const size_t *between, size_t n, bool by_smooth, bool smoothed) {
    long least = sb_reference_extreme(plain, between, n, by_smooth, false);
    long greatest = sb_reference_extreme(plain, between, n, by_smooth, true);
    size_t finite = 0;
    double sum = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        const sb_reference_point *p = &plain->points[between[i]];
        double x = by_smooth ? p->smoothed : p->value;
        if (!isfinite(x)) continue;
        finite++;
        sum += x;
        size += fabs(x);
    }
    assert_int_equal(got->finite, finite);
    if (finite == 0) return;
    expect_point(&got->min, &plain->points[least], smoothed);
    expect_point(&got->max, &plain->points[greatest], smoothed);
    assert_true(fabs(got->mean - sum / (double)finite) <= 1e-10 * (1 + size / (double)finite));
}

static void expect_measure(const sb_line *line, sb_axis axis, double from, double to) {
    sb_reference_line plain = sb_reference_of(line);
    sb_measure got = measured(line, axis, from, to);
    const sb_reference_point *start = nearest_of(&plain, line, axis, from);
    const sb_reference_point *end = nearest_of(&plain, line, axis, to);
    if (start) {
        double base = sb_line_base(line, axis), low = sb_reference_x(start, axis, base);
        double high = sb_reference_x(end, axis, base);
        size_t n = 0, *between = malloc(plain.n * sizeof *between);
        for (size_t i = 0; i < plain.n; i++) {
            double x = sb_reference_x(&plain.points[i], axis, base);
            bool shown = line->show_superseded || !plain.points[i].superseded;
            if (shown && x >= low && x <= high) between[n++] = i;
        }
        bool smoothed = line->smoothed != NULL;
        assert_int_equal(got.n, n);
        expect_point(&got.start, start, smoothed);
        expect_point(&got.end, end, smoothed);
        expect_values(&got.raw, &plain, between, n, false, smoothed);
        expect_values(&got.smooth, &plain, between, n, smoothed, smoothed);
        free(between);
    } else {
        assert_int_equal(got.n, 0);
    }
    free(plain.points);
}

static void measures_equal_a_pass_over_all_points(void **state) {
    (void)state;
    sb_smooth_cache *cache;
    sb_smooth_opts opts = {.alloc = &sb_alloc_libc, .line_bytes = 1 << 26, .keep_bytes = 1 << 26};
    assert_int_equal(sb_smooth_cache_new(&cache, &opts, NULL), SB_OK);
    for (uint64_t seed = 1; seed <= 60; seed++) {
        sb_test_random r = sb_test_random_of(seed);
        made m = made_new();
        made_random(&m, &r, 6000);
        sb_series s = made_take(&m);
        sb_line line = {.series = &s, .show_superseded = seed % 3 == 0};
        sb_smoothing how = {.kind = seed % 2 ? SB_SMOOTH_EMA : SB_SMOOTH_NONE, .weight = 0.9};
        assert_int_equal(sb_smooth_line(cache, &line, &how, NULL, NULL), SB_OK);
        for (int i = 0; i < 9; i++) {
            sb_axis axis = (sb_axis)(i % 4);
            double low = 0, high = 0;
            sb_line_extent(&line, axis, sb_line_base(&line, axis), &low, &high);
            double a = low + (high - low) * (made_number(&r) * 1.2 + 0.5);
            double b = i < 3 ? a : low + (high - low) * (made_number(&r) * 1.2 + 0.5);
            expect_measure(&line, axis, fmin(a, b), fmax(a, b));
        }
        sb_smooth_release(cache, &line);
        sb_series_release(&s);
        made_free(&m);
    }
    sb_smooth_cache_free(cache);
}

static void spilled_chunks_are_measured_alike(void **state) {
    sb_test_dir *dir = *state;
    sb_store_opts small = {
        .alloc = &sb_alloc_libc, .memory_limit = 1, .spill_dir = sb_test_dir_path(dir)};
    made m = made_new_opts(&small);
    sb_test_random r = sb_test_random_of(7);
    uint32_t file = made_file(&m, "/run/a");
    for (int i = 0; i < 20000; i++) made_add(&m, file, i, i * 0.5, made_number(&r));
    sb_series s = made_take(&m);
    sb_blocks_stats stats;
    sb_store_get_stats(m.store, &stats);
    assert_true(stats.spilled > 0);
    sb_line line = {.series = &s};
    for (int i = 0; i < 30; i++) {
        double a = (double)sb_test_below(&r, 20000), b = (double)sb_test_below(&r, 20000);
        expect_measure(&line, SB_AXIS_STEP, fmin(a, b), fmax(a, b));
    }
    sb_series_release(&s);
    made_free(&m);
}

static bool at_once(void *ud) {
    (void)ud;
    return true;
}

static void the_time_limit_ends_it(void **state) {
    (void)state;
    made m = made_new();
    uint32_t file = made_file(&m, "/run/a");
    for (int i = 0; i < 70000; i++) made_add(&m, file, i, i, i);
    sb_series s = made_take(&m);
    sb_measure out;
    sb_measure_ask ask = {.from = 0, .to = 70000};
    sb_budget over = {.is_over = at_once};
    assert_int_equal(sb_measure_line(&(sb_line){.series = &s}, &ask, &over, &out, NULL),
                     SB_TIMEOUT);
    sb_series_release(&s);
    made_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_points_bound_what_is_measured),
        cmocka_unit_test(of_two_equally_near_points_the_earlier_counts),
        cmocka_unit_test(values_that_are_not_finite_have_no_extremes),
        cmocka_unit_test(a_mean_is_right_where_the_sum_is_beyond_a_double),
        cmocka_unit_test(a_line_without_places_has_no_measure),
        cmocka_unit_test(measures_equal_a_pass_over_all_points),
        cmocka_unit_test_setup_teardown(spilled_chunks_are_measured_alike, sb_test_dir_setup,
                                        sb_test_dir_teardown),
        cmocka_unit_test(the_time_limit_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
