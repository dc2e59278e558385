/* points.c: what is kept in the log and read again when somebody looks: histograms, texts, images,
 * clips, bytes. */
#include <stdio.h>
#include <string.h>

#include "base/text/number.h"
#include "media/sniff.h"
#include "query/kinds/histogram.h"
#include "query/kinds/media_list.h"
#include "query/kinds/text.h"
#include "query/records/value.h"
#include "server/api/scalar_ask.h"
#include "server/http/url.h"
#include "base/banned.h"

#define MAX_RECORD ((size_t)512 << 20)
#define MAX_SMALL_RECORD ((size_t)16 << 20)
#define MAX_SERIES 500u
#define MAX_STEPS 2000u
#define DEFAULT_STEPS 100u
#define MAX_TEXTS 500u

/* ---- one series, named by the query ---------------------------------------------------------- */

static bool query_number(sb_http_request *q, const char *key, uint64_t otherwise, uint64_t *out) {
    sb_slice text = sb_http_query(q, key);
    *out = otherwise;
    return !text.p || sb_parse_uint64(text, out);
}

/* SB_END: there is none, and the reply says so. Released by the caller. */
static sb_status take_series(sb_http_request *q, sb_http_reply *r, sb_app *app, sb_series *out) {
    uint64_t id;
    sb_slice tag = sb_http_query(q, "tag");
    if (!query_number(q, "run", UINT64_MAX, &id) || id > UINT32_MAX || !tag.p) {
        sb_api_fail(r, 400, "invalid", "run (its id) and tag are needed");
        return SB_END;
    }
    sb_run_index runs;
    sb_status status = sb_api_take_runs(&runs, q, app);
    if (status != SB_OK) return status;
    sb_run *run = sb_api_find_run(&runs, (uint32_t)id);
    status = run ? sb_series_take(run, tag, q->arena, out) : SB_NOT_FOUND;
    sb_api_release_runs(&runs);
    if (status != SB_NOT_FOUND) return status;
    sb_api_fail(r, 404, "not_found", "there is no such run or tag");
    return SB_END;
}

static void add_point_head(sb_json *j, int64_t step, double wall) {
    sb_json_key_str(j, "step");
    sb_api_step(j, step);
    sb_json_put_double(j, "wall", wall);
}

static void add_trouble(sb_json *j, sb_status status) {
    if (status == SB_OK) return;
    sb_json_put_str(j, "error", status == SB_REPLACED ? "gone" : sb_status_name(status));
}

/* ---- histograms ------------------------------------------------------------------------------ */

static void add_rows(sb_json *j, const sb_histo_rows *h) {
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

static sb_status add_histograms(histograms *h, sb_json *j, const sb_series *series) {
    sb_ref_item *items;
    size_t n, total;
    sb_status status = sb_refs_list(series, &h->ask, h->q->arena, &items, &n, &total, h->err);
    if (status != SB_OK) return status;
    sb_histo_point *points = sb_arena_zeroed(h->q->arena, n, sizeof *points);
    if (!points) return SB_NOMEM;
    status = sb_histos_read(h->app->blobs, series->run, items, n, SB_HISTO_TRIMMED,
                            MAX_SMALL_RECORD, &h->budget, h->q->arena, points, h->err);
    if (status != SB_OK) return status;
    sb_json_put_uint(j, "total", total);
    sb_json_key_str(j, "points");
    sb_json_begin_array(j);
    for (size_t i = 0; i < n; i++) {
        sb_json_begin_object(j);
        add_point_head(j, points[i].step, points[i].wall);
        add_trouble(j, points[i].status);
        if (points[i].status == SB_OK && h->is_distribution) add_percentiles(j, &points[i].histo);
        if (points[i].status == SB_OK && !h->is_distribution) add_rows(j, &points[i].histo);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
    return SB_OK;
}

static sb_status add_series(histograms *h, sb_json *j, const sb_run_index *runs,
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
        status = add_histograms(h, j, &series);
        sb_series_release(&series);
    }
    if (status == SB_NOT_FOUND || status == SB_INVALID) {
        add_trouble(j, SB_NOT_FOUND);
        status = SB_OK;
    }
    sb_json_end_object(j);
    sb_arena_reset(h->q->arena, mark);
    return status;
}

/* SB_END: an item made no sense, and the reply says so. */
static sb_status add_list(histograms *h, sb_http_reply *r, const json_t *list) {
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
                     ? add_series(h, &j, &runs, &ask)
                     : SB_END;
    }
    sb_api_release_runs(&runs);
    if (status != SB_OK) return status == SB_END ? SB_OK : status;
    sb_json_end_array(&j);
    return sb_api_end(&j, r);
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
            h.ask.from = lines.from < -9e18  ? INT64_MIN
                         : lines.from > 9e18 ? INT64_MAX
                                             : (int64_t)lines.from;
            h.ask.to = lines.to < -9e18  ? INT64_MIN
                       : lines.to > 9e18 ? INT64_MAX
                                         : (int64_t)lines.to;
        }
        status = add_list(&h, r, list);
    }
    json_decref(body);
    return status;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void add_html(sb_json *j, sb_http_request *q, const sb_text_point *point) {
    sb_buf html;
    sb_buf_init(&html, q->alloc, MAX_SMALL_RECORD);
    sb_status status = point->status;
    if (status == SB_OK) status = sb_text_point_render(&html, point, true, NULL, NULL);
    if (status == SB_OK) {
        sb_json_put_text(j, "html", sb_buf_slice(&html));
    }
    add_trouble(j, status);
    sb_buf_fini(&html);
}

/* The newest first. */
static void turn_round(sb_ref_item *items, size_t n) {
    for (size_t i = 0; i < n / 2; i++) {
        sb_ref_item kept = items[i];
        items[i] = items[n - 1 - i];
        items[n - 1 - i] = kept;
    }
}

static sb_status answer_texts(sb_json *j, sb_http_request *q, sb_http_reply *r, sb_app *app,
                              const sb_series *series, uint64_t from, uint64_t count) {
    sb_ref_item *items;
    size_t n;
    sb_budget budget = sb_api_budget(q);
    sb_status status =
        sb_refs_list(series, &(sb_ref_ask){0}, q->arena, &items, &n, NULL, sb_http_err(r));
    if (status != SB_OK) return status;
    turn_round(items, n);
    size_t first = from < n ? (size_t)from : n;
    size_t shown = n - first < count ? n - first : (size_t)count;
    sb_text_point *points = sb_arena_zeroed(q->arena, shown, sizeof *points);
    if (!points) return SB_NOMEM;
    status = sb_texts_read(app->blobs, series->run, items + first, shown, MAX_SMALL_RECORD, &budget,
                           q->arena, points, sb_http_err(r));
    if (status != SB_OK) return status;
    sb_json_put_uint(j, "total", n);
    sb_json_key_str(j, "points");
    sb_json_begin_array(j);
    for (size_t i = 0; i < shown; i++) {
        sb_json_begin_object(j);
        add_point_head(j, points[i].step, points[i].wall);
        add_html(j, q, &points[i]);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
    return sb_api_end(j, r);
}

sb_status sb_api_text(sb_http_request *q, sb_http_reply *r, void *opaque) {
    uint64_t from, count;
    if (!query_number(q, "from", 0, &from) || !query_number(q, "count", 50, &count) ||
        count > MAX_TEXTS)
        return sb_api_fail(r, 400, "invalid",
                           "from and count must be whole numbers, count at most %u", MAX_TEXTS);
    sb_series series;
    sb_json j;
    sb_api_begin(&j, r, opaque);
    sb_status status = take_series(q, r, opaque, &series);
    if (status != SB_OK) return status == SB_END ? SB_OK : status;
    status = answer_texts(&j, q, r, opaque, &series, from, count);
    sb_series_release(&series);
    return status;
}

/* ---- images and clips ------------------------------------------------------------------------ */

/* The path of a blob: who it is by name, and which bytes exactly, so that it may be kept for
 * ever. */
static void add_blob_path(sb_json *j, sb_http_request *q, const sb_series *series, uint32_t run,
                          const sb_ref_item *item, uint32_t index) {
    sb_buf path;
    sb_buf_init(&path, q->alloc, 1 << 23);
    sb_buf_printf(&path, "blob?run=%u&step=%lld&index=%u&at=%llu-%u&tag=", run,
                  (long long)item->step, index, (unsigned long long)item->ref.offset,
                  item->ref.crc);
    sb_url_add_value(&path, series->tag);
    sb_json_text(j, sb_buf_slice(&path));
    sb_buf_fini(&path);
}

static void add_media_point(sb_json *j, sb_http_request *q, const sb_series *series, uint32_t run,
                            const sb_media_item *m, const sb_image_hint *hint) {
    sb_json_begin_object(j);
    add_point_head(j, m->item.step, m->item.wall);
    if (hint) {
        sb_json_put_uint(j, "width", hint->width);
        sb_json_put_uint(j, "height", hint->height);
    }
    sb_json_key_str(j, "blobs");
    sb_json_begin_array(j);
    for (uint32_t i = 0; i < m->samples; i++)
        add_blob_path(j, q, series, run, &m->item, hint ? i + 2 : i);
    sb_json_end_array(j);
    sb_json_end_object(j);
}

static sb_status answer_media(sb_json *j, sb_http_request *q, sb_http_reply *r, sb_app *app,
                              const sb_series *series, bool is_audio) {
    sb_media_item *items;
    size_t n;
    sb_budget budget = sb_api_budget(q);
    sb_media_ask ask = {.is_audio = is_audio};
    sb_status status = sb_media_list(series, &ask, q->arena, &items, &n, sb_http_err(r));
    if (status != SB_OK) return status;
    sb_image_hint *hints = is_audio ? NULL : sb_arena_zeroed(q->arena, n, sizeof *hints);
    if (!is_audio && !hints) return SB_NOMEM;
    if (hints)
        status = sb_image_hints(app->blobs, series->run, items, n, &budget, q->arena, hints,
                                sb_http_err(r));
    if (status != SB_OK) return status;
    uint32_t samples = 0;
    for (size_t i = 0; i < n; i++)
        if (items[i].samples > samples) samples = items[i].samples;
    sb_json_put_uint(j, "samples", samples);
    sb_json_key_str(j, "points");
    sb_json_begin_array(j);
    for (size_t i = 0; i < n; i++)
        add_media_point(j, q, series, sb_run_id(series->run), &items[i], hints ? &hints[i] : NULL);
    sb_json_end_array(j);
    return sb_api_end(j, r);
}

static sb_status media(sb_http_request *q, sb_http_reply *r, sb_app *app, bool is_audio) {
    sb_series series;
    sb_json j;
    sb_api_begin(&j, r, app);
    sb_status status = take_series(q, r, app, &series);
    if (status != SB_OK) return status == SB_END ? SB_OK : status;
    status = answer_media(&j, q, r, app, &series, is_audio);
    sb_series_release(&series);
    return status;
}

sb_status sb_api_images(sb_http_request *q, sb_http_reply *r, void *app) {
    return media(q, r, app, false);
}

sb_status sb_api_audio(sb_http_request *q, sb_http_reply *r, void *app) {
    return media(q, r, app, true);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Are these still the bytes that the path names? */
static bool is_same(sb_slice at, const sb_ref *ref) {
    char text[64];
    int n = snprintf(text, sizeof text, "%llu-%u", (unsigned long long)ref->offset, ref->crc);
    return !at.p || sb_slice_eq(at, sb_slice_of(text, (size_t)n));
}

static sb_status send_blob(sb_http_request *q, sb_http_reply *r, sb_app *app,
                           const sb_series *series, int64_t step, uint32_t index) {
    sb_ref_item item;
    sb_slice payload, blob, at = sb_http_query(q, "at");
    sb_status status = sb_refs_find(series, step, &item, sb_http_err(r));
    if (status != SB_OK) return status;
    if (!is_same(at, &item.ref))
        return sb_api_fail(r, 410, "gone", "the log has other bytes there now");
    status = sb_blob_read(app->blobs, series->run, item.file, &item.ref, MAX_RECORD, q->arena,
                          &payload, sb_http_err(r));
    if (status == SB_REPLACED) return sb_api_fail(r, 410, "gone", "%s", sb_http_err(r)->text);
    if (status == SB_OK)
        status = sb_ref_blob(&item.ref, payload, index, q->arena, &blob, sb_http_err(r));
    if (status != SB_OK) return status;
    char etag[80];
    int n = snprintf(etag, sizeof etag, "%llu-%u-%u", (unsigned long long)item.ref.offset,
                     item.ref.crc, index);
    sb_http_type(r, sb_media_type(sb_media_sniff(blob)));
    sb_http_user_content(r, (sb_slice){NULL, 0});
    sb_http_allow_ranges(r);
    sb_http_cache_for(r, at.p ? SB_HTTP_CACHE_FOREVER : SB_HTTP_CACHE_NO);
    sb_http_lend(r, blob, NULL, NULL);
    return sb_http_etag(r, sb_slice_of(etag, (size_t)n));
}

sb_status sb_api_blob(sb_http_request *q, sb_http_reply *r, void *opaque) {
    int64_t step = 0;
    uint64_t index;
    sb_slice text = sb_http_query(q, "step");
    if (!text.p || !sb_parse_int64(text, &step) || !query_number(q, "index", 0, &index) ||
        index > UINT32_MAX)
        return sb_api_fail(r, 400, "invalid", "step and index must be whole numbers");
    sb_series series;
    sb_status status = take_series(q, r, opaque, &series);
    if (status != SB_OK) return status == SB_END ? SB_OK : status;
    status = send_blob(q, r, opaque, &series, step, (uint32_t)index);
    sb_series_release(&series);
    return status;
}
