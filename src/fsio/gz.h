/* gz.h: the bytes inside a gzip archive, read as if it were a plain file.
 *
 * People pack finished event files with gzip. The archive is inflated as it is read, in one go from
 * the front; reading further on skips, reading back begins again. Several archives one after the
 * other count as one, as for gunzip.
 *
 * Only complete archives make sense here: one that is still being written reads as a cut one.
 * Threads: a reader belongs to one thread. Cost: zlib's, and about 100 KiB of memory. */
#ifndef SB_FSIO_GZ_H
#define SB_FSIO_GZ_H

#include "fsio/fs.h"

typedef struct sb_gz sb_gz;

/* The file is borrowed: it must stay open until sb_gz_free has returned; this reader does not close
 * it. */
sb_status sb_gz_new(sb_gz **out, const sb_alloc *alloc, const sb_fs *fs, int file, sb_err *err);
void sb_gz_free(sb_gz *g);

/* Like read_at of sb_fs, with offsets in the decompressed bytes. -EBADMSG: the archive is damaged
 * at this place; all bytes before it have been returned. -ENOMEM: out of memory. */
int64_t sb_gz_read_at(sb_gz *g, void *to, size_t n, uint64_t offset);

/* After a read that returned 0: is the archive truncated? */
bool sb_gz_is_cut(const sb_gz *g);

/* How many bytes have been decompressed, and how many of the file were needed for that. */
uint64_t sb_gz_offset(const sb_gz *g);
uint64_t sb_gz_consumed(const sb_gz *g);

/* Do these first bytes of a file begin an archive? */
bool sb_gz_begins(sb_slice head);

#endif
