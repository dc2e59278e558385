/* fs.c: what is built from the single calls of the table: whole files, chains of directories. */
#include "fsio/fs.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/banned.h"

/* Makes the directories of path (which is changed in between, and restored) from the left. */
static int make_each(const sb_fs *fs, char *path, size_t n) {
    for (size_t i = 1; i <= n; i++) {
        if (path[i] != '/' && path[i] != 0) continue;
        char saved = path[i];
        path[i] = 0;
        int result = fs->make_dir(fs->ctx, path);
        path[i] = saved;
        if (result < 0 && result != -EEXIST) {
            /* A parent that exists may still refuse mkdir with another error (read-only mounts say
             * so first). Only the last one decides. */
            sb_file_info info;
            path[i] = 0;
            int known = fs->stat(fs->ctx, path, &info);
            path[i] = saved;
            if (known < 0 || !info.is_dir) return result;
        }
    }
    return 0;
}

sb_status sb_fs_make_dirs(const sb_fs *fs, const sb_alloc *alloc, const char *path, sb_err *err) {
    sb_file_info info;
    if (fs->stat(fs->ctx, path, &info) == 0) {
        if (info.is_dir) return SB_OK;
        return sb_fail(err, SB_IO, 0, "%s: is a file, and a directory is needed", path);
    }
    size_t n = strlen(path);
    char *copy = sb_alloc_get(alloc, n + 1);
    if (!copy) return sb_fail_nomem(err, "for a path");
    memcpy(copy, path, n + 1);
    int result = n ? make_each(fs, copy, n) : 0;
    sb_alloc_put(alloc, copy, n + 1);
    if (result < 0)
        return sb_fail_errno(err, SB_IO, -result, "%s: can't make this directory", path);
    if (fs->stat(fs->ctx, path, &info) == 0 && !info.is_dir)
        return sb_fail(err, SB_IO, 0, "%s: is a file, and a directory is needed", path);
    return SB_OK;
}

int sb_fs_write_all(const sb_fs *fs, int file, sb_slice data, size_t *done) {
    size_t at = 0;
    int result = 0;
    while (at < data.n) {
        int64_t put = fs->write(fs->ctx, file, data.p + at, data.n - at);
        if (put <= 0) {
            result = put < 0 ? (int)put : -EIO;
            break;
        }
        at += (size_t)put;
    }
    if (done) *done = at;
    return result;
}

sb_status sb_fs_put(const sb_fs *fs, const sb_alloc *alloc, const char *path, sb_slice data,
                    sb_err *err) {
    sb_buf temporary;
    sb_buf_init(&temporary, alloc, 1 << 16);
    sb_buf_printf(&temporary, "%s.part", path);
    sb_buf_add_byte(&temporary, 0);
    sb_status status = sb_buf_check(&temporary, "a path", err);
    if (status != SB_OK) {
        sb_buf_fini(&temporary);
        return status;
    }
    const char *part = (const char *)temporary.p;
    int file = fs->open(fs->ctx, part, SB_OPEN_REPLACE);
    int result = file < 0 ? file : sb_fs_write_all(fs, file, data, NULL);
    if (file >= 0) {
        int closed = fs->close(fs->ctx, file);
        if (result == 0) result = closed;
        if (result == 0) result = fs->rename(fs->ctx, part, path);
        if (result < 0) fs->remove(fs->ctx, part);
    }
    sb_buf_fini(&temporary);
    return result < 0 ? sb_fail_errno(err, SB_IO, -result, "%s: can't write this file", path)
                      : SB_OK;
}

static sb_status read_whole(const sb_fs *fs, int file, const char *path, uint8_t *to, size_t n,
                            size_t *got, sb_err *err) {
    *got = 0;
    while (*got < n) {
        int64_t more = fs->read_at(fs->ctx, file, to + *got, n - *got, *got);
        if (more < 0)
            return sb_fail_errno(err, SB_IO, (int)-more, "%s: can't read this file", path);
        if (more == 0) break;
        *got += (size_t)more;
    }
    return SB_OK;
}

sb_status sb_fs_get(const sb_fs *fs, const sb_alloc *alloc, const char *path, size_t cap,
                    sb_slice *out, sb_err *err) {
    *out = (sb_slice){NULL, 0};
    int file = fs->open(fs->ctx, path, SB_OPEN_READ);
    if (file < 0) return sb_fail_errno(err, SB_IO, -file, "%s: can't open this file", path);
    sb_file_info info;
    sb_status status = SB_OK;
    int known = fs->info(fs->ctx, file, &info);
    if (known < 0)
        status = sb_fail_errno(err, SB_IO, -known, "%s: can't look at this file", path);
    else if (info.size > cap)
        status = sb_fail(err, SB_LIMIT, 0, "%s: %llu bytes, more than the limit of %zu", path,
                         (unsigned long long)info.size, cap);
    else if (info.size > 0) {
        size_t n = (size_t)info.size, got = 0;
        uint8_t *p = sb_alloc_get(alloc, n);
        status = p ? read_whole(fs, file, path, p, n, &got, err) : sb_fail_nomem(err, "for a file");
        if (p && (status != SB_OK || got < n)) {
            /* Shorter than it said a moment ago: hand back a block of just that size. */
            uint8_t *fit = status == SB_OK && got ? alloc->resize(alloc->ctx, p, n, got) : NULL;
            if (!fit) {
                sb_alloc_put(alloc, p, n);
                if (status == SB_OK && got) status = sb_fail_nomem(err, "for a file");
                got = 0;
            }
            p = fit;
        }
        if (status == SB_OK) *out = (sb_slice){p, got};
    }
    fs->close(fs->ctx, file);
    return status;
}
