/* recording.c: a session is given a recorder; every op gets its number there. */
#include "train/recording.h"

#include "base/buf.h"
#include "base/status.h"
#include "train/ops.h"
#include "train/session.h"
#include "base/banned.h"

void sb_recording_fini(recording *r) {
    sb_alloc_put(NET_ALLOC, r->names, (r->name_count + 1) * sizeof *r->names);
    *r = (recording){0};
}

/* "name:Type", by which profilers know an op of TensorFlow. */
static sb_status name_ops(recording *r, const sb_net_session *s, sb_err *err) {
    r->name_count = s->op_count;
    r->names = sb_alloc_zeroed(NET_ALLOC, s->op_count + 1, sizeof *r->names);
    if (!r->names) return sb_fail_nomem(err, "for the names of a recording");
    sb_buf text;
    sb_buf_init(&text, NET_ALLOC, (size_t)1 << 20);
    for (size_t i = 0; i < s->op_count && text.failed == SB_OK; i++) {
        const sb_op *op = s->g->ops.items[i];
        sb_buf_clear(&text);
        sb_buf_printf(&text, "%s:%s", op->name, op->kind->type);
        sb_buf_add_byte(&text, 0);
        if (text.failed == SB_OK) r->names[i] = sb_recorder_name(r->recorder, (const char *)text.p);
    }
    sb_status status = sb_buf_check(&text, "the names of a recording", err);
    sb_buf_fini(&text);
    return status;
}

sb_status sb_net_session_record(sb_net_session *s, sb_recorder *r, uint32_t track, sb_err *err) {
    if (!s) return sb_fail(err, SB_INVALID, 0, "the session is missing");
    sb_team_record(s->team, NULL, 0);
    sb_recording_fini(&s->recording);
    if (!r) return SB_OK;
    recording made = {.recorder = r, .track = track};
    sb_status status = name_ops(&made, s, err);
    if (status != SB_OK) {
        sb_recording_fini(&made);
        return status;
    }
    made.run = sb_recorder_name(r, "SessionRun");
    made.memory = sb_recorder_track(r, "memory of the session (bytes)");
    sb_team_make_tracks(s->team, r);
    s->recording = made;
    return SB_OK;
}
