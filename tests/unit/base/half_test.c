/* 16-bit floats against plain arithmetic on their fields, all 65536 of each. */
#include "base/half.h"

#include <math.h>

#include "support/test.h"
#include "base/banned.h"

/* What the bits mean, from the definition: exponent bits, fraction bits. */
static double meaning(unsigned bits, unsigned exponent_bits, unsigned fraction_bits) {
    unsigned fraction = bits & ((1u << fraction_bits) - 1);
    unsigned exponent = bits >> fraction_bits & ((1u << exponent_bits) - 1);
    int bias = (1 << (exponent_bits - 1)) - 1;
    double sign = bits >> 15 ? -1.0 : 1.0;
    if (exponent == (1u << exponent_bits) - 1) return fraction ? (double)NAN : sign * INFINITY;
    double m = exponent ? 1.0 + ldexp(fraction, -(int)fraction_bits)
                        : ldexp(fraction, -(int)fraction_bits);
    return sign * ldexp(m, (exponent ? (int)exponent : 1) - bias);
}

static void same_number(double a, double b) {
    if (isnan(a)) {
        assert_true(isnan(b));
    } else {
        assert_true(a == b && signbit(a) == signbit(b));
    }
}

static void every_half_widens_to_its_meaning_and_comes_back(void **state) {
    (void)state;
    for (unsigned bits = 0; bits <= UINT16_MAX; bits++) {
        float x = sb_half_to_float((uint16_t)bits);
        same_number(meaning(bits, 5, 10), (double)x);
        if (isnan(x)) {
            assert_true(isnan(sb_half_to_float(sb_float_to_half(x))));
        } else {
            assert_int_equal(sb_float_to_half(x), bits);
        }
    }
}

static void every_bfloat16_widens_to_its_meaning_and_comes_back(void **state) {
    (void)state;
    for (unsigned bits = 0; bits <= UINT16_MAX; bits++) {
        float x = sb_bfloat16_to_float((uint16_t)bits);
        same_number(meaning(bits, 8, 7), (double)x);
        if (isnan(x)) {
            assert_true(isnan(sb_bfloat16_to_float(sb_float_to_bfloat16(x))));
        } else {
            assert_int_equal(sb_float_to_bfloat16(x), bits);
        }
    }
}

/* Between two neighbours: below the middle goes down, above goes up, the middle goes to the even
 * one. Infinity counts as the neighbour that the largest number would have. */
static void narrowing_rounds_to_nearest_and_ties_to_even(void **state) {
    (void)state;
    for (unsigned bits = 0; bits < 0x7c00; bits++) {
        double low = meaning(bits, 5, 10);
        double high = bits + 1 == 0x7c00 ? 65536.0 : meaning(bits + 1, 5, 10);
        float middle = (float)((low + high) / 2); /* exact: it has one bit more than a half */
        unsigned even = bits & 1 ? bits + 1 : bits;
        assert_int_equal(sb_float_to_half(middle), even);
        assert_int_equal(sb_float_to_half(-middle), even | 0x8000);
        assert_int_equal(sb_float_to_half(nextafterf(middle, 0.0f)), bits);
        assert_int_equal(sb_float_to_half(nextafterf(middle, INFINITY)), bits + 1);
    }
    for (unsigned bits = 0; bits < 0x7f80; bits++) {
        float middle = sb_bits_float(bits << 16 | 0x8000);
        unsigned even = bits & 1 ? bits + 1 : bits;
        assert_int_equal(sb_float_to_bfloat16(middle), even);
        assert_int_equal(sb_float_to_bfloat16(-middle), even | 0x8000);
        assert_int_equal(sb_float_to_bfloat16(nextafterf(middle, 0.0f)), bits);
        assert_int_equal(sb_float_to_bfloat16(nextafterf(middle, INFINITY)), bits + 1);
    }
}

static void too_large_becomes_infinite(void **state) {
    (void)state;
    assert_int_equal(sb_float_to_half(65520.0f), 0x7c00);
    assert_int_equal(sb_float_to_half(-3e38f), 0xfc00);
    assert_int_equal(sb_float_to_half(INFINITY), 0x7c00);
    assert_int_equal(sb_float_to_bfloat16(3.4028235e38f), 0x7f80);
    assert_int_equal(sb_float_to_bfloat16(-INFINITY), 0xff80);
}

static void doubles_side_by_side_are_each_rounded_to_a_float(void **state) {
    (void)state;
    double rows[30];
    for (int i = 0; i < 30; i++) rows[i] = 0.1 * (i + 1);
    for (int i = 0; i < 30; i += 3)
        for (int k = 0; k < 3; k++) rows[i + k] = sb_round_to_float(rows[i + k]);
    for (int i = 0; i < 30; i++) {
        uint64_t low = sb_double_bits(rows[i]) & 0x1fffffff; /* what a float has no place for */
        assert_int_equal(low, 0);
        assert_true(rows[i] > 0.0999 * (i + 1) && rows[i] < 0.1001 * (i + 1));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_widens_to_its_meaning_and_comes_back),
        cmocka_unit_test(every_bfloat16_widens_to_its_meaning_and_comes_back),
        cmocka_unit_test(narrowing_rounds_to_nearest_and_ties_to_even),
        cmocka_unit_test(too_large_becomes_infinite),
        cmocka_unit_test(doubles_side_by_side_are_each_rounded_to_a_float),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
