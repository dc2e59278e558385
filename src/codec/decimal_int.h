/* decimal_int.h: floating-point numbers as decimal text and back, whatever the locale says.
 * Private to src/codec. */
#ifndef SB_CODEC_DECIMAL_INT_H
#define SB_CODEC_DECIMAL_INT_H

#include <stdbool.h>

#include "base/buf.h"

/* Appends x as Python's repr shows it: few digits that read back as the same number, with a point
 * or an exponent: "0.1", "1e-05", "16777216.0". Not for NaN and infinities. */
void sb_decimal_add_double(sb_buf *out, double x);
/* The same with digits that read back as the same float. */
void sb_decimal_add_float(sb_buf *out, float x);

/* Reads all of text as digits with an optional sign, point and exponent; nothing else (no hex, no
 * "inf"). False when it is something else or longer than any number needs to be. */
bool sb_decimal_parse(sb_slice text, double *out);
/* Rounded once, to float. */
bool sb_decimal_parse_float(sb_slice text, float *out);

#endif
