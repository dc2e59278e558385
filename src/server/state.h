/* state.h: what people add to their runs: names, notes, pins, views. Small JSON values under keys,
 * a set for each log directory, in one SQLite file (rollback journal: homes may be on NFS). Never
 * in the log directory.
 *
 * Every change raises the set's revision and marks the changed keys with it. A change is made
 * against the revision that its author saw; when one of its keys changed since, nothing is written.
 *
 * Threads: all functions may be called from any; they run one after the other. */
#ifndef SB_SERVER_STATE_H
#define SB_SERVER_STATE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"

#define SB_STATE_MAX_KEY ((size_t)1 << 10)
#define SB_STATE_MAX_VALUE ((size_t)64 << 10)
#define SB_STATE_MAX_ALL ((size_t)64 << 20)

typedef struct sb_state sb_state;

typedef struct sb_state_item {
    sb_slice key;   /* UTF-8 */
    sb_slice value; /* JSON; .p NULL: to be removed */
} sb_state_item;

/* path NULL, or a file that can't be opened: in memory, and sb_state_hint says why. set: which log
 * directory. */
sb_status sb_state_open(sb_state **out, const sb_alloc *alloc, const char *path, sb_slice set,
                        sb_err *err);
void sb_state_close(sb_state *s);

bool sb_state_is_persistent(const sb_state *s);
/* Why not, for people; empty when it is. */
const char *sb_state_hint(const sb_state *s);

/* All items in order of their keys, in the arena, and the revision. */
sb_status sb_state_read(sb_state *s, sb_arena *arena, sb_state_item **items, size_t *n,
                        uint64_t *revision, sb_err *err);
/* SB_OK and the new revision; SB_REPLACED when a key was changed after `seen`; SB_LIMIT, SB_IO. */
sb_status sb_state_change(sb_state *s, const sb_state_item *items, size_t n, uint64_t seen,
                          uint64_t *revision, sb_err *err);

#endif
