/* profile_which.h: the names by which XProf's routes know captures. A request may be about one
 * folder only: `session_path` is that of a capture, `run_path` the one that captures lie in. */
#ifndef SB_SERVER_COMPAT_PROFILE_WHICH_H
#define SB_SERVER_COMPAT_PROFILE_WHICH_H

#include "profile/find/capture.h"
#include "server/compat/compat.h"

/* The name of a capture: "<run>/<session>", the session alone for the log directory itself, and
 * where the request is about one folder. Empty: the request is not about this capture. In the
 * arena of the request. */
sb_slice sb_compat_profile_name(const sb_capture *c, sb_http_request *q);
/* The capture that the request names by `run`; NULL: there is none. */
const sb_capture *sb_compat_profile_find(const sb_captures *captures, sb_http_request *q);

#endif
