/* decimate_order.c: a line whose x may go anywhere in about as many points as a chart shows.
 *
 * Where x is another metric, pixel columns say nothing about order. The points in range, in their
 * order, are cut into as many buckets of equal length as there are pixels; of each are kept its
 * first and last point, the least and the greatest x, value and smoothed value, and the first NaN,
 * plus infinity and minus infinity (the first of equals each time). Up to four points a pixel are
 * all given. */
#include <math.h>

#include "query/lines/decimate_int.h"
#include "base/banned.h"

#define POINTS_A_PIXEL 4u
#define MOST_OF_A_BUCKET 11u

typedef struct bucket {
    uint64_t kept[MOST_OF_A_BUCKET]; /* rising */
    size_t n;
} bucket;

static void keep_point(bucket *b, uint64_t at) {
    size_t i = b->n;
    while (i > 0 && b->kept[i - 1] > at) i--;
    if (i > 0 && b->kept[i - 1] == at) return;
    for (size_t k = b->n++; k > i; k--) b->kept[k] = b->kept[k - 1];
    b->kept[i] = at;
}

/* The first least and the first greatest finite value of from..to; false: there is none. */
static bool extremes(const double *values, uint64_t from, uint64_t to, uint64_t *least,
                     uint64_t *greatest) {
    bool any = false;
    *least = *greatest = from;
    for (uint64_t i = from; i < to; i++) {
        if (!isfinite(values[i])) continue;
        if (!any || values[i] < values[*least]) *least = i;
        if (!any || values[i] > values[*greatest]) *greatest = i;
        any = true;
    }
    return any;
}

static void choose(sb_columns *c, uint64_t from, uint64_t to, bucket *b) {
    uint64_t least, greatest;
    const double *columns[] = {c->xs, c->smoothed};
    b->n = 0;
    keep_point(b, from);
    keep_point(b, to - 1);
    for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++)
        if (columns[k] && extremes(columns[k], from, to, &least, &greatest)) {
            keep_point(b, least);
            keep_point(b, greatest);
        }
    if (extremes(c->values, from, to, &least, &greatest)) {
        keep_point(b, least);
        keep_point(b, greatest);
        c->flags[least] |= SB_POINT_LEAST;
        c->flags[greatest] |= SB_POINT_GREATEST;
    }
    sb_not_finite seen = {0};
    for (uint64_t i = from; i < to; i++) {
        double value = c->values[i];
        if (isfinite(value)) continue;
        uint64_t before = value != value ? seen.nan : value > 0 ? seen.plus : seen.minus;
        if (before == 0) keep_point(b, i);
        sb_count_not_finite(&seen, value);
    }
}

/* Whatever a bucket keeps lies behind what was kept before it. */
static void thin(sb_columns *c, uint32_t buckets) {
    uint64_t n = c->n, kept = 0;
    for (uint64_t i = 0; i < buckets; i++) {
        bucket b;
        choose(c, n * i / buckets, n * (i + 1) / buckets, &b);
        sb_columns_move(c, (size_t)kept, b.kept, b.n);
        kept += b.n;
    }
    c->n = (size_t)kept;
}

static void count_points(sb_decimated *out, const sb_decimate_ask *ask) {
    const sb_columns *c = &out->points;
    out->from = INFINITY;
    out->to = -INFINITY;
    for (size_t i = 0; i < c->n; i++) {
        if (i && c->xs[i] < c->xs[i - 1]) out->is_rising = false;
        if (c->xs[i] < ask->from || c->xs[i] > ask->to) continue;
        out->in_range++;
        if (c->flags[i] & SB_POINT_NOT_FINITE) sb_count_not_finite(&out->not_finite, c->values[i]);
        out->from = fmin(out->from, c->xs[i]);
        out->to = fmax(out->to, c->xs[i]);
    }
    if (!isnan(ask->from)) out->from = ask->from;
    if (!isnan(ask->to)) out->to = ask->to;
}

sb_status sb_decimate_in_order(const sb_line *line, const sb_decimate_ask *ask,
                               const sb_budget *budget, sb_arena *arena, sb_decimated *out,
                               sb_err *err) {
    *out = (sb_decimated){.is_rising = true};
    bool is_empty;
    sb_status status = sb_decimate_range(line, ask, 0, &out->from, &out->to, &is_empty, err);
    if (status != SB_OK) return status;
    sb_scalar_ask all = {
        .axis = SB_AXIS_METRIC, .from = ask->from, .to = ask->to, .with_neighbours = true};
    sb_scalar_answer got;
    status = sb_scalar_read(line, &all, budget, arena, &got, err);
    if (status != SB_OK) return status;
    out->points = got.points;
    out->epoch = got.epoch;
    out->n = got.n;
    out->attempts = got.attempts;
    count_points(out, ask);
    if (out->points.n > (size_t)ask->pixels * POINTS_A_PIXEL) thin(&out->points, ask->pixels);
    if (sb_is_over(ask->limit, out->points.n))
        return sb_fail(err, SB_LIMIT, 0, "more than %zu points", ask->limit.most);
    return SB_OK;
}
