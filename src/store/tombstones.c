/* tombstones.c: which runs were dropped, for readers that follow the store by its version. */
#include <string.h>

#include "base/slice.h"
#include "store/store_int.h"
#include "base/banned.h"

static sb_tombstone *tombstone_at(const sb_tombstones *t, size_t i) {
    return &t->items[(t->first + i) % SB_MAX_GONE_RUNS];
}

static void evict_oldest(sb_tombstones *t, const sb_alloc *alloc) {
    sb_tombstone *oldest = tombstone_at(t, 0);
    t->evicted_version = oldest->version;
    sb_alloc_put(alloc, oldest->name, oldest->name_n + 1);
    t->first = (t->first + 1) % SB_MAX_GONE_RUNS;
    t->n--;
}

/* Nothing up to that version is remembered any more. */
static void evict_all(sb_tombstones *t, const sb_alloc *alloc, uint64_t version) {
    while (t->n) evict_oldest(t, alloc);
    t->evicted_version = version;
}

void sb_tombstones_add(sb_tombstones *t, const sb_alloc *alloc, const sb_run *run,
                       uint64_t version) {
    if (!t->items) t->items = sb_alloc_zeroed(alloc, SB_MAX_GONE_RUNS, sizeof *t->items);
    /* One byte more than the name: an empty name is an allocation, too. */
    uint8_t *name = t->items ? sb_alloc_zeroed(alloc, run->name.n + 1, 1) : NULL;
    if (!name) {
        evict_all(t, alloc, version);
        return;
    }
    if (run->name.n) memcpy(name, run->name.p, run->name.n);
    if (t->n == SB_MAX_GONE_RUNS) evict_oldest(t, alloc);
    *tombstone_at(t, t->n++) = (sb_tombstone){run->id, version, name, run->name.n};
}

void sb_tombstones_fini(sb_tombstones *t, const sb_alloc *alloc) {
    evict_all(t, alloc, 0);
    sb_alloc_put(alloc, t->items, SB_MAX_GONE_RUNS * sizeof *t->items);
    t->items = NULL;
}

sb_status sb_store_gone_runs(sb_store *s, uint64_t since, sb_arena *arena, sb_gone_run **out,
                             size_t *n, bool *is_complete) {
    *n = 0;
    *out = NULL;
    sb_status status = SB_OK;
    pthread_mutex_lock(&s->mutex);
    const sb_tombstones *t = &s->gone;
    *is_complete = since >= t->evicted_version;
    size_t first = t->n; /* usually none is new */
    while (first && tombstone_at(t, first - 1)->version > since) first--;
    if (first < t->n) *out = sb_arena_get(arena, (t->n - first) * sizeof **out);
    if (first < t->n && !*out) status = SB_NOMEM;
    for (size_t i = first; status == SB_OK && i < t->n; i++) {
        const sb_tombstone *one = tombstone_at(t, i);
        sb_slice name = sb_arena_dup(arena, sb_slice_of(one->name, one->name_n));
        (*out)[(*n)++] = (sb_gone_run){one->id, name, one->version};
        if (!name.p) status = SB_NOMEM;
    }
    pthread_mutex_unlock(&s->mutex);
    return status;
}
