/* made_cache.c: a ring of bytes in a file, and a table of what is where.
 *
 * Entries are in the ring in the order in which they were kept, so the oldest ones are those right
 * behind the place that is written next: they are forgotten before it is written. An entry that is
 * being read when it is overwritten is noticed by its number: it is looked up again after the
 * read. */
#include "server/made_cache.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "base/slice.h"
#include "base/system/temp_file.h"
#include "base/banned.h"

#define MOST_ENTRIES 65536u /* a power of two */
#define SLOTS (2 * MOST_ENTRIES)
#define LARGEST_PART 16
#define MOST_UNDER_WAY 64u /* more than there are workers */
#define LOOK_EVERY_NS 10000000L

typedef struct made {
    uint64_t
        hash[2]; /* of the key; two of 64 bits: two keys with the same pair do not occur by chance
                    */
    uint64_t at;
    uint32_t n;
} made;

struct sb_made_cache {
    const sb_alloc *alloc;
    int file; /* -1: nothing is kept */
    uint64_t limit;
    pthread_mutex_t mutex;
    uint64_t next_at;     /* where the next entry goes */
    uint64_t first, last; /* numbers of the entries in the ring: first <= number < last */
    made *entries;        /* by number modulo MOST_ENTRIES */
    uint32_t *slots;      /* open hash table: number + 1 modulo 2^32, 0 is free */
    pthread_cond_t made;  /* something under way has ended */
    uint64_t under_way[MOST_UNDER_WAY][2]; /* hashes; 0, 0 is free */
};

sb_status sb_made_cache_new(sb_made_cache **out, const sb_alloc *alloc, const char *folder,
                            uint64_t bytes, sb_err *err) {
    sb_made_cache *c = sb_alloc_zeroed(alloc, 1, sizeof *c);
    if (!c) return sb_fail_nomem(err, "for the cache of thumbnails");
    c->alloc = alloc;
    c->limit = bytes;
    c->file = sb_temp_file_or_tmp(folder);
    pthread_mutex_init(&c->mutex, NULL);
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&c->made, &steady);
    pthread_condattr_destroy(&steady);
    *out = c;
    return SB_OK;
}

void sb_made_cache_free(sb_made_cache *c) {
    if (!c) return;
    if (c->file >= 0) close(c->file);
    pthread_cond_destroy(&c->made);
    pthread_mutex_destroy(&c->mutex);
    if (c->entries) sb_alloc_put(c->alloc, c->entries, MOST_ENTRIES * sizeof *c->entries);
    if (c->slots) sb_alloc_put(c->alloc, c->slots, SLOTS * sizeof *c->slots);
    sb_alloc_put(c->alloc, c, sizeof *c);
}

/* FNV-1a with two beginnings. */
static uint64_t hash_bytes(sb_slice key, uint64_t h) {
    for (size_t i = 0; i < key.n; i++) h = (h ^ key.p[i]) * 1099511628211u;
    return h ^ h >> 32;
}

static void hash_key(uint64_t out[2], sb_slice key) {
    out[0] = hash_bytes(key, 14695981039346656037u);
    out[1] = hash_bytes(key, 0x9E3779B97F4A7C15u);
}

static made *entry_of(const sb_made_cache *c, uint64_t number) {
    return &c->entries[number & (MOST_ENTRIES - 1)];
}

/* ---- the table, with the mutex held ---------------------------------------------------------- */

/* The slot of a hash, or the free one where it would be. */
static uint32_t slot_of(const sb_made_cache *c, const uint64_t hash[2]) {
    uint32_t i = (uint32_t)hash[0] & (SLOTS - 1);
    for (; c->slots[i]; i = (i + 1) & (SLOTS - 1)) {
        const made *m = entry_of(c, c->slots[i] - 1);
        if (m->hash[0] == hash[0] && m->hash[1] == hash[1]) break;
    }
    return i;
}

/* Entries behind a freed slot move up, so that no search ends before them. */
static void free_slot(sb_made_cache *c, uint32_t hole) {
    c->slots[hole] = 0;
    for (uint32_t i = (hole + 1) & (SLOTS - 1); c->slots[i]; i = (i + 1) & (SLOTS - 1)) {
        uint32_t home = (uint32_t)entry_of(c, c->slots[i] - 1)->hash[0] & (SLOTS - 1);
        if (((i - home) & (SLOTS - 1)) < ((i - hole) & (SLOTS - 1))) continue;
        c->slots[hole] = c->slots[i];
        c->slots[i] = 0;
        hole = i;
    }
}

static void forget_first(sb_made_cache *c) {
    uint32_t slot = slot_of(c, entry_of(c, c->first)->hash);
    if (c->slots[slot] == (uint32_t)(c->first & (MOST_ENTRIES - 1)) + 1) free_slot(c, slot);
    c->first++;
}

static bool has_tables(sb_made_cache *c) {
    if (c->slots) return true;
    c->entries = sb_alloc_zeroed(c->alloc, MOST_ENTRIES, sizeof *c->entries);
    uint32_t *slots = c->entries ? sb_alloc_zeroed(c->alloc, SLOTS, sizeof *slots) : NULL;
    c->slots = slots;
    if (slots || !c->entries) return slots != NULL;
    sb_alloc_put(c->alloc, c->entries, MOST_ENTRIES * sizeof *c->entries);
    c->entries = NULL;
    return false;
}

/* Makes room for n bytes and forgets what stood there. */
static uint64_t take_room(sb_made_cache *c, size_t n) {
    if (c->next_at + n > c->limit) {
        /* what is behind the place is older than what is at the front */
        while (c->first < c->last && entry_of(c, c->first)->at >= c->next_at) forget_first(c);
        c->next_at = 0;
    }
    uint64_t at = c->next_at;
    while (c->first < c->last && entry_of(c, c->first)->at >= at &&
           entry_of(c, c->first)->at < at + n)
        forget_first(c);
    if (c->last - c->first == MOST_ENTRIES) forget_first(c);
    c->next_at += n;
    return at;
}

/* ---- using it -------------------------------------------------------------------------------- */

static bool find_entry(sb_made_cache *c, const uint64_t hash[2], made *out) {
    pthread_mutex_lock(&c->mutex);
    uint32_t found = c->slots ? c->slots[slot_of(c, hash)] : 0;
    if (found) *out = *entry_of(c, found - 1);
    pthread_mutex_unlock(&c->mutex);
    return found != 0;
}

bool sb_made_cache_find(sb_made_cache *c, sb_slice key, sb_buf *out) {
    made m, again;
    uint64_t hash[2];
    hash_key(hash, key);
    if (c->file < 0 || !find_entry(c, hash, &m) || !sb_buf_reserve(out, m.n)) return false;
    size_t done = 0;
    while (done < m.n) {
        ssize_t got = pread(c->file, out->p + out->n + done, m.n - done, (off_t)(m.at + done));
        if (got <= 0) return false;
        done += (size_t)got;
    }
    /* it was not overwritten in the meantime */
    if (!find_entry(c, hash, &again) || again.at != m.at || again.n != m.n) return false;
    out->n += m.n;
    return true;
}

void sb_made_cache_keep(sb_made_cache *c, sb_slice key, sb_slice bytes) {
    if (c->file < 0 || bytes.n == 0 || bytes.n > c->limit / LARGEST_PART || bytes.n > UINT32_MAX)
        return;
    made m = {.n = (uint32_t)bytes.n};
    hash_key(m.hash, key);
    pthread_mutex_lock(&c->mutex);
    if (has_tables(c) && !c->slots[slot_of(c, m.hash)]) {
        m.at = take_room(c, bytes.n);
        /* written with the mutex held: its readers find it only when it is whole */
        if (pwrite(c->file, bytes.p, bytes.n, (off_t)m.at) == (ssize_t)bytes.n) {
            *entry_of(c, c->last) = m;
            c->slots[slot_of(c, m.hash)] = (uint32_t)(c->last & (MOST_ENTRIES - 1)) + 1;
            c->last++;
        }
    }
    pthread_mutex_unlock(&c->mutex);
}

/* ---- what is being made ---------------------------------------------------------------------- */

/* The place of a hash among those under way; MOST_UNDER_WAY: it is not there. With the mutex
 * held. */
static uint32_t place_under_way(const sb_made_cache *c, const uint64_t hash[2]) {
    uint32_t i = 0;
    while (i < MOST_UNDER_WAY && (c->under_way[i][0] != hash[0] || c->under_way[i][1] != hash[1]))
        i++;
    return i;
}

static void set_place(sb_made_cache *c, uint32_t i, const uint64_t hash[2]) {
    if (i == MOST_UNDER_WAY) return;
    c->under_way[i][0] = hash[0];
    c->under_way[i][1] = hash[1];
}

static const uint64_t nothing[2] = {0, 0};

bool sb_made_cache_begin(sb_made_cache *c, sb_slice key, bool (*is_over)(void *ud), void *ud) {
    uint64_t hash[2];
    hash_key(hash, key);
    pthread_mutex_lock(&c->mutex);
    bool was_made = place_under_way(c, hash) < MOST_UNDER_WAY;
    while (place_under_way(c, hash) < MOST_UNDER_WAY && !is_over(ud)) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += LOOK_EVERY_NS;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&c->made, &c->mutex, &until);
    }
    /* where too many are under way, the caller makes it without telling the others */
    if (!was_made) set_place(c, place_under_way(c, nothing), hash);
    pthread_mutex_unlock(&c->mutex);
    return !was_made;
}

void sb_made_cache_end(sb_made_cache *c, sb_slice key) {
    uint64_t hash[2];
    hash_key(hash, key);
    pthread_mutex_lock(&c->mutex);
    set_place(c, place_under_way(c, hash), nothing);
    pthread_cond_broadcast(&c->made);
    pthread_mutex_unlock(&c->mutex);
}
