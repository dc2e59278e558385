/* watch.h: the kernel's hints that something in a directory changed (inotify). Never relied upon:
 * limits, network file systems and overflows lose events, so polling goes on beside it.
 *
 * Threads: belongs to the ingest thread. */
#ifndef SB_INGEST_WATCH_H
#define SB_INGEST_WATCH_H

#include <stdbool.h>

#include "base/alloc.h"
#include "base/status.h"

typedef struct sb_watch sb_watch;

/* NULL when the system has no inotify to give; everything works without. */
sb_watch *sb_watch_new(const sb_alloc *alloc);
void sb_watch_free(sb_watch *w);
/* To be polled for reading; -1 for NULL. */
int sb_watch_file(const sb_watch *w);

/* Watches a directory; what is watched already is so only once. ud comes back with its events. */
void sb_watch_add(sb_watch *w, const char *path, void *ud);
/* Forgets everything that came with ud. */
void sb_watch_forget(sb_watch *w, const void *ud);

/* Takes the events that wait: each is called once a directory that changed; *entries_changed is set
 * when names came or went somewhere, so that a walk is due. */
typedef void (*sb_watch_fn)(void *ctx, void *ud);
void sb_watch_take(sb_watch *w, sb_watch_fn each, void *ctx, bool *entries_changed);

#endif
