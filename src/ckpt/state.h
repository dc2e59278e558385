/* state.h: the file `checkpoint`: which checkpoints there are and which is the newest.
 *
 *   CheckpointState in protobuf's text format: 1 model_checkpoint_path |
 *   2 all_model_checkpoint_paths | 3 all_model_checkpoint_timestamps | 4 last_preserved_timestamp
 *
 * Readers do not scan the directory, compare numbers or look at times: the file says which one is
 * the newest, as tf.train.latest_checkpoint has it. A path in it is relative to its own directory,
 * or absolute (TF1's Saver); it may come from a stranger's log, so with SB_CKPT_BENEATH only what
 * lies beneath the directory counts.
 *
 * Two differences to TensorFlow: `*?[` in a path are plain characters (but for NAME-?????-of-00002,
 * the name of a sharded checkpoint of version 1), and an empty path is an error here, not an
 * exception.  Threads: no state.  Cost: one small file, one or two opens. */
#ifndef SB_CKPT_STATE_H
#define SB_CKPT_STATE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/env.h"
#include "fsio/fs.h"

#define SB_CKPT_STATE_FILE "checkpoint"

typedef struct sb_ckpt_state {
    sb_slice newest; /* model_checkpoint_path as it stands there */
    sb_slice *all;   /* oldest first */
    size_t count;
    double *times; /* seconds; as many as the file gives, maybe none */
    size_t time_count;
    double last_preserved; /* 0: not given */
} sb_ckpt_state;

/* Everything in *out is in the arena. SB_CORRUPT when the text is not a state. */
sb_status sb_ckpt_state_parse(sb_ckpt_state *out, sb_slice text, const sb_alloc *alloc,
                              sb_arena *arena, sb_err *err);

/* Appends the text that a state file holds. */
sb_status sb_ckpt_state_format(sb_buf *text, const sb_ckpt_state *s, const sb_alloc *alloc,
                               sb_err *err);

/* The whole state of a directory; SB_NOT_FOUND when there is no state file. name NULL:
 * SB_CKPT_STATE_FILE. Everything in *out is in the arena. */
sb_status sb_ckpt_state_read(sb_ckpt_state *out, const sb_env *env, const char *dir,
                             const char *name, sb_arena *arena, sb_err *err);
/* Writes it through a temporary name; with is_synced it is durable when this returns. */
sb_status sb_ckpt_state_write(const sb_env *env, const char *dir, const char *name,
                              const sb_ckpt_state *state, bool is_synced, sb_err *err);

typedef enum sb_ckpt_where {
    SB_CKPT_BENEATH,  /* the answer is relative to dir, and lies beneath it */
    SB_CKPT_ANYWHERE, /* the answer is a path that can be opened: "dir/ckpt-3", "/abs/ckpt-3" */
} sb_ckpt_where;

/* Appends the prefix of the newest checkpoint of a directory. SB_NOT_FOUND when there is no state
 * file, or nothing at the place it names; SB_CORRUPT when it is not one; SB_INVALID when it names
 * nothing, or a place outside. name NULL: SB_CKPT_STATE_FILE. *is_absolute (may be NULL): was the
 * path in the file absolute? */
sb_status sb_ckpt_latest(sb_buf *prefix, bool *is_absolute, const sb_fs *fs, const sb_alloc *alloc,
                         const char *dir, const char *name, sb_ckpt_where where, sb_err *err);

#endif
