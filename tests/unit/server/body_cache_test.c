/* body_cache_test.c: what is kept, what goes, and threads that meet. */
#include "server/body_cache.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/slice.h"
#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

static sb_body_cache *cache_of(const sb_alloc *alloc, size_t bytes) {
    sb_body_cache *c;
    sb_err err;
    assert_ok(sb_body_cache_new(&c, alloc, bytes, &err), &err);
    return c;
}

static void what_was_kept_is_found(void **state) {
    (void)state;
    sb_body_cache *c = cache_of(&sb_alloc_libc, 1 << 20);
    assert_null(sb_body_cache_find(c, SB_LIT("k")));
    sb_body *kept = sb_body_cache_keep(c, SB_LIT("k"), SB_LIT("body"));
    assert_slice_is(sb_body_bytes(kept), "body");
    sb_body *found = sb_body_cache_find(c, SB_LIT("k"));
    assert_ptr_equal(found, kept);
    assert_null(sb_body_cache_find(c, SB_LIT("K")));
    assert_null(sb_body_cache_find(c, SB_LIT("")));
    sb_body_release(found);
    sb_body_release(kept);
    sb_body_cache_free(c);
}

static void the_first_of_two_with_one_key_stays(void **state) {
    (void)state;
    sb_body_cache *c = cache_of(&sb_alloc_libc, 1 << 20);
    sb_body *one = sb_body_cache_keep(c, SB_LIT("k"), SB_LIT("one"));
    sb_body *two = sb_body_cache_keep(c, SB_LIT("k"), SB_LIT("two"));
    assert_ptr_equal(one, two);
    sb_body_release(one);
    sb_body_release(two);
    sb_body_cache_free(c);
}

static void the_longest_unused_goes_first_and_a_held_one_lives_on(void **state) {
    (void)state;
    static const char body[1000];
    sb_body_cache *c = cache_of(&sb_alloc_libc, 20000);
    sb_body *first = sb_body_cache_keep(c, SB_LIT("0"), sb_slice_of(body, sizeof body));
    for (int i = 1; i < 40; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        sb_body_release(sb_body_cache_keep(c, sb_slice_str(key), sb_slice_of(body, sizeof body)));
        sb_body_release(sb_body_cache_find(c, SB_LIT("1"))); /* always in use */
    }
    assert_null(sb_body_cache_find(c, SB_LIT("0")));
    assert_null(sb_body_cache_find(c, SB_LIT("2")));
    assert_int_equal(sb_body_bytes(first).n, sizeof body);
    sb_body *used = sb_body_cache_find(c, SB_LIT("1")), *last = sb_body_cache_find(c, SB_LIT("39"));
    assert_non_null(used);
    assert_non_null(last);
    sb_body_release(used);
    sb_body_release(last);
    sb_body_release(first);
    sb_body_cache_free(c);
}

static void what_is_too_large_is_not_kept(void **state) {
    (void)state;
    static const char body[2000], key[SB_CACHE_KEY_BYTES + 1];
    sb_body_cache *c = cache_of(&sb_alloc_libc, 4000);
    assert_null(sb_body_cache_keep(c, SB_LIT("k"), sb_slice_of(body, 1001)));
    sb_body_release(sb_body_cache_keep(c, SB_LIT("k"), sb_slice_of(body, 1000)));
    assert_null(sb_body_cache_keep(c, sb_slice_of(key, sizeof key), SB_LIT("x")));
    assert_null(sb_body_cache_find(c, sb_slice_of(key, sizeof key)));
    sb_body_cache_free(c);
}

static void *use_it(void *ud) {
    sb_body_cache *c = ud;
    for (int i = 0; i < 3000; i++) {
        char key[16], body[64];
        int n = snprintf(key, sizeof key, "%d", i % 50);
        snprintf(body, sizeof body, "body of %s", key);
        sb_slice name = sb_slice_of(key, (size_t)n);
        sb_body *b = sb_body_cache_find(c, name);
        if (!b) b = sb_body_cache_keep(c, name, sb_slice_str(body));
        assert_slice_is(sb_body_bytes(b), body);
        sb_body_release(b);
    }
    return NULL;
}

static void threads_share_it(void **state) {
    (void)state;
    sb_body_cache *c = cache_of(&sb_alloc_libc, 3000);
    pthread_t threads[4];
    for (size_t i = 0; i < SB_COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_it, c), 0);
    for (size_t i = 0; i < SB_COUNT(threads); i++) pthread_join(threads[i], NULL);
    sb_body_cache_free(c);
}

static void without_memory_nothing_is_kept_and_nothing_lost(void **state) {
    (void)state;
    sb_fault_alloc f;
    sb_fault_alloc_init(&f);
    sb_body_cache *c = cache_of(&f.alloc, 1 << 20);
    sb_fault_alloc_fail_at(&f, 1, true);
    assert_null(sb_body_cache_keep(c, SB_LIT("k"), SB_LIT("body")));
    sb_body_cache *none;
    assert_int_equal(sb_body_cache_new(&none, &f.alloc, 1, NULL), SB_NOMEM);
    sb_fault_alloc_fail_at(&f, 0, false);
    sb_body_release(sb_body_cache_keep(c, SB_LIT("k"), SB_LIT("body")));
    sb_body_cache_free(c);
    sb_fault_alloc_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_kept_is_found),
        cmocka_unit_test(the_first_of_two_with_one_key_stays),
        cmocka_unit_test(the_longest_unused_goes_first_and_a_held_one_lives_on),
        cmocka_unit_test(what_is_too_large_is_not_kept),
        cmocka_unit_test(threads_share_it),
        cmocka_unit_test(without_memory_nothing_is_kept_and_nothing_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
