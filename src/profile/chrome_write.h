/* chrome_write.h: writes a trace, or a time window of it, as Chrome trace JSON, which
 * chrome://tracing and Perfetto can open. Tracks become threads and groups become processes. The
 * arguments of spans are read from the files of the capture, as they are written. */
#ifndef SB_PROFILE_CHROME_WRITE_H
#define SB_PROFILE_CHROME_WRITE_H

#include "base/buf.h"
#include "profile/trace/trace.h"

/* Receives the next piece of the text. A status other than SB_OK ends the writing; the writer
 * returns that status. */
typedef sb_status (*sb_chrome_sink)(void *ud, sb_slice piece, uint64_t done, uint64_t total,
                                    sb_err *err);

/* SB_REPLACED: a file of the capture has changed since it was read. */
sb_status sb_chrome_write(const sb_trace *t, int64_t from, int64_t to, sb_chrome_sink sink,
                          void *ud, sb_err *err);

#endif
