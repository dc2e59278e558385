/* measure.h: what a line does between two places on its axis, in numbers for a table: the points
 * nearest to the places, and extremes and means of what lies between them.
 *
 *     sb_measure_line(&line, &(sb_measure_ask){.from = 1000, .to = 5000}, budget, &out, err);
 *
 * In:  a line (points.h), smoothed or not.  Out: numbers over all of its points, exact: the same as
 * a pass over every one of them, the means but for rounding.
 *
 * Nearest is what lies nearest in x; of two equally near ones the one that stands earlier in the
 * log counts. Between are the points whose x is neither below that of the one end nor above that of
 * the other, whatever their order. Points whose x is not finite have no place and do not count.
 *
 * Threads: any.  Cost: looks at the heads of all chunks; decodes those around the two places and
 * those that their heads do not tell enough of. */
#ifndef SB_QUERY_LINES_MEASURE_H
#define SB_QUERY_LINES_MEASURE_H

#include "query/budget.h"
#include "query/lines/points.h"

typedef struct sb_measure_ask {
    sb_axis axis;
    double from, to; /* finite, from <= to; equal ones: a single place */
} sb_measure_ask;

typedef struct sb_measure_point {
    int64_t step;
    double wall, value;
    double smooth; /* the value itself where the line has no smoothed values */
} sb_measure_point;

/* Of the raw values, or of the smoothed ones. */
typedef struct sb_measure_values {
    uint64_t finite;           /* with none all the rest is 0 */
    sb_measure_point min, max; /* of equal ones the first */
    double mean;
} sb_measure_values;

typedef struct sb_measure {
    uint64_t n; /* points between start and end, both included; with none all the rest is 0 */
    sb_measure_point start, end;
    sb_measure_values raw, smooth;
} sb_measure;

/* SB_OK, SB_INVALID (no scalars, not a range), SB_TIMEOUT. */
sb_status sb_measure_line(const sb_line *line, const sb_measure_ask *ask, const sb_budget *budget,
                          sb_measure *out, sb_err *err);

#endif
