/* proto.h: the protobuf wire format: a cursor that reads without copying, a builder that appends.
 *
 * Wire types: 0 varint | 1 fixed 64 | 2 length-delimited | 3, 4 group begin and end | 5 fixed 32.
 * A key is (field number << 3 | wire type) as a varint. Field numbers come from
 * codec/proto/messages.h.
 *
 * The cursor borrows a window; the slices it hands out point into it. Unknown fields are for the
 * caller to ignore; groups are stepped over whole (at most SB_PB_MAX_DEPTH deep). Over-long varints
 * are accepted up to ten bytes. Cost: one pass, no allocation. */
#ifndef SB_CODEC_PROTO_PROTO_H
#define SB_CODEC_PROTO_PROTO_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/slice.h"

#define SB_PB_MAX_DEPTH 64

enum { SB_PB_VARINT = 0, SB_PB_FIXED64 = 1, SB_PB_BYTES = 2, SB_PB_FIXED32 = 5 };

/* ---- reading ----------------------------------------------------------------------------------
 */

typedef struct sb_pb {
    const uint8_t *p;
    const uint8_t *end;
} sb_pb;

typedef struct sb_pb_field {
    uint32_t number;
    uint32_t wire;  /* never a group */
    uint64_t u64;   /* varint and fixed values, raw bits */
    sb_slice bytes; /* length-delimited values */
} sb_pb_field;

typedef enum sb_pb_step { SB_PB_BAD = -1, SB_PB_END = 0, SB_PB_FIELD = 1 } sb_pb_step;

static inline sb_pb sb_pb_over(sb_slice s) {
    return (sb_pb){s.p, s.n ? s.p + s.n : s.p}; /* not even + 0 to a NULL */
}

/* The general case of reading a varint: false when it is cut or longer than ten bytes. */
bool sb_pb_varint_slow(sb_pb *c, uint64_t *out);
/* Steps over a group whose begin key was just read. */
bool sb_pb_skip_group(sb_pb *c, uint32_t number);

static inline bool sb_pb_varint(sb_pb *c, uint64_t *out) {
    if (c->p < c->end && *c->p < 0x80) {
        *out = *c->p++;
        return true;
    }
    return sb_pb_varint_slow(c, out);
}

/* The next field. SB_PB_BAD leaves the cursor at an unspecified place in the window. */
static inline sb_pb_step sb_pb_next(sb_pb *c, sb_pb_field *f) {
    for (;;) {
        uint64_t key;
        if (c->p == c->end) return SB_PB_END;
        if (!sb_pb_varint(c, &key) || key > UINT32_MAX || key < 8) return SB_PB_BAD;
        f->number = (uint32_t)key >> 3;
        f->wire = (uint32_t)key & 7;
        size_t left = (size_t)(c->end - c->p);
        switch (f->wire) {
        case SB_PB_VARINT:
            return sb_pb_varint(c, &f->u64) ? SB_PB_FIELD : SB_PB_BAD;
        case SB_PB_FIXED64:
            if (left < 8) return SB_PB_BAD;
            f->u64 = sb_load64(c->p);
            c->p += 8;
            return SB_PB_FIELD;
        case SB_PB_BYTES: {
            uint64_t n;
            if (!sb_pb_varint(c, &n) || n > (size_t)(c->end - c->p)) return SB_PB_BAD;
            f->bytes = sb_slice_of(c->p, (size_t)n);
            c->p += n;
            return SB_PB_FIELD;
        }
        case SB_PB_FIXED32:
            if (left < 4) return SB_PB_BAD;
            f->u64 = sb_load32(c->p);
            c->p += 4;
            return SB_PB_FIELD;
        case 3:
            if (!sb_pb_skip_group(c, f->number)) return SB_PB_BAD;
            continue;
        default:
            return SB_PB_BAD;
        }
    }
}

static inline double sb_pb_double(const sb_pb_field *f) {
    return sb_bits_double(f->u64);
}

static inline float sb_pb_float(const sb_pb_field *f) {
    return sb_bits_float((uint32_t)f->u64);
}

static inline int64_t sb_pb_int64(const sb_pb_field *f) {
    return (int64_t)f->u64;
}

static inline int32_t sb_pb_int32(const sb_pb_field *f) {
    return (int32_t)(uint32_t)f->u64;
}

/* A repeated number field, packed or not, one element a call. Feed it every field of that number:
 *     sb_pb_many many = sb_pb_many_of(&f, SB_PB_FIXED32);
 *     while ((step = sb_pb_many_next(&many, &bits)) == SB_PB_FIELD) ... */
typedef struct sb_pb_many {
    sb_pb c;
    uint64_t single;
    uint8_t wire;  /* of one element */
    uint8_t state; /* 0 packed, 1 one element waits, 2 done, 3 of the wrong wire type */
} sb_pb_many;

static inline sb_pb_many sb_pb_many_of(const sb_pb_field *f, uint32_t element_wire) {
    if (f->wire == SB_PB_BYTES)
        return (sb_pb_many){.c = sb_pb_over(f->bytes), .wire = (uint8_t)element_wire, .state = 0};
    return (sb_pb_many){.single = f->u64, .state = f->wire == element_wire ? 1 : 3};
}

sb_pb_step sb_pb_many_next(sb_pb_many *m, uint64_t *bits);

/* How many elements a field of a repeated number holds; false when it is malformed. */
bool sb_pb_many_count(const sb_pb_field *f, uint32_t element_wire, size_t *count);

/* ---- writing ----------------------------------------------------------------------------------
 */

/* Appends to an sb_buf; failures are kept there. Fields with default values are the caller's to
 * omit (proto3 leaves them out), hence the _nz forms. Write fields in ascending order: so do the
 * reference writers, and byte equality rests on it. */

static inline size_t sb_pb_varint_size(uint64_t x) {
    return (size_t)((63 - __builtin_clzll(x | 1)) / 7 + 1);
}

/* At most ten bytes at p; returns how many. */
static inline size_t sb_pb_put_varint(uint8_t *p, uint64_t x) {
    size_t n = 0;
    while (x >= 0x80) {
        p[n++] = (uint8_t)(x | 0x80);
        x >>= 7;
    }
    p[n++] = (uint8_t)x;
    return n;
}

static inline void sb_pb_add_varint(sb_buf *b, uint64_t x) {
    if (sb_buf_reserve(b, 10)) b->n += sb_pb_put_varint(b->p + b->n, x);
}

static inline void sb_pb_add_key(sb_buf *b, uint32_t number, uint32_t wire) {
    sb_pb_add_varint(b, (uint64_t)number << 3 | wire);
}

void sb_pb_add_uint(sb_buf *b, uint32_t number, uint64_t x);
void sb_pb_add_uint_nz(sb_buf *b, uint32_t number, uint64_t x);
/* Negative numbers take ten bytes, as the format wants. */
void sb_pb_add_int(sb_buf *b, uint32_t number, int64_t x);
void sb_pb_add_int_nz(sb_buf *b, uint32_t number, int64_t x);
void sb_pb_add_float(sb_buf *b, uint32_t number, float x);
void sb_pb_add_float_nz(sb_buf *b, uint32_t number, float x);
void sb_pb_add_double(sb_buf *b, uint32_t number, double x);
/* The test for zero is bitwise: -0.0 is written. */
void sb_pb_add_double_nz(sb_buf *b, uint32_t number, double x);
void sb_pb_add_bytes(sb_buf *b, uint32_t number, sb_slice s);
void sb_pb_add_bytes_nz(sb_buf *b, uint32_t number, sb_slice s);
void sb_pb_add_packed_doubles(sb_buf *b, uint32_t number, const double *x, size_t n);
void sb_pb_add_packed_floats(sb_buf *b, uint32_t number, const float *x, size_t n);

/* A sub-message whose length is not known yet. expected: about how long it will be; when that is
 * right to the number of length bytes, nothing is moved at the end. size_t at = sb_pb_begin(b,
 * SB_EVENT_SUMMARY, 100);
 *     ...
 *     sb_pb_end(b, at); */
size_t sb_pb_begin(sb_buf *b, uint32_t number, size_t expected);
void sb_pb_end(sb_buf *b, size_t at);

#endif
