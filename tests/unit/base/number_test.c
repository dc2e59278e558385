/* number_test.c: text of numbers against Python's, against the C library's reading of it, and a
 * proof of the table of powers by long arithmetic. */
#include "base/text/number.h"

#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "support/test.h"
#include "base/banned.h"

/* The text of a number with a NUL behind it; nothing may be written past the room. */
typedef struct text {
    char p[SB_NUMBER_ROOM + 8];
} text;

#define PRINT_WITH(function, x)                                                                    \
    text t;                                                                                        \
    memset(t.p, '#', sizeof t.p);                                                                  \
    size_t n = function(t.p, x);                                                                   \
    assert_true(n < SB_NUMBER_ROOM);                                                               \
    assert_memory_equal(t.p + SB_NUMBER_ROOM, "########", 8);                                      \
    t.p[n] = 0;                                                                                    \
    return t

static text of_double(double x) {
    PRINT_WITH(sb_print_double, x);
}

static text of_float(float x) {
    PRINT_WITH(sb_print_float, x);
}

static text of_int64(int64_t x) {
    PRINT_WITH(sb_print_int64, x);
}

static text of_uint64(uint64_t x) {
    PRINT_WITH(sb_print_uint64, x);
}

/* ---- doubles ----------------------------------------------------------------------------------*/

static const struct {
    uint64_t bits;
    const char *text;
} cases[] = {
#include "number_cases.def"
};

static void doubles_look_as_python_prints_them(void **state) {
    (void)state;
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        double x = sb_bits_double(cases[i].bits);
        assert_string_equal(of_double(x).p, cases[i].text);
        text negative = of_double(-x);
        assert_int_equal(negative.p[0], '-');
        assert_string_equal(negative.p + 1, cases[i].text);
    }
}

static void the_layout_changes_where_python_s_does(void **state) {
    (void)state;
    assert_string_equal(of_double(1e16).p, "1e+16");
    assert_string_equal(of_double(9999999999999998.0).p, "9999999999999998.0");
    assert_string_equal(of_double(1.2345e16).p, "1.2345e+16");
    assert_string_equal(of_double(0.0001).p, "0.0001");
    assert_string_equal(of_double(0.00001).p, "1e-05");
    assert_string_equal(of_double(123456789012345680.0).p, "1.2345678901234568e+17");
    assert_string_equal(of_double(5e-324).p, "5e-324");
    assert_string_equal(of_double(DBL_MAX).p, "1.7976931348623157e+308");
    assert_string_equal(of_double(-2.2250738585072014e-308).p, "-2.2250738585072014e-308");
    assert_string_equal(of_double(0.0).p, "0.0");
    assert_string_equal(of_double(-0.0).p, "-0.0");
    assert_string_equal(of_double(1001.0).p, "1001.0");
    assert_string_equal(of_double(1234.5).p, "1234.5");
    assert_string_equal(of_double(0.25).p, "0.25");
}

static void what_is_not_finite_has_a_name(void **state) {
    (void)state;
    assert_string_equal(of_double(INFINITY).p, "Infinity");
    assert_string_equal(of_double(-INFINITY).p, "-Infinity");
    assert_string_equal(of_double(NAN).p, "NaN");
    assert_string_equal(of_double(sb_bits_double(0xFFF8000000000000u)).p, "NaN");
    assert_string_equal(of_double(sb_bits_double(0x7FF0000000000001u)).p, "NaN");
    assert_string_equal(of_float(INFINITY).p, "Infinity");
    assert_string_equal(of_float(-INFINITY).p, "-Infinity");
    assert_string_equal(of_float(sb_bits_float(0xFFC00000u)).p, "NaN");
}

/* The digits of a text, without the zeros at either end. */
static text digits_of(const char *p) {
    text t = {{0}};
    size_t n = 0;
    for (; *p && *p != 'e'; p++)
        if (*p >= '0' && *p <= '9' && (n || *p != '0')) t.p[n++] = *p;
    while (n && t.p[n - 1] == '0') t.p[--n] = 0;
    return t;
}

static void a_double_reads_back_and_no_shorter_text_does(void **state) {
    (void)state;
    sb_test_random r = sb_test_random_of(1);
    for (int round = 0; round < 200000; round++) {
        double x = sb_bits_double(sb_test_u64(&r));
        if (!isfinite(x) || x == 0) continue;
        if (round % 4 == 0) x = (double)(sb_test_u64(&r) >> 11) * 0x1p-53;
        text t = of_double(x);
        double back = strtod(t.p, NULL);
        if (sb_double_bits(back) != sb_double_bits(x)) fail_msg("%a is printed as %s", x, t.p);
        text digits = digits_of(t.p);
        int count = (int)strlen(digits.p);
        assert_in_range(count, 1, 17);
        char other[64];
        snprintf(other, sizeof other, "%.*e", count - 1, x);
        /* The nearest of that many digits; beside a power of two it may not read back. */
        if (strtod(other, NULL) == x) assert_string_equal(digits.p, digits_of(other).p);
        if (count == 1) continue;
        snprintf(other, sizeof other, "%.*e", count - 2, x);
        if (strtod(other, NULL) == x) fail_msg("%s would do for %s", other, t.p);
    }
}

static void integers_keep_a_point_and_a_zero(void **state) {
    (void)state;
    sb_test_random r = sb_test_random_of(2);
    for (int round = 0; round < 50000; round++) {
        uint64_t x = sb_test_u64(&r) >> (11 + sb_test_below(&r, 53));
        char want[64];
        snprintf(want, sizeof want, "%" PRIu64 ".0", x);
        assert_string_equal(of_double((double)x).p, want);
    }
}

/* ---- floats -----------------------------------------------------------------------------------*/

static void floats_use_the_digits_that_a_float_needs(void **state) {
    (void)state;
    assert_string_equal(of_float(0.1f).p, "0.1");
    assert_string_equal(of_float(0.0f).p, "0.0");
    assert_string_equal(of_float(-0.0f).p, "-0.0");
    assert_string_equal(of_float(1.0f).p, "1.0");
    assert_string_equal(of_float(16777216.0f).p, "16777216.0");
    assert_string_equal(of_float(FLT_MAX).p, "3.4028235e+38");
    assert_string_equal(of_float(FLT_MIN).p, "1.1754944e-38");
    assert_string_equal(of_float(1e-45f).p, "1e-45");
    assert_string_equal(of_float(3.0e-45f).p, "3e-45");
    assert_string_equal(of_float(1e-5f).p, "1e-05");
    assert_string_equal(of_float(0.0001f).p, "0.0001");
    assert_string_equal(of_float(1e16f).p, "1e+16");
    assert_string_equal(of_float(1e15f).p, "1000000000000000.0");
    assert_string_equal(of_float(-2.7182817f).p, "-2.7182817");
    assert_string_equal(of_float(33554432.0f).p, "33554432.0");
    assert_string_equal(of_float(9007199254740992.0f).p, "9007199000000000.0");
}

static void check_float(uint32_t bits) {
    float x = sb_bits_float(bits);
    if (!isfinite(x) || x == 0) return;
    text t = of_float(x);
    if (sb_float_bits(strtof(t.p, NULL)) != bits) fail_msg("%a is printed as %s", (double)x, t.p);
    text digits = digits_of(t.p);
    int count = (int)strlen(digits.p);
    assert_in_range(count, 1, 9);
    char other[64];
    snprintf(other, sizeof other, "%.*e", count - 1, (double)x);
    if (strtof(other, NULL) == x) assert_string_equal(digits.p, digits_of(other).p);
    if (count == 1) return;
    snprintf(other, sizeof other, "%.*e", count - 2, (double)x);
    if (strtof(other, NULL) == x) fail_msg("%s would do for %s", other, t.p);
}

static void a_float_reads_back_and_no_shorter_text_does(void **state) {
    (void)state;
    sb_test_random r = sb_test_random_of(3);
    for (int round = 0; round < 100000; round++) check_float((uint32_t)sb_test_u64(&r));
    for (uint32_t exponent = 0; exponent < 255; exponent++) { /* powers of two and neighbours */
        check_float(exponent << 23);
        check_float((exponent << 23) + 1);
        check_float((exponent << 23) - 1);
    }
}

/* ---- integers ---------------------------------------------------------------------------------*/

static void integers_of_every_length_are_printed(void **state) {
    (void)state;
    char want[64];
    uint64_t power = 1;
    for (int i = 0; i < 20; i++, power *= 10)
        for (int d = -2; d <= 2; d++) {
            uint64_t x = power + (uint64_t)(int64_t)d;
            snprintf(want, sizeof want, "%" PRIu64, x);
            assert_string_equal(of_uint64(x).p, want);
            snprintf(want, sizeof want, "%" PRId64, (int64_t)x);
            assert_string_equal(of_int64((int64_t)x).p, want);
        }
    sb_test_random r = sb_test_random_of(4);
    for (int round = 0; round < 100000; round++) {
        uint64_t x = sb_test_u64(&r) >> sb_test_below(&r, 64);
        snprintf(want, sizeof want, "%" PRIu64, x);
        assert_string_equal(of_uint64(x).p, want);
        snprintf(want, sizeof want, "%" PRId64, -(int64_t)(x >> 1));
        assert_string_equal(of_int64(-(int64_t)(x >> 1)).p, want);
    }
    assert_string_equal(of_int64(INT64_MIN).p, "-9223372036854775808");
    assert_string_equal(of_int64(INT64_MAX).p, "9223372036854775807");
    assert_string_equal(of_uint64(UINT64_MAX).p, "18446744073709551615");
    assert_string_equal(of_uint64(0).p, "0");
}

/* ---- reading ----------------------------------------------------------------------------------*/

/* Reads from a block of exactly the text's size. */
static bool parse(const char *p, size_t n, double *out) {
    uint8_t *exact = malloc(n ? n : 1);
    assert_non_null(exact);
    if (n) memcpy(exact, p, n);
    bool good = sb_parse_double(sb_slice_of(exact, n), out);
    free(exact);
    return good;
}

static void doubles_are_read_correctly_rounded(void **state) {
    (void)state;
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        double x = 0;
        assert_true(parse(cases[i].text, strlen(cases[i].text), &x));
        assert_int_equal(sb_double_bits(x), cases[i].bits);
    }
    sb_test_random r = sb_test_random_of(5);
    for (int round = 0; round < 50000; round++) {
        double x = sb_bits_double(sb_test_u64(&r)), back = 0;
        if (!isfinite(x)) continue;
        char room[64];
        int n = snprintf(room, sizeof room, "%.*e", (int)sb_test_below(&r, 25), x);
        assert_true(parse(room, (size_t)n, &back));
        assert_int_equal(sb_double_bits(back), sb_double_bits(strtod(room, NULL)));
    }
}

static void many_digits_still_decide(void **state) {
    (void)state;
    /* 2^53 + 1 lies halfway between two doubles: what comes a thousand digits later decides. */
    char room[2100] = "9007199254740993.";
    size_t n = strlen(room);
    memset(room + n, '0', 2000);
    n += 2000;
    double x;
    assert_true(parse(room, n, &x));
    assert_true(x == 9007199254740992.0);
    room[n - 1] = '1';
    assert_true(parse(room, n, &x));
    assert_true(x == 9007199254740994.0);
    /* Zeros in front and behind, made up for by the exponent. */
    memset(room, '0', sizeof room);
    room[1] = '.';
    memcpy(room + 2000, "25e1999", 7);
    assert_true(parse(room, 2007, &x));
    assert_true(x == 2.5);
    memset(room, '0', sizeof room);
    memcpy(room, "25", 2);
    memcpy(room + 2002, "e-2000", 6);
    assert_true(parse(room, 2008, &x));
    assert_true(x == 25);
}

static void every_spelling_of_a_double_is_taken(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } rows[] = {
        {"1", 1},
        {"+1", 1},
        {"-1", -1},
        {"1.", 1},
        {".5", 0.5},
        {"1e5", 1e5},
        {"1E+5", 1e5},
        {"1e-0005", 1e-5},
        {"000.5000", 0.5},
        {"0", 0},
        {"1e400", INFINITY},
        {"-1e400", -INFINITY},
        {"1e-400", 0},
        {"1e99999999999999999999", INFINITY},
        {"1e-99999999999999999999", 0},
        {"0e99999999999999999999", 0},
        {"inf", INFINITY},
        {"-Infinity", -INFINITY},
        {"INF", INFINITY},
        {"+infinity", INFINITY},
    };
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        double x = 77;
        if (!parse(rows[i].text, strlen(rows[i].text), &x)) fail_msg("%s", rows[i].text);
        assert_int_equal(sb_double_bits(x), sb_double_bits(rows[i].value));
    }
    double x = 0;
    assert_true(parse("nan", 3, &x) && isnan(x));
    x = 0;
    assert_true(parse("-NaN", 4, &x) && isnan(x));
    assert_true(parse("-0", 2, &x) && x == 0 && signbit(x));
    assert_true(parse("-1e-400", 7, &x) && x == 0 && signbit(x));
}

static void anything_else_is_no_double(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",      "+",     "-",     ".",        "e5", ".e5",   "1e",        "1e+",
        "1e-",   "1e5.5", "1.2.3", " 1",       "1 ", "1\n",   "0x10",      "1_0",
        "1,5",   "--1",   "+-1",   "infinit",  "in", "na",    "nann",      "1f",
        "1e5e5", "one",   "1e 5",  "\xC2\xA0", "+.", "NaN()", "i\x0E\x66", "1..",
    };
    for (size_t i = 0; i < SB_COUNT(texts); i++) {
        double x = 77;
        if (parse(texts[i], strlen(texts[i]), &x)) fail_msg("'%s' was taken", texts[i]);
        assert_true(x == 77);
    }
    double x = 77;
    assert_false(parse("1\0", 2, &x));
    assert_false(sb_parse_double((sb_slice){NULL, 0}, &x));
}

static void the_locale_does_not_matter(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ru_RU.UTF-8"};
    bool set = false;
    for (size_t i = 0; i < SB_COUNT(names) && !set; i++)
        set = setlocale(LC_NUMERIC, names[i]) != NULL;
    if (!set) skip(); /* none of them is installed here */
    double x = 0;
    assert_true(parse("1.2345678901234567", 18, &x));
    assert_true(x == 1.2345678901234567);
    assert_false(parse("1,5", 3, &x));
    assert_string_equal(of_double(1.5).p, "1.5");
    setlocale(LC_NUMERIC, "C");
}

static void integers_are_read_within_their_range(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool is_signed, is_unsigned;
        uint64_t value;
    } rows[] = {
        {"0", true, true, 0},
        {"-0", true, false, 0},
        {"+12", true, true, 12},
        {"00012", true, true, 12},
        {"-12", true, false, (uint64_t)-12},
        {"9223372036854775807", true, true, INT64_MAX},
        {"9223372036854775808", false, true, (uint64_t)1 << 63},
        {"-9223372036854775808", true, false, (uint64_t)1 << 63},
        {"-9223372036854775809", false, false, 0},
        {"18446744073709551615", false, true, UINT64_MAX},
        {"18446744073709551616", false, false, 0},
        {"99999999999999999999999", false, false, 0},
        {"", false, false, 0},
        {"-", false, false, 0},
        {"+", false, false, 0},
        {"+-1", false, false, 0},
        {"-+1", false, false, 0},
        {"--1", false, false, 0},
        {"1.0", false, false, 0},
        {" 1", false, false, 0},
        {"1 ", false, false, 0},
        {"0x1", false, false, 0},
        {"1e3", false, false, 0},
    };
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        int64_t x = 77;
        uint64_t u = 77;
        assert_int_equal(sb_parse_int64(sb_slice_str(rows[i].text), &x), rows[i].is_signed);
        assert_int_equal((uint64_t)x, rows[i].is_signed ? rows[i].value : 77);
        assert_int_equal(sb_parse_uint64(sb_slice_str(rows[i].text), &u), rows[i].is_unsigned);
        assert_int_equal(u, rows[i].is_unsigned ? rows[i].value : 77);
    }
}

/* ---- the table of powers ----------------------------------------------------------------------*/

static const struct {
    uint64_t high;
    uint64_t low;
} powers[] = {
#include "base/text/number_powers.def"
};

/* Numbers of up to 2048 bits, in words of 32, the lowest first. */
typedef struct big {
    uint32_t word[64];
} big;

static void big_multiply(big *b, uint32_t x) {
    uint64_t carry = 0;
    for (int i = 0; i < 64; i++) {
        carry += (uint64_t)b->word[i] * x;
        b->word[i] = (uint32_t)carry;
        carry >>= 32;
    }
    assert_int_equal(carry, 0);
}

static void big_shift_left(big *b, int bits) {
    for (; bits >= 31; bits -= 31) big_multiply(b, 1u << 31);
    big_multiply(b, 1u << bits);
}

static int big_compare(const big *a, const big *b) {
    for (int i = 63; i >= 0; i--)
        if (a->word[i] != b->word[i]) return a->word[i] < b->word[i] ? -1 : 1;
    return 0;
}

static big big_of(uint64_t high, uint64_t low) {
    return (big){{(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32)}};
}

static big big_power_of_ten(int exponent) {
    big b = {{1}};
    for (int i = 0; i < exponent; i++) big_multiply(&b, 10);
    return b;
}

static int big_bits(const big *b) {
    int i = 63;
    while (b->word[i] == 0) i--;
    return 32 * i + 32 - __builtin_clz(b->word[i]);
}

/* The entry is the least integer of 128 bits that, scaled by its power of two, is not below 10^e:
 * so it is not below, and one less is. */
static void every_power_is_rounded_up_and_by_less_than_one(void **state) {
    (void)state;
    assert_int_equal(SB_COUNT(powers), 324 + 292 + 1);
    for (int e = -292; e <= 324; e++) {
        uint64_t high = powers[e + 292].high, low = powers[e + 292].low;
        assert_true(high >> 63);
        big entry = big_of(high, low), less = big_of(low ? high : high - 1, low - 1);
        big ten = big_power_of_ten(e < 0 ? -e : e);
        int bits = big_bits(&ten);
        if (e >= 0) {
            /* entry * 2^(bits - 128) against 10^e */
            int shift = bits - 128;
            big *right = &ten;
            if (shift >= 0) {
                big_shift_left(&entry, shift);
                big_shift_left(&less, shift);
            } else {
                big_shift_left(right, -shift);
            }
            assert_true(big_compare(&entry, right) >= 0);
            assert_true(big_compare(&less, right) < 0);
            continue;
        }
        /* entry * 10^-e against 2^(bits + 127): multiply by ten, -e times */
        for (int i = 0; i < -e; i++) {
            big_multiply(&entry, 10);
            big_multiply(&less, 10);
        }
        big two = {{1}};
        big_shift_left(&two, bits + 127);
        assert_true(big_compare(&entry, &two) >= 0);
        assert_true(big_compare(&less, &two) < 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_look_as_python_prints_them),
        cmocka_unit_test(the_layout_changes_where_python_s_does),
        cmocka_unit_test(what_is_not_finite_has_a_name),
        cmocka_unit_test(a_double_reads_back_and_no_shorter_text_does),
        cmocka_unit_test(integers_keep_a_point_and_a_zero),
        cmocka_unit_test(floats_use_the_digits_that_a_float_needs),
        cmocka_unit_test(a_float_reads_back_and_no_shorter_text_does),
        cmocka_unit_test(integers_of_every_length_are_printed),
        cmocka_unit_test(doubles_are_read_correctly_rounded),
        cmocka_unit_test(many_digits_still_decide),
        cmocka_unit_test(every_spelling_of_a_double_is_taken),
        cmocka_unit_test(anything_else_is_no_double),
        cmocka_unit_test(the_locale_does_not_matter),
        cmocka_unit_test(integers_are_read_within_their_range),
        cmocka_unit_test(every_power_is_rounded_up_and_by_less_than_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
