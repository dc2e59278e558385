/* tensor.c: tensors under any plugin's name.
 *
 * In:  numbers or strings of any shape; plugin name and content travel in front of the elements.
 * Out: TF2, TF1  tensor_content (strings: string_val); TF1 always has a metadata field, once a tag
 *      torch, TBX  the typed field, plugin "tensor" unless another is named (torch)
 * torch itself stores float16, bfloat16 and uint8 in a way that no reader understands; here they
 * stand in the fields in which readers look for them. */
#include "base/slice.h"
#include "base/text/utf8.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "writer/kinds/kinds.h"
#include "writer/strings.h"

#include "base/banned.h"

#define MAX_NAME 65536u

/* data: the plugin's name and content, padded to 16 bytes, then the elements. */
typedef struct params {
    uint64_t content_n;
    uint32_t name_n;
    uint32_t has_name;
    sb_shape shape;
} params;

static size_t elements_padding(const params *p) {
    return (size_t)(-(p->name_n + p->content_n) & 15);
}

/* ---- the caller's side ----------------------------------------------------------------------- */

static sb_status put_tensor(sb_writer *w, sb_call *call, params *p, sb_slice name, sb_slice content,
                            const sb_piece *elements, size_t count) {
    static const uint8_t zeros[16];
    const sb_alloc *alloc = sb_writer_env(w)->alloc;
    size_t room = (count + 3) * sizeof(sb_piece);
    sb_piece few[4], *pieces = count == 1 ? few : sb_alloc_get(alloc, room);
    if (!pieces) return sb_call_refuse(w, SB_NOMEM, "tensor: out of memory for %zu pieces", count);
    pieces[0] = sb_piece_of(name);
    pieces[1] = sb_piece_of(content);
    pieces[2] = (sb_piece){.p = zeros, .n = elements_padding(p)};
    memcpy(pieces + 3, elements, count * sizeof *elements);
    call->params = SB_PARAMS_SLICE(p);
    sb_status status = sb_call_put(w, call, pieces, count + 3);
    if (pieces != few) sb_alloc_put(alloc, pieces, room);
    return status;
}

sb_status sb_tensor(sb_writer *w, const char *tag, const sb_array *data, int64_t step,
                    const char *plugin_name, sb_slice plugin_content, const sb_meta *meta) {
    sb_call call;
    sb_status status = sb_call_begin(w, &call, SB_CALL_TENSOR, tag, true, step, meta);
    if (status != SB_OK) return status;
    sb_slice name;
    status = sb_take_text(w, "the plugin's name", plugin_name, true, MAX_NAME, &name);
    if (status != SB_OK) return status;
    if (plugin_content.n && !plugin_content.p)
        return sb_call_refuse(w, SB_INVALID, "tensor: the plugin's content is missing");
    params p = {
        .name_n = (uint32_t)name.n, .has_name = plugin_name != NULL, .content_n = plugin_content.n};
    if (data && data->dtype == SB_STRING) {
        sb_packed_strings packed;
        status = sb_strings_pack(w, "tensor", data, false, &p.shape, &packed);
        if (status != SB_OK) return status;
        status = put_tensor(w, &call, &p, name, plugin_content, packed.pieces, packed.count);
        sb_strings_free(w, &packed);
        return status;
    }
    sb_piece elements;
    status = sb_take_array(w, "tensor", data, true, &p.shape, &elements);
    if (status != SB_OK) return status;
    return put_tensor(w, &call, &p, name, plugin_content, &elements, 1);
}

/* ---- encoding -------------------------------------------------------------------------------- */

/* The dtypes that torch stores; readers find all others in tensor_content only. */
static bool has_typed_field(sb_dtype dtype) {
    switch (dtype) {
    case SB_FLOAT:
    case SB_DOUBLE:
    case SB_HALF:
    case SB_BFLOAT16:
    case SB_INT8:
    case SB_UINT8:
    case SB_INT16:
    case SB_INT32:
    case SB_INT64:
    case SB_BOOL:
    case SB_COMPLEX64:
    case SB_COMPLEX128:
        return true;
    default:
        return false;
    }
}

sb_status sb_encode_tensor(sb_encoder *e, const sb_call *call, sb_buf *event, sb_err *err) {
    const params *p = (const void *)call->params.p;
    sb_slice name = sb_slice_of(call->data.p, p->name_n);
    sb_slice content = sb_slice_of(call->data.p + p->name_n, (size_t)p->content_n);
    size_t before = p->name_n + (size_t)p->content_n + elements_padding(p);
    sb_slice elements = sb_slice_of(call->data.p + before, call->data.n - before);
    sb_array array = sb_shape_array(&p->shape, elements.p);
    if (array.dtype == SB_STRING &&
        sb_strings_unpack(&e->scratch, &p->shape, elements, &array) != SB_OK)
        return sb_encode_nomem(err, call);
    if (!p->has_name && e->style == SB_STYLE_TORCH) name = SB_LIT("tensor");
    bool typed = !sb_style_is_tf(e->style) && has_typed_field(array.dtype);
    sb_value_frame frame = sb_value_begin(event, call, call->tag, call->data.n + call->tag.n + 48);
    sb_status status =
        sb_tensor_add(event, SB_VALUE_TENSOR, &array, typed ? SB_TENSOR_TYPED : SB_TENSOR_CONTENT);
    if (status != SB_OK)
        return sb_fail(err, status, 0, "tensor '%.*s': %s can't be stored", SB_SHOWN(call->tag),
                       sb_dtype_name(array.dtype));
    sb_value_metadata_once(e, event, call, call->tag, name, content, e->style == SB_STYLE_TF1);
    sb_value_end(event, frame);
    return SB_OK;
}
