/* half.h: 16-bit floats to and from float, in plain integer arithmetic so that every compiler and
 * processor gives the same bits.
 *
 *   half      1 sign, 5 exponent (bias 15),  10 fraction
 *   bfloat16  1 sign, 8 exponent (bias 127),  7 fraction: the upper half of a float
 *
 * Widening is exact. Narrowing rounds to nearest, ties to even; what is too large becomes infinite
 * and a NaN stays a (quiet) NaN. A double is rounded to a float by sb_round_to_float. */
#ifndef SB_BASE_HALF_H
#define SB_BASE_HALF_H

#include <stdint.h>

#include "base/bytes.h"

static inline float sb_half_to_float(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t rest = half & 0x7fffu;
    if (rest >= 0x7c00u) return sb_bits_float(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    if (rest >= 0x0400u) return sb_bits_float(sign | ((rest << 13) + (112u << 23)));
    float magnitude = (float)rest * 0x1p-24f;
    return sb_bits_float(sign | sb_float_bits(magnitude));
}

static inline uint16_t sb_float_to_half(float x) {
    uint32_t bits = sb_float_bits(x);
    uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t rest = bits & 0x7fffffffu;
    if (rest > 0x7f800000u) return (uint16_t)(sign | 0x7e00u | (rest >> 13 & 0x3ffu));
    if (rest >= 0x47800000u) return (uint16_t)(sign | 0x7c00u);
    if (rest < 0x38800000u) { /* a denormal half: adding 0.5 aligns the last bits, and rounds */
        uint32_t sum = sb_float_bits(sb_bits_float(rest) + 0.5f);
        return (uint16_t)(sign | (sum - 0x3f000000u));
    }
    uint32_t rounded = rest + 0xfffu + (rest >> 13 & 1u);
    return (uint16_t)(sign | (rounded - (112u << 23)) >> 13);
}

static inline float sb_bfloat16_to_float(uint16_t x) {
    return sb_bits_float((uint32_t)x << 16);
}

static inline uint16_t sb_float_to_bfloat16(float x) {
    uint32_t bits = sb_float_bits(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/* The nearest float, as a double. A cast to float and back says the same, but where several stand
 * side by side GCC 12 (-O2 and up, -ftree-slp-vectorize) makes vectors of them and leaves the
 * rounding out; through memory it can't. */
static inline double sb_round_to_float(double x) {
    volatile float narrow = (float)x;
    return (double)narrow;
}

#endif
