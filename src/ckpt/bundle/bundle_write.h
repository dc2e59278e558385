/* bundle_write.h: writes a checkpoint: data files and, last, the index (bundle.h has the format).
 *
 *     sb_bundle_writer *w;
 *     sb_bundle_writer_open(&w, env, "run/ckpt-7", NULL, err);
 *     sb_bundle_write(w, 0, &(sb_bundle_item){.name = ..., .dtype = SB_FLOAT, ...}, err);
 *     sb_bundle_writer_finish(&w, err);          publishes it, and frees the writer
 *
 * Until finish nothing is visible under the checkpoint's name: data goes to files with temporary
 * names. finish makes them durable, renames the data files and then the index, so that after a
 * crash at any point either the old checkpoint of that name is whole or the new one is. For that,
 * the data files of a checkpoint that replaces one are numbered out of another total (-of-00002
 * instead of -of-00001): no file that the old index names is touched before the new index is there.
 * A lock on the directory keeps two processes that save the same name from mixing their files.
 *
 * Bytes: the same tensors, added in the same order, give the index and the data that TensorFlow
 * writes, except where a checkpoint of that name is replaced.
 *
 * Threads: one for each shard at a time; open and finish belong to one thread. Cost: one pass over
 * the data, which is summed and written at the same time by two threads when it is large. */
#ifndef SB_CKPT_BUNDLE_BUNDLE_WRITE_H
#define SB_CKPT_BUNDLE_BUNDLE_WRITE_H

#include "base/env.h"
#include "ckpt/bundle/bundle.h"

typedef struct sb_bundle_writer sb_bundle_writer;

/* Which index a checkpoint has: two saves of one name differ in it, whichever process made them. */
typedef struct sb_bundle_id {
    uint64_t device, inode;
    int64_t mtime_ns; /* all 0: there is none */
} sb_bundle_id;

typedef struct sb_bundle_writer_opts {
    uint32_t shards;  /* data files; 0: one */
    bool no_sync;     /* leave it to the system when bytes reach the disk, as TensorFlow does */
    unsigned threads; /* for one call; 0: as many as there are processors */
    sb_bundle_id *id; /* where finish puts it; NULL: not wanted */
} sb_bundle_writer_opts;

typedef struct sb_bundle_item {
    sb_slice name;
    sb_dtype dtype;
    uint32_t rank;
    const int64_t *dims; /* of the whole tensor */
    /* Of a partitioned variable, the piece that this is: start and length of each dimension, -1 for
     * all of it. NULL: the whole tensor. */
    const int64_t *extents;
    const void *data;        /* row-major little-endian elements */
    const sb_slice *strings; /* for SB_STRING and SB_VARIANT */
} sb_bundle_item;

/* Makes missing directories. opts may be NULL. */
sb_status sb_bundle_writer_open(sb_bundle_writer **out, const sb_env *env, const char *prefix,
                                const sb_bundle_writer_opts *opts, sb_err *err);

/* Appends one tensor to a shard. SB_INVALID for a name that is empty, too long or begins with a
 * zero byte, for a type that has no values, for shapes that make no sense. After any failure the
 * writer is of no more use: abandon it. */
sb_status sb_bundle_write(sb_bundle_writer *w, uint32_t shard, const sb_bundle_item *item,
                          sb_err *err);

/* The same for numbers that come in pieces: begin (data is not looked at), then bytes until there
 * are as many as the shape asks for, then end. */
sb_status sb_bundle_write_begin(sb_bundle_writer *w, uint32_t shard, const sb_bundle_item *item,
                                sb_err *err);
sb_status sb_bundle_write_bytes(sb_bundle_writer *w, uint32_t shard, const void *p, size_t n,
                                sb_err *err);
sb_status sb_bundle_write_end(sb_bundle_writer *w, uint32_t shard, sb_err *err);

/* Publishes the checkpoint. Frees the writer in any case; after a failure nothing of it is left and
 * what stood under the name before is whole. SB_INVALID when a name was added twice. */
sb_status sb_bundle_writer_finish(sb_bundle_writer **w, sb_err *err);
/* Removes all that was written. NULL inside is legal. */
void sb_bundle_writer_abandon(sb_bundle_writer **w);

/* Joins checkpoints that were written under temporary prefixes (by several processes, each one its
 * variables) into one: data files are renamed, not copied, in order of first use; pieces of a
 * variable may come from several. The parts' index files and their empty directories are removed.
 * SB_INVALID when a name is in two of them, or when byte orders differ. */
sb_status sb_bundle_merge(const sb_env *env, const char *const *prefixes, size_t count,
                          const char *prefix, const sb_bundle_writer_opts *opts, sb_err *err);

/* The checkpoint that has this name now. */
sb_bundle_id sb_bundle_identify(const sb_env *env, const char *prefix);
bool sb_bundle_id_eq(sb_bundle_id a, sb_bundle_id b);

/* Removes a checkpoint: the index first, so that no half one is left, then the data files that it
 * named, then PREFIX.meta. A checkpoint that is not there is fine. With `only`, one that somebody
 * else has put in its place stays; the directory should be locked then (publish.h). */
sb_status sb_bundle_remove(const sb_env *env, const char *prefix, const sb_bundle_id *only,
                           sb_err *err);

#endif
