/* baseline.c: sorted columns, and where something stands between two of their points. */
#include "query/lines/baseline.h"

#include <math.h>
#include <stdlib.h>

#include "base/checked.h"
#include "base/search.h"
#include "base/slice.h"
#include "base/banned.h"

#define LOOK_EVERY 64u /* spans between looks at the clock */

/* ---- its points ------------------------------------------------------------------------------ */

static void note_knots(sb_baseline *b, const sb_line *line, const sb_span *span,
                       const sb_decoded *c) {
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

double *sb_column_new(sb_arena *arena, uint64_t n) {
    size_t bytes;
    if (n > SIZE_MAX || !sb_mul_size(&bytes, (size_t)n, sizeof(double))) return NULL;
    return sb_arena_get(arena, bytes);
}

uint64_t sb_baseline_epoch(const sb_series *series) {
    return sb_epoch_mix(sb_series_epoch(series), series->points);
}

sb_status sb_baseline_of(sb_baseline *out, const sb_line *line, sb_axis axis,
                         const sb_budget *budget, sb_arena *arena, sb_err *err) {
    *out = (sb_baseline){.axis = axis};
    sb_status status = sb_line_check(line, err);
    if (status != SB_OK) return status;
    uint64_t n = line->series->points;
    out->run = sb_run_id(line->series->run);
    out->epoch = sb_baseline_epoch(line->series);
    out->xs = sb_column_new(arena, n);
    out->values = sb_column_new(arena, n);
    if (line->smoothed) out->smoothed = sb_column_new(arena, n);
    if (!out->xs || !out->values || (line->smoothed && !out->smoothed))
        return sb_fail_nomem(err, "for a baseline");
    sb_decoded c;
    double base = sb_line_base(line, axis);
    sb_spans walk = sb_spans_of(line->series);
    sb_span span;
    while (sb_spans_next(&walk, &span)) {
        if (span.index % LOOK_EVERY == LOOK_EVERY - 1 && sb_budget_over(budget))
            return sb_fail_timeout(err);
        sb_line_decode(line, &span, axis, base, &c);
        note_knots(out, line, &span, &c);
    }
    status = sort_knots(out, arena, err);
    if (status == SB_OK) keep_last(out);
    return status;
}

/* ---- between its points ---------------------------------------------------------------------- */

/* Lines mostly go along with their baseline: the search begins where the last one ended. */
static size_t left_of(const sb_baseline *b, double x, size_t hint) {
    if (b->xs[hint] <= x) {
        size_t near = hint + 8 < b->n ? hint + 8 : b->n;
        while (hint + 1 < near && b->xs[hint + 1] <= x) hint++;
        if (hint + 1 < near || near == b->n) return hint;
    }
    size_t i;
    SB_PARTITION_POINT(i, b->xs[hint] <= x ? hint + 1 : 1, b->n, b->xs[i] <= x);
    return i - 1;
}

bool sb_baseline_find(const sb_baseline *b, double x, sb_spot *at) {
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

double sb_spot_value(const double *column, const sb_spot *at) {
    if (at->share == 0) return column[at->left];
    return column[at->left] * (1 - at->share) + column[at->left + 1] * at->share;
}
