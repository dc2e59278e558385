/* vec_test.c: a growing array keeps its elements, stops at its cap and survives failed requests. */
#include "base/vec.h"

#include "base/arena.h"
#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

typedef SB_VEC(uint64_t) numbers;

static void elements_stay_in_order_while_it_grows(void **state) {
    (void)state;
    sb_fault_alloc f;
    sb_fault_alloc_init(&f);
    numbers v = {0};
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t *slot = SB_VEC_PUSH(&v, &f.alloc, SIZE_MAX);
        assert_non_null(slot);
        *slot = i;
    }
    assert_int_equal(v.n, 1000);
    for (uint64_t i = 0; i < 1000; i++) assert_int_equal(v.items[i], i);
    assert_true(f.calls <= 8); /* 8, 16, ... 1024 */
    SB_VEC_FREE(&v, &f.alloc);
    assert_int_equal(v.n + v.room, 0);
    sb_fault_alloc_fini(&f);
}

static void insert_and_remove_keep_the_order_of_the_others(void **state) {
    (void)state;
    static const uint64_t expected[] = {1, 2, 3, 5, 9};
    numbers v = {0};
    *SB_VEC_INSERT(&v, &sb_alloc_libc, 0, 10) = 5;
    *SB_VEC_INSERT(&v, &sb_alloc_libc, 0, 10) = 1;
    *SB_VEC_INSERT(&v, &sb_alloc_libc, 2, 10) = 9;
    *SB_VEC_INSERT(&v, &sb_alloc_libc, 1, 10) = 2;
    *SB_VEC_INSERT(&v, &sb_alloc_libc, 2, 10) = 3;
    assert_int_equal(v.n, SB_COUNT(expected));
    assert_memory_equal(v.items, expected, sizeof expected);
    SB_VEC_REMOVE(&v, 4);
    SB_VEC_REMOVE(&v, 0);
    assert_int_equal(v.n, 3);
    assert_memory_equal(v.items, expected + 1, 3 * sizeof *expected);
    SB_VEC_FREE(&v, &sb_alloc_libc);
}

static void nothing_passes_the_cap(void **state) {
    (void)state;
    for (size_t most = 0; most < 70; most++) {
        numbers v = {0};
        for (size_t i = 0; i < most; i++) assert_non_null(SB_VEC_PUSH(&v, &sb_alloc_libc, most));
        assert_null(SB_VEC_PUSH(&v, &sb_alloc_libc, most));
        assert_false(SB_VEC_RESERVE(&v, &sb_alloc_libc, SIZE_MAX, SIZE_MAX));
        assert_int_equal(v.n, most);
        assert_true(v.room <= most);
        SB_VEC_FREE(&v, &sb_alloc_libc);
    }
}

static void sizes_that_overflow_are_refused(void **state) {
    (void)state;
    numbers v = {0};
    assert_false(SB_VEC_RESERVE(&v, &sb_alloc_libc, SIZE_MAX / 4, SIZE_MAX));
    assert_null(v.items);
}

static void a_small_count_type_is_a_cap_of_its_own(void **state) {
    (void)state;
    struct {
        uint32_t *items;
        uint8_t n, room;
    } v = {0};
    for (int i = 0; i < 255; i++) assert_non_null(SB_VEC_PUSH(&v, &sb_alloc_libc, SIZE_MAX));
    assert_null(SB_VEC_PUSH(&v, &sb_alloc_libc, SIZE_MAX));
    assert_int_equal(v.room, 255);
    SB_VEC_FREE(&v, &sb_alloc_libc);
}

static void large_elements_begin_with_one(void **state) {
    (void)state;
    SB_VEC(struct { char bytes[200]; }) v = {0};
    assert_true(SB_VEC_RESERVE(&v, &sb_alloc_libc, 1, SIZE_MAX));
    assert_int_equal(v.room, 1);
    SB_VEC_FREE(&v, &sb_alloc_libc);
}

static void it_grows_in_an_arena_too(void **state) {
    (void)state;
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1 << 20);
    sb_alloc in_arena = sb_arena_alloc(&arena);
    numbers v = {0};
    for (uint64_t i = 0; i < 100; i++) *SB_VEC_PUSH(&v, &in_arena, SIZE_MAX) = i;
    for (uint64_t i = 0; i < 100; i++) assert_int_equal(v.items[i], i);
    SB_VEC_FREE(&v, &in_arena); /* nothing happens; the arena gives all back */
    sb_arena_fini(&arena);
}

static sb_status push_some(const sb_alloc *alloc, void *ud) {
    (void)ud;
    numbers v = {0};
    bool ok = true;
    for (uint64_t i = 0; ok && i < 100; i++) {
        uint64_t *slot = SB_VEC_PUSH(&v, alloc, SIZE_MAX);
        ok = slot != NULL;
        if (ok) *slot = i;
        for (uint64_t k = 0; k < v.n; k++) assert_int_equal(v.items[k], k);
    }
    SB_VEC_FREE(&v, alloc);
    return ok ? SB_OK : SB_NOMEM;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    sb_fault_alloc_sweep(push_some, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_stay_in_order_while_it_grows),
        cmocka_unit_test(insert_and_remove_keep_the_order_of_the_others),
        cmocka_unit_test(nothing_passes_the_cap),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(a_small_count_type_is_a_cap_of_its_own),
        cmocka_unit_test(large_elements_begin_with_one),
        cmocka_unit_test(it_grows_in_an_arena_too),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
