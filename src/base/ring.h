/* ring.h: a bounded lock-free queue of byte entries, many producers to one consumer.
 *
 * A producer reserves room with one compare-and-swap, fills it, and publishes it with one store;
 * nobody takes a lock. The consumer sees entries in the order of their reservation, each as one
 * contiguous run of bytes. It zeroes an entry before it releases the room, because a header that
 * reads 0 means "reserved, not yet published".
 *
 * Entry:  0..3 size of the entry, a multiple of 16 | 4..7 kind, not 0 | payload
 * An entry that would cross the end is put at the start, with a filler of kind SB_RING_PAD in
 * front.
 *
 * Threads: reserve and publish by any number, peek and pop by one. */
#ifndef SB_BASE_RING_H
#define SB_BASE_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SB_RING_ALIGN 16u
#define SB_RING_HEADER 8u
#define SB_RING_PAD UINT32_MAX

typedef struct sb_ring {
    uint8_t *bytes;
    uint64_t size; /* a power of two */
    /* Producers and consumer each have a cache line of their own. */
    uint8_t apart_1[64];
    _Atomic uint64_t head; /* reserved up to here, ever growing */
    uint8_t apart_2[64];
    _Atomic uint64_t tail; /* released by the consumer up to here */
    uint8_t apart_3[64];
} sb_ring;

static inline uint32_t sb_ring_entry_size(uint32_t payload) {
    return (payload + SB_RING_HEADER + SB_RING_ALIGN - 1) / SB_RING_ALIGN * SB_RING_ALIGN;
}

/* Takes zeroed memory, aligned to 16, of size bytes, a power of two; the caller keeps owning it. An
 * entry may be at most half of it. */
static inline void sb_ring_init(sb_ring *r, void *zeroed, uint64_t size) {
    r->bytes = zeroed;
    r->size = size;
    atomic_init(&r->head, 0);
    atomic_init(&r->tail, 0);
}

static inline void sb_ring_mark(uint8_t *entry, uint32_t size, uint32_t kind) {
    atomic_store_explicit((_Atomic uint64_t *)(void *)entry, (uint64_t)kind << 32 | size,
                          memory_order_release);
}

/* Do entries up to the position `next` fit into a ring whose consumer is at `tail`? A producer may
 * have computed `next` from an old value of the head, so that the tail is already ahead of it. Then
 * the answer is yes: the compare-and-swap of the head fails afterwards, and the producer tries
 * again. */
static inline bool sb_ring_fits(const sb_ring *r, uint64_t next, uint64_t tail) {
    return (int64_t)(next - tail) <= (int64_t)r->size;
}

/* Room for an entry of size bytes (from sb_ring_entry_size); NULL when there is none. *end: the
 * ring's position behind it. The payload begins SB_RING_HEADER bytes in. */
static inline uint8_t *sb_ring_reserve(sb_ring *r, uint32_t size, uint64_t *end) {
    uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    for (;;) {
        uint64_t offset = head & (r->size - 1);
        uint64_t to_end = r->size - offset;
        uint64_t pad = size <= to_end ? 0 : to_end;
        uint64_t next = head + pad + size;
        uint64_t tail = atomic_load_explicit(&r->tail, memory_order_acquire);
        if (!sb_ring_fits(r, next, tail)) return NULL;
        /* Sequentially consistent: a producer that then finds the consumer awake is sure that the
         * consumer will find its reservation (writer/thread.c sleeps by this). */
        if (!atomic_compare_exchange_weak_explicit(&r->head, &head, next, memory_order_seq_cst,
                                                   memory_order_relaxed))
            continue;
        *end = next;
        if (!pad) return r->bytes + offset;
        sb_ring_mark(r->bytes + offset, (uint32_t)pad, SB_RING_PAD);
        return r->bytes;
    }
}

static inline void sb_ring_publish(uint8_t *entry, uint32_t size, uint32_t kind) {
    sb_ring_mark(entry, size, kind);
}

/* Bytes reserved and not yet released by the consumer. The head may be read older than the tail:
 * that is an empty ring. */
static inline uint64_t sb_ring_used(sb_ring *r) {
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    int64_t used = (int64_t)(atomic_load_explicit(&r->head, memory_order_relaxed) - tail);
    return used > 0 ? (uint64_t)used : 0;
}

/* The oldest published entry, or NULL. The position behind it goes to *end. */
uint8_t *sb_ring_peek(sb_ring *r, uint32_t *size, uint32_t *kind, uint64_t *end);
/* Releases the entry that peek returned: its room can be reserved again. */
void sb_ring_pop(sb_ring *r, uint8_t *entry, uint32_t size);

#endif
