/* import_npz.c: reads NumPy's archive, array by array. */
#include "base/slice.h"
#include "base/text/utf8.h"
#include "ckpt/bundle/bundle_int.h"
#include "ckpt/export/import_int.h"
#include "ckpt/export/npy_header.h"
#include "ckpt/export/zip_read.h"
#include "ckpt/object/graph_keys.h"
#include "codec/tensor.h"
#include "base/banned.h"

#define MAX_DIRECTORY ((size_t)1 << 30)
#define MAX_HEADER ((size_t)1 << 20)

typedef struct member {
    sb_import_file *x;
    sb_zip_reader *reader;
    sb_npy_header h;
    sb_slice name; /* of the array: without ".npy" */
    uint64_t count, bytes;
} member;

/* ---- headers --------------------------------------------------------------------------------- */

static sb_status no_npy(const member *m, sb_err *err) {
    return sb_fail(err, SB_CORRUPT, 0, "%s: '%.*s' is no array of NumPy's", m->x->path,
                   SB_SHOWN(m->name));
}

static sb_status read_header(member *m, sb_err *err) {
    uint8_t front[SB_NPY_FRONT];
    size_t begin, length;
    sb_zip_reader *r = m->reader;
    if (r->m->size < sizeof front) return no_npy(m, err);
    sb_status status = sb_zip_read(r, front, sizeof front, err);
    if (status != SB_OK) return status;
    if (!sb_npy_front(front, &begin, &length) || length > MAX_HEADER ||
        begin + length < sizeof front || begin + length > r->m->size)
        return no_npy(m, err);
    char *text = sb_alloc_get(m->x->env->alloc, length + 1);
    if (!text) return sb_fail_nomem(err, "for an import");
    size_t had = sizeof front - begin;
    memcpy(text, front + begin, had);
    status = sb_zip_read(r, text + had, length - had, err);
    if (status == SB_OK)
        status = sb_npy_header_parse(&m->h, sb_slice_of(text, length), m->name, err);
    sb_alloc_put(m->x->env->alloc, text, length + 1);
    if (status != SB_OK) return status;
    if (!sb_bundle_count_elements(m->h.dims, m->h.rank, &m->count) ||
        __builtin_mul_overflow(m->count, m->h.width, &m->bytes) ||
        m->bytes != r->m->size - begin - length)
        return sb_fail(err, SB_CORRUPT, 0,
                       "%s: '%.*s' has %llu bytes, which is not what its shape needs", m->x->path,
                       SB_SHOWN(m->name), (unsigned long long)(r->m->size - begin - length));
    return SB_OK;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void to_little_endian(const member *m, uint8_t *p, size_t n) {
    size_t unit = (size_t)m->h.width / (sb_dtype_complex(m->h.dtype) ? 2 : 1);
    if (m->h.is_big_endian) sb_bundle_swap_units(p, n, unit);
}

static sb_status put_in_order(member *m, sb_err *err) {
    sb_status status = SB_OK;
    for (uint64_t at = 0; at < m->bytes && status == SB_OK;) {
        size_t n = m->bytes - at < SB_IMPORT_BLOCK ? (size_t)(m->bytes - at) : SB_IMPORT_BLOCK;
        status = sb_zip_read(m->reader, m->x->block, n, err);
        to_little_endian(m, m->x->block, n);
        if (status == SB_OK) status = sb_import_put(m->x, m->x->block, n, err);
        at += n;
    }
    return status;
}

/* Reads all bytes of the array at once. They are freed by the caller, m->bytes of them and one. */
static sb_status read_whole(member *m, uint8_t **out, sb_err *err) {
    uint64_t most = m->x->opts->max_in_memory;
    *out = NULL;
    if (m->bytes >= SIZE_MAX || (most && m->bytes > most))
        return sb_fail(
            err, SB_LIMIT, 0,
            "%s: '%.*s' has %llu bytes and must be read at once (it holds strings, or is "
            "in Fortran order); save it in C order",
            m->x->path, SB_SHOWN(m->name), (unsigned long long)m->bytes);
    *out = sb_alloc_get(m->x->env->alloc, (size_t)m->bytes + 1);
    if (!*out) return sb_fail_nomem(err, "for an array that must be read at once");
    return sb_zip_read(m->reader, *out, (size_t)m->bytes, err);
}

/* Moves to the next element in row-major order; place follows, by the strides of Fortran order. */
static void next_element(const sb_npy_header *h, int64_t *at, const uint64_t *strides,
                         uint64_t *place) {
    for (uint32_t d = h->rank; d-- > 0;) {
        *place += strides[d];
        if (++at[d] < h->dims[d]) return;
        *place -= strides[d] * (uint64_t)h->dims[d];
        at[d] = 0;
    }
}

static sb_status put_turned(member *m, sb_err *err) {
    uint64_t strides[SB_CKPT_MAX_RANK], place = 0, stride = m->h.width;
    int64_t at[SB_CKPT_MAX_RANK] = {0};
    uint8_t *bytes;
    size_t width = (size_t)m->h.width, n = 0;
    for (uint32_t d = 0; d < m->h.rank; d++) {
        strides[d] = stride;
        stride *= (uint64_t)m->h.dims[d];
    }
    sb_status status = read_whole(m, &bytes, err);
    if (status == SB_OK) to_little_endian(m, bytes, (size_t)m->bytes);
    for (uint64_t i = 0; i < m->count && status == SB_OK; i++) {
        memcpy(m->x->block + n, bytes + place, width);
        n += width;
        next_element(&m->h, at, strides, &place);
        if (n < SB_IMPORT_BLOCK && i + 1 < m->count) continue;
        status = sb_import_put(m->x, m->x->block, n, err);
        n = 0;
    }
    if (bytes) sb_alloc_put(m->x->env->alloc, bytes, (size_t)m->bytes + 1);
    return status;
}

static sb_status import_numbers(member *m, const sb_bundle_item *item, sb_err *err) {
    sb_bundle_writer *w = m->x->w;
    sb_status status = sb_bundle_write_begin(w, 0, item, err);
    /* The order is the same when at most one dimension has several elements. */
    uint32_t wide = 0;
    for (uint32_t d = 0; d < m->h.rank; d++) wide += m->h.dims[d] > 1;
    if (status == SB_OK)
        status = m->h.is_fortran && wide > 1 ? put_turned(m, err) : put_in_order(m, err);
    return status == SB_OK ? sb_bundle_write_end(w, 0, err) : status;
}

/* ---- strings --------------------------------------------------------------------------------- */

/* The bytes of one element; zeros at its end are NumPy's filling, but for an object graph, which is
 * as long as its type says. */
static sb_slice text_of(const member *m, const uint8_t *p) {
    size_t n = (size_t)m->h.width;
    if (sb_slice_eq(m->name, SB_LIT(SB_OBJECT_GRAPH_KEY)) && m->count == 1)
        return sb_slice_of(p, n);
    while (n && p[n - 1] == 0) n--;
    return sb_slice_of(p, n);
}

/* A character is four bytes in NumPy. */
static bool add_unicode(const member *m, const uint8_t *p, sb_buf *to) {
    size_t count = (size_t)m->h.width / 4;
    while (count && sb_load32(p + 4 * (count - 1)) == 0) count--;
    for (size_t i = 0; i < count; i++) {
        uint32_t c = sb_load32(p + 4 * i);
        if (!sb_utf8_add(to, m->h.is_big_endian ? __builtin_bswap32(c) : c)) return false;
    }
    return true;
}

/* All texts one behind the other, then cut: growing moves them. */
static sb_status split_unicode(const member *m, const uint8_t *bytes, sb_buf *texts,
                               sb_slice *strings, sb_err *err) {
    for (size_t i = 0; i < m->count; i++) {
        size_t begin = texts->n;
        if (!add_unicode(m, bytes + i * m->h.width, texts))
            return sb_fail(err, SB_CORRUPT, 0, "%s: '%.*s' has a character that is none",
                           m->x->path, SB_SHOWN(m->name));
        strings[i].n = texts->n - begin;
    }
    size_t at = 0;
    for (size_t i = 0; i < m->count && texts->failed == SB_OK; i++) {
        strings[i].p = texts->p ? texts->p + at : NULL;
        at += strings[i].n;
    }
    return sb_buf_check(texts, "an array of strings", err);
}

static sb_status import_strings(member *m, sb_bundle_item *item, sb_err *err) {
    const sb_alloc *alloc = m->x->env->alloc;
    if (m->h.is_fortran && m->h.rank > 1)
        return sb_fail(err, SB_INVALID, 0,
                       "%s: '%.*s' holds strings in Fortran order; save it in C order", m->x->path,
                       SB_SHOWN(m->name));
    if (m->h.width == 0 && m->count > m->reader->m->size + 1)
        return sb_fail(err, SB_LIMIT, 0, "%s: '%.*s' has %llu strings without bytes", m->x->path,
                       SB_SHOWN(m->name), (unsigned long long)m->count);
    uint8_t *bytes;
    sb_buf texts;
    sb_slice *strings = NULL;
    sb_buf_init(&texts, alloc, SIZE_MAX / 2);
    sb_status status = read_whole(m, &bytes, err);
    if (status == SB_OK) strings = sb_alloc_zeroed(alloc, (size_t)m->count + 1, sizeof *strings);
    if (status == SB_OK && !strings) status = sb_fail_nomem(err, "for an array of strings");
    if (status == SB_OK && m->h.text == SB_NPY_UNICODE)
        status = split_unicode(m, bytes, &texts, strings, err);
    for (size_t i = 0; status == SB_OK && m->h.text == SB_NPY_BYTES && i < m->count; i++)
        strings[i] = text_of(m, bytes + i * m->h.width);
    item->strings = strings;
    if (status == SB_OK) status = sb_import_strings(m->x, item, m->bytes, err);
    if (strings) sb_alloc_put(alloc, strings, ((size_t)m->count + 1) * sizeof *strings);
    if (bytes) sb_alloc_put(alloc, bytes, (size_t)m->bytes + 1);
    sb_buf_fini(&texts);
    return status;
}

/* ---- the archive ----------------------------------------------------------------------------- */

/* The names of the arrays: those of the members without ".npy", with a NUL behind. */
static sb_status list_names(sb_import_file *x, sb_zip *z, sb_slice **out, sb_err *err) {
    sb_slice *names = *out = sb_arena_zeroed(&z->arena, z->members.n, sizeof *names);
    if (!names) return sb_fail_nomem(err, "for an import");
    for (size_t i = 0; i < z->members.n; i++) {
        sb_slice name = z->members.items[i].name;
        if (!sb_slice_ends(name, SB_LIT(".npy")))
            return sb_fail(err, SB_INVALID, z->members.items[i].offset,
                           "%s: '%.*s' is no array; an .npz archive has only NAME.npy", x->path,
                           SB_SHOWN(name));
        names[i] = sb_arena_dup(&z->arena, sb_slice_of(name.p, name.n - 4));
        if (!names[i].p) return sb_fail_nomem(err, "for an import");
        if (sb_import_wants(x, names[i])) x->all += z->members.items[i].size;
    }
    return SB_OK;
}

static sb_status import_member(sb_import_file *x, const sb_zip *z, const sb_zip_member *zipped,
                               sb_slice name, sb_err *err) {
    sb_zip_reader reader;
    sb_status status = sb_zip_reader_init(&reader, z, zipped, err);
    if (status != SB_OK) return status;
    member m = {.x = x, .reader = &reader, .name = name};
    status = read_header(&m, err);
    sb_bundle_item item = {.name = name, .dtype = m.h.dtype, .rank = m.h.rank, .dims = m.h.dims};
    if (status == SB_OK)
        status = m.h.text ? import_strings(&m, &item, err) : import_numbers(&m, &item, err);
    x->result->written++;
    sb_zip_reader_fini(&reader);
    return status;
}

sb_status sb_import_npz(sb_import_file *x, sb_err *err) {
    sb_zip z;
    sb_slice *names;
    sb_status status =
        sb_zip_open(&z, x->env->fs, x->env->alloc, x->path, x->file, x->size, MAX_DIRECTORY, err);
    if (status != SB_OK) return status;
    status = list_names(x, &z, &names, err);
    for (size_t i = 0; i < z.members.n && status == SB_OK; i++)
        if (sb_import_wants(x, names[i]))
            status = import_member(x, &z, &z.members.items[i], names[i], err);
    sb_zip_close(&z);
    return status;
}
