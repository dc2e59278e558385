/* route.h: from a path to the row of the route table that answers it.
 *
 * Exact paths are looked up by hash; what is left goes to the longest prefix row ("/a/" and a star)
 * that it begins with. One slash at the end of a path does not count for exact rows.
 * Threads: read-only after init. Cost: one hash, one compare. */
#ifndef SB_SERVER_HTTP_ROUTE_H
#define SB_SERVER_HTTP_ROUTE_H

#include "base/intern.h"
#include "server/http/http.h"

typedef struct sb_routes {
    const sb_alloc *alloc;
    const sb_http_route *rows;
    size_t count;
    sb_intern paths;    /* exact paths; an id indexes first */
    uint32_t *first;    /* the first row with that path */
    uint32_t *next;     /* by row: the next row with the same path, or SB_INTERN_NONE */
    uint32_t *prefixes; /* rows with a star, longest first */
    size_t prefix_count;
} sb_routes;

/* SB_INVALID when a path has no slash in front, a star elsewhere than behind the last slash, a row
 * has no handler, or two rows claim the same method of a path. The rows must outlive this. */
sb_status sb_routes_init(sb_routes *r, const sb_alloc *alloc, const sb_http_route *rows,
                         size_t count, uint64_t seed, sb_err *err);
void sb_routes_fini(sb_routes *r);

typedef struct sb_route_match {
    const sb_http_route *row; /* NULL: none for this method */
    unsigned methods;         /* what the path allows at all; 0: there is no such path */
    sb_slice rest;            /* behind the prefix of a prefix row */
} sb_route_match;

sb_route_match sb_routes_find(const sb_routes *r, sb_slice path, sb_http_method method);

#endif
