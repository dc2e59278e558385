/* made.h: for tests of queries: a store with one run, and series made point by point, without
 * files. */
#ifndef SB_TESTS_UNIT_QUERY_MADE_H
#define SB_TESTS_UNIT_QUERY_MADE_H

#include <math.h>
#include <stdio.h>

#include "base/slice.h"
#include "store/store.h"
#include "support/test.h"

typedef struct made {
    sb_store *store;
    sb_run *run;
    sb_arena arena; /* for snapshots and answers */
    uint32_t series;
} made;

static inline made made_new_opts(const sb_store_opts *opts) {
    made m = {0};
    bool is_new;
    sb_series_meta meta = {
        .plugin_name = SB_LIT("scalars"), .kind = SB_SERIES_SCALAR, .dtype = SB_FLOAT};
    assert_int_equal(sb_store_new(&m.store, opts, NULL), SB_OK);
    assert_int_equal(sb_store_add_run(m.store, SB_LIT("run"), SB_LIT("/run"), &m.run, NULL), SB_OK);
    assert_int_equal(sb_run_series(m.run, SB_LIT("loss"), &meta, &m.series, &is_new), SB_OK);
    sb_arena_init(&m.arena, &sb_alloc_libc, 1 << 16, SIZE_MAX / 2);
    return m;
}

static inline made made_new_with(const sb_alloc *alloc) {
    return made_new_opts(&(sb_store_opts){.alloc = alloc});
}

static inline made made_new(void) {
    return made_new_with(&sb_alloc_libc);
}

static inline void made_free(made *m) {
    sb_arena_fini(&m->arena);
    sb_run_release(m->run);
    sb_store_free(m->store);
}

static inline uint32_t made_file(made *m, const char *path) {
    uint32_t file;
    assert_int_equal(sb_run_add_file(m->run, sb_slice_str(path), &file, NULL), SB_OK);
    return file;
}

static inline void made_add(made *m, uint32_t file, int64_t step, double wall, double value) {
    sb_run_saw_time(m->run, file, wall, false);
    assert_int_equal(sb_run_add_scalar(m->run, file, m->series, step, wall, value, SB_NUMBER_REAL),
                     SB_OK);
}

/* The committed points of the series. */
static inline sb_series made_take(made *m) {
    sb_series s;
    assert_int_equal(sb_run_commit(m->run), SB_OK);
    assert_int_equal(sb_series_take(m->run, SB_LIT("loss"), &m->arena, &s), SB_OK);
    return s;
}

/* ---- random lines, from bytes ---------------------------------------------------------------- */

static inline double made_number(sb_test_random *r) {
    return (double)(int64_t)(sb_test_u64(r) >> 12) / (double)((int64_t)1 << 52) - 0.5;
}

/* One file with n points that begin at step and wall; how they go on is drawn. */
static inline void made_random_part(made *m, uint32_t file, sb_test_random *r, size_t n,
                                    int64_t *step, double *wall) {
    uint64_t style = sb_test_u64(r);
    int64_t pace = (int64_t)sb_test_below(r, 4);
    double level = 0;
    for (size_t i = 0; i < n; i++) {
        level += made_number(r);
        double value = style & 1 ? (double)(float)level : level;
        uint64_t dice = sb_test_below(r, 4096);
        if (style & 2 && dice < 8) value = dice < 4 ? NAN : dice < 6 ? INFINITY : -INFINITY;
        if (style & 4 && i > n / 2) value = NAN; /* diverged */
        if (style & 8) value = 1;
        double when = *wall;
        if (style & 16 && dice == 9) when = NAN;
        if (style & 16 && dice == 10) when = INFINITY;
        if (style & 32 && dice < 400) when -= 3;
        int64_t at = *step;
        if (style & 64 && dice > 4090) at -= (int64_t)sb_test_below(r, 2000);
        made_add(m, file, at, when, value);
        *step += style & 128 ? (int64_t)sb_test_below(r, 20) : pace;
        *wall += style & 256 ? fabs(made_number(r)) : 0.25;
    }
}

/* Up to four files, some begun again at an earlier step, some written at the same time. */
static inline void made_random(made *m, sb_test_random *r, size_t most) {
    int64_t step = (int64_t)sb_test_below(r, 1000) - 500;
    double wall = 1.7e9 + (double)sb_test_below(r, 100000);
    size_t parts = 1 + (size_t)sb_test_below(r, 4);
    for (size_t i = 0; i < parts; i++) {
        char path[32];
        snprintf(path, sizeof path, "/run/%zu", i);
        uint32_t file = made_file(m, path);
        if (i && sb_test_below(r, 2)) step -= (int64_t)sb_test_below(r, 3000);
        if (i && sb_test_below(r, 3) == 0) wall -= (double)sb_test_below(r, 300);
        wall += 1;
        made_random_part(m, file, r, 1 + (size_t)sb_test_below(r, most), &step, &wall);
        if (sb_test_below(r, 4) == 0)
            assert_int_equal(sb_run_add_start(m->run, file, step - 100, wall), SB_OK);
    }
}

#endif
