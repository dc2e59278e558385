/* discover.h: finds the runs of a log directory.
 *
 * In:  a path.  Out: runs and their event files, in an arena.
 *
 * An event file is a file whose name contains "tfevents". A run is a directory with at least one
 * of them directly inside; its name is the path from the log directory with '/' between the parts,
 * "." for the log directory itself. Nothing is left out: hidden directories are walked too.
 * Symbolic links are followed, but a directory inside itself (a loop of links) is not entered
 * again, and one directory is entered under at most four names: directories that link to each other
 * would otherwise be found under more names than any tree has. Directories that are reached without
 * a link come first. Virtual file systems of the kernel (/proc, /sys) are left out.
 *
 * Runs are in byte order of their names, files in byte order of theirs: that is the order in which
 * TensorBoard reads them. A path that is a file gives one run, ".", with that file, whatever it is
 * called.
 *
 * Names may be any bytes. `path` is what the system knows, `name` is made fit to be shown: bytes
 * that are no UTF-8 are spelled (sb_utf8_spell).
 *
 * Threads: a walk belongs to one thread. Cost: one system call a name. */
#ifndef SB_LOGDIR_DISCOVER_H
#define SB_LOGDIR_DISCOVER_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/env.h"
#include "base/status.h"

typedef struct sb_found_file {
    sb_slice path; /* all of it; a NUL follows */
    sb_slice name; /* its last part, as the system knows it */
    uint64_t size, device, inode;
    int64_t mtime_ns;
} sb_found_file;

typedef struct sb_found_run {
    sb_slice name; /* valid UTF-8 */
    sb_slice path; /* of the directory; a NUL follows */
    sb_found_file *files;
    size_t file_count;
} sb_found_run;

/* A directory that was left out. The first thousand are kept. */
typedef struct sb_found_problem {
    sb_slice path; /* a NUL follows */
    int error;     /* the system's errno, or one of these: */
} sb_found_problem;

#define SB_LEFT_OUT_LOOP ELOOP         /* a directory inside itself */
#define SB_LEFT_OUT_ALIAS EMLINK       /* it was entered under enough other names */
#define SB_LEFT_OUT_DEPTH E2BIG        /* too many directories above it */
#define SB_LEFT_OUT_VIRTUAL EOPNOTSUPP /* /proc, /sys and the like */
#define SB_LEFT_OUT_LIMIT                                                                          \
    ENOBUFS /* max_names were looked at; the walk ended early, and the
                                            path is that of the log directory */

/* What happened and what to do, for people. */
const char *sb_left_out_text(int error);
/* Could event files that were found here before still be there? */
bool sb_left_out_may_hide(int error);

typedef struct sb_found {
    sb_found_run *runs;
    size_t run_count;
    size_t file_count; /* of all runs */
    sb_found_problem *problems;
    size_t problem_count;
    sb_slice *bare; /* paths of the directories without an event file of their own; NULs follow */
    size_t bare_count;
    bool is_file; /* the path was a file */
} sb_found;

typedef struct sb_discover_opts {
    size_t max_names;   /* that many names are looked at; default 10 million */
    uint32_t max_depth; /* directories inside directories; default 128 */
    /* Called after each directory, with its run, or NULL when it holds no event file. A walk of a
     * large tree takes long; what is found can be used at once. May be NULL. */
    void (*each_dir)(void *ctx, const sb_found_run *run);
    void *ctx;
    const _Atomic bool *stop; /* when it becomes true, the walk ends with SB_CANCELLED; or NULL */
} sb_discover_opts;

/* SB_NOT_FOUND when there is nothing of that path; SB_OK with no runs when there are no event
 * files. SB_IO when the path itself can't be read; SB_CANCELLED; SB_NOMEM. All of *out is in the
 * arena; what is only needed on the way is not. opts may be NULL. */
sb_status sb_discover(sb_found *out, const sb_env *env, sb_arena *arena, const char *path,
                      const sb_discover_opts *opts, sb_err *err);

/* Does a file of this name count? */
bool sb_is_event_file(sb_slice name);

#endif
