/* float8.c: one routine for all small floats, steered by a table of their shapes. */
#include "codec/float8.h"

#include <math.h>

#include "base/bytes.h"
#include "base/banned.h"

typedef struct shape {
    int exponent_bits, fraction_bits, bias;
    uint8_t infinity; /* 0: has none */
    uint8_t nan;      /* the NaN that narrowing makes; 0: has none */
    uint8_t largest;  /* finite */
    bool no_minus_zero;
} shape;

static const shape *shape_of(sb_dtype dtype) {
    static const shape e5m2 = {5, 2, 15, 0x7C, 0x7E, 0x7B, false};
    static const shape e4m3fn = {4, 3, 7, 0, 0x7F, 0x7E, false};
    static const shape e4m3fnuz = {4, 3, 8, 0, 0x80, 0x7F, true};
    static const shape e4m3b11fnuz = {4, 3, 11, 0, 0x80, 0x7F, true};
    static const shape e5m2fnuz = {5, 2, 16, 0, 0x80, 0x7F, true};
    static const shape e2m1fn = {2, 1, 1, 0, 0, 0x07, false};
    switch (dtype) {
    case SB_FLOAT8_E5M2:
        return &e5m2;
    case SB_FLOAT8_E4M3FN:
        return &e4m3fn;
    case SB_FLOAT8_E4M3FNUZ:
        return &e4m3fnuz;
    case SB_FLOAT8_E4M3B11FNUZ:
        return &e4m3b11fnuz;
    case SB_FLOAT8_E5M2FNUZ:
        return &e5m2fnuz;
    case SB_FLOAT4_E2M1FN:
        return &e2m1fn;
    default:
        return NULL;
    }
}

bool sb_dtype_small_float(sb_dtype dtype) {
    return shape_of(dtype) != NULL;
}

float sb_float8_to_float(sb_dtype dtype, uint8_t bits) {
    const shape *s = shape_of(dtype);
    uint32_t sign_bit = 1u << (s->exponent_bits + s->fraction_bits);
    uint32_t magnitude = bits & (sign_bit - 1);
    bool negative = bits & sign_bit;
    if (s->no_minus_zero) {
        if (bits == s->nan) return sb_bits_float(0xFFC00000u);
    } else if (magnitude > s->largest) {
        if (s->infinity && magnitude == s->infinity) return negative ? -INFINITY : INFINITY;
        return sb_bits_float(negative ? 0xFFC00000u : 0x7FC00000u);
    }
    int exponent = (int)(magnitude >> s->fraction_bits);
    int fraction = (int)(magnitude & ((1u << s->fraction_bits) - 1));
    if (exponent == 0)
        exponent = 1; /* a denormal: no leading one */
    else
        fraction += 1 << s->fraction_bits;
    float x = ldexpf((float)fraction, exponent - s->bias - s->fraction_bits);
    return negative ? -x : x;
}
