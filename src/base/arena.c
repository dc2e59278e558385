/* arena.c: chained blocks, newest on top. */
#include "base/arena.h"

#include <stdalign.h>
#include <string.h>

#include "base/checked.h"
#include "base/banned.h"

struct sb_arena_block {
    sb_arena_block *below;
    size_t size; /* of the whole block, header included */
    size_t used; /* header included */
};

#define ALIGN alignof(max_align_t)
#define HEADER ((sizeof(sb_arena_block) + ALIGN - 1) / ALIGN * ALIGN)

void sb_arena_init(sb_arena *a, const sb_alloc *alloc, size_t block_size, size_t cap) {
    *a = (sb_arena){.alloc = alloc, .block_size = block_size, .cap = cap};
}

static void drop_top(sb_arena *a) {
    sb_arena_block *top = a->top;
    a->top = top->below;
    a->held -= top->size;
    sb_alloc_put(a->alloc, top, top->size);
}

void sb_arena_fini(sb_arena *a) {
    while (a->top) drop_top(a);
}

static sb_arena_block *push_block(sb_arena *a, size_t need) {
    size_t size;
    if (!sb_add_size(&size, need, HEADER)) return NULL;
    if (size < a->block_size) size = a->block_size;
    if (size > a->cap - a->held) {
        size = need + HEADER; /* a block of exactly this size may still fit under the cap */
        if (size > a->cap - a->held) return NULL;
    }
    sb_arena_block *block = sb_alloc_get(a->alloc, size);
    if (!block) return NULL;
    *block = (sb_arena_block){.below = a->top, .size = size, .used = HEADER};
    a->top = block;
    a->held += size;
    return block;
}

void *sb_arena_get(sb_arena *a, size_t n) {
    size_t need;
    if (!sb_add_size(&need, n, ALIGN - 1)) return NULL;
    need = need / ALIGN * ALIGN;
    sb_arena_block *block = a->top;
    if (!block || block->size - block->used < need) {
        block = push_block(a, need);
        if (!block) return NULL;
    }
    void *p = (uint8_t *)block + block->used;
    block->used += need;
    return p;
}

void *sb_arena_zeroed(sb_arena *a, size_t count, size_t size) {
    size_t n;
    if (!sb_mul_size(&n, count, size)) return NULL;
    void *p = sb_arena_get(a, n);
    if (p && n) memset(p, 0, n);
    return p;
}

sb_slice sb_arena_dup(sb_arena *a, sb_slice s) {
    size_t n;
    if (!sb_add_size(&n, s.n, 1)) return (sb_slice){NULL, 0};
    uint8_t *p = sb_arena_get(a, n);
    if (!p) return (sb_slice){NULL, 0};
    if (s.n) memcpy(p, s.p, s.n);
    p[s.n] = 0;
    return (sb_slice){p, s.n};
}

static void *resize_in_arena(void *ctx, void *p, size_t old_size, size_t new_size) {
    if (new_size <= old_size) return new_size ? p : NULL;
    void *larger = sb_arena_get(ctx, new_size);
    if (larger && old_size) memcpy(larger, p, old_size);
    return larger;
}

sb_alloc sb_arena_alloc(sb_arena *a) {
    return (sb_alloc){.resize = resize_in_arena, .ctx = a};
}

sb_arena_mark sb_arena_here(const sb_arena *a) {
    return (sb_arena_mark){a->top, a->top ? a->top->used : 0};
}

void sb_arena_reset(sb_arena *a, sb_arena_mark mark) {
    while (a->top && a->top != mark.block) drop_top(a);
    if (a->top) a->top->used = mark.used;
}
