/* baseline.h: a line as a function of x, to ask it for its value anywhere: for comparisons
 * (compare.h) and for another metric as x (metric_x.h).
 *
 * It is known at its visible points with a finite x and a finite value, and on the straight lines
 * between them; of several at one x the last one of the log counts.
 *
 * Threads: any.  Cost: one pass over all points; the arena holds a copy of them. A question costs
 * almost nothing when x follows that of the point before, else a binary search. */
#ifndef SB_QUERY_LINES_BASELINE_H
#define SB_QUERY_LINES_BASELINE_H

#include "query/budget.h"
#include "query/lines/points.h"

/* Columns by strictly rising x, in the arena. */
typedef struct sb_baseline {
    uint32_t run;
    sb_axis axis;
    size_t n;
    double *xs, *values;
    double *smoothed; /* NULL: it has no smoothed values */
    uint64_t epoch;   /* changes when what is made of it may */
} sb_baseline;

/* SB_OK (perhaps with no points), SB_INVALID for a series without scalars, SB_TIMEOUT, SB_NOMEM. */
sb_status sb_baseline_of(sb_baseline *out, const sb_line *line, sb_axis axis,
                         const sb_budget *budget, sb_arena *arena, sb_err *err);
/* The epoch that the baseline of a series will have. */
uint64_t sb_baseline_epoch(const sb_series *series);

/* A position on a baseline: between two of its points. Begins as {0}. */
typedef struct sb_spot {
    size_t left;
    double share; /* 0 to 1 */
} sb_spot;

/* False where it is not known. */
bool sb_baseline_find(const sb_baseline *b, double x, sb_spot *at);
/* column: values or smoothed of that baseline. */
double sb_spot_value(const double *column, const sb_spot *at);

/* Room for n numbers; NULL: there is none. */
double *sb_column_new(sb_arena *arena, uint64_t n);

#endif
