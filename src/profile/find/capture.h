/* capture.h: which captures lie in a log directory.
 *
 *     <run>/plugins/profile/<session>/<host>.xplane.pb   TensorFlow, JAX; one capture a session
 *     <run>/<worker>[.<digits>].pt.trace.json[.gz]       torch
 *     <run>/<name>.trace.json[.gz]                       any other Chrome trace
 *     <run>/<name>.json[.gz]                             a trace too, if it begins like one
 *
 * In a session, of the files of one host the XSpace is taken, else the trace.json. Elsewhere a file
 * is the capture of one worker, and several of a folder are one capture if their names differ in
 * digits only (rank0.pt.trace.json, rank1.pt.trace.json) and, where these have torch's timestamps,
 * were written at about the same time; of names with timestamps the letters may differ too (hosts),
 * if the files say that they are of different ranks. Names whose digits may be anything
 * (trace_10.json) must say the rank, or their files must. So it is with other files of torch below
 * plugins/profile. Nothing else is needed: no event file has to lie beside it. The directory is
 * only read.
 *
 * Threads: a walk belongs to one thread. Cost: one system call a name, but for event files, and
 * what recognize.h says of JSON files. */
#ifndef SB_PROFILE_CAPTURE_H
#define SB_PROFILE_CAPTURE_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/env.h"
#include "base/status.h"
#include "profile/find/recognize.h"
#include "profile/trace/trace.h"

#define SB_CAPTURE_ID 16

typedef struct sb_capture_file {
    sb_slice path;  /* it ends with a NUL byte, which is not counted */
    sb_slice shown; /* the path relative to the log directory, for people */
    sb_slice name;  /* the name of the host or of the worker */
    uint64_t size, inode;
    int64_t mtime_ns;
    int64_t rank;  /* as its name or its first bytes say; -1: unknown */
    uint32_t span; /* only torch: this is the 1st, 2nd, 3rd... file of its worker */
} sb_capture_file;

typedef struct sb_capture {
    char id[SB_CAPTURE_ID + 1]; /* a hash of its path: stays the same while the files grow */
    /* a hash of sizes and times of its files: changes when they do */
    char epoch[SB_CAPTURE_ID + 1];
    sb_slice run;    /* the name of the run; "." for the log directory itself */
    sb_slice name;   /* the name of the session or of the worker */
    int64_t time_ns; /* when it was written, in Unix time */
    sb_trace_format format;
    sb_capture_file *files;
    size_t file_count;
    uint64_t bytes;
    sb_slice tag; /* only step statistics of event files: the tag that holds them */
} sb_capture;

typedef struct sb_captures {
    sb_capture *items; /* ordered by run, then by time, the newest first */
    size_t n;
} sb_captures;

typedef struct sb_capture_root {
    const char *path;
    const char *name; /* put in front of the names of all runs below this root; NULL: nothing is */
} sb_capture_root;

/* Finds all captures. Files and directories that cannot be read are left out. `recognized`: what
 * the walks before found out about JSON files. When *stop becomes true, the walk ends early. Both
 * may be NULL. */
sb_status sb_captures_find(sb_captures *out, const sb_env *env, const sb_capture_root *roots,
                           size_t root_count, sb_recognized *recognized, sb_arena *arena,
                           const _Atomic bool *stop, sb_err *err);
/* Makes one capture of the file or of the directory that a person named on the command line. */
sb_status sb_capture_of_path(sb_capture *out, const sb_env *env, const char *path, sb_arena *arena,
                             sb_err *err);
void sb_capture_set_id(char out[SB_CAPTURE_ID + 1], sb_slice text);
/* Reads all files of a capture. */
sb_status sb_capture_read(const sb_capture *c, const sb_env *env, const sb_trace_opts *opts,
                          sb_trace **out, sb_err *err);

#endif
