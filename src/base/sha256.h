/* sha256.h: the hash of FIPS 180-4, for names that TensorBoard makes by hashing (hparams groups).
 * Not for secrets, and not tuned: about 200 MB a second. */
#ifndef SB_BASE_SHA256_H
#define SB_BASE_SHA256_H

#include "seaboard/types.h"

#define SB_SHA256_BYTES 32
#define SB_SHA256_HEX 64

void sb_sha256(sb_slice data, uint8_t digest[SB_SHA256_BYTES]);
/* In lower-case hex digits, with a NUL behind them. */
void sb_sha256_hex(sb_slice data, char text[SB_SHA256_HEX + 1]);

#endif
