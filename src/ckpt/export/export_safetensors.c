/* export_safetensors.c: the safetensors format.
 *
 *   u64 length of the header | JSON, blanks up to a multiple of 8 | bytes without holes
 *   header   {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, ...}
 *
 * Wide types come first, then names in byte order, as its own writer has it. */
#include <stdlib.h>

#include "base/slice.h"
#include "base/text/json.h"
#include "base/text/utf8.h"
#include "base/vec.h"
#include "ckpt/export/export_int.h"
#include "codec/tensor.h"
#include "base/banned.h"

#define MAX_HEADER ((size_t)100000000)

/* Types by name; of a type that several of TensorFlow's become, the first is what is read back. */
static const struct {
    const char *name;
    sb_dtype dtype;
} types[] = {
    {"F32", SB_FLOAT},
    {"F64", SB_DOUBLE},
    {"F16", SB_HALF},
    {"BF16", SB_BFLOAT16},
    {"F8_E5M2", SB_FLOAT8_E5M2},
    {"F8_E4M3", SB_FLOAT8_E4M3FN},
    {"C64", SB_COMPLEX64},
    {"BOOL", SB_BOOL},
    {"I8", SB_INT8},
    {"I16", SB_INT16},
    {"I32", SB_INT32},
    {"I64", SB_INT64},
    {"U8", SB_UINT8},
    {"U16", SB_UINT16},
    {"U32", SB_UINT32},
    {"U64", SB_UINT64},
    {"I8", SB_QINT8},
    {"U8", SB_QUINT8},
    {"I16", SB_QINT16},
    {"U16", SB_QUINT16},
    {"I32", SB_QINT32},
};
#define TYPES (sizeof types / sizeof types[0])

/* NULL: there is no such type. */
static const char *safetensors_dtype(sb_dtype dtype) {
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].dtype == dtype) return types[i].name;
    return NULL;
}

sb_dtype sb_safetensors_dtype(sb_slice name) {
    for (size_t i = 0; i < TYPES; i++)
        if (sb_slice_eq(name, sb_slice_str(types[i].name))) return types[i].dtype;
    return SB_NO_DTYPE;
}

static int by_width_and_name(const void *x, const void *y) {
    const sb_bundle_tensor *a = *(const sb_bundle_tensor *const *)x;
    const sb_bundle_tensor *b = *(const sb_bundle_tensor *const *)y;
    size_t wide = sb_bundle_width(a), other = sb_bundle_width(b);
    if (wide != other) return wide > other ? -1 : 1;
    return sb_slice_cmp(a->name, b->name);
}

static void add_tensor(sb_json *j, const sb_bundle_tensor *t, uint64_t begin, uint64_t end) {
    sb_json_key(j, t->name);
    sb_json_begin_object(j);
    sb_json_put_str(j, "dtype", safetensors_dtype(t->dtype));
    sb_json_key_str(j, "shape");
    sb_json_begin_array(j);
    for (uint32_t d = 0; d < t->rank; d++) sb_json_int(j, t->dims[d]);
    sb_json_end_array(j);
    sb_json_key_str(j, "data_offsets");
    sb_json_begin_array(j);
    sb_json_uint(j, begin);
    sb_json_uint(j, end);
    sb_json_end_array(j);
    sb_json_end_object(j);
}

typedef SB_VEC(const sb_bundle_tensor *) tensors;

static sb_status list_tensors(sb_export_file *x, tensors *all, sb_err *err) {
    for (size_t i = 0; i < sb_bundle_count(x->b); i++) {
        const sb_bundle_tensor *t = sb_bundle_at(x->b, i);
        if (!sb_export_wants(x, t)) continue;
        if (!safetensors_dtype(t->dtype) || !sb_utf8_valid(t->name)) {
            x->result->left_out++;
            continue;
        }
        const sb_bundle_tensor **slot = SB_VEC_PUSH(all, x->env->alloc, SIZE_MAX);
        if (!slot) return sb_fail_nomem(err, "for a file");
        *slot = t;
    }
    if (all->n) qsort(all->items, all->n, sizeof *all->items, by_width_and_name);
    return SB_OK;
}

static sb_status put_header(sb_export_file *x, const tensors *all, sb_err *err) {
    sb_buf header;
    sb_json j;
    uint64_t at = 0;
    sb_buf_init(&header, x->env->alloc, MAX_HEADER);
    sb_json_init(&j, &header, &(sb_json_opts){.utf8 = true});
    sb_json_begin_object(&j);
    for (size_t i = 0; i < all->n; i++) {
        uint64_t bytes = sb_bundle_bytes(x->b, all->items[i]);
        add_tensor(&j, all->items[i], at, at + bytes);
        at += bytes;
    }
    sb_json_end_object(&j);
    sb_status status = sb_json_finish(&j, "the header", err);
    while (header.failed == SB_OK && header.n % 8) sb_buf_add_byte(&header, ' ');
    uint8_t length[8];
    sb_store64(length, header.n);
    if (status == SB_OK) status = sb_export_put(x, length, sizeof length, err);
    if (status == SB_OK) status = sb_export_put(x, header.p, header.n, err);
    sb_buf_fini(&header);
    return status;
}

sb_status sb_export_safetensors(sb_export_file *x, sb_err *err) {
    tensors all = {0};
    sb_status status = list_tensors(x, &all, err);
    if (status == SB_OK) status = put_header(x, &all, err);
    for (size_t i = 0; i < all.n && status == SB_OK; i++) {
        status = sb_export_numbers(x, all.items[i], err);
        x->result->written++;
    }
    SB_VEC_FREE(&all, x->env->alloc);
    return status;
}
