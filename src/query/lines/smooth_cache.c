/* smooth_cache.c: smoothed twins of whole snapshots, made once and kept within a number of bytes.
 *
 * Lock: one mutex guards table, list and counts; nothing is computed while it is held. */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/slice.h"
#include "query/lines/smooth.h"
#include "base/banned.h"

#define BUCKETS 4096u

/* What a twin depends on. */
typedef struct key {
    uint32_t run;
    bool show_superseded;
    uint64_t epoch, points;
    sb_smoothing how;
    sb_slice tag;
} key;

/* One block: this, the values, the statistics, the tag. */
typedef struct twin {
    sb_smoothed smoothed; /* first: a line points here */
    key key;
    struct twin *next_in_bucket;
    struct twin *newer, *older; /* in the order of use */
    uint32_t users;
    bool is_listed;
    size_t bytes;
} twin;

struct sb_smooth_cache {
    const sb_alloc *alloc;
    uint64_t max_bytes;
    pthread_mutex_t mutex;
    uint64_t bytes;  /* of all twins */
    uint64_t listed; /* of those in the table */
    twin *newest, *oldest;
    twin *buckets[BUCKETS];
};

sb_status sb_smooth_cache_new(sb_smooth_cache **out, const sb_alloc *alloc, uint64_t max_bytes,
                              sb_err *err) {
    sb_smooth_cache *cache = sb_alloc_zeroed(alloc, 1, sizeof *cache);
    if (!cache) return sb_fail_nomem(err, "for smoothed lines");
    cache->alloc = alloc;
    cache->max_bytes = max_bytes;
    pthread_mutex_init(&cache->mutex, NULL);
    *out = cache;
    return SB_OK;
}

/* ---- table and list, with the mutex held ----------------------------------------------------- */

static bool same_smoothing(const sb_smoothing *a, const sb_smoothing *b) {
    return a->kind == b->kind && sb_double_bits(a->weight) == sb_double_bits(b->weight) &&
           sb_double_bits(a->points) == sb_double_bits(b->points) && a->axis == b->axis;
}

static bool same_key(const key *a, const key *b) {
    return a->run == b->run && a->show_superseded == b->show_superseded && a->epoch == b->epoch &&
           a->points == b->points && same_smoothing(&a->how, &b->how) &&
           sb_slice_eq(a->tag, b->tag);
}

static size_t bucket_of(const key *k) {
    uint64_t hash = k->run + (k->epoch ^ k->points) * 31;
    for (size_t i = 0; i < k->tag.n; i++) hash = (hash ^ k->tag.p[i]) * 0x100000001B3u;
    hash ^= sb_double_bits(k->how.weight) * 7 + sb_double_bits(k->how.points);
    return (size_t)((hash ^ (hash >> 32)) % BUCKETS);
}

static void unlink_twin(sb_smooth_cache *cache, twin *t) {
    twin **at = &cache->buckets[bucket_of(&t->key)];
    while (*at != t) at = &(*at)->next_in_bucket;
    *at = t->next_in_bucket;
    if (t->newer)
        t->newer->older = t->older;
    else
        cache->newest = t->older;
    if (t->older)
        t->older->newer = t->newer;
    else
        cache->oldest = t->newer;
    t->newer = t->older = NULL;
    t->is_listed = false;
    cache->listed -= t->bytes;
}

static void link_twin(sb_smooth_cache *cache, twin *t) {
    twin **bucket = &cache->buckets[bucket_of(&t->key)];
    t->next_in_bucket = *bucket;
    *bucket = t;
    t->older = cache->newest;
    t->newer = NULL;
    if (cache->newest) cache->newest->newer = t;
    cache->newest = t;
    if (!cache->oldest) cache->oldest = t;
    t->is_listed = true;
    cache->listed += t->bytes;
}

static void free_twin(sb_smooth_cache *cache, twin *t) {
    cache->bytes -= t->bytes;
    sb_alloc_put(cache->alloc, t, t->bytes);
}

static void make_room(sb_smooth_cache *cache) {
    while (cache->listed > cache->max_bytes) {
        twin *t = cache->oldest;
        unlink_twin(cache, t);
        if (t->users == 0) free_twin(cache, t);
    }
}

static twin *find_twin(sb_smooth_cache *cache, const key *k) {
    for (twin *t = cache->buckets[bucket_of(k)]; t; t = t->next_in_bucket)
        if (same_key(&t->key, k)) return t;
    return NULL;
}

void sb_smooth_cache_free(sb_smooth_cache *cache) {
    if (!cache) return;
    while (cache->oldest) {
        twin *t = cache->oldest;
        unlink_twin(cache, t);
        free_twin(cache, t);
    }
    pthread_mutex_destroy(&cache->mutex);
    sb_alloc_put(cache->alloc, cache, sizeof *cache);
}

uint64_t sb_smooth_cache_bytes(sb_smooth_cache *cache) {
    pthread_mutex_lock(&cache->mutex);
    uint64_t bytes = cache->bytes;
    pthread_mutex_unlock(&cache->mutex);
    return bytes;
}

/* ---- making a twin --------------------------------------------------------------------------- */

/* All points of a snapshot, by place. */
typedef struct gathered {
    double *values;      /* the twin's own */
    double *xs;          /* NULL: not needed */
    uint8_t *superseded; /* NULL: none is */
    size_t n;
    size_t xs_bytes;
} gathered;

static void gather_span(const gathered *g, const sb_line *line, const sb_span *span, sb_axis axis,
                        double base) {
    sb_points room;
    const double *values = sb_span_values(span, room.values);
    memcpy(g->values + span->start, values, span->n * sizeof *values);
    if (!g->xs && !g->superseded) return;
    const int64_t *steps = sb_span_steps(span, room.steps);
    if (g->superseded)
        for (uint32_t i = 0; i < span->n; i++)
            g->superseded[span->start + i] = sb_is_superseded(span->part, steps[i]);
    if (!g->xs) return;
    const double *walls = sb_span_walls(span, room.walls);
    sb_line_xs(line, span, axis, base, steps, walls, g->xs + span->start);
}

static bool is_cut(const sb_series *series) {
    for (size_t i = 0; i < series->part_n; i++)
        if (series->parts[i].cut_step != SB_NO_CUT) return true;
    return false;
}

/* Smooths those points of from..to whose mark is `superseded`, as a line of their own. */
static sb_status smooth_marked(const gathered *g, size_t from, size_t to, bool superseded,
                               const sb_smoothing *how, double unit, const sb_alloc *alloc,
                               const sb_budget *budget, sb_err *err) {
    size_t n = 0, bytes;
    for (size_t i = from; i < to; i++) n += g->superseded[i] == superseded;
    if (n == 0) return SB_OK;
    double *some = NULL;
    if (sb_mul_size(&bytes, n, 2 * sizeof *some)) some = sb_alloc_get(alloc, bytes);
    if (!some) return sb_fail_nomem(err, "for smoothing");
    double *xs = g->xs ? some + n : NULL;
    for (size_t i = from, k = 0; i < to; i++) {
        if (g->superseded[i] != superseded) continue;
        if (xs) xs[k] = g->xs[i];
        some[k++] = g->values[i];
    }
    sb_status status = sb_smooth_values(how, some, xs, n, unit, alloc, budget, err);
    if (status == SB_OK)
        for (size_t i = from, k = 0; i < to; i++)
            if (g->superseded[i] == superseded) g->values[i] = some[k++];
    sb_alloc_put(alloc, some, bytes);
    return status;
}

static sb_status smooth_gathered(const gathered *g, const sb_line *line, const sb_smoothing *how,
                                 double unit, const sb_alloc *alloc, const sb_budget *budget,
                                 sb_err *err) {
    if (!g->superseded)
        return sb_smooth_values(how, g->values, g->xs, g->n, unit, alloc, budget, err);
    sb_status status = smooth_marked(g, 0, g->n, false, how, unit, alloc, budget, err);
    size_t from = 0;
    for (size_t i = 0; i < line->series->part_n && status == SB_OK; i++) {
        const sb_part *part = &line->series->parts[i];
        size_t to = from + part->chunk_n * SB_CHUNK_POINTS + part->tail_n;
        if (line->show_superseded && part->cut_step != SB_NO_CUT)
            status = smooth_marked(g, from, to, true, how, unit, alloc, budget, err);
        from = to;
    }
    return status;
}

/* Fills values and statistics of a twin. */
static sb_status fill(twin *t, const sb_line *line, sb_span_stats *stats, double *values,
                      const sb_alloc *alloc, const sb_budget *budget, sb_err *err) {
    const sb_smoothing *how = &t->key.how;
    bool needs_x = how->kind == SB_SMOOTH_TIME_EMA, has_cut = is_cut(line->series);
    gathered g = {.values = values, .n = (size_t)line->series->points};
    double base = sb_line_base(line, how->axis), low = 0, high = 0;
    if (needs_x) g.xs = sb_alloc_get(alloc, g.n * sizeof *g.xs);
    if (has_cut) g.superseded = sb_alloc_get(alloc, g.n);
    sb_status status = SB_OK;
    if ((needs_x && !g.xs) || (has_cut && !g.superseded))
        status = sb_fail_nomem(err, "for smoothing");
    sb_spans walk = sb_spans_of(line->series);
    sb_span span;
    while (status == SB_OK && sb_spans_next(&walk, &span)) {
        gather_span(&g, line, &span, how->axis, base);
        if (span.index % 64 == 63 && sb_budget_over(budget)) status = sb_fail_timeout(err);
    }
    if (needs_x) sb_line_extent(line, how->axis, base, &low, &high);
    if (status == SB_OK)
        status = smooth_gathered(&g, line, how, (high - low) / 1000, alloc, budget, err);
    walk = sb_spans_of(line->series);
    while (status == SB_OK && sb_spans_next(&walk, &span))
        sb_stats_of_values(values + span.start, span.n, &stats[span.index]);
    sb_alloc_put(alloc, g.xs, g.n * sizeof *g.xs);
    sb_alloc_put(alloc, g.superseded, g.n);
    return status;
}

static sb_status make_twin(sb_smooth_cache *cache, const sb_line *line, const key *k,
                           const sb_budget *budget, twin **out, sb_err *err) {
    size_t spans = sb_span_count(line->series), n = (size_t)k->points;
    size_t bytes = sizeof(twin) + k->tag.n + spans * sizeof(sb_span_stats);
    size_t values_bytes;
    if (!sb_mul_size(&values_bytes, n, sizeof(double)) ||
        !sb_add_size(&bytes, bytes, values_bytes) || bytes > cache->max_bytes)
        return sb_fail(err, SB_LIMIT, 0,
                       "smoothing %zu points takes more than the %llu MiB set aside for it", n,
                       (unsigned long long)(cache->max_bytes >> 20));
    twin *t = sb_alloc_get(cache->alloc, bytes);
    if (!t) return sb_fail_nomem(err, "for smoothing");
    *t = (twin){.key = *k, .bytes = bytes};
    double *values = (double *)(void *)(t + 1);
    sb_span_stats *stats = (sb_span_stats *)(void *)(values + n);
    uint8_t *tag = (uint8_t *)(stats + spans);
    memcpy(tag, k->tag.p, k->tag.n);
    t->key.tag.p = tag;
    t->smoothed = (sb_smoothed){.values = values, .stats = stats, .n = n};
    sb_status status = fill(t, line, stats, values, cache->alloc, budget, err);
    if (status != SB_OK) {
        sb_alloc_put(cache->alloc, t, bytes);
        return status;
    }
    *out = t;
    return SB_OK;
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* Of twins with equal keys only the first is listed. */
static void enter(sb_smooth_cache *cache, twin *t) {
    pthread_mutex_lock(&cache->mutex);
    t->users = 1;
    cache->bytes += t->bytes;
    if (!find_twin(cache, &t->key)) link_twin(cache, t);
    make_room(cache);
    pthread_mutex_unlock(&cache->mutex);
}

static twin *take_known(sb_smooth_cache *cache, const key *k) {
    pthread_mutex_lock(&cache->mutex);
    twin *t = find_twin(cache, k);
    if (t) {
        t->users++;
        unlink_twin(cache, t); /* to the front */
        link_twin(cache, t);
    }
    pthread_mutex_unlock(&cache->mutex);
    return t;
}

sb_status sb_smooth_line(sb_smooth_cache *cache, sb_line *line, const sb_smoothing *how,
                         const sb_budget *budget, sb_err *err) {
    line->smoothed = NULL;
    if (line->series->meta->kind != SB_SERIES_SCALAR)
        return sb_fail(err, SB_INVALID, 0, "%.*s holds no scalars", SB_SHOWN(line->series->tag));
    if (how->kind == SB_SMOOTH_NONE) return SB_OK;
    key k = {.run = sb_run_id(line->series->run),
             .show_superseded = line->show_superseded,
             .epoch = sb_series_epoch(line->series),
             .points = line->series->points,
             .how = *how,
             .tag = line->series->tag};
    twin *t = take_known(cache, &k);
    if (!t) {
        sb_status status = make_twin(cache, line, &k, budget, &t, err);
        if (status != SB_OK) return status;
        enter(cache, t);
    }
    line->smoothed = &t->smoothed;
    return SB_OK;
}

void sb_smooth_release(sb_smooth_cache *cache, sb_line *line) {
    if (!line->smoothed) return;
    twin *t = NULL;
    memcpy(&t, &line->smoothed, sizeof t); /* smoothed stands first in it; the line only lent it */
    line->smoothed = NULL;
    pthread_mutex_lock(&cache->mutex);
    if (--t->users == 0 && !t->is_listed) free_twin(cache, t);
    pthread_mutex_unlock(&cache->mutex);
}
