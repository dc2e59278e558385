/* number.h: numbers to text and back, the same on every machine and in every locale.
 *
 * A double is printed with the fewest digits that read back as the same double, and of those the
 * nearest, laid out as Python's repr does: 0.1, 1001.0, 1e-05, 1e+16, -0.0. A float likewise, with
 * the fewest digits that read back as the same float.
 *
 * Nothing here allocates or depends on the locale. Cost: about 30 ns per double, 7 ns per
 * integer. */
#ifndef SB_BASE_TEXT_NUMBER_H
#define SB_BASE_TEXT_NUMBER_H

#include <stdbool.h>

#include "seaboard/types.h"

/* Room that each printing function wants at `to`, whatever the number. The longest text has 25
 * bytes; what lies behind the text may be overwritten up to this size. */
#define SB_NUMBER_ROOM 40

/* Each writes the text without a NUL and returns its length. NaN of either sign is NaN; infinities
 * are Infinity and -Infinity. Whether JSON quotes these is for the JSON writer to say. */
size_t sb_print_double(char *to, double x);
size_t sb_print_float(char *to, float x);
size_t sb_print_int64(char *to, int64_t x);
size_t sb_print_uint64(char *to, uint64_t x);

/* Each takes all of the slice or nothing: false leaves *out alone. No white space, no hexadecimal,
 * no digit separators.
 * Doubles: sign, digits with at most one point (at least one digit), exponent; or nan, inf,
 * infinity in any case. Correctly rounded; too large is infinity, too small is zero, as Python has
 * it. Integers: sign and digits; outside the range is false. */
bool sb_parse_double(sb_slice s, double *out);
bool sb_parse_int64(sb_slice s, int64_t *out);
bool sb_parse_uint64(sb_slice s, uint64_t *out);

#endif
