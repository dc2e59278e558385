/* tail_window.c: the tail reader's window over the file, and the identity of that file. */
#include "logdir/tail_int.h"

#include <errno.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/slice.h"
#include "codec/crc32c/crc32c.h"
#include "base/banned.h"

#define SMALLEST_ROOM ((size_t)4 << 10)
#define PIECE ((size_t)64 << 10)

void sb_tail_move(sb_tail *t, uint64_t offset) {
    if (offset >= t->base && offset - t->base <= t->n) {
        t->at = (size_t)(offset - t->base);
        return;
    }
    t->base = offset;
    t->at = t->n = 0;
}

/* ---- which file it is ------------------------------------------------------------------------ */

sb_status sb_tail_say_replaced(sb_tail *t, sb_err *err, const char *how) {
    t->replaced = true;
    sb_tail_forget(t);
    return sb_fail(err, SB_REPLACED, sb_tail_offset(t), "%s: %s", t->path, how);
}

static bool same_file(const sb_file_info *a, const sb_file_info *b) {
    return a->device == b->device && a->inode == b->inode;
}

/* 1, or 0 when the file ends before, or a negative errno. */
static int read_exactly(const sb_tail *t, int file, void *to, size_t n, uint64_t offset) {
    size_t got = 0;
    while (got < n) {
        int64_t more = t->fs->read_at(t->fs->ctx, file, (uint8_t *)to + got, n - got, offset + got);
        if (more <= 0) return (int)more;
        got += (size_t)more;
    }
    return 1;
}

bool sb_tail_peek(const sb_tail *t, void *to, size_t n, uint64_t offset) {
    return t->file >= 0 && read_exactly(t, t->file, to, n, offset) == 1;
}

int sb_tail_check_frame(const sb_tail *t, uint64_t offset, uint64_t size, uint32_t *crc) {
    uint8_t piece[PIECE];
    uint32_t sum = 0;
    uint64_t at = offset + SB_RECORD_HEADER, end = offset + size - SB_RECORD_FOOTER;
    while (at < end) {
        size_t n = end - at < sizeof piece ? (size_t)(end - at) : sizeof piece;
        int there = read_exactly(t, t->file, piece, n, at);
        if (there <= 0) return there;
        sum = sb_crc32c(sum, piece, n);
        at += n;
    }
    int there = read_exactly(t, t->file, piece, SB_RECORD_FOOTER, end);
    if (there <= 0) return there;
    *crc = sb_load32(piece);
    return *crc == sb_crc32c_mask(sum);
}

int sb_tail_same_content(const sb_tail *t, int file) {
    uint8_t bytes[SB_TAIL_HEAD];
    if (t->last.size == 0) return t->start == 0;
    int there = read_exactly(t, file, bytes, t->head_n, 0);
    if (there <= 0 || memcmp(bytes, t->head, t->head_n) != 0) return there < 0 ? there : 0;
    there = read_exactly(t, file, bytes, 8, t->last.offset);
    if (there <= 0 || sb_load64(bytes) != t->last.size - SB_RECORD_OVERHEAD)
        return there < 0 ? there : 0;
    uint64_t footer = t->last.offset + t->last.size - SB_RECORD_FOOTER;
    there = read_exactly(t, file, bytes, SB_RECORD_FOOTER, footer);
    return there <= 0 ? there : sb_load32(bytes) == t->last_crc;
}

/* A file of this name with other identity: another copy of the same log, which may go on where the
 * first one ended (rsync makes those), or something else. Takes over `file`. */
static sb_status adopt(sb_tail *t, int file, const sb_file_info *info, sb_err *err) {
    int goes_on = !t->is_archive && info->size >= t->base + t->at;
    if (goes_on) goes_on = sb_tail_same_content(t, file);
    if (goes_on <= 0) t->fs->close(t->fs->ctx, file);
    if (goes_on == 0) return sb_tail_say_replaced(t, err, "another file has this name now");
    if (goes_on < 0)
        return sb_fail_errno(err, SB_IO, -goes_on, "%s: can't read this file", t->path);
    if (t->file >= 0) t->fs->close(t->fs->ctx, t->file);
    t->file = file;
    t->seen = *info;
    sb_tail_forget(t);
    t->searched = 0;
    t->waiting_n = 0;
    return SB_OK;
}

static sb_status open_path(sb_tail *t, int *file, sb_file_info *info, sb_err *err) {
    *file = t->fs->open(t->fs->ctx, t->path, SB_OPEN_READ);
    if (*file < 0)
        return sb_fail_errno(err, *file == -ENOENT ? SB_NOT_FOUND : SB_IO, -*file,
                             "%s: can't open this file", t->path);
    int known = t->fs->info(t->fs->ctx, *file, info);
    if (known < 0) {
        t->fs->close(t->fs->ctx, *file);
        return sb_fail_errno(err, SB_IO, -known, "%s: can't look at this file", t->path);
    }
    return SB_OK;
}

sb_status sb_tail_wake(sb_tail *t, sb_err *err) {
    if (t->file >= 0) return SB_OK;
    int file;
    sb_file_info info;
    sb_status status = open_path(t, &file, &info, err);
    if (status != SB_OK) return status;
    if (!same_file(&info, &t->seen)) return adopt(t, file, &info, err);
    t->file = file;
    return SB_OK;
}

/* The path leads to another file than the one that is open. */
static sb_status look_at_other(sb_tail *t, sb_err *err) {
    int file;
    sb_file_info info;
    sb_status status = open_path(t, &file, &info, err);
    if (status == SB_NOT_FOUND) return SB_MORE;
    if (status != SB_OK) return status;
    status = adopt(t, file, &info, err);
    return status == SB_OK ? SB_MORE : status;
}

/* A file that changed may have been written anew in place, with records that begin where the old
 * ones did (rsync --inplace). SB_OK when it goes on as it was, SB_REPLACED, SB_IO. */
static sb_status check_content(sb_tail *t, sb_err *err) {
    int same = sb_tail_same_content(t, t->file);
    if (same > 0) return SB_OK;
    if (same == 0) return sb_tail_say_replaced(t, err, "the file was written anew in place");
    return sb_fail_errno(err, SB_IO, -same, "%s: can't read this file", t->path);
}

sb_status sb_tail_at_end(sb_tail *t, sb_err *err) {
    sb_file_info info;
    int known = t->fs->stat(t->fs->ctx, t->path, &info);
    /* Removed, or out of reach for a moment: the records that were read stay valid. */
    if (known < 0) return SB_MORE;
    if (!same_file(&info, &t->seen)) return look_at_other(t, err);
    if (t->is_archive) {
        if (info.size != t->seen.size || info.mtime_ns != t->seen.mtime_ns)
            return sb_tail_say_replaced(t, err, "the archive was changed while it was being read");
        return SB_MORE;
    }
    if (info.size < t->base + t->n)
        return sb_tail_say_replaced(t, err, "the file is shorter than it was");
    bool is_touched = t->was_at_end && t->file >= 0 && info.size == t->seen.size &&
                      info.mtime_ns != t->seen.mtime_ns;
    sb_status status = is_touched ? check_content(t, err) : SB_OK;
    if (status != SB_OK) return status;
    t->seen = info;
    t->was_at_end = true;
    return SB_MORE;
}

sb_status sb_tail_archive_over(sb_tail *t, sb_err *err) {
    if (!t->archive_damaged) return sb_tail_at_end(t, err);
    return sb_fail(err, SB_CORRUPT, t->archive_size,
                   "%s: the gzip archive is damaged behind its byte %llu, counted unpacked",
                   t->path, (unsigned long long)t->archive_size);
}

uint64_t sb_tail_size_now(const sb_tail *t) {
    sb_file_info info;
    if (t->is_archive) return t->archive_ended ? t->archive_size : UINT64_MAX;
    if (t->file < 0 || t->fs->info(t->fs->ctx, t->file, &info) < 0) return t->seen.size;
    return info.size;
}

/* ---- reading ahead --------------------------------------------------------------------------- */

static bool set_room(sb_tail *t, size_t room) {
    uint8_t *p = t->alloc->resize(t->alloc->ctx, t->p, t->room, room);
    if (!p) return false;
    t->p = p;
    t->room = room;
    return true;
}

/* How much room a window with n bytes in it should have for `need` bytes. An archive does not tell
 * its size ahead, so room for a large record grows as its bytes come. */
static size_t wanted_room(const sb_tail *t, size_t need) {
    size_t room = t->room;
    if (need > t->window) {
        size_t doubled = room < t->window ? t->window : 2 * room;
        size_t whole = (need + 2 * SMALLEST_ROOM) / SMALLEST_ROOM * SMALLEST_ROOM;
        if (room >= need || (t->is_archive && t->n < room)) return room;
        return t->is_archive && doubled < whole ? doubled : whole;
    }
    if (room > t->window) return t->n <= t->window ? t->window : room;
    if (room == 0) {
        uint64_t left = t->seen.size > t->base ? t->seen.size - t->base : 0;
        room = SMALLEST_ROOM;
        while (room < t->window && room < left + SB_RECORD_OVERHEAD) room *= 2;
    } else if (t->was_filled) {
        room *= 4;
    }
    while (room < need) room *= 2;
    return room < t->window ? room : t->window;
}

/* Room for more bytes behind the n that are there, at best for `need`. */
static sb_status make_room_in_window(sb_tail *t, uint64_t need, sb_err *err) {
    if (need > SIZE_MAX / 4) return sb_fail_nomem(err, "for a record");
    if (need > t->window && need > t->room && !t->is_archive &&
        sb_tail_size_now(t) < t->base + need)
        return sb_tail_at_end(t, err);
    size_t room = wanted_room(t, (size_t)need);
    if (room == t->room) return SB_OK;
    return set_room(t, room) ? SB_OK : sb_fail_nomem(err, "for a window over a file");
}

static sb_status read_failed(sb_tail *t, int error_number, sb_err *err) {
    if (error_number == ENOMEM) return sb_fail_nomem(err, "for reading a file");
    /* A stale handle of a network file system stays stale: the next call opens the file again. */
    uint64_t offset = t->base + t->n;
    sb_tail_sleep(t);
    return sb_fail_errno(err, SB_IO, error_number, "%s: can't read at byte %llu", t->path,
                         (unsigned long long)offset);
}

/* The file is open, the archive ready to be unpacked. */
static sb_status make_ready(sb_tail *t, sb_err *err) {
    sb_status status = sb_tail_wake(t, err);
    if (status == SB_OK && t->is_archive && !t->gz)
        status = sb_gz_new(&t->gz, t->alloc, t->fs, t->file, err);
    return status;
}

static sb_status end_archive(sb_tail *t, int64_t got, sb_err *err) {
    t->archive_ended = true;
    t->archive_size = sb_gz_offset(t->gz);
    t->archive_damaged = got < 0;
    t->archive_cut = sb_gz_is_cut(t->gz);
    return sb_tail_archive_over(t, err);
}

/* Reads at most n bytes at an offset; *got is how many there were, more than 0 for SB_OK. */
static sb_status read_some(sb_tail *t, void *to, size_t n, uint64_t offset, size_t *done,
                           sb_err *err) {
    int64_t got = t->gz ? sb_gz_read_at(t->gz, to, n, offset)
                        : t->fs->read_at(t->fs->ctx, t->file, to, n, offset);
    *done = got > 0 ? (size_t)got : 0;
    t->counts.bytes_read += *done;
    if (got > 0 && t->was_at_end) {
        t->was_at_end = false;
        return check_content(t, err);
    }
    if (got > 0) return SB_OK;
    if (t->gz && (got == 0 || got == -EBADMSG)) return end_archive(t, got, err);
    return got == 0 ? sb_tail_at_end(t, err) : read_failed(t, (int)-got, err);
}

sb_status sb_tail_reach(sb_tail *t, uint64_t end, sb_err *err) {
    sb_status status = make_ready(t, err);
    if (status != SB_OK) return status;
    if (!t->is_archive) return sb_tail_size_now(t) >= end ? SB_OK : sb_tail_at_end(t, err);
    if (t->archive_ended) return t->archive_size >= end ? SB_OK : sb_tail_archive_over(t, err);
    uint8_t last;
    size_t done;
    return read_some(t, &last, 1, end - 1, &done, err);
}

sb_status sb_tail_fill(sb_tail *t, uint64_t need, sb_err *err) {
    if (t->is_archive && t->archive_ended && t->base + t->at + need > t->archive_size)
        return sb_tail_archive_over(t, err);
    sb_status status = make_ready(t, err);
    if (status != SB_OK) return status;
    if (t->at > 0) {
        memmove(t->p, t->p + t->at, t->n - t->at);
        t->base += t->at;
        t->n -= t->at;
        t->at = 0;
    }
    while (t->n < need) {
        status = make_room_in_window(t, need, err);
        if (status != SB_OK) return status;
        size_t free_room = t->room - t->n, got;
        status = read_some(t, t->p + t->n, free_room, t->base + t->n, &got, err);
        if (status != SB_OK) return status;
        t->n += got;
        t->was_filled = got == free_room;
    }
    return SB_OK;
}
