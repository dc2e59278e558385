/* Rows of old and new histograms, and distributions with the numbers of TensorBoard's own
 * compression. */
#include "query/kinds/histogram.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "query/records/refs.h"
#include "support/fault_alloc.h"
#include "unit/query/logs.h"

#define FILE_1 "run/events.out.tfevents.1"

static sb_arena arena;

static int begin(void **state) {
    sb_arena_init(&arena, &sb_alloc_libc, 4096, SIZE_MAX / 2);
    return sb_test_dir_setup(state);
}

static int end(void **state) {
    sb_arena_fini(&arena);
    return sb_test_dir_teardown(state);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void add_histo(sb_buf *b, double min, double max, const double *limits, size_t limit_n,
                      const double *counts, size_t count_n) {
    sb_pb_add_double(b, SB_HISTOGRAM_MIN, min);
    sb_pb_add_double(b, SB_HISTOGRAM_MAX, max);
    sb_pb_add_packed_doubles(b, SB_HISTOGRAM_BUCKET_LIMIT, limits, limit_n);
    sb_pb_add_packed_doubles(b, SB_HISTOGRAM_BUCKET, counts, count_n);
}

static sb_histo_rows rows_of(double min, double max, const double *limits, const double *counts,
                             size_t n, sb_histo_form form) {
    sb_buf b = log_begin();
    add_histo(&b, min, max, limits, n, counts, n);
    sb_value value = {.kind = SB_VALUE_KIND_HISTO, .body = sb_buf_slice(&b)};
    sb_histo_rows rows;
    sb_err err;
    assert_ok(sb_histo_of_value(&value, form, 1000, &arena, &rows, &err), &err);
    sb_buf_fini(&b);
    return rows;
}

static void expect_rows(const sb_histo_rows *got, const double *want, size_t n) {
    assert_int_equal(got->n, n);
    for (size_t i = 0; i < n * 3; i++) assert_true(got->rows[i] == want[i]);
}

static void old_histograms_are_trimmed_as_by_the_python_loader(void **state) {
    (void)state;
    double limits[] = {-2, 0, 2, 4, DBL_MAX}, counts[] = {0, 1, 2, 0, 0};
    sb_histo_rows rows = rows_of(-1, 3, limits, counts, 5, SB_HISTO_TRIMMED);
    double want[] = {-1, 0, 1, 0, 3, 2};
    expect_rows(&rows, want, 2);
    for (size_t i = 0; i < rows.n; i++) assert_true(rows.rows[i * 3] <= rows.rows[i * 3 + 1]);
    /* float32 */
    double fine[] = {0.1, 0.2};
    double ones[] = {1, 1};
    rows = rows_of(0.05, 0.15, fine, ones, 2, SB_HISTO_TRIMMED);
    assert_true(rows.rows[0] == (double)0.05f && rows.rows[1] == (double)0.1f);
}

static void no_bucket_has_a_negative_width(void **state) {
    (void)state;
    double limits[] = {1, 2, 3}, counts[] = {1, 1, 1};
    sb_histo_rows rows = rows_of(1.5, 1.5, limits, counts, 3, SB_HISTO_TRIMMED);
    double want[] = {1, 1, 1, 1, 2, 1, 2, 2, 1};
    expect_rows(&rows, want, 3);
}

static void old_histograms_stay_whole_as_by_the_data_server(void **state) {
    (void)state;
    double limits[] = {-2, 0, 2, 4, DBL_MAX}, counts[] = {0, 1, 2, 0, 0};
    sb_histo_rows rows = rows_of(-1, 3, limits, counts, 5, SB_HISTO_WHOLE);
    double want[] = {-1, -2, 0, -2, 0, 1, 0, 2, 2, 2, 4, 0, 4, 3, 0};
    expect_rows(&rows, want, 5);
}

static void empty_histograms_have_no_rows(void **state) {
    (void)state;
    double limits[] = {1, 2}, counts[] = {0, 0};
    sb_histo_rows rows = rows_of(0, 0, limits, counts, 2, SB_HISTO_TRIMMED);
    assert_int_equal(rows.n, 0);
    rows = rows_of(0, 0, limits, counts, 0, SB_HISTO_WHOLE);
    assert_int_equal(rows.n, 0);
    double values[SB_DISTRIBUTION_POINTS];
    sb_distribution_of(&rows, values);
    for (size_t i = 0; i < SB_DISTRIBUTION_POINTS; i++) assert_true(values[i] == 0);
}

static void odd_numbers_do_no_harm(void **state) {
    (void)state;
    double limits[] = {NAN, INFINITY, 1e300}, counts[] = {NAN, -1, 5};
    sb_histo_rows rows = rows_of(NAN, -INFINITY, limits, counts, 3, SB_HISTO_TRIMMED);
    assert_int_equal(rows.n, 1);
    double values[SB_DISTRIBUTION_POINTS];
    sb_distribution_of(&rows, values);
    rows = rows_of(NAN, -INFINITY, limits, counts, 3, SB_HISTO_WHOLE);
    assert_int_equal(rows.n, 3);
    sb_distribution_of(&rows, values);
}

/* ---- distributions --------------------------------------------------------------------------- */

static void expect_distribution(const double *rows, size_t n, const double *want) {
    double got[SB_DISTRIBUTION_POINTS];
    sb_distribution_of(&(sb_histo_rows){.n = n, .rows = rows}, got);
    for (size_t i = 0; i < SB_DISTRIBUTION_POINTS; i++)
        if (got[i] != want[i]) fail_msg("%zu: %.17g, wanted %.17g", i, got[i], want[i]);
}

static void distributions_of_the_spec(void **state) {
    (void)state;
    double two[] = {0, 1, 2, 1, 2, 3};
    expect_distribution(two, 2,
                        (double[]){0, .167, .39675, .77125, 1.1666666666666667, 1.4858333333333333,
                                   1.7355, 1.8886666666666667, 2});
    double hollow[] = {0, 1, 0, 1, 2, 3, 2, 3, 0};
    expect_distribution(hollow, 3, (double[]){0, .1336, .3174, .617, 1, 1.383, 1.6826, 1.8664, 3});
    double none[] = {0, 1, 0, 1, 2, 0};
    expect_distribution(none, 2, (double[]){2, 2, 2, 2, 2, 2, 2, 2, 2});
}

static void distributions_are_tensorboards_to_the_last_bit(void **state) {
    (void)state;
    static const struct {
        size_t n;
        double want[SB_DISTRIBUTION_POINTS];
    } cases[] = {
        {5,
         {-3.0, -2.8576767997387513, -2.661875870038021, -2.34271396286534, -1.9347065848708918,
          -1.5266992068764431, -1.2075372997037623, -0.6674825200100301, -0.2698244734202606}},
        {30,
         {-3.0, -1.0454374204613852, 1.9944078929232139, 3.6793205001319755, 6.7516526676804585,
          8.601361798486368, 11.10860320800541, 12.283578198274823, 12.615757271815445}},
        {200,
         {-3.0, 5.962070048859077, 12.68547650158025, 34.33145523474371, 54.05984035059725,
          73.65145961872656, 85.85735916550489, 92.31168796894436, 97.23510531594783}},
        {1000,
         {-3.0, 34.5146174002006, 75.71533448157808, 149.23675124885764, 253.68335863841546,
          357.0702298430589, 427.17654858725035, 475.5996755658984, 509.5346038114345}},
    };
    for (size_t c = 0; c < SB_COUNT(cases); c++) {
        double *rows = malloc(cases[c].n * 3 * sizeof *rows), left = -3;
        uint64_t s = 1;
        for (size_t i = 0; i < cases[c].n; i++) {
            s = s * 16807 % 2147483647;
            double width = (double)(s % 1000) / 997.0 + 1e-3;
            rows[i * 3] = left;
            rows[i * 3 + 1] = left + width;
            rows[i * 3 + 2] = s % 7 ? (double)(s / 1000 % 50) / 3 : 0;
            left += width;
        }
        expect_distribution(rows, cases[c].n, cases[c].want);
        free(rows);
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

static void add_new(sb_buf *file, int64_t step, size_t n) {
    double rows[30];
    for (size_t i = 0; i < n * 3; i++) rows[i] = (double)step * 100 + (double)i;
    int64_t dims[] = {(int64_t)n, 3};
    sb_array array = {rows, SB_DOUBLE, 2, dims, NULL};
    log_tensor(file, "w", "histograms", SB_LIT(""), step, 100 + (double)step, &array);
}

static void histograms_of_a_log(void **state) {
    logs l = logs_new(*state);
    sb_buf file = log_begin();
    for (int i = 0; i < 6; i++) add_new(&file, i, (size_t)i);
    /* a value of the wrong shape, and one that claims very much */
    int64_t bad[] = {2, 2}, huge[] = {1000000000000, 3};
    double numbers[] = {1, 2, 3, 4};
    sb_array array = {numbers, SB_DOUBLE, 2, bad, NULL};
    log_tensor(&file, "w", "histograms", SB_LIT(""), 6, 106, &array);
    sb_buf tensor = log_begin();
    sb_pb_add_uint(&tensor, 1, SB_FLOAT);
    size_t shape = sb_pb_begin(&tensor, 2, 20);
    for (int i = 0; i < 2; i++) {
        size_t dim = sb_pb_begin(&tensor, 2, 10);
        sb_pb_add_int(&tensor, 1, huge[i]);
        sb_pb_end(&tensor, dim);
    }
    sb_pb_end(&tensor, shape);
    sb_pb_add_float(&tensor, 5, 1);
    log_value(&file, "w", NULL, 7, 107, SB_VALUE_TENSOR, sb_buf_slice(&tensor));
    sb_buf_fini(&tensor);
    const char *path = log_put(&l, FILE_1, &file);
    logs_load(&l);
    sb_series s = logs_take(&l, "run", "w");
    sb_ref_item *items;
    size_t n;
    sb_histo_point points[8];
    sb_err err;
    assert_ok(sb_refs_list(&s, &(sb_ref_ask){0}, &l.arena, &items, &n, NULL, &err), &err);
    assert_int_equal(n, 8);
    assert_ok(sb_histos_read(l.blobs, s.run, items, n, SB_HISTO_TRIMMED, 1 << 20, NULL, &l.arena,
                             points, &err),
              &err);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(points[i].status, SB_OK);
        assert_int_equal(points[i].step, i);
        assert_int_equal(points[i].histo.n, i);
        if (i) assert_true(points[i].histo.rows[3 * i - 1] == (double)(100 * i + 3 * i - 1));
    }
    assert_int_equal(points[6].status, SB_CORRUPT);
    assert_int_equal(points[7].status, SB_LIMIT);
    unlink(path);
    sb_blob_cache_drop(l.blobs);
    assert_ok(sb_histos_read(l.blobs, s.run, items, n, SB_HISTO_TRIMMED, 1 << 20, NULL, &l.arena,
                             points, &err),
              &err);
    assert_int_equal(points[3].status, SB_REPLACED);
    assert_int_equal(points[3].histo.n, 0);
    sb_series_release(&s);
    logs_free(&l);
}

/* ---- lists of points ------------------------------------------------------------------------- */

static const char *steps_listed(logs *l, const sb_series *s, const sb_ref_ask *ask, size_t *total) {
    static char text[512];
    sb_ref_item *items;
    size_t n, used = 0;
    assert_int_equal(sb_refs_list(s, ask, &l->arena, &items, &n, total, NULL), SB_OK);
    text[0] = 0;
    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%ld%s", i ? " " : "",
                                 (long)items[i].step, items[i].superseded ? "'" : "");
    return text;
}

static void points_are_listed_as_asked(void **state) {
    logs l = logs_new(*state);
    sb_buf file = log_begin();
    int64_t steps[] = {0, 2, 1, 2, 3, 9, 5};
    for (size_t i = 0; i < SB_COUNT(steps); i++) add_new(&file, steps[i], 1);
    log_start(&file, 4, 300);
    add_new(&file, 4, 1);
    log_put(&l, FILE_1, &file);
    logs_load(&l);
    sb_series s = logs_take(&l, "run", "w");
    size_t total;
    assert_string_equal(steps_listed(&l, &s, &(sb_ref_ask){0}, &total), "0 2 1 2 3 4");
    assert_int_equal(total, 6);
    sb_ref_ask ask = {.show_superseded = true};
    assert_string_equal(steps_listed(&l, &s, &ask, &total), "0 2 1 2 3 9' 5' 4");
    ask = (sb_ref_ask){.by_step = true};
    assert_string_equal(steps_listed(&l, &s, &ask, &total), "0 1 2 3 4");
    assert_int_equal(total, 5);
    ask = (sb_ref_ask){.is_bounded = true, .from = 1, .to = 2};
    assert_string_equal(steps_listed(&l, &s, &ask, &total), "2 1 2");
    ask = (sb_ref_ask){.by_step = true, .spread = 3};
    assert_string_equal(steps_listed(&l, &s, &ask, &total), "0 2 4");
    ask = (sb_ref_ask){.by_step = true, .spread = 1};
    assert_string_equal(steps_listed(&l, &s, &ask, &total), "4");
    sb_sampling sampling = {.reservoir = 0, .limit = 1};
    ask = (sb_ref_ask){.sampling = &sampling};
    assert_string_equal(steps_listed(&l, &s, &ask, &total), "4");
    sampling = (sb_sampling){.reservoir = 3, .limit = SB_NO_LIMIT};
    assert_string_equal(steps_listed(&l, &s, &ask, &total), "2 3 4"); /* 1, 4, 5 of six */
    sb_ref_item item;
    assert_int_equal(sb_refs_find(&s, 2, &item, NULL), SB_OK);
    assert_true(item.wall == 102);
    assert_int_equal(sb_refs_find(&s, 9, &item, NULL), SB_NOT_FOUND);
    sb_series_release(&s);
    logs_free(&l);
}

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct shortage {
    logs *l;
    sb_series *series;
} shortage;

static sb_status read_with(const sb_alloc *alloc, void *ud) {
    shortage *x = ud;
    sb_env env = logs_env;
    env.alloc = alloc;
    sb_blob_cache *cache;
    sb_status status = sb_blob_cache_new(&cache, &env, 2, NULL);
    if (status != SB_OK) return status;
    sb_arena a;
    sb_arena_init(&a, alloc, 64, SIZE_MAX / 2);
    sb_ref_item *items;
    size_t n;
    sb_histo_point points[8];
    status = sb_refs_list(x->series, &(sb_ref_ask){.by_step = true}, &a, &items, &n, NULL, NULL);
    if (status == SB_OK)
        status = sb_histos_read(cache, x->series->run, items, n, SB_HISTO_TRIMMED, 1 << 20, NULL,
                                &a, points, NULL);
    sb_arena_fini(&a);
    sb_blob_cache_free(cache);
    return status;
}

static void memory_may_run_out(void **state) {
    logs l = logs_new(*state);
    sb_buf file = log_begin();
    for (int i = 4; i > 0; i--) add_new(&file, i, 2);
    double limits[] = {1, 2}, counts[] = {1, 1};
    sb_buf b = log_begin();
    add_histo(&b, 0, 2, limits, 2, counts, 2);
    log_value(&file, "w", NULL, 9, 110, SB_VALUE_HISTO, sb_buf_slice(&b));
    sb_buf_fini(&b);
    log_put(&l, FILE_1, &file);
    logs_load(&l);
    sb_series s = logs_take(&l, "run", "w");
    shortage x = {&l, &s};
    sb_fault_alloc_sweep(read_with, &x);
    sb_series_release(&s);
    logs_free(&l);
}

int main(void) {
#define T(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        T(old_histograms_are_trimmed_as_by_the_python_loader),
        T(no_bucket_has_a_negative_width),
        T(old_histograms_stay_whole_as_by_the_data_server),
        T(empty_histograms_have_no_rows),
        T(odd_numbers_do_no_harm),
        T(distributions_of_the_spec),
        T(distributions_are_tensorboards_to_the_last_bit),
        T(histograms_of_a_log),
        T(points_are_listed_as_asked),
        T(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
