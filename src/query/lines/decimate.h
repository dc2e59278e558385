/* decimate.h: a line of any length in as many points as a chart has pixels can show (M4).
 *
 * x from..to is cut into `pixels` columns of equal width (on a log axis: of equal width there); the
 * last one includes `to`. The points of
 * the line, in their order, fall into groups: a group is a run of points one after the other in the
 * same column. Where x rises there is one group per column; where it falls back (a restart that was
 * not superseded, two writers at a time) another group of the same column begins, so that a drawn
 * line keeps every stroke. When superseded points are shown, a group also ends where a part or
 * superseded points begin.
 *
 * Of a group are kept: first and last point, least and greatest finite value (the first of equals),
 * and the first NaN, +infinity and -infinity; of a line with smoothed values also their least
 * and greatest. A line through these touches the same pixels as a line through all points.
 * Outside from..to those points are kept that the line comes from or goes to. Points whose x is not
 * finite have no place on the axis: they are counted and left out.
 *
 * On SB_AXIS_METRIC, where x may go anywhere, other points are kept: decimate_order.c says which.
 *
 * Chunks that lie within one column are taken from their heads; only those that a column's edge
 * cuts, and those whose times must be known, are decoded.
 * Threads: any.  Cost: O(chunks) looks at heads, and O(pixels) chunks decoded. */
#ifndef SB_QUERY_LINES_DECIMATE_H
#define SB_QUERY_LINES_DECIMATE_H

#include <math.h>

#include "query/lines/scalars.h"

#define SB_MAX_PIXELS 65536u

typedef struct sb_decimate_ask {
    sb_axis axis;
    double from, to;      /* NaN: where the line begins or ends */
    uint32_t pixels;      /* 1 to SB_MAX_PIXELS */
    double near;          /* 0: columns are equal in x; else in log(1 + |x| / near), either side */
    bool without_walls;   /* the answer's walls are all 0, which saves most of the decoding */
    sb_point_limit limit; /* more points are refused with SB_LIMIT */
} sb_decimate_ask;

typedef struct sb_decimated {
    sb_columns points;
    double from, to; /* the range used */
    uint64_t epoch;  /* as in sb_scalar_answer */
    uint64_t n;      /* points of the whole line */
    uint64_t in_range;
    sb_not_finite not_finite; /* of the values in range */
    uint64_t without_x; /* points left out because their x is not finite; not on SB_AXIS_METRIC */
    bool is_rising;     /* x of the returned points never falls */
    uint32_t attempts;
} sb_decimated;

/* SB_OK (perhaps with no points), SB_INVALID (no pixels, from > to, no scalars), SB_LIMIT,
 * SB_TIMEOUT, SB_NOMEM. */
sb_status sb_scalar_decimate(const sb_line *line, const sb_decimate_ask *ask,
                             const sb_budget *budget, sb_arena *arena, sb_decimated *out,
                             sb_err *err);

/* ---- columns --------------------------------------------------------------------------------- */

/* Where x is: -1 left of the range, `pixels` right of it, else its column. */
typedef struct sb_scale {
    double from, to;
    double half_from, half_width; /* halves, since the width of a wide range may be infinite */
    double near;                  /* as in sb_decimate_ask */
    double pixels;
    int32_t last;
} sb_scale;

sb_scale sb_scale_of(double from, double to, uint32_t pixels, double near);

/* Where columns are of equal width. */
static inline double sb_scale_place(double near, double x) {
    return near > 0 ? copysign(log1p(fabs(x) / near), x) : x;
}

/* The inverse of sb_scale_place. */
static inline double sb_scale_x(double near, double place) {
    return near > 0 ? copysign(near * expm1(fabs(place)), place) : place;
}

/* x must be finite. Never falls when x rises. */
static inline int32_t sb_scale_column(const sb_scale *s, double x) {
    if (x < s->from) return -1;
    if (x > s->to) return s->last + 1;
    if (!(s->half_width > 0)) return 0;
    double at = (sb_scale_place(s->near, x) * 0.5 - s->half_from) / s->half_width * s->pixels;
    int32_t column = (int32_t)at;
    return column > s->last ? s->last : column;
}

/* ---- envelope -------------------------------------------------------------------------------- */

/* Count, least, greatest and mean of the points in each pixel column, whatever their order. */
typedef struct sb_envelope {
    uint32_t pixels;
    double from, to;
    uint64_t *count;          /* of finite values */
    double *min, *max, *mean; /* NaN where there is none */
} sb_envelope;

/* Of the smoothed values when the line has them, else of the raw ones. from, to, pixels and axis of
 * the ask count; in the order of the log the means are summed chunk by chunk. */
sb_status sb_scalar_envelope(const sb_line *line, const sb_decimate_ask *ask,
                             const sb_budget *budget, sb_arena *arena, sb_envelope *out,
                             sb_err *err);

#endif
