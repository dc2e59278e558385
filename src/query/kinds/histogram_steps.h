/* histogram_steps.h: histograms of a series as a picture shows them: at most so many steps, in the
 * order of the axis, each read from the log, understood and put on a grid of bins.
 *
 *   sb_histo_steps_pick   which points: within a range, at most so many, evenly spread
 *   sb_histo_steps_read   reads them once, for their facts; afterwards a grid can be chosen
 *   sb_histo_steps_bin    reads them again, for their shares on that grid
 *
 * Nothing but facts and shares stays in memory: a histogram may have thousands of buckets, and a
 * page many histograms. The second reading is of what the system has just cached.
 *
 * Of more points than wanted every k-th is taken, k being 1, 2, 3, 4, 6, 8, 12, ...: a new point
 * does not change which of the old ones are shown, until k changes. First and last are always
 * there, and the one nearest to `at`.
 *
 * Threads: any.  Cost: O(points of the series) without reading them, then O(buckets of those that
 * are shown). */
#ifndef SB_QUERY_KINDS_HISTOGRAM_STEPS_H
#define SB_QUERY_KINDS_HISTOGRAM_STEPS_H

#include "query/kinds/histogram_grid.h"
#include "query/lines/points.h"

typedef struct sb_histo_ask {
    sb_axis axis;    /* step, wall or relative */
    double from, to; /* of the axis; NaN: no bound */
    size_t most;     /* points; at least 2, and one more for `at` */
    bool has_at;
    double at; /* a step that is to be among them, or the one nearest to it */
    bool show_superseded;
} sb_histo_ask;

typedef struct sb_histo_steps {
    sb_run *run;
    sb_ref_item *items;
    size_t n;              /* those that were picked */
    uint64_t total;        /* points of the series that are visible */
    uint64_t in_range;     /* of these, within from..to */
    double first_wall;     /* of the series, for the relative axis; NaN: no point */
    sb_histo_facts *facts; /* n, after reading */
} sb_histo_steps;

/* In the arena. SB_INVALID when the series holds no tensors; SB_NOMEM. */
sb_status sb_histo_steps_pick(const sb_series *series, const sb_histo_ask *ask, sb_arena *arena,
                              sb_histo_steps *out, sb_err *err);

/* Fills facts. A point that can't be read is marked; SB_TIMEOUT and SB_NOMEM end the call. */
sb_status sb_histo_steps_read(sb_histo_steps *steps, sb_blob_cache *blobs, size_t max_bytes,
                              const sb_budget *budget, sb_arena *arena, sb_err *err);

/* shares: n times bins; below and above: n each. */
sb_status sb_histo_steps_bin(const sb_histo_steps *steps, sb_blob_cache *blobs, size_t max_bytes,
                             const double *edges, size_t bins, float *shares, float *below,
                             float *above, const sb_budget *budget, sb_arena *arena, sb_err *err);

#endif
