/* ring.c: the consumer's side of the ring. */
#include "base/ring.h"

#include <string.h>

#include "base/banned.h"

uint8_t *sb_ring_peek(sb_ring *r, uint32_t *size, uint32_t *kind, uint64_t *end) {
    for (;;) {
        uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
        uint8_t *entry = r->bytes + (tail & (r->size - 1));
        uint64_t mark =
            atomic_load_explicit((_Atomic uint64_t *)(void *)entry, memory_order_acquire);
        if (mark == 0) return NULL;
        *size = (uint32_t)mark;
        *kind = (uint32_t)(mark >> 32);
        *end = tail + *size;
        if (*kind != SB_RING_PAD) return entry;
        /* Only the header of a filler was written, so only that is zeroed. */
        atomic_store_explicit((_Atomic uint64_t *)(void *)entry, 0, memory_order_relaxed);
        atomic_store_explicit(&r->tail, *end, memory_order_release);
    }
}

void sb_ring_pop(sb_ring *r, uint8_t *entry, uint32_t size) {
    memset(entry, 0, size);
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    /* Sequentially consistent: a producer that waits for room announces that first and reads the
     * tail after. */
    atomic_store_explicit(&r->tail, tail + size, memory_order_seq_cst);
}
