/* measure.c: nearest points, extremes and means, from the heads of chunks where these tell. */
#include "query/lines/measure.h"

#include <math.h>

#include "base/slice.h"
#include "base/banned.h"

#define LOOK_EVERY 64u /* spans between looks at the clock */

/* Where a point stands. */
typedef struct place {
    size_t part, chunk;
    uint32_t i;
    uint64_t at; /* counted over the snapshot */
} place;

typedef struct measuring {
    const sb_line *line;
    const sb_measure_ask *ask;
    const sb_budget *budget;
    sb_err *err;
    double base;
} measuring;

static sb_span_cut cut_of(const measuring *m, const sb_span *span) {
    return m->line->show_superseded ? SB_CUT_NONE : sb_span_cut_of(span);
}

/* The next span; false at the end, and when the time is over. */
static bool next_span(const measuring *m, sb_spans *walk, sb_span *span, sb_status *status) {
    if (!sb_spans_next(walk, span)) return false;
    if (span->index % LOOK_EVERY == LOOK_EVERY - 1 && sb_budget_over(m->budget))
        *status = sb_fail_timeout(m->err);
    return *status == SB_OK;
}

/* A chunk that is wholly visible and whose summary bounds its x. */
static bool bounds_of(const measuring *m, const sb_span *span, double *low, double *high) {
    return span->chunk && cut_of(m, span) == SB_CUT_NONE &&
           sb_axis_chunk(m->ask->axis, m->base, span->chunk, low, high);
}

/* The columns of a span; x is NaN for points that are not shown. */
typedef struct columns {
    sb_points room;
    const int64_t *steps;
    const double *walls, *values;
    double xs[SB_CHUNK_POINTS];
} columns;

static void decode_xs(const measuring *m, const sb_span *span, columns *c) {
    sb_span_cut cut = cut_of(m, span);
    c->steps = sb_span_steps(span, c->room.steps);
    c->walls = sb_axis_counts_steps(m->ask->axis) ? NULL : sb_span_walls(span, c->room.walls);
    sb_line_xs(m->line, span, m->ask->axis, m->base, c->steps, c->walls, c->xs);
    for (uint32_t i = 0; i < span->n && cut != SB_CUT_NONE; i++)
        if (sb_is_superseded(span->part, c->steps[i])) c->xs[i] = NAN;
}

static sb_measure_point point_at(const measuring *m, const place *at) {
    sb_points room;
    sb_span span = sb_span_at(m->line->series, at->part, at->chunk);
    double value = sb_span_values(&span, room.values)[at->i];
    const sb_smoothed *s = m->line->smoothed;
    return (sb_measure_point){.step = sb_span_steps(&span, room.steps)[at->i],
                              .wall = sb_span_walls(&span, room.walls)[at->i],
                              .value = value,
                              .smooth = s ? s->values[at->at] : value};
}

/* ---- the nearest point ----------------------------------------------------------------------- */

/* Halves, since the distance of two finite numbers may be infinite. */
static double distance(double x, double target) {
    return fabs(x * 0.5 - target * 0.5);
}

static double distance_to_span(double low, double high, double target) {
    return target < low ? distance(low, target) : target > high ? distance(high, target) : 0;
}

typedef struct nearest {
    double target;
    double bound; /* some point is at least as near */
    double best;
    double x;
    bool is_found;
    place at;
} nearest;

static void look_for(const measuring *m, const sb_span *span, columns *c, nearest *near) {
    decode_xs(m, span, c);
    for (uint32_t i = 0; i < span->n; i++) {
        if (!isfinite(c->xs[i])) continue;
        double d = distance(c->xs[i], near->target);
        if (near->is_found && d >= near->best) continue;
        near->is_found = true;
        near->best = d;
        near->x = c->xs[i];
        near->at = (place){span->part_index, span->chunk_index, i, span->start + i};
    }
}

/* The least and the greatest x of a chunk's summary are those of points that exist, so the nearest
 * point is not further away than these. */
static void find_bound(const measuring *m, nearest *near) {
    near->bound = INFINITY;
    sb_spans walk = sb_spans_of(m->line->series);
    sb_span span;
    double low, high;
    while (sb_spans_next(&walk, &span)) {
        if (!bounds_of(m, &span, &low, &high)) continue;
        double d = fmin(distance(low, near->target), distance(high, near->target));
        if (d < near->bound) near->bound = d;
    }
}

static sb_status find_nearest(const measuring *m, nearest *near) {
    find_bound(m, near);
    columns c;
    sb_spans walk = sb_spans_of(m->line->series);
    sb_span span;
    double low, high;
    sb_status status = SB_OK;
    while (next_span(m, &walk, &span, &status)) {
        if (bounds_of(m, &span, &low, &high)) {
            double d = distance_to_span(low, high, near->target);
            if (d > near->bound || (near->is_found && d >= near->best)) continue;
        }
        if (cut_of(m, &span) != SB_CUT_ALL) look_for(m, &span, &c, near);
    }
    return status;
}

/* ---- what lies between ----------------------------------------------------------------------- */

typedef struct tally {
    uint64_t finite;
    double min, max, sum;
    place min_at, max_at;
} tally;

typedef struct between {
    double from, to;
    uint64_t n;
    tally raw, smooth;
} between;

static void add_span_to_tally(tally *t, const sb_span *span, const sb_span_stats *stats) {
    if (stats->finite == 0) return;
    if (t->finite == 0 || stats->min < t->min) {
        t->min = stats->min;
        t->min_at = (place){span->part_index, span->chunk_index, stats->min_at,
                            span->start + stats->min_at};
    }
    if (t->finite == 0 || stats->max > t->max) {
        t->max = stats->max;
        t->max_at = (place){span->part_index, span->chunk_index, stats->max_at,
                            span->start + stats->max_at};
    }
    t->finite += stats->finite;
    t->sum += stats->sum;
}

static void add_to_tally(tally *t, const sb_span *span, uint32_t i, double value) {
    if (!isfinite(value)) return;
    sb_span_stats one = {value, value, value, 1, 0, (uint16_t)i, (uint16_t)i};
    add_span_to_tally(t, span, &one);
}

/* A chunk that lies inside as a whole; false when its head does not tell enough. */
static bool add_chunk(const measuring *m, between *b, const sb_span *span) {
    sb_span_stats stats;
    if (!sb_stats_of_chunk(span->chunk, &stats)) return false;
    b->n += span->n;
    add_span_to_tally(&b->raw, span, &stats);
    if (m->line->smoothed)
        add_span_to_tally(&b->smooth, span, &m->line->smoothed->stats[span->index]);
    return true;
}

static void add_points(const measuring *m, between *b, const sb_span *span, columns *c) {
    decode_xs(m, span, c);
    c->values = sb_span_values(span, c->room.values);
    const sb_smoothed *s = m->line->smoothed;
    for (uint32_t i = 0; i < span->n; i++) {
        if (!(c->xs[i] >= b->from && c->xs[i] <= b->to)) continue;
        b->n++;
        add_to_tally(&b->raw, span, i, c->values[i]);
        if (s) add_to_tally(&b->smooth, span, i, s->values[span->start + i]);
    }
}

static sb_status add_all(const measuring *m, between *b) {
    columns c;
    sb_spans walk = sb_spans_of(m->line->series);
    sb_span span;
    double low, high;
    sb_status status = SB_OK;
    while (next_span(m, &walk, &span, &status)) {
        if (cut_of(m, &span) == SB_CUT_ALL) continue;
        if (bounds_of(m, &span, &low, &high)) {
            if (high < b->from || low > b->to) continue;
            if (low >= b->from && high <= b->to && add_chunk(m, b, &span)) continue;
        }
        add_points(m, b, &span, &c);
    }
    return status;
}

/* For sums that a double cannot hold: every value is divided first. */
static double careful_mean(const measuring *m, const between *b, bool smoothed, uint64_t finite) {
    columns c;
    double mean = 0;
    sb_spans walk = sb_spans_of(m->line->series);
    sb_span span;
    while (sb_spans_next(&walk, &span)) {
        decode_xs(m, &span, &c);
        const double *values = smoothed ? m->line->smoothed->values + span.start
                                        : sb_span_values(&span, c.room.values);
        for (uint32_t i = 0; i < span.n; i++)
            if (c.xs[i] >= b->from && c.xs[i] <= b->to && isfinite(values[i]))
                mean += values[i] / (double)finite;
    }
    return mean;
}

static sb_measure_values values_of(const measuring *m, const between *b, bool smoothed) {
    const tally *t = smoothed ? &b->smooth : &b->raw;
    if (t->finite == 0) return (sb_measure_values){0};
    return (sb_measure_values){.finite = t->finite,
                               .min = point_at(m, &t->min_at),
                               .max = point_at(m, &t->max_at),
                               .mean = isfinite(t->sum) ? t->sum / (double)t->finite
                                                        : careful_mean(m, b, smoothed, t->finite)};
}

/* ---- the answer ------------------------------------------------------------------------------ */

sb_status sb_measure_line(const sb_line *line, const sb_measure_ask *ask, const sb_budget *budget,
                          sb_measure *out, sb_err *err) {
    *out = (sb_measure){0};
    if (line->series->meta->kind != SB_SERIES_SCALAR)
        return sb_fail(err, SB_INVALID, 0, "%.*s holds no scalars", SB_SHOWN(line->series->tag));
    if (!isfinite(ask->from) || !isfinite(ask->to) || ask->from > ask->to)
        return sb_fail(err, SB_INVALID, 0, "a range from %g to %g", ask->from, ask->to);
    measuring m = {line, ask, budget, err, sb_line_base(line, ask->axis)};
    double low, high;
    if (!sb_line_extent(line, ask->axis, m.base, &low, &high)) return SB_OK;
    /* A target far outside of the line is moved to its end: rounding would make the distances to
     * all points equal. */
    nearest start = {.target = fmin(fmax(ask->from, low), high)};
    nearest end = {.target = fmin(fmax(ask->to, low), high)};
    sb_status status = find_nearest(&m, &start);
    if (status == SB_OK) status = find_nearest(&m, &end);
    if (status != SB_OK) return status;
    between b = {.from = fmin(start.x, end.x), .to = fmax(start.x, end.x)};
    status = add_all(&m, &b);
    if (status != SB_OK) return status;
    out->n = b.n;
    out->start = point_at(&m, &start.at);
    out->end = point_at(&m, &end.at);
    out->raw = values_of(&m, &b, false);
    out->smooth = line->smoothed ? values_of(&m, &b, true) : out->raw;
    return SB_OK;
}
