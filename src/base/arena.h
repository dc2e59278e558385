/* arena.h: memory that belongs to one unit of work and is given back all at once.
 *
 * Blocks are chained; a mark remembers a place and a reset returns to it. The cap bounds the sum of
 * all blocks. Memory is aligned for any type. Threads: an arena belongs to one thread. */
#ifndef SB_BASE_ARENA_H
#define SB_BASE_ARENA_H

#include "base/alloc.h"
#include "seaboard/types.h"

typedef struct sb_arena_block sb_arena_block;

typedef struct sb_arena {
    const sb_alloc *alloc;
    sb_arena_block *top;
    size_t block_size;
    size_t cap;
    size_t held; /* bytes of all blocks */
} sb_arena;

typedef struct sb_arena_mark {
    sb_arena_block *block;
    size_t used;
} sb_arena_mark;

void sb_arena_init(sb_arena *a, const sb_alloc *alloc, size_t block_size, size_t cap);
void sb_arena_fini(sb_arena *a);

/* NULL when memory or the cap is exhausted. n = 0 gives a valid pointer. */
void *sb_arena_get(sb_arena *a, size_t n);
/* Zeroed room for count elements; NULL on overflow too. */
void *sb_arena_zeroed(sb_arena *a, size_t count, size_t size);
/* A copy with a NUL behind it; .p is NULL on failure. */
sb_slice sb_arena_dup(sb_arena *a, sb_slice s);

/* The arena as an allocator, for code that takes one (base/vec.h, base/buf.h): what is resized is
 * copied to a new place, and what is freed stays until the arena is reset. Valid while the arena
 * is. */
sb_alloc sb_arena_alloc(sb_arena *a);

sb_arena_mark sb_arena_here(const sb_arena *a);
void sb_arena_reset(sb_arena *a, sb_arena_mark mark);

#endif
