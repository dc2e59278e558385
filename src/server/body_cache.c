/* body_cache.c: a hash table of counted bodies, and a list of them by last use. */
#include "server/body_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/lru.h"
#include "base/slice.h"
#include "base/banned.h"

#define BUCKETS 4096u /* a power of two */
#define LARGEST_PART 4

struct sb_body {
    const sb_alloc *alloc;
    _Atomic uint32_t refs;
    uint64_t hash;
    sb_body *next; /* in its bucket */
    sb_lru_link use;
    size_t key_n, n;
    uint8_t bytes[]; /* key, then body */
};

struct sb_body_cache {
    const sb_alloc *alloc;
    pthread_mutex_t mutex; /* guards all below */
    size_t limit, held;
    sb_lru lru;
    sb_body *buckets[BUCKETS];
};

static size_t cached_body_size(const sb_body *b) {
    return sizeof *b + b->key_n + b->n;
}

void sb_body_release(void *body) {
    sb_body *b = body;
    if (b && atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) == 1)
        sb_alloc_put(b->alloc, b, cached_body_size(b));
}

sb_slice sb_body_bytes(const sb_body *b) {
    return sb_slice_of(b->bytes + b->key_n, b->n);
}

sb_status sb_body_cache_new(sb_body_cache **out, const sb_alloc *alloc, size_t bytes, sb_err *err) {
    sb_body_cache *c = sb_alloc_zeroed(alloc, 1, sizeof *c);
    if (!c) return sb_fail_nomem(err, "for the cache of answers");
    c->alloc = alloc;
    c->limit = bytes;
    pthread_mutex_init(&c->mutex, NULL);
    *out = c;
    return SB_OK;
}

/* FNV-1a: keys are short, and they are not chosen by clients. */
static uint64_t hash_key(sb_slice key) {
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < key.n; i++) h = (h ^ key.p[i]) * 1099511628211u;
    return h ^ h >> 32;
}

static void drop_oldest(sb_body_cache *c) {
    sb_body *b = SB_LRU_ENTRY(c->lru.oldest, sb_body, use);
    sb_body **at = &c->buckets[b->hash & (BUCKETS - 1)];
    while (*at != b) at = &(*at)->next;
    *at = b->next;
    sb_lru_remove(&c->lru, &b->use);
    c->held -= cached_body_size(b);
    sb_body_release(b);
}

void sb_body_cache_free(sb_body_cache *c) {
    if (!c) return;
    while (c->lru.oldest) drop_oldest(c);
    pthread_mutex_destroy(&c->mutex);
    sb_alloc_put(c->alloc, c, sizeof *c);
}

static sb_body *look_up(sb_body_cache *c, uint64_t hash, sb_slice key) {
    sb_body *b = c->buckets[hash & (BUCKETS - 1)];
    while (b && (b->hash != hash || !sb_slice_eq(sb_slice_of(b->bytes, b->key_n), key)))
        b = b->next;
    if (!b) return NULL;
    sb_lru_touch(&c->lru, &b->use);
    atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
    return b;
}

sb_body *sb_body_cache_find(sb_body_cache *c, sb_slice key) {
    if (key.n > SB_CACHE_KEY_BYTES) return NULL;
    uint64_t hash = hash_key(key);
    pthread_mutex_lock(&c->mutex);
    sb_body *b = look_up(c, hash, key);
    pthread_mutex_unlock(&c->mutex);
    return b;
}

sb_body *sb_body_cache_keep(sb_body_cache *c, sb_slice key, sb_slice body) {
    if (key.n > SB_CACHE_KEY_BYTES || body.n > c->limit / LARGEST_PART) return NULL;
    size_t size = sizeof(sb_body) + key.n + body.n;
    sb_body *b = sb_alloc_get(c->alloc, size);
    if (!b) return NULL;
    *b = (sb_body){.alloc = c->alloc, .hash = hash_key(key), .key_n = key.n, .n = body.n};
    atomic_init(&b->refs, 2); /* the cache's and the caller's */
    if (key.n) memcpy(b->bytes, key.p, key.n);
    if (body.n) memcpy(b->bytes + key.n, body.p, body.n);
    pthread_mutex_lock(&c->mutex);
    sb_body *other = look_up(c, b->hash, key); /* another thread stored it meanwhile */
    if (!other) {
        while (c->lru.oldest && c->held + size > c->limit) drop_oldest(c);
        b->next = c->buckets[b->hash & (BUCKETS - 1)];
        c->buckets[b->hash & (BUCKETS - 1)] = b;
        sb_lru_add(&c->lru, &b->use);
        c->held += size;
    }
    pthread_mutex_unlock(&c->mutex);
    if (!other) return b;
    sb_alloc_put(c->alloc, b, size);
    return other;
}
