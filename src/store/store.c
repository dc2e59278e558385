/* store.c: the list of runs and the version. */
#include "store/store_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/slice.h"
#include "base/vec.h"
#include "base/banned.h"

#define DEFAULT_MAX_TAGS 1000000u

sb_status sb_store_new(sb_store **out, const sb_store_opts *opts, sb_err *err) {
    sb_store *s = sb_alloc_zeroed(opts->alloc, 1, sizeof *s);
    if (!s) return sb_fail_nomem(err, "for the store");
    s->alloc = opts->alloc;
    s->opts = *opts;
    if (!s->opts.max_tags) s->opts.max_tags = DEFAULT_MAX_TAGS;
    sb_status status =
        sb_blocks_new(&s->blocks, opts->alloc, opts->memory_limit, opts->spill_dir, err);
    if (status != SB_OK) {
        sb_alloc_put(s->alloc, s, sizeof *s);
        return status;
    }
    pthread_mutex_init(&s->mutex, NULL);
    atomic_init(&s->version, 1);
    atomic_init(&s->names_version, 1);
    *out = s;
    return SB_OK;
}

void sb_store_free(sb_store *s) {
    if (!s) return;
    for (size_t i = 0; i < s->runs.n; i++) sb_run_release(s->runs.items[i]);
    SB_VEC_FREE(&s->runs, s->alloc);
    sb_tombstones_fini(&s->gone, s->alloc);
    sb_blocks_free(s->blocks);
    pthread_mutex_destroy(&s->mutex);
    sb_alloc_put(s->alloc, s, sizeof *s);
}

uint64_t sb_store_version(const sb_store *s) {
    return atomic_load(&s->version);
}

uint64_t sb_store_names_version(const sb_store *s) {
    return atomic_load(&s->names_version);
}

uint64_t sb_store_points(const sb_store *s) {
    return atomic_load_explicit(&s->points, memory_order_relaxed);
}

void sb_store_get_stats(sb_store *s, sb_blocks_stats *out) {
    sb_blocks_get_stats(s->blocks, out);
}

uint64_t sb_store_bump(sb_store *s) {
    return atomic_fetch_add(&s->version, 1) + 1;
}

static void notify_owner(sb_store *s, uint64_t version) {
    if (s->opts.changed) s->opts.changed(s->opts.changed_ud, version);
}

/* With the mutex held. Runs are kept in the order of their names. */
static sb_run *find_run(const sb_store *s, sb_slice name, size_t *at) {
    size_t i;
    SB_PARTITION_POINT(i, 0, s->runs.n, sb_slice_cmp(s->runs.items[i]->name, name) < 0);
    *at = i;
    return i < s->runs.n && sb_slice_eq(s->runs.items[i]->name, name) ? s->runs.items[i] : NULL;
}

sb_status sb_store_add_run(sb_store *s, sb_slice name, sb_slice path, sb_run **out, sb_err *err) {
    *out = NULL;
    sb_run *run;
    size_t at;
    pthread_mutex_lock(&s->mutex);
    sb_status status = SB_OK;
    if (find_run(s, name, &at))
        status = sb_fail(err, SB_INVALID, 0, "there is a run '%.*s' already", SB_SHOWN(name));
    else if (!SB_VEC_RESERVE(&s->runs, s->alloc, 1, SIZE_MAX))
        status = sb_fail_nomem(err, "for a run");
    if (status == SB_OK) status = sb_run_new(&run, s, name, path, s->next_id, err);
    if (status == SB_OK) {
        s->next_id++;
        *SB_VEC_INSERT(&s->runs, s->alloc, at, SIZE_MAX) = run;
        *out = sb_run_hold(run);
    }
    pthread_mutex_unlock(&s->mutex);
    return status;
}

void sb_store_drop_run(sb_store *s, sb_run *run) {
    size_t at;
    pthread_mutex_lock(&s->mutex);
    bool found = find_run(s, run->name, &at) == run;
    if (found) {
        SB_VEC_REMOVE(&s->runs, at);
    }
    uint64_t version = sb_store_bump(s);
    if (found) sb_tombstones_add(&s->gone, s->alloc, run, version);
    atomic_fetch_add(&s->names_version, 1);
    pthread_mutex_unlock(&s->mutex);
    if (found) sb_run_release(run);
    notify_owner(s, version);
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct placed {
    sb_run *run;
    double start; /* NaN: unknown */
} placed;

static int by_start(const void *a, const void *b) {
    const placed *x = a, *y = b;
    bool x_known = !isnan(x->start), y_known = !isnan(y->start);
    if (x_known != y_known) return x_known ? -1 : 1;
    if (x_known && x->start != y->start) return x->start < y->start ? -1 : 1;
    return sb_slice_cmp(x->run->name, y->run->name);
}

sb_status sb_store_runs(sb_store *s, sb_arena *arena, sb_runs *out) {
    *out = (sb_runs){0};
    pthread_mutex_lock(&s->mutex);
    size_t n = s->runs.n;
    placed *order = sb_arena_get(arena, n * sizeof *order);
    if (order)
        for (size_t i = 0; i < n; i++) order[i].run = sb_run_hold(s->runs.items[i]);
    pthread_mutex_unlock(&s->mutex);
    sb_run **items = order ? sb_arena_get(arena, n * sizeof *items) : NULL;
    if (!items) {
        for (size_t i = 0; order && i < n; i++) sb_run_release(order[i].run);
        return SB_NOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        sb_run_info info;
        sb_run_get_info(order[i].run, &info);
        order[i].start = info.has_start ? info.start_wall : (double)NAN;
    }
    if (n) qsort(order, n, sizeof *order, by_start);
    for (size_t i = 0; i < n; i++) items[i] = order[i].run;
    *out = (sb_runs){items, n};
    return SB_OK;
}

void sb_runs_release(sb_runs *runs) {
    for (size_t i = 0; i < runs->n; i++) sb_run_release(runs->items[i]);
    runs->n = 0;
}

sb_run *sb_store_find_run(sb_store *s, sb_slice name) {
    pthread_mutex_lock(&s->mutex);
    size_t at;
    sb_run *run = find_run(s, name, &at);
    if (run) sb_run_hold(run);
    pthread_mutex_unlock(&s->mutex);
    return run;
}

uint32_t sb_run_id(const sb_run *run) {
    return run->id;
}

sb_run *sb_run_hold(sb_run *run) {
    atomic_fetch_add_explicit(&run->refs, 1, memory_order_relaxed);
    return run;
}

void sb_run_release(sb_run *run) {
    if (run && atomic_fetch_sub_explicit(&run->refs, 1, memory_order_acq_rel) == 1)
        sb_run_free(run);
}
