/* scalars.c: many lines in one answer, as columns: decimated to the pixels of a chart, or whole. */
#include <math.h>

#include "query/lines/decimate.h"
#include "query/lines/scalars.h"
#include "server/api/columns.h"
#include "server/api/lines.h"
#include "base/banned.h"

#define MAX_SERIES 20000u
#define MAX_POINTS ((size_t)5000000)

/* An entry of the answer: offsets of its fields, and its flags. */
enum {
#define SB_SCALAR_ENTRY(magic, bytes) ENTRY = (bytes),
#define SB_SCALAR_FIELD(name, at, type, key, what) AT_##name = (at),
#define SB_SCALAR_FLAG(name, bit, what) IS_##name = (bit),
#include "server/api/columns.def"
};
#define SB_SCALAR_ENTRY(magic, bytes) static const char container[] = magic;
#define SB_POINT_MARK(name, bit, what)                                                             \
    _Static_assert(SB_POINT_##name == (bit), "a flag of points as the query has it");
#include "server/api/columns.def"

typedef struct answer {
    sb_lines lines;
    sb_column_body body;
    size_t points; /* so far */
} answer;

static void add_columns(answer *a, uint32_t entry, const sb_columns *c) {
    sb_column_u32(&a->body, entry, AT_POINTS, (uint32_t)c->n);
    a->points += c->n;
    if (c->n == 0) return;
    uint32_t wanted = a->lines.ask.columns;
    if (wanted & SB_COLUMN_STEP) sb_column_add_int64s(&a->body, entry, AT_STEP, c->steps, c->n);
    if (wanted & SB_COLUMN_WALL) sb_column_add_doubles(&a->body, entry, AT_WALL, c->walls, c->n);
    if (wanted & SB_COLUMN_VALUE) sb_column_add_doubles(&a->body, entry, AT_VALUE, c->values, c->n);
    if (c->smoothed && wanted & SB_COLUMN_SMOOTH)
        sb_column_add_doubles(&a->body, entry, AT_SMOOTH, c->smoothed, c->n);
    if (c->xs && wanted & SB_COLUMN_X) sb_column_add_doubles(&a->body, entry, AT_X, c->xs, c->n);
    if (wanted & SB_COLUMN_FLAGS)
        sb_column_add_bytes(&a->body, entry, AT_POINT_FLAGS, c->flags, c->n);
}

static uint32_t at_most_u32(uint64_t n) {
    return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

static void add_facts(answer *a, uint32_t entry, const sb_line *line, const sb_not_finite *bad,
                      uint64_t in_range) {
    sb_column_u32(&a->body, entry, AT_NOT_FINITE, at_most_u32(bad->nan + bad->plus + bad->minus));
    sb_column_u32(&a->body, entry, AT_PLUS_INFINITY, at_most_u32(bad->plus));
    sb_column_u32(&a->body, entry, AT_MINUS_INFINITY, at_most_u32(bad->minus));
    sb_column_f64(&a->body, entry, AT_BASE, sb_line_base(line, SB_AXIS_RELATIVE));
    sb_column_f64(&a->body, entry, AT_FIRST_STEP, sb_line_base(line, SB_AXIS_STEP_RELATIVE));
    sb_column_u64(&a->body, entry, AT_IN_RANGE, in_range);
}

static sb_status add_decimated(answer *a, uint32_t entry, const sb_line *line, uint32_t *flags) {
    sb_lines *l = &a->lines;
    sb_decimate_ask ask = {.axis = l->ask.axis,
                           .from = l->ask.from,
                           .to = l->ask.to,
                           .pixels = l->ask.width,
                           .near = l->ask.near,
                           .without_walls = !(l->ask.columns & SB_COLUMN_WALL),
                           .limit = sb_at_most(MAX_POINTS - a->points)};
    sb_decimated got;
    sb_status status = sb_scalar_decimate(line, &ask, &l->budget, l->q->arena, &got, l->err);
    if (status != SB_OK) return status;
    /* another metric may rise and fall: its line is drawn as one stroke all the same */
    if (!got.is_rising && ask.axis != SB_AXIS_METRIC) *flags |= IS_NOT_RISING;
    add_facts(a, entry, line, &got.not_finite, got.in_range);
    add_columns(a, entry, &got.points);
    return SB_OK;
}

static bool is_rising(const sb_columns *c, sb_axis axis) {
    if (axis == SB_AXIS_METRIC) return true;
    for (size_t i = 1; i < c->n; i++)
        if (sb_axis_counts_steps(axis) ? c->steps[i] < c->steps[i - 1]
                                       : c->walls[i] < c->walls[i - 1])
            return false;
    return true;
}

static sb_not_finite count_not_finite(const sb_columns *c) {
    sb_not_finite counts = {0};
    for (size_t i = 0; i < c->n; i++)
        if (c->flags[i] & SB_POINT_NOT_FINITE) sb_count_not_finite(&counts, c->values[i]);
    return counts;
}

/* Lines that depend on two series are always sent whole: new points need not be at their end. */
static sb_status add_whole(answer *a, uint32_t entry, const sb_line *line,
                           const sb_series_ask *have, uint32_t *flags) {
    sb_lines *l = &a->lines;
    bool appends = !l->compare.is_asked && l->ask.axis != SB_AXIS_METRIC &&
                   sb_smooth_appends(&l->ask.smoothing);
    sb_scalar_ask ask = {.axis = l->ask.axis,
                         .from = l->ask.from,
                         .to = l->ask.to,
                         .with_neighbours = true,
                         .have_epoch = have->epoch,
                         .have_n = appends ? have->n : 0,
                         .limit = sb_at_most(MAX_POINTS - a->points)};
    sb_scalar_answer got;
    sb_status status = sb_scalar_read(line, &ask, &l->budget, l->q->arena, &got, l->err);
    if (status != SB_OK) return status;
    if (got.is_append) *flags |= IS_APPEND;
    if (!is_rising(&got.points, l->ask.axis)) *flags |= IS_NOT_RISING;
    sb_not_finite bad = count_not_finite(&got.points);
    add_facts(a, entry, line, &bad, got.points.n);
    add_columns(a, entry, &got.points);
    return SB_OK;
}

static uint32_t flags_of(const answer *a, const sb_taken_line *one, uint32_t attempts) {
    sb_dtype dtype = one->series.meta->dtype;
    bool is_integer = dtype != SB_FLOAT && dtype != SB_DOUBLE && !a->lines.compare.is_asked;
    return (is_integer ? IS_INTEGERS : 0u) | (attempts > 1 ? IS_RESTARTED : 0u);
}

static sb_status add_scalar_line(answer *a, uint32_t entry, sb_taken_line *one,
                                 const sb_series_ask *have) {
    uint32_t attempts = sb_series_attempts(&one->series);
    uint32_t flags = flags_of(a, one, attempts);
    sb_column_u64(&a->body, entry, AT_EPOCH, one->epoch);
    sb_column_u64(&a->body, entry, AT_N, one->n);
    sb_column_u32(&a->body, entry, AT_ATTEMPTS, attempts);
    sb_status status = SB_OK;
    if (one->lacks_baseline) {
        flags |= IS_NO_BASELINE;
    } else if (one->lacks_x) {
        flags |= IS_NO_X;
    } else if (have->n && have->epoch == one->epoch && have->n == one->n) {
        flags |= IS_UNCHANGED;
    } else {
        status = sb_lines_ready(&a->lines, one);
        if (status != SB_OK) return status;
        status = a->lines.ask.width ? add_decimated(a, entry, one->line, &flags)
                                    : add_whole(a, entry, one->line, have, &flags);
        bool wants_smooth = a->lines.ask.smoothing.kind != SB_SMOOTH_NONE;
        if (wants_smooth && !one->line->smoothed) flags |= IS_UNSMOOTHED;
    }
    sb_column_u32(&a->body, entry, AT_FLAGS, flags);
    return status;
}

static sb_status add_scalar_series(answer *a, uint32_t entry, const sb_series_ask *have) {
    sb_column_u32(&a->body, entry, AT_RUN, have->run);
    sb_taken_line one;
    sb_status status = sb_lines_take(&a->lines, have, &one);
    if (status == SB_NOT_FOUND) {
        sb_column_u32(&a->body, entry, AT_FLAGS, IS_NOT_FOUND);
        return SB_OK;
    }
    if (status != SB_OK) return status;
    status = add_scalar_line(a, entry, &one, have);
    sb_lines_release(&a->lines, &one);
    return status;
}

static sb_status answer_scalars(answer *a, sb_http_reply *r, const json_t *list) {
    uint32_t n = (uint32_t)json_array_size(list);
    sb_http_type(r, "application/x-seaboard-columns");
    sb_http_compress(r, SB_HTTP_CODING_YES);
    sb_column_begin(&a->body, sb_http_body(r), container, sb_api_version(r, a->lines.app), n,
                    ENTRY);
    sb_status status = sb_lines_open(&a->lines);
    for (uint32_t i = 0; status == SB_OK && i < n; i++) {
        sb_series_ask have;
        if (!sb_series_ask_read(&have, json_array_get(list, i), r)) break;
        status = add_scalar_series(a, i, &have);
    }
    sb_lines_close(&a->lines);
    return status;
}

sb_status sb_api_scalars(sb_http_request *q, sb_http_reply *r, void *app) {
    json_t *body = sb_api_body(q, r);
    if (!body) return SB_OK;
    answer a = {.points = 0};
    const json_t *list = json_object_get(body, "series");
    sb_status status = SB_OK;
    if (!json_is_array(list) || json_array_size(list) > MAX_SERIES)
        status =
            sb_api_fail(r, 400, "invalid", "\"series\" must be a list of at most %u", MAX_SERIES);
    else if (sb_lines_read(&a.lines, q, r, app, body))
        status = answer_scalars(&a, r, list);
    json_decref(body);
    return status;
}
