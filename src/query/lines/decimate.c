/* decimate.c: M4 over the heads of chunks. What is kept, and why, is said in decimate.h. */
#include "query/lines/decimate.h"

#include <math.h>

#include "base/search.h"
#include "base/slice.h"
#include "query/lines/decimate_int.h"
#include "base/banned.h"

/* ---- groups ---------------------------------------------------------------------------------- */

/* What is kept of a group. */
enum {
    FIRST,
    LAST,
    LEAST,
    GREATEST,
    SMOOTH_LEAST,
    SMOOTH_GREATEST,
    NOT_A_NUMBER,
    PLUS,
    MINUS,
    PICKS
};

typedef struct pick {
    uint64_t at; /* the point's place in the snapshot */
    size_t part, chunk;
    uint32_t i;
    double value; /* what it was chosen for */
    bool is_set;
} pick;

typedef struct group {
    bool is_open;
    int32_t column;
    bool superseded;
    size_t part; /* matters only when superseded points are shown */
    pick picks[PICKS];
} group;

/* The columns of one chunk, decoded when they are first wanted. */
typedef struct decoded {
    const sb_chunk *chunk; /* NULL: none */
    bool has_steps, has_values;
    sb_walls_done walls_done;
    sb_points points;
} decoded;

typedef struct m4 {
    const sb_line *line;
    const sb_decimate_ask *ask;
    sb_scale scale;
    double base;
    sb_arena *arena;
    sb_decimated *out;
    sb_err *err;
    group group;
    bool had_group;
    double last_x;
    decoded scanned; /* the chunk that is being split */
    decoded given;   /* the chunk whose points are being given out */
} m4;

static bool is_inside(const m4 *m, int32_t column) {
    return column >= 0 && column <= m->scale.last;
}

/* ---- columns of a span ----------------------------------------------------------------------- */

static void look_at(decoded *d, const sb_chunk *chunk) {
    if (d->chunk == chunk) return;
    d->chunk = chunk;
    d->has_steps = d->has_values = false;
    d->walls_done = (sb_walls_done){0};
}

static const int64_t *steps_of(decoded *d, const sb_span *span) {
    if (!span->chunk) return span->part->tail_steps;
    look_at(d, span->chunk);
    if (!d->has_steps) sb_chunk_steps(span->chunk, d->points.steps);
    d->has_steps = true;
    return d->points.steps;
}

static const double *walls_of(decoded *d, const sb_span *span) {
    if (!span->chunk) return span->part->tail_walls;
    look_at(d, span->chunk);
    sb_chunk_walls_to(span->chunk, d->points.walls, SB_CHUNK_POINTS, &d->walls_done);
    return d->points.walls;
}

static const double *values_of(decoded *d, const sb_span *span) {
    if (!span->chunk) return span->part->tail_values;
    look_at(d, span->chunk);
    if (!d->has_values) sb_chunk_values(span->chunk, d->points.values);
    d->has_values = true;
    return d->points.values;
}

static int64_t even_step(const sb_chunk *c, uint32_t i) {
    uint64_t span = (uint64_t)c->last_step - (uint64_t)c->first_step;
    uint64_t delta = (uint64_t)((int64_t)span / (int64_t)(SB_CHUNK_POINTS - 1));
    return (int64_t)((uint64_t)c->first_step + i * delta);
}

static int64_t step_at(decoded *d, const sb_span *span, uint32_t i) {
    const sb_chunk *c = span->chunk;
    if (!c) return span->part->tail_steps[i];
    if (c->flags & SB_CHUNK_EVEN_STEPS) return even_step(c, i);
    if (i == 0) return c->first_step;
    if (i == SB_CHUNK_POINTS - 1) return c->last_step;
    return steps_of(d, span)[i];
}

static double wall_at(decoded *d, const sb_span *span, uint32_t i) {
    const sb_chunk *c = span->chunk;
    if (!c) return span->part->tail_walls[i];
    if (i == 0) return c->first_wall;
    if (i == SB_CHUNK_POINTS - 1) return c->last_wall;
    look_at(d, c);
    sb_chunk_walls_to(c, d->points.walls, i + 1, &d->walls_done);
    return d->points.walls[i];
}

static double value_at(const sb_span *span, uint32_t i) {
    return span->chunk ? sb_chunk_value_at(span->chunk, i) : span->part->tail_values[i];
}

/* ---- giving out ------------------------------------------------------------------------------ */

static sb_status give_point(m4 *m, const sb_span *span, uint32_t i, uint64_t at, uint8_t flags) {
    sb_columns *c = &m->out->points;
    if (c->n == c->room) {
        sb_status status = sb_columns_grow(c, m->arena, m->ask->limit, m->err);
        if (status != SB_OK) return status;
    }
    bool by_step = sb_axis_counts_steps(m->ask->axis);
    bool wants_wall = !m->ask->without_walls || !by_step;
    double value = value_at(span, i);
    int64_t step = step_at(&m->given, span, i);
    double wall = wants_wall ? wall_at(&m->given, span, i) : 0;
    double x = (by_step ? (double)step : wall) - m->base;
    if (c->n && x < m->last_x) m->out->is_rising = false;
    m->last_x = x;
    c->steps[c->n] = step;
    c->walls[c->n] = wall;
    c->values[c->n] = value;
    if (c->smoothed) c->smoothed[c->n] = m->line->smoothed->values[at];
    c->flags[c->n] = (uint8_t)(flags | (isfinite(value) ? 0 : SB_POINT_NOT_FINITE));
    c->n++;
    return SB_OK;
}

static const uint8_t pick_flags[PICKS] = {[LEAST] = SB_POINT_LEAST, [GREATEST] = SB_POINT_GREATEST};

/* Gives out the picks of a group in the order of the line, each point once. */
static sb_status give_picks(m4 *m, const group *g) {
    const pick *order[PICKS];
    uint8_t flags[PICKS];
    size_t n = 0;
    for (size_t k = 0; k < PICKS; k++) {
        const pick *p = &g->picks[k];
        if (!p->is_set) continue;
        size_t at = n;
        while (at > 0 && order[at - 1]->at > p->at) at--;
        if (at > 0 && order[at - 1]->at == p->at) {
            flags[at - 1] |= pick_flags[k];
            continue;
        }
        for (size_t i = n; i > at; i--) {
            order[i] = order[i - 1];
            flags[i] = flags[i - 1];
        }
        order[at] = p;
        flags[at] = (uint8_t)(pick_flags[k] | (g->superseded ? SB_POINT_SUPERSEDED : 0));
        n++;
    }
    for (size_t i = 0; i < n; i++) {
        sb_span span = sb_span_at(m->line->series, order[i]->part, order[i]->chunk);
        sb_status status = give_point(m, &span, order[i]->i, order[i]->at, flags[i]);
        if (status != SB_OK) return status;
    }
    return SB_OK;
}

/* The group is over; has_next: another one follows. */
static sb_status close_group(m4 *m, bool has_next) {
    group *g = &m->group;
    if (!g->is_open) return SB_OK;
    g->is_open = false;
    if (!is_inside(m, g->column)) {
        /* Only where the line comes from and where it goes to. */
        g->picks[FIRST].is_set = m->had_group;
        g->picks[LAST].is_set = has_next;
    }
    sb_status status = give_picks(m, g);
    m->had_group = true;
    return status;
}

static bool joins_group(const m4 *m, const sb_span *span, int32_t column, bool superseded) {
    const group *g = &m->group;
    bool same_part = !m->line->show_superseded || g->part == span->part_index;
    return g->is_open && g->column == column && g->superseded == superseded && same_part;
}

static sb_status open_group(m4 *m, const sb_span *span, int32_t column, bool superseded) {
    if (joins_group(m, span, column, superseded)) return SB_OK;
    sb_status status = close_group(m, true);
    m->group = (group){
        .is_open = true, .column = column, .superseded = superseded, .part = span->part_index};
    return status;
}

/* ---- taking points into a group -------------------------------------------------------------- */

static void set_pick(pick *p, const sb_span *span, uint32_t i, double value) {
    *p = (pick){.at = span->start + i,
                .part = span->part_index,
                .chunk = span->chunk_index,
                .i = i,
                .value = value,
                .is_set = true};
}

static void offer_least(pick *p, const sb_span *span, uint32_t i, double value) {
    if (!p->is_set || value < p->value) set_pick(p, span, i, value);
}

static void offer_greatest(pick *p, const sb_span *span, uint32_t i, double value) {
    if (!p->is_set || value > p->value) set_pick(p, span, i, value);
}

static void take_ends(group *g, const sb_span *span, uint32_t from, uint32_t to) {
    if (!g->picks[FIRST].is_set) set_pick(&g->picks[FIRST], span, from, 0);
    set_pick(&g->picks[LAST], span, to - 1, 0);
}

static void take_not_finite(m4 *m, const sb_span *span, uint32_t i, double value) {
    size_t kind = value != value ? NOT_A_NUMBER : value > 0 ? PLUS : MINUS;
    pick *p = &m->group.picks[kind];
    if (!p->is_set) set_pick(p, span, i, value);
    sb_count_not_finite(&m->out->not_finite, value);
}

/* Points from..to of values: their extremes, first of equals. What is not finite is left to the
 * group. */
static void take_mixed(m4 *m, pick *least, pick *greatest, bool mark, const sb_span *span,
                       const double *values, uint32_t from, uint32_t to) {
    double low = INFINITY, high = -INFINITY;
    uint32_t low_at = to, high_at = to;
    for (uint32_t i = from; i < to; i++) {
        double x = values[i];
        if (!isfinite(x)) {
            if (mark) take_not_finite(m, span, i, x);
            continue;
        }
        if (x < low) {
            low = x;
            low_at = i;
        }
        if (x > high) {
            high = x;
            high_at = i;
        }
    }
    if (low_at < to) offer_least(least, span, low_at, low);
    if (high_at < to) offer_greatest(greatest, span, high_at, high);
}

/* The same for values that are all finite: the index of an extreme is searched for only
 * when it is a new one. */
static void take_finite(pick *least, pick *greatest, const sb_span *span, const double *values,
                        uint32_t from, uint32_t to) {
    double low, high;
    uint32_t i = from;
    sb_finite_extremes(values + from, to - from, &low, &high);
    if (!least->is_set || low < least->value) {
        while (values[i] != low) i++;
        set_pick(least, span, i, low);
    }
    if (!greatest->is_set || high > greatest->value) {
        for (i = from; values[i] != high;) i++;
        set_pick(greatest, span, i, high);
    }
}

/* Points from..to of a span, all in the open group. */
static void take_points(m4 *m, const sb_span *span, uint32_t from, uint32_t to) {
    group *g = &m->group;
    take_ends(g, span, from, to);
    if (!is_inside(m, g->column)) return;
    m->out->in_range += to - from;
    const double *values = values_of(&m->scanned, span);
    if (span->chunk && span->chunk->finite_count == SB_CHUNK_POINTS)
        take_finite(&g->picks[LEAST], &g->picks[GREATEST], span, values, from, to);
    else
        take_mixed(m, &g->picks[LEAST], &g->picks[GREATEST], true, span, values, from, to);
    const sb_smoothed *s = m->line->smoothed;
    if (!s) return;
    values = s->values + span->start;
    if (s->stats[span->index].finite == span->n)
        take_finite(&g->picks[SMOOTH_LEAST], &g->picks[SMOOTH_GREATEST], span, values, from, to);
    else
        take_mixed(m, &g->picks[SMOOTH_LEAST], &g->picks[SMOOTH_GREATEST], false, span, values,
                   from, to);
}

/* A point inside that is a group of its own, as most are where points are few: given at once. */
static sb_status take_lone(m4 *m, const sb_span *span, uint32_t i, bool superseded) {
    sb_status status = close_group(m, true);
    if (status != SB_OK) return status;
    double value = values_of(&m->scanned, span)[i];
    bool is_finite = isfinite(value);
    uint8_t flags = (uint8_t)((superseded ? SB_POINT_SUPERSEDED : 0) |
                              (is_finite ? SB_POINT_LEAST | SB_POINT_GREATEST : 0));
    m->out->in_range++;
    if (!is_finite) sb_count_not_finite(&m->out->not_finite, value);
    m->had_group = true;
    return give_point(m, span, i, span->start + i, flags);
}

static void take_stats(pick *least, pick *greatest, const sb_span *span,
                       const sb_span_stats *stats) {
    if (stats->finite == 0) return;
    offer_least(least, span, stats->min_at, stats->min);
    offer_greatest(greatest, span, stats->max_at, stats->max);
}

/* NaN and infinities of a chunk that has some, when its head does not say where. */
static bool needs_a_look(const m4 *m, const sb_chunk *c) {
    if (c->finite_count == SB_CHUNK_POINTS) return false;
    return !(c->finite_count + c->nan_count == SB_CHUNK_POINTS &&
             m->group.picks[NOT_A_NUMBER].is_set);
}

/* A whole chunk in the open group. */
static void take_chunk(m4 *m, const sb_span *span) {
    group *g = &m->group;
    const sb_smoothed *s = m->line->smoothed;
    if (!is_inside(m, g->column)) {
        take_ends(g, span, 0, span->n);
        return;
    }
    sb_span_stats stats;
    if (needs_a_look(m, span->chunk) || !sb_stats_of_chunk(span->chunk, &stats)) {
        take_points(m, span, 0, span->n);
        return;
    }
    take_ends(g, span, 0, span->n);
    m->out->in_range += span->n;
    m->out->not_finite.nan += stats.nan;
    take_stats(&g->picks[LEAST], &g->picks[GREATEST], span, &stats);
    if (s)
        take_stats(&g->picks[SMOOTH_LEAST], &g->picks[SMOOTH_GREATEST], span,
                   &s->stats[span->index]);
}

/* ---- spans ----------------------------------------------------------------------------------- */

/* x of points of a chunk in which it rises: computed where steps are even, else decoded. */
typedef struct rising {
    const sb_chunk *even; /* NULL: look at xs */
    const double *xs;
} rising;

static int32_t column_at(const m4 *m, const rising *r, uint32_t i) {
    return sb_scale_column(&m->scale, r->even ? (double)even_step(r->even, i) - m->base : r->xs[i]);
}

/* The end of the run of points from i on that lie in the column of i. An exponential search, then a
 * binary search. */
static uint32_t end_of_column(const m4 *m, const rising *r, uint32_t i, uint32_t n,
                              int32_t column) {
    uint32_t leap = 1, low = i;
    while (low + leap < n && column_at(m, r, low + leap) == column) {
        low += leap;
        leap *= 2;
    }
    uint32_t high = low + leap < n ? low + leap : n;
    uint32_t end;
    SB_PARTITION_POINT(end, low + 1, high, column_at(m, r, end) == column);
    return end;
}

/* A run of points of one column. is_closed: what follows it in the span is in another group. */
static sb_status take_run(m4 *m, const sb_span *span, uint32_t from, uint32_t to, int32_t column,
                          bool superseded, bool is_closed) {
    if (is_closed && to == from + 1 && is_inside(m, column) &&
        !joins_group(m, span, column, superseded))
        return take_lone(m, span, from, superseded);
    sb_status status = open_group(m, span, column, superseded);
    if (status == SB_OK) take_points(m, span, from, to);
    return status;
}

static sb_status split_rising(m4 *m, const sb_span *span, const rising *r, bool superseded) {
    for (uint32_t i = 0, end; i < span->n; i = end) {
        int32_t column = column_at(m, r, i);
        end = end_of_column(m, r, i, span->n, column);
        sb_status status = take_run(m, span, i, end, column, superseded, end < span->n);
        if (status != SB_OK) return status;
    }
    return SB_OK;
}

/* Point by point, for any order of x, and where a restart cuts the span in two. */
static sb_status split_any(m4 *m, const sb_span *span, const double *xs) {
    const int64_t *steps = steps_of(&m->scanned, span);
    for (uint32_t i = 0, end; i < span->n; i = end) {
        end = i + 1;
        bool superseded = sb_is_superseded(span->part, steps[i]);
        if (superseded && !m->line->show_superseded) continue;
        if (!isfinite(xs[i])) {
            m->out->without_x++;
            continue;
        }
        int32_t column = sb_scale_column(&m->scale, xs[i]);
        while (end < span->n && isfinite(xs[end]) &&
               sb_scale_column(&m->scale, xs[end]) == column &&
               sb_is_superseded(span->part, steps[end]) == superseded)
            end++;
        bool is_closed = end < span->n && isfinite(xs[end]) &&
                         (m->line->show_superseded || !sb_is_superseded(span->part, steps[end]));
        sb_status status = take_run(m, span, i, end, column, superseded, is_closed);
        if (status != SB_OK) return status;
    }
    return SB_OK;
}

static bool rises(const m4 *m, const sb_span *span, sb_span_cut cut) {
    if (!span->chunk || cut == SB_CUT_SOME) return false;
    if (sb_axis_counts_steps(m->ask->axis)) return span->chunk->flags & SB_CHUNK_RISING;
    double low, high;
    return sb_axis_chunk(m->ask->axis, m->base, span->chunk, &low, &high);
}

static sb_status take_span(m4 *m, const sb_span *span) {
    sb_span_cut cut = sb_span_cut_of(span);
    if (cut == SB_CUT_ALL && !m->line->show_superseded) return SB_OK;
    bool superseded = cut == SB_CUT_ALL;
    double low, high, xs[SB_CHUNK_POINTS];
    if (span->chunk && cut != SB_CUT_SOME &&
        sb_axis_chunk(m->ask->axis, m->base, span->chunk, &low, &high)) {
        int32_t column = sb_scale_column(&m->scale, low);
        if (column == sb_scale_column(&m->scale, high)) {
            sb_status status = open_group(m, span, column, superseded);
            if (status == SB_OK) take_chunk(m, span);
            return status;
        }
    }
    bool is_rising = rises(m, span, cut);
    bool by_step = sb_axis_counts_steps(m->ask->axis);
    if (is_rising && by_step && span->chunk->flags & SB_CHUNK_EVEN_STEPS)
        return split_rising(m, span, &(rising){.even = span->chunk}, superseded);
    const int64_t *steps = NULL;
    const double *walls = NULL;
    if (by_step)
        steps = steps_of(&m->scanned, span);
    else
        walls = walls_of(&m->scanned, span);
    sb_line_xs(m->line, span, m->ask->axis, m->base, steps, walls, xs);
    return is_rising ? split_rising(m, span, &(rising){.xs = xs}, superseded)
                     : split_any(m, span, xs);
}

/* ---- the answer ------------------------------------------------------------------------------ */

sb_status sb_decimate_range(const sb_line *line, const sb_decimate_ask *ask, double base,
                            double *from, double *to, bool *is_empty, sb_err *err) {
    *from = ask->from;
    *to = ask->to;
    *is_empty = false;
    if (line->series->meta->kind != SB_SERIES_SCALAR)
        return sb_fail(err, SB_INVALID, 0, "%.*s holds no scalars", SB_SHOWN(line->series->tag));
    if (ask->pixels == 0 || ask->pixels > SB_MAX_PIXELS)
        return sb_fail(err, SB_INVALID, 0, "a width of %u pixels; 1 to %u make sense", ask->pixels,
                       SB_MAX_PIXELS);
    if (!(ask->near >= 0) || isinf(ask->near))
        return sb_fail(err, SB_INVALID, 0, "a log axis that is linear below %g", ask->near);
    if (isinf(*from) || isinf(*to) || *from > *to)
        return sb_fail(err, SB_INVALID, 0, "a range from %g to %g", *from, *to);
    if (!isnan(*from) && !isnan(*to)) return SB_OK;
    double low, high;
    if (!sb_line_extent(line, ask->axis, base, &low, &high)) {
        *is_empty = true;
        return SB_OK;
    }
    if (isnan(*from)) *from = isnan(*to) || low < *to ? low : *to;
    if (isnan(*to)) *to = high > *from ? high : *from;
    return SB_OK;
}

sb_scale sb_scale_of(double from, double to, uint32_t pixels, double near) {
    double first = sb_scale_place(near, from) * 0.5, last = sb_scale_place(near, to) * 0.5;
    return (sb_scale){.from = from,
                      .to = to,
                      .half_from = first,
                      .half_width = last - first,
                      .near = near,
                      .pixels = (double)pixels,
                      .last = (int32_t)pixels - 1};
}

static sb_status decimate_all(m4 *m, const sb_budget *budget) {
    sb_spans walk = sb_spans_of(m->line->series);
    sb_span span;
    while (sb_spans_next(&walk, &span)) {
        if (span.index % 64 == 63 && sb_budget_over(budget)) return sb_fail_timeout(m->err);
        sb_status status = take_span(m, &span);
        if (status != SB_OK) return status;
    }
    return close_group(m, false);
}

sb_status sb_scalar_decimate(const sb_line *line, const sb_decimate_ask *ask,
                             const sb_budget *budget, sb_arena *arena, sb_decimated *out,
                             sb_err *err) {
    *out = (sb_decimated){.is_rising = true};
    if (ask->axis == SB_AXIS_METRIC)
        return sb_decimate_in_order(line, ask, budget, arena, out, err);
    double base = sb_line_base(line, ask->axis);
    bool is_empty;
    sb_status status = sb_decimate_range(line, ask, base, &out->from, &out->to, &is_empty, err);
    if (status != SB_OK) return status;
    out->epoch = sb_series_epoch(line->series);
    out->n = sb_line_points(line);
    out->attempts = sb_series_attempts(line->series);
    size_t room = (size_t)ask->pixels * 4;
    if (room > out->n) room = (size_t)out->n;
    if (sb_is_over(ask->limit, room)) room = ask->limit.most;
    status = sb_columns_init(&out->points, arena, room, line, ask->axis, err);
    if (status != SB_OK || is_empty) {
        if (is_empty) out->without_x = out->n;
        return status;
    }
    m4 m; /* too large to be zeroed: only the fields that need it are set */
    m.line = line;
    m.ask = ask;
    m.scale = sb_scale_of(out->from, out->to, ask->pixels, ask->near);
    m.base = base;
    m.arena = arena;
    m.out = out;
    m.err = err;
    m.group = (group){0};
    m.had_group = false;
    m.last_x = 0;
    m.scanned.chunk = m.given.chunk = NULL;
    return decimate_all(&m, budget);
}
