/* body_cache.h: a cache of finished reply bodies.
 *
 * The key says everything that the answer depends on (which series, at which version, in which
 * form), so nothing is ever invalidated: what is out of date is asked for no more and goes when
 * room is needed, the longest unused first.
 *
 * Threads: all functions may be called from any. Cost: one lock and one hash per call. */
#ifndef SB_SERVER_BODY_CACHE_H
#define SB_SERVER_BODY_CACHE_H

#include "base/alloc.h"
#include "base/status.h"

#define SB_CACHE_KEY_BYTES 96

typedef struct sb_body_cache sb_body_cache;
typedef struct sb_body sb_body;

/* At most so many bytes of bodies; one body takes at most a quarter of it. */
sb_status sb_body_cache_new(sb_body_cache **out, const sb_alloc *alloc, size_t bytes, sb_err *err);
/* Every body must have been released. */
void sb_body_cache_free(sb_body_cache *c);

/* The body of that key, held for the caller; NULL: there is none. A longer key than
 * SB_CACHE_KEY_BYTES finds nothing. */
sb_body *sb_body_cache_find(sb_body_cache *c, sb_slice key);
/* Stores a copy of the body and holds it for the caller; NULL when it is too large, memory is out,
 * or the key is too long. */
sb_body *sb_body_cache_keep(sb_body_cache *c, sb_slice key, sb_slice body);

sb_slice sb_body_bytes(const sb_body *body);
/* Its signature is that of sb_http_lend. */
void sb_body_release(void *body);

#endif
