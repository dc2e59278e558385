/* histogram.h: histograms as rows of left edge, right edge and count, and as distributions.
 *
 * New-style points hold the rows as a tensor [n, 3]. Old-style ones hold limits and counts, from
 * which TensorBoard's two loaders make different rows:
 *
 *   TRIMMED  empty buckets at both ends go; the outermost edges left are min and max; all numbers
 *            are rounded to float32. The default. No bucket has a negative width: where min or max
 *            contradict the limits, the limit counts (TensorBoard lets them)
 *   DRAWN    as TRIMMED, but where min or max is not a finite number (the values had NaN among
 *            them) the bucket keeps its limit, and has_odd_ends says so
 *   WHOLE    every bucket stays; the first left edge is min, the last right edge is max, so an
 *            empty bucket at either end may have a negative width; float64
 *
 * Threads: any.  Cost: one reading of each record, many in one go. */
#ifndef SB_QUERY_KINDS_HISTOGRAM_H
#define SB_QUERY_KINDS_HISTOGRAM_H

#include "codec/summary.h"
#include "query/records/blob.h"

typedef enum sb_histo_form { SB_HISTO_TRIMMED, SB_HISTO_DRAWN, SB_HISTO_WHOLE } sb_histo_form;

typedef struct sb_histo_rows {
    size_t n;
    const double *rows; /* n times left, right, count */
    /* of old-style histograms */
    bool has_odd_ends; /* SB_HISTO_DRAWN: min or max was not finite */
    bool has_sums; /* the numbers below are those of the log: of all values, if one trusts num */
    double num, sum, sum_squares;
} sb_histo_rows;

typedef struct sb_histo_point {
    int64_t step;
    double wall;
    bool superseded;
    sb_status
        status; /* SB_OK, or why this point has no rows: SB_REPLACED, SB_CORRUPT, SB_LIMIT, ... */
    sb_histo_rows histo;
} sb_histo_point;

/* The rows of one value, in the arena. SB_CORRUPT when it holds no histogram, SB_LIMIT when it
 * claims more than max_rows (a tensor may have many elements in few bytes). */
sb_status sb_histo_of_value(const sb_value *value, sb_histo_form form, size_t max_rows,
                            sb_arena *arena, sb_histo_rows *out, sb_err *err);

/* The rows of many points; out has room for n. A point that cannot be read says so itself;
 * SB_TIMEOUT and SB_NOMEM end the call. */
sb_status sb_histos_read(sb_blob_cache *blobs, sb_run *run, const sb_ref_item *items, size_t n,
                         sb_histo_form form, size_t max_bytes, const sb_budget *budget,
                         sb_arena *arena, sb_histo_point *out, sb_err *err);

/* ---- distributions --------------------------------------------------------------------------- */

#define SB_DISTRIBUTION_POINTS 9

/* Hundredths of a percent, of a normal distribution's deviations: 0, 668, 1587, ..., 10000. */
extern const double sb_distribution_bps[SB_DISTRIBUTION_POINTS];

/* The value below which each of these parts of all counts lies, as TensorBoard's compression has
 * it. */
void sb_distribution_of(const sb_histo_rows *histo, double values[SB_DISTRIBUTION_POINTS]);

#endif
