/* scalars.h: points of one series as columns, and a summary of all of them.
 *
 * In:  a line (points.h).  Out: columns in the request's arena, exact and in the order of the log:
 * parts in the order of files, points in the order of each file.
 *
 * What a client already has: with every answer go an epoch and n, the number of points shown. A
 * client that comes back with both gets only the points behind its n when the epoch is still the
 * same, and everything when it is not.
 *
 * Threads: any.  Cost: reading decodes the chunks that meet the range; a summary decodes none but
 * those that a restart cut in two or that hold infinities. */
#ifndef SB_QUERY_LINES_SCALARS_H
#define SB_QUERY_LINES_SCALARS_H

#include "query/budget.h"
#include "query/lines/points.h"
#include "query/reservoir.h"

/* Flags of a point, as /api/v1 sends them. */
enum {
    SB_POINT_SUPERSEDED = 1,
    SB_POINT_LEAST = 2,    /* of its pixel column (decimate.h) */
    SB_POINT_GREATEST = 4, /* of its pixel column */
    SB_POINT_NOT_FINITE = 8,
};

typedef struct sb_columns {
    size_t n;
    int64_t *steps;
    double *walls;
    double *values;
    double *smoothed; /* NULL when the line has no smoothed values */
    double *xs;       /* NULL unless the axis is SB_AXIS_METRIC */
    uint8_t *flags;   /* SB_POINT_... */
    size_t room;
} sb_columns;

/* Room for so many points, in all columns that the line has on that axis. */
sb_status sb_columns_init(sb_columns *c, sb_arena *arena, size_t room, const sb_line *line,
                          sb_axis axis, sb_err *err);

typedef struct sb_scalar_ask {
    sb_axis axis;
    double from, to;             /* of x, both included; NaN: no bound */
    bool with_neighbours;        /* also the points just outside, where the line leaves the range */
    const sb_sampling *sampling; /* NULL: all points */
    uint64_t have_epoch, have_n; /* what the client has of the whole line; n 0: nothing */
    sb_point_limit limit;        /* more points are refused with SB_LIMIT */
} sb_scalar_ask;

typedef struct sb_scalar_answer {
    sb_columns points;
    uint64_t epoch;
    uint64_t n;        /* points of the whole line; a client sends it back as have_n */
    bool is_append;    /* the points follow those that the client has */
    uint32_t attempts; /* how often the series was begun again, plus one */
} sb_scalar_answer;

/* SB_OK (perhaps with no points), SB_LIMIT, SB_TIMEOUT, SB_NOMEM, or SB_INVALID for a series that
 * holds no scalars. */
sb_status sb_scalar_read(const sb_line *line, const sb_scalar_ask *ask, const sb_budget *budget,
                         sb_arena *arena, sb_scalar_answer *out, sb_err *err);

/* How many points the line shows. */
uint64_t sb_line_points(const sb_line *line);
uint32_t sb_series_attempts(const sb_series *series);

typedef struct sb_scalar_summary {
    uint64_t n;          /* visible points; with none of them all the rest is 0 */
    uint64_t superseded; /* points that are not shown */
    uint64_t nan, infinite, finite;
    int64_t first_step, last_step; /* of the first and the last point in order */
    int64_t max_step;
    double first_wall, last_wall, max_wall; /* max_wall: of the finite ones; 0: none */
    double first_value, last_value;
    double min, max;                  /* of the finite values, when there is one */
    double mean;                      /* of the finite values */
    int64_t min_step_at, max_step_at; /* the step of the first one */
} sb_scalar_summary;

/* Over the visible points of the raw values. */
sb_status sb_scalar_sum_up(const sb_series *series, const sb_budget *budget, sb_scalar_summary *out,
                           sb_err *err);

#endif
