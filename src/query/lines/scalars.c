/* scalars.c: reading columns. */
#include "query/lines/scalars.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/slice.h"
#include "query/lines/decimate_int.h"
#include "base/banned.h"

/* ---- columns --------------------------------------------------------------------------------- */

sb_status sb_columns_init(sb_columns *c, sb_arena *arena, size_t room, const sb_line *line,
                          sb_axis axis, sb_err *err) {
    bool smoothed = line->smoothed != NULL, has_xs = axis == SB_AXIS_METRIC;
    *c = (sb_columns){.room = room};
    size_t bytes;
    if (!sb_mul_size(&bytes, room, sizeof(double)))
        return sb_fail_nomem(err, "for the points of a series");
    c->steps = sb_arena_get(arena, bytes);
    c->walls = sb_arena_get(arena, bytes);
    c->values = sb_arena_get(arena, bytes);
    c->flags = sb_arena_get(arena, room);
    if (smoothed) c->smoothed = sb_arena_get(arena, bytes);
    if (has_xs) c->xs = sb_arena_get(arena, bytes);
    if (!c->steps || !c->walls || !c->values || !c->flags || (smoothed && !c->smoothed) ||
        (has_xs && !c->xs))
        return sb_fail_nomem(err, "for the points of a series");
    return SB_OK;
}

static bool grow_column(sb_arena *arena, void **column, size_t n, size_t room, size_t element) {
    void *p = sb_arena_get(arena, room * element);
    if (!p) return false;
    if (n) memcpy(p, *column, n * element);
    *column = p;
    return true;
}

sb_status sb_columns_grow(sb_columns *c, sb_arena *arena, sb_point_limit limit, sb_err *err) {
    if (sb_is_over(limit, (uint64_t)c->room + 1))
        return sb_fail(err, SB_LIMIT, 0, "more than %zu points", limit.most);
    size_t room = c->room < 64 ? 128 : c->room * 2;
    if (sb_is_over(limit, room)) room = limit.most;
    if (room > SIZE_MAX / 16) return sb_fail_nomem(err, "for the points of a series");
    void *steps = c->steps, *walls = c->walls, *values = c->values, *flags = c->flags;
    void *smoothed = c->smoothed;
    bool ok = grow_column(arena, &steps, c->n, room, sizeof *c->steps) &&
              grow_column(arena, &walls, c->n, room, sizeof *c->walls) &&
              grow_column(arena, &values, c->n, room, sizeof *c->values) &&
              grow_column(arena, &flags, c->n, room, sizeof *c->flags) &&
              (!smoothed || grow_column(arena, &smoothed, c->n, room, sizeof *c->smoothed));
    if (!ok) return sb_fail_nomem(err, "for the points of a series");
    c->steps = steps;
    c->walls = walls;
    c->values = values;
    c->flags = flags;
    c->smoothed = smoothed;
    c->room = room;
    return SB_OK;
}

void sb_columns_move(sb_columns *c, size_t to, const uint64_t *from, size_t n) {
    for (size_t i = to; i < to + n; i++) {
        uint64_t at = from[i - to];
        c->steps[i] = c->steps[at];
        c->walls[i] = c->walls[at];
        c->values[i] = c->values[at];
        c->flags[i] = c->flags[at];
        if (c->smoothed) c->smoothed[i] = c->smoothed[at];
        if (c->xs) c->xs[i] = c->xs[at];
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct point {
    int64_t step;
    double wall, value, smoothed, x;
    uint8_t flags;
} point;

typedef struct reader {
    const sb_line *line;
    const sb_scalar_ask *ask;
    sb_columns *out;
    double base;
    bool is_bounded;
    uint64_t skip; /* visible points that the client has */
    uint64_t over; /* points that found no room */
    /* the last point, when it was outside: */
    int side; /* -1 left, 1 right of the range; 0 inside, or there was none */
    bool any;
    bool is_pushed;
    point last;
} reader;

static void push_point(reader *r, const point *p) {
    sb_columns *c = r->out;
    if (c->n == c->room) {
        r->over++;
        return;
    }
    c->steps[c->n] = p->step;
    c->walls[c->n] = p->wall;
    c->values[c->n] = p->value;
    c->flags[c->n] = p->flags;
    if (c->smoothed) c->smoothed[c->n] = p->smoothed;
    if (c->xs) c->xs[c->n] = p->x;
    c->n++;
}

static int side_of(const reader *r, double x) {
    if (x < r->ask->from) return -1;
    return x > r->ask->to ? 1 : 0;
}

/* A visible point of a line with a range, inside it or on one side. */
static void take_point(reader *r, const point *p, int side) {
    bool enters = r->any && r->side != side;
    if (side == 0) {
        if (enters && r->ask->with_neighbours && !r->is_pushed) push_point(r, &r->last);
        push_point(r, p);
    } else if (r->ask->with_neighbours) {
        /* The line left the range, or went from one side of it to the other. */
        if (enters && r->side != 0 && !r->is_pushed) push_point(r, &r->last);
        if (enters) push_point(r, p);
        r->is_pushed = enters;
        r->last = *p;
    }
    r->side = side;
    r->any = true;
}

static uint8_t flags_of(double value, bool superseded) {
    return (uint8_t)((superseded ? SB_POINT_SUPERSEDED : 0) |
                     (isfinite(value) ? 0 : SB_POINT_NOT_FINITE));
}

static point point_of(const reader *r, const sb_span *span, const sb_points *points, uint32_t i) {
    const sb_smoothed *smoothed = r->line->smoothed;
    bool superseded = sb_is_superseded(span->part, points->steps[i]);
    return (point){.step = points->steps[i],
                   .wall = points->walls[i],
                   .value = points->values[i],
                   .smoothed = smoothed ? smoothed->values[span->start + i] : 0,
                   .flags = flags_of(points->values[i], superseded)};
}

static void copy_columns(const sb_span *span, sb_points *to) {
    if (span->chunk) {
        sb_chunk_steps(span->chunk, to->steps);
        sb_chunk_walls(span->chunk, to->walls);
        sb_chunk_values(span->chunk, to->values);
        return;
    }
    memcpy(to->steps, span->part->tail_steps, span->n * sizeof(int64_t));
    memcpy(to->walls, span->part->tail_walls, span->n * sizeof(double));
    memcpy(to->values, span->part->tail_values, span->n * sizeof(double));
}

/* All points of a span at once. */
static void read_whole(reader *r, const sb_span *span, bool superseded) {
    sb_columns *c = r->out;
    if (c->room - c->n < span->n) {
        r->over += span->n;
        return;
    }
    int64_t *steps = c->steps + c->n;
    double *walls = c->walls + c->n, *values = c->values + c->n;
    if (span->chunk) {
        sb_chunk_steps(span->chunk, steps);
        sb_chunk_walls(span->chunk, walls);
        sb_chunk_values(span->chunk, values);
    } else {
        memcpy(steps, span->part->tail_steps, span->n * sizeof *steps);
        memcpy(walls, span->part->tail_walls, span->n * sizeof *walls);
        memcpy(values, span->part->tail_values, span->n * sizeof *values);
    }
    for (uint32_t i = 0; i < span->n; i++) c->flags[c->n + i] = flags_of(values[i], superseded);
    if (c->smoothed)
        memcpy(c->smoothed + c->n, r->line->smoothed->values + span->start,
               span->n * sizeof *values);
    c->n += span->n;
}

static void read_some(reader *r, const sb_span *span, sb_span_cut cut) {
    sb_points points;
    double xs[SB_CHUNK_POINTS];
    copy_columns(span, &points);
    if (r->is_bounded)
        sb_line_xs(r->line, span, r->ask->axis, r->base, points.steps, points.walls, xs);
    for (uint32_t i = 0; i < span->n; i++) {
        if (cut == SB_CUT_SOME && !r->line->show_superseded &&
            sb_is_superseded(span->part, points.steps[i]))
            continue;
        if (r->skip) {
            r->skip--;
            continue;
        }
        point p = point_of(r, span, &points, i);
        if (!r->is_bounded) {
            push_point(r, &p);
        } else if (isfinite(xs[i])) {
            p.x = xs[i];
            take_point(r, &p, side_of(r, xs[i]));
        }
    }
}

/* Does the whole chunk lie on one side of the range? Its ends stand in its head. */
static bool pass_by(reader *r, const sb_span *span, sb_span_cut cut) {
    double low, high;
    const sb_chunk *c = span->chunk;
    if (!r->is_bounded || !c || cut == SB_CUT_SOME || r->skip) return false;
    if (!sb_axis_chunk(r->ask->axis, r->base, c, &low, &high)) return false;
    int side = side_of(r, low);
    if (side == 0 || side_of(r, high) != side) return false;
    if (!r->ask->with_neighbours) return true;
    const sb_smoothed *s = r->line->smoothed;
    bool superseded = cut == SB_CUT_ALL;
    uint64_t end = span->start + span->n - 1;
    point first = {c->first_step,
                   c->first_wall,
                   c->first_value,
                   s ? s->values[span->start] : 0,
                   0,
                   flags_of(c->first_value, superseded)};
    point last = {c->last_step,
                  c->last_wall,
                  c->last_value,
                  s ? s->values[end] : 0,
                  0,
                  flags_of(c->last_value, superseded)};
    take_point(r, &first, side);
    take_point(r, &last, side);
    return true;
}

static void read_span(reader *r, const sb_span *span) {
    sb_span_cut cut = sb_span_cut_of(span);
    if (cut == SB_CUT_ALL && !r->line->show_superseded) return;
    bool is_whole = cut != SB_CUT_SOME;
    if (is_whole && r->skip >= span->n) {
        r->skip -= span->n;
        return;
    }
    if (pass_by(r, span, cut)) return;
    if (is_whole && !r->is_bounded && r->skip == 0)
        read_whole(r, span, cut == SB_CUT_ALL);
    else
        read_some(r, span, cut);
}

/* ---- how much there is ----------------------------------------------------------------------- */

static uint32_t visible_in(const sb_span *span) {
    switch (sb_span_cut_of(span)) {
    case SB_CUT_NONE:
        return span->n;
    case SB_CUT_ALL:
        return 0;
    default:
        break;
    }
    int64_t room[SB_CHUNK_POINTS];
    const int64_t *steps = sb_span_steps(span, room);
    uint32_t n = 0;
    for (uint32_t i = 0; i < span->n; i++) n += !sb_is_superseded(span->part, steps[i]);
    return n;
}

uint64_t sb_line_points(const sb_line *line) {
    uint64_t n = 0;
    bool cut = false;
    for (size_t i = 0; i < line->series->part_n; i++)
        cut = cut || line->series->parts[i].cut_step != SB_NO_CUT;
    if (line->show_superseded || !cut) return line->series->points;
    sb_spans walk = sb_spans_of(line->series);
    sb_span span;
    while (sb_spans_next(&walk, &span)) n += visible_in(&span);
    return n;
}

uint32_t sb_series_attempts(const sb_series *series) {
    uint32_t n = 1;
    for (size_t i = 0; i < series->part_n; i++)
        n += series->parts[i].cut_step != SB_NO_CUT && !series->parts[i].continues;
    return n;
}

/* An upper bound of the points that the range holds, with two neighbours a span. */
static uint64_t most_points(const reader *r) {
    uint64_t n = 0;
    sb_spans walk = sb_spans_of(r->line->series);
    sb_span span;
    while (sb_spans_next(&walk, &span)) {
        double low, high;
        bool outside = r->is_bounded && span.chunk &&
                       sb_axis_chunk(r->ask->axis, r->base, span.chunk, &low, &high) &&
                       side_of(r, low) == side_of(r, high) && side_of(r, low) != 0;
        n += outside ? (r->ask->with_neighbours ? 2 : 0) : span.n;
    }
    return n;
}

/* ---- the answer ------------------------------------------------------------------------------ */

static sb_status prepare(reader *r, sb_scalar_answer *out, sb_arena *arena, sb_err *err) {
    const sb_scalar_ask *ask = r->ask;
    out->epoch = sb_series_epoch(r->line->series);
    out->n = sb_line_points(r->line);
    out->attempts = sb_series_attempts(r->line->series);
    r->base = sb_line_base(r->line, ask->axis);
    out->is_append = ask->have_n && ask->have_epoch == out->epoch && ask->have_n <= out->n;
    /* points without another metric's value are no part of the line */
    r->is_bounded = !isnan(ask->from) || !isnan(ask->to) || ask->axis == SB_AXIS_METRIC;
    r->skip = out->is_append ? ask->have_n : 0;
    uint64_t most = r->is_bounded ? most_points(r) : out->n - r->skip;
    if (sb_is_over(ask->limit, most)) most = ask->limit.most;
    if (most > SIZE_MAX / sizeof(double)) return sb_fail_nomem(err, "for the points of a series");
    return sb_columns_init(&out->points, arena, (size_t)most, r->line, ask->axis, err);
}

sb_status sb_scalar_read(const sb_line *line, const sb_scalar_ask *ask, const sb_budget *budget,
                         sb_arena *arena, sb_scalar_answer *out, sb_err *err) {
    *out = (sb_scalar_answer){0};
    if (line->series->meta->kind != SB_SERIES_SCALAR)
        return sb_fail(err, SB_INVALID, 0, "%.*s holds no scalars", SB_SHOWN(line->series->tag));
    reader r = {.line = line, .ask = ask, .out = &out->points};
    sb_status status = prepare(&r, out, arena, err);
    if (status != SB_OK) return status;
    sb_spans walk = sb_spans_of(line->series);
    sb_span span;
    while (sb_spans_next(&walk, &span)) {
        if (span.index % 64 == 63 && sb_budget_over(budget)) return sb_fail_timeout(err);
        read_span(&r, &span);
    }
    if (r.over)
        return sb_fail(err, SB_LIMIT, 0, "%.*s: more than %zu points", SB_SHOWN(line->series->tag),
                       ask->limit.most);
    if (!ask->sampling) return SB_OK;
    uint64_t *kept;
    size_t n;
    status = sb_sampling_pick(ask->sampling, out->points.n, arena, &kept, &n);
    if (status != SB_OK) return sb_fail_nomem(err, "for a sample");
    sb_columns_move(&out->points, 0, kept, n);
    out->points.n = n;
    return SB_OK;
}
