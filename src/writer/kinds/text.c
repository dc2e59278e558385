/* text.c: texts, one or an array of them.
 *
 * Out: a string tensor with plugin "text". TF2, TF1: tag as given, a single text has rank 0.
 *      torch, TBX: TAG/text_summary, a single text has shape [1]. */
#include "base/checked.h"
#include "base/slice.h"
#include "base/text/utf8.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "writer/kinds/kinds.h"
#include "writer/strings.h"

#include "base/banned.h"

sb_status sb_text(sb_writer *w, const char *tag, const char *text, int64_t step) {
    static const int64_t one = 1;
    if (w && !text) return sb_call_refuse(w, SB_INVALID, "text: the text is missing");
    sb_slice string = sb_slice_str(text);
    bool tf = w && sb_style_is_tf(sb_writer_style(w));
    const sb_array strings = {&string, SB_STRING, tf ? 0 : 1, &one, NULL};
    return sb_text_array(w, tag, &strings, step, NULL);
}

sb_status sb_text_array(sb_writer *w, const char *tag, const sb_array *strings, int64_t step,
                        const sb_meta *meta) {
    sb_call call;
    sb_status status = sb_call_begin(w, &call, SB_CALL_TEXT, tag, true, step, meta);
    if (status != SB_OK) return status;
    if (strings && strings->dtype != SB_STRING)
        return sb_call_refuse(w, SB_INVALID, "text: an array of %s; give strings",
                              sb_dtype_name(strings->dtype));
    sb_shape shape;
    sb_packed_strings packed;
    status = sb_strings_pack(w, "text", strings, true, &shape, &packed);
    if (status != SB_OK) return status;
    call.params = sb_slice_of(&shape, sb_shape_bytes(&shape));
    status = sb_call_put(w, &call, packed.pieces, packed.count);
    sb_strings_free(w, &packed);
    return status;
}

sb_status sb_encode_text(sb_encoder *e, const sb_call *call, sb_buf *event, sb_err *err) {
    const sb_shape *shape = (const void *)call->params.p;
    sb_slice tag = call->tag;
    sb_array strings;
    if (sb_strings_unpack(&e->scratch, shape, call->data, &strings) != SB_OK)
        return sb_encode_nomem(err, call);
    if (!sb_style_is_tf(e->style)) tag = sb_join(e, tag, SB_LIT("/text_summary"));
    if (!tag.p) return sb_encode_nomem(err, call);
    sb_value_frame frame = sb_value_begin(event, call, tag, call->data.n + tag.n + 32);
    sb_status status = sb_tensor_add(event, SB_VALUE_TENSOR, &strings, SB_TENSOR_CONTENT);
    sb_value_metadata_once(e, event, call, tag, SB_LIT("text"), SB_LIT(""), false);
    sb_value_end(event, frame);
    return status;
}
