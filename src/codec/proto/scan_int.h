/* scan_int.h: the fields of a message as protobuf means them, for work by descriptor.
 *
 * On the wire a field may come several times. What counts: of single numbers and texts the last; of
 * single messages all, merged, which is their bytes one after the other; of a oneof only the member
 * set last. A field whose wire type does not fit its descriptor is as unknown as one without.
 *
 * Cost: scan is one pass; asking for a field is another, so ask only for those present. Private to
 * src/codec. */
#ifndef SB_CODEC_PROTO_SCAN_INT_H
#define SB_CODEC_PROTO_SCAN_INT_H

#include "codec/proto/messages.h"
#include "codec/proto/proto.h"

#define SB_SCAN_MAX_FIELDS 64 /* no message in the table has more */

typedef struct sb_pb_scan {
    const sb_message_info *info;
    sb_slice message;
    uint64_t present;          /* bit i: info->fields[i] has a value to show */
    uint32_t oneof;            /* number of the member set; 0: none */
    const uint8_t *oneof_from; /* earlier occurrences were cleared by another member */
} sb_pb_scan;

/* Is a packed run of numbers whole, each of them well-formed? True for fields of other kinds. */
bool sb_pb_scan_elements_fit(const sb_field_info *field, const sb_pb_field *f);

/* SB_OK or SB_CORRUPT. A number with its default value, where the wire does not tell it from an
 * absent one, is not present. */
sb_status sb_pb_scan_read(sb_pb_scan *out, sb_message_id id, sb_slice message);

static inline bool sb_pb_scan_has(const sb_pb_scan *scan, size_t i) {
    return scan->present >> i & 1;
}

/* Goes over the occurrences of one field. */
typedef struct sb_pb_scan_walk {
    sb_pb c;
    const sb_field_info *field;
} sb_pb_scan_walk;

sb_pb_scan_walk sb_pb_scan_begin(const sb_pb_scan *scan, const sb_field_info *field);
bool sb_pb_scan_next(sb_pb_scan_walk *walk, sb_pb_field *out);

/* The last occurrence of a single field that is present. */
sb_pb_field sb_pb_scan_last(const sb_pb_scan *scan, const sb_field_info *field);

/* The bytes of a single message: none when it is absent, borrowed when it came once, put together
 * in scratch (empty, owned by the caller) when it came in parts. Failures stay in scratch. */
sb_slice sb_pb_scan_merged(const sb_pb_scan *scan, const sb_field_info *field, sb_buf *scratch);

#endif
