/* vec.c: how growing arrays grow: to twice their room, at first to 64 bytes' worth. */
#include "base/vec.h"

#include "base/checked.h"
#include "base/banned.h"

#define FIRST_BYTES 64

void *sb_vec_grow(const sb_alloc *alloc, void *items, size_t *room, size_t n, size_t more,
                  size_t size, size_t most) {
    size_t need, bytes;
    if (!sb_add_size(&need, n, more) || need > most) return NULL;
    size_t larger = *room ? (*room > most / 2 ? most : *room * 2) : FIRST_BYTES / size;
    if (larger > most) larger = most;
    if (larger < need) larger = need;
    if (!sb_mul_size(&bytes, larger, size)) return NULL;
    void *p = alloc->resize(alloc->ctx, items, *room * size, bytes);
    if (p) *room = larger;
    return p;
}
