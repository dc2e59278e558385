/* graph_source.h: the graphs that logs hold: which series are graphs of what kind, and their bytes.
 * Both faces use it: /data/plugin/graphs and /api/v1/graph.
 *
 * Threads: one request. */
#ifndef SB_SERVER_GRAPH_SOURCE_H
#define SB_SERVER_GRAPH_SOURCE_H

#include "base/arena.h"
#include "server/app_int.h"

#define SB_RUN_GRAPH_TAG "__run_graph__"
#define SB_MOST_GRAPH_BYTES ((size_t)2 << 30)

/* What a series offers: a sum of these. */
enum {
    SB_GRAPH_CONCEPTUAL = 1, /* a Keras model */
    SB_GRAPH_OPS = 2,        /* graphs of traced functions */
    SB_GRAPH_PROFILE = 4,    /* step statistics */
    SB_GRAPH_OF_RUN = 8,     /* the graph of the run */
};
unsigned sb_graph_offers(const sb_series_info *info);
unsigned sb_graph_offers_meta(sb_slice tag, const sb_series_meta *meta);

/* The newest blob of a series, in the arena. SB_NOT_FOUND: it has none. *item says where it is; out
 * may be NULL, then nothing is read. */
sb_status sb_graph_blob(sb_app *app, const sb_series *series, sb_arena *arena, sb_ref_item *item,
                        sb_slice *out, sb_err *err);

/* The GraphDef that a series means, by what it offers: the blob itself, in the arena, or one that
 * is made of it in `made`. *functions: the RunMetadata that it was made of, in the arena, or empty.
 * SB_NOT_FOUND: it is no graph. */
sb_status sb_graph_of_series(sb_slice *graph, sb_buf *made, sb_slice *functions, sb_app *app,
                             const sb_series *series, sb_arena *arena, sb_err *err);

#endif
