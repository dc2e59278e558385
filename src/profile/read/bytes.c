/* bytes.c: reads a trace file in large blocks. A gzip file is decompressed into a temporary file
 * first. */
#include "profile/read/bytes.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/system/temp_file.h"
#include "fsio/gz.h"
#include "base/banned.h"

#define BLOCK ((size_t)1 << 20)

struct sb_trace_bytes {
    const sb_alloc *alloc;
    const sb_fs *fs;
    char *path;
    size_t path_size;
    int file;
    sb_file_info info;
    sb_gz *gz;             /* NULL: the file is not compressed, or it was decompressed to its end */
    sb_trace_spool *spool; /* NULL: the file is not compressed */
    uint64_t spool_at;     /* where its content begins in there */
    uint64_t spooled;
    uint64_t most;
    bool is_cut;
    uint64_t size; /* how many bytes there are, as far as it is known yet */
    uint8_t *window;
    size_t room, have;
    uint64_t from;
    uint64_t furthest;
    uint64_t told; /* the progress that was answered last */
    size_t block;  /* the least number of bytes to read at once */
    bool is_ahead; /* it was decompressed to its end before it was read */
    bool (*go_on)(void *ud);
    void *ud;
    bool is_view; /* the path belongs to another one */
};

void sb_trace_spool_fini(sb_trace_spool *s) {
    if (s->is_open) close(s->file);
    *s = (sb_trace_spool){0};
}

static bool open_spool(sb_trace_spool *s) {
    if (s->is_open) return true;
    s->file = sb_temp_file_or_tmp(s->dir);
    return s->is_open = s->file >= 0;
}

static sb_status begin_archive(sb_trace_bytes *b, sb_trace_spool *spool, sb_err *err) {
    uint8_t head[16];
    int64_t n = b->fs->read_at(b->fs->ctx, b->file, head, sizeof head, 0);
    if (n < 0) return sb_fail_errno(err, SB_IO, (int)-n, "%s: can't be read", b->path);
    if (!sb_gz_begins(sb_slice_of(head, (size_t)n))) {
        b->size = b->info.size < b->most ? b->info.size : b->most;
        b->is_cut = b->info.size > b->most;
        return SB_OK;
    }
    if (!open_spool(spool))
        return sb_fail_errno(err, SB_IO, errno, "no temporary file can be made to unpack %s",
                             b->path);
    b->spool = spool;
    b->spool_at = spool->end;
    return sb_gz_new(&b->gz, b->alloc, b->fs, b->file, err);
}

sb_status sb_trace_bytes_open(sb_trace_bytes **out, const sb_alloc *alloc, const sb_fs *fs,
                              const char *path, sb_trace_spool *spool, uint64_t most, sb_err *err) {
    sb_trace_bytes *b = sb_alloc_zeroed(alloc, 1, sizeof *b);
    if (!b) return sb_fail_nomem(err, "for a trace file");
    *b = (sb_trace_bytes){.alloc = alloc, .fs = fs, .file = -1, .most = most};
    b->block = 3 * BLOCK;
    b->path_size = strlen(path) + 1;
    b->path = sb_alloc_get(alloc, b->path_size);
    sb_status status = SB_OK;
    if (!b->path) {
        status = sb_fail_nomem(err, "for a trace file");
    } else {
        memcpy(b->path, path, b->path_size);
        b->file = fs->open(fs->ctx, path, SB_OPEN_READ);
        int failed = b->file < 0 ? b->file : fs->info(fs->ctx, b->file, &b->info);
        if (failed < 0)
            status = sb_fail_errno(err, failed == -ENOENT ? SB_NOT_FOUND : SB_IO, -failed,
                                   "%s: can't be opened", path);
        else if (!b->info.is_file)
            status = sb_fail(err, SB_INVALID, 0, "%s is no file", path);
        else
            status = begin_archive(b, spool, err);
    }
    if (status == SB_OK)
        *out = b;
    else
        sb_trace_bytes_close(b);
    return status;
}

static void close_file(sb_trace_bytes *b) {
    if (b->file >= 0) b->fs->close(b->fs->ctx, b->file);
    b->file = -1;
}

void sb_trace_bytes_put_down(sb_trace_bytes *b) {
    sb_gz_free(b->gz);
    b->gz = NULL;
    if (b->spool) b->spool->end = b->spool_at + b->spooled;
    close_file(b);
    sb_alloc_put(b->alloc, b->window, b->room);
    b->window = NULL;
    b->room = b->have = 0;
}

void sb_trace_bytes_close(sb_trace_bytes *b) {
    if (!b) return;
    sb_gz_free(b->gz);
    close_file(b);
    sb_alloc_put(b->alloc, b->window, b->room);
    if (!b->is_view) sb_alloc_put(b->alloc, b->path, b->path_size);
    sb_alloc_put(b->alloc, b, sizeof *b);
}

static bool is_same(const sb_trace_bytes *b, const sb_file_info *now) {
    return now->size == b->info.size && now->mtime_ns == b->info.mtime_ns &&
           now->inode == b->info.inode;
}

/* The file of a view, which is not compressed. */
static sb_status open_again(sb_trace_bytes *b, sb_err *err) {
    sb_file_info now;
    b->file = b->fs->open(b->fs->ctx, b->path, SB_OPEN_READ);
    int failed = b->file < 0 ? b->file : b->fs->info(b->fs->ctx, b->file, &now);
    if (failed < 0 && failed != -ENOENT)
        return sb_fail_errno(err, SB_IO, -failed, "%s: can't be opened", b->path);
    if (failed == 0 && is_same(b, &now)) return SB_OK;
    return sb_fail(err, SB_REPLACED, 0, "the trace file has changed: open the capture again");
}

sb_status sb_trace_bytes_view(sb_trace_bytes **out, sb_trace_bytes *of, sb_err *err) {
    sb_trace_bytes *b = sb_alloc_get(of->alloc, sizeof *b);
    if (!b) return sb_fail_nomem(err, "for a trace file");
    *b = *of;
    b->is_view = true;
    b->file = -1;
    b->gz = NULL;
    b->window = NULL;
    b->room = b->have = 0;
    b->block = (size_t)64 << 10;
    sb_status status = b->spool ? SB_OK : open_again(b, err);
    if (status == SB_OK)
        *out = b;
    else
        sb_trace_bytes_close(b);
    return status;
}

static bool write_all(int fd, const uint8_t *p, size_t n, uint64_t offset) {
    while (n) {
        ssize_t done = pwrite(fd, p, n, (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        p += done;
        offset += (uint64_t)done;
        n -= (size_t)done;
    }
    return true;
}

/* Decompresses until there are `upto` bytes or the archive ends. */
static void inflate_upto(sb_trace_bytes *b, uint64_t upto) {
    uint8_t *block = b->gz && b->spooled < upto ? sb_alloc_get(b->alloc, BLOCK) : NULL;
    if (!block) return;
    while (b->gz && b->spooled < upto) {
        int64_t n = b->spooled < b->most ? sb_gz_read_at(b->gz, block, BLOCK, b->spooled) : -E2BIG;
        bool is_kept =
            n > 0 && write_all(b->spool->file, block, (size_t)n, b->spool_at + b->spooled);
        if (is_kept) b->spooled += (uint64_t)n;
        if (is_kept && (!b->go_on || b->go_on(b->ud))) continue;
        b->is_cut = n != 0 || sb_gz_is_cut(b->gz);
        sb_gz_free(b->gz);
        b->gz = NULL;
    }
    b->size = b->spooled;
    sb_alloc_put(b->alloc, block, BLOCK);
}

static int64_t read_some(sb_trace_bytes *b, void *to, size_t n, uint64_t offset) {
    if (!b->spool) return b->fs->read_at(b->fs->ctx, b->file, to, n, offset);
    ssize_t got = pread(b->spool->file, to, n, (off_t)(b->spool_at + offset));
    return got < 0 ? -errno : got;
}

int64_t sb_trace_bytes_copy(sb_trace_bytes *b, void *to, size_t n, uint64_t offset) {
    size_t have = 0;
    if (offset >= b->size) return 0;
    if (n > b->size - offset) n = (size_t)(b->size - offset);
    while (have < n) {
        int64_t got = read_some(b, (uint8_t *)to + have, n - have, offset + have);
        if (got == -EINTR) continue;
        if (got < 0) return got;
        if (got == 0) break;
        have += (size_t)got;
    }
    return (int64_t)have;
}

static bool make_room(sb_trace_bytes *b, size_t wanted) {
    if (b->room >= wanted) return true;
    size_t room = b->room ? b->room : b->block;
    while (room < wanted) room *= 2;
    uint8_t *window = b->alloc->resize(b->alloc->ctx, b->window, b->room, room);
    if (!window) return false;
    b->window = window;
    b->room = room;
    return true;
}

sb_slice sb_trace_bytes_need(sb_trace_bytes *b, uint64_t offset, size_t wanted) {
    if (offset >= b->from && offset - b->from <= b->have &&
        b->have - (size_t)(offset - b->from) >= wanted && wanted)
        return sb_slice_of(b->window + (offset - b->from), b->have - (size_t)(offset - b->from));
    if (b->gz) inflate_upto(b, offset + wanted + BLOCK);
    if (offset >= b->size || !make_room(b, wanted > b->block ? wanted : b->block))
        return (sb_slice){NULL, 0};
    size_t kept = 0;
    if (offset >= b->from && offset - b->from < b->have) {
        kept = b->have - (size_t)(offset - b->from);
        memmove(b->window, b->window + (offset - b->from), kept);
    }
    b->from = offset;
    b->have = kept;
    size_t ask = wanted > b->block ? wanted : b->block;
    int64_t got =
        kept < ask ? sb_trace_bytes_copy(b, b->window + kept, ask - kept, offset + kept) : 0;
    if (got > 0) b->have += (size_t)got;
    if (offset + b->have > b->furthest) b->furthest = offset + b->have;
    return b->have ? sb_slice_of(b->window, b->have) : (sb_slice){NULL, 0};
}

uint64_t sb_trace_bytes_size(sb_trace_bytes *b) {
    if (b->gz) b->is_ahead = true;
    if (b->gz) inflate_upto(b, UINT64_MAX);
    return b->size;
}

void sb_trace_bytes_watch(sb_trace_bytes *b, bool (*go_on)(void *ud), void *ud) {
    b->go_on = go_on;
    b->ud = ud;
}

void sb_trace_bytes_progress(sb_trace_bytes *b, uint64_t *done, uint64_t *all) {
    uint64_t now = b->furthest;
    *all = b->info.size;
    if (b->gz) {
        now = sb_gz_consumed(b->gz);
        if (b->is_ahead) now /= 2;
    } else if (b->spool) {
        double share = b->size ? (double)b->furthest / (double)b->size : 1;
        if (b->is_ahead) share = (1 + share) / 2;
        now = (uint64_t)(share * (double)*all);
    }
    /* decompression is ahead of what was read, and both are noted */
    if (now > b->told) b->told = now;
    *done = b->told;
}

bool sb_trace_bytes_is_cut(const sb_trace_bytes *b) {
    return b->is_cut;
}

bool sb_trace_bytes_is_same(const sb_trace_bytes *b) {
    sb_file_info now;
    return b->fs->stat(b->fs->ctx, b->path, &now) == 0 && is_same(b, &now);
}
