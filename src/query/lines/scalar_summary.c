/* scalar_summary.c: last, least, greatest and the rest of a series (scalars.h), from the heads of
 * its chunks. */
#include <math.h>

#include "base/slice.h"
#include "query/lines/scalars.h"
#include "base/banned.h"

/* Where an extreme stands; its step is looked up once, at the end. */
typedef struct place {
    size_t part, chunk;
    uint32_t i;
} place;

typedef struct tally {
    sb_scalar_summary *out;
    double sum;
    bool any_max_wall;
    place min_at, max_at;
} tally;

static void note_extremes(tally *t, const sb_span *span, const sb_span_stats *stats) {
    sb_scalar_summary *s = t->out;
    if (stats->finite == 0) return;
    bool first = s->finite == 0;
    if (first || stats->min < s->min) {
        s->min = stats->min;
        t->min_at = (place){span->part_index, span->chunk_index, stats->min_at};
    }
    if (first || stats->max > s->max) {
        s->max = stats->max;
        t->max_at = (place){span->part_index, span->chunk_index, stats->max_at};
    }
    s->finite += stats->finite;
    t->sum += stats->sum;
}

static void note_max_wall(tally *t, double wall) {
    if (!isfinite(wall) || (t->any_max_wall && wall <= t->out->max_wall)) return;
    t->out->max_wall = wall;
    t->any_max_wall = true;
}

typedef struct end {
    int64_t step;
    double wall, value;
} end;

static void note_ends(sb_scalar_summary *s, end first, end last, int64_t max_step) {
    if (s->n == 0) {
        s->first_step = first.step;
        s->first_wall = first.wall;
        s->first_value = first.value;
    }
    if (s->n == 0 || max_step > s->max_step) s->max_step = max_step;
    s->last_step = last.step;
    s->last_wall = last.wall;
    s->last_value = last.value;
}

/* Adds a whole visible chunk from its summary; false when that is not enough. */
static bool add_chunk(tally *t, const sb_span *span) {
    const sb_chunk *c = span->chunk;
    sb_span_stats stats;
    if (!sb_stats_of_chunk(c, &stats)) return false;
    note_ends(t->out, (end){c->first_step, c->first_wall, c->first_value},
              (end){c->last_step, c->last_wall, c->last_value}, c->max_step);
    note_max_wall(t, c->max_wall);
    note_extremes(t, span, &stats);
    t->out->nan += stats.nan;
    t->out->infinite += span->n - stats.nan - stats.finite;
    t->out->n += span->n;
    return true;
}

static void add_points(tally *t, const sb_span *span) {
    sb_points room;
    const int64_t *steps = sb_span_steps(span, room.steps);
    const double *walls = sb_span_walls(span, room.walls);
    const double *values = sb_span_values(span, room.values);
    for (uint32_t i = 0; i < span->n; i++) {
        if (sb_is_superseded(span->part, steps[i])) {
            t->out->superseded++;
            continue;
        }
        end here = {steps[i], walls[i], values[i]};
        note_ends(t->out, here, here, steps[i]);
        note_max_wall(t, walls[i]);
        t->out->n++;
        if (isfinite(values[i])) {
            sb_span_stats one = {values[i], values[i], values[i], 1, 0, (uint16_t)i, (uint16_t)i};
            note_extremes(t, span, &one);
        } else if (values[i] != values[i]) {
            t->out->nan++;
        } else {
            t->out->infinite++;
        }
    }
}

static int64_t step_at(const sb_series *series, place at) {
    sb_span span = sb_span_at(series, at.part, at.chunk);
    int64_t room[SB_CHUNK_POINTS];
    return sb_span_steps(&span, room)[at.i];
}

sb_status sb_scalar_sum_up(const sb_series *series, const sb_budget *budget, sb_scalar_summary *out,
                           sb_err *err) {
    *out = (sb_scalar_summary){0};
    if (series->meta->kind != SB_SERIES_SCALAR)
        return sb_fail(err, SB_INVALID, 0, "%.*s holds no scalars", SB_SHOWN(series->tag));
    tally t = {.out = out};
    sb_spans walk = sb_spans_of(series);
    sb_span span;
    while (sb_spans_next(&walk, &span)) {
        if (span.index % 256 == 255 && sb_budget_over(budget)) return sb_fail_timeout(err);
        sb_span_cut cut = sb_span_cut_of(&span);
        if (cut == SB_CUT_ALL)
            out->superseded += span.n;
        else if (cut == SB_CUT_SOME || !span.chunk || !add_chunk(&t, &span))
            add_points(&t, &span);
    }
    if (out->finite == 0) return SB_OK;
    out->mean = t.sum / (double)out->finite;
    out->min_step_at = step_at(series, t.min_at);
    out->max_step_at = step_at(series, t.max_at);
    return SB_OK;
}
