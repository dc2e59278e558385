/* alloc.h: where memory comes from: one function that tests replace by one that fails on demand.
 *
 * Ownership: who gets memory from an allocator gives it back to the same allocator, with its size.
 */
#ifndef SB_BASE_ALLOC_H
#define SB_BASE_ALLOC_H

#include <stddef.h>

/* resize(ctx, NULL, 0, n) allocates, resize(ctx, p, old, 0) frees and returns NULL, the rest
 * resizes. NULL for n > 0 means failure; the old block is then still there. */
typedef struct sb_alloc {
    void *(*resize)(void *ctx, void *p, size_t old_size, size_t new_size);
    void *ctx;
    /* Zeroed memory, where that is cheaper than setting it by hand; NULL: it is not. */
    void *(*zeroed)(void *ctx, size_t n);
} sb_alloc;

extern const sb_alloc sb_alloc_libc;

static inline void *sb_alloc_get(const sb_alloc *a, size_t n) {
    return a->resize(a->ctx, NULL, 0, n);
}

static inline void sb_alloc_put(const sb_alloc *a, void *p, size_t n) {
    if (p) a->resize(a->ctx, p, n, 0);
}

/* Zeroed memory for count elements of size bytes; NULL on overflow too. */
void *sb_alloc_zeroed(const sb_alloc *a, size_t count, size_t size);

#endif
