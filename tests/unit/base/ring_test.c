/* The bounded ring: order, wrapping, fullness, and many producers at once. */
#include "base/ring.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#define RING_BYTES 4096u

static uint8_t *memory_of(sb_ring *r, uint64_t size) {
    uint8_t *memory = aligned_alloc(16, size);
    memset(memory, 0, size);
    sb_ring_init(r, memory, size);
    return memory;
}

static bool put(sb_ring *r, const void *p, uint32_t n) {
    uint64_t end;
    uint32_t size = sb_ring_entry_size(n);
    uint8_t *entry = sb_ring_reserve(r, size, &end);
    if (!entry) return false;
    memcpy(entry + SB_RING_HEADER, p, n);
    sb_ring_publish(entry, size, 1);
    return true;
}

static bool take(sb_ring *r, void *p, uint32_t n) {
    uint32_t size, kind;
    uint64_t end;
    uint8_t *entry = sb_ring_peek(r, &size, &kind, &end);
    if (!entry) return false;
    assert_int_equal(kind, 1);
    memcpy(p, entry + SB_RING_HEADER, n);
    sb_ring_pop(r, entry, size);
    return true;
}

static void empty_ring_gives_nothing(void **state) {
    (void)state;
    sb_ring r;
    uint8_t *memory = memory_of(&r, RING_BYTES);
    uint64_t x;
    assert_false(take(&r, &x, sizeof x));
    assert_int_equal(sb_ring_used(&r), 0);
    free(memory);
}

static void entries_come_out_in_order_over_many_laps(void **state) {
    (void)state;
    sb_ring r;
    uint8_t *memory = memory_of(&r, RING_BYTES);
    sb_test_random random = sb_test_random_of(7);
    uint8_t entry[900], got[900];
    uint32_t sizes[64];
    uint64_t first = 0, last = 0;
    for (uint64_t turn = 0; turn < 20000; turn++) {
        uint32_t n = 8 + (uint32_t)sb_test_below(&random, sizeof entry - 8);
        memset(entry, (int)(last & 0xff), n);
        if (last - first < 64 && put(&r, entry, n)) sizes[last++ % 64] = n;
        if (sb_test_below(&random, 2) && first < last) {
            uint32_t size = sizes[first % 64];
            assert_true(take(&r, got, size));
            for (uint32_t i = 0; i < size; i++) assert_int_equal(got[i], first & 0xff);
            first++;
        }
    }
    assert_true(last > 5000);
    free(memory);
}

static void full_ring_refuses_until_room_is_handed_back(void **state) {
    (void)state;
    sb_ring r;
    uint8_t *memory = memory_of(&r, RING_BYTES);
    uint64_t x = 1;
    uint32_t count = 0;
    while (put(&r, &x, sizeof x)) count++;
    assert_int_equal(count, RING_BYTES / sb_ring_entry_size(sizeof x));
    assert_true(take(&r, &x, sizeof x));
    assert_true(put(&r, &x, sizeof x));
    assert_false(put(&r, &x, sizeof x));
    free(memory);
}

/* A producer that is interrupted between reading the head and reading the tail may find the tail
 * ahead of its head. Such a ring is not full, and nothing of it is in use. */
static void old_head_does_not_make_the_ring_full(void **state) {
    (void)state;
    sb_ring r;
    uint8_t *memory = memory_of(&r, RING_BYTES);
    assert_true(sb_ring_fits(&r, 64, 128));
    assert_true(sb_ring_fits(&r, RING_BYTES, 0));
    assert_false(sb_ring_fits(&r, RING_BYTES + 16, 0));
    assert_true(sb_ring_fits(&r, 16, UINT64_MAX - 15)); /* positions wrap around */
    assert_false(sb_ring_fits(&r, RING_BYTES, UINT64_MAX - 15));
    atomic_store(&r.head, 64);
    atomic_store(&r.tail, 128);
    assert_int_equal(sb_ring_used(&r), 0);
    free(memory);
}

static void reserved_entry_holds_back_the_ones_behind_it(void **state) {
    (void)state;
    sb_ring r;
    uint8_t *memory = memory_of(&r, RING_BYTES);
    uint64_t end, x = 5, got;
    uint32_t size = sb_ring_entry_size(sizeof x);
    uint8_t *early = sb_ring_reserve(&r, size, &end);
    assert_true(put(&r, &x, sizeof x));
    assert_false(take(&r, &got, sizeof got));
    uint64_t four = 4;
    memcpy(early + SB_RING_HEADER, &four, sizeof four);
    sb_ring_publish(early, size, 1);
    assert_true(take(&r, &got, sizeof got));
    assert_int_equal(got, 4);
    assert_true(take(&r, &got, sizeof got));
    assert_int_equal(got, 5);
    free(memory);
}

#define PRODUCERS 4
#define EACH 20000

typedef struct producer {
    sb_ring *ring;
    uint64_t id;
} producer;

static void *produce(void *ud) {
    producer *p = ud;
    for (uint64_t i = 0; i < EACH; i++) {
        uint64_t x[2] = {p->id, i};
        while (!put(p->ring, x, sizeof x)) sched_yield();
    }
    return NULL;
}

static void every_producers_entries_arrive_once_and_in_order(void **state) {
    (void)state;
    sb_ring r;
    uint8_t *memory = memory_of(&r, RING_BYTES);
    pthread_t threads[PRODUCERS];
    producer producers[PRODUCERS];
    for (uint64_t i = 0; i < PRODUCERS; i++) {
        producers[i] = (producer){&r, i};
        pthread_create(&threads[i], NULL, produce, &producers[i]);
    }
    uint64_t next[PRODUCERS] = {0};
    for (uint64_t seen = 0; seen < PRODUCERS * EACH;) {
        uint64_t x[2];
        if (!take(&r, x, sizeof x)) {
            sched_yield();
            continue;
        }
        assert_true(x[0] < PRODUCERS);
        assert_int_equal(x[1], next[x[0]]++);
        seen++;
    }
    for (int i = 0; i < PRODUCERS; i++) pthread_join(threads[i], NULL);
    free(memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_ring_gives_nothing),
        cmocka_unit_test(entries_come_out_in_order_over_many_laps),
        cmocka_unit_test(full_ring_refuses_until_room_is_handed_back),
        cmocka_unit_test(old_head_does_not_make_the_ring_full),
        cmocka_unit_test(reserved_entry_holds_back_the_ones_behind_it),
        cmocka_unit_test(every_producers_entries_arrive_once_and_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
