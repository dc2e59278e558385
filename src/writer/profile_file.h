/* profile_file.h: where a profile lies below a log directory.
 *
 *     LOGDIR/plugins/profile/SESSION/HOST.xplane.pb
 *     LOGDIR/events.out.tfevents.SECONDS.HOST.profile-empty    where LOGDIR has no event file
 *
 * The second is a marker, a version and no data: TensorBoard takes only a directory with an event
 * file for a run, and older profilers of TensorFlow left one. Threads: no state. */
#ifndef SB_WRITER_PROFILE_FILE_H
#define SB_WRITER_PROFILE_FILE_H

#include <stdbool.h>

#include "base/env.h"
#include "base/status.h"

/* Can this text be the name of one folder or file? Refused: nothing, "." and "..", slashes, control
 * characters, what is not UTF-8 and what is too long. */
bool sb_profile_name_ok(const char *name);

/* The local time of a moment, as profilers name their sessions: 2023_11_14_22_13_20. */
#define SB_SESSION_ROOM 32
void sb_profile_session(char to[SB_SESSION_ROOM], uint64_t wall_ns);

/* The name of this machine, fit for a file. */
#define SB_HOST_ROOM 256
void sb_profile_host(char to[SB_HOST_ROOM]);

typedef struct sb_profile_place {
    const char *logdir;
    const char *session;
    const char *host;
    bool is_free; /* a session that has a file of this host already is left alone: SESSION_2, ... */
} sb_profile_place;

/* Writes the file, completely or not at all, and the marker. The names were checked before. */
sb_status sb_profile_put(const sb_env *env, const sb_profile_place *place, sb_slice xspace,
                         sb_err *err);

#endif
