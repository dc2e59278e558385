/* Lines against baselines: small ones by hand, random ones against a plain plain. */
#include "query/lines/compare.h"

#include <stdlib.h>

#include "query/lines/decimate.h"
#include "query/lines/measure.h"
#include "query/lines/smooth.h"
#include "support/fault_alloc.h"
#include "support/line_reference.h"
#include "unit/query/made.h"

/* A second run with the same tag, of the same store. */
static made another(const made *m) {
    made other = {.store = m->store};
    bool is_new;
    sb_series_meta meta = {
        .plugin_name = SB_LIT("scalars"), .kind = SB_SERIES_SCALAR, .dtype = SB_FLOAT};
    assert_int_equal(
        sb_store_add_run(m->store, SB_LIT("other"), SB_LIT("/other"), &other.run, NULL), SB_OK);
    assert_int_equal(sb_run_series(other.run, SB_LIT("loss"), &meta, &other.series, &is_new),
                     SB_OK);
    sb_arena_init(&other.arena, &sb_alloc_libc, 1 << 16, SIZE_MAX / 2);
    return other;
}

static void free_both(made *m, made *other) {
    sb_arena_fini(&other->arena);
    sb_run_release(other->run);
    made_free(m);
}

typedef struct given {
    int64_t step;
    double wall, value;
} given;

static void add_all(made *m, const given *points, size_t n) {
    uint32_t file = made_file(m, "/run/a");
    for (size_t i = 0; i < n; i++)
        made_add(m, file, points[i].step, points[i].wall, points[i].value);
}

static sb_baseline baseline_of(made *m, const sb_line *line, sb_axis axis) {
    sb_baseline b;
    sb_err err;
    assert_ok(sb_baseline_of(&b, line, axis, NULL, &m->arena, &err), &err);
    return b;
}

/* "step:value" of every point of the compared line. */
static const char *compared(made *m, const sb_line *line, const sb_baseline *b,
                            sb_compare_kind kind) {
    static char text[1024];
    sb_compared out;
    sb_err err;
    assert_ok(sb_compare_line(line, b, kind, NULL, &m->arena, &out, &err), &err);
    sb_reference_line plain = sb_reference_of(&out.line);
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < plain.n; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%ld:%g", i ? " " : "",
                                 (long)plain.points[i].step, plain.points[i].value);
    free(plain.points);
    return text;
}

static const char *compared_points(const given *base, size_t base_n, const given *points, size_t n,
                                   sb_axis axis, sb_compare_kind kind) {
    made m = made_new(), other = another(&m);
    add_all(&m, base, base_n);
    add_all(&other, points, n);
    sb_series b = made_take(&m), s = made_take(&other);
    sb_baseline baseline = baseline_of(&m, &(sb_line){.series = &b}, axis);
    const char *text = compared(&other, &(sb_line){.series = &s}, &baseline, kind);
    sb_series_release(&b);
    sb_series_release(&s);
    free_both(&m, &other);
    return text;
}

#define COMPARED(base, points, axis, kind)                                                         \
    compared_points(base, SB_COUNT(base), points, SB_COUNT(points), axis, kind)

static void between_its_points_a_baseline_is_a_straight_line(void **state) {
    (void)state;
    static const given base[] = {{0, 0, 10}, {10, 1, 20}, {20, 2, 0}};
    static const given line[] = {{-1, 0, 1}, {0, 1, 1},  {5, 2, 30},
                                 {18, 3, 1}, {20, 4, 7}, {21, 5, 1}};
    assert_string_equal(COMPARED(base, line, SB_AXIS_STEP, SB_COMPARE_DIFFERENCE),
                        "0:-9 5:15 18:-3 20:7");
    assert_string_equal(COMPARED(base, line, SB_AXIS_STEP, SB_COMPARE_RATIO),
                        "0:0.1 5:2 18:0.25 20:inf");
}

static void where_the_baseline_is_not_finite_its_neighbours_count(void **state) {
    (void)state;
    static const given base[] = {{0, 0, NAN}, {1, 1, 4}, {2, 2, NAN}, {3, 3, 8}, {4, 4, INFINITY}};
    static const given line[] = {{0, 0, 1}, {1, 1, 1}, {2, 2, 1}, {3, 3, NAN}, {4, 4, 1}};
    assert_string_equal(COMPARED(base, line, SB_AXIS_STEP, SB_COMPARE_DIFFERENCE),
                        "1:-3 2:-5 3:nan");
    static const given nothing[] = {{0, 0, NAN}};
    assert_string_equal(COMPARED(nothing, line, SB_AXIS_STEP, SB_COMPARE_DIFFERENCE), "");
}

static void relative_x_counts_from_each_lines_own_start(void **state) {
    (void)state;
    static const given base[] = {{0, 1000, 1}, {1, 1010, 2}};
    static const given line[] = {{0, 500, 3}, {1, 505, 3}, {2, 511, 3}};
    assert_string_equal(COMPARED(base, line, SB_AXIS_RELATIVE, SB_COMPARE_DIFFERENCE), "0:2 1:1.5");
    assert_string_equal(COMPARED(base, line, SB_AXIS_WALL, SB_COMPARE_DIFFERENCE), "");
}

static void an_unsorted_baseline_is_sorted_and_the_last_of_equals_counts(void **state) {
    (void)state;
    static const given base[] = {{10, 0, 1}, {0, 1, 2}, {5, 2, 3}, {5, 3, 7}};
    static const given line[] = {{5, 0, 10}, {0, 1, 10}, {10, 2, 10}};
    assert_string_equal(COMPARED(base, line, SB_AXIS_STEP, SB_COMPARE_DIFFERENCE), "5:3 0:8 10:9");
}

static void a_baseline_itself_is_constant(void **state) {
    (void)state;
    made m = made_new();
    static const given base[] = {{0, 0, 0}, {5, 1, 3}, {5, 2, 4}, {3, 3, NAN}, {9, 4, 1e300}};
    add_all(&m, base, SB_COUNT(base));
    sb_series s = made_take(&m);
    sb_line line = {.series = &s};
    sb_baseline b = baseline_of(&m, &line, SB_AXIS_STEP);
    assert_string_equal(compared(&m, &line, &b, SB_COMPARE_DIFFERENCE), "0:0 5:0 5:0 3:nan 9:0");
    assert_string_equal(compared(&m, &line, &b, SB_COMPARE_RATIO), "0:1 5:1 5:1 3:nan 9:1");
    sb_series_release(&s);
    made_free(&m);
}

static void the_epoch_changes_with_the_baseline(void **state) {
    (void)state;
    made m = made_new();
    uint32_t file = made_file(&m, "/run/a");
    uint64_t seen[3];
    for (int i = 0; i < 3; i++) {
        if (i < 2) made_add(&m, file, i, i, i);
        sb_series s = made_take(&m);
        sb_baseline b = baseline_of(&m, &(sb_line){.series = &s}, SB_AXIS_STEP);
        seen[i] = sb_epoch_mix(42, b.epoch);
        assert_true(seen[i] < (uint64_t)1 << 53);
        sb_series_release(&s);
    }
    assert_true(seen[0] != seen[1] && seen[1] == seen[2]);
    made_free(&m);
}

/* ---- the plain plain ------------------------------------------------------------------------- */

/* The baseline at x, found by looking at every point; false: not known. */
static bool twin_at(const sb_reference_line *b, sb_axis axis, double base, double x, bool smoothed,
                    double *out) {
    const sb_reference_point *left = NULL, *right = NULL;
    for (size_t i = 0; i < b->n; i++) {
        const sb_reference_point *p = &b->points[i];
        double at = sb_reference_x(p, axis, base);
        if (p->superseded || !isfinite(at) || !isfinite(p->value)) continue;
        if (at <= x && (!left || at >= sb_reference_x(left, axis, base))) left = p;
        if (at >= x && (!right || at <= sb_reference_x(right, axis, base))) right = p;
    }
    if (!left || !right) return false;
    double from = sb_reference_x(left, axis, base), to = sb_reference_x(right, axis, base);
    double a = smoothed ? left->smoothed : left->value;
    double z = smoothed ? right->smoothed : right->value;
    double share = to > from ? (x - from) / (to - from) : 0;
    *out = share == 0 ? a : a * (1 - share) + z * share;
    return true;
}

static double twin_against(double value, double base, sb_compare_kind kind, bool is_own) {
    if (is_own && isfinite(value)) return kind == SB_COMPARE_DIFFERENCE ? 0 : 1;
    return kind == SB_COMPARE_DIFFERENCE ? value - base : value / base;
}

static bool same_number(double a, double b) {
    return sb_reference_same_bits(a, b) || (isnan(a) && isnan(b));
}

static void expect_compared(made *m, const sb_line *line, const sb_line *base_line, sb_axis axis,
                            sb_compare_kind kind) {
    sb_baseline b = baseline_of(m, base_line, axis);
    sb_compared got;
    assert_int_equal(sb_compare_line(line, &b, kind, NULL, &m->arena, &got, NULL), SB_OK);
    sb_reference_line want = sb_reference_of(line), knots = sb_reference_of(base_line),
                      have = sb_reference_of(&got.line);
    double own = sb_line_base(line, axis), its = sb_line_base(base_line, axis);
    bool is_own = line->series->run == base_line->series->run;
    size_t n = 0;
    for (size_t i = 0; i < want.n; i++) {
        const sb_reference_point *p = &want.points[i];
        double x = sb_reference_x(p, axis, own), raw, smooth;
        if ((p->superseded && !line->show_superseded) || !isfinite(x)) continue;
        if (!twin_at(&knots, axis, its, x, false, &raw)) continue;
        assert_true(n < have.n);
        const sb_reference_point *h = &have.points[n++];
        bool itself = is_own && !p->superseded;
        assert_int_equal(h->step, p->step);
        assert_true(sb_reference_same_bits(h->wall, p->wall) && h->superseded == p->superseded);
        assert_true(same_number(h->value, twin_against(p->value, raw, kind, itself)));
        if (!line->smoothed) continue;
        twin_at(&knots, axis, its, x, true, &smooth);
        assert_true(same_number(h->smoothed, twin_against(p->smoothed, smooth, kind, itself)));
    }
    assert_int_equal(n, have.n);
    assert_true(sb_line_base(&got.line, axis) == own);
    free(want.points);
    free(knots.points);
    free(have.points);
}

/* Decimation of a compared line is that of its points. */
static void expect_decimated(made *m, const sb_line *line, const sb_line *base_line, sb_axis axis) {
    sb_baseline b = baseline_of(m, base_line, axis);
    sb_compared got;
    sb_decimated few;
    sb_decimate_ask ask = {.axis = axis, .from = NAN, .to = NAN, .pixels = 40};
    assert_int_equal(sb_compare_line(line, &b, SB_COMPARE_DIFFERENCE, NULL, &m->arena, &got, NULL),
                     SB_OK);
    assert_int_equal(sb_scalar_decimate(&got.line, &ask, NULL, &m->arena, &few, NULL), SB_OK);
    sb_reference_line plain = sb_reference_of(&got.line);
    if (!isnan(few.from)) {
        sb_reference_answer want =
            sb_reference_decimate(&plain, &got.line, axis, sb_line_base(&got.line, axis), few.from,
                                  few.to, ask.pixels, 0);
        assert_int_equal(sb_reference_differs(&plain, &want, &few.points), -1);
        free(want.kept);
    }
    free(plain.points);
}

static void compared_lines_equal_a_pass_over_all_points(void **state) {
    (void)state;
    sb_smooth_cache *cache;
    sb_smooth_opts opts = {.alloc = &sb_alloc_libc, .line_bytes = 1 << 26, .keep_bytes = 1 << 26};
    assert_int_equal(sb_smooth_cache_new(&cache, &opts, NULL), SB_OK);
    for (uint64_t seed = 1; seed <= 40; seed++) {
        sb_test_random r = sb_test_random_of(seed);
        made m = made_new(), other = another(&m);
        made_random(&m, &r, seed % 4 ? 300 : 1500);
        made_random(&other, &r, seed % 4 ? 300 : 1500);
        sb_series b = made_take(&m), s = made_take(&other);
        sb_line base = {.series = &b}, line = {.series = &s, .show_superseded = seed % 3 == 0};
        sb_smoothing how = {.kind = seed % 2 ? SB_SMOOTH_EMA : SB_SMOOTH_NONE, .weight = 0.7};
        assert_int_equal(sb_smooth_line(cache, &base, &how, NULL, NULL), SB_OK);
        assert_int_equal(sb_smooth_line(cache, &line, &how, NULL, NULL), SB_OK);
        for (int axis = 0; axis < 4; axis++) {
            sb_compare_kind kind = seed % 5 ? SB_COMPARE_DIFFERENCE : SB_COMPARE_RATIO;
            expect_compared(&other, &line, &base, (sb_axis)axis, kind);
            expect_compared(&m, &base, &base, (sb_axis)axis, kind);
            expect_decimated(&other, &line, &base, (sb_axis)axis);
        }
        sb_smooth_release(cache, &line);
        sb_smooth_release(cache, &base);
        sb_series_release(&s);
        sb_series_release(&b);
        free_both(&m, &other);
    }
    sb_smooth_cache_free(cache);
}

static sb_status compare_with(const sb_alloc *alloc, void *ud) {
    made *m = ud;
    sb_arena arena;
    sb_arena_init(&arena, alloc, 64, SIZE_MAX / 2);
    sb_series s;
    sb_status status = sb_series_take(m->run, SB_LIT("loss"), &arena, &s);
    if (status == SB_OK) {
        sb_line line = {.series = &s};
        sb_baseline b;
        sb_compared out;
        status = sb_baseline_of(&b, &line, SB_AXIS_STEP, NULL, &arena, NULL);
        if (status == SB_OK)
            status = sb_compare_line(&line, &b, SB_COMPARE_RATIO, NULL, &arena, &out, NULL);
        sb_series_release(&s);
    }
    sb_arena_fini(&arena);
    return status;
}

static void memory_may_run_out(void **state) {
    (void)state;
    made m = made_new();
    static const given base[] = {{10, 0, 1}, {0, 1, 2}, {5, 2, 3}, {5, 3, 7}};
    add_all(&m, base, SB_COUNT(base));
    assert_int_equal(sb_run_commit(m.run), SB_OK);
    sb_fault_alloc_sweep(compare_with, &m);
    made_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(between_its_points_a_baseline_is_a_straight_line),
        cmocka_unit_test(where_the_baseline_is_not_finite_its_neighbours_count),
        cmocka_unit_test(relative_x_counts_from_each_lines_own_start),
        cmocka_unit_test(an_unsorted_baseline_is_sorted_and_the_last_of_equals_counts),
        cmocka_unit_test(a_baseline_itself_is_constant),
        cmocka_unit_test(the_epoch_changes_with_the_baseline),
        cmocka_unit_test(compared_lines_equal_a_pass_over_all_points),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
