/* histogram_test.c: counting in three ways, and the events that come of it. */
#include "writer/kinds/histogram_bins.h"

#include <float.h>
#include <math.h>

#include "support/writer_bed.h"

#include "base/banned.h"

static sb_tensor_view view_of(const double *x, size_t n) {
    return (sb_tensor_view){.dtype = SB_DOUBLE,
                            .rank = 1,
                            .shape_given = true,
                            .count = n,
                            .content = sb_slice_of(x, n * sizeof *x)};
}

/* ---- rows of equal width --------------------------------------------------------------------- */

static void rows_go_from_the_smallest_to_the_largest_value(void **state) {
    const double x[] = {1, 2, 3, 1};
    const double expected[] = {
        1, 1.6666666666666665, 2, 1.6666666666666665, 2.333333333333333, 1, 2.333333333333333, 3,
        1};
    double rows[9];
    sb_tensor_view values = view_of(x, 4);
    (void)state;
    sb_bins_rows(&values, 3, rows);
    for (size_t i = 0; i < 9; i++) assert_true(rows[i] == expected[i]);
}

/* Counting widths up from the left would often miss the last edge by a rounding. */
static void the_last_edge_is_the_largest_value_itself(void **state) {
    sb_test_random random = sb_test_random_of(9);
    size_t would_miss = 0;
    (void)state;
    for (int round = 0; round < 1000; round++) {
        double x[2], rows[90];
        for (int i = 0; i < 2; i++) x[i] = (double)(int64_t)sb_test_u64(&random) * 1e-19;
        sb_tensor_view values = view_of(x, 2);
        sb_bins_rows(&values, 30, rows);
        double min = fmin(x[0], x[1]), max = fmax(x[0], x[1]);
        assert_true(rows[0] == min && rows[88] == max);
        assert_true(rows[2] == 1 && rows[89] == 1);
        would_miss += min + (max - min) / 30 * 30 != max;
    }
    assert_true(would_miss > 10);
}

static void equal_values_are_counted_in_the_last_row(void **state) {
    const double x[] = {7.5, 7.5, 7.5};
    double rows[6];
    sb_tensor_view values = view_of(x, 3);
    (void)state;
    sb_bins_rows(&values, 2, rows);
    const double expected[] = {7.5, 7.5, 0, 7.5, 7.5, 3};
    for (size_t i = 0; i < 6; i++) assert_true(rows[i] == expected[i]);
}

static void no_values_give_rows_of_zeros(void **state) {
    double rows[6] = {1, 1, 1, 1, 1, 1};
    sb_tensor_view values = view_of(NULL, 0);
    (void)state;
    sb_bins_rows(&values, 2, rows);
    for (size_t i = 0; i < 6; i++) assert_true(rows[i] == 0);
}

static void a_span_too_small_to_divide_counts_as_one_value(void **state) {
    const double x[] = {0, 5e-324};
    double rows[90];
    sb_tensor_view values = view_of(x, 2);
    (void)state;
    sb_bins_rows(&values, 30, rows);
    assert_true(rows[89] == 2);
}

static void values_without_a_place_are_left_out_of_the_rows(void **state) {
    const struct {
        double x[4];
        size_t n;
        double counted;
    } cases[] = {
        {{1, NAN, 2, 3}, 4, 0},
        {{1, INFINITY, 2, 3}, 4, 3},
        {{-INFINITY, 1, 2, 3}, 4, 0},
        {{INFINITY, INFINITY}, 2, 0},
        {{NAN}, 1, 0},
        {{-INFINITY, INFINITY}, 2, 0},
        {{DBL_MAX, -DBL_MAX, 0, 0}, 4, 3},
        {{-DBL_MAX, NAN}, 2, 0},
    };
    double rows[15];
    (void)state;
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        sb_tensor_view values = view_of(cases[i].x, cases[i].n);
        sb_bins_rows(&values, 5, rows);
        double sum = 0;
        for (size_t k = 0; k < 5; k++) sum += rows[3 * k + 2];
        assert_true(sum == cases[i].counted);
    }
}

/* ---- growing widths -------------------------------------------------------------------------- */

static void with_arena(void (*test)(sb_arena *arena)) {
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, (size_t)1 << 24);
    test(&arena);
    sb_arena_fini(&arena);
}

static void check_tf1_example(sb_arena *arena) {
    const double x[] = {1.0, 1.05, 1.2};
    const double limits[] = {0.917246389039776, 1.0089710279437536, 1.1098681307381291,
                             1.220854943811942, DBL_MAX};
    const double counts[] = {0, 1, 1, 1, 0};
    sb_tensor_view values = view_of(x, 3);
    sb_buckets h;
    size_t bad;
    assert_int_equal(sb_bins_tf1(&values, arena, &h, &bad), SB_OK);
    assert_int_equal(bad, 3);
    assert_int_equal(h.n, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_true(h.limits[i] == limits[i]);
        assert_true(h.counts[i] == counts[i]);
    }
    assert_true(h.min == 1 && h.max == 1.2 && h.num == 3);
}

static void tf1_joins_empty_buckets(void **state) {
    (void)state;
    with_arena(check_tf1_example);
}

static void check_tf1_ends(sb_arena *arena) {
    const double x[] = {DBL_MAX, -DBL_MAX, 0, -0.0, 1e-12, -1e-12, 1e300, -1e300};
    sb_tensor_view values = view_of(x, 8);
    sb_buckets h;
    size_t bad;
    assert_int_equal(sb_bins_tf1(&values, arena, &h, &bad), SB_OK);
    double sum = 0;
    for (size_t i = 0; i < h.n; i++) sum += h.counts[i];
    assert_true(sum == 8);
    assert_true(h.limits[0] == -DBL_MAX && h.counts[0] == 0);
    assert_true(h.limits[h.n - 1] == DBL_MAX && h.counts[h.n - 1] == 2);
    const double odd[] = {1, 2, INFINITY};
    values = view_of(odd, 3);
    assert_int_equal(sb_bins_tf1(&values, arena, &h, &bad), SB_OK);
    assert_int_equal(bad, 2);
    values = view_of(NULL, 0);
    assert_int_equal(sb_bins_tf1(&values, arena, &h, &bad), SB_OK);
    assert_true(h.n == 1 && h.limits[0] == DBL_MAX && h.min == DBL_MAX && h.max == -DBL_MAX);
}

static void tf1_has_a_bucket_for_every_finite_number(void **state) {
    (void)state;
    with_arena(check_tf1_ends);
}

/* Every bucket by the book: the first limit greater than x, found by looking at all of them. */
static void check_against_plain_search(sb_arena *arena) {
    sb_test_random random = sb_test_random_of(5);
    for (int round = 0; round < 20000; round++) {
        double x;
        uint64_t bits = sb_test_u64(&random);
        memcpy(&x, &bits, sizeof x);
        if (round % 4 == 0) x = ldexp((double)(int64_t)bits, -(int)(bits % 200));
        if (!isfinite(x)) continue;
        sb_arena_mark mark = sb_arena_here(arena);
        sb_tensor_view values = view_of(&x, 1);
        sb_buckets h;
        size_t bad, at = 0;
        assert_int_equal(sb_bins_tf1(&values, arena, &h, &bad), SB_OK);
        while (h.counts[at] == 0) at++;
        assert_true(x < h.limits[at] || (x == DBL_MAX && at == h.n - 1));
        if (at) assert_true(x >= h.limits[at - 1]);
        /* The bucket before it, if any, ends less than a tenth below. */
        double edge = 1e-12, below = 0;
        while (edge <= fabs(x) && edge < 1e20) below = edge, edge *= 1.1;
        if (x > 0 && at) assert_true(h.limits[at - 1] == below);
        sb_arena_reset(arena, mark);
    }
}

static void random_numbers_fall_between_their_limits(void **state) {
    (void)state;
    with_arena(check_against_plain_search);
}

/* An edge belongs to the bucket that it begins, on both sides of zero. */
static void check_edges(sb_arena *arena) {
    size_t edges = 0;
    for (double edge = 1e-12; edge < 1e20; edge *= 1.1, edges++) {
        const double both[] = {edge, -edge};
        for (size_t i = 0; i < 2; i++) {
            sb_arena_mark mark = sb_arena_here(arena);
            sb_tensor_view values = view_of(&both[i], 1);
            sb_buckets h;
            size_t bad, at = 0;
            assert_int_equal(sb_bins_tf1(&values, arena, &h, &bad), SB_OK);
            while (h.counts[at] == 0) at++;
            assert_true(h.limits[at - 1] == both[i] && h.limits[at] > both[i]);
            sb_arena_reset(arena, mark);
        }
    }
    assert_int_equal(edges, 774);
}

static void edges_belong_to_the_bucket_they_begin(void **state) {
    (void)state;
    with_arena(check_edges);
}

static void check_torch_examples(sb_arena *arena) {
    const double x[] = {1.0, 1.05, 1.2}, zeros[] = {0, 0};
    const double limits[] = {0.917246389039776, 1.0089710279437536, 1.1098681307381291,
                             1.220854943811942};
    sb_tensor_view values = view_of(x, 3);
    sb_buckets h;
    assert_int_equal(sb_bins_torch(&values, 0, arena, &h), SB_OK);
    assert_int_equal(h.n, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_true(h.limits[i] == limits[i]);
        assert_true(h.counts[i] == (i ? 1 : 0));
    }
    values = view_of(zeros, 2);
    assert_int_equal(sb_bins_torch(&values, 0, arena, &h), SB_OK);
    assert_true(h.n == 2 && h.limits[0] == 0 && h.limits[1] == 1e-12 && h.counts[1] == 2);
}

static void torch_keeps_the_range_with_values_behind_an_empty_bucket(void **state) {
    (void)state;
    with_arena(check_torch_examples);
}

static void check_torch_odd(sb_arena *arena) {
    const double x[] = {NAN, 2, INFINITY, -1e30}, none[] = {NAN, INFINITY, -INFINITY, 1e21};
    sb_tensor_view values = view_of(x, 4);
    sb_buckets h;
    assert_int_equal(sb_bins_torch(&values, 0, arena, &h), SB_OK);
    assert_true(h.n == 2 && h.counts[1] == 1 && h.num == 4);
    assert_true(isnan(h.min) && isnan(h.max) && isnan(h.sum));
    values = view_of(none, 4);
    assert_int_equal(sb_bins_torch(&values, 0, arena, &h), SB_OK);
    assert_int_equal(h.n, 0);
    for (uint32_t most = 1; most < 1600; most++) {
        sb_arena_mark mark = sb_arena_here(arena);
        const double wide[] = {-1e19, -1, 0, 1, 1e19};
        values = view_of(wide, 5);
        assert_int_equal(sb_bins_torch(&values, most, arena, &h), SB_OK);
        double sum = 0;
        for (size_t i = 0; i < h.n; i++) {
            sum += h.counts[i];
            if (i) assert_true(h.limits[i] > h.limits[i - 1]);
        }
        assert_true(sum == 5);
        sb_arena_reset(arena, mark);
    }
}

static void torch_sums_what_it_can_not_count(void **state) {
    (void)state;
    with_arena(check_torch_odd);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Captured from tf.summary.histogram("h", [1., 2, 3], 1, buckets=3). */
#define TF2_EVENT                                                                                  \
    "10012a6d0a6b0a016842560802120812020803120208032248000000000000f03faaaaaaaaaaaafa3f"           \
    "000000000000f03faaaaaaaaaaaafa3faaaaaaaaaaaa0240000000000000f03faaaaaaaaaaaa0240"             \
    "0000000000000840000000000000f03f4a0e0a0c0a0a686973746f6772616d73"
/* Captured from tf.compat.v1.summary.histogram of [1.0, 1.05, 1.2] as float32. */
#define TF1_EVENT                                                                                  \
    "10042a8a010a87010a01682a810109000000000000f03f11000000403333f33f1900000000000008402100000000" \
    "00"                                                                                           \
    "000a402900295c3f0a570c40322808996919155aed3f2b14facdbe24f03f6349c61505c2f13fba508d319f88f33f" \
    "ff"                                                                                           \
    "ffffffffffef7f3a280000000000000000000000000000f03f000000000000f03f000000000000f03f0000000000" \
    "00"                                                                                           \
    "0000"

static void events_have_the_bytes_of_tensorflow(void **state) {
    const float x[] = {1, 2, 3}, y[] = {1.0f, 1.05f, 1.2f};
    bed b = bed_open(*state, "tf2", SB_STYLE_TF2);
    const sb_histogram_opts three = SB_INIT(sb_histogram_opts, .buckets = 3);
    assert_int_equal(sb_histogram(b.w, "h", &ARRAY_OF(SB_FLOAT, x, 3), 1, &three, NULL), SB_OK);
    bed_close(&b);
    assert_event_bytes(&b, 0, TF2_EVENT);
    bed_free(&b);
    b = bed_open(*state, "tf1", SB_STYLE_TF1);
    assert_int_equal(sb_histogram(b.w, "h", &ARRAY_OF(SB_FLOAT, y, 3), 4, NULL, NULL), SB_OK);
    bed_close(&b);
    assert_event_bytes(&b, 0, TF1_EVENT);
    bed_free(&b);
}

static void uncountable_values_drop_the_event_and_say_so(void **state) {
    const double x[] = {1, NAN}, all_nan[] = {NAN, NAN};
    const struct {
        sb_style style;
        const double *x;
        const char *reason;
    } rows[] = {{SB_STYLE_TF1, x, "value 1 is NaN or infinite"},
                {SB_STYLE_TORCH, all_nan, "all 2 values are NaN"},
                {SB_STYLE_TBX, all_nan, "all 2 values are NaN"}};
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        bed b = bed_open(*state, rows[i].reason + i, rows[i].style);
        assert_int_equal(sb_histogram(b.w, "h", &ARRAY_OF(SB_DOUBLE, rows[i].x, 2), 4, NULL, NULL),
                         SB_OK);
        assert_int_equal(sb_writer_flush(b.w, &b.err), SB_INVALID);
        assert_int_equal(sb_text(b.w, "after", "is written", 5), SB_INVALID); /* told once */
        bed_close(&b);
        assert_int_equal(b.closed, SB_INVALID);
        assert_non_null(strstr(b.err.text, rows[i].reason));
        assert_int_equal(bed_count(&b), 1);
        bed_free(&b);
    }
}

static void given_buckets_and_rows_are_written_as_they_are(void **state) {
    const double limits[] = {1, 2}, counts[] = {3, 4}, rows[] = {0, 1, 3, 1, 2, 4};
    const sb_histogram_data data = SB_INIT(sb_histogram_data, -1, 2, 7, 5, 9, limits, counts, 2);
    for (int style = 0; style < 4; style++) {
        char name[32];
        snprintf(name, sizeof name, "given%d", style);
        bed b = bed_open(*state, name, (sb_style)style);
        assert_int_equal(sb_histogram_raw(b.w, "raw", &data, 1, NULL), SB_OK);
        assert_int_equal(sb_histogram_rows(b.w, "rows", rows, 2, 1, NULL), SB_OK);
        bed_close(&b);
        sb_value raw = bed_value(&b, 0, 0), tensor = bed_value(&b, 1, 0);
        sb_summary_histo histo;
        assert_int_equal(raw.kind, SB_VALUE_KIND_HISTO);
        assert_int_equal(sb_summary_histo_read(&histo, raw.body), SB_OK);
        double read[2];
        sb_doubles_copy(&histo.buckets, 0, 2, read);
        assert_true(histo.min == -1 && histo.sum_squares == 9 && read[0] == 3 && read[1] == 4);
        sb_tensor_view t = bed_tensor(&tensor);
        assert_int_equal(t.dtype, SB_DOUBLE);
        assert_slice_equal(t.content, sb_slice_of(rows, sizeof rows));
        assert_slice_is(bed_metadata(&tensor).plugin_name, "histograms");
        bed_free(&b);
    }
}

static void senseless_calls_are_refused(void **state) {
    const float x[] = {1, 2};
    bed b = bed_open(*state, "refused", SB_STYLE_TORCH);
    const sb_histogram_opts many = SB_INIT(sb_histogram_opts, .buckets = 1000001);
    const double x0[] = {0};
    const sb_histogram_data missing = SB_INIT(sb_histogram_data, .n = 2);
    const sb_histogram_data endless =
        SB_INIT(sb_histogram_data, .limits = x0, .counts = x0, .n = SIZE_MAX);
    assert_refused(b.w, sb_histogram(b.w, "h", NULL, 1, NULL, NULL), SB_INVALID, "missing");
    assert_refused(b.w, sb_histogram(b.w, "h", &ARRAY_OF(SB_FLOAT, x, 0), 1, NULL, NULL),
                   SB_INVALID, "no values");
    assert_refused(b.w, sb_histogram(b.w, "h", &ARRAY_OF(SB_STRING, x, 1), 1, NULL, NULL),
                   SB_INVALID, "string");
    assert_refused(b.w, sb_histogram(b.w, "h", &ARRAY_OF(SB_COMPLEX64, x, 1), 1, NULL, NULL),
                   SB_INVALID, "complex64");
    assert_refused(b.w, sb_histogram(b.w, "h", &ARRAY_OF(SB_FLOAT, NULL, 2), 1, NULL, NULL),
                   SB_INVALID, "NULL");
    assert_refused(b.w, sb_histogram(b.w, "h", &ARRAY_OF(SB_FLOAT, x, -2), 1, NULL, NULL),
                   SB_INVALID, "negative");
    assert_refused(b.w, sb_histogram(b.w, "h", &ARRAY_OF(SB_FLOAT, x, INT64_MAX, 5), 1, NULL, NULL),
                   SB_LIMIT, "overflows");
    assert_refused(b.w, sb_histogram(b.w, "h", &ARRAY_OF(SB_FLOAT, x, 2), 1, &many, NULL), SB_LIMIT,
                   "1000001");
    assert_refused(b.w, sb_histogram_raw(b.w, "h", NULL, 1, NULL), SB_INVALID, "missing");
    assert_refused(b.w, sb_histogram_raw(b.w, "h", &missing, 1, NULL), SB_INVALID, "missing");
    assert_refused(b.w, sb_histogram_raw(b.w, "h", &endless, 1, NULL), SB_LIMIT, "too many");
    assert_refused(b.w, sb_histogram_rows(b.w, "h", NULL, 1, 1, NULL), SB_INVALID, "missing");
    assert_int_equal(sb_histogram(NULL, "h", &ARRAY_OF(SB_FLOAT, x, 2), 1, NULL, NULL), SB_INVALID);
    bed_close(&b);
    assert_int_equal(bed_count(&b), 0);
    bed_free(&b);
}

static sb_status make_histograms(sb_writer *w) {
    const float x[] = {1, 2, 3, 4};
    return sb_histogram(w, "h", &ARRAY_OF(SB_FLOAT, x, 4), 1, NULL, NULL);
}

static void running_out_of_memory_is_told(void **state) {
    for (int style = 0; style < 4; style++) bed_sweep(*state, (sb_style)style, make_histograms);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_go_from_the_smallest_to_the_largest_value),
        cmocka_unit_test(the_last_edge_is_the_largest_value_itself),
        cmocka_unit_test(equal_values_are_counted_in_the_last_row),
        cmocka_unit_test(no_values_give_rows_of_zeros),
        cmocka_unit_test(a_span_too_small_to_divide_counts_as_one_value),
        cmocka_unit_test(values_without_a_place_are_left_out_of_the_rows),
        cmocka_unit_test(tf1_joins_empty_buckets),
        cmocka_unit_test(tf1_has_a_bucket_for_every_finite_number),
        cmocka_unit_test(random_numbers_fall_between_their_limits),
        cmocka_unit_test(edges_belong_to_the_bucket_they_begin),
        cmocka_unit_test(torch_keeps_the_range_with_values_behind_an_empty_bucket),
        cmocka_unit_test(torch_sums_what_it_can_not_count),
        DIR_TEST(events_have_the_bytes_of_tensorflow),
        DIR_TEST(uncountable_values_drop_the_event_and_say_so),
        DIR_TEST(given_buckets_and_rows_are_written_as_they_are),
        DIR_TEST(senseless_calls_are_refused),
        DIR_TEST(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
