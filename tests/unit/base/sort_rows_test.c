/* sort_rows_test.c: rows by number and by name. */
#include "base/sort_rows.h"

#include "support/test.h"
#include "base/banned.h"

static void assert_order(sb_sort_row *rows, size_t n, const char *wanted) {
    for (size_t i = 0; i < n; i++) assert_int_equal(rows[i].index, wanted[i] - '0');
}

static void rows_of_one_key_are_in_order_of_name(void **state) {
    (void)state;
    sb_sort_row rows[] = {{0, 2, SB_LIT("c")}, {1, 7, SB_LIT("a")}, {2, 2, SB_LIT("b")}};
    sb_sort_rows(rows, SB_COUNT(rows), SB_SORT_GREATEST_FIRST);
    assert_order(rows, SB_COUNT(rows), "120");
    sb_sort_rows(rows, SB_COUNT(rows), SB_SORT_LEAST_FIRST);
    assert_order(rows, SB_COUNT(rows), "201");
    sb_sort_rows(NULL, 0, SB_SORT_LEAST_FIRST);
}

static void names_go_both_ways(void **state) {
    (void)state;
    sb_sort_row rows[] = {{0, 2, SB_LIT("c")}, {1, 7, SB_LIT("a")}, {2, 2, SB_LIT("b")}};
    sb_sort_rows_by_name(rows, SB_COUNT(rows), SB_SORT_LEAST_FIRST);
    assert_order(rows, SB_COUNT(rows), "120");
    sb_sort_rows_by_name(rows, SB_COUNT(rows), SB_SORT_GREATEST_FIRST);
    assert_order(rows, SB_COUNT(rows), "021");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_one_key_are_in_order_of_name),
        cmocka_unit_test(names_go_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
