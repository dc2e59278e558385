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

/* The file is borrowed: it stays open until after sb_gz_free, and nobody else closes it. */
sb_status sb_gz_new(sb_gz **out, const sb_alloc *alloc, const sb_fs *fs, int file, sb_err *err);
void sb_gz_free(sb_gz *g);

/* As read_at of sb_fs, with offsets in the unpacked bytes. -EBADMSG: the archive is damaged here;
 * all bytes before were handed out. -ENOMEM: out of memory. */
int64_t sb_gz_read_at(sb_gz *g, void *to, size_t n, uint64_t offset);

/* After an answer of 0: did the archive end before its own end mark? */
bool sb_gz_is_cut(const sb_gz *g);

/* How far it was unpacked. */
uint64_t sb_gz_offset(const sb_gz *g);

/* Do these first bytes of a file begin an archive? */
bool sb_gz_begins(sb_slice head);

#endif
