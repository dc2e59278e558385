/* npy_header.c: reads the dict that a .npy file begins with. */
#include "ckpt/export/npy_header.h"

#include <string.h>

#include "base/bytes.h"
#include "base/slice.h"
#include "codec/tensor.h"
#include "base/banned.h"

bool sb_npy_front(const uint8_t front[SB_NPY_FRONT], size_t *begin, size_t *length) {
    if (memcmp(front, "\x93NUMPY", 6) != 0 || front[6] < 1 || front[6] > 3) return false;
    *begin = front[6] == 1 ? 10 : 12;
    *length = front[6] == 1 ? sb_load16(front + 8) : sb_load32(front + 8);
    return true;
}

/* ---- the dict -------------------------------------------------------------------------------- */

typedef struct cursor {
    const uint8_t *p, *end;
} cursor;

static bool skip(cursor *c, char token) {
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\n' || *c->p == '\t')) c->p++;
    if (c->p == c->end || *c->p != (uint8_t)token) return false;
    c->p++;
    return true;
}

/* A string in either kind of quotes; NumPy's names have no escapes. */
static bool read_text(cursor *c, sb_slice *out) {
    char quote = skip(c, '\'') ? '\'' : '"';
    if (quote == '"' && !skip(c, '"')) return false;
    const uint8_t *end = memchr(c->p, quote, (size_t)(c->end - c->p));
    if (!end) return false;
    *out = sb_slice_of(c->p, (size_t)(end - c->p));
    c->p = end + 1;
    return true;
}

static bool read_number(cursor *c, uint64_t *out) {
    skip(c, ' ');
    const uint8_t *begin = c->p;
    *out = 0;
    for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++)
        if (__builtin_mul_overflow(*out, 10u, out) ||
            __builtin_add_overflow(*out, (uint64_t)(*c->p - '0'), out))
            return false;
    if (c->p < c->end && *c->p == 'L') c->p++; /* Python 2 */
    return c->p > begin;
}

static bool read_bool(cursor *c, bool *out) {
    skip(c, ' ');
    sb_slice rest = sb_slice_of(c->p, (size_t)(c->end - c->p));
    *out = sb_slice_starts(rest, SB_LIT("True"));
    if (!*out && !sb_slice_starts(rest, SB_LIT("False"))) return false;
    c->p += *out ? 4 : 5;
    return true;
}

static bool read_shape(cursor *c, sb_npy_header *h) {
    if (!skip(c, '(')) return false;
    while (!skip(c, ')')) {
        uint64_t size;
        if (h->rank == SB_CKPT_MAX_RANK || !read_number(c, &size) || size > INT64_MAX) return false;
        h->dims[h->rank++] = (int64_t)size;
        if (skip(c, ',')) continue;
        return skip(c, ')');
    }
    return true;
}

/* ---- types ----------------------------------------------------------------------------------- */

typedef struct type {
    const char *name;
    sb_dtype dtype;
} type;

static const type types[] = {
    {"f2", SB_HALF},      {"f4", SB_FLOAT},       {"f8", SB_DOUBLE},   {"i1", SB_INT8},
    {"i2", SB_INT16},     {"i4", SB_INT32},       {"i8", SB_INT64},    {"u1", SB_UINT8},
    {"u2", SB_UINT16},    {"u4", SB_UINT32},      {"u8", SB_UINT64},   {"b1", SB_BOOL},
    {"c8", SB_COMPLEX64}, {"c16", SB_COMPLEX128}, {"V2", SB_BFLOAT16},
};

/* "S12" and "U12": strings of one width. */
static bool read_text_type(sb_slice name, sb_npy_header *h) {
    if (name.n < 2 || (name.p[0] != 'S' && name.p[0] != 'U')) return false;
    bool is_unicode = name.p[0] == 'U';
    cursor c = {name.p + 1, name.p + name.n};
    h->dtype = SB_STRING;
    h->text = is_unicode ? SB_NPY_UNICODE : SB_NPY_BYTES;
    return read_number(&c, &h->width) && c.p == c.end &&
           !__builtin_mul_overflow(h->width, is_unicode ? 4u : 1u, &h->width);
}

static sb_status read_type(sb_slice descr, sb_slice name, sb_npy_header *h, sb_err *err) {
    sb_slice kind = descr;
    if (kind.n && strchr("<>|=", kind.p[0])) {
        h->is_big_endian = kind.p[0] == '>';
        kind = sb_slice_of(kind.p + 1, kind.n - 1);
    }
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (sb_slice_eq(kind, sb_slice_str(types[i].name))) {
            h->dtype = types[i].dtype;
            h->width = sb_dtype_size(h->dtype);
            return SB_OK;
        }
    if (read_text_type(kind, h)) return SB_OK;
    bool is_object = kind.n && kind.p[0] == 'O';
    return sb_fail(err, SB_INVALID, 0,
                   "'%.*s': %s '%.*s', which a checkpoint can't hold; leave it out with --without",
                   SB_SHOWN(name),
                   is_object ? "holds Python objects (a pickle), type" : "is of type",
                   SB_SHOWN(descr));
}

/* ---- all of it ------------------------------------------------------------------------------- */

enum { HAS_DESCR = 1, HAS_ORDER = 2, HAS_SHAPE = 4, HAS_ALL = 7 };

/* One "key: value"; the bit of the key that was read, 0: it is malformed. */
static unsigned read_item(cursor *c, sb_npy_header *h, sb_slice *descr) {
    sb_slice key;
    if (!read_text(c, &key) || !skip(c, ':')) return 0;
    if (sb_slice_eq(key, SB_LIT("descr"))) return read_text(c, descr) ? HAS_DESCR : 0;
    if (sb_slice_eq(key, SB_LIT("fortran_order")))
        return read_bool(c, &h->is_fortran) ? HAS_ORDER : 0;
    if (sb_slice_eq(key, SB_LIT("shape"))) return read_shape(c, h) ? HAS_SHAPE : 0;
    return 0;
}

sb_status sb_npy_header_parse(sb_npy_header *out, sb_slice text, sb_slice name, sb_err *err) {
    cursor c = {text.p, text.p + text.n};
    sb_slice descr = {NULL, 0};
    unsigned seen = 0;
    *out = (sb_npy_header){.dtype = SB_NO_DTYPE};
    bool is_good = skip(&c, '{');
    while (is_good && !skip(&c, '}')) {
        unsigned item = read_item(&c, out, &descr);
        is_good = item && !(seen & item);
        seen |= item;
        if (is_good && !skip(&c, ',')) {
            is_good = skip(&c, '}');
            break;
        }
    }
    if (!is_good || seen != HAS_ALL)
        return sb_fail(err, SB_CORRUPT, 0,
                       "'%.*s': its header is malformed, or its type is a structure of several",
                       SB_SHOWN(name));
    return read_type(descr, name, out, err);
}
