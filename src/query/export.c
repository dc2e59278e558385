/* export.c: all points of a store, through export_text.h. */
#include "query/export.h"

#include <stdlib.h>

#include "base/slice.h"
#include "query/export_text.h"
#include "base/banned.h"

#define FLUSH_BYTES ((size_t)256 << 10)
#define ARENA_CAP ((size_t)2 << 30)

typedef struct work {
    sb_export *e;
    sb_export_text text;
    sb_arena arena;
    sb_points points; /* one block of a series */
} work;

static sb_status add_series(work *w, const sb_series *series, sb_slice run) {
    sb_export *e = w->e;
    sb_export_text_series(&w->text, run, series->tag);
    sb_scalar_walk walk = sb_scalars_of(series, !e->superseded);
    sb_status status = e->out->failed;
    for (size_t n; status == SB_OK && (n = sb_scalars_next(&walk, &w->points, NULL)) > 0;) {
        sb_export_text_points(&w->text, w->points.steps, w->points.walls, w->points.values, n);
        e->points += n;
        if (e->flush && e->out->n >= FLUSH_BYTES && !e->flush(e->ud)) status = SB_CLOSED;
        if (status == SB_OK) status = e->out->failed;
        if (status == SB_OK && sb_budget_over(e->budget)) status = SB_TIMEOUT;
    }
    return status;
}

/* ---- walking --------------------------------------------------------------------------------- */

static int by_tag(const void *a, const void *b) {
    const sb_series_info *x = a, *y = b;
    return sb_slice_cmp(x->tag, y->tag);
}

static int by_name(const void *a, const void *b) {
    sb_run_info x, y;
    sb_run_get_info(*(sb_run *const *)a, &x);
    sb_run_get_info(*(sb_run *const *)b, &y);
    return sb_slice_cmp(x.name, y.name);
}

static bool is_wanted(const sb_export *e, const sb_series_info *series) {
    return series->meta->kind == SB_SERIES_SCALAR &&
           (!e->wants_tag || e->wants_tag(e->ud, series->tag));
}

static sb_status add_run(work *w, sb_run *run) {
    sb_export *e = w->e;
    sb_run_info info;
    sb_series_info *all;
    size_t n;
    sb_run_get_info(run, &info);
    if (e->wants_run && !e->wants_run(e->ud, info.name)) return SB_OK;
    sb_status status = sb_run_list(run, &w->arena, &all, &n);
    if (status == SB_OK && n) qsort(all, n, sizeof *all, by_tag);
    for (size_t i = 0; status == SB_OK && i < n; i++) {
        if (!is_wanted(e, &all[i])) continue;
        sb_series series;
        sb_arena_mark mark = sb_arena_here(&w->arena);
        status = sb_series_take(run, all[i].tag, &w->arena, &series);
        if (status == SB_OK) {
            status = add_series(w, &series, info.name);
            sb_series_release(&series);
        }
        sb_arena_reset(&w->arena, mark);
        if (status == SB_NOT_FOUND) status = SB_OK; /* it was removed meanwhile */
    }
    return status;
}

static sb_status add_all(work *w, sb_store *store) {
    sb_runs runs;
    sb_status status = sb_store_runs(store, &w->arena, &runs);
    if (status != SB_OK) return status;
    if (runs.n) qsort(runs.items, runs.n, sizeof *runs.items, by_name);
    for (size_t i = 0; i < runs.n && status == SB_OK; i++) {
        sb_arena_mark mark = sb_arena_here(&w->arena);
        status = add_run(w, runs.items[i]);
        sb_arena_reset(&w->arena, mark);
    }
    sb_runs_release(&runs);
    return status;
}

sb_status sb_export_all(sb_export *e, sb_store *store, const sb_alloc *alloc) {
    work *w = sb_alloc_get(alloc, sizeof *w);
    if (!w) return SB_NOMEM;
    w->e = e;
    sb_export_text_begin(&w->text, e->out, e->json, alloc);
    sb_arena_init(&w->arena, alloc, 64u << 10, ARENA_CAP);
    sb_status status = add_all(w, store);
    sb_arena_fini(&w->arena);
    sb_export_text_end(&w->text);
    if (status == SB_OK) status = e->out->failed;
    sb_alloc_put(alloc, w, sizeof *w);
    return status;
}

/* ---- counting -------------------------------------------------------------------------------- */

static sb_status count_run(const sb_export *e, sb_run *run, sb_arena *arena, uint64_t *points) {
    sb_run_info info;
    sb_series_info *all;
    size_t n;
    sb_run_get_info(run, &info);
    if (e->wants_run && !e->wants_run(e->ud, info.name)) return SB_OK;
    sb_status status = sb_run_list(run, arena, &all, &n);
    for (size_t i = 0; status == SB_OK && i < n; i++)
        if (is_wanted(e, &all[i])) *points += all[i].points;
    return status;
}

sb_status sb_export_count(const sb_export *e, sb_store *store, const sb_alloc *alloc,
                          uint64_t *points) {
    sb_arena arena;
    sb_runs runs;
    *points = 0;
    sb_arena_init(&arena, alloc, 64u << 10, ARENA_CAP);
    sb_status status = sb_store_runs(store, &arena, &runs);
    if (status == SB_OK) {
        for (size_t i = 0; i < runs.n && status == SB_OK; i++) {
            sb_arena_mark mark = sb_arena_here(&arena);
            status = count_run(e, runs.items[i], &arena, points);
            sb_arena_reset(&arena, mark);
        }
        sb_runs_release(&runs);
    }
    sb_arena_fini(&arena);
    return status;
}
