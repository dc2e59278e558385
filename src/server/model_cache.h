/* model_cache.h: a cache of model graphs, so that a graph is read and made a model once, not for
 * every box that a user opens.
 *
 * The key says everything that a model depends on (which bytes of which log), so none is ever
 * stale. Files that people drop on the page live here too, for as long as there is room.
 *
 * Threads: all functions may be called from any; a model itself never changes. */
#ifndef SB_SERVER_MODEL_CACHE_H
#define SB_SERVER_MODEL_CACHE_H

#include "graph/formats/graph_file.h"
#include "graph/model/model.h"

typedef struct sb_model_cache sb_model_cache;

typedef struct sb_kept_model {
    const sb_model *model;
    sb_slice graph;      /* its GraphDef, where the cache owns it: of dropped files */
    sb_graph_file about; /* likewise */
} sb_kept_model;

/* At most so many bytes of models; the longest unused go first. One model may be larger than that:
 * it is then the only one. */
sb_status sb_model_cache_new(sb_model_cache **out, const sb_alloc *alloc, size_t bytes,
                             sb_err *err);
/* Every model must have been released. */
void sb_model_cache_free(sb_model_cache *c);

/* The model of that key, held for the caller; NULL: there is none. */
const sb_kept_model *sb_model_cache_find(sb_model_cache *c, sb_slice key);
/* Takes the model (and the GraphDef, if it has one) and holds it for the caller. When another
 * thread was faster that one's is answered and this one freed. NULL: no memory, and the model is
 * freed. */
const sb_kept_model *sb_model_cache_take(sb_model_cache *c, sb_slice key, sb_model *model,
                                         sb_buf *graph, const sb_graph_file *about);
/* How many models were evicted so far. */
uint64_t sb_model_cache_evicted(sb_model_cache *c);
void sb_model_cache_release(sb_model_cache *c, const sb_kept_model *kept);

#endif
