/* histogram_grid.h: histograms of many steps on one common grid of bins, to be drawn side by side.
 *
 *   sb_histo_facts_of   one histogram: how many values, where they lie, percentiles, moments
 *   sb_histo_range_of   the values that a picture of many steps shows
 *   sb_histo_edges      that range as bins, of equal width on a linear or a symmetric log axis
 *   sb_histo_rebin      one histogram on these bins: the share of its values in each
 *
 * A bucket's values are taken to be spread evenly over it, as TensorBoard does. With the range of
 * all values and 30 bins on a linear axis the result is TensorBoard's, divided by the total.
 *
 * Buckets that make no sense (an edge or a count that is NaN or infinite, a negative count) are
 * left out and told: SB_HISTO_BROKEN. Edges the wrong way round are swapped; buckets may overlap,
 * and come in any order.
 *
 * Threads: no state.  Cost: linear in buckets and bins; sorting only where buckets are unsorted. */
#ifndef SB_QUERY_KINDS_HISTOGRAM_GRID_H
#define SB_QUERY_KINDS_HISTOGRAM_GRID_H

#include "query/kinds/histogram.h"

enum {
    SB_HISTO_SUPERSEDED = 1,
    SB_HISTO_UNREADABLE = 2, /* its record can't be read any more, or holds no histogram */
    SB_HISTO_BROKEN = 4,     /* some buckets were left out */
    SB_HISTO_EMPTY = 8,      /* it counts nothing that could be drawn */
    SB_HISTO_NAN = 16,       /* NaN was among what was left out */
};

typedef struct sb_histo_facts {
    uint8_t marks;
    double total;           /* the sum of all counts */
    double least, greatest; /* outermost edges of buckets that count something */
    double low, high;       /* between these lie 99 of 100 values */
    double mean, deviation; /* as logged where the log has them, else estimated from the buckets */
    double percentiles[SB_DISTRIBUTION_POINTS];
} sb_histo_facts;

/* The buckets that make sense, sorted, in the arena, and what they say. *clean is what
 * sb_histo_rebin takes. SB_NOMEM. */
sb_status sb_histo_facts_of(const sb_histo_rows *rows, sb_arena *arena, sb_histo_rows *clean,
                            sb_histo_facts *out);

typedef struct sb_value_range {
    double low, high; /* low < high, both finite */
} sb_value_range;

/* is_all: all values of all steps. Else what most steps span: a step far from the others does not
 * count, nor do the outermost values of each, unless that saves hardly anything. n facts; the arena
 * is for sorting. SB_NOMEM. */
sb_status sb_histo_range_of(const sb_histo_facts *facts, size_t n, bool is_all, sb_arena *arena,
                            sb_value_range *out);

/* bins + 1 edges. is_log: of equal width in sign(v) log(1 + |v| / near); *near is a thousandth of
 * the power of ten below the greatest value, and 0 for a linear axis. */
void sb_histo_edges(sb_value_range range, bool is_log, size_t bins, double *edges, double *near);

/* Shares of the total in each bin, below the first and above the last; all 0 when there is none. */
void sb_histo_rebin(const sb_histo_rows *clean, const double *edges, size_t bins, float *shares,
                    float *below, float *above);

#endif
