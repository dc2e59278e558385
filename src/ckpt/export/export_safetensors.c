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

/* NULL: there is no such type. */
static const char *name_of(sb_dtype dtype) {
    switch (dtype) {
    case SB_BOOL:
        return "BOOL";
    case SB_UINT8:
    case SB_QUINT8:
        return "U8";
    case SB_INT8:
    case SB_QINT8:
        return "I8";
    case SB_FLOAT8_E5M2:
        return "F8_E5M2";
    case SB_FLOAT8_E4M3FN:
        return "F8_E4M3";
    case SB_INT16:
    case SB_QINT16:
        return "I16";
    case SB_UINT16:
    case SB_QUINT16:
        return "U16";
    case SB_HALF:
        return "F16";
    case SB_BFLOAT16:
        return "BF16";
    case SB_INT32:
    case SB_QINT32:
        return "I32";
    case SB_UINT32:
        return "U32";
    case SB_FLOAT:
        return "F32";
    case SB_COMPLEX64:
        return "C64";
    case SB_DOUBLE:
        return "F64";
    case SB_INT64:
        return "I64";
    case SB_UINT64:
        return "U64";
    default:
        return NULL;
    }
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
    sb_json_put_str(j, "dtype", name_of(t->dtype));
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
        if (!name_of(t->dtype) || !sb_utf8_valid(t->name)) {
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
