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
 * The files are TensorFlow's checkpoint files: TensorFlow restores what is saved here, and the
 * other way round. Objects are matched by the names of the edges that lead to them, not by the
 * names of variables. A variable's numbers stay in the caller's memory: saving reads them there,
 * restoring writes them there.
 *
 * A value that is in the file, but has no object in the program yet, is kept: when an object of
 * that name is added later, it gets the value immediately (deferred restoration).
 *
 * Saving is atomic and, by default, durable: after a crash at any moment the newest complete
 * checkpoint can be found and read. A failed save leaves no file behind.
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

/* The numbers of a variable, in the caller's memory: row-major, little-endian, contiguous. The
 * memory must stay valid, at the same address, as long as the checkpoint exists. For SB_STRING the
 * elements are sb_slice: saving reads the bytes they point to, and restoring makes them point to
 * memory of the checkpoint, which is valid until the variable is restored again. */
typedef struct sb_variable {
    size_t size; /* SB_INIT */
    sb_dtype dtype;
    uint32_t rank;
    const int64_t *dims; /* copied */
    void *data;
    /* The variable's global name, for example "dense/kernel". Files without objects (TF1) are
     * matched by this name. NULL: the name that the variable is added under. */
    const char *full_name;
} sb_variable;

SB_API sb_status sb_checkpoint_new(sb_checkpoint **out, sb_err *err);
/* NULL is legal. */
SB_API void sb_checkpoint_free(sb_checkpoint *c);
SB_API sb_object *sb_checkpoint_root(sb_checkpoint *c);

/* Removes all objects and all values that restores have left; save_counter is kept. This is for
 * programs whose objects come and go: they clear the checkpoint and add all objects before each
 * save. */
SB_API void sb_checkpoint_clear(sb_checkpoint *c);

/* Adds an object without a value: a layer, a list, a dictionary. Items of lists are called "0",
 * "1", ... SB_INVALID when the parent has a child of that name. */
SB_API sb_status sb_object_add(sb_object **out, sb_object *parent, const char *name, sb_err *err);
/* Adds a variable; out may be NULL. If an earlier restore has kept a value for it, the variable
 * gets that value immediately. */
SB_API sb_status sb_object_add_variable(sb_object **out, sb_object *parent, const char *name,
                                        const sb_variable *variable, sb_err *err);
/* Adds one more edge to an object of the same checkpoint. Shared objects and cycles are allowed. */
SB_API sb_status sb_object_link(sb_object *parent, const char *name, sb_object *child, sb_err *err);
/* Adds the slot of an optimizer for a variable ("m" and "v" of Adam), which TF1's and Keras 2's
 * optimizers have. */
SB_API sb_status sb_object_add_slot(sb_object **out, sb_object *optimizer, sb_object *variable,
                                    const char *slot, const sb_variable *value, sb_err *err);

/* Sets a value that is not a variable and that the checkpoint stores itself: the saved state of a
 * Python object ("py_state", a string without dimensions), or the keys and values of a table
 * ("table-keys", "table-values"). The part of the name before the first '-' is the name of the
 * attribute; the rest is the name of its tensor. The array is copied; a second call replaces it. If
 * an earlier restore has kept a value of this name, that value is used immediately; a later restore
 * replaces the value too. The restored value must have the same type, but may have another
 * shape. */
SB_API sb_status sb_object_set_value(sb_object *object, const char *name, const sb_array *value,
                                     sb_err *err);
/* Returns the current value, which is valid until it is set or restored again. SB_NOT_FOUND when
 * there is none. */
SB_API sb_status sb_object_get_value(const sb_object *object, const char *name, sb_array *value,
                                     sb_err *err);

/* ---- saving ---------------------------------------------------------------------------------- */

typedef enum sb_durability {
    SB_DURABLE, /* everything is on the disk (fsync) when the call returns */
    /* The operating system has the data, but may not have written it to the disk yet, as with
     * TensorFlow: safe from a crash of the program, but not from a power failure. */
    SB_BUFFERED,
} sb_durability;

typedef struct sb_save_opts {
    size_t size; /* SB_INIT */
    sb_durability durability;
    uint32_t shards; /* number of data files, which are written in parallel; 0: one */
} sb_save_opts;

/* Increments save_counter, writes PREFIX-<counter>, and makes it the newest checkpoint in the state
 * file of its directory. Missing directories are created. *path (may be NULL) is set to the name
 * that was written; it is valid until the next call. opts may be NULL. */
SB_API sb_status sb_checkpoint_save(sb_checkpoint *c, const char *prefix, const sb_save_opts *opts,
                                    const char **path, sb_err *err);
/* Writes exactly PREFIX, without counting save_counter and without a state file. */
SB_API sb_status sb_checkpoint_write(sb_checkpoint *c, const char *prefix, const sb_save_opts *opts,
                                     sb_err *err);
/* Returns how often the checkpoint was saved, including saves by earlier processes from which it
 * was restored. */
SB_API int64_t sb_checkpoint_save_counter(const sb_checkpoint *c);
SB_API void sb_checkpoint_set_save_counter(sb_checkpoint *c, int64_t count);

/* ---- restoring ------------------------------------------------------------------------------- */

typedef struct sb_restore sb_restore;

/* Assigns all values of the file for which the program has objects, and keeps the others for later.
 * path is a prefix, or a file of version 1. A file without objects is matched by full_name. Types
 * and shapes are compared before anything is assigned: if they differ, SB_INVALID with a message
 * that names both sides, and nothing changes. Other failures: SB_NOT_FOUND, SB_CORRUPT, SB_IO. *out
 * (may be NULL) is valid as long as the checkpoint exists. */
SB_API sb_status sb_checkpoint_restore(sb_checkpoint *c, const char *path, sb_restore **out,
                                       sb_err *err);
/* The same without save_counter, for files that sb_checkpoint_write wrote. */
SB_API sb_status sb_checkpoint_read(sb_checkpoint *c, const char *path, sb_restore **out,
                                    sb_err *err);

/* Returns whether a restore has set this variable; or, if `value` is not NULL, the value of that
 * name (sb_object_set_value). */
SB_API bool sb_object_is_restored(const sb_object *object, const char *value);
/* Returns the name of the i-th child that a restore has values for and that this object does not
 * have yet; NULL after the last one. The name is valid as long as the checkpoint exists. */
SB_API const char *sb_object_awaited(const sb_object *object, size_t i);
/* The same for the slots that an optimizer does not have yet for this variable. */
SB_API const char *sb_object_awaited_slot(const sb_object *optimizer, const sb_object *variable,
                                          size_t i);

/* Each of the three functions below returns SB_OK, or SB_INVALID with a message that names what the
 * file contains and what the program has instead. */
/* Checks that every value of the file was used and every variable of the program was restored. */
SB_API sb_status sb_restore_assert_consumed(sb_restore *r, sb_err *err);
/* Checks that all variables of the program were restored. */
SB_API sb_status sb_restore_assert_existing_objects_matched(sb_restore *r, sb_err *err);
/* Checks that at least one object other than the root was matched. */
SB_API sb_status sb_restore_assert_nontrivial_match(sb_restore *r, sb_err *err);

/* Returns the key of the i-th value of the file that no object has used yet; NULL after the last
 * one. TensorFlow prints a warning about these when the program ends. */
SB_API const char *sb_restore_unused(sb_restore *r, size_t i);
/* Declares that the program uses only a part of the file on purpose: sb_restore_unused then lists
 * nothing. Objects that are added later still get their values. */
SB_API void sb_restore_expect_partial(sb_restore *r);

/* ---- the newest checkpoint ------------------------------------------------------------------- */

/* Copies the prefix that the state file of a directory names, as tf.train.latest_checkpoint does,
 * into path, which has room for n bytes including the NUL. SB_NOT_FOUND when there is none. */
SB_API sb_status sb_latest_checkpoint(const char *directory, char *path, size_t n, sb_err *err);

/* ---- a manager: tf.train.CheckpointManager --------------------------------------------------- */

typedef struct sb_manager sb_manager;

typedef struct sb_manager_opts {
    size_t size; /* SB_INIT */
    const char *directory;
    const char *checkpoint_name; /* default "ckpt" */
    uint64_t max_to_keep;        /* 0: all */
    /* 0: no checkpoint is kept in addition to the newest max_to_keep */
    double keep_every_n_hours;
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

/* Saves DIRECTORY/NAME-<number>; for SB_NEXT_NUMBER the number is save_counter. Then deletes the
 * oldest checkpoints of this manager beyond max_to_keep. *path (may be NULL) is set to the name
 * that was written, or to NULL when checkpoint_interval has not passed yet and nothing was saved;
 * it is valid until the next call. */
SB_API sb_status sb_manager_save(sb_manager *m, int64_t number, const char **path, sb_err *err);
/* Restores the newest checkpoint if there is one; otherwise calls init. *path is set to the
 * restored checkpoint, or to NULL. */
SB_API sb_status sb_manager_restore_or_initialize(sb_manager *m, const char **path, sb_err *err);

/* Returns the newest checkpoint; NULL: there is none. */
SB_API const char *sb_manager_latest(const sb_manager *m);
/* Returns the i-th checkpoint that is kept, oldest first; NULL after the last one. */
SB_API const char *sb_manager_at(const sb_manager *m, size_t i);

/* ---- a saver: tf.compat.v1.train.Saver ------------------------------------------------------- */

/* Saves variables by name, without an object graph, as TF1 programs do. */
typedef struct sb_saver sb_saver;

#define SB_KEEP_ALL UINT64_MAX
#define SB_NO_STEP INT64_MIN

typedef struct sb_saver_opts {
    size_t size; /* SB_INIT */
    /* default 5; SB_KEEP_ALL: nothing is deleted, and the state file lists only the newest */
    uint64_t max_to_keep;
    double keep_every_n_hours; /* default 10000 */
    uint32_t pad_step_number;  /* not 0: the step number is padded to eight digits */
    /* not 0: the state file has relative paths even when the directory is absolute */
    uint32_t relative_paths;
    sb_durability durability;
    uint32_t shards; /* 0: one */
    /* not 0: a variable may be restored from another shape with the same number of elements */
    uint32_t reshape;
    const char *latest_filename; /* name of the state file; default "checkpoint" */
    /* not 0: no state file is written, and no checkpoint is ever deleted */
    uint64_t no_state;
} sb_saver_opts;

/* opts may be NULL. */
SB_API sb_status sb_saver_new(sb_saver **out, const sb_saver_opts *opts, sb_err *err);
/* NULL is legal. */
SB_API void sb_saver_free(sb_saver *s);
/* Adds a variable. The name is its key in the file; full_name is ignored. */
SB_API sb_status sb_saver_add(sb_saver *s, const char *name, const sb_variable *variable,
                              sb_err *err);

/* Adopts checkpoints that an earlier process wrote, oldest first: those that exist replace the list
 * of checkpoints, from which the oldest are deleted by later saves. */
SB_API sb_status sb_saver_recover_last_checkpoints(sb_saver *s, const char *const *paths,
                                                   size_t count, sb_err *err);
/* Returns the i-th checkpoint of the list, oldest first; NULL after the last one. */
SB_API const char *sb_saver_at(const sb_saver *s, size_t i);

/* Writes PATH-<step>, or PATH for SB_NO_STEP, and the state file. When meta_graph (an encoded
 * MetaGraphDef) is not empty, it is written to the .meta file. Then deletes the oldest checkpoint
 * that this saver wrote, if there are more than max_to_keep. *written (may be NULL) is valid until
 * the next call. */
SB_API sb_status sb_saver_save(sb_saver *s, const char *path, int64_t step, sb_slice meta_graph,
                               const char **written, sb_err *err);
/* Restores all variables, or none: SB_NOT_FOUND lists those that are missing. In an object-based
 * file variables are found by their full names. */
SB_API sb_status sb_saver_restore(sb_saver *s, const char *path, sb_err *err);

/* ---- tensors by name ------------------------------------------------------------------------- */

/* A checkpoint that is open for reading. All functions except close may be called from several
 * threads at once. */
typedef struct sb_ckpt sb_ckpt;

typedef struct sb_ckpt_tensor {
    sb_slice name; /* a NUL follows */
    sb_dtype dtype;
    uint32_t rank;
    const int64_t *dims;
    uint64_t count;  /* number of elements */
    uint64_t bytes;  /* size of all elements; for strings the size as stored */
    uint32_t pieces; /* number of pieces of a partitioned variable; 0: it was saved whole */
} sb_ckpt_tensor;

/* path is a prefix, a file of version 1, or a directory, whose newest checkpoint is opened. */
SB_API sb_status sb_ckpt_open(sb_ckpt **out, const char *path, sb_err *err);
/* NULL is legal. */
SB_API void sb_ckpt_close(sb_ckpt *c);
/* The tensors in byte order of their names; they are valid until close. */
SB_API size_t sb_ckpt_count(const sb_ckpt *c);
SB_API const sb_ckpt_tensor *sb_ckpt_at(const sb_ckpt *c, size_t i);
/* NULL: there is none of that name. */
SB_API const sb_ckpt_tensor *sb_ckpt_find(const sb_ckpt *c, const char *name);

/* Reads the numbers of a tensor, or of a rectangular part of it, into exactly n bytes at to.
 * extents has start and length for each dimension, with length -1 for the whole dimension; NULL:
 * the whole tensor. Every checksum is verified. */
SB_API sb_status sb_ckpt_read(sb_ckpt *c, const sb_ckpt_tensor *t, const int64_t *extents, void *to,
                              size_t n, sb_err *err);
/* Reads whole tensors in parallel on all processors: t[i] into t[i]->bytes bytes at to[i]. */
SB_API sb_status sb_ckpt_read_many(sb_ckpt *c, const sb_ckpt_tensor *const *t, void *const *to,
                                   size_t count, sb_err *err);
/* Returns the t->count strings of a tensor, which are valid until close. For a variant tensor each
 * is a serialized message. */
SB_API sb_status sb_ckpt_strings(sb_ckpt *c, const sb_ckpt_tensor *t, const sb_slice **out,
                                 sb_err *err);
/* Maps the data file into memory (mmap) and returns the bytes of a tensor, without a copy. They are
 * verified, and valid until close. Only for files that are not changed any more. The address may
 * be unaligned. SB_INVALID for partitioned tensors, strings, and files in the other byte order. */
SB_API sb_status sb_ckpt_map(sb_ckpt *c, const sb_ckpt_tensor *t, sb_slice *out, sb_err *err);

/* Writes a checkpoint of named tensors. The checkpoint becomes visible in sb_ckpt_finish, not
 * before. */
typedef struct sb_ckpt_writer sb_ckpt_writer;

/* opts may be NULL. */
SB_API sb_status sb_ckpt_writer_open(sb_ckpt_writer **out, const char *prefix,
                                     const sb_save_opts *opts, sb_err *err);
/* Adds a tensor: a contiguous array (without strides); for SB_STRING and SB_VARIANT the elements
 * are sb_slice. If extents is not NULL, the array is this rectangular part of a tensor of shape
 * dims, whose other parts are added by other calls or are in other checkpoints. NULL: it is the
 * whole tensor, and dims is ignored. */
SB_API sb_status sb_ckpt_add(sb_ckpt_writer *w, const char *name, const sb_array *array,
                             const int64_t *dims, const int64_t *extents, sb_err *err);
/* Makes the checkpoint visible. Frees the writer, even on failure. */
SB_API sb_status sb_ckpt_finish(sb_ckpt_writer *w, sb_err *err);
/* Deletes everything that was written, and frees the writer. NULL is legal. */
SB_API void sb_ckpt_abandon(sb_ckpt_writer *w);
/* Merges checkpoints that several processes wrote under temporary prefixes into one. The data files
 * are moved, not copied. */
SB_API sb_status sb_ckpt_merge(const char *const *prefixes, size_t count, const char *prefix,
                               const sb_save_opts *opts, sb_err *err);

#ifdef __cplusplus
}
#endif
#endif
