/* pr_curve.h: precision-recall curves.
 *
 * A point is a tensor of six rows: true positives, false positives, true negatives, false
 * negatives, precision, recall; one column per threshold, evenly spread over 0..1. Columns at the
 * end without any positive are cut off, one column always stays. Counts are cut to whole numbers;
 * what is no number becomes 0. Threads: any.  Cost: one reading of each record, many in one go. */
#ifndef SB_QUERY_KINDS_PR_CURVE_H
#define SB_QUERY_KINDS_PR_CURVE_H

#include "codec/tensor.h"
#include "query/records/blob.h"

typedef struct sb_pr_curve_point {
    int64_t step;
    double wall;
    bool superseded;
    sb_status status; /* SB_OK, or why there is no curve */
    size_t n;
    const int64_t *true_positives, *false_positives, *true_negatives, *false_negatives;
    const double *precision, *recall, *thresholds;
} sb_pr_curve_point;

/* The curve of one tensor, in the arena; only the numbers of *out are set. SB_CORRUPT when its
 * shape is not [6, n > 0], SB_LIMIT when n is above max. */
sb_status sb_pr_curve_of(const sb_tensor_view *tensor, size_t max, sb_arena *arena,
                         sb_pr_curve_point *out, sb_err *err);

sb_status sb_pr_curves_read(sb_blob_cache *blobs, sb_run *run, const sb_ref_item *items, size_t n,
                            size_t max_bytes, const sb_budget *budget, sb_arena *arena,
                            sb_pr_curve_point *out, sb_err *err);

#endif
