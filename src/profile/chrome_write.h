/* chrome_write.h: a trace, or a window of it, as Chrome trace JSON that chrome://tracing and
 * Perfetto open. Tracks are threads, groups are processes; arguments are left out. */
#ifndef SB_PROFILE_CHROME_WRITE_H
#define SB_PROFILE_CHROME_WRITE_H

#include "base/buf.h"
#include "profile/trace/trace.h"

/* Takes a piece of the text; another status than SB_OK ends the writing with it. */
typedef sb_status (*sb_chrome_sink)(void *ud, sb_slice piece, uint64_t done, uint64_t total,
                                    sb_err *err);

sb_status sb_chrome_write(const sb_trace *t, int64_t from, int64_t to, sb_chrome_sink sink,
                          void *ud, sb_err *err);

#endif
