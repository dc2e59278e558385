/* search_test.c: the partition point is where a search from the front would stop. */
#include "base/search.h"

#include "support/test.h"
#include "base/banned.h"

static void every_array_of_zeros_and_ones_has_its_partition_point(void **state) {
    (void)state;
    for (uint32_t n = 0; n < 40; n++) {
        for (uint32_t zeros = 0; zeros <= n; zeros++) {
            size_t i = 99;
            SB_PARTITION_POINT(i, 0, n, i < zeros);
            assert_int_equal(i, zeros);
            uint32_t small = 99; /* another type of index */
            SB_PARTITION_POINT(small, 0, n, small < zeros);
            assert_int_equal(small, zeros);
        }
    }
}

static void lower_and_upper_bound_enclose_the_equal_ones(void **state) {
    (void)state;
    static const double xs[] = {1, 2, 2, 2, 5};
    static const struct {
        double x;
        size_t lower, upper;
    } cases[] = {{0, 0, 0}, {1, 0, 1}, {2, 1, 4}, {3, 4, 4}, {5, 4, 5}, {6, 5, 5}};
    for (size_t k = 0; k < SB_COUNT(cases); k++) {
        size_t i;
        SB_PARTITION_POINT(i, 0, SB_COUNT(xs), xs[i] < cases[k].x);
        assert_int_equal(i, cases[k].lower);
        SB_PARTITION_POINT(i, 0, SB_COUNT(xs), xs[i] <= cases[k].x);
        assert_int_equal(i, cases[k].upper);
    }
}

static void a_range_is_searched_without_looking_outside(void **state) {
    (void)state;
    size_t i;
    SB_PARTITION_POINT(i, 10, 20, (assert_in_range(i, 10, 19), i < 13));
    assert_int_equal(i, 13);
    SB_PARTITION_POINT(i, 10, 20, (assert_in_range(i, 10, 19), false));
    assert_int_equal(i, 10);
    SB_PARTITION_POINT(i, 10, 20, (assert_in_range(i, 10, 19), true));
    assert_int_equal(i, 20);
    SB_PARTITION_POINT(i, 7, 7, (fail(), true));
    assert_int_equal(i, 7);
}

static void indices_near_the_end_of_the_type_do_not_overflow(void **state) {
    (void)state;
    size_t i;
    SB_PARTITION_POINT(i, SIZE_MAX - 5, SIZE_MAX, i < SIZE_MAX - 2);
    assert_int_equal(i, SIZE_MAX - 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_array_of_zeros_and_ones_has_its_partition_point),
        cmocka_unit_test(lower_and_upper_bound_enclose_the_equal_ones),
        cmocka_unit_test(a_range_is_searched_without_looking_outside),
        cmocka_unit_test(indices_near_the_end_of_the_type_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
