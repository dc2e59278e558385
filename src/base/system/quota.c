/* quota.c: the counters of quota.h. */
#include "base/system/quota.h"

#include "base/banned.h"

bool sb_quota_take(sb_quota *q, size_t n) {
    size_t before = atomic_fetch_add_explicit(&q->used, n, memory_order_relaxed);
    if (n < SB_QUOTA_SMALL || q->limit == 0 || (n <= q->limit && before <= q->limit - n))
        return true;
    atomic_fetch_sub_explicit(&q->used, n, memory_order_relaxed);
    atomic_fetch_add_explicit(&q->refused, 1, memory_order_relaxed);
    return false;
}

void sb_quota_give(sb_quota *q, size_t n) {
    atomic_fetch_sub_explicit(&q->used, n, memory_order_relaxed);
    if (n >= SB_QUOTA_SMALL) atomic_fetch_add_explicit(&q->freed, n, memory_order_relaxed);
}

static void *quota_resize(void *ctx, void *p, size_t old_size, size_t new_size) {
    sb_quota *q = ctx;
    const sb_alloc *inner = q->inner;
    if (new_size > old_size && !sb_quota_take(q, new_size - old_size)) return NULL;
    void *fresh = inner->resize(inner->ctx, p, old_size, new_size);
    if (new_size > old_size && !fresh) sb_quota_give(q, new_size - old_size);
    if (new_size < old_size && (fresh || new_size == 0)) sb_quota_give(q, old_size - new_size);
    return fresh;
}

static void *quota_zeroed(void *ctx, size_t n) {
    sb_quota *q = ctx;
    if (!sb_quota_take(q, n)) return NULL;
    void *p = sb_alloc_zeroed(q->inner, 1, n);
    if (!p) sb_quota_give(q, n);
    return p;
}

void sb_quota_init(sb_quota *q, const sb_alloc *inner, size_t limit) {
    *q = (sb_quota){.inner = inner, .limit = limit};
    q->alloc = (sb_alloc){quota_resize, q, quota_zeroed};
}
