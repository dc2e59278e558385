/* lru_test.c: the list is in the order of use, whatever was added, used and removed. */
#include "base/lru.h"

#include "support/test.h"
#include "base/banned.h"

typedef struct entry {
    int name;
    sb_lru_link use;
} entry;

/* The names from newest to oldest, and the same backwards. */
static void assert_order(const sb_lru *lru, const int *names, size_t n) {
    size_t i = 0;
    for (sb_lru_link *at = lru->newest; at; at = at->older) {
        assert_true(i < n);
        assert_int_equal(SB_LRU_ENTRY(at, entry, use)->name, names[i++]);
    }
    assert_int_equal(i, n);
    for (sb_lru_link *at = lru->oldest; at; at = at->newer)
        assert_int_equal(SB_LRU_ENTRY(at, entry, use)->name, names[--i]);
    assert_int_equal(i, 0);
}

#define ASSERT_ORDER(lru, ...)                                                                     \
    assert_order(lru, (const int[]){__VA_ARGS__}, sizeof((int[]){__VA_ARGS__}) / sizeof(int))

static void what_was_used_last_is_the_newest(void **state) {
    (void)state;
    entry a = {.name = 1}, b = {.name = 2}, c = {.name = 3};
    sb_lru lru = {0};
    assert_null(lru.oldest);
    sb_lru_add(&lru, &a.use);
    sb_lru_add(&lru, &b.use);
    sb_lru_add(&lru, &c.use);
    ASSERT_ORDER(&lru, 3, 2, 1);
    sb_lru_touch(&lru, &c.use);
    ASSERT_ORDER(&lru, 3, 2, 1);
    sb_lru_touch(&lru, &a.use);
    ASSERT_ORDER(&lru, 1, 3, 2);
    sb_lru_touch(&lru, &c.use);
    ASSERT_ORDER(&lru, 3, 1, 2);
}

static void any_entry_may_be_removed_and_added_again(void **state) {
    (void)state;
    entry e[] = {{.name = 1}, {.name = 2}, {.name = 3}, {.name = 4}};
    sb_lru lru = {0};
    for (size_t i = 0; i < SB_COUNT(e); i++) sb_lru_add(&lru, &e[i].use);
    sb_lru_remove(&lru, &e[1].use); /* in the middle */
    ASSERT_ORDER(&lru, 4, 3, 1);
    sb_lru_remove(&lru, &e[3].use); /* the newest */
    ASSERT_ORDER(&lru, 3, 1);
    sb_lru_remove(&lru, &e[0].use); /* the oldest */
    ASSERT_ORDER(&lru, 3);
    sb_lru_remove(&lru, &e[2].use); /* the last one */
    assert_null(lru.newest);
    assert_null(lru.oldest);
    sb_lru_add(&lru, &e[1].use);
    ASSERT_ORDER(&lru, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_used_last_is_the_newest),
        cmocka_unit_test(any_entry_may_be_removed_and_added_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
