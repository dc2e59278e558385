/* export_npz.c: NumPy's archive.
 *
 *   member      local header | name.npy | extra of ZIP64 | .npy | descriptor
 *   .npy        93 NUMPY 01 00 | u16 length | dict, blanks, newline up to a multiple of 64 | bytes
 *   at the end  central directory | ZIP64 end record | its locator | end record
 *
 * Every member is stored and has the extra field of ZIP64: sizes are known only by the descriptor
 * behind it and by the central directory, which readers use. */
#include "base/slice.h"
#include "base/vec.h"
#include "ckpt/export/export_int.h"
#include "codec/tensor.h"
#include "base/banned.h"

#define METHOD_STORED 0
#define FLAGS 0x0808    /* sizes in a descriptor; names are UTF-8 */
#define VERSION 45      /* ZIP64 */
#define DOS_DATE 0x0021 /* 1980-01-01: exports of one checkpoint are equal */

typedef struct member {
    sb_slice name; /* of the tensor */
    uint64_t offset, size;
    uint32_t crc;
} member;

typedef struct npz {
    sb_export_file *x;
    sb_buf bytes; /* a header that is being made */
    SB_VEC(member) members;
} npz;

static void add16(sb_buf *b, unsigned v) {
    uint8_t p[2];
    sb_store16(p, (uint16_t)v);
    sb_buf_add(b, p, 2);
}

static void add32(sb_buf *b, uint32_t v) {
    uint8_t p[4];
    sb_store32(p, v);
    sb_buf_add(b, p, 4);
}

static void add64(sb_buf *b, uint64_t v) {
    uint8_t p[8];
    sb_store64(p, v);
    sb_buf_add(b, p, 8);
}

static sb_status put_bytes(npz *z, sb_err *err) {
    sb_status status = sb_buf_check(&z->bytes, "an archive", err);
    if (status == SB_OK) status = sb_export_put(z->x, z->bytes.p, z->bytes.n, err);
    sb_buf_clear(&z->bytes);
    return status;
}

/* ---- .npy ------------------------------------------------------------------------------------ */

/* What NumPy calls a type; strings are not among them. */
static const char *describe(sb_dtype dtype) {
    switch (dtype) {
    case SB_FLOAT:
        return "<f4";
    case SB_DOUBLE:
        return "<f8";
    case SB_HALF:
        return "<f2";
    case SB_INT64:
        return "<i8";
    case SB_INT32:
    case SB_QINT32:
        return "<i4";
    case SB_INT16:
    case SB_QINT16:
        return "<i2";
    case SB_INT8:
    case SB_QINT8:
        return "|i1";
    case SB_UINT8:
    case SB_QUINT8:
        return "|u1";
    case SB_UINT16:
    case SB_QUINT16:
        return "<u2";
    case SB_UINT32:
        return "<u4";
    case SB_UINT64:
        return "<u8";
    case SB_BOOL:
        return "|b1";
    case SB_COMPLEX64:
        return "<c8";
    case SB_COMPLEX128:
        return "<c16";
    default:
        return sb_dtype_size(dtype) == 2 ? "|V2" : "|V1";
    }
}

static void add_npy_header(sb_buf *b, const char *type, uint64_t width, const sb_bundle_tensor *t) {
    size_t begin = b->n;
    sb_buf_add(b, "\x93NUMPY\x01\x00\x00\x00", 10);
    if (type)
        sb_buf_printf(b, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
    else
        sb_buf_printf(b, "{'descr': '|S%llu', 'fortran_order': False, 'shape': (",
                      (unsigned long long)width);
    for (uint32_t d = 0; d < t->rank; d++)
        sb_buf_printf(b, "%lld%s", (long long)t->dims[d],
                      t->rank == 1      ? ","
                      : d + 1 < t->rank ? ", "
                                        : "");
    sb_buf_add_str(b, "), }");
    while (b->failed == SB_OK && (b->n - begin) % 64 != 63) sb_buf_add_byte(b, ' ');
    sb_buf_add_byte(b, '\n');
    if (b->failed == SB_OK) sb_store16(b->p + begin + 8, (uint16_t)(b->n - begin - 10));
}

static sb_status put_strings(npz *z, const sb_bundle_tensor *t, sb_err *err) {
    sb_arena arena;
    sb_slice *strings;
    uint64_t width = 1;
    static const uint8_t zeros[4096];
    sb_arena_init(&arena, z->x->env->alloc, 64 << 10, SIZE_MAX / 2);
    sb_status status = sb_bundle_read_strings(z->x->b, t, &arena, &strings, err);
    for (uint64_t i = 0; status == SB_OK && i < t->count; i++)
        if (strings[i].n > width) width = strings[i].n;
    if (status == SB_OK) {
        add_npy_header(&z->bytes, NULL, width, t);
        status = put_bytes(z, err);
    }
    for (uint64_t i = 0; status == SB_OK && i < t->count; i++) {
        status = sb_export_put(z->x, strings[i].p, strings[i].n, err);
        for (uint64_t at = strings[i].n; status == SB_OK && at < width;) {
            size_t n = width - at < sizeof zeros ? (size_t)(width - at) : sizeof zeros;
            status = sb_export_put(z->x, zeros, n, err);
            at += n;
        }
        if (status == SB_OK) z->x->result->bytes += strings[i].n;
    }
    sb_arena_fini(&arena);
    return status;
}

static sb_status put_npy(npz *z, const sb_bundle_tensor *t, sb_err *err) {
    if (sb_bundle_width(t) == 0) return put_strings(z, t, err);
    add_npy_header(&z->bytes, describe(t->dtype), 0, t);
    sb_status status = put_bytes(z, err);
    return status == SB_OK ? sb_export_numbers(z->x, t, err) : status;
}

/* ---- ZIP ------------------------------------------------------------------------------------- */

/* What the local header and the central directory have in common. */
static void add_common(sb_buf *b, const member *m, bool is_central) {
    add16(b, VERSION);
    add16(b, FLAGS);
    add16(b, METHOD_STORED);
    add16(b, 0);
    add16(b, DOS_DATE);
    add32(b, is_central ? m->crc : 0);
    add32(b, UINT32_MAX); /* both sizes are in the extra field */
    add32(b, UINT32_MAX);
    add16(b, (unsigned)m->name.n + 4);
    add16(b, is_central ? 28 : 20);
}

static sb_status put_member(npz *z, const sb_bundle_tensor *t, sb_err *err) {
    member *m = SB_VEC_PUSH(&z->members, z->x->env->alloc, SIZE_MAX);
    if (!m) return sb_fail_nomem(err, "for an archive");
    if (t->name.n > UINT16_MAX - 4)
        return sb_fail(err, SB_LIMIT, 0, "'%.*s': this name is too long for an archive",
                       SB_SHOWN(t->name));
    *m = (member){.name = t->name, .offset = z->x->offset};
    add32(&z->bytes, 0x04034b50);
    add_common(&z->bytes, m, false);
    sb_buf_add_slice(&z->bytes, t->name);
    sb_buf_add_str(&z->bytes, ".npy");
    add16(&z->bytes, 1); /* the extra field of ZIP64 */
    add16(&z->bytes, 16);
    add64(&z->bytes, 0);
    add64(&z->bytes, 0);
    sb_status status = put_bytes(z, err);
    uint64_t begin = z->x->offset;
    z->x->zip_crc = 0;
    if (status == SB_OK) status = put_npy(z, t, err);
    m->size = z->x->offset - begin;
    m->crc = z->x->zip_crc;
    add32(&z->bytes, 0x08074b50);
    add32(&z->bytes, m->crc);
    add64(&z->bytes, m->size);
    add64(&z->bytes, m->size);
    return status == SB_OK ? put_bytes(z, err) : status;
}

static void add_central(sb_buf *b, const member *m) {
    add32(b, 0x02014b50);
    add16(b, VERSION);
    add_common(b, m, true);
    add16(b, 0); /* comment */
    add16(b, 0); /* disk */
    add16(b, 0); /* attributes */
    add32(b, (uint32_t)0100644 << 16);
    add32(b, UINT32_MAX); /* the offset is in the extra field */
    sb_buf_add_slice(b, m->name);
    sb_buf_add_str(b, ".npy");
    add16(b, 1);
    add16(b, 24);
    add64(b, m->size);
    add64(b, m->size);
    add64(b, m->offset);
}

static void add_end(sb_buf *b, uint64_t count, uint64_t begin, uint64_t end) {
    add32(b, 0x06064b50);
    add64(b, 44);
    add16(b, VERSION);
    add16(b, VERSION);
    add32(b, 0);
    add32(b, 0);
    add64(b, count);
    add64(b, count);
    add64(b, end - begin);
    add64(b, begin);
    add32(b, 0x07064b50); /* the locator */
    add32(b, 0);
    add64(b, end);
    add32(b, 1);
    add32(b, 0x06054b50); /* the end record of old */
    add32(b, 0);
    add16(b, count < UINT16_MAX ? (unsigned)count : UINT16_MAX);
    add16(b, count < UINT16_MAX ? (unsigned)count : UINT16_MAX);
    add32(b, end - begin < UINT32_MAX ? (uint32_t)(end - begin) : UINT32_MAX);
    add32(b, begin < UINT32_MAX ? (uint32_t)begin : UINT32_MAX);
    add16(b, 0);
}

sb_status sb_export_npz(sb_export_file *x, sb_err *err) {
    npz z = {.x = x};
    sb_status status = SB_OK;
    sb_buf_init(&z.bytes, x->env->alloc, (size_t)1 << 20);
    for (size_t i = 0; i < sb_bundle_count(x->b) && status == SB_OK; i++) {
        const sb_bundle_tensor *t = sb_bundle_at(x->b, i);
        if (!sb_export_wants(x, t)) continue;
        status = put_member(&z, t, err);
        x->result->written++;
    }
    uint64_t begin = x->offset;
    for (size_t i = 0; i < z.members.n && status == SB_OK; i++) {
        add_central(&z.bytes, &z.members.items[i]);
        status = put_bytes(&z, err);
    }
    add_end(&z.bytes, z.members.n, begin, x->offset);
    if (status == SB_OK) status = put_bytes(&z, err);
    SB_VEC_FREE(&z.members, x->env->alloc);
    sb_buf_fini(&z.bytes);
    return status;
}
