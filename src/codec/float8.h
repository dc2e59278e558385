/* float8.h: 8-bit floats, and the 4-bit one, to float.
 *
 *   type                 exponent bits, bias  fraction  infinities          NaN
 *   FLOAT8_E5M2          5, 15                2         yes                 several
 *   FLOAT8_E4M3FN        4, 7                 3         no                  0x7F 0xFF
 *   FLOAT8_E4M3FNUZ      4, 8                 3         no, and no -0       0x80
 *   FLOAT8_E4M3B11FNUZ   4, 11                3         no, and no -0       0x80
 *   FLOAT8_E5M2FNUZ      5, 16                2         no, and no -0       0x80
 *   FLOAT4_E2M1FN        2, 1                 1         no                  none; low 4 bits only
 *
 * Widening is exact. Pure functions. */
#ifndef SB_CODEC_FLOAT8_H
#define SB_CODEC_FLOAT8_H

#include <stdbool.h>

#include "seaboard/types.h"

bool sb_dtype_small_float(sb_dtype dtype);

/* dtype must be one of the six. */
float sb_float8_to_float(sb_dtype dtype, uint8_t bits);

#endif
