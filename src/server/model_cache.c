/* model_cache.c: a list of counted models by last use. There are few of them, and looking through
 * them all costs nothing beside what is done with one. */
#include "server/model_cache.h"

#include <pthread.h>
#include <string.h>

#include "base/lru.h"
#include "base/slice.h"
#include "base/banned.h"

typedef struct entry {
    sb_kept_model kept; /* first: what callers hold */
    sb_lru_link use;
    sb_model *model;
    sb_buf graph;
    uint32_t refs; /* of callers, and one of the list */
    bool is_listed;
    size_t bytes;
    size_t key_n;
    uint8_t key[];
} entry;

struct sb_model_cache {
    const sb_alloc *alloc;
    pthread_mutex_t mutex; /* guards all below */
    size_t limit, held;
    uint64_t evicted;
    sb_lru lru;
};

sb_status sb_model_cache_new(sb_model_cache **out, const sb_alloc *alloc, size_t bytes,
                             sb_err *err) {
    sb_model_cache *c = sb_alloc_zeroed(alloc, 1, sizeof *c);
    if (!c) return sb_fail_nomem(err, "for the cache of graphs");
    c->alloc = alloc;
    c->limit = bytes;
    pthread_mutex_init(&c->mutex, NULL);
    *out = c;
    return SB_OK;
}

/* With the mutex held. */
static void drop_ref(sb_model_cache *c, entry *e) {
    if (--e->refs) return;
    sb_model_free(e->model);
    sb_buf_fini(&e->graph);
    sb_alloc_put(c->alloc, e, sizeof *e + e->key_n);
}

static void unlist(sb_model_cache *c, entry *e) {
    sb_lru_remove(&c->lru, &e->use);
    c->held -= e->bytes;
    e->is_listed = false;
    drop_ref(c, e);
}

void sb_model_cache_free(sb_model_cache *c) {
    if (!c) return;
    while (c->lru.oldest) unlist(c, SB_LRU_ENTRY(c->lru.oldest, entry, use));
    pthread_mutex_destroy(&c->mutex);
    sb_alloc_put(c->alloc, c, sizeof *c);
}

static entry *look_up(sb_model_cache *c, sb_slice key) {
    for (sb_lru_link *link = c->lru.newest; link; link = link->older) {
        entry *e = SB_LRU_ENTRY(link, entry, use);
        if (!sb_slice_eq(sb_slice_of(e->key, e->key_n), key)) continue;
        sb_lru_touch(&c->lru, link);
        e->refs++;
        return e;
    }
    return NULL;
}

const sb_kept_model *sb_model_cache_find(sb_model_cache *c, sb_slice key) {
    pthread_mutex_lock(&c->mutex);
    entry *e = look_up(c, key);
    pthread_mutex_unlock(&c->mutex);
    return e ? &e->kept : NULL;
}

const sb_kept_model *sb_model_cache_take(sb_model_cache *c, sb_slice key, sb_model *model,
                                         sb_buf *graph, const sb_graph_file *about) {
    entry *e = sb_alloc_zeroed(c->alloc, 1, sizeof *e + key.n);
    if (!e) {
        sb_model_free(model);
        if (graph) sb_buf_fini(graph);
        return NULL;
    }
    e->model = model;
    if (graph)
        e->graph = *graph;
    else
        sb_buf_init(&e->graph, c->alloc, 0);
    e->kept = (sb_kept_model){.model = model, .graph = sb_buf_slice(&e->graph)};
    if (about) e->kept.about = *about;
    e->key_n = key.n;
    if (key.n) memcpy(e->key, key.p, key.n);
    e->bytes = sizeof *e + key.n + model->bytes + e->graph.room;
    pthread_mutex_lock(&c->mutex);
    entry *other = look_up(c, key);
    if (other) {
        e->refs = 1;
        drop_ref(c, e);
        e = other;
    } else {
        for (; c->lru.oldest && c->held + e->bytes > c->limit; c->evicted++)
            unlist(c, SB_LRU_ENTRY(c->lru.oldest, entry, use));
        e->refs = 2;
        e->is_listed = true;
        c->held += e->bytes;
        sb_lru_add(&c->lru, &e->use);
    }
    pthread_mutex_unlock(&c->mutex);
    return &e->kept;
}

uint64_t sb_model_cache_evicted(sb_model_cache *c) {
    pthread_mutex_lock(&c->mutex);
    uint64_t n = c->evicted;
    pthread_mutex_unlock(&c->mutex);
    return n;
}

void sb_model_cache_release(sb_model_cache *c, const sb_kept_model *kept) {
    if (!kept) return;
    pthread_mutex_lock(&c->mutex);
    union {
        const sb_kept_model *in;
        entry *out;
    } same = {.in = kept}; /* its first member */
    drop_ref(c, same.out);
    pthread_mutex_unlock(&c->mutex);
}
