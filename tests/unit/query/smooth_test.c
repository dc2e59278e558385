/* Filters against plain twins and against numbers that TensorBoard's formula gave in a browser's
 * engine; the cache. */
#include "query/lines/smooth.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "query/lines/decimate.h"
#include "support/fault_alloc.h"
#include "support/line_reference.h"
#include "unit/query/made.h"

static void expect_near(double got, double want, double relative) {
    if (isnan(want) || isinf(want)) {
        assert_true(isnan(want) ? isnan(got) : got == want);
        return;
    }
    if (!(fabs(got - want) <= relative * fabs(want))) fail_msg("%.17g, wanted %.17g", got, want);
}

static void smooth(const sb_smoothing *how, double *values, const double *xs, size_t n,
                   double unit) {
    sb_err err;
    assert_ok(sb_smooth_values(how, values, xs, n, unit, &sb_alloc_libc, NULL, &err), &err);
}

/* ---- EMA ------------------------------------------------------------------------------------- */

#define WILD                                                                                       \
    { 0.5, 1.25, -3, NAN, 2, 2, INFINITY, 0.1, 7.75, -0.3, 1e10, -INFINITY, 4, 4.5, 3.25, 1 }

static void ema_is_tensorboards(void **state) {
    (void)state;
    static const struct {
        double weight;
        double want[16];
    } cases[] = {
        {0, WILD},
        {0.3,
         {0.5, 1.0769230769230769, -1.8561151079136686, NAN, 0.8652081863091038, 1.6614974387762262,
          INFINITY, 0.5676518181754499, 5.596395331659034, 1.4686477779807134, 7000137784.152571,
          -INFINITY, 2100012403.2954097, 630001120.057735, 189000103.92629948, 56700010.784981705}},
        {0.6,
         {0.5, 0.96875, -1.056122448979592, NAN, 0.34834558823529405, 1.0647120055517, INFINITY,
          0.6599422663802363, 3.5776422871289735, 2.0000885269121813, 4040721160.657773, -INFINITY,
          2414600166.1696625, 1445243303.3413222, 865884846.0487466, 519077954.15948737}},
        {0.9,
         {0.5, 0.8947368421052632, -0.5424354243542436, NAN, 0.19685955219540566,
          0.6371761373348636, INFINITY, 0.5225318476435198, 1.9078922475254605, 1.520224972472612,
          1632441148.9812891, -INFINITY, 1381805941.1997554, 1180432103.4771037, 1015928105.5786664,
          879710644.0535613}},
        {0.999,
         {0.5, 0.875187593796911, -0.4178341949168524, NAN, 0.187531797586467, 0.5507511506998412,
          INFINITY, 0.4754379267124367, 1.5177829084681997, 1.2897635713716078, 1115562967.8048782,
          -INFINITY, 1003503747.2923142, 911819083.5155686, 835415337.143794, 770766142.5442603}},
        {1, {0, 0, 0, NAN, 0, 0, INFINITY, 0, 0, 0, 0, -INFINITY, 0, 0, 0, 0}},
    };
    for (size_t c = 0; c < SB_COUNT(cases); c++) {
        double values[] = WILD;
        smooth(&(sb_smoothing){.kind = SB_SMOOTH_EMA, .weight = cases[c].weight}, values, NULL, 16,
               0);
        for (size_t i = 0; i < 16; i++) expect_near(values[i], cases[c].want[i], 3e-16);
    }
}

static void long_emas_are_tensorboards_too(void **state) {
    (void)state;
    enum { N = 50000 };
    static double values[N];
    static const size_t at[] = {0, 1, 2, 10, 99, 356, 1000, 5000, 20000, 37411, 49999};
    static const struct {
        double weight;
        double want[11];
    } cases[] = {
        {0.6,
         {-0.49999217363074056, -0.4177859475220488, -0.07421897317659878, 0.06618832184466751,
          -0.02857147828711466, 0.06458142077461244, 0.22091331447829954, 0.1257009252939595,
          1.185800826833831, 2.314562052985056, 2.9622996013916163}},
        {0.99,
         {-0.49999217363074056, -0.4338967154528977, -0.20174896364389147, -0.057314026775317495,
          0.02801161772160063, 0.005045081442652402, 0.029492875348422307, 0.26163575334138195,
          1.193299595743724, 2.2779918361803104, 3.061750218966807}},
        {0.999,
         {-0.4999921736307405, -0.43419429380387997, -0.2040310019000985, -0.06129229661736428,
          0.019463630013152832, 0.0069830106706989204, 0.000055210849974886896, 0.22051277814985612,
          1.1548154677732796, 2.2388369837515216, 3.027036771824661}},
    };
    for (size_t c = 0; c < SB_COUNT(cases); c++) {
        uint64_t s = 1;
        for (int i = 0; i < N; i++) {
            s = s * 16807 % 2147483647;
            values[i] = (double)s / 2147483647 - 0.5 + (double)(i / 1000) / 16;
        }
        smooth(&(sb_smoothing){.kind = SB_SMOOTH_EMA, .weight = cases[c].weight}, values, NULL, N,
               0);
        for (size_t i = 0; i < SB_COUNT(at); i++)
            expect_near(values[at[i]], cases[c].want[i], 3e-16);
    }
}

static void weights_are_forced_into_range(void **state) {
    (void)state;
    double weights[] = {NAN, INFINITY, -1, 0};
    for (size_t i = 0; i < SB_COUNT(weights); i++) {
        double values[] = {1, 2, 3};
        smooth(&(sb_smoothing){.kind = SB_SMOOTH_EMA, .weight = weights[i]}, values, NULL, 3, 0);
        assert_true(values[0] == 1 && values[1] == 2 && values[2] == 3);
    }
    double values[] = {1, 2, 3};
    smooth(&(sb_smoothing){.kind = SB_SMOOTH_EMA, .weight = 7}, values, NULL, 3, 0);
    assert_true(values[2] == 0); /* as with 1 */
}

static void constant_lines_pass_through(void **state) {
    (void)state;
    for (int kind = SB_SMOOTH_EMA; kind <= SB_SMOOTH_MEDIAN; kind++) {
        double values[] = {0.1, 0.1, 0.1, 0.1}, xs[] = {0, 1, 2, 3};
        smooth(&(sb_smoothing){(sb_smooth_kind)kind, 0.7, 3, SB_AXIS_STEP}, values, xs, 4, 1);
        for (size_t i = 0; i < 4; i++) assert_true(values[i] == 0.1);
    }
}

/* ---- the others, against plain twins --------------------------------------------------------- */

static double plain_window(const double *in, long n, long at, long left, long right, int kind,
                           double deviation) {
    double sum = 0, weights = 0, seen[512];
    long count = 0;
    for (long i = at - left; i <= at + right; i++) {
        if (i < 0 || i >= n) continue;
        double d = (double)(i - at) / deviation;
        double w = kind == SB_SMOOTH_GAUSSIAN ? exp(-0.5 * d * d) : 1;
        sum += w * in[i];
        weights += w;
        if (kind != SB_SMOOTH_MEDIAN) continue;
        long place = count++;
        for (; place > 0 && seen[place - 1] > in[i]; place--) seen[place] = seen[place - 1];
        seen[place] = in[i];
    }
    if (kind != SB_SMOOTH_MEDIAN) return sum / weights;
    return count % 2 ? seen[count / 2] : (seen[count / 2 - 1] + seen[count / 2]) / 2;
}

static void windows_equal_their_twins(void **state) {
    (void)state;
    sb_test_random r = sb_test_random_of(4);
    for (int round = 0; round < 60; round++) {
        long n = 1 + (long)sb_test_below(&r, round < 50 ? 300 : 3000), finite = 0;
        double *values = malloc((size_t)n * sizeof *values), *in = malloc((size_t)n * sizeof *in);
        for (long i = 0; i < n; i++) {
            values[i] = sb_test_below(&r, 20) ? made_number(&r) * 100 : NAN;
            if (isfinite(values[i])) in[finite++] = values[i];
        }
        for (int kind = SB_SMOOTH_WINDOW; kind <= SB_SMOOTH_MEDIAN; kind++) {
            double points = 1 + (double)sb_test_below(&r, kind == SB_SMOOTH_GAUSSIAN ? 40 : 300);
            long left = ((long)points - 1) / 2, right = (long)points - 1 - left;
            if (kind == SB_SMOOTH_GAUSSIAN) left = right = (long)ceil(4 * points);
            double *got = malloc((size_t)n * sizeof *got);
            memcpy(got, values, (size_t)n * sizeof *got);
            smooth(&(sb_smoothing){.kind = (sb_smooth_kind)kind, .points = points}, got, NULL,
                   (size_t)n, 0);
            for (long i = 0, k = 0; i < n; i++) {
                if (isnan(values[i])) {
                    assert_true(isnan(got[i]));
                    continue;
                }
                double want = plain_window(in, finite, k++, left, right, kind, points);
                assert_true(fabs(got[i] - want) < 1e-9);
            }
            free(got);
        }
        free(values);
        free(in);
    }
}

static void time_ema_equals_its_twin(void **state) {
    (void)state;
    sb_test_random r = sb_test_random_of(5);
    enum { N = 400 };
    double values[N], xs[N], got[N], x = 0;
    for (int i = 0; i < N; i++) {
        x += sb_test_below(&r, 10) ? 2 : made_number(&r) * 8; /* falls now and then */
        xs[i] = sb_test_below(&r, 50) ? x : NAN;
        values[i] = sb_test_below(&r, 30) ? made_number(&r) : INFINITY;
    }
    memcpy(got, values, sizeof got);
    smooth(&(sb_smoothing){.kind = SB_SMOOTH_TIME_EMA, .weight = 0.8}, got, xs, N, 1.5);
    for (int i = 0; i < N; i++) {
        if (isinf(values[i])) {
            assert_true(isinf(got[i]));
            continue;
        }
        /* every earlier finite point counts by its distance; x taken as never falling, and as that
         * of the point before where it is not known */
        double sum = 0, weights = 0, way = 0;
        for (int k = i; k >= 0; k--) {
            if (isinf(values[k])) continue;
            sum += values[k] * pow(0.8, way / 1.5);
            weights += pow(0.8, way / 1.5);
            if (isnan(xs[k])) continue;
            int before = k - 1;
            while (before >= 0 && (isinf(values[before]) || isnan(xs[before]))) before--;
            if (before >= 0 && xs[k] > xs[before]) way += xs[k] - xs[before];
        }
        assert_true(fabs(got[i] - sum / weights) < 1e-9);
    }
}

static void sums_beyond_the_largest_double_do_not_spoil_the_rest(void **state) {
    (void)state;
    double values[] = {1, 2, 1.7e308, 1.7e308, 3, 4, 5, 6, 7};
    smooth(&(sb_smoothing){.kind = SB_SMOOTH_WINDOW, .points = 3}, values, NULL, 9, 0);
    for (size_t i = 0; i < 9; i++) assert_true(isfinite(values[i]));
    expect_near(values[7], 6, 1e-9);
}

static void senseless_parameters_are_refused(void **state) {
    (void)state;
    sb_smoothing bad[] = {{.kind = SB_SMOOTH_WINDOW, .points = 0},
                          {.kind = SB_SMOOTH_WINDOW, .points = NAN},
                          {.kind = SB_SMOOTH_WINDOW, .points = 1e9},
                          {.kind = SB_SMOOTH_GAUSSIAN, .points = -1},
                          {.kind = SB_SMOOTH_GAUSSIAN, .points = 1e9},
                          {.kind = SB_SMOOTH_MEDIAN, .points = INFINITY},
                          {.kind = (sb_smooth_kind)77}};
    sb_err err;
    for (size_t i = 0; i < SB_COUNT(bad); i++) {
        double values[] = {1, 2};
        assert_int_equal(sb_smooth_values(&bad[i], values, NULL, 2, 0, &sb_alloc_libc, NULL, &err),
                         SB_INVALID);
    }
}

static bool over(void *ud) {
    (void)ud;
    return true;
}

static void the_time_limit_ends_every_filter(void **state) {
    (void)state;
    sb_budget budget = {over, NULL};
    for (int kind = SB_SMOOTH_EMA; kind <= SB_SMOOTH_MEDIAN; kind++) {
        double values[] = {1, 2, 3}, xs[] = {0, 1, 2};
        sb_smoothing how = {(sb_smooth_kind)kind, 0.5, 2, SB_AXIS_STEP};
        assert_int_equal(sb_smooth_values(&how, values, xs, 3, 1, &sb_alloc_libc, &budget, NULL),
                         SB_TIMEOUT);
    }
}

/* ---- lines and the cache --------------------------------------------------------------------- */

static const sb_smoothing ema_60 = {.kind = SB_SMOOTH_EMA, .weight = 0.6};

static sb_smooth_cache *new_cache(uint64_t max) {
    sb_smooth_cache *cache;
    sb_smooth_opts opts = {.alloc = &sb_alloc_libc, .line_bytes = max, .keep_bytes = max};
    assert_int_equal(sb_smooth_cache_new(&cache, &opts, NULL), SB_OK);
    return cache;
}

/* Visible points as one line; superseded ones of each part for themselves. */
static void lines_are_smoothed_as_they_are_shown(void **state) {
    (void)state;
    sb_smooth_cache *cache = new_cache(1 << 26);
    for (uint64_t seed = 0; seed < 25; seed++) {
        sb_test_random r = sb_test_random_of(seed);
        made m = made_new();
        made_random(&m, &r, 2500);
        sb_series s = made_take(&m);
        sb_line line = {.series = &s, .show_superseded = seed % 2};
        for (int kind = SB_SMOOTH_EMA; kind <= SB_SMOOTH_WINDOW; kind++) {
            sb_smoothing how = {(sb_smooth_kind)kind, 0.9, 5, (sb_axis)(seed % 4)};
            sb_err err;
            assert_ok(sb_smooth_line(cache, &line, &how, NULL, &err), &err);
            assert_int_equal(line.smoothed->n, s.points);
            sb_reference_line plain = sb_reference_of(&line);
            double *ys = malloc(plain.n * sizeof *ys), *xs = malloc(plain.n * sizeof *xs);
            double base = sb_line_base(&line, how.axis), low = 0, high = 0;
            sb_line_extent(&line, how.axis, base, &low, &high);
            for (size_t part = 0; part <= s.part_n; part++) { /* the last round: what is visible */
                bool visible = part == s.part_n;
                size_t n = 0;
                for (int pass = 0; pass < 2; pass++) {
                    if (pass) smooth(&how, ys, xs, n, (high - low) / 1000);
                    n = 0;
                    for (size_t i = 0; i < plain.n; i++) {
                        const sb_reference_point *p = &plain.points[i];
                        if (visible ? p->superseded : !p->superseded || p->part != part) continue;
                        if (pass && (visible || line.show_superseded))
                            assert_true(sb_reference_same_bits(ys[n], p->smoothed) || isnan(ys[n]));
                        if (!pass) {
                            ys[n] = p->value;
                            xs[n] = sb_reference_x(p, how.axis, base);
                        }
                        n++;
                    }
                }
            }
            free(ys);
            free(xs);
            free(plain.points);
            sb_smooth_release(cache, &line);
        }
        sb_series_release(&s);
        made_free(&m);
    }
    sb_smooth_cache_free(cache);
}

static void statistics_describe_the_smoothed_values(void **state) {
    (void)state;
    sb_smooth_cache *cache = new_cache(1 << 26);
    made m = made_new();
    sb_test_random r = sb_test_random_of(3);
    made_random(&m, &r, 5000);
    sb_series s = made_take(&m);
    sb_line line = {.series = &s};
    assert_int_equal(sb_smooth_line(cache, &line, &ema_60, NULL, NULL), SB_OK);
    sb_spans walk = sb_spans_of(&s);
    sb_span span;
    while (sb_spans_next(&walk, &span)) {
        const sb_span_stats *got = &line.smoothed->stats[span.index];
        const double *values = line.smoothed->values + span.start;
        uint32_t finite = 0, nan = 0;
        double sum = 0;
        for (uint32_t i = 0; i < span.n; i++) {
            nan += isnan(values[i]) != 0;
            if (!isfinite(values[i])) continue;
            finite++;
            sum += values[i];
            assert_true(values[i] > got->min || i >= got->min_at);
            assert_true(values[i] >= got->min && values[i] <= got->max);
        }
        assert_int_equal(got->finite, finite);
        assert_int_equal(got->nan, nan);
        if (finite) assert_true(values[got->min_at] == got->min && values[got->max_at] == got->max);
        assert_true(fabs(got->sum - sum) <= 1e-9 * (1 + fabs(sum)));
    }
    sb_smooth_release(cache, &line);
    sb_series_release(&s);
    made_free(&m);
    sb_smooth_cache_free(cache);
}

static void the_same_question_is_answered_from_the_cache(void **state) {
    (void)state;
    sb_smooth_cache *cache = new_cache(1 << 20);
    made m = made_new();
    uint32_t file = made_file(&m, "/run/a");
    for (int i = 0; i < 3000; i++) made_add(&m, file, i, i, i % 7);
    sb_series s = made_take(&m);
    sb_line line = {.series = &s}, again = {.series = &s};
    assert_int_equal(sb_smooth_line(cache, &line, &ema_60, NULL, NULL), SB_OK);
    assert_int_equal(sb_smooth_line(cache, &again, &ema_60, NULL, NULL), SB_OK);
    assert_ptr_equal(line.smoothed, again.smoothed);
    sb_smooth_release(cache, &again);
    sb_smoothing other = {.kind = SB_SMOOTH_EMA, .weight = 0.7};
    assert_int_equal(sb_smooth_line(cache, &again, &other, NULL, NULL), SB_OK);
    assert_ptr_not_equal(line.smoothed, again.smoothed);
    sb_smooth_release(cache, &again);
    sb_smooth_release(cache, &line);
    /* grown: another answer */
    made_add(&m, file, 3000, 3000, 1);
    sb_series grown = made_take(&m);
    sb_line longer = {.series = &grown};
    assert_int_equal(sb_smooth_line(cache, &longer, &ema_60, NULL, NULL), SB_OK);
    assert_int_equal(longer.smoothed->n, 3001);
    sb_smooth_release(cache, &longer);
    sb_series_release(&grown);
    sb_series_release(&s);
    made_free(&m);
    sb_smooth_cache_free(cache);
}

static void the_cache_keeps_to_its_bytes(void **state) {
    (void)state;
    sb_smooth_cache *cache = new_cache(100 << 10);
    made m = made_new();
    uint32_t file = made_file(&m, "/run/a");
    for (int i = 0; i < 5000; i++) made_add(&m, file, i, i, i % 7);
    sb_series s = made_take(&m);
    sb_line held = {.series = &s};
    assert_int_equal(sb_smooth_line(cache, &held, &ema_60, NULL, NULL), SB_OK);
    double first = held.smoothed->values[4999];
    for (int i = 0; i < 20; i++) {
        sb_line line = {.series = &s};
        sb_smoothing how = {.kind = SB_SMOOTH_EMA, .weight = i / 20.0};
        assert_int_equal(sb_smooth_line(cache, &line, &how, NULL, NULL), SB_OK);
        sb_smooth_release(cache, &line);
        assert_true(sb_smooth_cache_bytes(cache) < 200 << 10); /* one is held beyond its time */
    }
    assert_true(held.smoothed->values[4999] == first);
    sb_smooth_release(cache, &held);
    assert_true(sb_smooth_cache_bytes(cache) <= 100 << 10);
    sb_series_release(&s);
    made_free(&m);
    sb_smooth_cache_free(cache);
}

static void line_that_is_too_long_is_answered_unsmoothed(void **state) {
    (void)state;
    sb_smooth_cache *cache = new_cache(100 << 10);
    made m = made_new();
    uint32_t file = made_file(&m, "/run/a");
    for (int i = 0; i < 15000; i++) made_add(&m, file, i, i, i % 7);
    sb_series s = made_take(&m);
    sb_line line = {.series = &s};
    sb_err err;
    assert_ok(sb_smooth_line(cache, &line, &ema_60, NULL, &err), &err);
    assert_null(line.smoothed);
    sb_smooth_release(cache, &line);
    assert_int_equal(sb_smooth_cache_bytes(cache), 0);
    sb_series_release(&s);
    made_free(&m);
    sb_smooth_cache_free(cache);
}

static void line_that_is_too_large_to_keep_is_smoothed_all_the_same(void **state) {
    (void)state;
    made m = made_new();
    sb_smooth_cache *cache;
    sb_smooth_opts opts = {.alloc = &sb_alloc_libc, .line_bytes = 1 << 20, .store = m.store};
    assert_int_equal(sb_smooth_cache_new(&cache, &opts, NULL), SB_OK);
    uint32_t file = made_file(&m, "/run/a");
    for (int i = 0; i < 15000; i++) made_add(&m, file, i, i, i % 7);
    sb_series s = made_take(&m);
    sb_line line = {.series = &s};
    assert_int_equal(sb_smooth_line(cache, &line, &ema_60, NULL, NULL), SB_OK);
    assert_int_equal(line.smoothed->n, 15000);
    sb_smooth_release(cache, &line);
    assert_int_equal(sb_smooth_cache_bytes(cache), 0);
    sb_series_release(&s);
    made_free(&m);
    sb_smooth_cache_free(cache);
}

/* Ten series that grow to 300 000 points while a page asks for them again and again. */
static void followed_run_leaves_no_old_answers_behind(void **state) {
    (void)state;
    enum { SERIES = 10, ASKS = 300, STEPS = 100 };
    made m = made_new();
    sb_smooth_cache *cache;
    sb_smooth_opts opts = {.alloc = &sb_alloc_libc,
                           .line_bytes = 256 << 20,
                           .keep_bytes = 16 << 20,
                           .keep_per_point = 7,
                           .store = m.store};
    assert_int_equal(sb_smooth_cache_new(&cache, &opts, NULL), SB_OK);
    uint32_t file = made_file(&m, "/run/a"), series[SERIES];
    char tags[SERIES][16];
    for (int i = 0; i < SERIES; i++) {
        bool is_new;
        sb_series_meta meta = {.kind = SB_SERIES_SCALAR, .dtype = SB_FLOAT};
        snprintf(tags[i], sizeof tags[i], "tag %d", i);
        assert_int_equal(sb_run_series(m.run, sb_slice_str(tags[i]), &meta, &series[i], &is_new),
                         SB_OK);
    }
    uint64_t most = 0;
    for (int ask = 0; ask < ASKS; ask++) {
        for (int i = 0; i < SERIES; i++)
            for (int step = ask * STEPS; step < (ask + 1) * STEPS; step++)
                sb_run_add_scalar(m.run, file, series[i], step, step, step % 13, SB_NUMBER_REAL);
        assert_int_equal(sb_run_commit(m.run), SB_OK);
        for (int i = 0; i < SERIES; i++) {
            sb_series s;
            sb_arena_mark mark = sb_arena_here(&m.arena);
            assert_int_equal(sb_series_take(m.run, sb_slice_str(tags[i]), &m.arena, &s), SB_OK);
            sb_line line = {.series = &s};
            assert_int_equal(sb_smooth_line(cache, &line, &ema_60, NULL, NULL), SB_OK);
            assert_int_equal(line.smoothed->n, (ask + 1) * STEPS);
            uint64_t bytes = sb_smooth_cache_bytes(cache);
            most = bytes > most ? bytes : most;
            sb_smooth_release(cache, &line);
            sb_series_release(&s);
            sb_arena_reset(&m.arena, mark);
        }
    }
    /* One answer a series and one in use; before there were 287 MB. */
    uint64_t newest = (uint64_t)SERIES * ASKS * STEPS * sizeof(double);
    if (most > newest * 3 / 2) fail_msg("%llu bytes were held", (unsigned long long)most);
    made_free(&m);
    sb_smooth_cache_free(cache);
}

typedef struct asker {
    sb_smooth_cache *cache;
    sb_series *series;
    uint64_t seed;
    bool failed;
} asker;

static void *ask_much(void *ud) {
    asker *a = ud;
    sb_test_random r = sb_test_random_of(a->seed);
    for (int i = 0; i < 200; i++) {
        sb_line line = {.series = a->series};
        sb_smoothing how = {.kind = SB_SMOOTH_EMA, .weight = (double)sb_test_below(&r, 8) / 10};
        if (sb_smooth_line(a->cache, &line, &how, NULL, NULL) != SB_OK) a->failed = true;
        if (line.smoothed && how.weight == 0 && line.smoothed->values[17] != 17 % 7)
            a->failed = true;
        sb_smooth_release(a->cache, &line);
    }
    return NULL;
}

static void threads_share_the_cache(void **state) {
    (void)state;
    sb_smooth_cache *cache = new_cache(64 << 10);
    made m = made_new();
    uint32_t file = made_file(&m, "/run/a");
    for (int i = 0; i < 2000; i++) made_add(&m, file, i, i, i % 7);
    sb_series s = made_take(&m);
    pthread_t threads[4];
    asker askers[4];
    for (size_t i = 0; i < 4; i++) {
        askers[i] = (asker){cache, &s, i, false};
        assert_int_equal(pthread_create(&threads[i], NULL, ask_much, &askers[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_false(askers[i].failed);
    }
    sb_series_release(&s);
    made_free(&m);
    sb_smooth_cache_free(cache);
}

static sb_status smooth_with(const sb_alloc *alloc, void *ud) {
    sb_line line = {.series = ud, .show_superseded = true};
    sb_smooth_cache *cache;
    sb_smooth_opts opts = {.alloc = alloc, .line_bytes = 1 << 20, .keep_bytes = 1 << 20};
    sb_status status = sb_smooth_cache_new(&cache, &opts, NULL);
    if (status != SB_OK) return status;
    for (int kind = SB_SMOOTH_EMA; kind <= SB_SMOOTH_MEDIAN && status == SB_OK; kind++) {
        sb_smoothing how = {(sb_smooth_kind)kind, 0.5, 3, SB_AXIS_STEP};
        status = sb_smooth_line(cache, &line, &how, NULL, NULL);
        sb_smooth_release(cache, &line);
    }
    sb_smooth_cache_free(cache);
    return status;
}

static void memory_may_run_out(void **state) {
    (void)state;
    made m = made_new();
    uint32_t a = made_file(&m, "/run/a"), b = made_file(&m, "/run/b");
    for (int i = 0; i < 10; i++) made_add(&m, a, i, i, i);
    for (int i = 5; i < 10; i++) made_add(&m, b, i, 100 + i, i);
    sb_series s = made_take(&m);
    sb_fault_alloc_sweep(smooth_with, &s);
    sb_series_release(&s);
    made_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ema_is_tensorboards),
        cmocka_unit_test(long_emas_are_tensorboards_too),
        cmocka_unit_test(weights_are_forced_into_range),
        cmocka_unit_test(constant_lines_pass_through),
        cmocka_unit_test(windows_equal_their_twins),
        cmocka_unit_test(time_ema_equals_its_twin),
        cmocka_unit_test(sums_beyond_the_largest_double_do_not_spoil_the_rest),
        cmocka_unit_test(senseless_parameters_are_refused),
        cmocka_unit_test(the_time_limit_ends_every_filter),
        cmocka_unit_test(lines_are_smoothed_as_they_are_shown),
        cmocka_unit_test(statistics_describe_the_smoothed_values),
        cmocka_unit_test(the_same_question_is_answered_from_the_cache),
        cmocka_unit_test(the_cache_keeps_to_its_bytes),
        cmocka_unit_test(line_that_is_too_long_is_answered_unsmoothed),
        cmocka_unit_test(line_that_is_too_large_to_keep_is_smoothed_all_the_same),
        cmocka_unit_test(followed_run_leaves_no_old_answers_behind),
        cmocka_unit_test(threads_share_the_cache),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
