/* proto.c: the slow paths of the cursor, and the builder. */
#include "codec/proto/proto.h"

#include "base/banned.h"

bool sb_pb_varint_slow(sb_pb *c, uint64_t *out) {
    uint64_t x = 0;
    const uint8_t *p = c->p;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (p == c->end) return false;
        uint8_t byte = *p++;
        /* The tenth byte holds one bit; what is above it falls off, as in the reference readers. */
        if (shift < 64) x |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            c->p = p;
            *out = x;
            return true;
        }
    }
    return false;
}

bool sb_pb_skip_group(sb_pb *c, uint32_t number) {
    uint32_t open[SB_PB_MAX_DEPTH];
    size_t depth = 0;
    open[depth++] = number;
    while (depth) {
        uint64_t key, n;
        if (!sb_pb_varint(c, &key) || key > UINT32_MAX || key < 8) return false;
        switch (key & 7) {
        case SB_PB_VARINT:
            if (!sb_pb_varint(c, &n)) return false;
            break;
        case SB_PB_FIXED64:
            if (c->end - c->p < 8) return false;
            c->p += 8;
            break;
        case SB_PB_BYTES:
            if (!sb_pb_varint(c, &n) || n > (size_t)(c->end - c->p)) return false;
            c->p += n;
            break;
        case 3:
            if (depth == SB_PB_MAX_DEPTH) return false;
            open[depth++] = (uint32_t)key >> 3;
            break;
        case 4:
            if (open[--depth] != (uint32_t)key >> 3) return false;
            break;
        case SB_PB_FIXED32:
            if (c->end - c->p < 4) return false;
            c->p += 4;
            break;
        default:
            return false;
        }
    }
    return true;
}

sb_pb_step sb_pb_many_next(sb_pb_many *m, uint64_t *bits) {
    if (m->state == 1) {
        *bits = m->single;
        m->state = 2;
        return SB_PB_FIELD;
    }
    if (m->state == 2) return SB_PB_END;
    if (m->state == 3) return SB_PB_BAD;
    if (m->c.p == m->c.end) return SB_PB_END;
    size_t left = (size_t)(m->c.end - m->c.p);
    if (m->wire == SB_PB_VARINT) return sb_pb_varint(&m->c, bits) ? SB_PB_FIELD : SB_PB_BAD;
    size_t n = m->wire == SB_PB_FIXED64 ? 8 : 4;
    if (left < n) return SB_PB_BAD;
    *bits = n == 8 ? sb_load64(m->c.p) : sb_load32(m->c.p);
    m->c.p += n;
    return SB_PB_FIELD;
}

bool sb_pb_many_count(const sb_pb_field *f, uint32_t element_wire, size_t *count) {
    if (f->wire != SB_PB_BYTES) {
        *count = 1;
        return f->wire == element_wire;
    }
    if (element_wire == SB_PB_VARINT) {
        /* Every varint ends with a byte below 0x80. */
        size_t ends = 0;
        for (size_t i = 0; i < f->bytes.n; i++) ends += f->bytes.p[i] < 0x80;
        *count = ends;
        return f->bytes.n == 0 || f->bytes.p[f->bytes.n - 1] < 0x80;
    }
    size_t size = element_wire == SB_PB_FIXED64 ? 8 : 4;
    *count = f->bytes.n / size;
    return f->bytes.n % size == 0;
}

void sb_pb_add_uint(sb_buf *b, uint32_t number, uint64_t x) {
    sb_pb_add_key(b, number, SB_PB_VARINT);
    sb_pb_add_varint(b, x);
}

void sb_pb_add_uint_nz(sb_buf *b, uint32_t number, uint64_t x) {
    if (x) sb_pb_add_uint(b, number, x);
}

void sb_pb_add_int(sb_buf *b, uint32_t number, int64_t x) {
    sb_pb_add_uint(b, number, (uint64_t)x);
}

void sb_pb_add_int_nz(sb_buf *b, uint32_t number, int64_t x) {
    if (x) sb_pb_add_uint(b, number, (uint64_t)x);
}

static void add_fixed32(sb_buf *b, uint32_t x) {
    if (!sb_buf_reserve(b, 4)) return;
    sb_store32(b->p + b->n, x);
    b->n += 4;
}

static void add_fixed64(sb_buf *b, uint64_t x) {
    if (!sb_buf_reserve(b, 8)) return;
    sb_store64(b->p + b->n, x);
    b->n += 8;
}

void sb_pb_add_float(sb_buf *b, uint32_t number, float x) {
    sb_pb_add_key(b, number, SB_PB_FIXED32);
    add_fixed32(b, sb_float_bits(x));
}

void sb_pb_add_float_nz(sb_buf *b, uint32_t number, float x) {
    if (sb_float_bits(x)) sb_pb_add_float(b, number, x);
}

void sb_pb_add_double(sb_buf *b, uint32_t number, double x) {
    sb_pb_add_key(b, number, SB_PB_FIXED64);
    add_fixed64(b, sb_double_bits(x));
}

void sb_pb_add_double_nz(sb_buf *b, uint32_t number, double x) {
    if (sb_double_bits(x)) sb_pb_add_double(b, number, x);
}

void sb_pb_add_bytes(sb_buf *b, uint32_t number, sb_slice s) {
    sb_pb_add_key(b, number, SB_PB_BYTES);
    sb_pb_add_varint(b, s.n);
    sb_buf_add(b, s.p, s.n);
}

void sb_pb_add_bytes_nz(sb_buf *b, uint32_t number, sb_slice s) {
    if (s.n) sb_pb_add_bytes(b, number, s);
}

void sb_pb_add_packed_doubles(sb_buf *b, uint32_t number, const double *x, size_t n) {
    if (n == 0) return;
    sb_pb_add_key(b, number, SB_PB_BYTES);
    sb_pb_add_varint(b, (uint64_t)n * 8);
    for (size_t i = 0; i < n; i++) add_fixed64(b, sb_double_bits(x[i]));
}

void sb_pb_add_packed_floats(sb_buf *b, uint32_t number, const float *x, size_t n) {
    if (n == 0) return;
    sb_pb_add_key(b, number, SB_PB_BYTES);
    sb_pb_add_varint(b, (uint64_t)n * 4);
    for (size_t i = 0; i < n; i++) add_fixed32(b, sb_float_bits(x[i]));
}

/* The returned place is just behind the room left for the length; how much room that is can be told
 * again at the end from the byte in front of it, which holds the count. */
size_t sb_pb_begin(sb_buf *b, uint32_t number, size_t expected) {
    sb_pb_add_key(b, number, SB_PB_BYTES);
    size_t room = sb_pb_varint_size(expected);
    if (!sb_buf_reserve(b, room)) return 0;
    b->n += room;
    b->p[b->n - 1] = (uint8_t)room;
    return b->n;
}

void sb_pb_end(sb_buf *b, size_t at) {
    if (b->failed != SB_OK) return;
    size_t length = b->n - at;
    size_t room = b->p[at - 1];
    size_t need = sb_pb_varint_size(length);
    if (need != room) {
        if (need > room && !sb_buf_reserve(b, need - room)) return;
        memmove(b->p + at - room + need, b->p + at, length);
        b->n = b->n - room + need;
    }
    sb_pb_put_varint(b->p + at - room, length);
}
