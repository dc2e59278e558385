/* scalar.c: the everyday call, on the caller's side and on the thread's.
 *
 * The caller's side is written out by hand: one look at the fork mark, the clock, one reservation,
 * the copy, one store. Everything else is the general path of queue.c. */
#include "base/slice.h"
#include "base/text/utf8.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "writer/kinds/kinds.h"
#include "writer/writer_int.h"
#include "base/banned.h"

static sb_status put_slowly(sb_writer *w, const char *tag, double value, int64_t step,
                            sb_scalar_form form, const sb_meta *meta) {
    sb_call call;
    sb_status status = sb_call_begin(w, &call, SB_CALL_SCALAR, tag, true, step, meta);
    if (status != SB_OK) return status;
    if ((unsigned)form > SB_SCALAR_DOUBLE)
        return sb_call_refuse(w, SB_INVALID, "%d is not a form of scalars", (int)form);
    call.number = value;
    uint32_t which = (uint32_t)form;
    if (form != SB_SCALAR_DEFAULT) call.params = sb_slice_of(&which, sizeof which);
    return sb_call_put(w, &call, NULL, 0);
}

sb_status sb_scalar_as(sb_writer *w, const char *tag, double value, int64_t step,
                       sb_scalar_form form, const sb_meta *meta) {
    return put_slowly(w, tag, value, step, form, meta);
}

#define SHORT_TAG 4096u

sb_status sb_scalar(sb_writer *w, const char *tag, double value, int64_t step) {
    if (__builtin_expect(!w || !tag, 0))
        return put_slowly(w, tag, value, step, SB_SCALAR_DEFAULT, NULL);
    sb_work *work = sb_writer_enter(w);
    size_t n = strnlen(tag, SHORT_TAG);
    if (__builtin_expect(!work || n == SHORT_TAG || !sb_utf8_valid(sb_slice_of(tag, n)), 0))
        return put_slowly(w, tag, value, step, SB_SCALAR_DEFAULT, NULL);
    sb_packed_call packed = {
        .wall_time = sb_wall_seconds(w->env->clock),
        .step = step,
        .number = value,
        .tag_n = (uint32_t)n,
        .kind = SB_CALL_SCALAR,
    };
    uint32_t size = sb_ring_entry_size((uint32_t)(sizeof packed + n));
    uint64_t end;
    uint8_t *entry = sb_ring_reserve(&work->ring, size, &end);
    if (__builtin_expect(!entry, 0)) {
        sb_status status = SB_OK;
        entry = sb_work_reserve_slow(w, work, size, &end, &status);
        if (!entry) return status;
    }
    memcpy(entry + SB_RING_HEADER, &packed, sizeof packed);
    memcpy(entry + SB_RING_HEADER + sizeof packed, tag, n);
    sb_ring_publish(entry, size, SB_ENTRY_CALL);
    sb_work_nudge(w, work, end);
    if (__builtin_expect(atomic_load_explicit(&work->tell, memory_order_relaxed) & SB_TELL_CALL, 0))
        return sb_work_tell_call(work);
    return SB_OK;
}

/* ---- encoding -------------------------------------------------------------------------------- */

/* The bytes after the tag of a scalar without display name and description are always the same
 * except for the number, so they are built once for each form and then copied. */

static void add_tensor(sb_buf *event, sb_style style, sb_scalar_form form, double value) {
    bool is_double = form == SB_SCALAR_DOUBLE;
    bool is_tf = style == SB_STYLE_TF2 || style == SB_STYLE_TF1;
    size_t tensor = sb_pb_begin(event, SB_VALUE_TENSOR, 16);
    sb_pb_add_uint(event, SB_TENSOR_DTYPE, is_double ? SB_DOUBLE : SB_FLOAT);
    uint8_t bits[8];
    if (is_double)
        sb_store64(bits, sb_double_bits(value));
    else
        sb_store32(bits, sb_float_bits((float)value));
    sb_slice content = sb_slice_of(bits, is_double ? 8 : 4);
    if (is_tf) {
        sb_pb_add_bytes(event, SB_TENSOR_TENSOR_SHAPE, sb_slice_of(NULL, 0));
        sb_pb_add_bytes(event, SB_TENSOR_TENSOR_CONTENT, content);
    } else {
        sb_pb_add_bytes(event, is_double ? SB_TENSOR_DOUBLE_VAL : SB_TENSOR_FLOAT_VAL, content);
    }
    sb_pb_end(event, tensor);
}

/* Appends the fields of the value that follow the tag. */
static void add_scalar_value(sb_buf *event, sb_style style, sb_scalar_form form,
                             const sb_call *call) {
    if (form == SB_SCALAR_SIMPLE) {
        sb_pb_add_float(event, SB_VALUE_SIMPLE_VALUE, (float)call->number);
        sb_value_metadata(event, call, SB_LIT(""), SB_LIT(""), false);
    } else {
        add_tensor(event, style, form, call->number);
        sb_value_metadata(event, call, SB_LIT("scalars"), SB_LIT(""), false);
    }
}

static sb_status make_tail(sb_encoder *e, sb_scalar_form form, sb_err *err) {
    /* Encoding a number whose bytes occur nowhere else shows at which offset the number is
     * stored. */
    const double mark = -1.7320508075688772;
    const sb_call call = {.number = mark};
    sb_scalar_tail *tail = &e->scalar_tails[form];
    sb_buf made;
    sb_buf_init(&made, e->env->alloc, sizeof tail->bytes);
    add_scalar_value(&made, e->style, form, &call);
    sb_status status = sb_buf_check(&made, "a scalar", err);
    if (status == SB_OK) {
        uint8_t bits[8];
        tail->number_n = form == SB_SCALAR_DOUBLE ? 8 : 4;
        if (tail->number_n == 8)
            sb_store64(bits, sb_double_bits(mark));
        else
            sb_store32(bits, sb_float_bits((float)mark));
        const uint8_t *at = memmem(made.p, made.n, bits, tail->number_n);
        tail->number_at = (uint8_t)(at - made.p);
        tail->n = (uint8_t)made.n;
        memcpy(tail->bytes, made.p, made.n);
    }
    sb_buf_fini(&made);
    return status;
}

static sb_status add_with_texts(sb_encoder *e, const sb_call *call, sb_buf *event,
                                sb_scalar_form form) {
    size_t expected = call->tag.n + call->display_name.n + call->description.n + 28;
    sb_value_frame frame = sb_value_begin(event, call, call->tag, expected);
    add_scalar_value(event, e->style, form, call);
    sb_value_end(event, frame);
    return SB_OK;
}

sb_status sb_encode_scalar(sb_encoder *e, const sb_call *call, sb_buf *event, sb_err *err) {
    sb_call cleaned;
    if (e->style == SB_STYLE_TBX) {
        cleaned = *call;
        cleaned.tag = sb_style_tag(e, call->tag);
        if (!cleaned.tag.p) return sb_encode_nomem(err, call);
        call = &cleaned;
    }
    uint32_t form = SB_SCALAR_DEFAULT;
    if (call->params.n == sizeof form) memcpy(&form, call->params.p, sizeof form);
    if (form == SB_SCALAR_DEFAULT)
        form = e->style == SB_STYLE_TF2 ? SB_SCALAR_TENSOR : SB_SCALAR_SIMPLE;
    if (call->display_name.n || call->description.n)
        return add_with_texts(e, call, event, (sb_scalar_form)form);
    sb_scalar_tail *tail = &e->scalar_tails[form];
    if (tail->n == 0) {
        sb_status status = make_tail(e, (sb_scalar_form)form, err);
        if (status != SB_OK) return status;
    }
    sb_event_head(event, call);
    size_t tag_n = call->tag.n ? 1 + sb_pb_varint_size(call->tag.n) + call->tag.n : 0;
    size_t value_n = tag_n + tail->n;
    sb_pb_add_key(event, SB_EVENT_SUMMARY, SB_PB_BYTES);
    sb_pb_add_varint(event, 1 + sb_pb_varint_size(value_n) + value_n);
    sb_pb_add_key(event, SB_SUMMARY_VALUE, SB_PB_BYTES);
    sb_pb_add_varint(event, value_n);
    sb_pb_add_bytes_nz(event, SB_VALUE_TAG, call->tag);
    if (!sb_buf_reserve(event, sizeof tail->bytes))
        return SB_OK; /* the caller checks event->failed */
    uint8_t *p = event->p + event->n;
    memcpy(p, tail->bytes, sizeof tail->bytes);
    if (tail->number_n == 8)
        sb_store64(p + tail->number_at, sb_double_bits(call->number));
    else
        sb_store32(p + tail->number_at, sb_float_bits((float)call->number));
    event->n += tail->n;
    return SB_OK;
}
