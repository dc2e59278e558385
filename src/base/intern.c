/* intern.c: open addressing with linear probing over xxh3 hashes, at most half full. */
#include "base/intern.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/slice.h"
#include "base/banned.h"

void sb_intern_init(sb_intern *t, const sb_alloc *alloc, uint64_t seed, uint32_t limit) {
    *t = (sb_intern){.alloc = alloc, .seed = seed, .limit = limit};
    sb_arena_init(&t->names, alloc, 1u << 10, SIZE_MAX / 2); /* there may be very many tables */
}

void sb_intern_fini(sb_intern *t) {
    sb_arena_fini(&t->names);
    sb_alloc_put(t->alloc, t->items, t->item_room * sizeof *t->items);
    sb_alloc_put(t->alloc, t->hashes, t->item_room * sizeof *t->hashes);
    sb_alloc_put(t->alloc, t->slots, t->slot_count * sizeof *t->slots);
    t->items = NULL;
    t->hashes = NULL;
    t->slots = NULL;
    t->count = t->item_room = t->slot_count = 0;
}

static uint64_t hash_of(const sb_intern *t, sb_slice s) {
    return XXH3_64bits_withSeed(s.n ? (const void *)s.p : "", s.n, t->seed);
}

static uint32_t find_hashed(const sb_intern *t, sb_slice s, uint64_t hash) {
    if (t->slot_count == 0) return SB_INTERN_NONE;
    uint32_t mask = t->slot_count - 1;
    for (uint32_t i = (uint32_t)hash & mask; t->slots[i]; i = (i + 1) & mask) {
        uint32_t id = t->slots[i] - 1;
        if (t->hashes[id] == hash && sb_slice_eq(t->items[id], s)) return id;
    }
    return SB_INTERN_NONE;
}

uint32_t sb_intern_find(const sb_intern *t, sb_slice s) {
    return find_hashed(t, s, hash_of(t, s));
}

static void place_id(sb_intern *t, uint32_t id) {
    uint32_t mask = t->slot_count - 1;
    uint32_t i = (uint32_t)t->hashes[id] & mask;
    while (t->slots[i]) i = (i + 1) & mask;
    t->slots[i] = id + 1;
}

static bool grow_slots(sb_intern *t) {
    if ((uint64_t)t->count * 2 < t->slot_count) return true;
    uint32_t count = t->slot_count ? t->slot_count * 2 : 32;
    uint32_t *slots = sb_alloc_zeroed(t->alloc, count, sizeof *slots);
    if (!slots) return false;
    sb_alloc_put(t->alloc, t->slots, t->slot_count * sizeof *slots);
    t->slots = slots;
    t->slot_count = count;
    for (uint32_t id = 0; id < t->count; id++) place_id(t, id);
    return true;
}

static bool grow_items(sb_intern *t) {
    if (t->count < t->item_room) return true;
    uint32_t room = t->item_room ? t->item_room * 2 : 16;
    sb_slice *items = sb_alloc_get(t->alloc, room * sizeof *items);
    uint64_t *hashes = sb_alloc_get(t->alloc, room * sizeof *hashes);
    if (!items || !hashes) {
        sb_alloc_put(t->alloc, items, room * sizeof *items);
        sb_alloc_put(t->alloc, hashes, room * sizeof *hashes);
        return false;
    }
    if (t->count) {
        memcpy(items, t->items, t->count * sizeof *items);
        memcpy(hashes, t->hashes, t->count * sizeof *hashes);
    }
    sb_alloc_put(t->alloc, t->items, t->item_room * sizeof *items);
    sb_alloc_put(t->alloc, t->hashes, t->item_room * sizeof *hashes);
    t->items = items;
    t->hashes = hashes;
    t->item_room = room;
    return true;
}

sb_status sb_intern_add(sb_intern *t, sb_slice s, uint32_t *id, bool *is_new) {
    uint64_t hash = hash_of(t, s);
    *id = find_hashed(t, s, hash);
    if (is_new) *is_new = *id == SB_INTERN_NONE;
    if (*id != SB_INTERN_NONE) return SB_OK;
    if (t->count >= t->limit || t->count >= (UINT32_MAX >> 2)) return SB_LIMIT;
    if (!grow_slots(t) || !grow_items(t)) return SB_NOMEM;
    sb_slice own = sb_arena_dup(&t->names, s);
    if (!own.p) return SB_NOMEM;
    *id = t->count++;
    t->items[*id] = own;
    t->hashes[*id] = hash;
    place_id(t, *id);
    return SB_OK;
}
