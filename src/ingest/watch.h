/* watch.h: events of the kernel (inotify) that something in a directory changed. Never relied upon:
 * limits, network file systems and overflows lose events, so polling goes on beside it.
 *
 * A directory is watched once, however many ask for it:
 *   subscribers  (runs) hear when a file in their directory changes;
 *   names only   (all other directories) leads to *names_changed when an entry comes or goes.
 * Both are renewed by every walk of the tree, since another directory may have taken a path over:
 *
 *     sb_watch_begin_walk(w);
 *     sb_watch_subscribe(w, &run->watched, path); ... sb_watch_names(w, path); ...
 *     sb_watch_end_walk(w);         directories that no walk names any more are let go
 *
 * Threads: belongs to the ingest thread. Cost: one system call per directory and walk. */
#ifndef SB_INGEST_WATCH_H
#define SB_INGEST_WATCH_H

#include <stdbool.h>

#include "base/alloc.h"

typedef struct sb_watch sb_watch;

/* A subscription, in its owner's memory; zeroed before the first use. */
typedef struct sb_watched {
    int descriptor; /* of inotify, from 1 on; 0: not watched */
    void *owner;
    struct sb_watched *next; /* of the same directory */
} sb_watched;

/* NULL when the system has no inotify to give; every function accepts that. */
sb_watch *sb_watch_new(const sb_alloc *alloc);
/* Every subscription must have ended. */
void sb_watch_free(sb_watch *w);
/* The file descriptor to poll for reading; -1 for NULL. */
int sb_watch_file(const sb_watch *w);

/* Watches the directory that has this path now, in place of the one that it watched before. Out of
 * watches or memory: it is not watched, and polling will do. */
void sb_watch_subscribe(sb_watch *w, sb_watched *s, const char *path);
void sb_watch_unsubscribe(sb_watch *w, sb_watched *s);

void sb_watch_begin_walk(sb_watch *w);
/* Watches the names in a directory until a walk ends that did not ask for it. A quarter of what the
 * system allows, but at least SB_WATCH_LEAST_NAMES directories, are watched so. True when it was
 * not watched before: what came between the listing of the directory and now was not seen. */
#define SB_WATCH_LEAST_NAMES 4096u
bool sb_watch_names(sb_watch *w, const char *path);
void sb_watch_end_walk(sb_watch *w);
/* Is every directory of the last walk watched? */
bool sb_watch_is_complete(const sb_watch *w);

/* Reads the events that wait. `each` is called with the owner of every subscription to a directory
 * in which something changed; *names_changed is set when an entry came or went in any. */
typedef void (*sb_watch_fn)(void *ctx, void *owner);
void sb_watch_drain(sb_watch *w, sb_watch_fn each, void *ctx, bool *names_changed);

#endif
