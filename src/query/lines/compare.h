/* compare.h: a line against another one: differences from a baseline, or ratios to it.
 *
 *     sb_baseline_of(&baseline, &base_line, axis, budget, arena, err);
 *     sb_compare_line(&line, &baseline, SB_COMPARE_RATIO, budget, arena, &out, err);
 *     sb_scalar_decimate(&out.line, ...);         the result is a line like any other
 *
 * A point of a line is compared with the baseline (baseline.h) at its own x (relative x: each line
 * counts from its own start); points where the baseline is not known are left out. The smoothed
 * values are compared with the baseline's smoothed values; both lines must be smoothed alike, or
 * neither.
 *
 * Both lines are of the same tag. The visible points of the baseline itself (known by its run) are
 * 0 or 1 exactly, where they are finite.
 *
 * Threads: any.  Cost: one pass over all points; the arena holds a copy of what is kept. */
#ifndef SB_QUERY_LINES_COMPARE_H
#define SB_QUERY_LINES_COMPARE_H

#include "query/lines/baseline.h"

typedef enum sb_compare_kind {
    SB_COMPARE_DIFFERENCE, /* value - baseline */
    SB_COMPARE_RATIO,      /* value / baseline */
} sb_compare_kind;

static inline double sb_against(sb_compare_kind kind, double value, double base) {
    return kind == SB_COMPARE_DIFFERENCE ? value - base : value / base;
}

/* A line of its own, in the arena. It must not be moved, and lives no longer than the snapshot that
 * it was made of; its series is not to be released. */
typedef struct sb_compared {
    sb_line line;
    sb_series series;
    sb_smoothed smoothed;
    sb_origin origin;
} sb_compared;

/* SB_OK (perhaps with no points), SB_INVALID for a series without scalars, SB_TIMEOUT, SB_NOMEM. */
sb_status sb_compare_line(const sb_line *line, const sb_baseline *baseline, sb_compare_kind kind,
                          const sb_budget *budget, sb_arena *arena, sb_compared *out, sb_err *err);

#endif
