/* import_safetensors.c: reads the safetensors format (export_safetensors.c has it).
 *
 * The arrays must cover the bytes behind the header exactly, without holes and without sharing any,
 * as the format asks for: then nothing is hidden in a file and nothing is in it twice. */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/slice.h"
#include "base/vec.h"
#include "ckpt/bundle/bundle_int.h"
#include "ckpt/export/export_int.h"
#include "ckpt/export/import_int.h"
#include "ckpt/export/json_read.h"
#include "codec/tensor.h"
#include "fsio/beneath.h"
#include "base/banned.h"

/* The format's own limit. */
#define MAX_HEADER ((uint64_t)100000000)

typedef struct tensor {
    sb_slice name, type;
    uint32_t rank;
    int64_t *dims;
    uint64_t begin, end; /* behind the header */
} tensor;

typedef struct header {
    sb_import_file *x;
    sb_arena arena;
    sb_buf text; /* a string that is being read */
    SB_VEC(tensor) tensors;
    uint64_t begin; /* of the bytes, in the file */
    bool has_no_memory;
} header;

static sb_status malformed(const header *h, const char *what, sb_err *err) {
    if (h->has_no_memory) return sb_fail_nomem(err, "for an import");
    return sb_fail(err, SB_CORRUPT, 8, "%s: its header is malformed: %s", h->x->path, what);
}

/* ---- one array ------------------------------------------------------------------------------- */

static bool read_name(header *h, sb_json_cursor *c, sb_slice *out) {
    sb_buf_clear(&h->text);
    bool is_good = sb_json_read_string(c, &h->text);
    if (is_good) *out = sb_arena_dup(&h->arena, sb_buf_slice(&h->text));
    h->has_no_memory |= h->text.failed == SB_NOMEM || (is_good && !out->p);
    return is_good && out->p;
}

static bool read_shape(header *h, sb_json_cursor *c, tensor *t) {
    int64_t dims[SB_CKPT_MAX_RANK];
    if (!sb_json_skip(c, '[')) return false;
    t->rank = 0;
    if (!sb_json_skip(c, ']')) {
        do {
            uint64_t size;
            if (t->rank == SB_CKPT_MAX_RANK || !sb_json_read_uint(c, &size) || size > INT64_MAX)
                return false;
            dims[t->rank++] = (int64_t)size;
        } while (sb_json_skip(c, ','));
        if (!sb_json_skip(c, ']')) return false;
    }
    t->dims = sb_arena_get(&h->arena, t->rank * sizeof *dims);
    if (t->dims && t->rank) memcpy(t->dims, dims, t->rank * sizeof *dims);
    h->has_no_memory |= !t->dims;
    return t->dims != NULL;
}

static bool read_offsets(sb_json_cursor *c, tensor *t) {
    return sb_json_skip(c, '[') && sb_json_read_uint(c, &t->begin) && sb_json_skip(c, ',') &&
           sb_json_read_uint(c, &t->end) && sb_json_skip(c, ']') && t->begin <= t->end;
}

static bool read_tensor(header *h, sb_json_cursor *c, tensor *t) {
    bool has_offsets = false;
    sb_slice key;
    if (!sb_json_skip(c, '{')) return false;
    do {
        if (!read_name(h, c, &key) || !sb_json_skip(c, ':')) return false;
        bool is_good = false;
        if (sb_slice_eq(key, SB_LIT("dtype")))
            is_good = read_name(h, c, &t->type);
        else if (sb_slice_eq(key, SB_LIT("shape")))
            is_good = read_shape(h, c, t);
        else if (sb_slice_eq(key, SB_LIT("data_offsets")))
            is_good = has_offsets = read_offsets(c, t);
        if (!is_good) return false;
    } while (sb_json_skip(c, ','));
    return sb_json_skip(c, '}') && t->type.p && t->dims && has_offsets;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool skip_metadata(header *h, sb_json_cursor *c) {
    bool is_good = sb_json_skip_value(c, &h->text);
    h->has_no_memory |= h->text.failed == SB_NOMEM;
    return is_good;
}

static sb_status read_item(header *h, sb_json_cursor *c, sb_err *err) {
    tensor t = {.rank = 0};
    if (!read_name(h, c, &t.name) || !sb_json_skip(c, ':'))
        return malformed(h, "a name is missing", err);
    if (sb_slice_eq(t.name, SB_LIT("__metadata__")))
        return skip_metadata(h, c) ? SB_OK : malformed(h, "__metadata__", err);
    if (!read_tensor(h, c, &t)) {
        if (h->has_no_memory) return sb_fail_nomem(err, "for an import");
        return sb_fail(err, SB_CORRUPT, 8, "%s: the entry of '%.*s' is malformed", h->x->path,
                       SB_SHOWN(t.name));
    }
    tensor *slot = SB_VEC_PUSH(&h->tensors, h->x->env->alloc, SIZE_MAX);
    if (!slot) return sb_fail_nomem(err, "for an import");
    *slot = t;
    return SB_OK;
}

static sb_status read_text(header *h, sb_slice text, sb_err *err) {
    sb_json_cursor c = {text.p, text.p + text.n};
    if (!sb_json_skip(&c, '{')) return malformed(h, "it is no JSON object", err);
    if (!sb_json_skip(&c, '}')) {
        do {
            sb_status status = read_item(h, &c, err);
            if (status != SB_OK) return status;
        } while (sb_json_skip(&c, ','));
        if (!sb_json_skip(&c, '}')) return malformed(h, "it does not end", err);
    }
    return sb_json_at_end(&c) ? SB_OK : malformed(h, "something follows its end", err);
}

static sb_status read_header(header *h, sb_err *err) {
    sb_import_file *x = h->x;
    uint8_t front[8];
    if (x->size < 8)
        return sb_fail(err, SB_CORRUPT, 0, "%s: is too short for safetensors", x->path);
    sb_slice path = sb_slice_str(x->path);
    sb_status status = sb_fs_read_exactly(x->env->fs, x->file, path, front, 8, 0, err);
    if (status != SB_OK) return status;
    uint64_t length = sb_load64(front);
    if (length > MAX_HEADER || length > x->size - 8)
        return sb_fail(err, SB_CORRUPT, 0,
                       "%s: says that its header has %llu bytes; it is no safetensors file, or was "
                       "cut short",
                       x->path, (unsigned long long)length);
    h->begin = 8 + length;
    uint8_t *text = sb_alloc_get(x->env->alloc, (size_t)length + 1);
    if (!text) return sb_fail_nomem(err, "for an import");
    status = sb_fs_read_exactly(x->env->fs, x->file, path, text, (size_t)length, 8, err);
    if (status == SB_OK) status = read_text(h, sb_slice_of(text, (size_t)length), err);
    sb_alloc_put(x->env->alloc, text, (size_t)length + 1);
    return status;
}

static int by_begin(const void *x, const void *y) {
    const tensor *a = x, *b = y;
    if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

static sb_status check_places(header *h, sb_err *err) {
    uint64_t at = 0;
    if (h->tensors.n) qsort(h->tensors.items, h->tensors.n, sizeof *h->tensors.items, by_begin);
    for (size_t i = 0; i < h->tensors.n; i++) {
        const tensor *t = &h->tensors.items[i];
        if (t->begin != at)
            return sb_fail(err, SB_CORRUPT, h->begin + t->begin,
                           "%s: '%.*s' begins at byte %llu of the data and should at %llu",
                           h->x->path, SB_SHOWN(t->name), (unsigned long long)t->begin,
                           (unsigned long long)at);
        at = t->end;
        if (sb_import_wants(h->x, t->name)) h->x->all += t->end - t->begin;
    }
    if (at != h->x->size - h->begin)
        return sb_fail(err, SB_CORRUPT, h->begin,
                       "%s: its arrays have %llu bytes, and the file has %llu for them; it was cut "
                       "short or changed",
                       h->x->path, (unsigned long long)at,
                       (unsigned long long)(h->x->size - h->begin));
    return SB_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

static sb_status check_type(const header *h, const tensor *t, sb_dtype *dtype, sb_err *err) {
    uint64_t count, bytes;
    *dtype = sb_safetensors_dtype(t->type);
    if (*dtype == SB_NO_DTYPE)
        return sb_fail(err, SB_INVALID, 0,
                       "%s: '%.*s' is of type %.*s, which a checkpoint does not have; leave it out "
                       "with --without",
                       h->x->path, SB_SHOWN(t->name), SB_SHOWN(t->type));
    if (!sb_bundle_count_elements(t->dims, t->rank, &count) ||
        __builtin_mul_overflow(count, (uint64_t)sb_dtype_size(*dtype), &bytes) ||
        bytes != t->end - t->begin)
        return sb_fail(err, SB_CORRUPT, h->begin + t->begin,
                       "%s: '%.*s' has %llu bytes, which is not what its shape needs", h->x->path,
                       SB_SHOWN(t->name), (unsigned long long)(t->end - t->begin));
    return SB_OK;
}

static sb_status copy_tensor(const header *h, const tensor *t, sb_err *err) {
    sb_import_file *x = h->x;
    sb_bundle_item item = {.name = t->name, .rank = t->rank, .dims = t->dims};
    sb_status status = check_type(h, t, &item.dtype, err);
    if (status == SB_OK) status = sb_bundle_write_begin(x->w, 0, &item, err);
    for (uint64_t at = t->begin; at < t->end && status == SB_OK;) {
        size_t n = t->end - at < SB_IMPORT_BLOCK ? (size_t)(t->end - at) : SB_IMPORT_BLOCK;
        status = sb_fs_read_exactly(x->env->fs, x->file, sb_slice_str(x->path), x->block, n,
                                    h->begin + at, err);
        if (status == SB_OK) status = sb_import_put(x, x->block, n, err);
        at += n;
    }
    if (status == SB_OK) status = sb_bundle_write_end(x->w, 0, err);
    x->result->written++;
    return status;
}

sb_status sb_import_safetensors(sb_import_file *x, sb_err *err) {
    header h = {.x = x};
    sb_arena_init(&h.arena, x->env->alloc, 64 << 10, SIZE_MAX / 2);
    sb_buf_init(&h.text, x->env->alloc, (size_t)MAX_HEADER);
    sb_status status = read_header(&h, err);
    if (status == SB_OK) status = check_places(&h, err);
    for (size_t i = 0; i < h.tensors.n && status == SB_OK; i++)
        if (sb_import_wants(x, h.tensors.items[i].name))
            status = copy_tensor(&h, &h.tensors.items[i], err);
    SB_VEC_FREE(&h.tensors, x->env->alloc);
    sb_buf_fini(&h.text);
    sb_arena_fini(&h.arena);
    return status;
}
