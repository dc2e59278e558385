/* points.c: spans, their summaries and the x of their points. */
#include "query/lines/points.h"

#include <math.h>
#include <string.h>

#include "base/slice.h"
#include "base/banned.h"

/* ---- spans ----------------------------------------------------------------------------------- */

bool sb_spans_next(sb_spans *walk, sb_span *out) {
    while (walk->part < walk->series->part_n) {
        const sb_part *part = &walk->series->parts[walk->part];
        bool is_tail = walk->chunk == part->chunk_n;
        if (walk->chunk > part->chunk_n || (is_tail && part->tail_n == 0)) {
            walk->part++;
            walk->chunk = 0;
            continue;
        }
        *out = (sb_span){.part = part,
                         .chunk = is_tail ? NULL : part->chunks[walk->chunk],
                         .part_index = walk->part,
                         .chunk_index = walk->chunk,
                         .index = walk->index,
                         .start = walk->start,
                         .n = is_tail ? (uint32_t)part->tail_n : SB_CHUNK_POINTS};
        walk->chunk++;
        walk->index++;
        walk->start += out->n;
        return true;
    }
    return false;
}

sb_span sb_span_at(const sb_series *series, size_t part_index, size_t chunk) {
    const sb_part *part = &series->parts[part_index];
    bool is_tail = chunk == part->chunk_n;
    return (sb_span){.part = part,
                     .chunk = is_tail ? NULL : part->chunks[chunk],
                     .part_index = part_index,
                     .chunk_index = chunk,
                     .n = is_tail ? (uint32_t)part->tail_n : SB_CHUNK_POINTS};
}

size_t sb_span_count(const sb_series *series) {
    size_t n = 0;
    for (size_t i = 0; i < series->part_n; i++)
        n += series->parts[i].chunk_n + (series->parts[i].tail_n > 0);
    return n;
}

const int64_t *sb_span_steps(const sb_span *span, int64_t *room) {
    if (!span->chunk) return span->part->tail_steps;
    sb_chunk_steps(span->chunk, room);
    return room;
}

const double *sb_span_walls(const sb_span *span, double *room) {
    if (!span->chunk) return span->part->tail_walls;
    sb_chunk_walls(span->chunk, room);
    return room;
}

const double *sb_span_values(const sb_span *span, double *room) {
    if (!span->chunk) return span->part->tail_values;
    sb_chunk_values(span->chunk, room);
    return room;
}

sb_span_cut sb_span_cut_of(const sb_span *span) {
    int64_t cut = span->part->cut_step;
    if (cut == SB_NO_CUT) return SB_CUT_NONE;
    if (span->chunk) {
        if (span->chunk->max_step < cut) return SB_CUT_NONE;
        return span->chunk->min_step >= cut ? SB_CUT_ALL : SB_CUT_SOME;
    }
    uint32_t over = 0;
    for (uint32_t i = 0; i < span->n; i++) over += span->part->tail_steps[i] >= cut;
    if (over == 0) return SB_CUT_NONE;
    return over == span->n ? SB_CUT_ALL : SB_CUT_SOME;
}

/* ---- summaries ------------------------------------------------------------------------------- */

#define LANES 8u

void sb_finite_extremes(const double *values, size_t n, double *least, double *greatest) {
    double low[LANES], high[LANES];
    for (size_t k = 0; k < LANES; k++) low[k] = high[k] = values[0];
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) /* several at a time, without a branch */
        for (size_t k = 0; k < LANES; k++) {
            low[k] = values[i + k] < low[k] ? values[i + k] : low[k];
            high[k] = values[i + k] > high[k] ? values[i + k] : high[k];
        }
    for (; i < n; i++) {
        low[0] = values[i] < low[0] ? values[i] : low[0];
        high[0] = values[i] > high[0] ? values[i] : high[0];
    }
    for (size_t k = 1; k < LANES; k++) {
        low[0] = low[k] < low[0] ? low[k] : low[0];
        high[0] = high[k] > high[0] ? high[k] : high[0];
    }
    *least = low[0];
    *greatest = high[0];
}

static bool all_finite(const double *values, size_t n) {
    double sums[LANES] = {0}; /* x - x is 0, or NaN when x is not finite */
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t k = 0; k < LANES; k++) sums[k] += values[i + k] - values[i + k];
    for (; i < n; i++) sums[0] += values[i] - values[i];
    for (size_t k = 1; k < LANES; k++) sums[0] += sums[k];
    return sums[0] == 0;
}

static void stats_of_mixed(const double *values, size_t n, sb_span_stats *out) {
    sb_span_stats s = {.min = INFINITY, .max = -INFINITY};
    for (size_t i = 0; i < n; i++) {
        double x = values[i];
        if (!isfinite(x)) {
            s.nan += x != x;
            continue;
        }
        if (x < s.min) {
            s.min = x;
            s.min_at = (uint16_t)i;
        }
        if (x > s.max) {
            s.max = x;
            s.max_at = (uint16_t)i;
        }
        s.sum += x;
        s.finite++;
    }
    *out = s;
}

void sb_stats_of_values(const double *values, size_t n, sb_span_stats *out) {
    if (n == 0 || !all_finite(values, n)) {
        stats_of_mixed(values, n, out);
        return;
    }
    *out = (sb_span_stats){.finite = (uint32_t)n};
    sb_finite_extremes(values, n, &out->min, &out->max);
    size_t i = 0;
    while (values[i] != out->min) i++;
    out->min_at = (uint16_t)i;
    for (i = 0; values[i] != out->max;) i++;
    out->max_at = (uint16_t)i;
    double sums[4] = {0};
    for (i = 0; i + 4 <= n; i += 4)
        for (size_t k = 0; k < 4; k++) sums[k] += values[i + k];
    for (; i < n; i++) sums[0] += values[i];
    out->sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

bool sb_stats_of_chunk(const sb_chunk *chunk, sb_span_stats *out) {
    *out = (sb_span_stats){.min = INFINITY, .max = -INFINITY, .nan = chunk->nan_count};
    if (chunk->finite_count == 0) return true;
    if (chunk->finite_count + chunk->nan_count < SB_CHUNK_POINTS) return false;
    out->min = chunk->min_value;
    out->max = chunk->max_value;
    out->min_at = chunk->min_at;
    out->max_at = chunk->max_at;
    out->sum = chunk->sum;
    out->finite = chunk->finite_count;
    return true;
}

/* ---- x --------------------------------------------------------------------------------------- */

static void all_without_x(double *xs, size_t n) {
    for (size_t i = 0; i < n; i++) xs[i] = NAN;
}

void sb_line_xs(const sb_line *line, const sb_span *span, sb_axis axis, double base,
                const int64_t *steps, const double *walls, double *xs) {
    size_t n = span->n;
    if (sb_axis_counts_steps(axis))
        for (size_t i = 0; i < n; i++) xs[i] = (double)steps[i] - base;
    else if (axis != SB_AXIS_METRIC)
        for (size_t i = 0; i < n; i++) xs[i] = walls[i] - base;
    else if (line->xs)
        memcpy(xs, line->xs + span->start, n * sizeof *xs);
    else
        all_without_x(xs, n);
}

bool sb_axis_chunk(sb_axis axis, double base, const sb_chunk *chunk, double *low, double *high) {
    if (sb_axis_counts_steps(axis)) {
        *low = (double)chunk->min_step - base;
        *high = (double)chunk->max_step - base;
        return true;
    }
    /* Rising times between two finite ones are all finite. */
    if (axis == SB_AXIS_METRIC || !(chunk->flags & SB_CHUNK_RISING_WALLS)) return false;
    *low = chunk->first_wall - base;
    *high = chunk->last_wall - base;
    return isfinite(*low) && isfinite(*high);
}

/* The first visible point of a span with a finite time. */
static bool first_wall_of(const sb_line *line, const sb_span *span, double *out) {
    sb_span_cut cut = line->show_superseded ? SB_CUT_NONE : sb_span_cut_of(span);
    if (cut == SB_CUT_ALL) return false;
    if (cut == SB_CUT_NONE && span->chunk && isfinite(span->chunk->first_wall)) {
        *out = span->chunk->first_wall;
        return true;
    }
    int64_t step_room[SB_CHUNK_POINTS];
    double wall_room[SB_CHUNK_POINTS];
    const int64_t *steps = sb_span_steps(span, step_room);
    const double *walls = sb_span_walls(span, wall_room);
    for (uint32_t i = 0; i < span->n; i++) {
        if (cut == SB_CUT_SOME && sb_is_superseded(span->part, steps[i])) continue;
        if (!isfinite(walls[i])) continue;
        *out = walls[i];
        return true;
    }
    return false;
}

static bool first_step_of(const sb_line *line, const sb_span *span, double *out) {
    sb_span_cut cut = line->show_superseded ? SB_CUT_NONE : sb_span_cut_of(span);
    if (cut == SB_CUT_ALL) return false;
    int64_t room[SB_CHUNK_POINTS];
    const int64_t *steps = sb_span_steps(span, room);
    uint32_t i = 0;
    while (cut == SB_CUT_SOME && sb_is_superseded(span->part, steps[i])) i++;
    *out = (double)steps[i];
    return true;
}

double sb_line_base(const sb_line *line, sb_axis axis) {
    bool by_step = axis == SB_AXIS_STEP_RELATIVE;
    if (!by_step && axis != SB_AXIS_RELATIVE) return 0;
    if (line->origin) return by_step ? line->origin->step : line->origin->wall;
    sb_spans walk = sb_spans_of(line->series);
    sb_span span;
    double base = 0;
    while (sb_spans_next(&walk, &span))
        if (by_step ? first_step_of(line, &span, &base) : first_wall_of(line, &span, &base))
            return base;
    return 0;
}

void sb_line_decode(const sb_line *line, const sb_span *span, sb_axis axis, double base,
                    sb_decoded *out) {
    out->steps = sb_span_steps(span, out->room.steps);
    out->walls = sb_span_walls(span, out->room.walls);
    out->values = sb_span_values(span, out->room.values);
    out->smoothed = line->smoothed ? line->smoothed->values + span->start : NULL;
    sb_line_xs(line, span, axis, base, out->steps, out->walls, out->xs);
}

sb_status sb_line_check(const sb_line *line, sb_err *err) {
    if (line->series->meta->kind == SB_SERIES_SCALAR) return SB_OK;
    return sb_fail(err, SB_INVALID, 0, "%.*s holds no scalars", SB_SHOWN(line->series->tag));
}

typedef struct extent {
    const sb_line *line;
    sb_axis axis;
    double base;
    double low, high;
} extent;

static void widen(extent *e, double low, double high) {
    if (low < e->low) e->low = low;
    if (high > e->high) e->high = high;
}

static void widen_by_span(extent *e, const sb_span *span) {
    sb_span_cut cut = e->line->show_superseded ? SB_CUT_NONE : sb_span_cut_of(span);
    if (cut == SB_CUT_ALL) return;
    double low, high;
    if (span->chunk && cut == SB_CUT_NONE &&
        sb_axis_chunk(e->axis, e->base, span->chunk, &low, &high)) {
        widen(e, low, high);
        return;
    }
    int64_t step_room[SB_CHUNK_POINTS];
    double wall_room[SB_CHUNK_POINTS], xs[SB_CHUNK_POINTS];
    const int64_t *steps = sb_span_steps(span, step_room);
    const double *walls = sb_span_walls(span, wall_room);
    sb_line_xs(e->line, span, e->axis, e->base, steps, walls, xs);
    for (uint32_t i = 0; i < span->n; i++) {
        if (cut == SB_CUT_SOME && sb_is_superseded(span->part, steps[i])) continue;
        if (isfinite(xs[i])) widen(e, xs[i], xs[i]);
    }
}

bool sb_line_extent(const sb_line *line, sb_axis axis, double base, double *from, double *to) {
    extent e = {.line = line, .axis = axis, .base = base, .low = INFINITY, .high = -INFINITY};
    sb_spans walk = sb_spans_of(line->series);
    sb_span span;
    while (sb_spans_next(&walk, &span)) widen_by_span(&e, &span);
    if (e.low > e.high) return false;
    *from = e.low;
    *to = e.high;
    return true;
}

/* ---- epoch ----------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t x) {
    hash = (hash ^ x) * 0x9E3779B97F4A7C15u;
    return hash ^ (hash >> 29);
}

uint64_t sb_series_epoch(const sb_series *series) {
    uint64_t hash = mix(mix(0, sb_run_id(series->run)), series->epoch);
    for (size_t i = 0; i < series->part_n; i++) {
        const sb_part *part = &series->parts[i];
        hash = mix(mix(hash, part->file), (uint64_t)part->cut_step);
        if (i + 1 < series->part_n)
            hash = mix(hash, part->chunk_n * SB_CHUNK_POINTS + part->tail_n + part->ref_n);
    }
    return hash >> 11;
}

uint64_t sb_epoch_mix(uint64_t epoch, uint64_t other) {
    uint64_t hash = (epoch ^ (other * 0x9E3779B97F4A7C15u)) * 0xD6E8FEB86659FD93u;
    return (hash ^ (hash >> 32)) >> 11;
}
