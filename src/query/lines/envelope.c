/* envelope.c: what all points of a pixel column have in common (decimate.h). */
#include <math.h>

#include "query/lines/decimate_int.h"
#include "base/banned.h"

typedef struct envelope {
    const sb_line *line;
    sb_axis axis;
    double base;
    sb_scale scale;
    sb_envelope *out;
} envelope;

static void add_span_stats(envelope *e, int32_t column, const sb_span_stats *stats) {
    sb_envelope *out = e->out;
    if (column < 0 || column > e->scale.last || stats->finite == 0) return;
    if (out->count[column] == 0 || stats->min < out->min[column]) out->min[column] = stats->min;
    if (out->count[column] == 0 || stats->max > out->max[column]) out->max[column] = stats->max;
    out->mean[column] += stats->sum; /* divided in the end */
    out->count[column] += stats->finite;
}

static bool stats_of(const envelope *e, const sb_span *span, sb_span_stats *stats) {
    if (e->line->smoothed) {
        *stats = e->line->smoothed->stats[span->index];
        return true;
    }
    return sb_stats_of_chunk(span->chunk, stats);
}

static void add_points(envelope *e, const sb_span *span) {
    sb_points room;
    double xs[SB_CHUNK_POINTS];
    const int64_t *steps = sb_span_steps(span, room.steps);
    const double *walls = sb_span_walls(span, room.walls);
    const double *values = e->line->smoothed ? e->line->smoothed->values + span->start
                                             : sb_span_values(span, room.values);
    sb_line_xs(e->line, span, e->axis, e->base, steps, walls, xs);
    for (uint32_t i = 0; i < span->n; i++) {
        if (!e->line->show_superseded && sb_is_superseded(span->part, steps[i])) continue;
        if (!isfinite(xs[i]) || !isfinite(values[i])) continue;
        sb_span_stats one = {.min = values[i], .max = values[i], .sum = values[i], .finite = 1};
        add_span_stats(e, sb_scale_column(&e->scale, xs[i]), &one);
    }
}

static void add_span(envelope *e, const sb_span *span) {
    sb_span_cut cut = e->line->show_superseded ? SB_CUT_NONE : sb_span_cut_of(span);
    if (cut == SB_CUT_ALL) return;
    double low, high;
    if (span->chunk && cut == SB_CUT_NONE &&
        sb_axis_chunk(e->axis, e->base, span->chunk, &low, &high)) {
        int32_t column = sb_scale_column(&e->scale, low);
        sb_span_stats stats;
        if (column == sb_scale_column(&e->scale, high)) {
            if (column < 0 || column > e->scale.last) return;
            if (stats_of(e, span, &stats)) {
                add_span_stats(e, column, &stats);
                return;
            }
        }
    }
    add_points(e, span);
}

static sb_status make_pixels(sb_envelope *out, sb_arena *arena, sb_err *err) {
    size_t bytes = out->pixels * sizeof(double);
    out->count = sb_arena_zeroed(arena, out->pixels, sizeof *out->count);
    out->mean = sb_arena_zeroed(arena, out->pixels, sizeof *out->mean);
    out->min = sb_arena_get(arena, bytes);
    out->max = sb_arena_get(arena, bytes);
    if (!out->count || !out->mean || !out->min || !out->max)
        return sb_fail_nomem(err, "for an envelope");
    return SB_OK;
}

sb_status sb_scalar_envelope(const sb_line *line, const sb_decimate_ask *ask,
                             const sb_budget *budget, sb_arena *arena, sb_envelope *out,
                             sb_err *err) {
    *out = (sb_envelope){.pixels = ask->pixels};
    envelope e = {
        .line = line, .axis = ask->axis, .base = sb_line_base(line, ask->axis), .out = out};
    bool is_empty;
    sb_status status = sb_decimate_range(line, ask, e.base, &out->from, &out->to, &is_empty, err);
    if (status != SB_OK) return status;
    status = make_pixels(out, arena, err);
    if (status != SB_OK) return status;
    e.scale = sb_scale_of(out->from, out->to, ask->pixels, ask->near);
    sb_spans walk = sb_spans_of(line->series);
    sb_span span;
    while (!is_empty && sb_spans_next(&walk, &span)) {
        if (span.index % 64 == 63 && sb_budget_over(budget)) return sb_fail_timeout(err);
        add_span(&e, &span);
    }
    for (uint32_t i = 0; i < out->pixels; i++) {
        bool any = out->count[i] > 0;
        out->mean[i] = any ? out->mean[i] / (double)out->count[i] : NAN;
        if (!any) out->min[i] = out->max[i] = NAN;
    }
    return SB_OK;
}
