/* extent.c: blocks of memory that a loader and snapshots share by counting references. */
#include "store/store_int.h"
#include "base/banned.h"

void *sb_counted_new(const sb_alloc *alloc, size_t head, size_t element, uint32_t room) {
    size_t size = head + element * room;
    sb_counted *block = sb_alloc_get(alloc, size);
    if (!block) return NULL;
    atomic_init(&block->refs, 1);
    block->room = room;
    block->size = size;
    block->alloc = alloc;
    return block;
}

void sb_counted_hold(void *block) {
    if (block) atomic_fetch_add_explicit(&((sb_counted *)block)->refs, 1, memory_order_relaxed);
}

/* Drops one reference; true when it was the last one. */
static bool drop_reference(sb_counted *block) {
    return block && atomic_fetch_sub_explicit(&block->refs, 1, memory_order_acq_rel) == 1;
}

void sb_counted_release(void *block) {
    sb_counted *head = block;
    if (drop_reference(head)) sb_alloc_put(head->alloc, head, head->size);
}

void sb_chunk_list_release(sb_chunk_list *list) {
    if (!drop_reference(list ? &list->head : NULL)) return;
    for (size_t i = 0; i < list->n; i++) sb_chunk_release(list->items[i]);
    sb_alloc_put(list->head.alloc, list, list->head.size);
}

void sb_extent_hold(sb_extent *e) {
    sb_counted_hold(e->chunks);
    sb_counted_hold(e->tail);
    sb_counted_hold(e->refs);
}

void sb_extent_release(sb_extent *e) {
    sb_chunk_list_release(e->chunks);
    sb_counted_release(e->tail);
    sb_counted_release(e->refs);
    *e = (sb_extent){0};
}
