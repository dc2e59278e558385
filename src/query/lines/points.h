/* points.h: the points of a scalar snapshot, a span at a time, and what of them is to be shown.
 *
 *     sb_spans walk = sb_spans_of(series);
 *     while (sb_spans_next(&walk, &span)) ...
 *
 * A span is one sealed chunk, or the open end of a part. What is known of a whole span without
 * looking at its points is in sb_span_stats; the columns are decoded on demand.
 *
 * A line is what a chart shows: a snapshot, whether superseded points belong to it, and its
 * smoothed values if there are any. Every point of a snapshot has a place, counted over all parts
 * in order, superseded ones included.
 *
 * Threads: a snapshot is read-only; a walk belongs to one thread. Cost: a span's head is O(1). */
#ifndef SB_QUERY_LINES_POINTS_H
#define SB_QUERY_LINES_POINTS_H

#include "store/store.h"

typedef struct sb_span {
    const sb_part *part;
    const sb_chunk *chunk; /* NULL: the open end */
    size_t part_index;
    size_t chunk_index; /* part->chunk_n for the open end */
    size_t index;       /* of the span in the snapshot */
    uint64_t start;     /* the index of its first point in the snapshot */
    uint32_t n;         /* 1 to SB_CHUNK_POINTS */
} sb_span;

typedef struct sb_spans {
    const sb_series *series;
    size_t part, chunk, index;
    uint64_t start;
} sb_spans;

static inline sb_spans sb_spans_of(const sb_series *series) {
    return (sb_spans){.series = series};
}
bool sb_spans_next(sb_spans *walk, sb_span *out);
/* The span with this part and chunk index, as a walk returned it before. */
sb_span sb_span_at(const sb_series *series, size_t part, size_t chunk);
/* How many spans a snapshot has. */
size_t sb_span_count(const sb_series *series);

/* Columns: decoded into room (SB_CHUNK_POINTS elements), or in the store where they are not
 * coded. */
const int64_t *sb_span_steps(const sb_span *span, int64_t *room);
const double *sb_span_walls(const sb_span *span, double *room);
const double *sb_span_values(const sb_span *span, double *room);

/* Which points of a span are superseded. */
typedef enum sb_span_cut { SB_CUT_NONE, SB_CUT_SOME, SB_CUT_ALL } sb_span_cut;
sb_span_cut sb_span_cut_of(const sb_span *span);
static inline bool sb_is_superseded(const sb_part *part, int64_t step) {
    return part->cut_step != SB_NO_CUT && step >= part->cut_step;
}

/* A summary of the values of a whole span. Of several equal extremes the first one counts. */
typedef struct sb_span_stats {
    double min, max; /* of the finite values; min > max: there is none */
    double sum;      /* of the finite values */
    uint32_t finite;
    uint32_t nan;
    uint16_t min_at, max_at;
} sb_span_stats;

void sb_stats_of_values(const double *values, size_t n, sb_span_stats *out);
/* The least and the greatest of n > 0 finite values. */
void sb_finite_extremes(const double *values, size_t n, double *low, double *high);
/* False when the chunk's summary is not enough (it has infinities beside other values): then the
 * values must be decoded. */
bool sb_stats_of_chunk(const sb_chunk *chunk, sb_span_stats *out);

/* Values that are no finite numbers, told apart: a NaN is a fault of another kind than an
 * overflow. */
typedef struct sb_not_finite {
    uint64_t nan, plus, minus; /* plus and minus infinity */
} sb_not_finite;

/* Counts a value that is not finite. */
static inline void sb_count_not_finite(sb_not_finite *counts, double value) {
    if (value != value)
        counts->nan++;
    else if (value > 0)
        counts->plus++;
    else
        counts->minus++;
}

/* How many points an answer may hold. Zeroed memory is no limit but the arena's; at most 0 points
 * is a limit like any other. */
typedef struct sb_point_limit {
    bool is_set;
    size_t most;
} sb_point_limit;

static inline sb_point_limit sb_at_most(size_t most) {
    return (sb_point_limit){.is_set = true, .most = most};
}

static inline bool sb_is_over(sb_point_limit limit, uint64_t points) {
    return limit.is_set && points > limit.most;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* What x is. */
typedef enum sb_axis {
    SB_AXIS_STEP,
    SB_AXIS_WALL,
    SB_AXIS_RELATIVE,      /* seconds since the first visible point with a finite time */
    SB_AXIS_STEP_RELATIVE, /* steps since the first visible point's */
    SB_AXIS_METRIC,        /* what the line's xs say (metric_x.h makes them) */
} sb_axis;

static inline bool sb_axis_counts_steps(sb_axis axis) {
    return axis == SB_AXIS_STEP || axis == SB_AXIS_STEP_RELATIVE;
}

/* What relative x counts from. */
typedef struct sb_origin {
    double wall, step;
} sb_origin;

/* The smoothed values of a whole snapshot (smooth.h makes them). */
typedef struct sb_smoothed {
    const double *values;       /* by index in the snapshot */
    const sb_span_stats *stats; /* by index of the span */
    uint64_t n;
} sb_smoothed;

typedef struct sb_line {
    const sb_series *series;
    bool show_superseded;
    const sb_smoothed *smoothed; /* NULL: none. Of the same snapshot and show_superseded */
    const sb_origin *origin;     /* NULL: its own; for a line that was made of another */
    const double *xs; /* for SB_AXIS_METRIC: x by index in the snapshot; NaN: the point has none.
                         NULL: none has */
} sb_line;

/* What x counts from: the first visible finite wall time, the first visible step, or 0 for axes
 * that count from nothing and for lines without such a point. */
double sb_line_base(const sb_line *line, sb_axis axis);

/* x of the first and the last point in the order of x, points without a finite x left out; false
 * when there is none. base: as sb_line_base says. */
bool sb_line_extent(const sb_line *line, sb_axis axis, double base, double *from, double *to);

/* The x of all points of a span that a walk named. Steps beyond 2^53 are rounded; steps or walls
 * may be NULL where the axis does not look at them. */
void sb_line_xs(const sb_line *line, const sb_span *span, sb_axis axis, double base,
                const int64_t *steps, const double *walls, double *xs);
/* All columns of a span. */
typedef struct sb_decoded {
    sb_points room;
    const int64_t *steps;
    const double *walls, *values;
    const double *smoothed; /* NULL: none */
    double xs[SB_CHUNK_POINTS];
} sb_decoded;
void sb_line_decode(const sb_line *line, const sb_span *span, sb_axis axis, double base,
                    sb_decoded *out);

/* SB_INVALID for a series that holds no scalars. */
sb_status sb_line_check(const sb_line *line, sb_err *err);

/* Bounds of x over a chunk from its summary alone; false when that is not enough. */
bool sb_axis_chunk(sb_axis axis, double base, const sb_chunk *chunk, double *low, double *high);

/* A number below 2^53 that is the same for two snapshots only if the points of the earlier one are
 * the first points of the later one. It changes after a restart, when a file was deleted, or when
 * another file than the last one grew. */
uint64_t sb_series_epoch(const sb_series *series);
/* The epoch of a line that was computed from two series, given the epochs of both. */
uint64_t sb_epoch_mix(uint64_t epoch, uint64_t other);

#endif
