/* metric_x.c: the x of a line's points, from another metric at their steps. */
#include "query/lines/metric_x.h"

#include <math.h>

#include "base/banned.h"

#define LOOK_EVERY 64u /* spans between looks at the clock */

static double x_at(const sb_baseline *metric, int64_t step, sb_spot *spot) {
    return sb_baseline_find(metric, (double)step, spot) ? sb_spot_value(metric->values, spot) : NAN;
}

sb_status sb_metric_xs(const sb_line *line, const sb_baseline *metric, const sb_budget *budget,
                       sb_arena *arena, double **out, sb_err *err) {
    sb_status status = sb_line_check(line, err);
    if (status != SB_OK) return status;
    double *xs = sb_column_new(arena, line->series->points);
    if (!xs) return sb_fail_nomem(err, "for the x of a line");
    int64_t room[SB_CHUNK_POINTS];
    sb_spot spot = {0};
    sb_spans walk = sb_spans_of(line->series);
    sb_span span;
    while (sb_spans_next(&walk, &span)) {
        if (span.index % LOOK_EVERY == LOOK_EVERY - 1 && sb_budget_over(budget))
            return sb_fail_timeout(err);
        const int64_t *steps = sb_span_steps(&span, room);
        for (uint32_t i = 0; i < span.n; i++) xs[span.start + i] = x_at(metric, steps[i], &spot);
    }
    *out = xs;
    return SB_OK;
}

bool sb_metric_rises(const sb_line *line) {
    int64_t room[SB_CHUNK_POINTS];
    double last = -INFINITY;
    sb_spans walk = sb_spans_of(line->series);
    sb_span span;
    while (sb_spans_next(&walk, &span)) {
        const int64_t *steps = sb_span_steps(&span, room);
        for (uint32_t i = 0; i < span.n; i++) {
            if (!line->show_superseded && sb_is_superseded(span.part, steps[i])) continue;
            double x = line->xs[span.start + i];
            if (x < last) return false;
            if (isfinite(x)) last = x;
        }
    }
    return true;
}
