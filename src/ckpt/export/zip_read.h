/* zip_read.h: reads a ZIP archive: its directory at open, then one member at a time.
 *
 *   member      local header (30 bytes, name, extra) | bytes, stored or deflated
 *   directory   for each member: method, checksum, sizes, name, where its local header is
 *   at the end  [ZIP64 end record | its locator] | end record (22 bytes and a comment)
 *
 * In: a file that may say anything. Ranges are held against the file, no two members may share
 * bytes (so that a small file never stands for much more than it can hold), and a member gives
 * exactly the bytes that the directory promises, under a checksum that is compared at its end.
 * Threads: an archive belongs to one.  Cost: the directory is in memory, of members 64 KiB. */
#ifndef SB_CKPT_EXPORT_ZIP_READ_H
#define SB_CKPT_EXPORT_ZIP_READ_H

#include <zlib.h>

#include "base/arena.h"
#include "base/vec.h"
#include "fsio/fs.h"

typedef struct sb_zip_member {
    sb_slice name;   /* a NUL follows */
    uint64_t offset; /* of its bytes in the file */
    uint64_t packed; /* bytes in the file */
    uint64_t size;   /* bytes that they stand for */
    uint32_t crc;
    bool is_deflated;
} sb_zip_member;

typedef struct sb_zip {
    const sb_fs *fs;
    const sb_alloc *alloc;
    const char *path; /* for messages */
    int file;
    uint64_t size;
    sb_arena arena;                /* names */
    SB_VEC(sb_zip_member) members; /* in the order of their places */
} sb_zip;

/* file stays the caller's. SB_CORRUPT, SB_LIMIT for a directory of more than max_directory bytes,
 * SB_INVALID for what is not read: encrypted members, other ways of packing. */
sb_status sb_zip_open(sb_zip *z, const sb_fs *fs, const sb_alloc *alloc, const char *path, int file,
                      uint64_t size, size_t max_directory, sb_err *err);
void sb_zip_close(sb_zip *z);

/* The bytes of one member, from the first on. */
typedef struct sb_zip_reader {
    const sb_zip *z;
    const sb_zip_member *m;
    uint64_t taken; /* of the packed bytes */
    uint64_t given;
    uint32_t crc;
    z_stream inflate;
    uint8_t *window;
} sb_zip_reader;

sb_status sb_zip_reader_init(sb_zip_reader *r, const sb_zip *z, const sb_zip_member *m,
                             sb_err *err);
void sb_zip_reader_fini(sb_zip_reader *r);
/* Exactly n bytes; SB_CORRUPT when there are not as many, or when these are the last ones and the
 * checksum differs. */
sb_status sb_zip_read(sb_zip_reader *r, void *to, size_t n, sb_err *err);

#endif
