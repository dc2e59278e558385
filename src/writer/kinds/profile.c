/* profile.c: profiles are files beside the event file, not events.
 *
 *     LOGDIR/plugins/profile/SESSION/HOST.xplane.pb
 *     LOGDIR/events.out.tfevents.SECONDS.HOST.profile-empty    makes the directory a run
 *
 * Done on the caller's thread. A file is there completely or not at all. */
#include <string.h>

#include "base/slice.h"
#include "fsio/fs.h"
#include "writer/event_file.h"
#include "writer/kinds/kinds.h"
#include "writer/profile_file.h"

#include "base/banned.h"

#define MARKER ".profile-empty"

/* What the callback of fs->list returns when it has found the marker. */
enum { FOUND = 1 };

static int is_marker(void *ud, const char *name) {
    (void)ud;
    return strstr(name, "tfevents") && sb_slice_ends(sb_slice_str(name), SB_LIT(MARKER)) ? FOUND
                                                                                         : 0;
}

static sb_status put_marker(const sb_env *env, const char *logdir, sb_err *err) {
    if (env->fs->list(env->fs->ctx, logdir, is_marker, NULL) == FOUND) return SB_OK;
    sb_event_file file;
    sb_event_file_init(&file, env, SB_STYLE_TF1, logdir, MARKER);
    sb_status status = sb_event_file_open(&file, err);
    sb_status closed = sb_event_file_close(&file, status == SB_OK ? err : NULL);
    return status == SB_OK ? closed : status;
}

sb_status sb_profile(sb_writer *w, const char *session, sb_slice xplane, sb_err *err) {
    if (!w) return sb_fail(err, SB_INVALID, 0, "the writer is missing");
    if (xplane.n && !xplane.p) return sb_fail(err, SB_INVALID, 0, "profile: the bytes are missing");
    const sb_env *env = sb_writer_env(w);
    char now[SB_SESSION_ROOM], host[SB_HOST_ROOM];
    sb_profile_session(now, env->clock->wall(env->clock->ctx));
    sb_profile_host(host);
    if (!session) session = now;
    if (!sb_profile_name_ok(session))
        return sb_fail(err, SB_INVALID, 0,
                       "profile: '%.*s' can't be the name of a session's folder",
                       SB_SHOWN(sb_slice_str(session)));
    sb_profile_place place = {sb_writer_logdir(w), session, host, false};
    sb_status status = sb_profile_put(env, &place, xplane, err);
    return status == SB_OK ? put_marker(env, place.logdir, err) : status;
}
