/* blocks.c: slabs of 1 MiB, each with a count of the blocks that live in it.
 *
 * A slab is aligned to its size, so that a block finds its slab by clearing low bits of its
 * address. */
#include "store/blocks.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/system/temp_file.h"
#include "base/banned.h"

#define SLAB_BYTES ((size_t)1 << 20)
#define ALIGN 8u

typedef struct slab {
    uint32_t used; /* bytes, header included */
    uint32_t live; /* blocks */
    bool in_file;
    uint64_t file_at;
    struct slab *next_free;
} slab;

struct sb_blocks {
    const sb_alloc *alloc;
    pthread_mutex_t mutex;
    uint64_t limit;
    int file; /* -1: none */
    uint64_t file_size;
    slab *current;
    slab *free; /* empty slabs of the file, to be used again */
    sb_blocks_stats stats;
};

sb_status sb_blocks_new(sb_blocks **out, const sb_alloc *alloc, uint64_t memory_limit,
                        const char *spill_dir, sb_err *err) {
    sb_blocks *b = sb_alloc_zeroed(alloc, 1, sizeof *b);
    if (!b) return sb_fail_nomem(err, "for the store");
    b->alloc = alloc;
    b->file = -1;
    b->limit = UINT64_MAX;
    if (spill_dir && memory_limit) {
        b->limit = memory_limit;
        b->file = sb_temp_file(spill_dir);
        if (b->file < 0) {
            int reason = errno;
            sb_alloc_put(alloc, b, sizeof *b);
            return sb_fail_errno(err, SB_IO, reason, "%s: can't make a file for spilled data here",
                                 spill_dir);
        }
    }
    pthread_mutex_init(&b->mutex, NULL);
    *out = b;
    return SB_OK;
}

void sb_blocks_free(sb_blocks *b) {
    if (!b) return;
    if (b->current) munmap(b->current, SLAB_BYTES);
    while (b->free) {
        slab *next = b->free->next_free;
        munmap(b->free, SLAB_BYTES);
        b->free = next;
    }
    if (b->file >= 0) close(b->file);
    pthread_mutex_destroy(&b->mutex);
    sb_alloc_put(b->alloc, b, sizeof *b);
}

/* Maps a slab at an address that is a multiple of its size. */
static void *map_aligned(int file, uint64_t at) {
    uint8_t *wide =
        mmap(NULL, 2 * SLAB_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (wide == MAP_FAILED) return NULL;
    size_t skip = (SLAB_BYTES - ((uintptr_t)wide & (SLAB_BYTES - 1))) & (SLAB_BYTES - 1);
    uint8_t *aligned = wide + skip;
    if (skip) munmap(wide, skip);
    if (skip != SLAB_BYTES) munmap(aligned + SLAB_BYTES, SLAB_BYTES - skip);
    int flags = MAP_FIXED | (file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED);
    void *mapped = mmap(aligned, SLAB_BYTES, PROT_READ | PROT_WRITE, flags, file, (off_t)at);
    if (mapped == MAP_FAILED) {
        munmap(aligned, SLAB_BYTES);
        return NULL;
    }
    return mapped;
}

static slab *new_slab(sb_blocks *b) {
    if (b->free) {
        slab *s = b->free;
        b->free = s->next_free;
        *s = (slab){.used = sizeof(slab), .in_file = true, .file_at = s->file_at};
        return s;
    }
    bool spill = b->file >= 0 && b->stats.memory + SLAB_BYTES > b->limit;
    uint64_t at = b->file_size;
    if (spill) {
        /* A disk that is full shows here, not as a signal at the first touch. */
        b->stats.spill_error = posix_fallocate(b->file, (off_t)at, (off_t)SLAB_BYTES);
        spill = b->stats.spill_error == 0;
    }
    slab *s = map_aligned(spill ? b->file : -1, at);
    if (!s) return NULL;
    if (spill) {
        b->file_size += SLAB_BYTES;
        b->stats.spilled += SLAB_BYTES;
    } else {
        b->stats.memory += SLAB_BYTES;
    }
    *s = (slab){.used = sizeof(slab), .in_file = spill, .file_at = at};
    return s;
}

static void drop_slab(sb_blocks *b, slab *s) {
    if (s->in_file) {
        s->next_free = b->free;
        b->free = s;
        return;
    }
    b->stats.memory -= SLAB_BYTES;
    munmap(s, SLAB_BYTES);
}

void *sb_blocks_get(sb_blocks *b, uint32_t size) {
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    pthread_mutex_lock(&b->mutex);
    void *block = NULL;
    if (!b->current || SLAB_BYTES - b->current->used < size) {
        slab *fresh = new_slab(b);
        if (fresh && b->current && b->current->live == 0) drop_slab(b, b->current);
        if (fresh) b->current = fresh;
    }
    if (b->current && SLAB_BYTES - b->current->used >= size) {
        block = (uint8_t *)b->current + b->current->used;
        b->current->used += size;
        b->current->live++;
    }
    pthread_mutex_unlock(&b->mutex);
    return block;
}

void sb_blocks_put(sb_blocks *b, void *block) {
    slab *s = (slab *)(void *)((uint8_t *)block - ((uintptr_t)block & (SLAB_BYTES - 1)));
    pthread_mutex_lock(&b->mutex);
    s->live--;
    if (s->live == 0 && s != b->current) drop_slab(b, s);
    pthread_mutex_unlock(&b->mutex);
}

void sb_blocks_get_stats(sb_blocks *b, sb_blocks_stats *out) {
    pthread_mutex_lock(&b->mutex);
    *out = b->stats;
    pthread_mutex_unlock(&b->mutex);
}
