/* uploads.c: a list of files by last use. There are few of them. */
#include "server/uploads.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fingerprint.h"
#include "base/lru.h"
#include "base/slice.h"
#include "base/system/temp_file.h"
#include "base/banned.h"

#define MOST_FILES 64u /* each is a descriptor */

typedef struct upload {
    sb_lru_link use;
    char name[SB_UPLOAD_NAME];
    int fd;
    uint64_t bytes;
} upload;

struct sb_uploads {
    const sb_alloc *alloc;
    char folder[512];
    uint64_t limit;
    pthread_mutex_t mutex; /* guards all below */
    sb_lru order;
    size_t count;
    uint64_t bytes;
};

sb_status sb_uploads_new(sb_uploads **out, const sb_alloc *alloc, const char *folder,
                         uint64_t bytes, sb_err *err) {
    sb_uploads *u = sb_alloc_zeroed(alloc, 1, sizeof *u);
    if (!u) return sb_fail_nomem(err, "for files that are sent");
    u->alloc = alloc;
    u->limit = bytes;
    snprintf(u->folder, sizeof u->folder, "%s", folder ? folder : "/tmp");
    pthread_mutex_init(&u->mutex, NULL);
    *out = u;
    return SB_OK;
}

static void free_upload(sb_uploads *u, upload *e) {
    if (e->fd >= 0) close(e->fd);
    sb_alloc_put(u->alloc, e, sizeof *e);
}

/* ---- the list, with the mutex held ----------------------------------------------------------- */

static upload *look_up(sb_uploads *u, sb_slice name) {
    for (sb_lru_link *at = u->order.newest; at; at = at->older) {
        upload *e = SB_LRU_ENTRY(at, upload, use);
        if (!sb_slice_eq(sb_slice_str(e->name), name)) continue;
        sb_lru_touch(&u->order, at);
        return e;
    }
    return NULL;
}

static void evict_oldest(sb_uploads *u) {
    upload *e = SB_LRU_ENTRY(u->order.oldest, upload, use);
    sb_lru_remove(&u->order, &e->use);
    u->count--;
    u->bytes -= e->bytes;
    free_upload(u, e);
}

static void add(sb_uploads *u, upload *e) {
    while (u->count && (u->count == MOST_FILES || u->bytes + e->bytes > u->limit)) evict_oldest(u);
    sb_lru_add(&u->order, &e->use);
    u->count++;
    u->bytes += e->bytes;
}

/* ---- for callers ----------------------------------------------------------------------------- */

void sb_uploads_free(sb_uploads *u) {
    if (!u) return;
    while (u->count) evict_oldest(u);
    pthread_mutex_destroy(&u->mutex);
    sb_alloc_put(u->alloc, u, sizeof *u);
}

bool sb_uploads_find(sb_uploads *u, sb_slice name, uint64_t *bytes) {
    pthread_mutex_lock(&u->mutex);
    const upload *e = look_up(u, name);
    if (e) *bytes = e->bytes;
    pthread_mutex_unlock(&u->mutex);
    return e != NULL;
}

static sb_status write_all(int fd, sb_slice bytes, sb_err *err) {
    if (fd < 0) return sb_fail_errno(err, SB_IO, errno, "no temporary file can be made");
    for (size_t n = 0; n < bytes.n;) {
        ssize_t written = pwrite(fd, bytes.p + n, bytes.n - n, (off_t)n);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return sb_fail_errno(err, SB_IO, errno, "the file can't be kept");
        n += (size_t)written;
    }
    return SB_OK;
}

static sb_status read_at(int fd, uint8_t *out, size_t n, uint64_t offset, sb_err *err) {
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(fd, out + done, n - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return sb_fail_errno(err, SB_IO, got ? errno : EIO, "the file can't be read");
        done += (size_t)got;
    }
    return SB_OK;
}

/* A descriptor of the caller's own, which stays good when the file is let go. -1: there is none of
 * that name (*known is false then), or no descriptor is left (errno says why). */
static int open_again(sb_uploads *u, sb_slice name, bool *known, uint64_t *bytes) {
    pthread_mutex_lock(&u->mutex);
    const upload *e = look_up(u, name);
    *known = e != NULL;
    *bytes = e ? e->bytes : 0;
    int fd = e ? fcntl(e->fd, F_DUPFD_CLOEXEC, 0) : -1, reason = errno;
    pthread_mutex_unlock(&u->mutex);
    errno = reason;
    return fd;
}

static sb_status holds(int fd, sb_slice bytes, bool *same, sb_err *err) {
    uint8_t part[16384];
    *same = true;
    for (size_t n = 0; n < bytes.n && *same;) {
        size_t size = bytes.n - n < sizeof part ? bytes.n - n : sizeof part;
        sb_status status = read_at(fd, part, size, n, err);
        if (status != SB_OK) return status;
        *same = memcmp(part, bytes.p + n, size) == 0;
        n += size;
    }
    return SB_OK;
}

/* The name of these bytes: the first of their fingerprints, seed by seed, that no other stored file
 * has. It ends, since there are at most MOST_FILES. */
static sb_status find_upload_name(sb_uploads *u, sb_slice bytes, char name[SB_UPLOAD_NAME],
                                  bool *is_stored, sb_err *err) {
    for (uint64_t seed = 0;; seed++) {
        bool same = false;
        uint64_t size;
        sb_fingerprint(bytes, seed, name);
        int fd = open_again(u, sb_slice_str(name), is_stored, &size);
        if (!*is_stored) return SB_OK;
        if (fd < 0) return sb_fail_errno(err, SB_IO, errno, "the file can't be opened");
        sb_status status = size == bytes.n ? holds(fd, bytes, &same, err) : SB_OK;
        close(fd);
        if (status != SB_OK || same) return status;
    }
}

/* Stores the bytes under this name. *is_stored stays false if another file of that name was
 * stored in the meantime. */
static sb_status store(sb_uploads *u, sb_slice bytes, const char name[SB_UPLOAD_NAME],
                       bool *is_stored, sb_err *err) {
    upload *e = sb_alloc_zeroed(u->alloc, 1, sizeof *e);
    if (!e) return sb_fail_nomem(err, "for files that are sent");
    memcpy(e->name, name, sizeof e->name);
    e->bytes = bytes.n;
    e->fd = sb_temp_file_or_tmp(u->folder);
    sb_status status = write_all(e->fd, bytes, err);
    pthread_mutex_lock(&u->mutex);
    *is_stored = status == SB_OK && !look_up(u, sb_slice_str(name));
    if (*is_stored) add(u, e);
    pthread_mutex_unlock(&u->mutex);
    if (!*is_stored) free_upload(u, e);
    return status;
}

sb_status sb_uploads_keep(sb_uploads *u, sb_slice bytes, char name[SB_UPLOAD_NAME], sb_err *err) {
    if (bytes.n > u->limit)
        return sb_fail(err, SB_LIMIT, 0, "a file may have %llu MB",
                       (unsigned long long)(u->limit >> 20));
    for (bool is_stored = false;;) {
        sb_status status = find_upload_name(u, bytes, name, &is_stored, err);
        if (status == SB_OK && !is_stored) status = store(u, bytes, name, &is_stored, err);
        if (status != SB_OK || is_stored) return status;
    }
}

sb_status sb_uploads_read(sb_uploads *u, sb_slice name, sb_arena *arena, sb_slice *out,
                          sb_err *err) {
    bool known;
    uint64_t size;
    int fd = open_again(u, name, &known, &size);
    if (!known)
        return sb_fail(err, SB_REPLACED, 0,
                       "the server no longer has this file: drop it on the page again");
    if (fd < 0) return sb_fail_errno(err, SB_IO, errno, "the file can't be opened");
    uint8_t *bytes = sb_arena_get(arena, (size_t)size + 1);
    sb_status status = bytes ? read_at(fd, bytes, (size_t)size, 0, err)
                             : sb_fail_nomem(err, "for a file that was sent");
    close(fd);
    if (status == SB_OK) *out = sb_slice_of(bytes, (size_t)size);
    return status;
}
