/* bundle_v1.c: checkpoints of version 1 (TensorFlow before 0.12, `Saver(write_version=V1)`), read
 * only. One table (table.h) holds names, shapes and values:
 *
 *   key ""           SavedTensorSlices { 1 meta { 1 tensor { 1 name, 2 shape, 3 type, 4 slice } } }
 *   key of a piece   SavedTensorSlices { 2 data { 1 name, 2 slice, 3 TensorProto } }
 *   (slice_key.h)    a tensor that was saved whole is one piece: all of every dimension
 *
 * Values are in the typed fields of the TensorProto, one element each. The whole file is read into
 * memory at open, within the limits: blocks may be compressed, and these are small.
 *
 * A sharded one is several such files, NAME-00000-of-00002 and so on, and is called by the pattern
 * NAME-?????-of-00002 (so TensorFlow writes it into the state file). Each file lists the tensors
 * and pieces that are in it; the pieces of one variable may be in several. */
#include <stdio.h>

#include "base/slice.h"
#include "ckpt/bundle/bundle_int.h"
#include "ckpt/table/table.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "codec/tensor.h"
#include "base/banned.h"

enum { FILE_META = 1, FILE_DATA = 2 };
enum { META_TENSOR = 1 };
enum { TENSOR_NAME = 1, TENSOR_SHAPE = 2, TENSOR_TYPE = 3, TENSOR_SLICE = 4 };
enum { DATA_NAME = 1, DATA_SLICE = 2, DATA_TENSOR = 3 };

static sb_status malformed(const char *name, const char *what, sb_err *err) {
    return sb_fail(err, SB_CORRUPT, 0, "%s: %s is malformed", name, what);
}

/* The last length-delimited field of that number; empty when there is none. */
static bool find_bytes(sb_slice message, uint32_t number, sb_slice *out) {
    sb_pb c = sb_pb_over(message);
    sb_pb_field f;
    sb_pb_step step;
    *out = (sb_slice){NULL, 0};
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD)
        if (f.number == number && f.wire == SB_PB_BYTES) *out = f.bytes;
    return step == SB_PB_END;
}

/* ---- names and shapes ------------------------------------------------------------------------ */

/* Fills dtype, dims and the number of slices from a SavedSliceMeta. */
static sb_status read_tensor(sb_bundle *b, sb_slice meta, sb_bundle_tensor *t, const char *name,
                             sb_err *err) {
    int64_t room[SB_CKPT_MAX_RANK];
    sb_slice text = {NULL, 0};
    sb_pb c = sb_pb_over(meta);
    sb_pb_field f;
    sb_pb_step step;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        if (f.number == TENSOR_NAME && f.wire == SB_PB_BYTES) text = f.bytes;
        if (f.number == TENSOR_TYPE && f.wire == SB_PB_VARINT)
            t->dtype = f.u64 > INT32_MAX ? SB_NO_DTYPE : (sb_dtype)f.u64;
        if (f.number == TENSOR_SLICE && f.wire == SB_PB_BYTES) t->slice_count++;
        if (f.number == TENSOR_SHAPE && f.wire == SB_PB_BYTES &&
            !sb_bundle_read_shape(f.bytes, room, &t->rank))
            return malformed(name, "a shape", err);
    }
    if (step == SB_PB_BAD || text.n > b->limits.max_key || (text.n && text.p[0] == 0) ||
        !sb_bundle_count_elements(room, t->rank, &t->count))
        return malformed(name, "the entry of a tensor", err);
    t->name = sb_arena_dup(&b->arena, text);
    int64_t *dims = sb_arena_get(&b->arena, t->rank * sizeof *dims);
    if (!t->name.p || !dims) return sb_fail_nomem(err, "for a checkpoint");
    memcpy(dims, room, t->rank * sizeof *dims);
    t->dims = dims;
    return SB_OK;
}

static sb_status too_many_pieces(const sb_bundle *b, const sb_bundle_tensor *t, sb_err *err) {
    return sb_fail(err, SB_LIMIT, 0, "%.*s: '%.*s' is in %u pieces, over the limit of %zu",
                   SB_SHOWN(b->prefix), SB_SHOWN(t->name), t->slice_count, b->limits.max_slices);
}

static sb_status read_tensor_slices(sb_bundle *b, sb_slice meta, sb_bundle_tensor *t,
                                    const char *name, sb_err *err) {
    if (t->slice_count > b->limits.max_slices) return too_many_pieces(b, t, err);
    size_t pairs = (size_t)t->slice_count * t->rank;
    int64_t *extents = sb_arena_zeroed(&b->arena, pairs ? pairs : 1, 2 * sizeof *extents);
    if (!extents) return sb_fail_nomem(err, "for a checkpoint");
    t->extents = extents;
    sb_pb c = sb_pb_over(meta);
    sb_pb_field f;
    while (sb_pb_next(&c, &f) == SB_PB_FIELD) {
        if (f.number != TENSOR_SLICE || f.wire != SB_PB_BYTES) continue;
        if (!sb_bundle_read_extents(f.bytes, t->rank, extents))
            return malformed(name, "a piece", err);
        extents += 2 * (size_t)t->rank;
    }
    return SB_OK;
}

/* Puts the tensors in order of names; those of several files become one. */
static sb_status join_tensors(sb_bundle *b, const char *name, sb_err *err) {
    const sb_bundle_tensor *twice;
    if (!sb_bundle_sort_and_join(&b->tensors, &b->arena, &twice))
        return sb_fail_nomem(err, "for a checkpoint");
    return twice ? sb_fail(err, SB_CORRUPT, 0,
                           "%s: '%.*s' is there twice, with other types or shapes", name,
                           SB_SHOWN(twice->name))
                 : SB_OK;
}

static sb_status read_meta(sb_bundle *b, sb_slice key, sb_slice value, const char *name,
                           sb_err *err) {
    sb_slice meta;
    (void)key;
    if (!find_bytes(value, FILE_META, &meta)) return malformed(name, "the header", err);
    sb_pb c = sb_pb_over(meta);
    sb_pb_field f;
    sb_pb_step step;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        if (f.number != META_TENSOR || f.wire != SB_PB_BYTES) continue;
        sb_bundle_tensor t = {.dtype = SB_NO_DTYPE};
        sb_status status = read_tensor(b, f.bytes, &t, name, err);
        if (status == SB_OK) status = read_tensor_slices(b, f.bytes, &t, name, err);
        if (status == SB_OK) status = sb_bundle_add_entry(b, &t, err);
        if (status != SB_OK) return status;
    }
    return step == SB_PB_BAD ? malformed(name, "the header", err) : join_tensors(b, name, err);
}

/* ---- values ---------------------------------------------------------------------------------- */

static sb_status read_piece(sb_bundle *b, sb_slice key, sb_slice value, const char *name,
                            sb_err *err) {
    sb_slice data, text, slice, tensor;
    if (!find_bytes(value, FILE_DATA, &data) || !find_bytes(data, DATA_NAME, &text) ||
        !find_bytes(data, DATA_SLICE, &slice) || !find_bytes(data, DATA_TENSOR, &tensor))
        return malformed(name, "a piece", err);
    const sb_bundle_tensor *whole = sb_bundle_entry(&b->tensors, text);
    int64_t extents[2 * SB_CKPT_MAX_RANK];
    if (!whole || key.n == 0 || key.p[0] != 0 ||
        !sb_bundle_read_extents(slice, whole->rank, extents))
        return malformed(name, "the name of a piece", err);
    sb_bundle_tensor piece = {.name = sb_arena_dup(&b->arena, key),
                              .dtype = whole->dtype,
                              .rank = whole->rank,
                              .v1 = sb_arena_dup(&b->arena, tensor)};
    int64_t *dims = sb_arena_get(&b->arena, whole->rank * sizeof *dims);
    if (!dims || !piece.name.p || !piece.v1.p) return sb_fail_nomem(err, "for a checkpoint");
    for (uint32_t d = 0; d < whole->rank; d++)
        dims[d] = extents[2 * d + 1] < 0 ? whole->dims[d] : extents[2 * d + 1];
    piece.dims = dims;
    if (!sb_bundle_count_elements(dims, piece.rank, &piece.count))
        return malformed(name, "the shape of a piece", err);
    return sb_bundle_add_entry(b, &piece, err);
}

sb_status sb_bundle_read_v1(sb_bundle *b, sb_slice file, const char *name, sb_err *err) {
    return sb_bundle_walk_table(b, file, name, 4 * b->limits.max_key, read_meta, read_piece, err);
}

sb_status sb_bundle_join_v1(sb_bundle *b, sb_err *err) {
    const sb_bundle_tensor *twice;
    for (size_t i = 0; i < b->tensors.n; i++)
        if (b->tensors.items[i].slice_count > b->limits.max_slices)
            return too_many_pieces(b, &b->tensors.items[i], err);
    if (!sb_bundle_sort_and_join(&b->pieces, &b->arena, &twice))
        return sb_fail_nomem(err, "for a checkpoint");
    return twice ? sb_fail(err, SB_CORRUPT, 0, "%.*s: a piece is in two of its files",
                           SB_SHOWN(b->prefix))
                 : SB_OK;
}

/* ---- names of files -------------------------------------------------------------------------- */

/* "-?????-of-00002" */
#define SHARD_SUFFIX 15

/* The number that five digits are; false when they are none. */
static bool read_digits(const uint8_t *p, uint32_t *out) {
    *out = 0;
    for (int i = 0; i < 5; i++) {
        if (p[i] < '0' || p[i] > '9') return false;
        *out = *out * 10 + (uint32_t)(p[i] - '0');
    }
    return true;
}

uint32_t sb_bundle_v1_files(sb_slice prefix) {
    if (prefix.n <= SHARD_SUFFIX) return 0;
    const uint8_t *p = prefix.p + prefix.n - SHARD_SUFFIX;
    uint32_t shard, files;
    bool is_pattern = memcmp(p + 1, "?????", 5) == 0;
    if (p[0] != '-' || memcmp(p + 6, "-of-", 4) != 0 || !read_digits(p + 10, &files)) return 0;
    return is_pattern || (read_digits(p + 1, &shard) && shard < files) ? files : 0;
}

bool sb_bundle_v1_path(sb_slice prefix, uint32_t i, char *path, size_t room) {
    uint32_t files = sb_bundle_v1_files(prefix);
    size_t front = files ? prefix.n - SHARD_SUFFIX : prefix.n;
    if (front >= room) return false;
    memcpy(path, prefix.p, front);
    path[front] = 0;
    if (!files) return true;
    int n = snprintf(path + front, room - front, "-%05u-of-%05u", i, files);
    return n > 0 && (size_t)n < room - front;
}

/* ---- elements -------------------------------------------------------------------------------- */

typedef struct form {
    uint32_t field, wire;
    uint8_t bytes, parts; /* bytes of each stored number; numbers of an element */
} form;

static form form_of(sb_dtype dtype) {
    uint8_t width = (uint8_t)sb_dtype_size(dtype);
    switch (dtype) {
    case SB_FLOAT:
        return (form){SB_TENSOR_FLOAT_VAL, SB_PB_FIXED32, 4, 1};
    case SB_DOUBLE:
        return (form){SB_TENSOR_DOUBLE_VAL, SB_PB_FIXED64, 8, 1};
    case SB_COMPLEX64:
        return (form){SB_TENSOR_SCOMPLEX_VAL, SB_PB_FIXED32, 4, 2};
    case SB_COMPLEX128:
        return (form){SB_TENSOR_DCOMPLEX_VAL, SB_PB_FIXED64, 8, 2};
    case SB_INT64:
        return (form){SB_TENSOR_INT64_VAL, SB_PB_VARINT, 8, 1};
    case SB_BOOL:
        return (form){SB_TENSOR_BOOL_VAL, SB_PB_VARINT, 1, 1};
    case SB_HALF:
    case SB_BFLOAT16:
        return (form){SB_TENSOR_HALF_VAL, SB_PB_VARINT, 2, 1};
    case SB_UINT32:
        return (form){SB_TENSOR_UINT32_VAL, SB_PB_VARINT, 4, 1};
    case SB_UINT64:
        return (form){SB_TENSOR_UINT64_VAL, SB_PB_VARINT, 8, 1};
    default: /* all others that have elements of one size are int_val */
        return (form){SB_TENSOR_INT_VAL, SB_PB_VARINT, width, 1};
    }
}

static sb_status wrong_count(const sb_bundle_tensor *piece, sb_err *err) {
    return sb_fail(err, SB_CORRUPT, 0, "a piece has other than the %llu values of its shape",
                   (unsigned long long)piece->count);
}

sb_status sb_bundle_v1_bytes(const sb_bundle_tensor *piece, sb_buf *out, sb_err *err) {
    form how = form_of(piece->dtype);
    size_t begin = out->n;
    sb_pb c = sb_pb_over(piece->v1);
    sb_pb_field f;
    sb_pb_step step;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        if (f.number == SB_TENSOR_TENSOR_CONTENT && f.wire == SB_PB_BYTES)
            sb_buf_add_slice(out, f.bytes);
        if (f.number != how.field) continue;
        sb_pb_many many = sb_pb_many_of(&f, how.wire);
        uint64_t bits;
        sb_pb_step more;
        while ((more = sb_pb_many_next(&many, &bits)) == SB_PB_FIELD) {
            uint8_t number[8];
            sb_store64(number, bits);
            sb_buf_add(out, number, how.bytes);
        }
        if (more == SB_PB_BAD) step = SB_PB_BAD;
        if (step == SB_PB_BAD) break;
    }
    if (step == SB_PB_BAD)
        return sb_fail(err, SB_CORRUPT, 0, "the values of a piece are malformed");
    sb_status status = sb_buf_check(out, "a tensor", err);
    if (status != SB_OK) return status;
    uint64_t width = (uint64_t)how.bytes * how.parts;
    if (piece->count > UINT64_MAX / width || out->n - begin != piece->count * width)
        return wrong_count(piece, err);
    return SB_OK;
}

sb_status sb_bundle_v1_strings(const sb_bundle_tensor *piece, sb_slice *out, sb_err *err) {
    uint64_t n = 0;
    sb_pb c = sb_pb_over(piece->v1);
    sb_pb_field f;
    sb_pb_step step;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        if (f.number != SB_TENSOR_STRING_VAL || f.wire != SB_PB_BYTES) continue;
        if (!out || n == piece->count) return wrong_count(piece, err);
        out[n++] = f.bytes;
    }
    return step == SB_PB_BAD || n != piece->count ? wrong_count(piece, err) : SB_OK;
}
