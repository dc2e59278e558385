/* Another metric as x: small lines by hand, and thinned ones against a plain twin. */
#include "query/lines/metric_x.h"

#include <stdlib.h>

#include "query/lines/decimate.h"
#include "query/lines/measure.h"
#include "support/fault_alloc.h"
#include "unit/query/made.h"

/* The same run's second series: what x is. */
typedef struct two {
    made line;
    uint32_t metric, file;
} two;

static two two_new(void) {
    two t = {.line = made_new()};
    bool is_new;
    sb_series_meta meta = {
        .plugin_name = SB_LIT("scalars"), .kind = SB_SERIES_SCALAR, .dtype = SB_FLOAT};
    assert_int_equal(sb_run_series(t.line.run, SB_LIT("epoch"), &meta, &t.metric, &is_new), SB_OK);
    t.file = made_file(&t.line, "/run/a");
    return t;
}

static void add_metric(two *t, int64_t step, double x) {
    assert_int_equal(sb_run_add_scalar(t->line.run, t->file, t->metric, step, 0, x, SB_NUMBER_REAL),
                     SB_OK);
}

typedef struct laid {
    sb_series series, metric;
    sb_line line;
} laid;

static void lay(two *t, laid *out) {
    sb_baseline by_step;
    sb_err err;
    double *xs;
    sb_arena *arena = &t->line.arena;
    out->series = made_take(&t->line);
    assert_int_equal(sb_series_take(t->line.run, SB_LIT("epoch"), arena, &out->metric), SB_OK);
    out->line = (sb_line){.series = &out->series};
    assert_ok(sb_baseline_of(&by_step, &(sb_line){.series = &out->metric}, SB_AXIS_STEP, NULL,
                             arena, &err),
              &err);
    assert_ok(sb_metric_xs(&out->line, &by_step, NULL, arena, &xs, &err), &err);
    out->line.xs = xs;
}

static void lay_off(two *t, laid *l) {
    sb_series_release(&l->series);
    sb_series_release(&l->metric);
    made_free(&t->line);
}

/* "step@x" of the points that an ask gives. */
static const char *shown(two *t, const laid *l, double from, double to) {
    static char text[512];
    sb_decimate_ask ask = {.axis = SB_AXIS_METRIC, .from = from, .to = to, .pixels = 100};
    sb_decimated got;
    sb_err err;
    assert_ok(sb_scalar_decimate(&l->line, &ask, NULL, &t->line.arena, &got, &err), &err);
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < got.points.n; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%ld@%g", i ? " " : "",
                                 (long)got.points.steps[i], got.points.xs[i]);
    return text;
}

static void x_is_the_metrics_value_at_the_points_step(void **state) {
    (void)state;
    two t = two_new();
    add_metric(&t, 2, 10);
    add_metric(&t, 4, 20);
    add_metric(&t, 6, NAN);
    add_metric(&t, 8, 0);
    for (int64_t step = 0; step < 10; step++) made_add(&t.line, t.file, step, 0, 1);
    laid l;
    lay(&t, &l);
    assert_string_equal(shown(&t, &l, NAN, NAN), "2@10 3@15 4@20 5@15 6@10 7@5 8@0");
    assert_false(sb_metric_rises(&l.line));
    lay_off(&t, &l);
}

static void a_range_of_x_keeps_every_visit_and_where_it_came_from(void **state) {
    (void)state;
    two t = two_new();
    add_metric(&t, 0, 0);
    add_metric(&t, 4, 40);
    add_metric(&t, 8, 0);
    for (int64_t step = 0; step <= 8; step++) made_add(&t.line, t.file, step, 0, 1);
    laid l;
    lay(&t, &l);
    assert_string_equal(shown(&t, &l, 15, 25), "1@10 2@20 3@30 5@30 6@20 7@10");
    assert_string_equal(shown(&t, &l, 50, 60), "");
    lay_off(&t, &l);
}

static void thinned_lines_keep_and_count_each_kind_that_is_not_finite(void **state) {
    (void)state;
    static const double kinds[] = {1, NAN, INFINITY, 2, -INFINITY, NAN, INFINITY, 3, -INFINITY, 4};
    two t = two_new();
    add_metric(&t, 0, 0);
    add_metric(&t, 999, 999);
    for (int64_t step = 0; step < 1000; step++)
        made_add(&t.line, t.file, step, 0, kinds[step % 10]);
    laid l;
    lay(&t, &l);
    sb_decimate_ask ask = {.axis = SB_AXIS_METRIC, .from = NAN, .to = NAN, .pixels = 10};
    sb_decimated got;
    sb_err err;
    assert_ok(sb_scalar_decimate(&l.line, &ask, NULL, &t.line.arena, &got, &err), &err);
    assert_int_equal(got.not_finite.nan, 200);
    assert_int_equal(got.not_finite.plus, 200);
    assert_int_equal(got.not_finite.minus, 200);
    assert_true(got.points.n < 100);
    sb_not_finite kept = {0};
    for (size_t i = 0; i < got.points.n; i++)
        if (!isfinite(got.points.values[i])) sb_count_not_finite(&kept, got.points.values[i]);
    assert_true(kept.nan >= 10 && kept.plus >= 10 && kept.minus >= 10);
    lay_off(&t, &l);
}

static void a_metric_that_stays_or_rises_rises(void **state) {
    (void)state;
    two t = two_new();
    add_metric(&t, 0, 1);
    add_metric(&t, 5, 1);
    add_metric(&t, 9, 2);
    for (int64_t step = -1; step < 12; step++) made_add(&t.line, t.file, step, 0, 1);
    laid l;
    lay(&t, &l);
    assert_true(sb_metric_rises(&l.line));
    lay_off(&t, &l);
}

static void measures_find_the_nearest_points_by_the_metric(void **state) {
    (void)state;
    two t = two_new();
    add_metric(&t, 0, 100);
    add_metric(&t, 10, 0);
    for (int64_t step = 0; step <= 12; step++)
        made_add(&t.line, t.file, step, 0, (double)(step * step));
    laid l;
    lay(&t, &l);
    sb_measure m;
    sb_err err;
    sb_measure_ask ask = {.axis = SB_AXIS_METRIC, .from = 19, .to = 52};
    assert_ok(sb_measure_line(&l.line, &ask, NULL, &m, &err), &err);
    assert_int_equal(m.start.step, 8);
    assert_int_equal(m.end.step, 5);
    assert_int_equal(m.n, 4);
    assert_true(m.raw.max.value == 64 && m.raw.min.value == 25);
    lay_off(&t, &l);
}

static void a_line_without_xs_has_no_points_along_a_metric(void **state) {
    (void)state;
    two t = two_new();
    add_metric(&t, 0, 1);
    for (int64_t step = 0; step < 2000; step++) made_add(&t.line, t.file, step, 0, 1);
    laid l;
    lay(&t, &l);
    l.line.xs = NULL;
    assert_string_equal(shown(&t, &l, NAN, NAN), "");
    lay_off(&t, &l);
}

/* ---- thinning -------------------------------------------------------------------------------- */

static bool is_first_extreme(const double *values, size_t from, size_t to, size_t at, double sign) {
    if (!isfinite(values[at])) return false;
    for (size_t i = from; i < to; i++) {
        if (!isfinite(values[i]) || i == at) continue;
        double d = sign * values[i] - sign * values[at];
        if (d < 0 || (d == 0 && i < at)) return false;
    }
    return true;
}

static bool is_first_bad(const double *values, size_t from, size_t at) {
    if (isfinite(values[at])) return false;
    for (size_t i = from; i < at; i++)
        if (!isfinite(values[i])) return false;
    return true;
}

/* Whether a point is kept, by looking at all others of its bucket. */
static bool is_kept(const sb_columns *all, uint32_t buckets, size_t at) {
    for (size_t b = 0; b < buckets; b++) {
        size_t from = all->n * b / buckets, to = all->n * (b + 1) / buckets;
        if (at < from || at >= to) continue;
        return at == from || at == to - 1 || is_first_extreme(all->xs, from, to, at, 1) ||
               is_first_extreme(all->xs, from, to, at, -1) ||
               is_first_extreme(all->values, from, to, at, 1) ||
               is_first_extreme(all->values, from, to, at, -1) ||
               is_first_bad(all->values, from, at);
    }
    return false;
}

static sb_columns points_along(two *t, const laid *l, uint32_t pixels) {
    sb_decimate_ask ask = {.axis = SB_AXIS_METRIC, .from = NAN, .to = NAN, .pixels = pixels};
    sb_decimated got;
    sb_err err;
    assert_ok(sb_scalar_decimate(&l->line, &ask, NULL, &t->line.arena, &got, &err), &err);
    return got.points;
}

static void thinned_lines_keep_the_ends_and_extremes_of_buckets(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        sb_test_random r = sb_test_random_of(seed);
        two t = two_new();
        size_t n = 200 + sb_test_below(&r, 2500);
        for (size_t i = 0; i < n; i++) {
            bool is_bad = sb_test_below(&r, 40) == 0;
            made_add(&t.line, t.file, (int64_t)i, 0, is_bad ? NAN : made_number(&r));
            if (i % 7 == 0) add_metric(&t, (int64_t)i, floor(made_number(&r) * 20));
        }
        laid l;
        lay(&t, &l);
        sb_columns all = points_along(&t, &l, 65536);
        uint32_t pixels = 1 + (uint32_t)sb_test_below(&r, 40);
        sb_columns few = points_along(&t, &l, pixels);
        assert_true(all.n > 4 * (size_t)pixels);
        size_t k = 0;
        for (size_t i = 0; i < all.n; i++) {
            if (!is_kept(&all, pixels, i)) continue;
            assert_true(k < few.n && few.steps[k] == all.steps[i] && few.xs[k] == all.xs[i]);
            k++;
        }
        assert_int_equal(k, few.n);
        lay_off(&t, &l);
    }
}

static sb_status read_with(const sb_alloc *alloc, void *ud) {
    two *t = ud;
    sb_arena arena;
    sb_arena_init(&arena, alloc, 64, SIZE_MAX / 2);
    sb_series s;
    sb_status status = sb_series_take(t->line.run, SB_LIT("loss"), &arena, &s);
    if (status == SB_OK) {
        sb_line line = {.series = &s};
        sb_baseline b;
        double *xs;
        sb_decimated got;
        sb_decimate_ask ask = {.axis = SB_AXIS_METRIC, .from = NAN, .to = NAN, .pixels = 2};
        status = sb_baseline_of(&b, &line, SB_AXIS_STEP, NULL, &arena, NULL);
        if (status == SB_OK) status = sb_metric_xs(&line, &b, NULL, &arena, &xs, NULL);
        if (status == SB_OK) {
            line.xs = xs;
            status = sb_scalar_decimate(&line, &ask, NULL, &arena, &got, NULL);
        }
        sb_series_release(&s);
    }
    sb_arena_fini(&arena);
    return status;
}

static void memory_may_run_out(void **state) {
    (void)state;
    two t = two_new();
    for (int64_t i = 0; i < 50; i++) made_add(&t.line, t.file, i, 0, (double)(i % 7));
    assert_int_equal(sb_run_commit(t.line.run), SB_OK);
    sb_fault_alloc_sweep(read_with, &t);
    made_free(&t.line);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(x_is_the_metrics_value_at_the_points_step),
        cmocka_unit_test(a_range_of_x_keeps_every_visit_and_where_it_came_from),
        cmocka_unit_test(thinned_lines_keep_and_count_each_kind_that_is_not_finite),
        cmocka_unit_test(a_metric_that_stays_or_rises_rises),
        cmocka_unit_test(measures_find_the_nearest_points_by_the_metric),
        cmocka_unit_test(a_line_without_xs_has_no_points_along_a_metric),
        cmocka_unit_test(thinned_lines_keep_the_ends_and_extremes_of_buckets),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
