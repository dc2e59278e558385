/* memory_fs.h: one file in memory behind the table of sb_fs, for tests and fuzz targets that read.
 *
 *     sb_memory_fs m;
 *     sb_memory_fs_init(&m, bytes);
 *     ... &m.fs goes to the code under test, the path is SB_MEMORY_PATH ...
 *
 * The test changes `data`, `inode` and `mtime_ns` as it likes between calls; nothing is copied.
 * Only reading works; all else is refused. All inline, so that a fuzz target needs no library.
 * Threads: belongs to one. */
#ifndef SB_TESTS_SUPPORT_MEMORY_FS_H
#define SB_TESTS_SUPPORT_MEMORY_FS_H

#include <errno.h>

#include "base/slice.h"
#include "fsio/fs.h"

#define SB_MEMORY_PATH "memory.tfevents"

typedef struct sb_memory_fs {
    sb_fs fs;
    sb_slice data;
    uint64_t inode;
    int64_t mtime_ns;
    bool removed;    /* the name is gone; who holds the file open still reads it */
    size_t max_read; /* one read answers with at most so many bytes; 0: no bound */
    uint64_t reads;
    int open_files;
} sb_memory_fs;

static inline int sb_memory_open(void *ctx, const char *path, sb_open_mode mode) {
    sb_memory_fs *m = ctx;
    if (mode != SB_OPEN_READ) return -EROFS;
    if (m->removed || strcmp(path, SB_MEMORY_PATH) != 0) return -ENOENT;
    m->open_files++;
    return 7;
}

static inline int64_t sb_memory_read_at(void *ctx, int file, void *to, size_t n, uint64_t offset) {
    sb_memory_fs *m = ctx;
    (void)file;
    m->reads++;
    if (offset >= m->data.n) return 0;
    size_t left = m->data.n - (size_t)offset;
    if (n > left) n = left;
    if (m->max_read && n > m->max_read) n = m->max_read;
    memcpy(to, m->data.p + offset, n);
    return (int64_t)n;
}

static inline int sb_memory_info(void *ctx, int file, sb_file_info *out) {
    const sb_memory_fs *m = ctx;
    (void)file;
    *out = (sb_file_info){
        .size = m->data.n, .inode = m->inode, .mtime_ns = m->mtime_ns, .links = 1, .is_file = true};
    return 0;
}

static inline int sb_memory_stat(void *ctx, const char *path, sb_file_info *out) {
    const sb_memory_fs *m = ctx;
    if (m->removed || strcmp(path, SB_MEMORY_PATH) != 0) return -ENOENT;
    return sb_memory_info(ctx, 0, out);
}

static inline int sb_memory_close(void *ctx, int file) {
    sb_memory_fs *m = ctx;
    (void)file;
    m->open_files--;
    return 0;
}

/* The table's ctx is this very struct: call sb_memory_fs_init, do not copy it afterwards. */
static inline void sb_memory_fs_init(sb_memory_fs *m, sb_slice data) {
    *m = (sb_memory_fs){.data = data, .inode = 1};
    m->fs = (sb_fs){.ctx = m,
                    .open = sb_memory_open,
                    .read_at = sb_memory_read_at,
                    .info = sb_memory_info,
                    .close = sb_memory_close,
                    .stat = sb_memory_stat};
}

#endif
