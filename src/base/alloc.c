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

const sb_alloc sb_alloc_libc = {libc_resize, NULL};

void *sb_alloc_zeroed(const sb_alloc *a, size_t count, size_t size) {
    size_t n;
    if (!sb_mul_size(&n, count, size)) return NULL;
    void *p = sb_alloc_get(a, n);
    if (p && n) memset(p, 0, n);
    return p;
}
