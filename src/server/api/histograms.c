/* histograms.c: histograms and distributions of many series, step by step. */
#include <string.h>

#include "query/kinds/histogram.h"
#include "server/api/one_series.h"
#include "server/api/scalar_ask.h"
#include "base/banned.h"

#define MAX_SERIES 500u
#define MAX_STEPS 2000u
#define DEFAULT_STEPS 100u

static void add_histogram_rows(sb_json *j, const sb_histo_rows *h) {
    sb_json_key_str(j, "rows");
    sb_json_begin_array(j);
    for (size_t i = 0; i < h->n; i++) {
        sb_json_begin_array(j);
        for (size_t k = 0; k < 3; k++) sb_json_double(j, h->rows[3 * i + k]);
        sb_json_end_array(j);
    }
    sb_json_end_array(j);
}

static void add_percentiles(sb_json *j, const sb_histo_rows *h) {
    double values[SB_DISTRIBUTION_POINTS];
    sb_distribution_of(h, values);
    sb_json_key_str(j, "percentiles");
    sb_json_begin_array(j);
    for (size_t i = 0; i < SB_DISTRIBUTION_POINTS; i++) {
        sb_json_begin_array(j);
        sb_json_double(j, sb_distribution_bps[i]);
        sb_json_double(j, values[i]);
        sb_json_end_array(j);
    }
    sb_json_end_array(j);
}

typedef struct histograms {
    sb_http_request *q;
    sb_app *app;
    sb_err *err;
    sb_budget budget;
    sb_ref_ask ask;
    bool is_distribution;
} histograms;

static sb_status add_histogram_points(histograms *h, sb_json *j, const sb_series *series) {
    sb_ref_item *items;
    size_t n, total;
    sb_status status = sb_refs_list(series, &h->ask, h->q->arena, &items, &n, &total, h->err);
    if (status != SB_OK) return status;
    sb_histo_point *points = sb_arena_zeroed(h->q->arena, n, sizeof *points);
    if (!points) return SB_NOMEM;
    status = sb_histos_read(h->app->blobs, series->run, items, n, SB_HISTO_TRIMMED,
                            SB_MAX_SMALL_RECORD, &h->budget, h->q->arena, points, h->err);
    if (status != SB_OK) return status;
    sb_json_put_uint(j, "total", total);
    sb_json_key_str(j, "points");
    sb_json_begin_array(j);
    for (size_t i = 0; i < n; i++) {
        sb_json_begin_object(j);
        sb_api_add_point_head(j, points[i].step, points[i].wall);
        sb_api_add_point_error(j, points[i].status);
        if (points[i].status == SB_OK && h->is_distribution) add_percentiles(j, &points[i].histo);
        if (points[i].status == SB_OK && !h->is_distribution)
            add_histogram_rows(j, &points[i].histo);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
    return SB_OK;
}

static sb_status add_histogram_series(histograms *h, sb_json *j, const sb_run_index *runs,
                                      const sb_series_ask *ask) {
    sb_arena_mark mark = sb_arena_here(h->q->arena);
    sb_run *run = sb_api_find_run(runs, ask->run);
    sb_series series;
    sb_status status = run ? sb_series_take(run, ask->tag, h->q->arena, &series) : SB_NOT_FOUND;
    sb_json_begin_object(j);
    sb_json_put_uint(j, "run", ask->run);
    sb_json_put_text(j, "tag", ask->tag);
    if (status == SB_OK) {
        sb_json_put_uint(j, "epoch", series.epoch);
        status = add_histogram_points(h, j, &series);
        sb_series_release(&series);
    }
    if (status == SB_NOT_FOUND || status == SB_INVALID) {
        sb_api_add_point_error(j, SB_NOT_FOUND);
        status = SB_OK;
    }
    sb_json_end_object(j);
    sb_arena_reset(h->q->arena, mark);
    return status;
}

/* SB_END: an item made no sense, and the reply says so. */
static sb_status add_histogram_list(histograms *h, sb_http_reply *r, const json_t *list) {
    sb_run_index runs;
    sb_json j;
    sb_api_begin(&j, r, h->app);
    sb_status status = sb_api_take_runs(&runs, h->q, h->app);
    if (status != SB_OK) return status;
    sb_json_key_str(&j, "series");
    sb_json_begin_array(&j);
    for (size_t i = 0; status == SB_OK && i < json_array_size(list); i++) {
        sb_series_ask ask;
        status = sb_series_ask_read(&ask, json_array_get(list, i), r)
                     ? add_histogram_series(h, &j, &runs, &ask)
                     : SB_END;
    }
    sb_api_release_runs(&runs);
    if (status != SB_OK) return status == SB_END ? SB_OK : status;
    sb_json_end_array(&j);
    return sb_api_end(&j, r);
}

/* The step nearest to a number of the request. */
static int64_t step_of(double x) {
    return x < -9e18 ? INT64_MIN : x > 9e18 ? INT64_MAX : (int64_t)x;
}

sb_status sb_api_histograms(sb_http_request *q, sb_http_reply *r, void *opaque) {
    json_t *body = sb_api_body(q, r);
    if (!body) return SB_OK;
    histograms h = {.q = q, .app = opaque, .err = sb_http_err(r), .budget = sb_api_budget(q)};
    const json_t *list = json_object_get(body, "series");
    const char *mode = json_string_value(json_object_get(body, "mode"));
    json_int_t steps = json_integer_value(json_object_get(body, "maxSteps"));
    sb_lines_ask lines;
    h.is_distribution = mode && strcmp(mode, "distribution") == 0;
    h.ask.spread = steps > 0 ? (size_t)steps : DEFAULT_STEPS;
    sb_status status = SB_OK;
    if (!json_is_array(list) || json_array_size(list) > MAX_SERIES || h.ask.spread > MAX_STEPS) {
        sb_api_fail(r, 400, "invalid",
                    "\"series\" must be a list of at most %u, \"maxSteps\" at most %u", MAX_SERIES,
                    MAX_STEPS);
    } else if (sb_lines_ask_read(&lines, body, r)) {
        h.ask.show_superseded = lines.superseded;
        h.ask.is_bounded = lines.from == lines.from;
        if (h.ask.is_bounded) {
            h.ask.from = step_of(lines.from);
            h.ask.to = step_of(lines.to);
        }
        status = add_histogram_list(&h, r, list);
    }
    json_decref(body);
    return status;
}
