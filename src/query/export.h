/* export.h: every point of every scalar series of a store as text (query/export_text.h).
 *
 * In:  a store.  Out: text in a buffer, which the caller may empty on the way, so that any amount
 * streams.
 * Threads: any.  Cost: about 100 ns per point. */
#ifndef SB_QUERY_EXPORT_H
#define SB_QUERY_EXPORT_H

#include "base/buf.h"
#include "query/budget.h"
#include "store/store.h"

typedef struct sb_export {
    sb_buf *out;
    bool json;
    bool superseded; /* with the points that a restart went over again */
    /* Which series; NULL: all. */
    bool (*wants_run)(void *ud, sb_slice run);
    bool (*wants_tag)(void *ud, sb_slice tag);
    /* Called when the buffer is full enough to be sent; false ends the export with SB_CLOSED. NULL:
     * the buffer takes everything. */
    bool (*flush)(void *ud);
    void *ud;
    const sb_budget *budget;
    uint64_t points; /* written so far; starts as 0. For progress: flush may look at it */
} sb_export;

/* The same step by step. Each step appends at most a block of points; the caller may empty the
 * buffer, or wait, between any two. SB_OK: more follows; SB_END: that was all. e and what it points
 * to must stay until the end; sb_export_end(NULL) is fine. */
typedef struct sb_export_at sb_export_at;
sb_status sb_export_begin(sb_export_at **out, sb_export *e, sb_store *store, const sb_alloc *alloc);
sb_status sb_export_next(sb_export_at *at);
void sb_export_end(sb_export_at *at);

/* All of it. Runs in order of their names, tags likewise. SB_OK, SB_CLOSED, SB_TIMEOUT, SB_NOMEM,
 * SB_LIMIT. */
sb_status sb_export_all(sb_export *e, sb_store *store, const sb_alloc *alloc);

/* How many points that will be, about: superseded ones count, and more may come meanwhile. */
sb_status sb_export_count(const sb_export *e, sb_store *store, const sb_alloc *alloc,
                          uint64_t *points);

#endif
