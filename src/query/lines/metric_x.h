/* metric_x.h: another metric of the same run as x: accuracy over epochs, loss over tokens seen.
 *
 *     sb_baseline_of(&metric, &metric_line, SB_AXIS_STEP, budget, arena, err);
 *     sb_metric_xs(&line, &metric, budget, arena, &xs, err);
 *     line.xs = xs;                        and then SB_AXIS_METRIC is an axis like any other
 *
 * The x of a point is the metric's value at the point's step, on the straight line between the
 * metric's points around it; before its first and behind its last finite one a point has none
 * (NaN). x need not rise: it goes where the metric goes, in the order of the log.
 *
 * Threads: any.  Cost: a pass over the steps of the line. */
#ifndef SB_QUERY_LINES_METRIC_X_H
#define SB_QUERY_LINES_METRIC_X_H

#include "query/lines/baseline.h"

/* x by index in the snapshot, in the arena. SB_OK, SB_INVALID for a series without scalars,
 * SB_TIMEOUT, SB_NOMEM. */
sb_status sb_metric_xs(const sb_line *line, const sb_baseline *metric, const sb_budget *budget,
                       sb_arena *arena, double **out, sb_err *err);

/* Does x of the points that are shown never fall? */
bool sb_metric_rises(const sb_line *line);

#endif
