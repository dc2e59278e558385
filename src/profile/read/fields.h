/* fields.h: protobuf fields of a message that lies in a file and may be larger than memory.
 *
 *     sb_fields it = {bytes, at, at + n};
 *     while (sb_fields_next(&it, &f)) if (f.number == 3) walk(f.at, f.n);
 *
 * Only keys and lengths are read; what a field holds is fetched with sb_fields_load. Inside the
 * layer only. */
#ifndef SB_PROFILE_FIELDS_H
#define SB_PROFILE_FIELDS_H

#include "codec/proto/proto.h"
#include "profile/read/bytes.h"

typedef struct sb_fields {
    sb_trace_bytes *bytes;
    uint64_t at, end;
    bool is_bad; /* the message is malformed or cut off at `at` */
} sb_fields;

typedef struct sb_file_field {
    uint32_t number, wire;
    uint64_t u64;   /* the value of a numeric field */
    uint64_t at, n; /* of length-delimited fields: offset and length of the value in the file */
} sb_file_field;

static inline bool sb_fields_next(sb_fields *it, sb_file_field *f) {
    uint64_t key, n;
    if (it->at >= it->end) return false;
    sb_slice seen = sb_trace_bytes_need(it->bytes, it->at,
                                        it->end - it->at < 24 ? (size_t)(it->end - it->at) : 24);
    if (seen.n > it->end - it->at) seen.n = (size_t)(it->end - it->at);
    sb_pb c = sb_pb_over(seen);
    it->is_bad = true;
    if (seen.n == 0 || !sb_pb_varint(&c, &key) || key > UINT32_MAX || key < 8) return false;
    *f = (sb_file_field){.number = (uint32_t)key >> 3, .wire = (uint32_t)key & 7};
    if (f->wire == SB_PB_VARINT) {
        if (!sb_pb_varint(&c, &f->u64)) return false;
    } else if (f->wire == SB_PB_FIXED64 && c.end - c.p >= 8) {
        f->u64 = sb_load64(c.p);
        c.p += 8;
    } else if (f->wire == SB_PB_FIXED32 && c.end - c.p >= 4) {
        f->u64 = sb_load32(c.p);
        c.p += 4;
    } else if (f->wire == SB_PB_BYTES) {
        if (!sb_pb_varint(&c, &n)) return false;
        f->at = it->at + (uint64_t)(c.p - seen.p);
        bool is_cut = n > it->end - f->at;
        f->n = is_cut ? it->end - f->at : n;
        it->at = f->at + f->n;
        it->is_bad = is_cut;
        return true;
    } else {
        return false;
    }
    it->at += (uint64_t)(c.p - seen.p);
    it->is_bad = false;
    return true;
}

/* Reads the bytes of a field, which are valid until the next call. Empty if there are more than
 * `most`. */
static inline sb_slice sb_fields_load(sb_fields *it, const sb_file_field *f, size_t most) {
    if (f->n == 0 || f->n > most) return (sb_slice){NULL, 0};
    sb_slice s = sb_trace_bytes_need(it->bytes, f->at, (size_t)f->n);
    if (s.n > f->n) s.n = (size_t)f->n;
    return s;
}

#endif
