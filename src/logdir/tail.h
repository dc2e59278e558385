/* tail.h: reads the records of one event file, again and again while it grows.
 *
 *     while ((status = sb_tail_next(tail, &record, &err)) != SB_MORE) ...
 *
 * In:  a path in an sb_fs.  Out: payloads whose two checksums hold, in file order, and every piece
 * of the file that could not be read, with its place and size. Nothing is ever fatal to the file.
 *
 * What sb_tail_next answers, and what is in the record then:
 *   SB_OK           a good record
 *   SB_MORE         nothing more for now; the next call tries again from the same place
 *   SB_BAD_PAYLOAD  a record whose payload is damaged was stepped over
 *   SB_BAD_LENGTH   bytes in which no record could be found were stepped over
 *   SB_LIMIT        a record with a payload above the limit was stepped over, unread
 *   SB_REPLACED     the file was cut short, or another one has its name now: close, open again
 *   SB_CORRUPT      a gzip archive is damaged from here on; nothing more will come
 *   SB_TIMEOUT      opts.search bytes behind damage were searched; the next call goes on
 *   SB_IO, SB_NOT_FOUND, SB_NOMEM   err says more; calling again tries again
 *
 * After a bad length the next frame is looked for whose checksums both hold and whose payload is an
 * Event. While there is none the reader stays at the bad length and looks at it again in every
 * call, since the end of a file on a network file system may read as zeros before it reads as data.
 * What was searched is searched again only after the file has changed, and then from where it
 * ended.
 *
 * A file that begins as a gzip archive is unpacked on the way; offsets are then in the unpacked
 * bytes.
 *
 * Memory: one window, as large as asked for but no larger than a small file needs; larger only
 * while a larger record is read. No allocation a record.
 * Threads: a reader belongs to one thread.
 * Cost: one read a window, two checksums a record; two system calls to see that nothing is new. */
#ifndef SB_LOGDIR_TAIL_H
#define SB_LOGDIR_TAIL_H

#include <stdbool.h>

#include "base/env.h"
#include "base/status.h"
#include "codec/record.h"

#define SB_TAIL_WINDOW ((size_t)256 << 10)
#define SB_TAIL_MAX_PAYLOAD ((uint64_t)2 << 30)

typedef struct sb_tail sb_tail;

/* Zero in a field asks for the default. */
typedef struct sb_tail_opts {
    size_t window;        /* default SB_TAIL_WINDOW */
    uint64_t max_payload; /* default SB_TAIL_MAX_PAYLOAD */
    uint64_t offset;      /* where to begin; must be where a record begins */
    uint64_t search;      /* one call searches about so many bytes; default: to the end */
} sb_tail_opts;

typedef struct sb_tail_record {
    sb_slice payload;     /* for SB_OK and SB_BAD_PAYLOAD; valid until the next call */
    uint64_t offset;      /* of the frame, or of the first byte that was stepped over */
    uint64_t size;        /* of the whole frame, or of all that was stepped over */
    uint32_t payload_crc; /* as stored, masked; for SB_OK */
} sb_tail_record;

typedef struct sb_tail_counts {
    uint64_t bytes_read;  /* from the file, what was read twice counted twice */
    uint64_t records;     /* good ones */
    uint64_t damaged;     /* how often SB_BAD_PAYLOAD or SB_BAD_LENGTH was answered */
    uint64_t lost_bytes;  /* in these */
    uint64_t skipped;     /* records above the limit */
    uint64_t offset;      /* where the next record begins or should begin */
    uint64_t size;        /* of the file when its end was last seen */
    sb_status last_error; /* the last answer but SB_OK and SB_MORE; SB_OK when there was none */
    uint64_t last_error_offset;
} sb_tail_counts;

/* What stands at the end of the file and is no record yet, or never will be. */
typedef struct sb_tail_ending {
    sb_status kind; /* SB_OK: nothing. SB_MORE: a record that is cut. SB_BAD_LENGTH, SB_BAD_PAYLOAD:
                       damage with nothing good behind it. SB_CORRUPT: a damaged or cut archive */
    uint64_t offset;
    uint64_t bytes; /* from there to the end */
} sb_tail_ending;

/* SB_NOT_FOUND when there is no such file, SB_INVALID when it is none. opts may be NULL; env must
 * outlive the reader. */
sb_status sb_tail_open(sb_tail **out, const sb_env *env, const char *path, const sb_tail_opts *opts,
                       sb_err *err);
void sb_tail_close(sb_tail *t);

sb_status sb_tail_next(sb_tail *t, sb_tail_record *out, sb_err *err);

/* The good records that are in the window already, one after the other, at most `max`: how many.
 * *offset is that of the first; payloads are valid until the next call. None does not mean the end:
 * sb_tail_next goes on and says what comes. */
size_t sb_tail_take(sb_tail *t, sb_record *out, size_t max, uint64_t *offset);

/* Gives back the window and the open file, for a reader that will have nothing to do for a while.
 * The next call takes them again. */
void sb_tail_sleep(sb_tail *t);

sb_tail_counts sb_tail_stats(const sb_tail *t);
/* To be asked after SB_MORE or SB_CORRUPT. */
sb_tail_ending sb_tail_rest(const sb_tail *t);

#endif
