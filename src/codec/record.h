/* record.h: splits bytes into TFRecord frames, and makes frames.
 *
 * In:  a borrowed window of bytes that may end anywhere.
 * Out: borrowed payload slices; nothing is copied.
 * Frame:  0..7 length LE | 8..11 masked crc of length | payload | 4 masked crc of payload
 *
 * Three things can be wrong, and each has its own name:
 *   SB_MORE         the window ends inside the frame: a cut tail, or a file that is still growing
 *   SB_BAD_LENGTH   the length does not match its checksum: where the next frame begins is unknown
 *   SB_BAD_PAYLOAD  the length is good, the payload is not: the next frame follows as usual
 *
 * Threads: none of these functions has state. Cost: one pass, no allocation. */
#ifndef SB_CODEC_RECORD_H
#define SB_CODEC_RECORD_H

#include <stdbool.h>

#include "base/buf.h"

#define SB_RECORD_HEADER 12
#define SB_RECORD_FOOTER 4
#define SB_RECORD_OVERHEAD 16

typedef struct sb_record {
    sb_slice payload; /* valid for SB_OK and SB_BAD_PAYLOAD */
    uint64_t length;  /* as claimed; valid for all but SB_MORE inside the header */
    uint64_t size; /* of the whole frame: how far to go on. For SB_MORE: how many bytes the window
                      needs */
    uint32_t length_crc;  /* as stored */
    uint32_t payload_crc; /* as stored; valid with payload */
} sb_record;

/* Reads the frame at the start of the window: SB_OK, SB_MORE, SB_BAD_LENGTH or SB_BAD_PAYLOAD. */
sb_status sb_record_read(sb_record *out, sb_slice window);

/* Reads the good frames at the start of the window one after the other, at most `max`, with
 * payloads of at most `longest`: how many. What follows them is for sb_record_read to say. */
size_t sb_record_take(sb_slice window, uint64_t longest, sb_record *out, size_t max);

/* Only the header, for readers that must not load a large payload: SB_OK (length and size are
 * good), SB_MORE or SB_BAD_LENGTH. */
sb_status sb_record_read_header(sb_record *out, sb_slice window);

/* Appends a frame: leave SB_RECORD_HEADER bytes with begin, append the payload, then end. */
size_t sb_record_begin(sb_buf *out);
void sb_record_end(sb_buf *out, size_t at);

#endif
