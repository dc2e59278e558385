/* intern.h: byte strings to small dense numbers, 0, 1, 2, ... in order of first sight.
 *
 * The table owns copies of the strings (one arena); ids and the slices it hands out live as long as
 * the table. The hash is seeded per table, so nobody can build colliding tags ahead of time.
 * Threads: a table belongs to one thread. Cost: one hash and about one compare per look-up. */
#ifndef SB_BASE_INTERN_H
#define SB_BASE_INTERN_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"

#define SB_INTERN_NONE UINT32_MAX

typedef struct sb_intern {
    const sb_alloc *alloc;
    sb_arena names;
    uint64_t seed;
    sb_slice *items;  /* by id */
    uint64_t *hashes; /* by id */
    uint32_t count;
    uint32_t item_room;
    uint32_t *slots;     /* open addressing, id + 1, 0 is free */
    uint32_t slot_count; /* a power of two */
    uint32_t limit;
} sb_intern;

/* At most limit strings. Allocates nothing yet. */
void sb_intern_init(sb_intern *t, const sb_alloc *alloc, uint64_t seed, uint32_t limit);
void sb_intern_fini(sb_intern *t);

/* The id of s, or SB_INTERN_NONE. */
uint32_t sb_intern_find(const sb_intern *t, sb_slice s);
/* The id of s, added if new (*is_new tells, may be NULL). SB_LIMIT when the table is full. */
sb_status sb_intern_add(sb_intern *t, sb_slice s, uint32_t *id, bool *is_new);
/* The string of an id that the table handed out. */
static inline sb_slice sb_intern_name(const sb_intern *t, uint32_t id) {
    return t->items[id];
}

#endif
