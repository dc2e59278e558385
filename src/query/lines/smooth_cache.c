/* smooth_cache.c: smoothed lines, kept for the next request within a number of bytes.
 *
 * Of a series and a smoothing at most one entry is listed: that of the newest snapshot. A run that
 * is followed while it grows replaces its entry with every answer and leaves nothing stale behind.
 * An entry that a request still uses lives on, unlisted, until that request releases it.
 *
 * Lock: one mutex guards table, list and counts; nothing is computed while it is held. */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/lru.h"
#include "base/slice.h"
#include "query/lines/smooth.h"
#include "base/banned.h"

#define BUCKETS 4096u

/* Which line, smoothed how. */
typedef struct key {
    uint32_t run;
    bool show_superseded;
    sb_smoothing how;
    sb_slice tag;
} key;

/* Which snapshot of the line. */
typedef struct snapshot {
    uint64_t epoch, points;
} snapshot;

/* One block: this struct, the values, the statistics, the tag. */
typedef struct entry {
    sb_smoothed smoothed; /* first: sb_line.smoothed points here */
    key key;
    snapshot snapshot;
    struct entry *next_in_bucket;
    sb_lru_link use;
    uint32_t users;
    bool is_listed; /* in table and list */
    size_t bytes;
} entry;

struct sb_smooth_cache {
    sb_smooth_opts opts;
    pthread_mutex_t mutex;
    uint64_t bytes;  /* of all entries */
    uint64_t listed; /* of those in the table */
    sb_lru lru;
    entry *buckets[BUCKETS];
};

sb_status sb_smooth_cache_new(sb_smooth_cache **out, const sb_smooth_opts *opts, sb_err *err) {
    sb_smooth_cache *cache = sb_alloc_zeroed(opts->alloc, 1, sizeof *cache);
    if (!cache) return sb_fail_nomem(err, "for smoothed lines");
    cache->opts = *opts;
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
    return a->run == b->run && a->show_superseded == b->show_superseded &&
           same_smoothing(&a->how, &b->how) && sb_slice_eq(a->tag, b->tag);
}

static bool same_snapshot(const snapshot *a, const snapshot *b) {
    return a->epoch == b->epoch && a->points == b->points;
}

static size_t bucket_of(const key *k) {
    uint64_t hash = (uint64_t)k->run * 31;
    for (size_t i = 0; i < k->tag.n; i++) hash = (hash ^ k->tag.p[i]) * 0x100000001B3u;
    hash ^= sb_double_bits(k->how.weight) * 7 + sb_double_bits(k->how.points);
    return (size_t)((hash ^ (hash >> 32)) % BUCKETS);
}

static entry *find_entry(sb_smooth_cache *cache, const key *k) {
    for (entry *e = cache->buckets[bucket_of(k)]; e; e = e->next_in_bucket)
        if (same_key(&e->key, k)) return e;
    return NULL;
}

static void free_entry(sb_smooth_cache *cache, entry *e) {
    cache->bytes -= e->bytes;
    sb_alloc_put(cache->opts.alloc, e, e->bytes);
}

static void evict(sb_smooth_cache *cache, entry *e) {
    entry **at = &cache->buckets[bucket_of(&e->key)];
    while (*at != e) at = &(*at)->next_in_bucket;
    *at = e->next_in_bucket;
    sb_lru_remove(&cache->lru, &e->use);
    e->is_listed = false;
    cache->listed -= e->bytes;
    if (e->users == 0) free_entry(cache, e);
}

static void list_entry(sb_smooth_cache *cache, entry *e) {
    entry **bucket = &cache->buckets[bucket_of(&e->key)];
    e->next_in_bucket = *bucket;
    *bucket = e;
    sb_lru_add(&cache->lru, &e->use);
    e->is_listed = true;
    cache->listed += e->bytes;
}

static uint64_t kept_bytes(const sb_smooth_cache *cache) {
    const sb_smooth_opts *o = &cache->opts;
    uint64_t points = o->store ? sb_store_points(o->store) : 0;
    return o->keep_bytes + points * o->keep_per_point;
}

/* The entry takes the place of an older one of its line. It stays unlisted, for its request alone,
 * when there is one that is newer, or when it is larger than all that may be kept. */
static void add_twin(sb_smooth_cache *cache, entry *e) {
    pthread_mutex_lock(&cache->mutex);
    uint64_t limit = kept_bytes(cache);
    entry *known = find_entry(cache, &e->key);
    bool is_newer = known && known->snapshot.epoch == e->snapshot.epoch &&
                    known->snapshot.points >= e->snapshot.points;
    e->users = 1;
    cache->bytes += e->bytes;
    if (known && !is_newer) evict(cache, known);
    if (!is_newer && e->bytes <= limit) list_entry(cache, e);
    while (cache->listed > limit) evict(cache, SB_LRU_ENTRY(cache->lru.oldest, entry, use));
    pthread_mutex_unlock(&cache->mutex);
}

static entry *use_entry(sb_smooth_cache *cache, const key *k, const snapshot *of) {
    pthread_mutex_lock(&cache->mutex);
    entry *e = find_entry(cache, k);
    if (e && !same_snapshot(&e->snapshot, of)) e = NULL;
    if (e) {
        e->users++;
        sb_lru_touch(&cache->lru, &e->use);
    }
    pthread_mutex_unlock(&cache->mutex);
    return e;
}

void sb_smooth_cache_free(sb_smooth_cache *cache) {
    if (!cache) return;
    while (cache->lru.oldest) evict(cache, SB_LRU_ENTRY(cache->lru.oldest, entry, use));
    pthread_mutex_destroy(&cache->mutex);
    sb_alloc_put(cache->opts.alloc, cache, sizeof *cache);
}

uint64_t sb_smooth_cache_bytes(sb_smooth_cache *cache) {
    pthread_mutex_lock(&cache->mutex);
    uint64_t bytes = cache->bytes;
    pthread_mutex_unlock(&cache->mutex);
    return bytes;
}

/* ---- smoothing a line ------------------------------------------------------------------------ */

/* All points of a snapshot, by place. */
typedef struct gathered {
    double *values;      /* in the entry */
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
    size_t from = 0, to = 0;
    for (size_t i = 0; i < line->series->part_n && status == SB_OK; i++) {
        const sb_part *part = &line->series->parts[i];
        to += part->chunk_n * SB_CHUNK_POINTS + part->tail_n;
        if (i + 1 < line->series->part_n && part[1].continues) continue;
        if (line->show_superseded && part->cut_step != SB_NO_CUT)
            status = smooth_marked(g, from, to, true, how, unit, alloc, budget, err);
        from = to;
    }
    return status;
}

/* Fills values and statistics of an entry. */
static sb_status fill_entry(entry *e, const sb_line *line, sb_span_stats *stats, double *values,
                            const sb_alloc *alloc, const sb_budget *budget, sb_err *err) {
    const sb_smoothing *how = &e->key.how;
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

/* SB_LIMIT: the line is too long to be smoothed. */
static sb_status make_entry(sb_smooth_cache *cache, const sb_line *line, const key *k,
                            const snapshot *of, const sb_budget *budget, entry **out, sb_err *err) {
    const sb_alloc *alloc = cache->opts.alloc;
    size_t spans = sb_span_count(line->series), n = (size_t)of->points;
    size_t bytes = sizeof(entry) + k->tag.n + spans * sizeof(sb_span_stats);
    size_t values_bytes;
    if (!sb_mul_size(&values_bytes, n, sizeof(double)) ||
        !sb_add_size(&bytes, bytes, values_bytes) || bytes > cache->opts.line_bytes)
        return SB_LIMIT;
    entry *e = sb_alloc_get(alloc, bytes);
    if (!e) return sb_fail_nomem(err, "for smoothing");
    *e = (entry){.key = *k, .snapshot = *of, .bytes = bytes};
    double *values = (double *)(void *)(e + 1);
    sb_span_stats *stats = (sb_span_stats *)(void *)(values + n);
    uint8_t *tag = (uint8_t *)(stats + spans);
    memcpy(tag, k->tag.p, k->tag.n);
    e->key.tag.p = tag;
    e->smoothed = (sb_smoothed){.values = values, .stats = stats, .n = n};
    sb_status status = fill_entry(e, line, stats, values, alloc, budget, err);
    if (status != SB_OK) {
        sb_alloc_put(alloc, e, bytes);
        return status;
    }
    *out = e;
    return SB_OK;
}

/* ---- asking ---------------------------------------------------------------------------------- */

sb_status sb_smooth_line(sb_smooth_cache *cache, sb_line *line, const sb_smoothing *how,
                         const sb_budget *budget, sb_err *err) {
    line->smoothed = NULL;
    if (line->series->meta->kind != SB_SERIES_SCALAR)
        return sb_fail(err, SB_INVALID, 0, "%.*s holds no scalars", SB_SHOWN(line->series->tag));
    if (how->kind == SB_SMOOTH_NONE) return SB_OK;
    key k = {.run = sb_run_id(line->series->run),
             .show_superseded = line->show_superseded,
             .how = *how,
             .tag = line->series->tag};
    snapshot of = {.epoch = sb_series_epoch(line->series), .points = line->series->points};
    entry *e = use_entry(cache, &k, &of);
    if (!e) {
        sb_status status = make_entry(cache, line, &k, &of, budget, &e, err);
        if (status == SB_LIMIT) return SB_OK;
        if (status != SB_OK) return status;
        add_twin(cache, e);
    }
    line->smoothed = &e->smoothed;
    return SB_OK;
}

void sb_smooth_release(sb_smooth_cache *cache, sb_line *line) {
    if (!line->smoothed) return;
    entry *e = NULL;
    memcpy(&e, &line->smoothed, sizeof e); /* its first member; the line sees it as const */
    line->smoothed = NULL;
    pthread_mutex_lock(&cache->mutex);
    if (--e->users == 0 && !e->is_listed) free_entry(cache, e);
    pthread_mutex_unlock(&cache->mutex);
}
