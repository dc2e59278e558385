/* beneath.h: the only function that opens a path which comes from outside: in a log, a config, a
 * state file. What is opened lies strictly beneath a given directory, or nothing is opened.
 *
 * Refused by its spelling alone: empty, absolute, a part "..", a leading '~', NUL and control
 * characters, longer than SB_BENEATH_MAX. Refused on the way: a symbolic link that leads outside
 * (all absolute links do); a link that stays inside is followed. What is opened is a regular file:
 * a pipe or a device would make the reader wait, or worse.
 *
 * The kernel does the walk where it can (openat2, Linux 5.6); elsewhere we go component by
 * component, holding each directory open, so that another process cannot exchange a directory
 * between two steps. Paths are never compared as text: /srv/data does not begin /srv/data-secret.
 *
 * Threads: no state.  Cost: one system call, or two a component. */
#ifndef SB_FSIO_BENEATH_H
#define SB_FSIO_BENEATH_H

#include <stdbool.h>

#include "fsio/fs.h"

#define SB_BENEATH_MAX 4096

/* Is the spelling one that could be opened? */
bool sb_beneath_allowed(sb_slice path);

/* A path as a config gives it, made relative to dir: a relative one is taken as it is, an absolute
 * one that names something beneath dir (spelled the same, or as realpath spells dir) loses that
 * front. False for all that may not be opened. The answer borrows from path. */
bool sb_beneath_relative(const char *dir, sb_slice path, sb_slice *out);

/* A file for reading, or a negative errno: EXDEV for what leads outside and for refused spellings,
 * ENOENT and ENOTDIR when there is no such thing, EISDIR for a directory, ELOOP, EACCES. dir itself
 * is trusted, and may be reached through links. */
int sb_beneath_open(const char *dir, const char *path);
/* The same without openat2: for other systems, and for tests to compare with. */
int sb_beneath_walk(const char *dir, const char *path);

/* The same through the table, with a path that may hold anything. dir NULL: the path is the user's
 * own, and opened as it stands. */
int sb_fs_open_beneath(const sb_fs *fs, const char *dir, sb_slice path);

/* Opens a file and looks at it; the caller closes *file, which is -1 after a failure. SB_NOT_FOUND
 * and SB_INVALID as below. */
sb_status sb_fs_get_file_beneath(const sb_fs *fs, const char *dir, sb_slice path, int *file,
                                 sb_file_info *info, sb_err *err);
/* Reads a whole file of at most cap bytes, as sb_fs_get does. SB_NOT_FOUND when there is none (a
 * directory is none), SB_INVALID when the path leads outside. */
sb_status sb_fs_get_beneath(const sb_fs *fs, const sb_alloc *alloc, const char *dir, sb_slice path,
                            size_t cap, sb_slice *out, sb_err *err);

/* Reads n bytes at offset into to; fewer than that is SB_CORRUPT. name is for the message. */
sb_status sb_fs_read_exactly(const sb_fs *fs, int file, sb_slice name, void *to, size_t n,
                             uint64_t offset, sb_err *err);

#endif
