/* projector.h: embeddings: which runs have some, and their vectors, labels and pictures.
 *
 * Nothing of this is in event files. A run's directory (or plugins/org_tensorflow_... inside it)
 * may hold projector_config.pbtxt, a ProjectorConfig in text format: names, and paths of files
 * beside it. Tensors are in such files (text with tabs, or raw float32) or in the run's newest
 * checkpoint, every matrix of which is offered (but for the optimizer's).
 *
 * Every path in a config or in a checkpoint's state comes from the log and is not trusted. Each is
 * opened beneath the directory of the file that names it, or not at all (fsio/beneath.h).
 *
 * Differences to TensorBoard: model_checkpoint_path is relative to the config, not to where the
 * server was started, and stays beneath it; the parent of the log directory is not searched for
 * checkpoints; a config that can't be read costs its run only, not all of them.
 *
 * Threads: any; everything is read anew each time.  Cost: a few opens per run; a checkpoint's index
 * where there is one; the file for a tensor. */
#ifndef SB_QUERY_KINDS_PROJECTOR_H
#define SB_QUERY_KINDS_PROJECTOR_H

#include "base/arena.h"
#include "base/buf.h"
#include "fsio/fs.h"
#include "query/budget.h"

#define SB_PROJECTOR_CONFIG "projector_config.pbtxt"
#define SB_PROJECTOR_ASSETS "plugins/org_tensorflow_tensorboard_projector"

typedef struct sb_embedding_info {
    sb_slice name; /* of the tensor, without ":0" */
    sb_slice metadata_path, bookmarks_path, tensor_path, image_path;
    const uint32_t *shape;
    size_t shape_n;
    const uint32_t *image_dims; /* of one picture in the sprite: width, height */
    size_t image_dim_n;
    bool has_sprite;
} sb_embedding_info;

typedef struct sb_projector_run {
    sb_slice name;
    const char *dir;      /* of the config: paths are beneath it */
    sb_slice config_path; /* to be shown; there need not be one */
    sb_slice checkpoint;  /* to be shown; empty: none */
    sb_slice model_dir;   /* model_checkpoint_dir, only shown */
    sb_embedding_info *embeddings;
    size_t n;
    /* how the checkpoint is opened */
    const char *checkpoint_dir;
    sb_slice checkpoint_prefix;
} sb_projector_run;

/* Where a run is. */
typedef struct sb_projector_place {
    sb_slice name;
    const char *path;
} sb_projector_place;

typedef struct sb_projector {
    const sb_fs *fs;
    const sb_alloc *alloc;
    sb_arena *arena; /* of all that is found */
    const sb_budget *budget;
    size_t max_file; /* larger files are SB_LIMIT */
    const sb_projector_place *places;
    size_t place_n;
    const char *logdir; /* offered as "." when no run is called so; NULL: not */
} sb_projector;

/* All runs with embeddings, in the order of places. only: just the one of that name (.p NULL: all);
 * with first, the first that is found will do. Runs that can't be read are left out. SB_NOMEM,
 * SB_TIMEOUT. */
sb_status sb_projector_find(const sb_projector *p, sb_slice only, bool first,
                            sb_projector_run **out, size_t *n, sb_err *err);
/* Fills in the shapes of tensors in files that the config leaves out, where they can be read. */
sb_status sb_projector_shapes(const sb_projector *p, sb_projector_run *run, sb_err *err);

/* The embedding of that name, with or without ":0"; NULL: none. */
const sb_embedding_info *sb_projector_embedding(const sb_projector_run *run, sb_slice name);

/* A tensor or a file that is read in pieces, with a descriptor of its own. It uses fs and alloc of
 * the projector, nothing else of it. */
typedef struct sb_projector_source sb_projector_source;

/* A tensor as float32, row-major; max_rows 0: all. SB_NOT_FOUND: neither a file nor in the
 * checkpoint; SB_INVALID: its path leads outside; SB_CORRUPT: neither text nor raw of that
 * shape. A text is looked at from the first line to the last before. */
sb_status sb_projector_open_tensor(const sb_projector *p, const sb_projector_run *run,
                                   sb_slice name, uint64_t max_rows, sb_projector_source **out,
                                   sb_err *err);
/* A file that the config names; max_lines 0: all of it, else so many lines, and one more when the
 * first has a tab, since it is a header then. SB_NOT_FOUND, SB_INVALID as above. */
sb_status sb_projector_open_asset(const sb_projector *p, const sb_projector_run *run, sb_slice path,
                                  uint64_t max_lines, sb_projector_source **out, sb_err *err);
/* What an asset begins with, without reading on: how many bytes. */
size_t sb_projector_head(const sb_projector_source *s, void *to, size_t n);
/* Appends the next piece, a few hundred kilobytes. SB_OK: more follows; SB_END: that was the
 * last. */
sb_status sb_projector_read(sb_projector_source *s, sb_buf *out, sb_err *err);
/* NULL is fine. */
void sb_projector_close(sb_projector_source *s);

#endif
