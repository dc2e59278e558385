/* blocks.h: the allocator of sealed chunks: memory up to a limit, beyond it an unlinked mapped
 * file, whose pages the system evicts and reads back as it needs.
 *
 * Blocks are cut from slabs of one size; a slab is released when all of its blocks are. When the
 * file can't grow (its disk is full), slabs beyond the limit stay in memory; every new slab tries
 * the file again. Threads: all functions may be called from any thread. */
#ifndef SB_STORE_BLOCKS_H
#define SB_STORE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"

typedef struct sb_blocks sb_blocks;

typedef struct sb_blocks_stats {
    uint64_t memory;  /* bytes of slabs in memory */
    uint64_t spilled; /* bytes of slabs in the file */
    int spill_error;  /* errno: the file can't grow, so what is beyond the limit stays in memory */
} sb_blocks_stats;

/* spill_dir NULL or memory_limit 0: everything stays in memory. */
sb_status sb_blocks_new(sb_blocks **out, const sb_alloc *alloc, uint64_t memory_limit,
                        const char *spill_dir, sb_err *err);
/* All blocks must have been released. */
void sb_blocks_free(sb_blocks *b);

/* Aligned to 8; NULL when there is no memory. size at most 64 KiB. */
void *sb_blocks_get(sb_blocks *b, uint32_t size);
void sb_blocks_put(sb_blocks *b, void *block);
void sb_blocks_get_stats(sb_blocks *b, sb_blocks_stats *out);

#endif
