/* decimate_fuzz.c: any line and any question: decimation from the heads of chunks keeps the very
 * points that a plain pass over all of them keeps, and so do ranges and summaries.
 *
 * An input is a little program: commands of ten bytes each that add up to 4096 points
 * (with some pace of steps and times, values of some kind), begin a new file, or leave a mark of a
 * restart; the last sixteen bytes are the question. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/support/line_reference.h"
#include "base/bytes.h"
#include "base/slice.h"
#include "query/lines/smooth.h"
#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define COMMAND 10u
#define QUESTION 16u
#define MOST_POINTS 20000u

static void hold(bool promise) {
    if (!promise) abort();
}

typedef struct maker {
    sb_run *run;
    uint32_t file, series, files;
    int64_t step;
    double wall;
    uint64_t random;
    size_t n;
} maker;

static uint64_t draw(maker *m) {
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    return m->random ^= m->random << 17;
}

static double value_of(maker *m, uint8_t kind) {
    double x = (double)(draw(m) >> 40) / 65536 - 128;
    switch (kind % 8) {
    case 0:
        return (double)(float)x;
    case 1:
        return x / 3;
    case 2:
        return 1;
    case 3:
        return draw(m) % 512 ? x : NAN;
    case 4:
        return draw(m) % 512 ? x : draw(m) % 2 ? INFINITY : -INFINITY;
    case 5:
        return NAN;
    case 6:
        return sb_bits_double(draw(m));
    default:
        return draw(m) % 2 ? 0.0 : -0.0;
    }
}

static void add_points(maker *m, const uint8_t *c) {
    size_t n = sb_load16(c + 1) % 4096;
    int64_t pace = (int8_t)c[3];
    double tick = (double)(int8_t)c[4] / 16;
    for (size_t i = 0; i < n && m->n < MOST_POINTS; i++, m->n++) {
        double wall = m->wall;
        if (c[6] & 1 && draw(m) % 300 == 0) wall = draw(m) % 2 ? NAN : INFINITY;
        sb_run_saw_time(m->run, m->file, wall, false);
        hold(sb_run_add_scalar(m->run, m->file, m->series, m->step, wall, value_of(m, c[5]),
                               SB_NUMBER_REAL) == SB_OK);
        uint64_t step = (uint64_t)m->step + (uint64_t)pace;
        if (c[6] & 2) step += draw(m) % 16;
        if (c[6] & 4 && draw(m) % 100 == 0) step -= draw(m) % 5000;
        if (c[6] & 8 && draw(m) % 1000 == 0) step = draw(m);
        m->step = (int64_t)step;
        m->wall += tick;
        if (c[6] & 16) m->wall += (double)(draw(m) % 1000) / 1e4;
    }
}

static void obey(maker *m, const uint8_t *c) {
    static const char *const paths[] = {"/r/0", "/r/1", "/r/2", "/r/3"};
    switch (c[0] % 8) {
    case 0: /* another file */
        if (m->files == 4) return;
        hold(sb_run_add_file(m->run, sb_slice_str(paths[m->files++]), &m->file, NULL) == SB_OK);
        m->step -= sb_load16(c + 1) % 4096;
        m->wall += (double)(int16_t)sb_load16(c + 3) / 8;
        return;
    case 1: /* a restart */
        hold(sb_run_add_start(m->run, m->file, m->step - (int64_t)(sb_load16(c + 1) % 4096),
                              m->wall) == SB_OK);
        return;
    default:
        add_points(m, c);
    }
}

static void check_decimation(const sb_line *line, const uint8_t *q, sb_arena *arena) {
    sb_decimate_ask ask = {
        .axis = (sb_axis)(q[0] % 4), .from = NAN, .to = NAN, .pixels = 1 + sb_load16(q + 1) % 700};
    if (q[3] & 4) ask.near = 0.5;
    double low, high, base = sb_line_base(line, ask.axis);
    if (sb_line_extent(line, ask.axis, base, &low, &high)) {
        double width = high * 0.5 - low * 0.5;
        if (q[3] & 1) ask.from = low + width * (sb_load16(q + 4) / 40000.0 - 0.1);
        if (q[3] & 2) ask.to = high - width * (sb_load16(q + 6) / 40000.0 - 0.1);
        if (ask.from > ask.to || isinf(ask.from) || isinf(ask.to)) ask.from = ask.to = NAN;
    }
    sb_decimated got;
    hold(sb_scalar_decimate(line, &ask, NULL, arena, &got, NULL) == SB_OK);
    sb_reference_line plain = sb_reference_of(line);
    if (isnan(got.from) || isnan(got.to)) {
        hold(got.points.n == 0);
    } else {
        sb_reference_answer want = sb_reference_decimate(&plain, line, ask.axis, base, got.from,
                                                         got.to, ask.pixels, ask.near);
        hold(sb_reference_differs(&plain, &want, &got.points) < 0);
        hold(got.in_range == want.in_range);
        hold(memcmp(&got.not_finite, &want.not_finite, sizeof got.not_finite) == 0);
        hold(got.without_x == want.without_x);
        free(want.kept);
    }
    free(plain.points);
}

static void check_line(const sb_series *series, const uint8_t *q, sb_arena *arena) {
    sb_smooth_cache *cache;
    sb_line line = {.series = series, .show_superseded = q[8] & 1};
    check_decimation(&line, q, arena);
    sb_smooth_opts opts = {.alloc = &sb_alloc_libc, .line_bytes = 1 << 24, .keep_bytes = 1 << 24};
    hold(sb_smooth_cache_new(&cache, &opts, NULL) == SB_OK);
    sb_smoothing how = {.kind = (sb_smooth_kind)(q[9] % 6),
                        .weight = q[10] / 200.0,
                        .points = 1 + q[11] % 64,
                        .axis = (sb_axis)(q[12] % 4)};
    hold(sb_smooth_line(cache, &line, &how, NULL, NULL) == SB_OK);
    check_decimation(&line, q, arena);
    sb_smooth_release(cache, &line);
    sb_smooth_cache_free(cache);
    sb_scalar_summary summary;
    hold(sb_scalar_sum_up(series, NULL, &summary, NULL) == SB_OK);
    hold(summary.n + summary.superseded == series->points);
    hold(summary.nan + summary.infinite + summary.finite == summary.n);
    sb_scalar_answer all;
    sb_scalar_ask ask = SB_ASK_ALL;
    hold(sb_scalar_read(&(sb_line){.series = series}, &ask, NULL, arena, &all, NULL) == SB_OK);
    hold(all.points.n == summary.n && all.n == summary.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < QUESTION + COMMAND) return 0;
    sb_store *store;
    maker m = {.wall = 1.7e9, .random = 88172645463325252u + size};
    bool is_new;
    sb_series_meta meta = {.kind = SB_SERIES_SCALAR};
    hold(sb_store_new(&store, &(sb_store_opts){.alloc = &sb_alloc_libc}, NULL) == SB_OK);
    hold(sb_store_add_run(store, SB_LIT("r"), SB_LIT("/r"), &m.run, NULL) == SB_OK);
    hold(sb_run_series(m.run, SB_LIT("t"), &meta, &m.series, &is_new) == SB_OK);
    obey(&m, (const uint8_t[COMMAND]){0});
    size_t end = size - QUESTION;
    for (size_t at = 0; at + COMMAND <= end; at += COMMAND) obey(&m, data + at);
    hold(sb_run_commit(m.run) == SB_OK);
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 16, SIZE_MAX / 2);
    sb_series series;
    if (sb_series_take(m.run, SB_LIT("t"), &arena, &series) == SB_OK) {
        check_line(&series, data + end, &arena);
        sb_series_release(&series);
    }
    sb_arena_fini(&arena);
    sb_run_release(m.run);
    sb_store_free(store);
    return 0;
}
