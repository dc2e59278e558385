/* quota.h: an allocator that counts what it gave out and refuses what would be too much.
 *
 * It stands in front of another allocator. Many users share one quota, so that together they hold
 * no more than its limit. Blocks below SB_QUOTA_SMALL are counted but never refused: an error
 * message must be possible when nothing else is.
 *
 * Threads: all functions may be called from any. Cost: one atomic addition per call. */
#ifndef SB_BASE_QUOTA_H
#define SB_BASE_QUOTA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

#define SB_QUOTA_SMALL ((size_t)16 << 10)

typedef struct sb_quota {
    const sb_alloc *inner;
    size_t limit; /* 0: none */
    _Atomic size_t used;
    _Atomic size_t freed;     /* total bytes of large blocks released so far */
    _Atomic uint64_t refused; /* requests refused so far */
    sb_alloc alloc;           /* what users are given */
} sb_quota;

/* The quota must not be moved afterwards. */
void sb_quota_init(sb_quota *q, const sb_alloc *inner, size_t limit);

/* Counts memory that is allocated elsewhere, for example by a library; false when that would exceed
 * the limit. */
bool sb_quota_take(sb_quota *q, size_t n);
void sb_quota_give(sb_quota *q, size_t n);

static inline size_t sb_quota_used(const sb_quota *q) {
    return atomic_load_explicit(&q->used, memory_order_relaxed);
}

#endif
