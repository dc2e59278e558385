/* alloc.c: the C library behind the allocator table. */
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/banned.h"

static void *libc_resize(void *ctx, void *p, size_t old_size, size_t new_size) {
    (void)ctx;
    (void)old_size;
    if (new_size == 0) {
        free(p);
        return NULL;
    }
    return realloc(p, new_size);
}

/* Large blocks come as untouched pages, which cost nothing until they are used. */
static void *libc_zeroed(void *ctx, size_t n) {
    (void)ctx;
    return calloc(1, n);
}

const sb_alloc sb_alloc_libc = {libc_resize, NULL, libc_zeroed};

void *sb_alloc_zeroed(const sb_alloc *a, size_t count, size_t size) {
    size_t n;
    if (!sb_mul_size(&n, count, size)) return NULL;
    if (a->zeroed) return a->zeroed(a->ctx, n);
    void *p = sb_alloc_get(a, n);
    if (p && n) memset(p, 0, n);
    return p;
}
