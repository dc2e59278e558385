/* snappy.h: the decoder for Snappy's raw block format, which some builds of TensorFlow use inside
 * checkpoint indexes.
 *
 *   varint uncompressed length, then elements; the low two bits of an element's first byte:
 *   00 literal   length - 1 in the high six bits; 60..63: in the next 1..4 bytes, little-endian
 *   01 copy      length - 4 in bits 2..4, offset: bits 5..7 and the next byte
 *   10 copy      length - 1 in the high six bits, offset in the next 2 bytes
 *   11 copy      the same, offset in the next 4 bytes
 * A copy repeats what stands `offset` bytes before, and may run into itself.
 *
 * In: borrowed bytes, trusted in nothing. Threads: no state. Cost: one pass over the output. */
#ifndef SB_CKPT_TABLE_SNAPPY_H
#define SB_CKPT_TABLE_SNAPPY_H

#include <stdbool.h>

#include "seaboard/types.h"

/* The length that the stream claims; false when there is none to read. */
bool sb_snappy_length(sb_slice in, uint64_t *length);

/* Decodes into exactly n bytes at out, n being what the stream claims; false for anything that is
 * not a whole, well-formed stream of that length. */
bool sb_snappy_decode(sb_slice in, uint8_t *out, size_t n);

#endif
