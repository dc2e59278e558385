/* bands.c: groups of lines as one line each, with its spread: seeds of an experiment, say. */
#include <math.h>
#include <string.h>

#include "query/lines/group_compare.h"
#include "query/lines/metric_x.h"
#include "server/api/columns.h"
#include "server/api/lines.h"
#include "base/banned.h"

#define MAX_GROUPS 2000u
#define MAX_LINES 20000u
#define DEFAULT_PIXELS 1000u

/* An entry of the answer: offsets of its fields, and its flags. */
enum {
#define SB_BAND_ENTRY(magic, bytes) ENTRY = (bytes),
#define SB_BAND_FIELD(name, at, type, key, what) AT_##name = (at),
#define SB_BAND_FLAG(name, bit, what) IS_##name = (bit),
#include "server/api/columns.def"
};
#define SB_BAND_ENTRY(magic, bytes) static const char container[] = magic;
#include "server/api/columns.def"

typedef enum spread { SPREAD_STD, SPREAD_CI95, SPREAD_MINMAX } spread;

typedef struct answer {
    sb_http_request *q;
    sb_http_reply *r;
    sb_app *app;
    sb_run_index runs;
    sb_lines_ask ask;
    sb_compare_ask compare;
    bool is_median;
    spread spread;
    sb_budget budget;
    sb_column_body body;
    size_t lines; /* so far */
} answer;

/* ---- one group ------------------------------------------------------------------------------- */

/* The lines of a group, with references to their series. */
typedef struct held {
    sb_series *series;
    sb_line *lines;
    size_t n;
} held;

static void release_held(answer *a, held *h) {
    for (size_t i = 0; i < h->n; i++) {
        sb_smooth_release(a->app->smooth, &h->lines[i]);
        sb_series_release(&h->series[i]);
    }
}

/* SB_NOT_FOUND: the run has no such metric. SB_END: the metric falls, and the reply says so. */
static sb_status lay_along(answer *a, sb_run *run, sb_line *line) {
    if (a->ask.axis != SB_AXIS_METRIC) return SB_OK;
    sb_series metric;
    sb_status status = sb_series_take(run, a->ask.x_tag, a->q->arena, &metric);
    if (status != SB_OK) return status;
    if (metric.meta->kind == SB_SERIES_SCALAR)
        status = sb_line_along(line, &metric, &a->budget, a->q->arena, sb_http_err(a->r));
    else
        status = SB_NOT_FOUND;
    sb_series_release(&metric);
    if (status != SB_OK || sb_metric_rises(line)) return status;
    sb_api_fail(a->r, 400, "invalid", "there are no bands along %.*s: it falls at times",
                SB_SHOWN(a->ask.x_tag));
    return SB_END;
}

static sb_status hold(answer *a, held *h, const sb_series_ask *ask) {
    sb_run *run = sb_api_find_run(&a->runs, ask->run);
    sb_series *series = &h->series[h->n];
    sb_status status = run ? sb_series_take(run, ask->tag, a->q->arena, series) : SB_NOT_FOUND;
    if (status != SB_OK) return status == SB_NOT_FOUND ? SB_OK : status;
    sb_line *line = &h->lines[h->n];
    *line = (sb_line){.series = series};
    status = series->meta->kind == SB_SERIES_SCALAR ? lay_along(a, run, line) : SB_NOT_FOUND;
    if (status == SB_OK)
        status =
            sb_smooth_line(a->app->smooth, line, &a->ask.smoothing, &a->budget, sb_http_err(a->r));
    if (status != SB_OK)
        sb_series_release(series);
    else
        h->n++;
    return status == SB_NOT_FOUND ? SB_OK : status;
}

/* SB_END: the request made no sense, and the reply says so. */
static sb_status hold_all(answer *a, held *h, const json_t *list) {
    size_t n = json_array_size(list);
    a->lines += n;
    if (!json_is_array(list) || a->lines > MAX_LINES) {
        sb_api_fail(a->r, 400, "invalid", "each group needs \"series\", a list; %u in all at most",
                    MAX_LINES);
        return SB_END;
    }
    h->series = sb_arena_zeroed(a->q->arena, n, sizeof *h->series);
    h->lines = sb_arena_zeroed(a->q->arena, n, sizeof *h->lines);
    if (!h->series || !h->lines) return SB_NOMEM;
    for (size_t i = 0; i < n; i++) {
        sb_series_ask ask;
        if (!sb_series_ask_read(&ask, json_array_get(list, i), a->r)) return SB_END;
        sb_status status = hold(a, h, &ask);
        if (status != SB_OK) return status;
    }
    return SB_OK;
}

/* Is there a line that is too long to be smoothed, although smoothing was asked for? */
static bool is_unsmoothed(const answer *a, const held *h) {
    for (size_t i = 0; i < h->n && a->ask.smoothing.kind != SB_SMOOTH_NONE; i++)
        if (!h->lines[i].smoothed) return true;
    return false;
}

/* One column: the least ones, then the greatest ones. */
static sb_status add_inner(answer *a, uint32_t entry, const sb_group *g) {
    double *both = sb_arena_get(a->q->arena, 2 * g->n * sizeof *both);
    if (!both) return SB_NOMEM;
    memcpy(both, g->inner_low, g->n * sizeof *both);
    memcpy(both + g->n, g->inner_high, g->n * sizeof *both);
    sb_column_add_doubles(&a->body, entry, AT_INNER, both, 2 * g->n);
    return SB_OK;
}

static sb_status add_band_group(answer *a, uint32_t entry, const held *h, sb_group *g) {
    double *centre = a->is_median ? g->median : g->mean;
    double *low = g->min, *high = g->max;
    if (a->spread != SPREAD_MINMAX) {
        /* Only one kind of edge is asked for: it takes the room of the others. */
        const double *half = a->spread == SPREAD_STD ? g->deviation : g->ci95;
        for (size_t i = 0; i < g->n; i++) {
            low[i] = centre[i] - half[i];
            high[i] = centre[i] + half[i];
        }
    }
    double *count = g->ci95;
    for (size_t i = 0; i < g->n; i++) count[i] = g->count[i];
    sb_column_u32(&a->body, entry, AT_POINTS, (uint32_t)g->n);
    sb_column_u32(&a->body, entry, AT_LINES, (uint32_t)g->lines);
    sb_column_u32(&a->body, entry, AT_FLAGS,
                  (g->is_exact ? IS_EXACT : 0u) |
                      (is_unsmoothed(a, h) ? IS_MEMBER_UNSMOOTHED : 0u));
    if (g->n == 0) return SB_OK;
    sb_column_add_doubles(&a->body, entry, AT_X, g->x, g->n);
    sb_column_add_doubles(&a->body, entry, AT_CENTRE, centre, g->n);
    sb_column_add_doubles(&a->body, entry, AT_LOW, low, g->n);
    sb_column_add_doubles(&a->body, entry, AT_HIGH, high, g->n);
    sb_column_add_doubles(&a->body, entry, AT_COUNT, count, g->n);
    return g->lines < SB_GROUP_MANY ? SB_OK : add_inner(a, entry, g);
}

/* The baseline is the chosen run's line of the group's first tag. SB_NOT_FOUND: it has none. */
static sb_status compare_bands(answer *a, const json_t *list, const sb_group_ask *ask,
                               sb_group *g) {
    sb_series_ask first;
    if (!sb_series_ask_read(&first, json_array_get(list, 0), a->r)) return SB_END;
    first.run = a->compare.run;
    held base = {.series = &(sb_series){0}, .lines = &(sb_line){0}};
    sb_status status = hold(a, &base, &first);
    if (status == SB_OK && base.n == 0) status = SB_NOT_FOUND;
    if (status == SB_OK)
        status = sb_group_compare(g, base.lines, ask, a->compare.kind, &a->budget, a->q->arena,
                                  sb_http_err(a->r));
    release_held(a, &base);
    return status;
}

static sb_status answer_group(answer *a, uint32_t entry, const json_t *group) {
    sb_arena_mark mark = sb_arena_here(a->q->arena);
    held h = {0};
    const json_t *list = json_object_get(group, "series");
    sb_column_u32(&a->body, entry, AT_GROUP, entry);
    sb_status status = hold_all(a, &h, list);
    if (status == SB_OK) {
        sb_group_ask ask = {.axis = a->ask.axis,
                            .from = a->ask.from,
                            .to = a->ask.to,
                            .pixels = a->ask.width ? a->ask.width : DEFAULT_PIXELS,
                            .near = a->ask.near,
                            .gaps = SB_GAPS_INTERPOLATE};
        sb_group g;
        status = sb_group_read(h.lines, h.n, &ask, &a->budget, a->q->arena, &g, sb_http_err(a->r));
        if (status == SB_OK && a->compare.is_asked && g.n > 0)
            status = compare_bands(a, list, &ask, &g);
        if (status == SB_OK) status = add_band_group(a, entry, &h, &g);
        if (status == SB_NOT_FOUND) {
            sb_column_u32(&a->body, entry, AT_LINES, (uint32_t)g.lines);
            sb_column_u32(&a->body, entry, AT_FLAGS, IS_UNCOMPARED);
            status = SB_OK;
        }
    }
    release_held(a, &h);
    sb_arena_reset(a->q->arena, mark);
    return status;
}

/* ---- the request ----------------------------------------------------------------------------- */

static bool read_kind(answer *a, const json_t *body) {
    const char *centre = json_string_value(json_object_get(body, "center"));
    const char *around = json_string_value(json_object_get(body, "spread"));
    a->is_median = centre && strcmp(centre, "median") == 0;
    if (centre && !a->is_median && strcmp(centre, "mean") != 0) {
        sb_api_fail(a->r, 400, "invalid", "\"center\" must be mean or median");
        return false;
    }
    static const char *const names[] = {"std", "ci95", "minmax"};
    for (int i = 0; i < 3; i++)
        if (!around || strcmp(around, names[i]) == 0) {
            a->spread = (spread)i;
            return true;
        }
    sb_api_fail(a->r, 400, "invalid", "\"spread\" must be std, ci95 or minmax");
    return false;
}

/* With another metric as x the baseline has no value at a given x. */
static bool can_compare(answer *a) {
    if (!a->compare.is_asked || a->ask.axis != SB_AXIS_METRIC) return true;
    sb_api_fail(a->r, 400, "invalid", "bands along %.*s can't be compared", SB_SHOWN(a->ask.x_tag));
    return false;
}

static sb_status answer_bands(answer *a, const json_t *groups) {
    uint32_t n = (uint32_t)json_array_size(groups);
    sb_http_type(a->r, "application/x-seaboard-columns");
    sb_http_compress(a->r, SB_HTTP_CODING_YES);
    sb_column_begin(&a->body, sb_http_body(a->r), container, sb_api_version(a->r, a->app), n,
                    ENTRY);
    sb_status status = sb_api_take_runs(&a->runs, a->q, a->app);
    if (status != SB_OK) return status;
    for (uint32_t i = 0; status == SB_OK && i < n; i++)
        status = answer_group(a, i, json_array_get(groups, i));
    sb_api_release_runs(&a->runs);
    return status == SB_END ? SB_OK : status;
}

sb_status sb_api_bands(sb_http_request *q, sb_http_reply *r, void *opaque) {
    json_t *body = sb_api_body(q, r);
    if (!body) return SB_OK;
    answer a = {.q = q, .r = r, .app = opaque, .budget = sb_api_budget(q)};
    const json_t *groups = json_object_get(body, "groups");
    sb_status status = SB_OK;
    if (!json_is_array(groups) || json_array_size(groups) > MAX_GROUPS)
        sb_api_fail(r, 400, "invalid", "\"groups\" must be a list of at most %u", MAX_GROUPS);
    else if (sb_lines_ask_read(&a.ask, body, r) && read_kind(&a, body) &&
             sb_compare_ask_read(&a.compare, json_object_get(body, "compare"), r) &&
             can_compare(&a))
        status = answer_bands(&a, groups);
    json_decref(body);
    return status;
}
