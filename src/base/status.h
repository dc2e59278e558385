/* status.h: reporting a failure at the place where it happens.
 *
 *     return sb_fail(err, SB_CORRUPT, offset, "%s: length checksum differs", name);
 *
 * err may be NULL everywhere. Control characters in the text are replaced by '?', so that a tag or
 * a path from a hostile file cannot send control sequences to a terminal. */
#ifndef SB_BASE_STATUS_H
#define SB_BASE_STATUS_H

#include <stdarg.h>

#include "seaboard/status.h"

sb_status sb_fail(sb_err *err, sb_status code, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same with the system's reason for error_number behind the text: "...: No space left on
 * device". */
sb_status sb_fail_errno(sb_err *err, sb_status code, int error_number, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* For allocations: "out of memory " and what was being done. */
sb_status sb_fail_nomem(sb_err *err, const char *what);

#endif
