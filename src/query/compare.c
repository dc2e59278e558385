/* compare.c: baselines as sorted columns, and lines whose points were compared with one. */
#include "query/compare.h"

#include <math.h>
#include <stdlib.h>

#include "base/checked.h"
#include "base/slice.h"
#include "base/banned.h"

#define LOOK_EVERY 64u /* spans between looks at the clock */

static sb_status check_kind(const sb_line *line, sb_err *err) {
    if (line->series->meta->kind == SB_SERIES_SCALAR) return SB_OK;
    return sb_fail(err, SB_INVALID, 0, "%.*s holds no scalars", SB_SHOWN(line->series->tag));
}

/* The columns of a span. */
typedef struct columns {
    sb_points room;
    const int64_t *steps;
    const double *walls, *values;
    const double *smoothed; /* NULL: none */
    double xs[SB_CHUNK_POINTS];
} columns;

static void decode(const sb_line *line, const sb_span *span, sb_axis axis, double base,
                   columns *c) {
    c->steps = sb_span_steps(span, c->room.steps);
    c->walls = sb_span_walls(span, c->room.walls);
    c->values = sb_span_values(span, c->room.values);
    c->smoothed = line->smoothed ? line->smoothed->values + span->start : NULL;
    sb_axis_xs(axis, base, c->steps, c->walls, span->n, c->xs);
}

/* ---- baselines ------------------------------------------------------------------------------- */

static void note_knots(sb_baseline *b, const sb_line *line, const sb_span *span, const columns *c) {
    for (uint32_t i = 0; i < span->n; i++) {
        if (sb_is_superseded(span->part, c->steps[i])) continue;
        if (!isfinite(c->xs[i]) || !isfinite(c->values[i])) continue;
        if (line->smoothed && !isfinite(c->smoothed[i])) continue;
        b->xs[b->n] = c->xs[i];
        b->values[b->n] = c->values[i];
        if (b->smoothed) b->smoothed[b->n] = c->smoothed[i];
        b->n++;
    }
}

typedef struct knot {
    double x;
    size_t at;
} knot;

static int by_x(const void *a, const void *b) {
    const knot *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return (p->at > q->at) - (p->at < q->at);
}

static void reorder(double *column, const knot *order, size_t n, double *room) {
    for (size_t i = 0; i < n; i++) room[i] = column[order[i].at];
    for (size_t i = 0; i < n; i++) column[i] = room[i];
}

static sb_status sort_knots(sb_baseline *b, sb_arena *arena, sb_err *err) {
    bool is_rising = true;
    for (size_t i = 1; i < b->n && is_rising; i++) is_rising = b->xs[i] >= b->xs[i - 1];
    if (is_rising) return SB_OK;
    sb_arena_mark mark = sb_arena_here(arena);
    knot *order = sb_arena_get(arena, b->n * sizeof *order);
    double *room = sb_arena_get(arena, b->n * sizeof *room);
    if (!order || !room) return sb_fail_nomem(err, "for a baseline");
    for (size_t i = 0; i < b->n; i++) order[i] = (knot){b->xs[i], i};
    qsort(order, b->n, sizeof *order, by_x);
    reorder(b->xs, order, b->n, room);
    reorder(b->values, order, b->n, room);
    if (b->smoothed) reorder(b->smoothed, order, b->n, room);
    sb_arena_reset(arena, mark);
    return SB_OK;
}

/* Of several at one x the last stays. */
static void keep_last(sb_baseline *b) {
    size_t kept = 0;
    for (size_t i = 0; i < b->n; i++) {
        if (kept && b->xs[kept - 1] == b->xs[i]) kept--;
        b->xs[kept] = b->xs[i];
        b->values[kept] = b->values[i];
        if (b->smoothed) b->smoothed[kept] = b->smoothed[i];
        kept++;
    }
    b->n = kept;
}

static bool make_column(double **out, sb_arena *arena, uint64_t n) {
    size_t bytes;
    if (n > SIZE_MAX || !sb_mul_size(&bytes, (size_t)n, sizeof **out)) return false;
    *out = sb_arena_get(arena, bytes);
    return *out != NULL;
}

sb_status sb_baseline_of(sb_baseline *out, const sb_line *line, sb_axis axis,
                         const sb_budget *budget, sb_arena *arena, sb_err *err) {
    *out = (sb_baseline){.axis = axis};
    sb_status status = check_kind(line, err);
    if (status != SB_OK) return status;
    uint64_t n = line->series->points;
    out->run = sb_run_id(line->series->run);
    out->epoch = sb_compare_epoch(sb_series_epoch(line->series), &(sb_baseline){.epoch = n});
    if (!make_column(&out->xs, arena, n) || !make_column(&out->values, arena, n) ||
        (line->smoothed && !make_column(&out->smoothed, arena, n)))
        return sb_fail_nomem(err, "for a baseline");
    columns c;
    double base = sb_line_base(line);
    sb_spans walk = sb_spans_of(line->series);
    sb_span span;
    while (sb_spans_next(&walk, &span)) {
        if (span.index % LOOK_EVERY == LOOK_EVERY - 1 && sb_budget_over(budget))
            return sb_fail_timeout(err);
        decode(line, &span, axis, base, &c);
        note_knots(out, line, &span, &c);
    }
    status = sort_knots(out, arena, err);
    if (status == SB_OK) keep_last(out);
    return status;
}

uint64_t sb_compare_epoch(uint64_t epoch, const sb_baseline *baseline) {
    uint64_t hash = (epoch ^ (baseline->epoch * 0x9E3779B97F4A7C15u)) * 0xD6E8FEB86659FD93u;
    return (hash ^ (hash >> 32)) >> 11;
}

/* ---- compared lines -------------------------------------------------------------------------- */

/* Where a baseline is, at some x: on the way from one of its points to the next. */
typedef struct spot {
    size_t left;
    double share; /* 0 to 1 */
} spot;

/* Lines mostly go along with their baseline: the search begins where the last one ended. */
static size_t left_of(const sb_baseline *b, double x, size_t hint) {
    if (b->xs[hint] <= x) {
        size_t near = hint + 8 < b->n ? hint + 8 : b->n;
        while (hint + 1 < near && b->xs[hint + 1] <= x) hint++;
        if (hint + 1 < near || near == b->n) return hint;
    }
    size_t low = b->xs[hint] <= x ? hint : 0, high = b->n;
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (b->xs[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* False where it is not known. */
static bool find_spot(const sb_baseline *b, double x, spot *at) {
    if (b->n == 0 || !(x >= b->xs[0] && x <= b->xs[b->n - 1])) return false;
    at->left = left_of(b, x, at->left);
    at->share = 0;
    double from = b->xs[at->left];
    if (x == from) return true;
    double to = b->xs[at->left + 1], width = to - from;
    at->share =
        isfinite(width) ? (x - from) / width : (x * 0.5 - from * 0.5) / (to * 0.5 - from * 0.5);
    return true;
}

static double value_at(const double *column, const spot *at) {
    if (at->share == 0) return column[at->left];
    return column[at->left] * (1 - at->share) + column[at->left + 1] * at->share;
}

static double against(sb_compare_kind kind, double value, double base) {
    return kind == SB_COMPARE_DIFFERENCE ? value - base : value / base;
}

typedef struct comparing {
    const sb_line *line;
    const sb_baseline *baseline;
    sb_compare_kind kind;
    bool is_own; /* the line is the baseline */
    sb_compared *out;
    spot spot;
    int64_t *steps;
    double *walls, *values, *smoothed;
    sb_span_stats *stats;
    size_t n; /* points so far */
} comparing;

static double compared(const comparing *c, double value, const double *column, bool is_own) {
    if (is_own && isfinite(value)) return c->kind == SB_COMPARE_DIFFERENCE ? 0 : 1;
    return against(c->kind, value, value_at(column, &c->spot));
}

static void keep_points(comparing *c, const sb_span *span, const columns *from) {
    for (uint32_t i = 0; i < span->n; i++) {
        bool superseded = sb_is_superseded(span->part, from->steps[i]);
        if (superseded && !c->line->show_superseded) continue;
        if (!find_spot(c->baseline, from->xs[i], &c->spot)) continue;
        bool is_own = c->is_own && !superseded;
        c->steps[c->n] = from->steps[i];
        c->walls[c->n] = from->walls[i];
        c->values[c->n] = compared(c, from->values[i], c->baseline->values, is_own);
        if (c->smoothed)
            c->smoothed[c->n] = compared(c, from->smoothed[i], c->baseline->smoothed, is_own);
        c->n++;
    }
}

/* What a span left becomes a part of its own: no part is longer than a span may be. */
static void keep_span(comparing *c, const sb_span *span, const columns *from) {
    size_t start = c->n;
    keep_points(c, span, from);
    if (c->n == start) return;
    sb_series *s = &c->out->series;
    if (c->smoothed) sb_stats_of_values(c->smoothed + start, c->n - start, &c->stats[s->part_n]);
    s->parts[s->part_n++] = (sb_part){.file = span->part->file,
                                      .cut_step = span->part->cut_step,
                                      .tail_steps = c->steps + start,
                                      .tail_walls = c->walls + start,
                                      .tail_values = c->values + start,
                                      .tail_n = c->n - start};
}

static sb_status make_room(comparing *c, sb_arena *arena, sb_err *err) {
    uint64_t n = c->line->series->points;
    size_t spans = sb_span_count(c->line->series);
    bool smoothed = c->line->smoothed && c->baseline->smoothed;
    double *steps;
    bool ok = make_column(&steps, arena, n) && make_column(&c->walls, arena, n) &&
              make_column(&c->values, arena, n) &&
              (!smoothed || make_column(&c->smoothed, arena, n));
    c->out->series.parts = sb_arena_zeroed(arena, spans, sizeof(sb_part));
    c->stats = sb_arena_zeroed(arena, spans, sizeof *c->stats);
    if (!ok || !c->out->series.parts || !c->stats) return sb_fail_nomem(err, "for a compared line");
    c->steps = (int64_t *)(void *)steps;
    return SB_OK;
}

static void finish(comparing *c) {
    sb_compared *out = c->out;
    out->series.points = c->n;
    out->smoothed = (sb_smoothed){.values = c->smoothed, .stats = c->stats, .n = c->n};
    out->line = (sb_line){.series = &out->series,
                          .show_superseded = c->line->show_superseded,
                          .smoothed = c->smoothed ? &out->smoothed : NULL,
                          .base = &out->base};
}

sb_status sb_compare_line(const sb_line *line, const sb_baseline *baseline, sb_compare_kind kind,
                          const sb_budget *budget, sb_arena *arena, sb_compared *out, sb_err *err) {
    *out = (sb_compared){.series = *line->series};
    out->series.parts = NULL;
    out->series.part_n = 0;
    sb_status status = check_kind(line, err);
    if (status != SB_OK) return status;
    comparing c = {.line = line,
                   .baseline = baseline,
                   .kind = kind,
                   .is_own = baseline->run == sb_run_id(line->series->run),
                   .out = out};
    status = make_room(&c, arena, err);
    if (status != SB_OK) return status;
    out->base = sb_line_base(line);
    columns from;
    sb_spans walk = sb_spans_of(line->series);
    sb_span span;
    while (sb_spans_next(&walk, &span)) {
        if (span.index % LOOK_EVERY == LOOK_EVERY - 1 && sb_budget_over(budget))
            return sb_fail_timeout(err);
        decode(line, &span, baseline->axis, out->base, &from);
        keep_span(&c, &span, &from);
    }
    finish(&c);
    return SB_OK;
}
