/* compare.c: lines whose points were compared with a baseline. */
#include "query/lines/compare.h"

#include <math.h>

#include "base/banned.h"

#define LOOK_EVERY 64u /* spans between looks at the clock */

typedef struct comparing {
    const sb_line *line;
    const sb_baseline *baseline;
    sb_compare_kind kind;
    bool is_own; /* the line is the baseline */
    sb_compared *out;
    sb_spot spot;
    int64_t *steps;
    double *walls, *values, *smoothed;
    sb_span_stats *stats;
    size_t n; /* points so far */
} comparing;

static double compared(const comparing *c, double value, const double *column, bool is_own) {
    if (is_own && isfinite(value)) return c->kind == SB_COMPARE_DIFFERENCE ? 0 : 1;
    return sb_against(c->kind, value, sb_spot_value(column, &c->spot));
}

static void keep_points(comparing *c, const sb_span *span, const sb_decoded *from) {
    for (uint32_t i = 0; i < span->n; i++) {
        bool superseded = sb_is_superseded(span->part, from->steps[i]);
        if (superseded && !c->line->show_superseded) continue;
        if (!sb_baseline_find(c->baseline, from->xs[i], &c->spot)) continue;
        bool is_own = c->is_own && !superseded;
        c->steps[c->n] = from->steps[i];
        c->walls[c->n] = from->walls[i];
        c->values[c->n] = compared(c, from->values[i], c->baseline->values, is_own);
        if (c->smoothed)
            c->smoothed[c->n] = compared(c, from->smoothed[i], c->baseline->smoothed, is_own);
        c->n++;
    }
}

/* The points of a span that could be compared become a part of their own, so that no part is longer
 * than a span may be. */
static void keep_span(comparing *c, const sb_span *span, const sb_decoded *from) {
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

static sb_status make_columns(comparing *c, sb_arena *arena, sb_err *err) {
    uint64_t n = c->line->series->points;
    size_t spans = sb_span_count(c->line->series);
    bool smoothed = c->line->smoothed && c->baseline->smoothed;
    c->steps = (int64_t *)(void *)sb_column_new(arena, n);
    c->walls = sb_column_new(arena, n);
    c->values = sb_column_new(arena, n);
    if (smoothed) c->smoothed = sb_column_new(arena, n);
    c->out->series.parts = sb_arena_zeroed(arena, spans, sizeof(sb_part));
    c->stats = sb_arena_zeroed(arena, spans, sizeof *c->stats);
    bool ok = c->steps && c->walls && c->values && (!smoothed || c->smoothed);
    if (!ok || !c->out->series.parts || !c->stats) return sb_fail_nomem(err, "for a compared line");
    return SB_OK;
}

static void finish(comparing *c) {
    sb_compared *out = c->out;
    out->series.points = c->n;
    out->smoothed = (sb_smoothed){.values = c->smoothed, .stats = c->stats, .n = c->n};
    out->line = (sb_line){.series = &out->series,
                          .show_superseded = c->line->show_superseded,
                          .smoothed = c->smoothed ? &out->smoothed : NULL,
                          .origin = &out->origin};
}

sb_status sb_compare_line(const sb_line *line, const sb_baseline *baseline, sb_compare_kind kind,
                          const sb_budget *budget, sb_arena *arena, sb_compared *out, sb_err *err) {
    *out = (sb_compared){.series = *line->series};
    out->series.parts = NULL;
    out->series.part_n = 0;
    sb_status status = sb_line_check(line, err);
    if (status != SB_OK) return status;
    comparing c = {.line = line,
                   .baseline = baseline,
                   .kind = kind,
                   .is_own = baseline->run == sb_run_id(line->series->run),
                   .out = out};
    status = make_columns(&c, arena, err);
    if (status != SB_OK) return status;
    out->origin = (sb_origin){.wall = sb_line_base(line, SB_AXIS_RELATIVE),
                              .step = sb_line_base(line, SB_AXIS_STEP_RELATIVE)};
    double base = sb_line_base(line, baseline->axis);
    sb_decoded from;
    sb_spans walk = sb_spans_of(line->series);
    sb_span span;
    while (sb_spans_next(&walk, &span)) {
        if (span.index % LOOK_EVERY == LOOK_EVERY - 1 && sb_budget_over(budget))
            return sb_fail_timeout(err);
        sb_line_decode(line, &span, baseline->axis, base, &from);
        keep_span(&c, &span, &from);
    }
    finish(&c);
    return SB_OK;
}
