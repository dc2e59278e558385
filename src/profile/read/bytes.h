/* bytes.h: random access to the bytes of a trace file, plain or gzip.
 *
 * A gzip file is decompressed once, as far as somebody reads, into an unlinked temporary file, that
 * all files of a capture share. Files are read, never mapped, because another process may truncate
 * them meanwhile. A window is the part of the file that is in memory; pointers into it are valid
 * until the next call. Threads: it belongs to one thread; other threads make a view of it.
 *
 * A capture may have more files than a process may have open: a file that was read is closed, and
 * a view opens it again. */
#ifndef SB_PROFILE_BYTES_H
#define SB_PROFILE_BYTES_H

#include <stdbool.h>

#include "base/alloc.h"
#include "base/slice.h"
#include "base/status.h"
#include "fsio/fs.h"

typedef struct sb_trace_bytes sb_trace_bytes;

/* The temporary file of a capture. It must live longer than all that was read through it. */
typedef struct sb_trace_spool {
    const char *dir; /* where it is made when it is needed; NULL: /tmp */
    int file;        /* only where is_open */
    bool is_open;
    uint64_t end; /* what is before this belongs to files that were read */
} sb_trace_spool;
void sb_trace_spool_fini(sb_trace_spool *s);

/* Of several files that share a spool, one must be put down before the next one is opened. */
sb_status sb_trace_bytes_open(sb_trace_bytes **out, const sb_alloc *alloc, const sb_fs *fs,
                              const char *path, sb_trace_spool *spool, uint64_t most, sb_err *err);
void sb_trace_bytes_close(sb_trace_bytes *b);
/* It was read as far as it will be: gives back its memory and its descriptor. From now on it is
 * read by views only. */
void sb_trace_bytes_put_down(sb_trace_bytes *b);

/* Makes a second window on the same bytes, for another thread. The first one must be put down
 * before, and must live longer. SB_REPLACED: the file is another one now. */
sb_status sb_trace_bytes_view(sb_trace_bytes **out, sb_trace_bytes *of, sb_err *err);

/* Answers at least `wanted` bytes from `offset` on; fewer only at the end of the file, often more.
 * p is NULL if there are none: at the end, without memory, or when the disk fails. */
sb_slice sb_trace_bytes_need(sb_trace_bytes *b, uint64_t offset, size_t wanted);
/* Copies up to n bytes, and answers how many, or a negative errno. */
int64_t sb_trace_bytes_copy(sb_trace_bytes *b, void *to, size_t n, uint64_t offset);
/* The size of the content. A gzip file is decompressed to its end to find out. */
uint64_t sb_trace_bytes_size(sb_trace_bytes *b);
/* While a gzip file is decompressed, `go_on` is called for every megabyte; when it answers false,
 * the content ends there, as if the archive were cut. */
void sb_trace_bytes_watch(sb_trace_bytes *b, bool (*go_on)(void *ud), void *ud);
/* The progress: how many bytes of the file on disk were read, and how many there are. Where a gzip
 * file was decompressed to its end before it is read, that is the first half. It never goes
 * back. */
void sb_trace_bytes_progress(sb_trace_bytes *b, uint64_t *done, uint64_t *all);
bool sb_trace_bytes_is_cut(const sb_trace_bytes *b); /* the gzip archive ends early */
/* Is the file still the one that was opened? */
bool sb_trace_bytes_is_same(const sb_trace_bytes *b);

#endif
