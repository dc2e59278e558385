/* intervals_test.c: sets of times: joined in any order, subtracted, summed; compared with a bitmap
 * of moments. */
#include "profile/analysis/intervals.h"

#include "support/test.h"
#include "base/banned.h"

#define MOMENTS 400

static uint32_t next_random(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Runs of ascending intervals behind each other, as the lanes of several tracks give them. */
static size_t fill(sb_interval *items, size_t runs, size_t each, uint32_t *seed) {
    size_t n = 0;
    for (size_t r = 0; r < runs; r++) {
        int64_t at = next_random(seed) % 20;
        for (size_t i = 0; i < each && at < MOMENTS - 20; i++) {
            int64_t length = 1 + next_random(seed) % 12;
            items[n++] = (sb_interval){at, at + length};
            at += next_random(seed) % 25;
        }
    }
    return n;
}

static void mark(bool *moments, const sb_interval *items, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (int64_t at = items[i].start; at < items[i].end; at++) moments[at] = true;
}

static void assert_same(const sb_intervals *list, const bool *moments) {
    bool found[MOMENTS] = {0};
    mark(found, list->items, list->n);
    assert_memory_equal(found, moments, sizeof found);
    for (size_t i = 1; i < list->n; i++) assert_true(list->items[i].start > list->items[i - 1].end);
}

static void intervals_in_any_order_are_joined(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed < 200; seed++) {
        sb_interval items[600];
        uint32_t random = seed;
        bool moments[MOMENTS] = {0};
        sb_intervals list = {items, fill(items, 1 + seed % 17, 1 + seed % 30, &random)};
        mark(moments, items, list.n);
        assert_true(sb_intervals_merge(&list, &sb_alloc_libc));
        assert_same(&list, moments);
    }
}

static void descending_equal_and_no_intervals_are_joined(void **state) {
    (void)state;
    sb_interval falling[] = {{30, 40}, {20, 31}, {10, 12}, {10, 11}, {0, 1}};
    sb_intervals list = {falling, 5}, none = {falling, 0};
    assert_true(sb_intervals_merge(&list, &sb_alloc_libc));
    assert_int_equal(list.n, 3);
    assert_int_equal(list.items[2].start, 20);
    assert_int_equal(list.items[2].end, 40);
    assert_true(sb_intervals_merge(&none, &sb_alloc_libc));
    assert_int_equal(none.n, 0);
}

static void sets_are_united_subtracted_and_summed_as_moments_are(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed < 200; seed++) {
        sb_interval left[600], right[600];
        uint32_t random = seed;
        bool in_left[MOMENTS] = {0}, in_right[MOMENTS] = {0}, both[MOMENTS], only[MOMENTS];
        sb_intervals a = {left, fill(left, 1 + seed % 3, 12, &random)};
        sb_intervals b = {right, fill(right, 1 + seed % 4, 9, &random)}, rest;
        assert_true(sb_intervals_merge(&a, &sb_alloc_libc) &&
                    sb_intervals_merge(&b, &sb_alloc_libc));
        mark(in_left, a.items, a.n);
        mark(in_right, b.items, b.n);
        int64_t inside = 0;
        for (size_t i = 0; i < MOMENTS; i++) {
            both[i] = in_left[i] || in_right[i];
            only[i] = in_left[i] && !in_right[i];
            inside += in_left[i] && i >= 50 && i < 200;
        }
        sb_arena arena;
        sb_arena_init(&arena, &sb_alloc_libc, 4096, 1 << 20);
        assert_int_equal(sb_intervals_inside(&a, 50, 200), inside);
        assert_true(sb_intervals_subtract(&rest, &a, &b, &arena));
        assert_same(&rest, only);
        assert_true(sb_intervals_unite(&a, &b, &arena));
        assert_same(&a, both);
        sb_arena_fini(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_in_any_order_are_joined),
        cmocka_unit_test(descending_equal_and_no_intervals_are_joined),
        cmocka_unit_test(sets_are_united_subtracted_and_summed_as_moments_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
