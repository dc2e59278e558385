/* import_bed.h: a file in memory that becomes a checkpoint, for the fuzz targets of importing. What
 * is written goes nowhere, but for its amount, which is bounded. All inline. */
#ifndef SB_FUZZ_IMPORT_BED_H
#define SB_FUZZ_IMPORT_BED_H

#include <errno.h>
#include <stdlib.h>

#include "base/slice.h"
#include "ckpt/export/import.h"
#include "fsio/fs.h"

#define BED_INPUT 3
#define BED_OUTPUT 4
/* A small input stands for no more than this: deflate makes a byte into about a thousand. */
#define BED_MOST ((uint64_t)1 << 24)

typedef struct bed {
    sb_fs fs;
    sb_slice input;
    const char *path;
    uint64_t written;
} bed;

static inline int bed_open(void *ctx, const char *path, sb_open_mode mode) {
    const bed *b = ctx;
    if (mode != SB_OPEN_READ) return BED_OUTPUT;
    return strcmp(path, b->path) == 0 ? BED_INPUT : -ENOENT;
}

static inline int64_t bed_read(void *ctx, int file, void *to, size_t n, uint64_t offset) {
    const bed *b = ctx;
    if (file != BED_INPUT || offset >= b->input.n) return 0;
    if (n > b->input.n - (size_t)offset) n = b->input.n - (size_t)offset;
    memcpy(to, b->input.p + offset, n);
    return (int64_t)n;
}

static inline int64_t bed_write(void *ctx, int file, const void *from, size_t n) {
    bed *b = ctx;
    (void)from;
    if (file != BED_OUTPUT) abort();
    b->written += n;
    return b->written > BED_MOST ? -ENOSPC : (int64_t)n;
}

static inline int bed_info(void *ctx, int file, sb_file_info *out) {
    const bed *b = ctx;
    (void)file;
    *out = (sb_file_info){.size = b->input.n, .is_file = true, .links = 1};
    return 0;
}

static inline int bed_close(void *ctx, int file) {
    (void)ctx;
    (void)file;
    return 0;
}

static inline int bed_stat(void *ctx, const char *path, sb_file_info *out) {
    (void)ctx;
    (void)path;
    (void)out;
    return -ENOENT;
}

static inline int bed_path(void *ctx, const char *path) {
    (void)ctx;
    (void)path;
    return 0;
}

static inline int bed_rename(void *ctx, const char *from, const char *to) {
    (void)ctx;
    (void)from;
    (void)to;
    return 0;
}

static inline void bed_import(sb_slice input, const char *path) {
    bed b = {.input = input, .path = path};
    b.fs = (sb_fs){.ctx = &b,
                   .open = bed_open,
                   .read_at = bed_read,
                   .write = bed_write,
                   .info = bed_info,
                   .close = bed_close,
                   .stat = bed_stat,
                   .make_dir = bed_path,
                   .remove = bed_path,
                   .rename = bed_rename};
    const sb_env env = {&sb_alloc_libc, &b.fs, &sb_clock_system};
    sb_import_result result;
    sb_import_opts opts = {.no_sync = true, .max_in_memory = BED_MOST};
    sb_bundle_import(&env, path, "y", &opts, &result, NULL);
}

#endif
