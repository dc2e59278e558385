/* status.h: how every part of Seaboard reports failure.
 *
 * One table gives each status its number, its name and the exit code of a command that ends with
 * it. The numbers never change; a new status is added at the end. The library never prints and
 * never exits. */
#ifndef SEABOARD_STATUS_H
#define SEABOARD_STATUS_H

#include "seaboard/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/*    name, its text, exit code of a command, meaning */
#define SB_STATUS_MAP(X)                                                                           \
    X(OK, "ok", 0, "success")                                                                      \
    X(MORE, "more", 0, "the data ends here for now; ask again when there is more")                 \
    X(CORRUPT, "corrupt", 3, "the data is damaged")                                                \
    X(IO, "io", 4, "the system refused a read or a write")                                         \
    X(LIMIT, "limit", 5, "a size or a count is over its limit")                                    \
    X(NOMEM, "nomem", 6, "out of memory")                                                          \
    X(INVALID, "invalid", 2, "an argument makes no sense")                                         \
    X(CLOSED, "closed", 1, "it was closed before")                                                 \
    X(NOT_FOUND, "not_found", 1, "there is no such thing")                                         \
    X(DROPPED, "dropped", 1, "the queue was full and the call was not taken")                      \
    X(BAD_LENGTH, "bad_length", 3, "a record's length does not match its checksum")                \
    X(BAD_PAYLOAD, "bad_payload", 3, "a record's payload does not match its checksum")             \
    X(GARBAGE, "garbage", 3, "bytes in which no record begins")                                    \
    X(END, "end", 0, "there is nothing after this")                                                \
    X(REPLACED, "replaced", 4, "the file is not the one whose beginning was read")                 \
    X(TIMEOUT, "timeout", 1, "it took longer than the caller would wait")                          \
    X(CANCELLED, "cancelled", 1, "the caller ended it before it was done")

#define SB_STATUS_ENUM(name, text, exit_code, meaning) SB_##name,
typedef enum sb_status { SB_STATUS_MAP(SB_STATUS_ENUM) } sb_status;
#undef SB_STATUS_ENUM

/* An error message. It is owned by the caller and is written only on failure. text can be shown to
 * the user without changes. */
typedef struct sb_err {
    sb_status code;
    uint64_t offset; /* position in the file if the failure has one; otherwise 0 */
    char text[496];
} sb_err;

/* The status' name in lower case, e.g. "bad_length"; "unknown" for a number outside the table. */
SB_API const char *sb_status_name(sb_status status);
/* A short phrase that explains what the status means. */
SB_API const char *sb_status_meaning(sb_status status);
/* The exit code of a command that ends with this status. */
SB_API int sb_status_exit_code(sb_status status);

#ifdef __cplusplus
}
#endif
#endif
