/* arena_test.c: memory of a unit of work: aligned, bounded, given back in one go. */
#include "base/arena.h"

#include <stdalign.h>
#include <string.h>

#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

static void blocks_are_aligned_and_do_not_overlap(void **state) {
    (void)state;
    enum { COUNT = 300 };
    sb_fault_alloc f;
    sb_fault_alloc_init(&f);
    sb_arena a;
    sb_arena_init(&a, &f.alloc, 1024, 1 << 20);
    sb_test_random r = sb_test_random_of(1);
    struct {
        uint8_t *p;
        size_t n;
    } got[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        got[i].n = (size_t)sb_test_below(&r, 200);
        got[i].p = sb_arena_get(&a, got[i].n);
        assert_non_null(got[i].p);
        assert_int_equal((uintptr_t)got[i].p % alignof(max_align_t), 0);
        memset(got[i].p, (int)(i & 0xFF), got[i].n);
    }
    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; k < got[i].n; k++) assert_int_equal(got[i].p[k], i & 0xFF);
    sb_arena_fini(&a);
    assert_int_equal(a.held, 0);
    sb_fault_alloc_fini(&f);
}

static void nothing_asked_for_is_still_a_pointer(void **state) {
    (void)state;
    sb_arena a;
    sb_arena_init(&a, &sb_alloc_libc, 256, 4096);
    assert_non_null(sb_arena_get(&a, 0));
    assert_non_null(sb_arena_zeroed(&a, 0, 8));
    sb_arena_fini(&a);
}

static void a_large_request_gets_a_block_of_its_own(void **state) {
    (void)state;
    sb_arena a;
    sb_arena_init(&a, &sb_alloc_libc, 256, 1 << 20);
    uint8_t *p = sb_arena_get(&a, 100000);
    assert_non_null(p);
    memset(p, 1, 100000);
    sb_arena_fini(&a);
}

static void the_cap_bounds_the_sum_of_all_blocks(void **state) {
    (void)state;
    sb_fault_alloc f;
    sb_fault_alloc_init(&f);
    sb_arena a;
    sb_arena_init(&a, &f.alloc, 1000, 10000);
    size_t count = 0;
    while (sb_arena_get(&a, 16)) {
        assert_true(a.held <= 10000);
        count++;
    }
    assert_true(f.peak_bytes <= 10000);
    assert_in_range(count, 500, 625);
    assert_null(sb_arena_get(&a, 16)); /* and stays so */
    sb_arena_fini(&a);
    sb_fault_alloc_fini(&f);
}

static void a_snug_block_may_fit_where_a_usual_one_does_not(void **state) {
    (void)state;
    sb_arena a;
    sb_arena_init(&a, &sb_alloc_libc, 4096, 300);
    assert_non_null(sb_arena_get(&a, 100));
    assert_null(sb_arena_get(&a, 300));
    sb_arena_fini(&a);
}

static void sizes_that_overflow_are_refused(void **state) {
    (void)state;
    sb_arena a;
    sb_arena_init(&a, &sb_alloc_libc, 256, SIZE_MAX);
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 15, SIZE_MAX - 40};
    for (size_t i = 0; i < SB_COUNT(sizes); i++) assert_null(sb_arena_get(&a, sizes[i]));
    assert_null(sb_arena_zeroed(&a, SIZE_MAX / 2, 3));
    assert_null(sb_arena_dup(&a, (sb_slice){(const uint8_t *)"", SIZE_MAX}).p);
    sb_arena_fini(&a);
}

static void zeroed_memory_is_zero_even_when_used_before(void **state) {
    (void)state;
    sb_arena a;
    sb_arena_init(&a, &sb_alloc_libc, 4096, 1 << 20);
    sb_arena_mark start = sb_arena_here(&a);
    memset(sb_arena_get(&a, 512), 0xFF, 512);
    sb_arena_reset(&a, start);
    const uint32_t *p = sb_arena_zeroed(&a, 128, sizeof *p);
    assert_non_null(p);
    for (int i = 0; i < 128; i++) assert_int_equal(p[i], 0);
    sb_arena_fini(&a);
}

static void a_copy_has_a_nul_behind_it(void **state) {
    (void)state;
    sb_arena a;
    sb_arena_init(&a, &sb_alloc_libc, 256, 4096);
    sb_slice copy = sb_arena_dup(&a, SB_LIT("a\0b"));
    assert_int_equal(copy.n, 3);
    assert_memory_equal(copy.p, "a\0b\0", 4);
    copy = sb_arena_dup(&a, (sb_slice){NULL, 0});
    assert_non_null(copy.p);
    assert_int_equal(copy.n, 0);
    assert_int_equal(copy.p[0], 0);
    sb_arena_fini(&a);
}

static void a_reset_gives_back_what_came_after_the_mark(void **state) {
    (void)state;
    sb_fault_alloc f;
    sb_fault_alloc_init(&f);
    sb_arena a;
    sb_arena_init(&a, &f.alloc, 256, 1 << 20);
    uint8_t *kept = sb_arena_get(&a, 64);
    memset(kept, 7, 64);
    sb_arena_mark mark = sb_arena_here(&a);
    size_t held = a.held, blocks = f.blocks;
    const void *first = sb_arena_get(&a, 32);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 50; i++) assert_non_null(sb_arena_get(&a, 100));
        sb_arena_reset(&a, mark);
        assert_int_equal(a.held, held);
        assert_int_equal(f.blocks, blocks);
        assert_ptr_equal(sb_arena_get(&a, 32), first);
    }
    for (int i = 0; i < 64; i++) assert_int_equal(kept[i], 7);
    sb_arena_fini(&a);
    sb_fault_alloc_fini(&f);
}

static void a_mark_of_the_empty_arena_empties_it(void **state) {
    (void)state;
    sb_fault_alloc f;
    sb_fault_alloc_init(&f);
    sb_arena a;
    sb_arena_init(&a, &f.alloc, 256, 1 << 20);
    sb_arena_mark mark = sb_arena_here(&a);
    for (int i = 0; i < 50; i++) assert_non_null(sb_arena_get(&a, 100));
    sb_arena_reset(&a, mark);
    assert_int_equal(a.held, 0);
    assert_int_equal(f.blocks, 0);
    sb_arena_reset(&a, mark);
    assert_non_null(sb_arena_get(&a, 1));
    sb_arena_fini(&a);
    sb_fault_alloc_fini(&f);
}

static sb_status fill(const sb_alloc *alloc, void *ud) {
    (void)ud;
    sb_arena a;
    sb_arena_init(&a, alloc, 256, 1 << 20);
    bool full = true;
    for (int i = 0; i < 40; i++) full = full && sb_arena_get(&a, 100);
    full = full && sb_arena_dup(&a, SB_LIT("name")).p;
    sb_arena_fini(&a);
    return full ? SB_OK : SB_NOMEM;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    sb_fault_alloc_sweep(fill, NULL);
}

static void it_goes_on_after_a_failed_request(void **state) {
    (void)state;
    sb_fault_alloc f;
    sb_fault_alloc_init(&f);
    sb_arena a;
    sb_arena_init(&a, &f.alloc, 256, 1 << 20);
    assert_non_null(sb_arena_get(&a, 100));
    sb_fault_alloc_fail_at(&f, 1, false);
    assert_null(sb_arena_get(&a, 1000));
    assert_non_null(sb_arena_get(&a, 1000));
    sb_arena_fini(&a);
    sb_fault_alloc_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_and_do_not_overlap),
        cmocka_unit_test(nothing_asked_for_is_still_a_pointer),
        cmocka_unit_test(a_large_request_gets_a_block_of_its_own),
        cmocka_unit_test(the_cap_bounds_the_sum_of_all_blocks),
        cmocka_unit_test(a_snug_block_may_fit_where_a_usual_one_does_not),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(zeroed_memory_is_zero_even_when_used_before),
        cmocka_unit_test(a_copy_has_a_nul_behind_it),
        cmocka_unit_test(a_reset_gives_back_what_came_after_the_mark),
        cmocka_unit_test(a_mark_of_the_empty_arena_empties_it),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(it_goes_on_after_a_failed_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
