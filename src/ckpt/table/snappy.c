/* snappy.c: Snappy's raw blocks, decoded; every length is checked before bytes are copied. */
#include "ckpt/table/snappy.h"

#include <string.h>

#include "codec/proto/proto.h"
#include "base/banned.h"

typedef struct out_window {
    uint8_t *p;
    size_t at, n;
} out_window;

static size_t left_of(const sb_pb *c) {
    return (size_t)(c->end - c->p);
}

/* count little-endian bytes; the caller has seen that they are there. */
static uint32_t read_little_endian(sb_pb *c, size_t count) {
    uint32_t x = 0;
    for (size_t i = 0; i < count; i++) x |= (uint32_t)c->p[i] << (8 * i);
    c->p += count;
    return x;
}

static bool literal(sb_pb *c, uint32_t tag, out_window *o) {
    uint64_t n = (tag >> 2) + 1;
    if (n > 60) {
        size_t bytes = (size_t)(n - 60);
        if (left_of(c) < bytes) return false;
        n = (uint64_t)read_little_endian(c, bytes) + 1;
    }
    if (n > left_of(c) || n > o->n - o->at) return false;
    memcpy(o->p + o->at, c->p, (size_t)n);
    c->p += n;
    o->at += (size_t)n;
    return true;
}

static bool copy(sb_pb *c, uint32_t tag, out_window *o) {
    size_t n, offset;
    size_t bytes = (tag & 3) == 1 ? 1 : (tag & 3) == 2 ? 2 : 4;
    if (left_of(c) < bytes) return false;
    if (bytes == 1) {
        n = ((tag >> 2) & 7) + 4;
        offset = (tag >> 5) << 8 | read_little_endian(c, 1);
    } else {
        n = (tag >> 2) + 1;
        offset = read_little_endian(c, bytes);
    }
    if (offset == 0 || offset > o->at || n > o->n - o->at) return false;
    /* Byte by byte: the source may overlap the bytes that this copy writes. */
    uint8_t *to = o->p + o->at;
    const uint8_t *from = to - offset;
    for (size_t i = 0; i < n; i++) to[i] = from[i];
    o->at += n;
    return true;
}

bool sb_snappy_length(sb_slice in, uint64_t *length) {
    sb_pb c = sb_pb_over(in);
    return sb_pb_varint(&c, length) && *length <= UINT32_MAX;
}

bool sb_snappy_decode(sb_slice in, uint8_t *out, size_t n) {
    sb_pb c = sb_pb_over(in);
    uint64_t claimed;
    if (!sb_pb_varint(&c, &claimed) || claimed != n) return false;
    out_window o = {out, 0, n};
    while (c.p < c.end) {
        uint32_t tag = *c.p++;
        if (!((tag & 3) == 0 ? literal(&c, tag, &o) : copy(&c, tag, &o))) return false;
    }
    return o.at == n;
}
