/* small_test.c: the header-only helpers, the plain allocator and the system's clocks. */
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/checked.h"
#include "base/env.h"
#include "base/slice.h"
#include "base/system/cpu.h"
#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

static void sums_and_products_are_checked(void **state) {
    (void)state;
    size_t out = 5;
    assert_true(sb_add_size(&out, 2, 3));
    assert_int_equal(out, 5);
    assert_true(sb_add_size(&out, SIZE_MAX, 0));
    assert_int_equal(out, SIZE_MAX);
    assert_true(sb_mul_size(&out, 0, SIZE_MAX));
    assert_int_equal(out, 0);
    assert_true(sb_mul_size(&out, SIZE_MAX / 2, 2));
    assert_int_equal(out, SIZE_MAX - 1);
}

static void an_overflow_leaves_the_result_alone(void **state) {
    (void)state;
    size_t out = 77;
    assert_false(sb_add_size(&out, SIZE_MAX, 1));
    assert_false(sb_add_size(&out, SIZE_MAX, SIZE_MAX));
    assert_false(sb_mul_size(&out, SIZE_MAX / 2 + 1, 2));
    assert_false(sb_mul_size(&out, SIZE_MAX, SIZE_MAX));
    assert_int_equal(out, 77);
}

static void inside_is_exact_at_both_ends(void **state) {
    (void)state;
    assert_true(sb_inside(0, 0, 0));
    assert_true(sb_inside(10, 0, 10));
    assert_true(sb_inside(4, 6, 10));
    assert_false(sb_inside(4, 7, 10));
    assert_false(sb_inside(11, 0, 10));
    assert_false(sb_inside(1, SIZE_MAX, 10));
    assert_false(sb_inside(SIZE_MAX, SIZE_MAX, 10));
}

static void numbers_are_little_endian_at_any_alignment(void **state) {
    (void)state;
    static const uint8_t bytes[] = {0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11};
    assert_int_equal(sb_load16(bytes + 1), 0x7788);
    assert_int_equal(sb_load32(bytes + 1), 0x55667788u);
    assert_int_equal(sb_load64(bytes + 1), 0x1122334455667788u);
    uint8_t out[9] = {0};
    sb_store16(out + 1, 0x7788);
    assert_memory_equal(out, bytes, 3);
    sb_store32(out + 1, 0x55667788u);
    assert_memory_equal(out, bytes, 5);
    sb_store64(out + 1, 0x1122334455667788u);
    assert_memory_equal(out, bytes, 9);
}

static void float_bits_pass_unchanged(void **state) {
    (void)state;
    assert_int_equal(sb_double_bits(1.0), 0x3FF0000000000000u);
    assert_int_equal(sb_float_bits(-2.0f), 0xC0000000u);
    assert_int_equal(sb_double_bits(sb_bits_double(0x7FF8000000000123u)), 0x7FF8000000000123u);
    assert_int_equal(sb_float_bits(sb_bits_float(0x7FC00123u)), 0x7FC00123u);
}

static void slices_compare_by_bytes(void **state) {
    (void)state;
    sb_slice none = {NULL, 0};
    assert_true(sb_slice_eq(none, SB_LIT("")));
    assert_true(sb_slice_eq(SB_LIT("a\0b"), SB_LIT("a\0b")));
    assert_false(sb_slice_eq(SB_LIT("a\0b"), SB_LIT("a\0c")));
    assert_false(sb_slice_eq(SB_LIT("a"), SB_LIT("ab")));
    assert_int_equal(sb_slice_str(NULL).n, 0);
    assert_true(sb_slice_cmp(SB_LIT("a"), SB_LIT("ab")) < 0);
    assert_true(sb_slice_cmp(SB_LIT("\xFF"), SB_LIT("a")) > 0);
    assert_int_equal(sb_slice_cmp(none, none), 0);
    assert_true(sb_slice_cmp(none, SB_LIT("a")) < 0);
    assert_true(sb_slice_starts(SB_LIT("train/loss"), SB_LIT("train/")));
    assert_true(sb_slice_starts(none, none));
    assert_false(sb_slice_starts(SB_LIT("tr"), SB_LIT("train")));
    assert_true(sb_slice_ends(SB_LIT("x.part"), SB_LIT(".part")));
    assert_false(sb_slice_ends(SB_LIT("part"), SB_LIT(".part")));
    assert_true(sb_slice_ends(SB_LIT("x"), none));
}

static void the_plain_allocator_allocates_resizes_and_frees(void **state) {
    (void)state;
    const sb_alloc *a = &sb_alloc_libc;
    uint8_t *p = sb_alloc_get(a, 10);
    assert_non_null(p);
    memset(p, 3, 10);
    p = a->resize(a->ctx, p, 10, 10000);
    assert_non_null(p);
    for (int i = 0; i < 10; i++) assert_int_equal(p[i], 3);
    sb_alloc_put(a, p, 10000);
    sb_alloc_put(a, NULL, 0);
    assert_null(a->resize(a->ctx, NULL, 0, 0));
}

static void zeroed_memory_is_zero_and_its_size_is_checked(void **state) {
    (void)state;
    sb_fault_alloc f;
    sb_fault_alloc_init(&f);
    uint8_t *p = sb_alloc_zeroed(&f.alloc, 100, 3);
    assert_non_null(p);
    for (int i = 0; i < 300; i++) assert_int_equal(p[i], 0);
    sb_alloc_put(&f.alloc, p, 300);
    uint64_t calls = f.calls;
    assert_null(sb_alloc_zeroed(&f.alloc, SIZE_MAX, 2));
    assert_int_equal(f.calls, calls);
    sb_fault_alloc_fail_at(&f, 1, false);
    assert_null(sb_alloc_zeroed(&f.alloc, 1, 1));
    sb_fault_alloc_fini(&f);
}

static void the_failing_allocator_sees_wrong_sizes_and_keeps_old_blocks(void **state) {
    (void)state;
    sb_fault_alloc f;
    sb_fault_alloc_init(&f);
    uint8_t *p = sb_alloc_get(&f.alloc, 8);
    memset(p, 9, 8);
    sb_fault_alloc_fail_at(&f, 1, true);
    assert_null(f.alloc.resize(f.alloc.ctx, p, 8, 100));
    assert_null(sb_alloc_get(&f.alloc, 1));
    assert_int_equal(f.failures, 2);
    assert_int_equal(p[7], 9);
    assert_int_equal(f.bytes, 8);
    sb_alloc_put(&f.alloc, p, 7);
    assert_int_equal(f.wrong_sizes, 1);
    f.wrong_sizes = 0; /* seen; fini would fail this test for it */
    sb_fault_alloc_fini(&f);
}

static void clocks_count_nanoseconds(void **state) {
    (void)state;
    uint64_t wall = sb_clock_system.wall(sb_clock_system.ctx);
    assert_true(wall > 1500000000u * UINT64_C(1000000000)); /* 2017 */
    uint64_t before = sb_clock_system.steady(sb_clock_system.ctx);
    assert_true(sb_clock_system.steady(sb_clock_system.ctx) >= before);
}

static void the_processor_is_asked_the_same_every_time(void **state) {
    (void)state;
    sb_cpu a = sb_cpu_detect(), b = sb_cpu_detect();
    assert_memory_equal(&a, &b, sizeof a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_products_are_checked),
        cmocka_unit_test(an_overflow_leaves_the_result_alone),
        cmocka_unit_test(inside_is_exact_at_both_ends),
        cmocka_unit_test(numbers_are_little_endian_at_any_alignment),
        cmocka_unit_test(float_bits_pass_unchanged),
        cmocka_unit_test(slices_compare_by_bytes),
        cmocka_unit_test(the_plain_allocator_allocates_resizes_and_frees),
        cmocka_unit_test(zeroed_memory_is_zero_and_its_size_is_checked),
        cmocka_unit_test(the_failing_allocator_sees_wrong_sizes_and_keeps_old_blocks),
        cmocka_unit_test(clocks_count_nanoseconds),
        cmocka_unit_test(the_processor_is_asked_the_same_every_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
