/* beneath.c: opens files strictly beneath a directory: with openat2 where the kernel has it, else
 * by walking the path ourselves. */
#include "fsio/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/slice.h"
#include "base/banned.h"

/* O_NONBLOCK: opening a pipe without a writer would block forever. */
#define FILE_FLAGS (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
#define DIR_FLAGS (O_PATH | O_DIRECTORY | O_CLOEXEC)
#define MAX_DEPTH 128
#define MAX_LINKS 40

/* ---- spelling -------------------------------------------------------------------------------- */

static bool is_part(sb_slice s, const char *text) {
    return sb_slice_eq(s, sb_slice_str(text));
}

/* Removes the next component from the front, without slashes; false when there is none left. */
static bool next_part(sb_slice *path, sb_slice *part) {
    while (path->n && *path->p == '/') *path = sb_slice_of(path->p + 1, path->n - 1);
    size_t n = 0;
    while (n < path->n && path->p[n] != '/') n++;
    *part = sb_slice_of(path->p, n);
    *path = sb_slice_of(path->p + n, path->n - n);
    return n > 0;
}

bool sb_beneath_allowed(sb_slice path) {
    if (path.n == 0 || path.n >= SB_BENEATH_MAX) return false;
    if (path.p[0] == '/' || path.p[0] == '~' || path.p[path.n - 1] == '/') return false;
    for (size_t i = 0; i < path.n; i++)
        if (path.p[i] < 0x20 || path.p[i] == 0x7F) return false;
    sb_slice part;
    while (next_part(&path, &part))
        if (is_part(part, "..")) return false;
    return true;
}

/* Removes dir from the front of an absolute path, component by component; false when the path is
 * not beneath dir. */
static bool strip_front(sb_slice dir, sb_slice path, sb_slice *out) {
    sb_slice d, p;
    if (dir.n == 0 || dir.p[0] != '/') return false;
    while (next_part(&dir, &d)) {
        if (is_part(d, ".")) continue;
        do {
            if (!next_part(&path, &p)) return false;
        } while (is_part(p, "."));
        if (!sb_slice_eq(d, p)) return false;
    }
    while (path.n && *path.p == '/') path = sb_slice_of(path.p + 1, path.n - 1);
    *out = path;
    return true;
}

bool sb_beneath_relative(const char *dir, sb_slice path, sb_slice *out) {
    if (path.n && path.p[0] == '/') {
        sb_slice rest;
        bool found = strip_front(sb_slice_str(dir), path, &rest);
        if (!found) {
            char *real = realpath(dir, NULL);
            found = real && strip_front(sb_slice_str(real), path, &rest);
            free(real);
        }
        if (!found) return false;
        path = rest;
    }
    if (!sb_beneath_allowed(path)) return false;
    *out = path;
    return true;
}

/* ---- our walk -------------------------------------------------------------------------------- */

/* The open directories from the root to the current one. ".." in a link returns to the directory
 * that we came through, even when it was renamed meanwhile. */
typedef struct walk {
    int held[MAX_DEPTH];
    size_t depth; /* how many are held; the first is the root */
    size_t links; /* followed so far */
    size_t left;  /* bytes of `rest` that are still to be walked */
    char rest[2 * SB_BENEATH_MAX];
} walk;

static int current_dir(const walk *w) {
    return w->held[w->depth - 1];
}

/* Puts the target of a symbolic link in front of the rest of the path. */
static int follow_link(walk *w, const char *name) {
    char target[SB_BENEATH_MAX];
    if (++w->links > MAX_LINKS) return -ELOOP;
    ssize_t n = readlinkat(current_dir(w), name, target, sizeof target);
    if (n < 0) return -errno;
    if (n == 0 || (size_t)n == sizeof target) return -ENAMETOOLONG;
    if (target[0] == '/') return -EXDEV;
    if ((size_t)n + 1 + w->left > sizeof w->rest) return -ENAMETOOLONG;
    memmove(w->rest + n + 1, w->rest, w->left);
    memcpy(w->rest, target, (size_t)n);
    w->rest[n] = '/';
    w->left += (size_t)n + 1;
    return 0;
}

/* Opens the last part into *file, or steps into one in between, or puts a link's text in its
 * place: then nothing is opened yet. 0, or a negative errno. */
static int walk_component(walk *w, const char *name, bool is_last, int *file) {
    int flags = is_last ? FILE_FLAGS : DIR_FLAGS;
    int fd = openat(current_dir(w), name, flags | O_NOFOLLOW);
    if (fd < 0) {
        /* A link is ELOOP for a file and ENOTDIR for a directory; another ENOTDIR is no link. */
        int reason = errno;
        if (reason != ELOOP && reason != ENOTDIR) return -reason;
        struct stat s;
        if (fstatat(current_dir(w), name, &s, AT_SYMLINK_NOFOLLOW) < 0) return -errno;
        return S_ISLNK(s.st_mode) ? follow_link(w, name) : -reason;
    }
    if (is_last) {
        *file = fd;
    } else if (w->depth == MAX_DEPTH) {
        close(fd);
        return -ENAMETOOLONG;
    } else {
        w->held[w->depth++] = fd;
    }
    return 0;
}

/* Moves the next component from rest to name; false when nothing is left. */
static bool take_name(walk *w, char name[NAME_MAX + 1], int *error) {
    sb_slice rest = sb_slice_of(w->rest, w->left), part;
    if (!next_part(&rest, &part)) return false;
    if (part.n > NAME_MAX) {
        *error = -ENAMETOOLONG;
        return false;
    }
    memcpy(name, part.p, part.n);
    name[part.n] = 0;
    while (rest.n && *rest.p == '/') rest = sb_slice_of(rest.p + 1, rest.n - 1);
    memmove(w->rest, rest.p, rest.n);
    w->left = rest.n;
    return true;
}

static int walk_on(walk *w) {
    char name[NAME_MAX + 1];
    int error = 0, file = -1;
    while (error == 0 && file < 0) {
        if (!take_name(w, name, &error)) return error ? error : -EISDIR;
        if (strcmp(name, ".") == 0) continue;
        if (strcmp(name, "..") == 0) {
            if (w->depth == 1) return -EXDEV;
            close(w->held[--w->depth]);
        } else {
            error = walk_component(w, name, w->left == 0, &file);
        }
    }
    return error < 0 ? error : file;
}

/* Only regular files are returned. */
static int only_files(int fd) {
    struct stat s;
    int error = fstat(fd, &s) < 0     ? -errno
                : S_ISDIR(s.st_mode)  ? -EISDIR
                : !S_ISREG(s.st_mode) ? -EACCES
                                      : 0;
    if (error == 0) return fd;
    close(fd);
    return error;
}

int sb_beneath_walk(const char *dir, const char *path) {
    if (!sb_beneath_allowed(sb_slice_str(path))) return -EXDEV;
    walk w;
    w.links = 0;
    w.depth = 0;
    w.left = strlen(path);
    memcpy(w.rest, path, w.left);
    int root = open(dir, DIR_FLAGS);
    if (root < 0) return -errno;
    w.held[w.depth++] = root;
    int file = walk_on(&w);
    while (w.depth) close(w.held[--w.depth]);
    return file < 0 ? file : only_files(file);
}

/* ---- the kernel's walk ----------------------------------------------------------------------- */

static int by_kernel(const char *dir, const char *path) {
    const struct open_how how = {.flags = FILE_FLAGS,
                                 .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    int root = open(dir, DIR_FLAGS);
    if (root < 0) return -errno;
    long fd;
    int reason = 0;
    for (int tries = 0; tries < 8; tries++) { /* EAGAIN: something was renamed on the way */
        fd = syscall(SYS_openat2, root, path, &how, sizeof how);
        reason = fd < 0 ? errno : 0;
        if (reason != EAGAIN && reason != EINTR) break;
    }
    close(root);
    return reason ? -reason : (int)fd;
}

int sb_beneath_open(const char *dir, const char *path) {
    if (!sb_beneath_allowed(sb_slice_str(path))) return -EXDEV;
    int file = by_kernel(dir, path);
    /* Not known to this kernel, or kept back by a filter of system calls. */
    if (file == -ENOSYS || file == -EPERM || file == -EAGAIN || file == -EINVAL)
        return sb_beneath_walk(dir, path);
    return file < 0 ? file : only_files(file);
}

/* ---- through the table ----------------------------------------------------------------------- */

int sb_fs_open_beneath(const sb_fs *fs, const char *dir, sb_slice path) {
    char text[SB_BENEATH_MAX];
    if (path.n == 0 || path.n >= sizeof text || memchr(path.p, 0, path.n)) return -EXDEV;
    if (dir && !sb_beneath_allowed(path)) return -EXDEV;
    memcpy(text, path.p, path.n);
    text[path.n] = 0;
    return dir ? fs->open_beneath(fs->ctx, dir, text) : fs->open(fs->ctx, text, SB_OPEN_READ);
}

sb_status sb_fs_read_exactly(const sb_fs *fs, int file, sb_slice name, void *to, size_t n,
                             uint64_t offset, sb_err *err) {
    size_t got = 0;
    while (got < n) {
        int64_t more = fs->read_at(fs->ctx, file, (uint8_t *)to + got, n - got, offset + got);
        if (more < 0)
            return sb_fail_errno(err, SB_IO, (int)-more, "%.*s: can't read this file",
                                 SB_SHOWN(name));
        if (more == 0)
            return sb_fail(err, SB_CORRUPT, offset + got, "%.*s: ends %zu bytes too early",
                           SB_SHOWN(name), n - got);
        got += (size_t)more;
    }
    return SB_OK;
}

static sb_status why_not(int reason, sb_slice path, sb_err *err) {
    switch (reason) {
    case ENOENT:
    case ENOTDIR:
        return sb_fail(err, SB_NOT_FOUND, 0, "%.*s: there is no such file", SB_SHOWN(path));
    case EISDIR:
        return sb_fail(err, SB_NOT_FOUND, 0, "%.*s: is a directory", SB_SHOWN(path));
    case ELOOP:
        return sb_fail(err, SB_NOT_FOUND, 0, "%.*s: is a link to itself", SB_SHOWN(path));
    case EXDEV:
        return sb_fail(err, SB_INVALID, 0, "%.*s: leads outside of its directory", SB_SHOWN(path));
    default:
        return sb_fail_errno(err, SB_IO, reason, "%.*s: can't open this file", SB_SHOWN(path));
    }
}

sb_status sb_fs_get_file_beneath(const sb_fs *fs, const char *dir, sb_slice path, int *file,
                                 sb_file_info *info, sb_err *err) {
    *file = sb_fs_open_beneath(fs, dir, path);
    if (*file < 0) return why_not(-*file, path, err);
    int known = fs->info(fs->ctx, *file, info);
    if (known == 0) return SB_OK;
    fs->close(fs->ctx, *file);
    *file = -1;
    return sb_fail_errno(err, SB_IO, -known, "%.*s: can't look at this file", SB_SHOWN(path));
}

sb_status sb_fs_get_beneath(const sb_fs *fs, const sb_alloc *alloc, const char *dir, sb_slice path,
                            size_t cap, sb_slice *out, sb_err *err) {
    *out = (sb_slice){NULL, 0};
    int file;
    sb_file_info info;
    sb_status status = sb_fs_get_file_beneath(fs, dir, path, &file, &info, err);
    if (status != SB_OK) return status;
    if (info.size > cap) {
        status = sb_fail(err, SB_LIMIT, 0, "%.*s: %llu bytes, more than the limit of %zu",
                         SB_SHOWN(path), (unsigned long long)info.size, cap);
    } else if (info.size > 0) {
        size_t n = (size_t)info.size;
        uint8_t *p = sb_alloc_get(alloc, n);
        status =
            p ? sb_fs_read_exactly(fs, file, path, p, n, 0, err) : sb_fail_nomem(err, "for a file");
        if (status == SB_OK)
            *out = (sb_slice){p, n};
        else
            sb_alloc_put(alloc, p, n);
    }
    fs->close(fs->ctx, file);
    return status;
}
