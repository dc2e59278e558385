/* event.c: the view of one Event. The byte table is in event.h.
 *
 * sb_event_read is on the path of every point ever logged. Nearly all events begin with wall_time,
 * step and summary in this order, so the start of the payload is first tried by hand; what does not
 * fit goes through the general loop, which handles every field. */
#include "codec/event.h"

#include "codec/plain_int.h"
#include "codec/proto/pick_int.h"
#include "codec/proto/proto.h"
#include "base/banned.h"

#define KEY(number, wire) ((number) << 3 | (wire))

static sb_status read_source(sb_event *out, sb_slice source) {
    static const sb_pick picks[] = {
        SB_PICK(sb_event, source_writer, SB_SOURCE_METADATA_WRITER),
    };
    return SB_PICK_READ(out, source, picks);
}

static sb_status read_rest(sb_event *out, sb_pb c) {
    sb_pb_field f;
    sb_pb_step step;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        switch (f.number) {
        case SB_EVENT_WALL_TIME:
            if (f.wire == SB_PB_FIXED64) out->wall_time = sb_pb_double(&f);
            break;
        case SB_EVENT_STEP:
            if (f.wire == SB_PB_VARINT) out->step = sb_pb_int64(&f);
            break;
        case SB_EVENT_FILE_VERSION:
        case SB_EVENT_GRAPH_DEF:
        case SB_EVENT_SUMMARY:
        case SB_EVENT_LOG_MESSAGE:
        case SB_EVENT_SESSION_LOG:
        case SB_EVENT_TAGGED_RUN_METADATA:
        case SB_EVENT_META_GRAPH_DEF:
            if (f.wire != SB_PB_BYTES) break;
            out->what = (sb_event_what)f.number;
            out->body = f.bytes;
            break;
        case SB_EVENT_SOURCE_METADATA:
            if (f.wire == SB_PB_BYTES && read_source(out, f.bytes) != SB_OK) return SB_CORRUPT;
            break;
        default:
            break;
        }
    }
    return step == SB_PB_END ? SB_OK : SB_CORRUPT;
}

sb_status sb_event_read_plain(sb_event *out, sb_slice payload) {
    *out = (sb_event){.what = SB_WHAT_NONE};
    return read_rest(out, sb_pb_over(payload));
}

sb_status sb_event_read(sb_event *out, sb_slice payload) {
    *out = (sb_event){.what = SB_WHAT_NONE};
    sb_pb c = sb_pb_over(payload);
    if (payload.n >= 9 && *c.p == KEY(SB_EVENT_WALL_TIME, SB_PB_FIXED64)) {
        out->wall_time = sb_bits_double(sb_load64(c.p + 1));
        c.p += 9;
    }
    uint64_t x;
    if (c.p < c.end && *c.p == KEY(SB_EVENT_STEP, SB_PB_VARINT)) {
        c.p++;
        if (!sb_pb_varint(&c, &x)) return SB_CORRUPT;
        out->step = (int64_t)x;
    }
    if (c.p < c.end && *c.p == KEY(SB_EVENT_SUMMARY, SB_PB_BYTES)) {
        c.p++;
        if (!sb_pb_varint(&c, &x) || x > (size_t)(c.end - c.p)) return SB_CORRUPT;
        out->what = SB_WHAT_SUMMARY;
        out->body = sb_slice_of(c.p, (size_t)x);
        c.p += x;
    }
    return c.p == c.end ? SB_OK : read_rest(out, c);
}

/* Deeper than any reference reader lets an Event nest. */
enum { EVENT_DEPTH = 100 };

bool sb_event_looks_valid(sb_slice payload) {
    const sb_message_info *event = sb_message_get(SB_MSG_EVENT);
    sb_pb c = sb_pb_over(payload);
    sb_pb_field f;
    sb_pb_step step;
    bool known = false;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD)
        if (sb_field_by_number(event, f.number)) known = true;
    return step == SB_PB_END && known && sb_message_valid(SB_MSG_EVENT, payload, EVENT_DEPTH);
}

sb_status sb_session_log_read(sb_session_log *out, sb_slice body) {
    static const sb_pick picks[] = {
        SB_PICK(sb_session_log, status, SB_SESSION_LOG_STATUS),
        SB_PICK(sb_session_log, checkpoint_path, SB_SESSION_LOG_CHECKPOINT_PATH),
        SB_PICK(sb_session_log, message, SB_SESSION_LOG_MSG),
    };
    *out = (sb_session_log){0};
    return SB_PICK_READ(out, body, picks);
}

sb_status sb_log_message_read(sb_log_message *out, sb_slice body) {
    static const sb_pick picks[] = {
        SB_PICK(sb_log_message, level, SB_LOG_MESSAGE_LEVEL),
        SB_PICK(sb_log_message, message, SB_LOG_MESSAGE_MESSAGE),
    };
    *out = (sb_log_message){0};
    return SB_PICK_READ(out, body, picks);
}

sb_status sb_tagged_run_metadata_read(sb_tagged_run_metadata *out, sb_slice body) {
    static const sb_pick picks[] = {
        SB_PICK(sb_tagged_run_metadata, tag, SB_TAGGED_RUN_METADATA_TAG),
        SB_PICK(sb_tagged_run_metadata, run_metadata, SB_TAGGED_RUN_METADATA_RUN_METADATA),
    };
    *out = (sb_tagged_run_metadata){0};
    return SB_PICK_READ(out, body, picks);
}
