/* bytes.h: random access to the bytes of a trace file, plain or gzip.
 *
 * A gzip file is decompressed once, as far as somebody reads, into an unlinked temporary file.
 * Files are read, never mapped, because another process may truncate them meanwhile. A window is
 * the part of the file that is in memory; pointers into it are valid until the next call. Threads:
 * it belongs to one thread; other threads make a view of it. */
#ifndef SB_PROFILE_BYTES_H
#define SB_PROFILE_BYTES_H

#include <stdbool.h>

#include "base/alloc.h"
#include "base/slice.h"
#include "base/status.h"
#include "fsio/fs.h"

typedef struct sb_trace_bytes sb_trace_bytes;

sb_status sb_trace_bytes_open(sb_trace_bytes **out, const sb_alloc *alloc, const sb_fs *fs,
                              const char *path, const char *spool_dir, uint64_t most, sb_err *err);
void sb_trace_bytes_close(sb_trace_bytes *b);

/* Makes a second window on the same bytes, for another thread. The first one must be read to its
 * end before, and must live longer. */
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
/* Frees the memory of the window; it is read again when it is needed. */
void sb_trace_bytes_rest(sb_trace_bytes *b);

#endif
