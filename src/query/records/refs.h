/* refs.h: which points of a series of tensors or blobs to show, before any of them is read.
 *
 * In:  a snapshot.  Out: items in the request's arena, which the reading functions take as they
 * are; a caller may leave some out or turn them round in between.
 * Order: that of the log (parts in the order of files), as TensorBoard has tensors; or by step, of
 * equal steps the first only, as it has images, clips and graphs.
 *
 * Threads: any.  Cost: O(points). */
#ifndef SB_QUERY_RECORDS_REFS_H
#define SB_QUERY_RECORDS_REFS_H

#include "query/reservoir.h"
#include "store/store.h"

typedef struct sb_ref_item {
    int64_t step;
    double wall;
    uint32_t file;
    bool superseded;
    sb_ref ref;
} sb_ref_item;

typedef struct sb_ref_ask {
    bool by_step;
    bool show_superseded;
    bool is_bounded; /* only steps from..to, both included */
    int64_t from, to;
    const sb_sampling *sampling; /* TensorBoard's; NULL: all points */
    size_t spread; /* of more than so many, evenly spread ones, first and last always; 0: all */
} sb_ref_ask;

/* SB_OK, SB_INVALID for a series of scalars, SB_NOMEM. *total (may be NULL): how many there are
 * without sampling and spreading. */
sb_status sb_refs_list(const sb_series *series, const sb_ref_ask *ask, sb_arena *arena,
                       sb_ref_item **out, size_t *n, size_t *total, sb_err *err);

/* The first visible item of a step in the order of the log; SB_NOT_FOUND. */
sb_status sb_refs_find(const sb_series *series, int64_t step, sb_ref_item *out, sb_err *err);
/* The visible item whose record stands at this offset with this checksum; SB_NOT_FOUND. */
sb_status sb_refs_find_at(const sb_series *series, uint64_t offset, uint32_t crc, sb_ref_item *out,
                          sb_err *err);

#endif
