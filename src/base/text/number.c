/* number.c: printing numbers with the fewest digits, and reading them strictly.
 *
 * Shortest digits, after the idea of R. Giulietti's "Schubfach":
 *
 *     A finite x is c * 2^q. All reals between x - and x + half a step to its neighbours read back
 *     as x (the ends too when c is even). Take k with 10^k <= the width of that interval <
 * 10^(k+1): then a multiple of 10^k lies inside, and at most one of 10^(k+1), which, being shorter,
 * wins. So it is enough to look at four candidates: the two multiples of 10^(k+1) around x, then
 * the two of 10^k, the nearer of which wins (the even one on a tie).
 *
 *     To compare exactly, x and the ends are scaled: 4 * x * 10^-k as an integer whose lowest bit
 *     also tells whether anything was cut off ("round to odd"). A 128-bit power of ten, rounded up,
 *     is precise enough for every double, as Giulietti proves; a product of 192 bits does it.
 *
 * A float goes the same way with its own c, q and neighbours.
 * Threads: no state. */
#include "base/text/number.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/banned.h"

/* ---- printing integers ------------------------------------------------------------------------*/

/* The eight digits of x < 10^8 as text, the first one in the lowest byte. x is split into two
 * numbers of four digits, these into four of two, these into eight of one, all in one register. */
static uint64_t eight_digits(uint32_t x) {
    uint64_t y = x / 10000 | (uint64_t)(x % 10000) << 32;       /* two numbers below 10^4 */
    uint64_t hundreds = (y * 5243 >> 19) & 0x0000007F0000007Fu; /* y / 100 in each */
    uint64_t z = hundreds | (y - 100 * hundreds) << 16;         /* four below 100 */
    uint64_t tens = (z * 103 >> 10) & 0x000F000F000F000Fu;      /* z / 10 in each */
    return (tens | (z - 10 * tens) << 8) + 0x3030303030303030u;
}

static const uint64_t powers_of_ten[20] = {
    1u,
    10u,
    100u,
    1000u,
    10000u,
    100000u,
    1000000u,
    10000000u,
    100000000u,
    1000000000u,
    10000000000u,
    100000000000u,
    1000000000000u,
    10000000000000u,
    100000000000000u,
    1000000000000000u,
    10000000000000000u,
    100000000000000000u,
    1000000000000000000u,
    10000000000000000000u,
};

static unsigned count_digits(uint64_t x) {
    unsigned bits = 64 - (unsigned)__builtin_clzll(x | 1);
    unsigned guess = bits * 1233 >> 12; /* bits * log10(2): right or one too small */
    return guess + (x >= powers_of_ten[guess]) + (x == 0);
}

/* The digits of x < 10^8 without leading zeros. */
static size_t put_short(char *to, uint32_t x) {
    unsigned n = count_digits(x);
    sb_store64(to, eight_digits(x) >> (64 - 8 * n));
    return n;
}

size_t sb_print_uint64(char *to, uint64_t x) {
    const uint32_t part = 100000000;
    if (x < part) return put_short(to, (uint32_t)x);
    uint64_t high = x / part;
    size_t n;
    if (high < part) {
        n = put_short(to, (uint32_t)high);
    } else {
        n = put_short(to, (uint32_t)(high / part));
        sb_store64(to + n, eight_digits((uint32_t)(high % part)));
        n += 8;
    }
    sb_store64(to + n, eight_digits((uint32_t)(x % part)));
    return n + 8;
}

size_t sb_print_int64(char *to, int64_t x) {
    uint64_t size = (uint64_t)x;
    if (x >= 0) return sb_print_uint64(to, size);
    *to = '-';
    return 1 + sb_print_uint64(to + 1, 0 - size);
}

/* ---- shortest digits --------------------------------------------------------------------------*/

typedef struct fraction {
    uint64_t high;
    uint64_t low;
} fraction;

#define LEAST_POWER (-292)
static const fraction powers[] = {
#include "base/text/number_powers.def"
};

/* A decimal: digits * 10^exponent. */
typedef struct decimal {
    uint64_t digits;
    int exponent;
} decimal;

/* g * x / 2^128, the lowest bit set when something is cut off. g was rounded up by less than 1, so
 * a remainder of 1 in the middle word may be nothing but that. */
static uint64_t scale(fraction g, uint64_t x) {
    unsigned __int128 low = (unsigned __int128)g.low * x;
    unsigned __int128 high = (unsigned __int128)g.high * x + (uint64_t)(low >> 64);
    return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

/* x = c * 2^q, c not 0. lopsided: x is a power of two, its lower neighbour is nearer. */
static decimal shortest(uint64_t c, int q, bool lopsided) {
    /* floor(log10(2^q)), or of 3/4 of that; then floor(log2(10^-k)). Exact for all q of doubles. */
    int k = (q * 1262611 - (lopsided ? 524031 : 0)) >> 22;
    unsigned shift = (unsigned)(q + (-k * 1741647 >> 19) + 1); /* 1 to 4 */
    fraction g = powers[-k - LEAST_POWER];
    /* Four times x, and four times the ends of the interval. */
    uint64_t middle = scale(g, c << 2 << shift);
    uint64_t lower = scale(g, ((c << 2) - (lopsided ? 1 : 2)) << shift);
    uint64_t upper = scale(g, ((c << 2) + 2) << shift);
    /* The ends themselves belong to x only when c is even. */
    lower += c & 1;
    upper -= c & 1;
    /* The processor cannot predict which candidate wins: all are computed, then one is chosen
     * without a branch. */
    uint64_t s = middle / 4, tenth = s / 10;
    bool below = lower <= 40 * tenth, above = 40 * tenth + 40 <= upper;
    bool shorter = (below != above) & (s >= 10);
    bool under = lower <= 4 * s, over = 4 * s + 4 <= upper;
    bool up = (middle & 3) + (s & 1) > 2; /* nearer to s + 1, or halfway and s odd */
    uint64_t nearest = s + (under != over ? over : up);
    return (decimal){shorter ? tenth + above : nearest, k + shorter};
}

/* ---- layout -----------------------------------------------------------------------------------*/

/* The exponent as Python writes it: a sign and at least two digits. */
static size_t put_exponent(char *to, int exponent) {
    unsigned size = (unsigned)(exponent < 0 ? -exponent : exponent);
    unsigned three = size >= 100;
    to[0] = 'e';
    to[1] = exponent < 0 ? '-' : '+';
    to[2] = (char)('0' + size / 100);
    to[2 + three] = (char)('0' + size / 10 % 10);
    to[3 + three] = (char)('0' + size % 10);
    return 4 + three;
}

#define ZEROS 0x3030303030303030u

/* How many of eight digits remain when the zeros at the end are dropped. */
static unsigned without_zeros(uint64_t eight) {
    return eight == ZEROS ? 0 : 8 - (unsigned)__builtin_clzll(eight ^ ZEROS) / 8;
}

/* Lays out d (below 10^17) as repr does. The digits, aligned to 17, stay in registers: one, eight
 * and eight; what is stored too much is behind the text or overwritten. */
static size_t put_decimal(char *to, decimal d) {
    unsigned n = count_digits(d.digits);
    int point = (int)n + d.exponent; /* how many digits stand before the point */
    uint64_t aligned = d.digits * powers_of_ten[17 - n];
    uint64_t rest = aligned % powers_of_ten[16];
    char first = (char)('0' + aligned / powers_of_ten[16]);
    uint64_t upper = eight_digits((uint32_t)(rest / powers_of_ten[8]));
    uint64_t lower = eight_digits((uint32_t)(rest % powers_of_ten[8]));
    n = lower == ZEROS ? 1 + without_zeros(upper) : 9 + without_zeros(lower);

    if (point > 16 || point <= -4) {
        to[0] = first;
        to[1] = '.';
        sb_store64(to + 2, upper);
        sb_store64(to + 10, lower);
        size_t end = n > 1 ? n + 1 : 1;
        return end + put_exponent(to + end, point - 1);
    }
    if (point <= 0) {
        memcpy(to, "0.000", 5);
        to += 2 - point;
        to[0] = first;
        sb_store64(to + 1, upper);
        sb_store64(to + 9, lower);
        return (size_t)(2 - point) + n;
    }
    size_t before = (size_t)point;
    to[0] = first;
    sb_store64(to + 1, upper);
    sb_store64(to + 9, lower);
    to[before] = '.';
    unsigned __int128 behind = ((unsigned __int128)lower << 64 | upper) >> 8 * (before - 1);
    sb_store64(to + before + 1, (uint64_t)behind);
    sb_store64(to + before + 9, (uint64_t)(behind >> 64));
    if (n > before) return n + 1;
    to[before + 1] = '0';
    return before + 2;
}

static size_t put_text(char *to, const char *text, size_t n) {
    memcpy(to, text, n);
    return n;
}

size_t sb_print_double(char *to, double x) {
    uint64_t bits = sb_double_bits(x);
    uint64_t mantissa = bits & (((uint64_t)1 << 52) - 1);
    int exponent = (int)(bits >> 52 & 0x7FF);
    if (exponent == 0x7FF && mantissa) return put_text(to, "NaN", 3);
    size_t sign = bits >> 63;
    *to = '-';
    to += sign;
    if (exponent == 0x7FF) return sign + put_text(to, "Infinity", 8);
    /* Integers below 2^53 are their own shortest digits, and repr never gives them an exponent. */
    double size = sign ? -x : x;
    if (size < 9007199254740992.0 && size == (double)(uint64_t)size) {
        size_t n = sb_print_uint64(to, (uint64_t)size);
        return sign + n + put_text(to + n, ".0", 2);
    }
    if (exponent == 0) return sign + put_decimal(to, shortest(mantissa, -1074, false));
    uint64_t c = mantissa | (uint64_t)1 << 52;
    return sign + put_decimal(to, shortest(c, exponent - 1075, mantissa == 0 && exponent > 1));
}

size_t sb_print_float(char *to, float x) {
    uint32_t bits = sb_float_bits(x);
    uint32_t mantissa = bits & ((1u << 23) - 1);
    int exponent = (int)(bits >> 23 & 0xFF);
    if (exponent == 0xFF && mantissa) return put_text(to, "NaN", 3);
    size_t sign = bits >> 31;
    *to = '-';
    to += sign;
    if (exponent == 0xFF) return sign + put_text(to, "Infinity", 8);
    if ((bits & 0x7FFFFFFF) == 0) return sign + put_text(to, "0.0", 3);
    if (exponent == 0) return sign + put_decimal(to, shortest(mantissa, -149, false));
    uint32_t c = mantissa | 1u << 23;
    return sign + put_decimal(to, shortest(c, exponent - 150, mantissa == 0 && exponent > 1));
}

/* ---- reading ----------------------------------------------------------------------------------*/

static bool is_digit(uint8_t c) {
    return c >= '0' && c <= '9';
}

bool sb_parse_uint64(sb_slice s, uint64_t *out) {
    if (s.n > 0 && s.p[0] == '+') s = (sb_slice){s.p + 1, s.n - 1};
    if (s.n == 0) return false;
    uint64_t x = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (!is_digit(s.p[i])) return false;
        if (__builtin_mul_overflow(x, 10u, &x)) return false;
        if (__builtin_add_overflow(x, (uint64_t)(s.p[i] - '0'), &x)) return false;
    }
    *out = x;
    return true;
}

bool sb_parse_int64(sb_slice s, int64_t *out) {
    uint64_t size;
    bool negative = s.n > 0 && s.p[0] == '-';
    if (!negative) {
        if (!sb_parse_uint64(s, &size) || size > INT64_MAX) return false;
        *out = (int64_t)size;
        return true;
    }
    s = (sb_slice){s.p + 1, s.n - 1};
    if (s.n == 0 || !is_digit(s.p[0])) return false;
    if (!sb_parse_uint64(s, &size) || size > (uint64_t)INT64_MAX + 1) return false;
    *out = (int64_t)(0 - size);
    return true;
}

/* Is s the word, which is in lower case, in any mixture of cases? */
static bool is_word(sb_slice s, const char *word) {
    size_t n = strlen(word);
    if (s.n != n) return false;
    for (size_t i = 0; i < n; i++)
        if ((s.p[i] | 0x20) != word[i]) return false;
    return true;
}

/* As many digits as can matter: a double that lies halfway between two others has at most 767. */
#define MAX_DIGITS 800

/* The digits without the point, leading zeros dropped, and the power of ten they are to be scaled
 * by. If any of the digits beyond the room is not 0, a single 1 is kept in their place: rounding
 * only needs to know that there is something. */
typedef struct number_text {
    char digits[MAX_DIGITS + 2 + SB_NUMBER_ROOM]; /* room for an exponent and a NUL */
    size_t count;
    int64_t exponent;
} number_text;

static void take_digit(number_text *t, uint8_t digit) {
    if (t->count == 0 && digit == '0') return;
    if (t->count < MAX_DIGITS) {
        t->digits[t->count++] = (char)digit;
        return;
    }
    t->exponent++;
    if (digit == '0') return;
    if (t->count == MAX_DIGITS) {
        t->digits[t->count++] = '1';
        t->exponent--;
    }
}

/* Digits, at most one point, exponent; false when s is anything else. */
static bool split_number(sb_slice s, number_text *t) {
    size_t i = 0, seen = 0;
    t->count = 0;
    t->exponent = 0;
    for (; i < s.n && is_digit(s.p[i]); i++, seen++) take_digit(t, s.p[i]);
    if (i < s.n && s.p[i] == '.') {
        for (i++; i < s.n && is_digit(s.p[i]); i++, seen++) {
            take_digit(t, s.p[i]);
            t->exponent--;
        }
    }
    if (seen == 0) return false;
    if (i == s.n) return true;
    if ((s.p[i] | 0x20) != 'e') return false;
    bool negative = ++i < s.n && s.p[i] == '-';
    if (i < s.n && (s.p[i] == '-' || s.p[i] == '+')) i++;
    if (i == s.n) return false;
    int64_t exponent = 0;
    for (; i < s.n; i++) {
        if (!is_digit(s.p[i])) return false;
        /* Far outside any double's range; more digits change nothing. */
        if (exponent < INT64_C(1000000000000000)) exponent = exponent * 10 + (s.p[i] - '0');
    }
    t->exponent += negative ? -exponent : exponent;
    return true;
}

/* Both numbers are exact doubles, so one operation rounds once: correctly. */
static bool convert_exactly(const number_text *t, double *out) {
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (t->count > 15 || t->exponent < -22 || t->exponent > 22) return false;
    uint64_t x = 0;
    for (size_t i = 0; i < t->count; i++) x = x * 10 + (uint64_t)(t->digits[i] - '0');
    *out = t->exponent < 0 ? (double)x / tens[-t->exponent] : (double)x * tens[t->exponent];
    return true;
}

/* The C library rounds correctly, but what it takes for a point depends on the locale. A text that
 * needs no point is safe from that. */
static double convert_slowly(number_text *t) {
    int64_t exponent = t->exponent;
    if (t->count == 0) return 0;
    if (exponent > 100000) exponent = 100000;
    if (exponent < -100000) exponent = -100000;
    t->digits[t->count] = 'e';
    size_t n = sb_print_int64(t->digits + t->count + 1, exponent);
    t->digits[t->count + 1 + n] = '\0';
    return strtod(t->digits, NULL);
}

bool sb_parse_double(sb_slice s, double *out) {
    bool negative = s.n > 0 && s.p[0] == '-';
    if (s.n > 0 && (s.p[0] == '-' || s.p[0] == '+')) s = (sb_slice){s.p + 1, s.n - 1};
    double x;
    if (is_word(s, "inf") || is_word(s, "infinity")) {
        x = __builtin_inf();
    } else if (is_word(s, "nan")) {
        x = __builtin_nan("");
    } else {
        number_text t;
        if (!split_number(s, &t)) return false;
        if (!convert_exactly(&t, &x)) x = convert_slowly(&t);
    }
    *out = negative ? -x : x;
    return true;
}
