/* publish.h: the last step of writing a checkpoint: from data files under temporary names and a
 * list of entries to a checkpoint under its own name. bundle_write.h says what holds after a crash.
 *
 *   lock the directory
 *   write PREFIX.index.tempstateN, fsync it
 *   rename the data files, fsync the directory
 *   rename the index, fsync the directory       here the new checkpoint takes the old one's place
 *   remove the data files of the old one */
#ifndef SB_CKPT_BUNDLE_PUBLISH_H
#define SB_CKPT_BUNDLE_PUBLISH_H

#include "base/env.h"
#include "ckpt/bundle/bundle_int.h"
#include "ckpt/bundle/bundle_write.h"

typedef struct sb_publish {
    const sb_env *env;
    const char *prefix;
    bool is_synced;
    bool is_big_endian;
    sb_bundle_entries *entries; /* sorted by name here; shard says which data file */
    char *const *data;          /* paths of the data files as they are now, synced already */
    uint32_t shards;
    /* The data files are those of other checkpoints: after a failure they go back there. */
    bool is_moved;
    uint64_t seed;    /* for temporary names */
    sb_bundle_id *id; /* gets that of the new checkpoint; NULL: not wanted */
} sb_publish;

/* After a failure no data file of this checkpoint is left under any name (but see is_moved). */
sb_status sb_publish_bundle(const sb_publish *p, sb_err *err);

/* Paths are at most this long, NUL included. */
#define SB_CKPT_PATH 4096

/* The directory of a path: "." when it has none. False when it is too long. */
bool sb_directory_of(char dir[SB_CKPT_PATH], const char *path);
/* Keeps other processes from publishing or removing checkpoints in a directory, and from changing
 * its state file, until sb_unlock_directory gets the answer. Where locks are refused nothing is
 * held. A thread that has it must not ask for it again: it would wait for itself. */
int sb_lock_directory(const sb_fs *fs, const char *dir);
void sb_unlock_directory(const sb_fs *fs, int lock);
/* fsync of a directory, so that renames in it are durable. */
sb_status sb_sync_directory(const sb_fs *fs, const char *dir, sb_err *err);
/* Opens a new file PATH.tempstateN; N grows until there is none of that name. *path is
 * allocated, path_size bytes. */
sb_status sb_open_temporary(int *file, const sb_env *env, const char *base, uint64_t *seed,
                            char **path, size_t *path_size, sb_err *err);
/* Removes PREFIX.data-?????-of-NNNNN for every N but `kept` (0: for every N). What can't be removed
 * is left. */
void sb_remove_data_files(const sb_env *env, const char *prefix, uint32_t kept);

#endif
