/* Histograms on a common grid: TensorBoard's rebinning, ranges that one odd step does not stretch,
 * and buckets that make no sense. */
#include "query/kinds/histogram_grid.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "query/kinds/histogram_steps.h"
#include "support/fault_alloc.h"
#include "unit/query/logs.h"

#define FILE_1 "run/events.out.tfevents.1"
static void near_to(double a, double b) {
    if (!(fabs(a - b) <= 1e-6 * fmax(1, fabs(b)))) fail_msg("%.9g, wanted %.9g", a, b);
}

static sb_arena arena;

static int begin(void **state) {
    sb_arena_init(&arena, &sb_alloc_libc, 4096, SIZE_MAX / 2);
    return sb_test_dir_setup(state);
}

static int end(void **state) {
    sb_arena_fini(&arena);
    return sb_test_dir_teardown(state);
}

static sb_histo_facts facts_of(const double *rows, size_t n, sb_histo_rows *clean) {
    sb_histo_facts facts;
    sb_histo_rows room;
    assert_int_equal(sb_histo_facts_of(&(sb_histo_rows){.n = n, .rows = rows}, &arena,
                                       clean ? clean : &room, &facts),
                     SB_OK);
    return facts;
}

/* ---- facts ----------------------------------------------------------------------------------- */

static void facts_say_where_values_are(void **state) {
    (void)state;
    double rows[] = {0, 1, 2, 1, 2, 3, 2, 3, 0};
    sb_histo_facts f = facts_of(rows, 3, NULL);
    assert_int_equal(f.marks, 0);
    near_to(f.total, 5);
    near_to(f.least, 0);
    near_to(f.greatest, 2);
    near_to(f.mean, (2 * 0.5 + 3 * 1.5) / 5);
    near_to(f.low, 0.0125);
    near_to(f.high, 1 + (5 * 0.995 - 2) / 3);
    near_to(f.percentiles[4], 1.1666666666666667);
    /* an even spread over [0, 2] has the deviation 2 / sqrt(12) */
    double even[] = {0, 1, 1, 1, 2, 1};
    near_to(facts_of(even, 2, NULL).deviation, 2 / sqrt(12));
}

static void sums_of_the_log_are_exact_moments(void **state) {
    (void)state;
    double rows[] = {0, 1, 2, 1, 2, 2};
    sb_histo_rows h = {
        .n = 2, .rows = rows, .has_sums = true, .num = 4, .sum = 4.4, .sum_squares = 5.84};
    sb_histo_rows clean;
    sb_histo_facts f;
    assert_int_equal(sb_histo_facts_of(&h, &arena, &clean, &f), SB_OK);
    near_to(f.mean, 1.1);
    near_to(f.deviation, 0.5);
    h.num = 2; /* the number of buckets, as a writer puts it */
    assert_int_equal(sb_histo_facts_of(&h, &arena, &clean, &f), SB_OK);
    near_to(f.mean, 1);
}

static void buckets_that_make_no_sense_are_left_out(void **state) {
    (void)state;
    double rows[] = {NAN, 1, 5, 0, 1, 2, 1,   INFINITY,  3, 1, 2,
                     -4,  3, 2, 1, 4, 5, NAN, -INFINITY, 0, 1};
    sb_histo_rows clean;
    sb_histo_facts f = facts_of(rows, 7, &clean);
    assert_int_equal(f.marks, SB_HISTO_BROKEN | SB_HISTO_NAN);
    assert_int_equal(clean.n, 2);
    near_to(f.total, 3);
    near_to(f.greatest, 3); /* the wrong way round, and turned */
    double nothing[] = {NAN, NAN, 5};
    assert_int_equal(facts_of(nothing, 1, &clean).marks,
                     SB_HISTO_BROKEN | SB_HISTO_EMPTY | SB_HISTO_NAN);
    double negative[] = {0, 1, -5};
    assert_int_equal(facts_of(negative, 1, &clean).marks, SB_HISTO_BROKEN | SB_HISTO_EMPTY);
    double zero[] = {0, 1, 0};
    assert_int_equal(facts_of(zero, 1, &clean).marks, SB_HISTO_EMPTY);
    f = facts_of(NULL, 0, &clean);
    assert_int_equal(f.marks, SB_HISTO_EMPTY);
    assert_true(isnan(f.percentiles[4]) && isnan(f.mean));
}

static void counts_may_be_huge(void **state) {
    (void)state;
    double rows[] = {0, 1, 1e308, 1, 2, 1e308, 2, 3, 1e308};
    sb_histo_rows clean;
    sb_histo_facts f = facts_of(rows, 3, &clean);
    assert_true(f.total == DBL_MAX);
    near_to(f.mean, 1.5);
    double edges[] = {0, 1, 2, 3};
    float shares[3], below, above;
    sb_histo_rebin(&clean, edges, 3, shares, &below, &above);
    for (int i = 0; i < 3; i++) near_to(shares[i], 1.0 / 3);
    double wide[] = {-DBL_MAX, DBL_MAX, 4};
    f = facts_of(wide, 1, &clean);
    assert_true(f.percentiles[0] == -DBL_MAX && f.percentiles[4] == 0);
    assert_true(f.percentiles[8] == DBL_MAX);
    near_to(f.deviation / DBL_MAX, 2 / sqrt(12));
    double two[3], near;
    sb_histo_edges((sb_value_range){f.least, f.greatest}, false, 2, two, &near);
    assert_true(two[1] == 0);
    sb_histo_rebin(&clean, two, 2, shares, &below, &above);
    near_to(shares[0], 0.5);
    near_to(shares[1], 0.5);
}

/* ---- rebinning ------------------------------------------------------------------------------- */

static void values_are_spread_over_bins_as_by_tensorboard(void **state) {
    (void)state;
    /* 30 bins over 0..3 of buckets 0..1 (10), 1..3 (20): 1 a bin, then 1 a bin */
    double rows[] = {0, 1, 10, 1, 3, 20};
    sb_histo_rows clean;
    sb_histo_facts f = facts_of(rows, 2, &clean);
    sb_value_range range;
    assert_int_equal(sb_histo_range_of(&f, 1, true, &arena, &range), SB_OK);
    double edges[31], near;
    float shares[30], below, above;
    sb_histo_edges(range, false, 30, edges, &near);
    sb_histo_rebin(&clean, edges, 30, shares, &below, &above);
    for (int i = 0; i < 30; i++) near_to(shares[i] * f.total, 1);
    assert_true(below == 0 && above == 0 && near == 0);
}

static void a_single_value_has_the_window_that_tensorboard_gives_it(void **state) {
    (void)state;
    double rows[] = {2, 2, 0, 2, 2, 7};
    sb_histo_rows clean;
    sb_histo_facts f = facts_of(rows, 2, &clean);
    sb_value_range range;
    assert_int_equal(sb_histo_range_of(&f, 1, true, &arena, &range), SB_OK);
    near_to(range.low, 2 / 1.1 - 1);
    near_to(range.high, 2 * 1.1 + 1);
    double edges[31], near;
    float shares[30], below, above, sum = 0;
    sb_histo_edges(range, false, 30, edges, &near);
    sb_histo_rebin(&clean, edges, 30, shares, &below, &above);
    for (int i = 0; i < 30; i++) {
        sum += shares[i];
        if (shares[i] > 0) assert_true(edges[i] <= 2 && 2 < edges[i + 1]);
    }
    near_to(sum, 1);
    /* at the very end the last bin has it */
    double ends[] = {1, 1.5, 2};
    sb_histo_rebin(&clean, ends, 2, shares, &below, &above);
    near_to(shares[1], 1);
}

static void what_is_beyond_the_bins_is_told(void **state) {
    (void)state;
    double rows[] = {0, 4, 8, 9, 9, 2};
    sb_histo_rows clean;
    facts_of(rows, 2, &clean);
    double edges[] = {1, 2, 3};
    float shares[2], below, above;
    sb_histo_rebin(&clean, edges, 2, shares, &below, &above);
    near_to(below, 0.2);
    near_to(above, 0.4);
    near_to(shares[0], 0.2);
    near_to(shares[1], 0.2);
}

static void unsorted_and_overlapping_buckets_count_once_each(void **state) {
    (void)state;
    double rows[] = {2, 4, 2, 0, 1, 1, 1, 3, 4, 0, 4, 1};
    sb_histo_rows clean;
    sb_histo_facts f = facts_of(rows, 4, &clean);
    near_to(f.total, 8);
    double edges[] = {0, 1, 2, 3, 4};
    float shares[4], below, above, sum = 0;
    sb_histo_rebin(&clean, edges, 4, shares, &below, &above);
    double want[] = {1.25, 2.25, 3.25, 1.25};
    for (int i = 0; i < 4; i++) {
        near_to(shares[i] * 8, want[i]);
        sum += shares[i];
    }
    near_to(sum, 1);
}

static void log_bins_are_fine_near_zero(void **state) {
    (void)state;
    double edges[21], near;
    sb_histo_edges((sb_value_range){-50, 50}, true, 20, edges, &near);
    near_to(near, 0.01);
    near_to(edges[10], 0);
    for (int i = 1; i <= 20; i++) assert_true(edges[i] > edges[i - 1]);
    assert_true(edges[11] - edges[10] < 0.05 && edges[20] - edges[19] > 10);
    assert_true(edges[0] == -50 && edges[20] == 50);
    /* numbers at the ends of what there is */
    sb_histo_edges((sb_value_range){0, DBL_TRUE_MIN}, true, 4, edges, &near);
    for (int i = 1; i <= 4; i++) assert_true(edges[i] >= edges[i - 1]);
    sb_histo_edges((sb_value_range){-DBL_MAX, DBL_MAX}, true, 4, edges, &near);
    for (int i = 1; i <= 4; i++) assert_true(isfinite(edges[i]) && edges[i] > edges[i - 1]);
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static sb_value_range range_of(const double (*ends)[2], size_t n, bool is_all) {
    sb_histo_facts *facts = sb_arena_zeroed(&arena, n, sizeof *facts);
    for (size_t i = 0; i < n; i++) {
        double rows[] = {ends[i][0], ends[i][1], 100};
        facts[i] = facts_of(rows, 1, NULL);
    }
    sb_value_range range;
    assert_int_equal(sb_histo_range_of(facts, n, is_all, &arena, &range), SB_OK);
    return range;
}

static void an_outlier_step_does_not_flatten_the_rest(void **state) {
    (void)state;
    double ends[12][2];
    for (int i = 0; i < 12; i++) ends[i][0] = -1, ends[i][1] = 1;
    ends[5][0] = -1000;
    ends[7][1] = 1e30;
    sb_value_range range = range_of((const double(*)[2])ends, 12, false);
    assert_true(range.low > -1.2 && range.high < 1.2 && range.low < -0.9 && range.high > 0.9);
    range = range_of((const double(*)[2])ends, 12, true);
    assert_true(range.low == -1000 && range.high == 1e30);
}

static void steps_that_drift_are_all_within_the_range(void **state) {
    (void)state;
    double ends[20][2];
    for (int i = 0; i < 20; i++) ends[i][0] = i, ends[i][1] = i + 2;
    sb_value_range range = range_of((const double(*)[2])ends, 20, false);
    /* hardly any room is saved by leaving out the outermost values: all are shown */
    assert_true(range.low == 0 && range.high == 21);
}

static void ranges_of_nothing_and_of_one_value(void **state) {
    (void)state;
    sb_value_range range;
    assert_int_equal(sb_histo_range_of(NULL, 0, false, &arena, &range), SB_OK);
    assert_true(range.low == 0 && range.high == 1);
    double one[1][2] = {{3, 3}};
    range = range_of((const double(*)[2])one, 1, false);
    assert_true(range.low == 1.5 && range.high == 4.5);
    double zero[1][2] = {{0, 0}};
    range = range_of((const double(*)[2])zero, 1, false);
    assert_true(range.low == -0.5 && range.high == 0.5);
    double huge[1][2] = {{DBL_MAX, DBL_MAX}};
    for (int all = 0; all < 2; all++) {
        range = range_of((const double(*)[2])huge, 1, all);
        assert_true(isfinite(range.low) && isfinite(range.high) && range.low < range.high);
    }
    double tiny[1][2] = {{DBL_TRUE_MIN, DBL_TRUE_MIN}};
    range = range_of((const double(*)[2])tiny, 1, false);
    assert_true(range.low < range.high);
}

/* ---- steps of a log -------------------------------------------------------------------------- */

static void add_step(sb_buf *file, int64_t step, double left, double right) {
    double rows[] = {left, right, 10};
    int64_t dims[] = {1, 3};
    sb_array array = {rows, SB_DOUBLE, 2, dims, NULL};
    log_tensor(file, "w", "histograms", SB_LIT(""), step, 100 + (double)step, &array);
}

static sb_histo_steps pick(logs *l, const sb_series *s, sb_histo_ask ask) {
    sb_histo_steps steps;
    sb_err err;
    assert_ok(sb_histo_steps_pick(s, &ask, &l->arena, &steps, &err), &err);
    return steps;
}

static void old_picks_stay_when_a_new_step_comes(void **state) {
    logs l = logs_new(*state);
    sb_buf file = log_begin();
    for (int i = 0; i < 101; i++) add_step(&file, i, 0, 1);
    log_put(&l, FILE_1, &file);
    logs_load(&l);
    sb_series s = logs_take(&l, "run", "w");
    sb_histo_ask ask = {.from = NAN, .to = NAN, .most = 20};
    sb_histo_steps steps = pick(&l, &s, ask);
    assert_int_equal(steps.total, 101);
    assert_int_equal(steps.in_range, 101);
    assert_true(steps.n <= 20 && steps.n >= 13);
    for (size_t i = 0; i + 1 < steps.n; i++) assert_int_equal(steps.items[i].step % 6, 0);
    assert_int_equal(steps.items[steps.n - 1].step, 100);
    /* a step that is asked for is there */
    ask.has_at = true;
    ask.at = 50.4;
    steps = pick(&l, &s, ask);
    bool is_there = false;
    for (size_t i = 0; i < steps.n; i++) is_there |= steps.items[i].step == 50;
    assert_true(is_there);
    /* a range, on another axis */
    ask = (sb_histo_ask){.axis = SB_AXIS_RELATIVE, .from = 10, .to = 20.5, .most = 100};
    steps = pick(&l, &s, ask);
    assert_int_equal(steps.in_range, 11);
    assert_int_equal(steps.items[0].step, 10);
    ask = (sb_histo_ask){.axis = SB_AXIS_WALL, .from = 1e9, .to = 2e9, .most = 100};
    assert_int_equal(pick(&l, &s, ask).n, 0);
    sb_series_release(&s);
    logs_free(&l);
}

static sb_status bin_all(sb_blob_cache *blobs, const sb_series *s, sb_arena *a, float *shares) {
    sb_histo_steps steps;
    sb_histo_ask ask = {.from = NAN, .to = NAN, .most = 10};
    double edges[] = {0, 1, 2};
    float beyond[20];
    sb_status status = sb_histo_steps_pick(s, &ask, a, &steps, NULL);
    if (status == SB_OK) status = sb_histo_steps_read(&steps, blobs, 1 << 20, NULL, a, NULL);
    if (status != SB_OK) return status;
    return sb_histo_steps_bin(&steps, blobs, 1 << 20, edges, 2, shares, beyond, beyond + 10, NULL,
                              a, NULL);
}

static void unreadable_steps_are_marked_and_stay_empty(void **state) {
    logs l = logs_new(*state);
    sb_buf file = log_begin();
    add_step(&file, 3, 1, 2);
    add_step(&file, 1, 0, 2);
    int64_t bad[] = {2, 2};
    double numbers[] = {1, 2, 3, 4};
    sb_array array = {numbers, SB_DOUBLE, 2, bad, NULL};
    log_tensor(&file, "w", "histograms", SB_LIT(""), 6, 106, &array);
    const char *path = log_put(&l, FILE_1, &file);
    logs_load(&l);
    sb_series s = logs_take(&l, "run", "w");
    sb_histo_steps steps = pick(&l, &s, (sb_histo_ask){.from = NAN, .to = NAN, .most = 10});
    assert_int_equal(steps.items[0].step, 1); /* in the order of the axis */
    sb_err err;
    assert_ok(sb_histo_steps_read(&steps, l.blobs, 1 << 20, NULL, &l.arena, &err), &err);
    assert_int_equal(steps.facts[0].marks, 0);
    assert_int_equal(steps.facts[2].marks, SB_HISTO_UNREADABLE);
    float shares[20];
    assert_int_equal(bin_all(l.blobs, &s, &l.arena, shares), SB_OK);
    float want[] = {0.5f, 0.5f, 0, 1, 0, 0};
    for (int i = 0; i < 6; i++) assert_true(shares[i] == want[i]);
    unlink(path);
    sb_blob_cache_drop(l.blobs);
    assert_ok(sb_histo_steps_read(&steps, l.blobs, 1 << 20, NULL, &l.arena, &err), &err);
    assert_int_equal(steps.facts[0].marks, SB_HISTO_UNREADABLE);
    sb_series_release(&s);
    logs_free(&l);
}

static sb_status bin_with(const sb_alloc *alloc, void *ud) {
    sb_series *series = ud;
    sb_env env = logs_env;
    env.alloc = alloc;
    sb_blob_cache *cache;
    sb_status status = sb_blob_cache_new(&cache, &env, 2, NULL);
    if (status != SB_OK) return status;
    sb_arena a;
    sb_arena_init(&a, alloc, 64, SIZE_MAX / 2);
    float shares[20];
    status = bin_all(cache, series, &a, shares);
    sb_arena_fini(&a);
    sb_blob_cache_free(cache);
    return status;
}

static void memory_may_run_out(void **state) {
    logs l = logs_new(*state);
    sb_buf file = log_begin();
    for (int i = 4; i > 0; i--) add_step(&file, i, i, 0);
    log_put(&l, FILE_1, &file);
    logs_load(&l);
    sb_series s = logs_take(&l, "run", "w");
    sb_fault_alloc_sweep(bin_with, &s);
    sb_series_release(&s);
    logs_free(&l);
}

int main(void) {
#define T(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        T(facts_say_where_values_are),
        T(sums_of_the_log_are_exact_moments),
        T(buckets_that_make_no_sense_are_left_out),
        T(counts_may_be_huge),
        T(values_are_spread_over_bins_as_by_tensorboard),
        T(a_single_value_has_the_window_that_tensorboard_gives_it),
        T(what_is_beyond_the_bins_is_told),
        T(unsorted_and_overlapping_buckets_count_once_each),
        T(log_bins_are_fine_near_zero),
        T(an_outlier_step_does_not_flatten_the_rest),
        T(steps_that_drift_are_all_within_the_range),
        T(ranges_of_nothing_and_of_one_value),
        T(old_picks_stay_when_a_new_step_comes),
        T(unreadable_steps_are_marked_and_stay_empty),
        T(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
