/* event.c: the protobuf frame around every summary, and the calls whose argument is already
 * serialized. */
#include "base/slice.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "codec/summary.h"
#include "media/png.h"
#include "writer/body.h"
#include "writer/call.h"
#include "base/banned.h"

#define SCRATCH_BLOCK ((size_t)64 << 10)
/* The maximum length of a serialized protobuf message. */
#define MAX_EVENT ((size_t)INT32_MAX)

void sb_encoder_init(sb_encoder *e, const sb_env *env, sb_style style, size_t scratch_cap,
                     uint32_t max_tags) {
    *e = (sb_encoder){.env = env, .style = style, .max_event = MAX_EVENT};
    sb_arena_init(&e->scratch, env->alloc, SCRATCH_BLOCK, scratch_cap);
    sb_intern_init(&e->seen_tags, env->alloc, env->clock->wall(env->clock->ctx), max_tags);
}

void sb_encoder_fini(sb_encoder *e) {
    sb_arena_fini(&e->scratch);
    sb_intern_fini(&e->seen_tags);
    if (e->png) sb_png_encoder_fini(e->png);
    sb_alloc_put(e->env->alloc, e->png, sizeof *e->png);
}

sb_status sb_encode_call(sb_encoder *e, const sb_call *call, sb_buf *event, sb_err *err) {
#define ROW(name, function) [SB_CALL_##name] = sb_encode_##function,
    static const sb_encode_fn encoders[] = {SB_CALL_MAP(ROW)};
#undef ROW
    size_t before = event->n;
    sb_status status = encoders[call->kind](e, call, event, err);
    if (status == SB_OK && event->n - before > e->max_event)
        return sb_fail(err, SB_LIMIT, 0,
                       "'%.*s', step %lld: an event of %zu bytes; readers end at 2 GiB, so it was "
                       "not written",
                       SB_SHOWN(call->tag), (long long)call->step, event->n - before);
    return status;
}

void sb_event_head(sb_buf *event, const sb_call *call) {
    sb_pb_add_double_nz(event, SB_EVENT_WALL_TIME, call->wall_time);
    sb_pb_add_int_nz(event, SB_EVENT_STEP, call->step);
}

sb_value_frame sb_value_begin(sb_buf *event, const sb_call *call, sb_slice tag, size_t expected) {
    sb_value_frame frame;
    sb_event_head(event, call);
    frame.summary =
        sb_pb_begin(event, SB_EVENT_SUMMARY, expected + sb_pb_varint_size(expected) + 1);
    frame.value = sb_pb_begin(event, SB_SUMMARY_VALUE, expected);
    sb_pb_add_bytes_nz(event, SB_VALUE_TAG, tag);
    return frame;
}

void sb_value_end(sb_buf *event, sb_value_frame frame) {
    sb_pb_end(event, frame.value);
    sb_pb_end(event, frame.summary);
}

void sb_value_metadata(sb_buf *event, const sb_call *call, sb_slice plugin_name,
                       sb_slice plugin_content, bool force) {
    const sb_metadata metadata = {.plugin_name = plugin_name,
                                  .content = plugin_content,
                                  .display_name = call->display_name,
                                  .description = call->description};
    if (plugin_name.n || plugin_content.n || call->display_name.n || call->description.n || force)
        sb_metadata_add(event, SB_VALUE_METADATA, &metadata);
}

/* ---- prepared bytes -------------------------------------------------------------------------- */

static sb_status put_bytes(sb_writer *w, sb_call *call, sb_slice bytes) {
    if (bytes.n && !bytes.p) return sb_call_refuse(w, SB_INVALID, "the bytes are missing");
    const sb_piece piece = sb_piece_of(bytes);
    return sb_call_put(w, call, &piece, 1);
}

sb_status sb_raw_event(sb_writer *w, sb_slice event) {
    sb_call call;
    sb_status status = sb_call_begin(w, &call, SB_CALL_EVENT, NULL, false, 0, NULL);
    if (status != SB_OK) return status;
    if (event.n == 0)
        return sb_call_refuse(
            w, SB_INVALID,
            "an event of no bytes can't be written: TensorBoard's writers hang on it");
    return put_bytes(w, &call, event);
}

sb_status sb_encode_event(sb_encoder *e, const sb_call *call, sb_buf *event, sb_err *err) {
    (void)e;
    (void)err;
    sb_buf_add_slice(event, call->data);
    return SB_OK;
}

sb_status sb_summary(sb_writer *w, sb_slice summary, int64_t step) {
    sb_call call;
    sb_status status = sb_call_begin(w, &call, SB_CALL_SUMMARY, NULL, false, step, NULL);
    if (status != SB_OK) return status;
    sb_pb c = sb_pb_over(summary);
    sb_pb_field f;
    sb_pb_step field = SB_PB_END;
    while (summary.n && (field = sb_pb_next(&c, &f)) == SB_PB_FIELD) continue;
    if (field == SB_PB_BAD) return sb_call_refuse(w, SB_INVALID, "these bytes are not a Summary");
    return put_bytes(w, &call, summary);
}

/* Appends the fields of a value without its metadata. False when the bytes are not a message. */
static bool add_without_metadata(sb_buf *event, sb_slice value) {
    sb_pb c = sb_pb_over(value);
    sb_pb_field f;
    sb_pb_step step;
    const uint8_t *from = c.p;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        if (f.number != SB_VALUE_METADATA) sb_buf_add(event, from, (size_t)(c.p - from));
        from = c.p;
    }
    return step == SB_PB_END;
}

static sb_slice tag_of(sb_slice value) {
    sb_pb c = sb_pb_over(value);
    sb_pb_field f;
    sb_slice tag = {NULL, 0};
    while (sb_pb_next(&c, &f) == SB_PB_FIELD)
        if (f.number == SB_VALUE_TAG && f.wire == SB_PB_BYTES) tag = f.bytes;
    return tag;
}

/* Appends a summary without the metadata of tags that were written before, as FileWriter does. */
static sb_status add_stripped(sb_encoder *e, sb_buf *event, sb_slice summary, sb_err *err) {
    sb_pb c = sb_pb_over(summary);
    sb_pb_field f;
    sb_pb_step step;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        if (f.number != SB_SUMMARY_VALUE || f.wire != SB_PB_BYTES) continue;
        uint32_t id;
        bool is_new;
        sb_status status = sb_intern_add(&e->seen_tags, tag_of(f.bytes), &id, &is_new);
        if (status != SB_OK) return sb_fail(err, status, 0, "too many tags to remember");
        if (is_new) {
            sb_pb_add_bytes(event, SB_SUMMARY_VALUE, f.bytes);
            continue;
        }
        size_t value = sb_pb_begin(event, SB_SUMMARY_VALUE, f.bytes.n);
        if (!add_without_metadata(event, f.bytes)) step = SB_PB_BAD;
        sb_pb_end(event, value);
        if (step == SB_PB_BAD) break;
    }
    return step == SB_PB_BAD ? sb_fail(err, SB_INVALID, 0, "these bytes are not a Summary") : SB_OK;
}

sb_status sb_encode_summary(sb_encoder *e, const sb_call *call, sb_buf *event, sb_err *err) {
    sb_event_head(event, call);
    if (e->style != SB_STYLE_TF1) {
        sb_pb_add_bytes(event, SB_EVENT_SUMMARY, call->data);
        return SB_OK;
    }
    size_t summary = sb_pb_begin(event, SB_EVENT_SUMMARY, call->data.n);
    sb_status status = add_stripped(e, event, call->data, err);
    sb_pb_end(event, summary);
    return status;
}

/* Graphs, sessions, run metadata: the parameter is the event's field number, the data is the
 * field's bytes. */
sb_status sb_encode_body(sb_encoder *e, const sb_call *call, sb_buf *event, sb_err *err) {
    uint32_t field;
    memcpy(&field, call->params.p, sizeof field);
    if (field == SB_EVENT_TAGGED_RUN_METADATA) {
        sb_status status = sb_run_tag_take(e, call->data, err);
        if (status != SB_OK) return status;
    }
    sb_event_head(event, call);
    sb_pb_add_bytes(event, field, call->data);
    return SB_OK;
}
