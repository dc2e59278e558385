/* slice_key.h: the key under which a piece of a partitioned variable is stored.
 *
 *   00 | name with 00 as 00 ff and ff as ff 00, ended by 00 01 | rank | start, length a dimension
 *   rank            one byte: how many bytes follow; then big-endian without leading zeros
 *   start, length   signed: n bytes for -2^(7n-1) .. 2^(7n-1) - 1, two's complement, big-endian,
 *                   the top n bits turned by 80, c0, e0, ... (n ones and, below eight, a zero), so
 *                   that byte order is numeric order; a whole dimension is 0, -1
 *
 * Names: `emb` rows 0-4 of [10, 4]: 00 65 6d 62 00 01 01 02 80 85 80 84. */
#ifndef SB_CKPT_BUNDLE_SLICE_KEY_H
#define SB_CKPT_BUNDLE_SLICE_KEY_H

#include "base/buf.h"

/* Appends the key; extents: start and length a dimension. Failures stay in the buffer. */
void sb_slice_key_add(sb_buf *out, sb_slice name, const int64_t *extents, uint32_t rank);

#endif
