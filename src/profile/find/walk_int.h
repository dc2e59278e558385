/* walk_int.h: what the walk over a log directory and those who take its files share. Inside the
 * layer only.
 *
 * The walk (walk.c) lists each directory. Files in plugins/profile/<session> go to session.c, all
 * others to workers.c; both add captures to the list of the walk (list.c). All of it lives in the
 * arena of the walk. */
#ifndef SB_PROFILE_WALK_INT_H
#define SB_PROFILE_WALK_INT_H

#include "base/intern.h"
#include "base/vec.h"
#include "profile/find/capture.h"

#define SB_UNNAMED_HOST "trace" /* the host of a file whose name has none */

typedef struct sb_capture_walk {
    const sb_env *env;
    sb_arena *arena;
    const _Atomic bool *stop;
    sb_recognized *recognized;
    /* device and inode of each directory that was visited: links may form a cycle */
    sb_intern seen;
    SB_VEC(sb_capture) found;
    uint64_t names;
    const char *prefix;
    size_t root_n;
    sb_status failed;
} sb_capture_walk;

/* ---- names of files: file_name.c ------------------------------------------------------------- */

typedef struct sb_trace_file_name {
    sb_trace_format format;
    sb_slice host;   /* the file name without its extension */
    int64_t stamp;   /* the timestamp in the names of torch, in nanoseconds; 0: the name has none */
    bool is_session; /* this kind of file may be in plugins/profile/<session> */
    bool is_torch;   /* named as torch does it: <worker>[.<timestamp>].pt.trace.json */
    bool is_unsure;  /* only its content tells whether it is a trace */
} sb_trace_file_name;

/* false: no trace has such a name. */
bool sb_read_trace_name(const char *file, sb_trace_file_name *out);

/* ---- the list: list.c ------------------------------------------------------------------------ */

/* The path of a name in a directory; it ends with a NUL byte, which is not counted. */
sb_slice sb_walk_join(sb_capture_walk *w, sb_slice dir, const char *name);
/* Begins a capture. `run`: its directory. NULL: no memory, or there are too many. */
sb_capture *sb_walk_add(sb_capture_walk *w, sb_slice run, sb_slice name, sb_trace_format format);
/* Adds a file to a capture, unless it is none or is gone. false: no memory. */
bool sb_walk_add_file(sb_capture_walk *w, sb_capture *c, sb_slice dir, const char *file,
                      sb_slice name);
/* Takes the newest capture back: none of its files is there. */
void sb_walk_drop(sb_capture_walk *w);
/* Orders the files of a capture and makes its two hashes: `id` from its path, `epoch` from its
 * files as they are now. */
void sb_walk_set_ids(sb_capture_walk *w, sb_capture *c, sb_slice place);

/* ---- sessions: session.c --------------------------------------------------------------------- */

/* Is this directory a session: plugins/profile/<session>? */
bool sb_is_session(sb_slice dir);
/* Its name, and the directory of the run that it is of. */
sb_slice sb_session_name(sb_slice dir);
sb_slice sb_session_run(sb_slice dir);
/* A session is one capture. Of each host one file is taken: the XSpace if there is one. false:
 * there is no such file. */
bool sb_walk_session(sb_capture_walk *w, sb_slice dir, const char *const *names, size_t n);

/* ---- files of workers: workers.c ------------------------------------------------------------- */

/* A file that is the capture of one worker, or a part of one that several ranks made.
 *
 * Which files belong together: their names differ in digits only, or, where the names have torch's
 * timestamps and the files say of which rank of how many they are, in anything. The k-th files of
 * all workers are one capture. A name without a timestamp tells less, its digits may be those of a
 * step: unless torch's ending says that it is the name of a worker, the rank must be known. */
typedef struct sb_worker_file {
    const char *file;
    sb_trace_file_name name;
    sb_slice stem; /* files that belong together have the same one, and the same `world` */
    int64_t rank;  /* -1: unknown */
    int64_t world; /* the ranks of the program; 0: unknown */
    bool is_apart; /* it is a capture by itself */
    uint32_t span; /* this is the 1st, 2nd, 3rd... file of its worker */
} sb_worker_file;

/* Sets to which other files this one may belong. `head`: what its first bytes say. false: no
 * memory. */
bool sb_set_worker_stem(sb_capture_walk *w, sb_worker_file *f, const sb_trace_head *head);
/* Adds the captures that these files of a directory are. */
void sb_walk_workers(sb_capture_walk *w, sb_slice dir, sb_worker_file *files, size_t n);

#endif
