/* export.c: all points of a store, through export_text.h. */
#include "query/export.h"

#include <stdlib.h>

#include "base/slice.h"
#include "query/export_text.h"
#include "base/banned.h"

#define FLUSH_BYTES ((size_t)256 << 10)
#define ARENA_CAP ((size_t)2 << 30)

/* Where the export is: in a run, in a series of it. */
struct sb_export_at {
    sb_export *e;
    const sb_alloc *alloc;
    bool has_begun; /* the text has */
    sb_export_text text;
    sb_arena arena;
    sb_runs runs;
    size_t next_run;
    sb_arena_mark before_run;
    sb_series_info *all; /* of the current run */
    size_t n, next_series;
    sb_arena_mark before_series;
    sb_series series;
    bool has_series;
    sb_scalar_walk walk;
    sb_points points; /* one block of a series */
};

/* ---- walking --------------------------------------------------------------------------------- */

static int by_tag(const void *a, const void *b) {
    const sb_series_info *x = a, *y = b;
    return sb_slice_cmp(x->tag, y->tag);
}

static int runs_by_name(const void *a, const void *b) {
    sb_run_info x, y;
    sb_run_get_info(*(sb_run *const *)a, &x);
    sb_run_get_info(*(sb_run *const *)b, &y);
    return sb_slice_cmp(x.name, y.name);
}

static bool is_wanted(const sb_export *e, const sb_series_info *series) {
    return series->meta->kind == SB_SERIES_SCALAR &&
           (!e->wants_tag || e->wants_tag(e->ud, series->tag));
}

/* The series of the next run that is wanted; SB_END when there is none. */
static sb_status begin_run(sb_export_at *at) {
    const sb_export *e = at->e;
    sb_arena_reset(&at->arena, at->before_run);
    at->n = at->next_series = 0;
    while (at->next_run < at->runs.n) {
        sb_run *run = at->runs.items[at->next_run++];
        sb_run_info info;
        sb_run_get_info(run, &info);
        if (e->wants_run && !e->wants_run(e->ud, info.name)) continue;
        sb_status status = sb_run_list(run, &at->arena, &at->all, &at->n);
        if (status != SB_OK) return status;
        if (at->n) qsort(at->all, at->n, sizeof *at->all, by_tag);
        at->before_series = sb_arena_here(&at->arena);
        return SB_OK;
    }
    return SB_END;
}

static void end_series(sb_export_at *at) {
    if (!at->has_series) return;
    sb_series_release(&at->series);
    sb_arena_reset(&at->arena, at->before_series);
    at->has_series = false;
}

/* The next series that is wanted, of this run or of a later one; SB_END when there is none. */
static sb_status begin_series(sb_export_at *at) {
    for (;;) {
        if (at->next_series == at->n) {
            sb_status status = begin_run(at);
            if (status != SB_OK) return status;
            continue;
        }
        const sb_series_info *info = &at->all[at->next_series++];
        if (!is_wanted(at->e, info)) continue;
        sb_run *run = at->runs.items[at->next_run - 1];
        sb_status status = sb_series_take(run, info->tag, &at->arena, &at->series);
        if (status == SB_NOT_FOUND) continue; /* it was removed meanwhile */
        if (status != SB_OK) return status;
        at->has_series = true;
        sb_run_info of;
        sb_run_get_info(run, &of);
        sb_export_text_series(&at->text, of.name, at->series.tag);
        at->walk = sb_scalars_of(&at->series, !at->e->superseded);
        return SB_OK;
    }
}

sb_status sb_export_begin(sb_export_at **out, sb_export *e, sb_store *store,
                          const sb_alloc *alloc) {
    sb_export_at *at = sb_alloc_zeroed(alloc, 1, sizeof *at);
    *out = NULL;
    if (!at) return SB_NOMEM;
    at->e = e;
    at->alloc = alloc;
    sb_arena_init(&at->arena, alloc, 64u << 10, ARENA_CAP);
    sb_status status = sb_store_runs(store, &at->arena, &at->runs);
    if (status != SB_OK) at->runs = (sb_runs){0};
    if (at->runs.n) qsort(at->runs.items, at->runs.n, sizeof *at->runs.items, runs_by_name);
    at->before_run = sb_arena_here(&at->arena);
    if (status == SB_OK)
        *out = at;
    else
        sb_export_end(at);
    return status;
}

sb_status sb_export_next(sb_export_at *at) {
    sb_export *e = at->e;
    if (sb_budget_over(e->budget)) return SB_TIMEOUT;
    if (!at->has_begun) sb_export_text_begin(&at->text, e->out, e->json, at->alloc);
    at->has_begun = true;
    if (!at->has_series) {
        sb_status status = begin_series(at);
        if (status == SB_END) sb_export_text_end(&at->text);
        if (e->out->failed != SB_OK) return e->out->failed;
        if (status != SB_OK) return status;
    }
    size_t n = sb_scalars_next(&at->walk, &at->points, NULL);
    if (n == 0) end_series(at);
    sb_export_text_points(&at->text, at->points.steps, at->points.walls, at->points.values, n);
    e->points += n;
    return e->out->failed;
}

void sb_export_end(sb_export_at *at) {
    if (!at) return;
    end_series(at);
    sb_buf_fini(&at->text.names);
    sb_runs_release(&at->runs);
    sb_arena_fini(&at->arena);
    sb_alloc_put(at->alloc, at, sizeof *at);
}

sb_status sb_export_all(sb_export *e, sb_store *store, const sb_alloc *alloc) {
    sb_export_at *at;
    sb_status status = sb_export_begin(&at, e, store, alloc);
    while (status == SB_OK) {
        status = sb_export_next(at);
        if (status == SB_OK && e->flush && e->out->n >= FLUSH_BYTES && !e->flush(e->ud))
            status = SB_CLOSED;
    }
    sb_export_end(at);
    return status == SB_END ? SB_OK : status;
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
