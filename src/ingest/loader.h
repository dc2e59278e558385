/* loader.h: one run being read: its files, how far each is, and the work of one turn.
 *
 * A loader works in turns of bounded length, so that many runs share few threads fairly and newly
 * found files are not kept waiting. Between turns the ingest thread may change its list of files.
 * Threads: one at a time: the ingest thread between turns, a pool thread during one. */
#ifndef SB_INGEST_LOADER_H
#define SB_INGEST_LOADER_H

#include <stdatomic.h>

#include "base/env.h"
#include "base/vec.h"
#include "ingest/watch.h"
#include "logdir/discover.h"
#include "logdir/tail.h"
#include "store/store.h"

typedef struct sb_loader_file {
    char *path;
    size_t path_n;
    sb_tail *tail;   /* NULL: not open yet, or closed after trouble */
    uint32_t number; /* in the store */
    uint64_t device, inode;
    uint64_t size;    /* as the last look found it */
    int64_t mtime_ns; /* likewise */
    uint64_t done;    /* bytes read and taken */
    uint64_t grew_at; /* steady time of the last growth */
    uint64_t points, misfits, unreadable, dropped;
    uint64_t retry_at; /* after an error: not read again before this steady time */
    bool has_news;     /* there may be something to read */
    bool is_gone;      /* deleted: the next turn drops its points */
    bool is_found;     /* seen by the present walk */
    bool is_stale;     /* its points in the store are incomplete: to be read from its start again */
    char trouble[240];
} sb_loader_file;

#define SB_LOADER_BUSY 1u      /* a turn is queued or running */
#define SB_LOADER_AGAIN 2u     /* something changed that a turn may have passed already */
#define SB_LOADER_CAUGHT_UP 4u /* all files were read to their end once */

typedef struct sb_loader {
    const sb_env *env;
    sb_run *run;
    char *path;         /* of the directory */
    uint32_t root;      /* which of the ingest's roots it was found in */
    sb_watched watched; /* the ingest thread's */
    SB_VEC(sb_loader_file) files;
    _Atomic unsigned flags; /* SB_LOADER_... */
    bool is_found;          /* seen by the present walk */
    bool is_updated;        /* its files were checked since the last sync request */
    /* Kept up to date, so that progress can be shown: */
    _Atomic uint64_t bytes, bytes_done, points, files_seen;
} sb_loader;

sb_status sb_loader_new(sb_loader **out, const sb_env *env, sb_store *store, sb_slice name,
                        sb_slice path, sb_err *err);
void sb_loader_free(sb_loader *l);

/* Paths that a walk could not read: what is below them is unknown, not gone. */
typedef struct sb_hidden {
    const sb_found_problem *items;
    size_t n;
} sb_hidden;

/* Takes over what a walk found in the run's directory: new files, grown, replaced and vanished
 * ones. A file that the walk could not look at has not vanished. *grown counts the known files
 * whose size changed. */
sb_status sb_loader_update(sb_loader *l, const sb_found_run *found, sb_hidden hidden,
                           size_t *grown);
/* Is one of its files, or a directory above it, among what the walk could not look at? */
bool sb_loader_is_hidden(const sb_loader *l, sb_hidden hidden);
/* Files with trouble are tried again now and not in a while. */
void sb_loader_retry(sb_loader *l);
/* Looks at the sizes of files that grew lately (all of them when all is true). Returns how many
 * changed. */
size_t sb_loader_look(sb_loader *l, bool all);
/* Is there something to read or to drop? */
bool sb_loader_has_news(const sb_loader *l);
/* Did a file grow within the last ns nanoseconds? */
bool sb_loader_is_live(const sb_loader *l, uint64_t ns);

/* Reads for at most ns nanoseconds and commits. */
void sb_loader_turn(sb_loader *l, uint64_t ns);

#endif
