/* record.c: TFRecord frames. The byte table is in record.h. */
#include "codec/record.h"

#include "base/bytes.h"
#include "base/checked.h"
#include "base/slice.h"
#include "codec/crc32c/crc32c.h"
#include "codec/crc32c/crc32c_int.h"
#include "base/banned.h"

sb_status sb_record_read_header(sb_record *out, sb_slice window) {
    if (window.n < SB_RECORD_HEADER) {
        out->size = SB_RECORD_HEADER;
        return SB_MORE;
    }
    out->length = sb_load64(window.p);
    out->length_crc = sb_load32(window.p + 8);
    if (sb_crc32c_masked(window.p, 8) != out->length_crc) return SB_BAD_LENGTH;
    /* A crafted file can hold a length near 2^64 with a matching checksum; no file is that long.
     */
    if (__builtin_add_overflow(out->length, (uint64_t)SB_RECORD_OVERHEAD, &out->size))
        return SB_BAD_LENGTH;
    return SB_OK;
}

sb_status sb_record_read(sb_record *out, sb_slice window) {
    sb_status status = sb_record_read_header(out, window);
    if (status != SB_OK) return status;
    if (out->size > window.n) return SB_MORE;
    out->payload = sb_slice_of(window.p + SB_RECORD_HEADER, (size_t)out->length);
    out->payload_crc = sb_load32(out->payload.p + out->payload.n);
    return sb_crc32c_masked(out->payload.p, out->payload.n) == out->payload_crc ? SB_OK
                                                                                : SB_BAD_PAYLOAD;
}

/* sb_record_read in a loop, with two savings: a header that equals the one before it is good
 * without a checksum, and the checksum is no call. */
size_t sb_record_take(sb_slice window, uint64_t longest, sb_record *out, size_t max) {
    const uint8_t *p = window.p;
    size_t left = window.n, n = 0;
    uint64_t length = 0;
    uint32_t length_crc = 0;
    bool has_header = false;
    for (; n < max && left >= SB_RECORD_OVERHEAD; n++) {
        uint64_t next = sb_load64(p);
        uint32_t next_crc = sb_load32(p + 8);
        if (!has_header || next != length || next_crc != length_crc) {
            if (sb_crc32c_mask(sb_crc32c_brief(p, 8)) != next_crc) break;
            if (next > longest) break;
            length = next;
            length_crc = next_crc;
            has_header = true;
        }
        if (length > left - SB_RECORD_OVERHEAD) break;
        size_t bytes = (size_t)length;
        const uint8_t *payload = p + SB_RECORD_HEADER;
        uint32_t payload_crc = sb_load32(payload + bytes);
        if (sb_crc32c_mask(sb_crc32c_brief(payload, bytes)) != payload_crc) break;
        out[n] = (sb_record){.payload = sb_slice_of(payload, bytes),
                             .length = length,
                             .size = length + SB_RECORD_OVERHEAD,
                             .length_crc = length_crc,
                             .payload_crc = payload_crc};
        p += bytes + SB_RECORD_OVERHEAD;
        left -= bytes + SB_RECORD_OVERHEAD;
    }
    return n;
}

size_t sb_record_begin(sb_buf *out) {
    size_t at = out->n;
    if (sb_buf_reserve(out, SB_RECORD_HEADER)) out->n += SB_RECORD_HEADER;
    return at;
}

void sb_record_end(sb_buf *out, size_t at) {
    if (!sb_buf_reserve(out, SB_RECORD_FOOTER)) return;
    uint8_t *frame = out->p + at;
    size_t length = out->n - at - SB_RECORD_HEADER;
    sb_store64(frame, length);
    sb_store32(frame + 8, sb_crc32c_masked(frame, 8));
    sb_store32(frame + SB_RECORD_HEADER + length,
               sb_crc32c_masked(frame + SB_RECORD_HEADER, length));
    out->n += SB_RECORD_FOOTER;
}
