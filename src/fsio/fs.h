/* fs.h: where bytes come from and go to: one table of functions, one system call each.
 *
 * local.c is the machine's own file system; tests put a failing one in between. Every function
 * answers with a negative errno on failure, so that a caller can say what it was doing, to which
 * path, and why the system refused. A file is a small number, as the system's descriptors are.
 * Threads: the table is read-only and may be used by all; a file belongs to one thread at a time,
 * but read_at of one file may run in several. */
#ifndef SB_FSIO_FS_H
#define SB_FSIO_FS_H

#include <stdbool.h>

#include "base/alloc.h"
#include "base/status.h"

typedef enum sb_open_mode {
    SB_OPEN_READ,
    SB_OPEN_NEW,     /* for writing at the end; fails with EEXIST when there is one */
    SB_OPEN_REPLACE, /* for writing; truncates an existing file */
} sb_open_mode;

typedef struct sb_file_info {
    uint64_t size;
    uint64_t device;
    uint64_t inode;
    uint64_t links; /* 0: the file was deleted and exists only for processes that have it open */
    int64_t mtime_ns;
    bool is_dir;
    bool is_file;
} sb_file_info;

/* What kind of file system a path is on. */
typedef enum sb_fs_kind {
    SB_FS_LOCAL,
    SB_FS_VIRTUAL, /* the kernel makes it up: /proc, /sys */
    SB_FS_REMOTE,  /* other machines change it too, and inotify does not see that */
} sb_fs_kind;

/* Called once for each name except "." and ".."; a non-zero result ends the listing. */
typedef int (*sb_list_fn)(void *ud, const char *name);

typedef struct sb_fs {
    void *ctx;
    int (*open)(void *ctx, const char *path, sb_open_mode mode);
    int64_t (*read_at)(void *ctx, int file, void *to, size_t n, uint64_t offset);
    int64_t (*write)(void *ctx, int file, const void *from, size_t n);
    int (*cut)(void *ctx, int file, uint64_t size);
    int (*sync)(void *ctx, int file);
    int (*info)(void *ctx, int file, sb_file_info *out);
    int (*close)(void *ctx, int file);
    int (*stat)(void *ctx, const char *path, sb_file_info *out); /* follows symbolic links */
    bool (*is_link)(void *ctx, const char *path);    /* a symbolic link; NULL: there are none */
    sb_fs_kind (*kind)(void *ctx, const char *path); /* NULL: all are SB_FS_LOCAL */
    int (*make_dir)(void *ctx, const char *path);
    int (*rename)(void *ctx, const char *from, const char *to);
    int (*remove)(void *ctx, const char *path);
    int (*list)(void *ctx, const char *path, sb_list_fn each,
                void *ud); /* the callback's last result, or a negative errno */
    /* A regular file strictly beneath dir, for reading, whatever links there are (beneath.h). */
    int (*open_beneath)(void *ctx, const char *dir, const char *path);
    /* Waits until no other process holds the lock of this open file or directory, and takes it;
     * close releases it. NULL: there are no locks. */
    int (*lock)(void *ctx, int file);
    /* The first size bytes of a file that nobody changes any more, mapped for reading; 0 or a
     * negative errno. NULL: files can't be mapped. */
    int (*map)(void *ctx, int file, size_t size, const void **out);
    void (*unmap)(void *ctx, const void *p, size_t size);
} sb_fs;

extern const sb_fs sb_fs_local;

/* Creates the directory and all missing parents. */
sb_status sb_fs_make_dirs(const sb_fs *fs, const sb_alloc *alloc, const char *path, sb_err *err);

/* Writes all of data, continuing after short writes. *done (may be NULL): how many bytes were
 * written, also on failure. Returns 0 or a negative errno. */
int sb_fs_write_all(const sb_fs *fs, int file, sb_slice data, size_t *done);

/* Writes data to a file of that name, replacing it only when all of it is written (through a
 * temporary name beside it). */
sb_status sb_fs_put(const sb_fs *fs, const sb_alloc *alloc, const char *path, sb_slice data,
                    sb_err *err);

/* Reads a whole file of at most cap bytes into *out, which the caller frees with alloc (out->n
 * bytes). */
sb_status sb_fs_get(const sb_fs *fs, const sb_alloc *alloc, const char *path, size_t cap,
                    sb_slice *out, sb_err *err);

#endif
