/* capture.h: which captures lie in a log directory.
 *
 *     <run>/plugins/profile/<session>/<host>.xplane.pb   TensorFlow, JAX; one capture a session
 *     <run>/<worker>[.<digits>].pt.trace.json[.gz]       torch; workers that differ only in digits
 *                                                        and wrote together are one capture
 *     <run>/<name>.trace.json[.gz]                       any other Chrome trace
 *
 * In a session, of the files of one host the XSpace is taken, else the trace.json. Nothing else is
 * needed: no event file has to lie beside it. The directory is only read.
 *
 * Threads: a walk belongs to one thread. Cost: one system call a name, but for event files. */
#ifndef SB_PROFILE_CAPTURE_H
#define SB_PROFILE_CAPTURE_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/env.h"
#include "base/status.h"
#include "profile/trace/trace.h"

#define SB_CAPTURE_ID 16

typedef struct sb_capture_file {
    sb_slice path;  /* a NUL follows */
    sb_slice shown; /* below the log directory */
    sb_slice name;  /* of the host or worker */
    uint64_t size, inode;
    int64_t mtime_ns;
    uint32_t span; /* of torch: 1, 2, 3... of this worker */
} sb_capture_file;

typedef struct sb_capture {
    char id[SB_CAPTURE_ID + 1];    /* of where it lies */
    char epoch[SB_CAPTURE_ID + 1]; /* of its files as they are now */
    sb_slice run;                  /* "." of the log directory itself */
    sb_slice name;                 /* the session, or the worker */
    int64_t time_ns;               /* Unix; when it was written */
    sb_trace_format format;
    sb_capture_file *files;
    size_t file_count;
    uint64_t bytes;
    sb_slice tag; /* of step statistics in event files: where they are */
} sb_capture;

typedef struct sb_captures {
    sb_capture *items; /* by run, then the newest first */
    size_t n;
} sb_captures;

typedef struct sb_capture_root {
    const char *path;
    const char *name; /* before all runs; NULL: none */
} sb_capture_root;

/* What cannot be read is left out. stop: when it becomes true the walk ends; or NULL. */
sb_status sb_captures_find(sb_captures *out, const sb_env *env, const sb_capture_root *roots,
                           size_t root_count, sb_arena *arena, const _Atomic bool *stop,
                           sb_err *err);
/* A file or a directory that somebody names: all of it as one capture. */
sb_status sb_capture_of_path(sb_capture *out, const sb_env *env, const char *path, sb_arena *arena,
                             sb_err *err);
void sb_capture_set_id(char out[SB_CAPTURE_ID + 1], sb_slice text);
/* Reads all its files. */
sb_status sb_capture_read(const sb_capture *c, const sb_env *env, const sb_trace_opts *opts,
                          sb_trace **out, sb_err *err);

#endif
