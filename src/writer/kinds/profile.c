/* profile.c: profiles are files beside the event file, not events (profile_file.h). Done on the
 * caller's thread. */
#include "base/slice.h"
#include "writer/kinds/kinds.h"
#include "writer/profile_file.h"

#include "base/banned.h"

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
    return sb_profile_put(env, &place, xplane, err);
}
