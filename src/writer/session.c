/* session.c: marks of a program's start, end and checkpoints, and torch's purge mark.
 *
 * Out: Event.session_log: 1 status 2 checkpoint_path 3 msg. */
#include "base/slice.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "writer/body.h"
#include "writer/kinds/kinds.h"

#include "base/banned.h"

#define MAX_TEXT ((size_t)1 << 20)

sb_status sb_put_body(sb_writer *w, uint32_t field, sb_slice body, int64_t step) {
    sb_call call;
    sb_status status = sb_call_begin(w, &call, SB_CALL_BODY, NULL, false, step, NULL);
    if (status != SB_OK) return status;
    call.params = sb_slice_of(&field, sizeof field);
    const sb_piece piece = sb_piece_of(body);
    return sb_call_put(w, &call, &piece, 1);
}

sb_status sb_session(sb_writer *w, sb_session_status session, const char *checkpoint_path,
                     const char *message, int64_t step) {
    sb_slice path, text;
    if (!w) return SB_INVALID;
    if (session < SB_SESSION_START || session > SB_SESSION_CHECKPOINT)
        return sb_call_refuse(w, SB_INVALID, "session: %d is no status", (int)session);
    sb_status status =
        sb_take_text(w, "session: the checkpoint's path", checkpoint_path, true, MAX_TEXT, &path);
    if (status == SB_OK)
        status = sb_take_text(w, "session: the message", message, true, MAX_TEXT, &text);
    if (status != SB_OK) return status;
    sb_buf body;
    sb_buf_init(&body, sb_writer_env(w)->alloc, 2 * MAX_TEXT + 64);
    sb_pb_add_uint(&body, SB_SESSION_LOG_STATUS, session);
    sb_pb_add_bytes_nz(&body, SB_SESSION_LOG_CHECKPOINT_PATH, path);
    sb_pb_add_bytes_nz(&body, SB_SESSION_LOG_MSG, text);
    status = body.failed ? sb_call_refuse(w, body.failed, "session: out of memory")
                         : sb_put_body(w, SB_EVENT_SESSION_LOG, sb_buf_slice(&body), step);
    sb_buf_fini(&body);
    return status;
}

sb_status sb_purge_step(sb_writer *w, int64_t step) {
    sb_status status = sb_put_body(w, SB_EVENT_FILE_VERSION, SB_LIT("brain.Event:2"), step);
    if (status != SB_OK) return status;
    return sb_session(w, SB_SESSION_START, NULL, NULL, step);
}
