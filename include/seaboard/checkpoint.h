/* checkpoint.h: saves and restores variables in TensorFlow's checkpoint files.
 *
 *     float w[3][2], b[2];
 *     sb_checkpoint *c;
 *     sb_object *model;
 *     sb_restore *restored;
 *     sb_err err;
 *     sb_checkpoint_new(&c, &err);                                 tf.train.Checkpoint(model=...)
 *     sb_object_add(&model, sb_checkpoint_root(c), "model", &err);
 *     sb_object_add_variable(NULL, model, "w", &SB_INIT(sb_variable, .dtype = SB_FLOAT, .rank = 2,
 *         .dims = (int64_t[]){3, 2}, .data = w), &err);
 *     if (sb_latest_checkpoint("run", path, sizeof path, &err) == SB_OK) {
 *         sb_checkpoint_restore(c, path, &restored, &err);
 *         if (sb_restore_assert_consumed(restored, &err) != SB_OK) return puts(err.text), 1;
 *     }
 *     ... train ...
 *     sb_checkpoint_save(c, "run/ckpt", NULL, NULL, &err);         run/ckpt-1, run/ckpt-2, ...
 *     sb_checkpoint_free(c);
 *
 * The files are those that TensorFlow writes: it restores what is saved here, and the other way
 * round. Objects are matched by the names of the edges that lead to them, not by the names of
 * variables. A variable's numbers stay in the caller's memory: saving reads them there, restoring
 * writes them there.
 *
 * Values that the file has and the program does not have yet are kept: when an object of that name
 * is added later, it gets its value at once.
 *
 * Saving is atomic and, unless told otherwise, durable: after a crash at any moment the newest
 * complete checkpoint is found and whole. A failed save leaves no file behind.
 *
 * Ownership: objects belong to their checkpoint and live as long as it does; so do the results of
 * restoring. Names are copied. Threads: a checkpoint belongs to one thread at a time. */
#ifndef SEABOARD_CHECKPOINT_H
#define SEABOARD_CHECKPOINT_H

#include <stdbool.h>

#include "seaboard/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- objects --------------------------------------------------------------------------------- */

typedef struct sb_checkpoint sb_checkpoint;
typedef struct sb_object sb_object;

/* Numbers in the caller's memory: row-major, little-endian, contiguous. They must stay where they
 * are as long as the checkpoint lives. Of SB_STRING the elements are sb_slice: saving reads what
 * they point to, and restoring lets them point to memory of the checkpoint, which is valid until
 * the variable is restored again. */
typedef struct sb_variable {
    size_t size; /* SB_INIT */
    sb_dtype dtype;
    uint32_t rank;
    const int64_t *dims; /* copied */
    void *data;
    const char *full_name; /* the variable's global name, as in "dense/kernel"; what files without
                              objects (TF1) are matched by. NULL: the name it is added under */
} sb_variable;

SB_API sb_status sb_checkpoint_new(sb_checkpoint **out, sb_err *err);
/* NULL is legal. */
SB_API void sb_checkpoint_free(sb_checkpoint *c);
SB_API sb_object *sb_checkpoint_root(sb_checkpoint *c);

/* Removes all objects and all that was left by restores; save_counter stays. For programs whose
 * objects come and go, which add them anew before each save. */
SB_API void sb_checkpoint_clear(sb_checkpoint *c);

/* Adds an object without a value: a layer, a list, a dictionary. Items of lists are called "0",
 * "1", ... SB_INVALID when the parent has a child of that name. */
SB_API sb_status sb_object_add(sb_object **out, sb_object *parent, const char *name, sb_err *err);
/* Adds a variable; out may be NULL. When a restore left a value for it, it gets that at once. */
SB_API sb_status sb_object_add_variable(sb_object **out, sb_object *parent, const char *name,
                                        const sb_variable *variable, sb_err *err);
/* One more edge to an object of the same checkpoint; shared objects and cycles are fine. */
SB_API sb_status sb_object_link(sb_object *parent, const char *name, sb_object *child, sb_err *err);
/* The slot of an optimizer for a variable ("m" and "v" of Adam), as TF1's and Keras 2's optimizers
 * have them. */
SB_API sb_status sb_object_add_slot(sb_object **out, sb_object *optimizer, sb_object *variable,
                                    const char *slot, const sb_variable *value, sb_err *err);

/* Values that are not variables, which the checkpoint keeps itself: what Python objects save
 * ("py_state", a string without dimensions), the keys and values of a table ("table-keys",
 * "table-values"). All before the first '-' is the name of the attribute, the rest that of its
 * tensor. The array is copied; a second call replaces it. When a restore left a value for it, it
 * gets that at once, and a later restore replaces it too; the type must be the same, the shape need
 * not be. */
SB_API sb_status sb_object_set_value(sb_object *object, const char *name, const sb_array *value,
                                     sb_err *err);
/* The value as it is now, until it is set or restored again. SB_NOT_FOUND. */
SB_API sb_status sb_object_get_value(const sb_object *object, const char *name, sb_array *value,
                                     sb_err *err);

/* ---- saving ---------------------------------------------------------------------------------- */

typedef enum sb_durability {
    SB_DURABLE,  /* everything is on the disk when the call returns */
    SB_BUFFERED, /* the system has it, as TensorFlow leaves it: safe from a crash of the program,
                    not from a power cut */
} sb_durability;

typedef struct sb_save_opts {
    size_t size; /* SB_INIT */
    sb_durability durability;
    uint32_t shards; /* data files, written at the same time; 0: one */
} sb_save_opts;

/* Counts save_counter up, writes PREFIX-<counter>, makes it the newest in the state file of its
 * directory. Missing directories are made. *path (may be NULL): what was written; valid until the
 * next call. opts may be NULL. */
SB_API sb_status sb_checkpoint_save(sb_checkpoint *c, const char *prefix, const sb_save_opts *opts,
                                    const char **path, sb_err *err);
/* Writes exactly PREFIX; no counter, no state file. */
SB_API sb_status sb_checkpoint_write(sb_checkpoint *c, const char *prefix, const sb_save_opts *opts,
                                     sb_err *err);
/* How often it was saved, in all processes that restored it. */
SB_API int64_t sb_checkpoint_save_counter(const sb_checkpoint *c);
SB_API void sb_checkpoint_set_save_counter(sb_checkpoint *c, int64_t count);

/* ---- restoring ------------------------------------------------------------------------------- */

typedef struct sb_restore sb_restore;

/* Assigns all values of the file for which there are objects, and keeps the others for later. path:
 * a prefix, or a file of version 1. A file without objects is matched by full_name. Types and
 * shapes are compared before anything is assigned: SB_INVALID names both sides. SB_NOT_FOUND,
 * SB_CORRUPT, SB_IO. *out (may be NULL) lives as long as the checkpoint. */
SB_API sb_status sb_checkpoint_restore(sb_checkpoint *c, const char *path, sb_restore **out,
                                       sb_err *err);
/* The same for what sb_checkpoint_write wrote: without save_counter. */
SB_API sb_status sb_checkpoint_read(sb_checkpoint *c, const char *path, sb_restore **out,
                                    sb_err *err);

/* Whether a restore has set this variable, or with a name that value (sb_object_set_value). */
SB_API bool sb_object_is_restored(const sb_object *object, const char *value);
/* The name of the i-th child that a restore has values for and this object does not have yet; NULL
 * behind the last. It lives as long as the checkpoint. */
SB_API const char *sb_object_awaited(const sb_object *object, size_t i);
/* The same for the slots that an optimizer does not have yet for one of the variables. */
SB_API const char *sb_object_awaited_slot(const sb_object *optimizer, const sb_object *variable,
                                          size_t i);

/* Each answers SB_OK or SB_INVALID with a message that names what the file has and what the program
 * has instead. */
/* All of the file was used and all of the program was restored. */
SB_API sb_status sb_restore_assert_consumed(sb_restore *r, sb_err *err);
/* All variables of the program were restored. */
SB_API sb_status sb_restore_assert_existing_objects_matched(sb_restore *r, sb_err *err);
/* Something besides the root was matched. */
SB_API sb_status sb_restore_assert_nontrivial_match(sb_restore *r, sb_err *err);

/* The key of the i-th value that no object has asked for yet; NULL behind the last. What TensorFlow
 * warns of when the program ends. */
SB_API const char *sb_restore_unused(sb_restore *r, size_t i);
/* The program wants only some of the file: what is unused is not worth a warning, and
 * sb_restore_unused names nothing. Objects that come later still get their values. */
SB_API void sb_restore_expect_partial(sb_restore *r);

/* ---- the newest checkpoint ------------------------------------------------------------------- */

/* The prefix that the state file of a directory names, as tf.train.latest_checkpoint has it. At
 * most n bytes with the NUL. SB_NOT_FOUND when there is none. */
SB_API sb_status sb_latest_checkpoint(const char *directory, char *path, size_t n, sb_err *err);

/* ---- a manager: tf.train.CheckpointManager --------------------------------------------------- */

typedef struct sb_manager sb_manager;

typedef struct sb_manager_opts {
    size_t size; /* SB_INIT */
    const char *directory;
    const char *checkpoint_name;              /* default "ckpt" */
    uint64_t max_to_keep;                     /* 0: all */
    double keep_every_n_hours;                /* 0: none is kept beyond max_to_keep */
    const int64_t *step_counter;              /* NULL: none */
    int64_t checkpoint_interval;              /* steps between two saves; needs a step_counter */
    sb_status (*init)(void *ud, sb_err *err); /* for sb_manager_restore_or_initialize */
    void *init_ud;
    sb_save_opts save; /* .size may be left 0 here */
} sb_manager_opts;

/* Reads the state file of the directory. The checkpoint must outlive the manager. */
SB_API sb_status sb_manager_open(sb_manager **out, sb_checkpoint *c, const sb_manager_opts *opts,
                                 sb_err *err);
/* NULL is legal. */
SB_API void sb_manager_close(sb_manager *m);

#define SB_NEXT_NUMBER INT64_MIN

/* Saves DIRECTORY/NAME-<number>, number being save_counter for SB_NEXT_NUMBER. Then removes the
 * oldest ones of its own beyond max_to_keep. *path (may be NULL): what was written, NULL when the
 * step counter says that it is not time yet; valid until the next call. */
SB_API sb_status sb_manager_save(sb_manager *m, int64_t number, const char **path, sb_err *err);
/* Restores the newest one if there is one, else calls init. *path as above. */
SB_API sb_status sb_manager_restore_or_initialize(sb_manager *m, const char **path, sb_err *err);

/* The newest one; NULL: none. */
SB_API const char *sb_manager_latest(const sb_manager *m);
/* The i-th of those that are kept, oldest first; NULL behind the last. */
SB_API const char *sb_manager_at(const sb_manager *m, size_t i);

/* ---- a saver: tf.compat.v1.train.Saver ------------------------------------------------------- */

/* Variables by name, without objects: what TF1 programs save. */
typedef struct sb_saver sb_saver;

#define SB_KEEP_ALL UINT64_MAX
#define SB_NO_STEP INT64_MIN

typedef struct sb_saver_opts {
    size_t size;               /* SB_INIT */
    uint64_t max_to_keep;      /* default 5; SB_KEEP_ALL: the state file lists only the newest */
    double keep_every_n_hours; /* default 10000 */
    uint32_t pad_step_number;  /* not 0: the step with eight digits */
    uint32_t
        relative_paths; /* not 0: the state file has them even when the directory is absolute */
    sb_durability durability;
    uint32_t shards;  /* 0: one */
    uint32_t reshape; /* not 0: restores a variable of another shape with as many elements */
    const char *latest_filename; /* of the state file; default "checkpoint" */
    uint64_t no_state;           /* not 0: no state file is written, and nothing is ever removed */
} sb_saver_opts;

/* opts may be NULL. */
SB_API sb_status sb_saver_new(sb_saver **out, const sb_saver_opts *opts, sb_err *err);
/* NULL is legal. */
SB_API void sb_saver_free(sb_saver *s);
/* The name is the variable's key in the file; full_name is not looked at. */
SB_API sb_status sb_saver_add(sb_saver *s, const char *name, const sb_variable *variable,
                              sb_err *err);

/* Takes checkpoints that an earlier process wrote as its own, oldest first: those that are there
 * replace the list from which the oldest are removed. */
SB_API sb_status sb_saver_recover_last_checkpoints(sb_saver *s, const char *const *paths,
                                                   size_t count, sb_err *err);
/* The i-th of the list, oldest first; NULL behind the last. */
SB_API const char *sb_saver_at(const sb_saver *s, size_t i);

/* Writes PATH-<step>, or PATH with SB_NO_STEP; its .meta from an encoded MetaGraphDef when that is
 * not empty; the state file. Then removes the oldest one beyond max_to_keep that it wrote itself.
 * *written (may be NULL) is valid until the next call. */
SB_API sb_status sb_saver_save(sb_saver *s, const char *path, int64_t step, sb_slice meta_graph,
                               const char **written, sb_err *err);
/* All variables, or none: SB_NOT_FOUND lists those that are missing. From an object-based file they
 * are taken by their full names. */
SB_API sb_status sb_saver_restore(sb_saver *s, const char *path, sb_err *err);

/* ---- tensors by name ------------------------------------------------------------------------- */

/* An open checkpoint. All functions but close may be called from several threads at once. */
typedef struct sb_ckpt sb_ckpt;

typedef struct sb_ckpt_tensor {
    sb_slice name; /* a NUL follows */
    sb_dtype dtype;
    uint32_t rank;
    const int64_t *dims;
    uint64_t count;  /* elements */
    uint64_t bytes;  /* of all elements; of strings as they are stored */
    uint32_t pieces; /* of a partitioned variable; 0: saved whole */
} sb_ckpt_tensor;

/* path: a prefix, a file of version 1, or a directory, of which the newest checkpoint is taken. */
SB_API sb_status sb_ckpt_open(sb_ckpt **out, const char *path, sb_err *err);
/* NULL is legal. */
SB_API void sb_ckpt_close(sb_ckpt *c);
/* Tensors in byte order of their names; they live until close. */
SB_API size_t sb_ckpt_count(const sb_ckpt *c);
SB_API const sb_ckpt_tensor *sb_ckpt_at(const sb_ckpt *c, size_t i);
/* NULL: there is none of that name. */
SB_API const sb_ckpt_tensor *sb_ckpt_find(const sb_ckpt *c, const char *name);

/* The numbers of a tensor, or of a box of it, into exactly n bytes at to. extents: start and length
 * of each dimension, -1 for all of it; NULL: the whole tensor. Every checksum is verified. */
SB_API sb_status sb_ckpt_read(sb_ckpt *c, const sb_ckpt_tensor *t, const int64_t *extents, void *to,
                              size_t n, sb_err *err);
/* Whole tensors, t[i] into t[i]->bytes bytes at to[i], on all processors. */
SB_API sb_status sb_ckpt_read_many(sb_ckpt *c, const sb_ckpt_tensor *const *t, void *const *to,
                                   size_t count, sb_err *err);
/* The strings of a tensor (of a variant: each a serialized message), t->count of them, until
 * close. */
SB_API sb_status sb_ckpt_strings(sb_ckpt *c, const sb_ckpt_tensor *t, const sb_slice **out,
                                 sb_err *err);
/* The bytes of a tensor in a mapping of its data file, until close; verified. For files that nobody
 * changes any more. They may lie at an address that is no multiple of the element's size.
 * SB_INVALID for tensors in pieces, strings, and the other byte order. */
SB_API sb_status sb_ckpt_map(sb_ckpt *c, const sb_ckpt_tensor *t, sb_slice *out, sb_err *err);

/* Writes a checkpoint of named tensors. It appears when it is finished. */
typedef struct sb_ckpt_writer sb_ckpt_writer;

/* opts may be NULL. */
SB_API sb_status sb_ckpt_writer_open(sb_ckpt_writer **out, const char *prefix,
                                     const sb_save_opts *opts, sb_err *err);
/* A contiguous array (without strides); for SB_STRING and SB_VARIANT the elements are sb_slice.
 * extents: the array is this box of a tensor of shape dims, whose other pieces come in other calls
 * or other checkpoints; NULL: it is the whole tensor and dims is not looked at. */
SB_API sb_status sb_ckpt_add(sb_ckpt_writer *w, const char *name, const sb_array *array,
                             const int64_t *dims, const int64_t *extents, sb_err *err);
/* Publishes it; frees the writer even on failure. */
SB_API sb_status sb_ckpt_finish(sb_ckpt_writer *w, sb_err *err);
/* Removes all that was written. NULL is legal. */
SB_API void sb_ckpt_abandon(sb_ckpt_writer *w);
/* Joins checkpoints that several processes wrote under temporary prefixes; the files are moved. */
SB_API sb_status sb_ckpt_merge(const char *const *prefixes, size_t count, const char *prefix,
                               const sb_save_opts *opts, sb_err *err);

#ifdef __cplusplus
}
#endif
#endif
