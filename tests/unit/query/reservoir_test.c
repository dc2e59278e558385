/* Which points TensorBoard would have kept: numbers that Python and TensorBoard gave. */
#include "query/reservoir.h"

#include <stdlib.h>

#include "support/fault_alloc.h"
#include "support/test.h"

static sb_arena arena;

static int begin(void **state) {
    (void)state;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, SIZE_MAX / 2);
    return 0;
}

static int end(void **state) {
    (void)state;
    sb_arena_fini(&arena);
    return 0;
}

static void expect(const uint64_t *got, size_t n, const uint64_t *want, size_t want_n) {
    assert_int_equal(n, want_n);
    for (size_t i = 0; i < n; i++) assert_int_equal(got[i], want[i]);
}

static void the_generator_is_pythons(void **state) {
    (void)state;
    sb_python_random r;
    sb_python_random_init(&r, 0);
    uint32_t first[] = {3626764237u, 1654615998u, 3255389356u, 3823568514u};
    for (size_t i = 0; i < SB_COUNT(first); i++)
        assert_int_equal(sb_python_random_u32(&r), first[i]);
    /* random.Random(12345), outputs 1 and 1000 of getrandbits(32) */
    sb_python_random_init(&r, 12345);
    assert_int_equal(sb_python_random_u32(&r), 1789368711u);
    uint32_t last = 0;
    for (int i = 1; i < 1000; i++) last = sb_python_random_u32(&r);
    assert_int_equal(last, 554010699u);
}

static void large_bounds_take_two_words(void **state) {
    (void)state;
    sb_python_random r;
    sb_python_random_init(&r, 0);
    /* random.Random(0)._randbelow(n) for these n, one after the other */
    uint64_t bounds[] = {1, (uint64_t)1 << 33, ((uint64_t)1 << 40) + 7, (uint64_t)1 << 62};
    uint64_t want[] = {0, 1806341205u, 1067347797602u, 3302422582397125124u};
    for (size_t i = 0; i < SB_COUNT(bounds); i++)
        assert_int_equal(sb_python_random_below(&r, bounds[i]), want[i]);
}

static void reservoirs_hold_what_tensorboards_do(void **state) {
    (void)state;
    uint64_t *got;
    size_t n;
    uint64_t ten[] = {3, 20, 24, 32, 37, 49, 52, 53, 67, 99};
    assert_int_equal(sb_reservoir_pick(100, 10, &arena, &got, &n), SB_OK);
    expect(got, n, ten, SB_COUNT(ten));
    uint64_t three[] = {1, 4, 9};
    assert_int_equal(sb_reservoir_pick(10, 3, &arena, &got, &n), SB_OK);
    expect(got, n, three, SB_COUNT(three));
    uint64_t one[] = {999};
    assert_int_equal(sb_reservoir_pick(1000, 1, &arena, &got, &n), SB_OK);
    expect(got, n, one, 1);
}

static void small_series_are_kept_whole(void **state) {
    (void)state;
    uint64_t *got;
    size_t n;
    uint64_t all[] = {0, 1, 2};
    assert_int_equal(sb_reservoir_pick(3, 3, &arena, &got, &n), SB_OK);
    expect(got, n, all, 3);
    assert_int_equal(sb_reservoir_pick(3, 0, &arena, &got, &n), SB_OK); /* 0: no bound */
    expect(got, n, all, 3);
    assert_int_equal(sb_downsample_pick(3, 3, &arena, &got, &n), SB_OK);
    expect(got, n, all, 3);
    assert_int_equal(sb_downsample_pick(3, 4, &arena, &got, &n), SB_OK);
    expect(got, n, all, 3);
    assert_int_equal(sb_downsample_pick(0, 4, &arena, &got, &n), SB_OK);
    assert_int_equal(n, 0);
    assert_int_equal(sb_sampling_pick(NULL, 3, &arena, &got, &n), SB_OK);
    expect(got, n, all, 3);
}

static void answers_are_thinned_as_tensorboard_does(void **state) {
    (void)state;
    uint64_t *got;
    size_t n;
    uint64_t a[] = {5, 33, 38, 49, 51, 53, 62, 65, 97, 99};
    assert_int_equal(sb_downsample_pick(100, 10, &arena, &got, &n), SB_OK);
    expect(got, n, a, SB_COUNT(a));
    uint64_t b[] = {1, 8, 12, 13, 19};
    assert_int_equal(sb_downsample_pick(20, 5, &arena, &got, &n), SB_OK);
    expect(got, n, b, SB_COUNT(b));
    uint64_t c[] = {394, 776, 864, 911, 999};
    assert_int_equal(sb_downsample_pick(1000, 5, &arena, &got, &n), SB_OK);
    expect(got, n, c, SB_COUNT(c));
    assert_int_equal(sb_downsample_pick(1000, 0, &arena, &got, &n), SB_OK);
    assert_int_equal(n, 0);
    assert_int_equal(sb_downsample_pick(1000, 1, &arena, &got, &n), SB_OK);
    assert_int_equal(n, 1);
    assert_int_equal(got[0], 999);
}

static void both_follow_each_other(void **state) {
    (void)state;
    uint64_t *got;
    size_t n;
    sb_sampling sampling = {.reservoir = 10, .limit = 3};
    /* of the ten of a reservoir over 100, Random(0).sample(range(9), 2) are 6 and 8 */
    uint64_t want[] = {52, 67, 99};
    assert_int_equal(sb_sampling_pick(&sampling, 100, &arena, &got, &n), SB_OK);
    expect(got, n, want, SB_COUNT(want));
    sampling.limit = SB_NO_LIMIT;
    assert_int_equal(sb_sampling_pick(&sampling, 100, &arena, &got, &n), SB_OK);
    assert_int_equal(n, 10);
}

/* Ascending, without repeats, inside, the last one there: for all small cases. */
static void picks_are_in_order_and_end_with_the_last(void **state) {
    (void)state;
    for (uint64_t n = 1; n < 120; n++)
        for (uint64_t k = 1; k < 130; k++) {
            sb_arena_mark mark = sb_arena_here(&arena);
            for (int which = 0; which < 2; which++) {
                uint64_t *got;
                size_t count;
                sb_status status = which ? sb_reservoir_pick(n, k, &arena, &got, &count)
                                         : sb_downsample_pick(n, k, &arena, &got, &count);
                assert_int_equal(status, SB_OK);
                assert_int_equal(count, n < k ? n : k);
                for (size_t i = 1; i < count; i++) assert_true(got[i - 1] < got[i]);
                assert_int_equal(got[count - 1], n - 1);
            }
            sb_arena_reset(&arena, mark);
        }
}

static sb_status pick_with(const sb_alloc *alloc, void *ud) {
    (void)ud;
    sb_arena a;
    sb_arena_init(&a, alloc, 64, SIZE_MAX / 2);
    uint64_t *got;
    size_t n;
    sb_status status = sb_sampling_pick(&(sb_sampling){500, 100}, 3000, &a, &got, &n);
    if (status == SB_OK) status = sb_downsample_pick(40, 30, &a, &got, &n);
    sb_arena_fini(&a);
    return status;
}

static void memory_may_run_out(void **state) {
    (void)state;
    sb_fault_alloc_sweep(pick_with, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_generator_is_pythons),
        cmocka_unit_test(large_bounds_take_two_words),
        cmocka_unit_test(reservoirs_hold_what_tensorboards_do),
        cmocka_unit_test(small_series_are_kept_whole),
        cmocka_unit_test(answers_are_thinned_as_tensorboard_does),
        cmocka_unit_test(both_follow_each_other),
        cmocka_unit_test(picks_are_in_order_and_end_with_the_last),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
