/* group.h: several lines as one: centre and spread over seeds, for bands.
 *
 * The lines are brought onto one grid of x:
 *   exact    the x that occur in any of them, when these are no more than there are pixels
 *   columns  else pixel columns; a line's value there is the mean of its finite values in it
 * Several points of a line at one x of an exact grid are averaged, too. Places of the grid at which
 * no line has a point of its own are left out.
 *
 * Where one line has no point between two of its own, the policy says what counts: nothing, its
 * last value, or the straight line to its next one. Before its first and behind its last point a
 * line never counts: nothing is known of it there, and a run that ended early must not pull the
 * others.
 *
 * Threads: any.  Cost: O(chunks + pixels) per line, and a sort of the lines at each place. */
#ifndef SB_QUERY_LINES_GROUP_H
#define SB_QUERY_LINES_GROUP_H

#include "query/lines/decimate.h"

#define SB_GROUP_MANY 5u

typedef enum sb_gaps { SB_GAPS_SKIP, SB_GAPS_CARRY, SB_GAPS_INTERPOLATE } sb_gaps;

typedef struct sb_group_ask {
    sb_axis axis;
    double from, to; /* NaN: where the first line begins, where the last one ends */
    uint32_t pixels;
    double near; /* as in sb_decimate_ask: for a log axis */
    sb_gaps gaps;
} sb_group_ask;

/* Columns of n places, by rising x. */
typedef struct sb_group {
    size_t n;
    bool is_exact;
    size_t lines; /* that have a point in range */
    double from, to;
    double *x;       /* of a column: its middle, or on a log axis the only step in it */
    uint32_t *count; /* lines that count here */
    double *mean, *median;
    double *deviation; /* of a sample: divided by count - 1; 0 for one line */
    double
        *ci95; /* half the width of the mean's 95 % confidence interval (Student's t); 0 for one */
    double *min, *max; /* of the lines' own least and greatest values here, else of what counts */
    /* Where at least SB_GROUP_MANY lines count: from the 5th to the 95th percentile of them, at
     * least one line left out at each end, so that a single outlier does not decide. With
     * fewer lines: the least and the greatest of them. */
    double *inner_low, *inner_high;
} sb_group;

/* SB_OK (perhaps with no places), SB_INVALID, SB_TIMEOUT, SB_NOMEM. */
sb_status sb_group_read(const sb_line *lines, size_t n, const sb_group_ask *ask,
                        const sb_budget *budget, sb_arena *arena, sb_group *out, sb_err *err);

/* The factor of a 95 % confidence interval for a mean of n values, n > 1. */
double sb_student_95(size_t n);

#endif
