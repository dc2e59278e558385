/* made_cache_test.c: what was made is found again, until the ring has gone round. */
#include "server/made_cache.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/slice.h"
#include "support/test.h"
#include "base/banned.h"

static sb_made_cache *cache_of(uint64_t bytes) {
    sb_made_cache *c;
    sb_err err;
    assert_ok(sb_made_cache_new(&c, &sb_alloc_libc, NULL, bytes, &err), &err);
    return c;
}

static sb_slice key_of(char room[32], uint32_t i) {
    return sb_slice_of(room, (size_t)snprintf(room, 32, "key %u", i));
}

/* Bytes that only this key has. */
static sb_slice bytes_of(uint8_t *room, uint32_t i, size_t n) {
    for (size_t k = 0; k < n; k++) room[k] = (uint8_t)(i * 31 + k);
    return sb_slice_of(room, n);
}

static bool has(sb_made_cache *c, uint32_t i, size_t n) {
    char key[32];
    uint8_t want[4096];
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 20);
    bool found = sb_made_cache_find(c, key_of(key, i), &out);
    if (found) {
        assert_int_equal(out.n, n);
        assert_memory_equal(out.p, bytes_of(want, i, n).p, n);
    }
    sb_buf_fini(&out);
    return found;
}

static void keep(sb_made_cache *c, uint32_t i, size_t n) {
    char key[32];
    uint8_t bytes[4096];
    sb_made_cache_keep(c, key_of(key, i), bytes_of(bytes, i, n));
}

static void what_was_made_is_found(void **state) {
    (void)state;
    sb_made_cache *c = cache_of(1 << 20);
    assert_false(has(c, 1, 10));
    keep(c, 1, 10);
    keep(c, 2, 4000);
    assert_true(has(c, 1, 10));
    assert_true(has(c, 2, 4000));
    assert_false(has(c, 3, 10));
    sb_made_cache_free(c);
}

static void the_oldest_goes_when_the_file_is_full(void **state) {
    (void)state;
    sb_made_cache *c = cache_of(100000);
    for (uint32_t i = 0; i < 1000; i++) keep(c, i, 1000 + i);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < 1000; i++) kept += has(c, i, 1000 + i);
    assert_true(kept > 40 && kept < 60); /* of about 1950 bytes each */
    assert_true(has(c, 999, 1999));
    assert_false(has(c, 0, 1000));
    sb_made_cache_free(c);
}

static void more_entries_than_the_table_has_places(void **state) {
    (void)state;
    sb_made_cache *c = cache_of(1 << 24);
    for (uint32_t i = 0; i < 200000; i++) keep(c, i, 8);
    for (uint32_t i = 0; i < 200000 - 65536; i += 97) assert_false(has(c, i, 8));
    for (uint32_t i = 200000 - 65536; i < 200000; i += 89) assert_true(has(c, i, 8));
    sb_made_cache_free(c);
}

static void what_is_too_large_is_not_kept(void **state) {
    (void)state;
    sb_made_cache *c = cache_of(16000);
    keep(c, 1, 1001);
    assert_false(has(c, 1, 1001));
    keep(c, 2, 1000);
    assert_true(has(c, 2, 1000));
    sb_made_cache_free(c);
}

static void *use_it(void *opaque) {
    sb_made_cache *c = opaque;
    for (uint32_t i = 0; i < 3000; i++) {
        keep(c, i % 300, 500 + i % 300);
        has(c, (i * 7) % 300, 500 + (i * 7) % 300);
    }
    return NULL;
}

static void threads_get_whole_entries_or_none(void **state) {
    (void)state;
    sb_made_cache *c = cache_of(60000);
    pthread_t threads[3];
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_it, c), 0);
    for (size_t i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    sb_made_cache_free(c);
}

static bool never(void *ud) {
    (void)ud;
    return false;
}
static bool at_once(void *ud) {
    (void)ud;
    return true;
}

typedef struct waiter {
    sb_made_cache *c;
    bool is_first, has_it;
} waiter;

static void *wait_for_it(void *opaque) {
    waiter *w = opaque;
    char key[32];
    w->is_first = sb_made_cache_begin(w->c, key_of(key, 1), never, NULL);
    w->has_it = has(w->c, 1, 100);
    /* one that came after the end is the first again, and the others wait for it */
    if (w->is_first) sb_made_cache_end(w->c, key_of(key, 1));
    return NULL;
}

static void equal_questions_are_made_once_and_the_others_wait(void **state) {
    (void)state;
    sb_made_cache *c = cache_of(1 << 20);
    char key[32];
    assert_true(sb_made_cache_begin(c, key_of(key, 1), never, NULL));
    assert_true(sb_made_cache_begin(c, key_of(key, 2), never, NULL)); /* another question */
    waiter waiters[3] = {
        {.c = c, .is_first = true}, {.c = c, .is_first = true}, {.c = c, .is_first = true}};
    pthread_t threads[3];
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, wait_for_it, &waiters[i]), 0);
    keep(c, 1, 100);
    sb_made_cache_end(c, key_of(key, 1));
    for (size_t i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        assert_true(waiters[i].has_it);
    }
    assert_false(sb_made_cache_begin(c, key_of(key, 2), at_once, NULL)); /* no time to wait */
    sb_made_cache_end(c, key_of(key, 2));
    assert_true(sb_made_cache_begin(c, key_of(key, 2), at_once, NULL));
    sb_made_cache_free(c);
}

static void more_under_way_than_can_be_told_are_made_each(void **state) {
    (void)state;
    sb_made_cache *c = cache_of(1 << 20);
    char key[32];
    for (uint32_t i = 0; i < 200; i++)
        assert_true(sb_made_cache_begin(c, key_of(key, i), never, NULL));
    assert_true(sb_made_cache_begin(c, key_of(key, 199), never, NULL));
    for (uint32_t i = 0; i < 200; i++) sb_made_cache_end(c, key_of(key, i));
    assert_true(sb_made_cache_begin(c, key_of(key, 0), never, NULL));
    sb_made_cache_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_made_is_found),
        cmocka_unit_test(the_oldest_goes_when_the_file_is_full),
        cmocka_unit_test(more_entries_than_the_table_has_places),
        cmocka_unit_test(what_is_too_large_is_not_kept),
        cmocka_unit_test(threads_get_whole_entries_or_none),
        cmocka_unit_test(equal_questions_are_made_once_and_the_others_wait),
        cmocka_unit_test(more_under_way_than_can_be_told_are_made_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
