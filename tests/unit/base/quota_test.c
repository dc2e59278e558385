/* quota_test.c: what is given out is counted, and no more than the limit is given out. */
#include "base/system/quota.h"

#include "support/test.h"
#include "base/banned.h"

#define LARGE ((size_t)1 << 20)

static void no_more_than_the_limit_is_given_out(void **state) {
    (void)state;
    sb_quota q;
    sb_quota_init(&q, &sb_alloc_libc, 3 * LARGE);
    void *a = sb_alloc_get(&q.alloc, 2 * LARGE);
    assert_non_null(a);
    assert_null(sb_alloc_get(&q.alloc, LARGE + 1));
    assert_null(sb_alloc_zeroed(&q.alloc, LARGE, 2));
    void *b = sb_alloc_zeroed(&q.alloc, 1, LARGE);
    assert_non_null(b);
    assert_int_equal(sb_quota_used(&q), 3 * LARGE);
    assert_int_equal(q.refused, 2);
    sb_alloc_put(&q.alloc, a, 2 * LARGE);
    sb_alloc_put(&q.alloc, b, LARGE);
    assert_int_equal(sb_quota_used(&q), 0);
    assert_int_equal(q.freed, 3 * LARGE);
}

static void small_blocks_are_never_refused(void **state) {
    (void)state;
    sb_quota q;
    sb_quota_init(&q, &sb_alloc_libc, SB_QUOTA_SMALL);
    void *a = sb_alloc_get(&q.alloc, SB_QUOTA_SMALL);
    void *b = sb_alloc_get(&q.alloc, SB_QUOTA_SMALL - 1);
    assert_non_null(a);
    assert_non_null(b);
    assert_null(sb_alloc_get(&q.alloc, SB_QUOTA_SMALL));
    sb_alloc_put(&q.alloc, a, SB_QUOTA_SMALL);
    sb_alloc_put(&q.alloc, b, SB_QUOTA_SMALL - 1);
}

static void resizing_counts_the_difference(void **state) {
    (void)state;
    sb_quota q;
    sb_quota_init(&q, &sb_alloc_libc, 4 * LARGE);
    void *p = sb_alloc_get(&q.alloc, LARGE);
    p = q.alloc.resize(q.alloc.ctx, p, LARGE, 3 * LARGE);
    assert_non_null(p);
    assert_int_equal(sb_quota_used(&q), 3 * LARGE);
    assert_null(q.alloc.resize(q.alloc.ctx, p, 3 * LARGE, 5 * LARGE));
    assert_int_equal(sb_quota_used(&q), 3 * LARGE);
    p = q.alloc.resize(q.alloc.ctx, p, 3 * LARGE, LARGE);
    assert_int_equal(sb_quota_used(&q), LARGE);
    sb_alloc_put(&q.alloc, p, LARGE);
    assert_int_equal(sb_quota_used(&q), 0);
}

static void memory_of_others_is_counted_too(void **state) {
    (void)state;
    sb_quota q;
    sb_quota_init(&q, &sb_alloc_libc, 2 * LARGE);
    assert_true(sb_quota_take(&q, 2 * LARGE));
    assert_false(sb_quota_take(&q, LARGE));
    sb_quota_give(&q, 2 * LARGE);
    assert_true(sb_quota_take(&q, LARGE));
    sb_quota_give(&q, LARGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_more_than_the_limit_is_given_out),
        cmocka_unit_test(small_blocks_are_never_refused),
        cmocka_unit_test(resizing_counts_the_difference),
        cmocka_unit_test(memory_of_others_is_counted_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
