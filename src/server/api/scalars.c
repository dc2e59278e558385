/* scalars.c: many lines in one answer, as columns: decimated to the pixels of a chart, or whole. */
#include <math.h>

#include "query/decimate.h"
#include "query/scalars.h"
#include "server/api/columns.h"
#include "server/api/scalar_ask.h"
#include "base/banned.h"

#define MAX_SERIES 20000u
#define MAX_POINTS ((size_t)5000000)

/* An entry of the answer: offsets of its fields, and its flags. The table is in
 * docs/formats/api-v1.md. */
enum {
    AT_RUN = 0,
    AT_FLAGS = 4,
    AT_EPOCH = 8,
    AT_N = 16,
    AT_POINTS = 24,
    AT_NOT_FINITE = 28,
    AT_STEP = 32,
    AT_WALL = 36,
    AT_VALUE = 40,
    AT_SMOOTH = 44,
    AT_POINT_FLAGS = 48,
    AT_ATTEMPTS = 52,
    AT_BASE = 56,
    AT_IN_RANGE = 64,
    ENTRY = 72,
};
enum {
    IS_NOT_FOUND = 1,
    IS_UNCHANGED = 2,
    IS_APPEND = 4,
    IS_NOT_RISING = 8,
    IS_RESTARTED = 16,
    IS_INTEGER = 32,
};

typedef struct answer {
    sb_http_request *q;
    sb_app *app;
    sb_run_index runs;
    sb_lines_ask ask;
    sb_budget budget;
    sb_column_body body;
    size_t points; /* so far */
    sb_err *err;
} answer;

static void add_columns(answer *a, uint32_t entry, const sb_columns *c) {
    sb_column_u32(&a->body, entry, AT_POINTS, (uint32_t)c->n);
    a->points += c->n;
    if (c->n == 0) return;
    uint32_t wanted = a->ask.columns;
    if (wanted & SB_COLUMN_STEP) sb_column_add_int64s(&a->body, entry, AT_STEP, c->steps, c->n);
    if (wanted & SB_COLUMN_WALL) sb_column_add_doubles(&a->body, entry, AT_WALL, c->walls, c->n);
    if (wanted & SB_COLUMN_VALUE) sb_column_add_doubles(&a->body, entry, AT_VALUE, c->values, c->n);
    if (c->smoothed && wanted & SB_COLUMN_SMOOTH)
        sb_column_add_doubles(&a->body, entry, AT_SMOOTH, c->smoothed, c->n);
    if (wanted & SB_COLUMN_FLAGS)
        sb_column_add_bytes(&a->body, entry, AT_POINT_FLAGS, c->flags, c->n);
}

static sb_status add_decimated(answer *a, uint32_t entry, const sb_line *line, uint32_t *flags) {
    sb_decimate_ask ask = {.axis = a->ask.axis,
                           .from = a->ask.from,
                           .to = a->ask.to,
                           .pixels = a->ask.width,
                           .max_points = MAX_POINTS - a->points};
    sb_decimated got;
    sb_status status = sb_scalar_decimate(line, &ask, &a->budget, a->q->arena, &got, a->err);
    if (status != SB_OK) return status;
    if (!got.is_rising) *flags |= IS_NOT_RISING;
    if (got.attempts > 1) *flags |= IS_RESTARTED;
    sb_column_u32(&a->body, entry, AT_NOT_FINITE,
                  got.not_finite > UINT32_MAX ? UINT32_MAX : (uint32_t)got.not_finite);
    sb_column_u32(&a->body, entry, AT_ATTEMPTS, got.attempts);
    sb_column_f64(&a->body, entry, AT_BASE, got.base);
    sb_column_u64(&a->body, entry, AT_IN_RANGE, got.in_range);
    add_columns(a, entry, &got.points);
    return SB_OK;
}

static bool is_rising(const sb_columns *c, sb_axis axis) {
    for (size_t i = 1; i < c->n; i++)
        if (axis == SB_AXIS_STEP ? c->steps[i] < c->steps[i - 1] : c->walls[i] < c->walls[i - 1])
            return false;
    return true;
}

static uint32_t count_not_finite(const sb_columns *c) {
    uint32_t n = 0;
    for (size_t i = 0; i < c->n; i++) n += (c->flags[i] & SB_POINT_NOT_FINITE) != 0;
    return n;
}

static sb_status add_whole(answer *a, uint32_t entry, const sb_line *line,
                           const sb_series_ask *have, uint32_t *flags) {
    bool appends = a->ask.smoothing.kind == SB_SMOOTH_NONE || sb_smooth_appends(&a->ask.smoothing);
    sb_scalar_ask ask = {.axis = a->ask.axis,
                         .from = a->ask.from,
                         .to = a->ask.to,
                         .with_neighbours = true,
                         .have_epoch = have->epoch,
                         .have_n = appends ? have->n : 0,
                         .max_points = MAX_POINTS - a->points};
    sb_scalar_answer got;
    sb_status status = sb_scalar_read(line, &ask, &a->budget, a->q->arena, &got, a->err);
    if (status != SB_OK) return status;
    if (got.is_append) *flags |= IS_APPEND;
    if (!is_rising(&got.points, a->ask.axis)) *flags |= IS_NOT_RISING;
    if (got.attempts > 1) *flags |= IS_RESTARTED;
    sb_column_u32(&a->body, entry, AT_NOT_FINITE, count_not_finite(&got.points));
    sb_column_u32(&a->body, entry, AT_ATTEMPTS, got.attempts);
    sb_column_f64(&a->body, entry, AT_BASE, got.base);
    sb_column_u64(&a->body, entry, AT_IN_RANGE, got.points.n);
    add_columns(a, entry, &got.points);
    return SB_OK;
}

static sb_status add_line(answer *a, uint32_t entry, const sb_series *series,
                          const sb_series_ask *have) {
    sb_line line = {.series = series, .show_superseded = a->ask.superseded};
    uint64_t epoch = sb_series_epoch(series), n = sb_line_points(&line);
    uint32_t flags =
        series->meta->dtype == SB_FLOAT || series->meta->dtype == SB_DOUBLE ? 0 : IS_INTEGER;
    sb_column_u64(&a->body, entry, AT_EPOCH, epoch);
    sb_column_u64(&a->body, entry, AT_N, n);
    sb_status status = SB_OK;
    if (have->n && have->epoch == epoch && have->n == n) {
        flags |= IS_UNCHANGED;
    } else {
        status = sb_smooth_line(a->app->smooth, &line, &a->ask.smoothing, &a->budget, a->err);
        if (status != SB_OK) return status;
        status = a->ask.width ? add_decimated(a, entry, &line, &flags)
                              : add_whole(a, entry, &line, have, &flags);
        sb_smooth_release(a->app->smooth, &line);
    }
    sb_column_u32(&a->body, entry, AT_FLAGS, flags);
    return status;
}

static sb_status add_series(answer *a, uint32_t entry, const sb_series_ask *have) {
    sb_column_u32(&a->body, entry, AT_RUN, have->run);
    sb_run *run = sb_api_find_run(&a->runs, have->run);
    sb_series series;
    sb_arena_mark mark = sb_arena_here(a->q->arena);
    sb_status status = run ? sb_series_take(run, have->tag, a->q->arena, &series) : SB_NOT_FOUND;
    if (status == SB_OK && series.meta->kind != SB_SERIES_SCALAR) {
        sb_series_release(&series);
        status = SB_NOT_FOUND;
    }
    if (status == SB_OK) {
        status = add_line(a, entry, &series, have);
        sb_series_release(&series);
    } else if (status == SB_NOT_FOUND) {
        sb_column_u32(&a->body, entry, AT_FLAGS, IS_NOT_FOUND);
        status = SB_OK;
    }
    sb_arena_reset(a->q->arena, mark);
    return status;
}

static sb_status add_all(answer *a, sb_http_reply *r, const json_t *list) {
    uint32_t n = (uint32_t)json_array_size(list);
    sb_http_type(r, "application/x-seaboard-columns");
    sb_http_compress(r, SB_HTTP_CODING_YES);
    sb_column_begin(&a->body, sb_http_body(r), "SBC1", sb_store_version(a->app->store), n, ENTRY);
    sb_status status = sb_api_take_runs(&a->runs, a->q, a->app);
    if (status != SB_OK) return status;
    for (uint32_t i = 0; status == SB_OK && i < n; i++) {
        sb_series_ask have;
        if (!sb_series_ask_read(&have, json_array_get(list, i), r)) break;
        status = add_series(a, i, &have);
    }
    sb_api_release_runs(&a->runs);
    return status;
}

sb_status sb_api_scalars(sb_http_request *q, sb_http_reply *r, void *opaque) {
    json_t *body = sb_api_body(q, r);
    if (!body) return SB_OK;
    answer a = {.q = q, .app = opaque, .budget = sb_api_budget(q), .err = sb_http_err(r)};
    const json_t *list = json_object_get(body, "series");
    sb_status status = SB_OK;
    if (!json_is_array(list) || json_array_size(list) > MAX_SERIES)
        status =
            sb_api_fail(r, 400, "invalid", "\"series\" must be a list of at most %u", MAX_SERIES);
    else if (sb_lines_ask_read(&a.ask, body, r))
        status = add_all(&a, r, list);
    json_decref(body);
    return status;
}
