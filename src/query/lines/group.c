/* group.c: lines on a common grid, and what they have in common there. */
#include "query/lines/group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/search.h"
#include "query/lines/decimate_int.h"
#include "base/banned.h"

typedef struct grouping {
    const sb_line *lines;
    size_t n;
    const sb_group_ask *ask;
    const sb_budget *budget;
    sb_arena *arena;
    sb_group *out;
    sb_err *err;
    /* the grid: */
    size_t places;
    double *xs;     /* by place */
    double *values; /* one row per line; NaN: does not count here */
    double *low, *high;
    bool *is_own; /* some line has a point of its own here */
} grouping;

/* ---- the grid -------------------------------------------------------------------------------- */

static sb_status find_range(grouping *g) {
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < g->n; i++) {
        double from, to, a, b;
        bool is_empty;
        double base = sb_line_base(&g->lines[i], g->ask->axis);
        sb_decimate_ask ask = {
            .axis = g->ask->axis, .from = g->ask->from, .to = g->ask->to, .pixels = g->ask->pixels};
        sb_status status =
            sb_decimate_range(&g->lines[i], &ask, base, &from, &to, &is_empty, g->err);
        if (status != SB_OK) return status;
        if (!sb_line_extent(&g->lines[i], g->ask->axis, base, &a, &b)) continue;
        if (a < low) low = a;
        if (b > high) high = b;
    }
    g->out->from = isnan(g->ask->from) ? low : g->ask->from;
    g->out->to = isnan(g->ask->to) ? high : g->ask->to;
    return SB_OK;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Calls f for every visible point with a finite x in range, until it answers false. */
typedef bool (*point_fn)(void *ud, double x, double value);
static bool each_point(const grouping *g, const sb_line *line, point_fn f, void *ud) {
    double base = sb_line_base(line, g->ask->axis), xs[SB_CHUNK_POINTS];
    sb_spans walk = sb_spans_of(line->series);
    sb_span span;
    while (sb_spans_next(&walk, &span)) {
        sb_points room;
        double low, high;
        if (span.chunk && sb_axis_chunk(g->ask->axis, base, span.chunk, &low, &high) &&
            (high < g->out->from || low > g->out->to))
            continue;
        const int64_t *steps = sb_span_steps(&span, room.steps);
        const double *walls = sb_span_walls(&span, room.walls);
        const double *values = line->smoothed ? line->smoothed->values + span.start
                                              : sb_span_values(&span, room.values);
        sb_line_xs(line, &span, g->ask->axis, base, steps, walls, xs);
        for (uint32_t i = 0; i < span.n; i++) {
            if (!line->show_superseded && sb_is_superseded(span.part, steps[i])) continue;
            if (!isfinite(xs[i]) || xs[i] < g->out->from || xs[i] > g->out->to) continue;
            if (!f(ud, xs[i], values[i])) return false;
        }
    }
    return true;
}

/* The x that were seen: sorted and different ones, then newly seen ones. */
typedef struct collecting {
    double *xs;
    size_t sorted, n, room, most;
    size_t cursor; /* where the last x was found */
} collecting;

/* False when there are too many. */
static bool merge_new_xs(collecting *c) {
    size_t kept = 0;
    if (c->n > 1) qsort(c->xs, c->n, sizeof *c->xs, by_value);
    for (size_t i = 0; i < c->n; i++)
        if (kept == 0 || c->xs[i] != c->xs[kept - 1]) c->xs[kept++] = c->xs[i];
    c->n = c->sorted = kept;
    c->cursor = 0;
    return kept <= c->most;
}

/* The last of n sorted ones that is not greater than x; the first one when all are. */
static size_t place_in(const double *xs, size_t n, double x) {
    size_t i;
    SB_PARTITION_POINT(i, 1, n, xs[i] <= x);
    return i - 1;
}

static bool collect_x(void *ud, double x, double value) {
    collecting *c = ud;
    (void)value;
    if (c->n > c->sorted && c->xs[c->n - 1] == x) return true;
    /* Lines mostly have the same x in the same order. */
    if (c->cursor + 1 < c->sorted && c->xs[c->cursor + 1] == x) {
        c->cursor++;
        return true;
    }
    c->cursor = place_in(c->xs, c->sorted, x);
    if (c->sorted && c->xs[c->cursor] == x) return true;
    c->xs[c->n++] = x;
    return c->n < c->room || merge_new_xs(c);
}

/* The x that occur, when they are no more than pixels. */
static sb_status try_exact(grouping *g) {
    sb_arena_mark mark = sb_arena_here(g->arena);
    collecting c = {.most = g->ask->pixels, .room = 2 * (size_t)g->ask->pixels + 64};
    c.xs = sb_arena_get(g->arena, c.room * sizeof *c.xs);
    if (!c.xs) return sb_fail_nomem(g->err, "for a grid");
    bool fits = true;
    for (size_t i = 0; i < g->n && fits; i++) {
        if (sb_budget_over(g->budget)) return sb_fail_timeout(g->err);
        fits = each_point(g, &g->lines[i], collect_x, &c) && merge_new_xs(&c);
    }
    if (!fits) {
        sb_arena_reset(g->arena, mark);
        return SB_OK;
    }
    g->out->is_exact = true;
    g->xs = c.xs;
    g->places = c.n;
    return SB_OK;
}

/* Where a column begins (in columns from the left), on the axis as it is drawn. */
static double edge(const grouping *g, double column) {
    double share = column / (double)g->places, near = g->ask->near;
    double from = sb_scale_place(near, g->out->from), to = sb_scale_place(near, g->out->to);
    return sb_scale_x(near, from * (1 - share) + to * share);
}

/* The x at which the values of a column are shown: its middle. On a log axis, columns near the
 * first steps are narrower than a step: a column with a step in it is shown at that step, and the
 * first column at the beginning of the lines, where step 0 is. */
static double column_x(const grouping *g, size_t place) {
    if (g->ask->near > 0) {
        if (place == 0) return g->out->from;
        double left = edge(g, (double)place), right = edge(g, (double)place + 1);
        if (sb_axis_counts_steps(g->ask->axis) && right - left < 1 && ceil(left) <= right)
            return ceil(left);
    }
    return edge(g, (double)place + 0.5);
}

static sb_status make_grid(grouping *g) {
    sb_status status = try_exact(g);
    if (status != SB_OK || g->out->is_exact) return status;
    g->places = g->ask->pixels;
    g->xs = sb_arena_get(g->arena, g->places * sizeof *g->xs);
    if (!g->xs) return sb_fail_nomem(g->err, "for a grid");
    for (size_t i = 0; i < g->places; i++) g->xs[i] = column_x(g, i);
    return SB_OK;
}

/* ---- a line's row ---------------------------------------------------------------------------- */

typedef struct averaging {
    const grouping *g;
    double *sums;
    uint32_t *counts;
} averaging;

static void note_own(const grouping *g, size_t place, double low, double high) {
    g->is_own[place] = true;
    if (!(g->low[place] <= low)) g->low[place] = low;
    if (!(g->high[place] >= high)) g->high[place] = high;
}

static bool add_exact(void *ud, double x, double value) {
    averaging *a = ud;
    if (!isfinite(value)) return true;
    size_t place = place_in(a->g->xs, a->g->places, x);
    a->sums[place] += value;
    a->counts[place]++;
    note_own(a->g, place, value, value);
    return true;
}

static sb_status exact_row(const grouping *g, const sb_line *line, double *row) {
    averaging a = {.g = g, .sums = row};
    a.counts = sb_arena_zeroed(g->arena, g->places, sizeof *a.counts);
    if (!a.counts) return sb_fail_nomem(g->err, "for a group");
    for (size_t i = 0; i < g->places; i++) row[i] = 0;
    each_point(g, line, add_exact, &a);
    for (size_t i = 0; i < g->places; i++) row[i] = a.counts[i] ? row[i] / a.counts[i] : NAN;
    return SB_OK;
}

static sb_status column_row(const grouping *g, const sb_line *line, double *row) {
    sb_envelope e;
    sb_decimate_ask ask = {.axis = g->ask->axis,
                           .from = g->out->from,
                           .to = g->out->to,
                           .pixels = g->ask->pixels,
                           .near = g->ask->near};
    sb_status status = sb_scalar_envelope(line, &ask, g->budget, g->arena, &e, g->err);
    if (status != SB_OK) return status;
    memcpy(row, e.mean, g->places * sizeof *row);
    for (size_t i = 0; i < g->places; i++)
        if (e.count[i]) note_own(g, i, e.min[i], e.max[i]);
    return SB_OK;
}

/* Fills the places between two points of a line. True when the line has any. */
static bool fill_gaps(const grouping *g, double *row) {
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < g->places; i++) {
        if (isnan(row[i])) continue;
        for (size_t k = last == SIZE_MAX ? i : last + 1; k < i; k++) {
            double a = g->xs[last], b = g->xs[i];
            double share = (g->xs[k] - a) / (b - a);
            if (g->ask->gaps == SB_GAPS_CARRY) row[k] = row[last];
            if (g->ask->gaps == SB_GAPS_INTERPOLATE)
                row[k] = row[last] * (1 - share) + row[i] * share;
        }
        last = i;
    }
    return last != SIZE_MAX;
}

/* ---- statistics ------------------------------------------------------------------------------ */

double sb_student_95(size_t n) {
    static const double table[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060,
                                   2.2622,  2.2281, 2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199,
                                   2.1098,  2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639,
                                   2.0595,  2.0555, 2.0518, 2.0484, 2.0452, 2.0423};
    size_t freedom = n - 1;
    if (freedom <= sizeof table / sizeof table[0]) return table[freedom - 1];
    double z = 1.959964, v = (double)freedom;
    return z + (z * z * z + z) / (4 * v) +
           (5 * z * z * z * z * z + 16 * z * z * z + 3 * z) / (96 * v * v);
}

static void sum_up(sb_group *out, size_t at, double *values, size_t n) {
    double mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++) { /* Welford's way: no large sums */
        double d = values[i] - mean;
        mean += d / (double)(i + 1);
        squares += d * (values[i] - mean);
    }
    if (n > 1) qsort(values, n, sizeof *values, by_value);
    out->count[at] = (uint32_t)n;
    out->mean[at] = mean;
    out->median[at] = n % 2 ? values[n / 2] : values[n / 2 - 1] * 0.5 + values[n / 2] * 0.5;
    out->deviation[at] = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
    out->ci95[at] = n > 1 ? sb_student_95(n) * out->deviation[at] / sqrt((double)n) : 0;
    /* What counts here may be carried or interpolated, beyond the own points' extremes. */
    if (!(out->min[at] <= values[0])) out->min[at] = values[0];
    if (!(out->max[at] >= values[n - 1])) out->max[at] = values[n - 1];
    size_t astray = n < SB_GROUP_MANY ? 0 : n < 20 ? 1 : n / 20;
    out->inner_low[at] = values[astray];
    out->inner_high[at] = values[n - 1 - astray];
}

static sb_status make_columns(grouping *g) {
    sb_group *out = g->out;
    double **columns[] = {&out->x,   &out->mean, &out->median,    &out->deviation, &out->ci95,
                          &out->min, &out->max,  &out->inner_low, &out->inner_high};
    size_t bytes = g->places * sizeof(double);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        if (!(*columns[i] = sb_arena_get(g->arena, bytes)))
            return sb_fail_nomem(g->err, "for a group");
    out->count = sb_arena_zeroed(g->arena, g->places, sizeof *out->count);
    double *here = sb_arena_get(g->arena, g->n * sizeof *here);
    if (!out->count || !here) return sb_fail_nomem(g->err, "for a group");
    for (size_t place = 0; place < g->places; place++) {
        size_t n = 0;
        if (!g->is_own[place]) continue;
        for (size_t i = 0; i < g->n; i++) {
            double x = g->values[i * g->places + place];
            if (!isnan(x)) here[n++] = x;
        }
        out->x[out->n] = g->xs[place];
        out->min[out->n] = g->low[place];
        out->max[out->n] = g->high[place];
        sum_up(out, out->n++, here, n);
    }
    return SB_OK;
}

static sb_status make_rows(grouping *g) {
    size_t cells, bytes;
    if (!sb_mul_size(&cells, g->n, g->places) || !sb_mul_size(&bytes, cells, sizeof(double)))
        return sb_fail_nomem(g->err, "for a group");
    g->values = sb_arena_get(g->arena, bytes);
    g->low = sb_arena_get(g->arena, g->places * sizeof *g->low);
    g->high = sb_arena_get(g->arena, g->places * sizeof *g->high);
    g->is_own = sb_arena_zeroed(g->arena, g->places, sizeof *g->is_own);
    if (!g->values || !g->low || !g->high || !g->is_own)
        return sb_fail_nomem(g->err, "for a group");
    for (size_t i = 0; i < g->places; i++) g->low[i] = g->high[i] = NAN;
    for (size_t i = 0; i < g->n; i++) {
        if (sb_budget_over(g->budget)) return sb_fail_timeout(g->err);
        double *row = g->values + i * g->places;
        sb_arena_mark mark = sb_arena_here(g->arena);
        sb_status status =
            g->out->is_exact ? exact_row(g, &g->lines[i], row) : column_row(g, &g->lines[i], row);
        sb_arena_reset(g->arena, mark);
        if (status != SB_OK) return status;
        g->out->lines += fill_gaps(g, row);
    }
    return SB_OK;
}

sb_status sb_group_read(const sb_line *lines, size_t n, const sb_group_ask *ask,
                        const sb_budget *budget, sb_arena *arena, sb_group *out, sb_err *err) {
    *out = (sb_group){0};
    grouping g = {.lines = lines,
                  .n = n,
                  .ask = ask,
                  .budget = budget,
                  .arena = arena,
                  .out = out,
                  .err = err};
    sb_status status = find_range(&g);
    if (status != SB_OK || n == 0 || !(out->from <= out->to)) return status;
    status = make_grid(&g);
    if (status == SB_OK) status = make_rows(&g);
    if (status == SB_OK) status = make_columns(&g);
    return status;
}
