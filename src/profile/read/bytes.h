/* bytes.h: the bytes of a trace file, plain or gzip, for reading at any place.
 *
 * An archive is inflated once, as far as somebody reads, into an unlinked temporary file. Files are
 * read, never mapped: another process may cut them meanwhile. A window is a part of it in memory;
 * pointers into it are valid until the next call. Threads: belongs to one thread; others make a
 * view of it. */
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

/* A second window on the same bytes, for another thread; the first one must outlive it, and must
 * have been read to its end. */
sb_status sb_trace_bytes_view(sb_trace_bytes **out, sb_trace_bytes *of, sb_err *err);

/* At least `wanted` bytes from `offset` on, fewer only at the end. NULL p: none (the end, no memory
 * or a failing disk). More may be answered. */
sb_slice sb_trace_bytes_need(sb_trace_bytes *b, uint64_t offset, size_t wanted);
/* Copies up to n bytes; answers how many, or a negative errno. */
int64_t sb_trace_bytes_copy(sb_trace_bytes *b, void *to, size_t n, uint64_t offset);
/* All bytes; an archive is read to its end. */
uint64_t sb_trace_bytes_size(sb_trace_bytes *b);
/* Of the file on disk: how many were read, how many there are. */
void sb_trace_bytes_progress(const sb_trace_bytes *b, uint64_t *done, uint64_t *all);
bool sb_trace_bytes_is_cut(const sb_trace_bytes *b); /* an archive that ends early */
/* Is the file still the one that was opened? */
bool sb_trace_bytes_is_same(const sb_trace_bytes *b);
/* Gives the window's memory back. */
void sb_trace_bytes_rest(sb_trace_bytes *b);

#endif
