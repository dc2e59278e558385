/* graph_models.h: the model that a source means: `{"graph", "other", "stats", "skip"}` of /api/v1,
 * taken from the cache or made and kept there.
 *
 * Requests and the background job "graph" use it; what takes long is told while it is made.
 *
 * Threads: any; each with its own arena. */
#ifndef SB_SERVER_GRAPH_MODELS_H
#define SB_SERVER_GRAPH_MODELS_H

#include <jansson.h>

#include "server/graph_source.h"

typedef struct sb_graph_wish {
    const json_t *source;
    sb_arena *arena; /* for the bytes of the graph, while the model is made */
    bool at_once;    /* only if that takes no longer than a request may */
    /* as that of sb_model_ask; may be NULL */
    bool (*progress)(void *ud, uint64_t done, uint64_t total);
    void *ud;
    /* set when a file is refused: why, in `trouble` and `fault`; may be NULL */
    sb_graph_file *refused;
} sb_graph_wish;

/* Is it a source at all? SB_INVALID and a reason for people. */
sb_status sb_graph_source_check(const json_t *source, sb_err *err);

/* The model, held for the caller until sb_model_cache_release. All with a reason for people:
 * SB_NOT_FOUND (no such run, tag or statistics, or it is no graph), SB_REPLACED (the server has the
 * file or the log no longer), SB_CORRUPT (it can't be read), SB_CANCELLED (not wanted any more),
 * SB_MORE (it is large and was wanted at once). */
sb_status sb_graph_model_take(const sb_kept_model **out, sb_app *app, const sb_graph_wish *wish,
                              sb_err *err);

/* What the model depends on: the bytes of the graphs that the source means now, and how many models
 * the server had to let go of. */
sb_status sb_graph_model_key(sb_buf *key, sb_app *app, const sb_graph_wish *wish, sb_err *err);

sb_slice sb_json_slice(const json_t *text);

#endif
