/* fingerprint.h: a short name for bytes: equal bytes have equal names, other bytes almost always
 * have others.
 *
 * 128 bits of xxh3 under a seed, a quarter of a gigabyte in about 20 ms. Not a cryptographic hash:
 * whoever knows the seed can make two files of one name, so a caller that takes equal names for
 * equal bytes compares the bytes as well. Threads: no state. */
#ifndef SB_BASE_FINGERPRINT_H
#define SB_BASE_FINGERPRINT_H

#include "seaboard/types.h"

#define SB_FINGERPRINT_TEXT 33 /* hexadecimal digits and the NUL */

void sb_fingerprint(sb_slice bytes, uint64_t seed, char text[SB_FINGERPRINT_TEXT]);

#endif
