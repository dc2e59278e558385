/* timeseries.c: /data/plugin/timeseries: the dashboard that shows scalars, histograms and images
 * together. */
#include <jansson.h>
#include <stdlib.h>

#include "media/sniff.h"
#include "query/kinds/histogram.h"
#include "query/records/refs.h"
#include "server/compat/blob_key.h"
#include "server/compat/points.h"
#include "server/compat/series.h"
#include "server/json_load.h"
#include "base/banned.h"

#define SCALAR_LIMIT 1000
#define HISTOGRAM_LIMIT 51
#define IMAGE_LIMIT 10

/* ---- /tags ----------------------------------------------------------------------------------- */

static sb_status add_descriptions(sb_json *j, const sb_series_list *list, sb_http_request *q,
                                  sb_err *err) {
    sb_tag_description *descriptions;
    size_t n;
    sb_status status = sb_tag_descriptions(list, q->arena, &descriptions, &n, err);
    if (status != SB_OK) return status;
    sb_json_key_str(j, "tagDescriptions");
    sb_json_begin_object(j);
    for (size_t i = 0; i < n; i++) {
        sb_json_key(j, descriptions[i].tag);
        sb_compat_add_description(j, descriptions[i].markdown);
    }
    sb_json_end_object(j);
    return SB_OK;
}

/* {"runTagInfo": {run: [tag, ...]}, "tagDescriptions": {...}} */
static sb_status add_basic(sb_json *j, const sb_series_list *list, sb_http_request *q,
                           sb_err *err) {
    sb_json_begin_object(j);
    sb_json_key_str(j, "runTagInfo");
    sb_json_begin_object(j);
    for (size_t i = 0; i < list->n; i++) {
        const sb_run_entry *run = &list->runs[i];
        sb_json_key(j, run->info.name);
        sb_json_begin_array(j);
        for (size_t k = 0; k < run->n; k++) sb_json_text(j, run->series[k].tag);
        sb_json_end_array(j);
    }
    sb_json_end_object(j);
    sb_status status = add_descriptions(j, list, q, err);
    sb_json_end_object(j);
    return status;
}

/* A series of images under its tag, to be grouped by tag. */
typedef struct tag_run {
    const sb_series_entry *entry;
    sb_slice run;
    size_t order;
} tag_run;

static int compare_tag_runs(const void *a, const void *b) {
    const tag_run *x = a, *y = b;
    int order = sb_slice_cmp(x->entry->tag, y->entry->tag);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

/* {"tagDescriptions": {...}, "tagRunSampledInfo": {tag: {run: {"maxSamplesPerStep": n}}}} */
static sb_status add_sampled(sb_json *j, const sb_series_list *list, sb_http_request *q,
                             sb_err *err) {
    size_t total = 0, n = 0;
    for (size_t i = 0; i < list->n; i++) total += list->runs[i].n;
    tag_run *all = sb_arena_zeroed(q->arena, total + 1, sizeof *all);
    if (!all) return sb_fail_nomem(err, "for the list of images");
    for (size_t i = 0; i < list->n; i++)
        for (size_t k = 0; k < list->runs[i].n; k++, n++)
            all[n] = (tag_run){&list->runs[i].series[k], list->runs[i].info.name, n};
    qsort(all, n, sizeof *all, compare_tag_runs);
    sb_json_begin_object(j);
    sb_status status = add_descriptions(j, list, q, err);
    sb_json_key_str(j, "tagRunSampledInfo");
    sb_json_begin_object(j);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || !sb_slice_eq(all[i].entry->tag, all[i - 1].entry->tag)) {
            if (i) sb_json_end_object(j);
            sb_json_key(j, all[i].entry->tag);
            sb_json_begin_object(j);
        }
        sb_json_key(j, all[i].run);
        sb_json_begin_object(j);
        sb_json_put_int(j, "maxSamplesPerStep", sb_entry_samples(all[i].entry));
        sb_json_end_object(j);
    }
    if (n) sb_json_end_object(j);
    sb_json_end_object(j);
    sb_json_end_object(j);
    return status;
}

SB_COMPAT_HANDLER(timeseries_tags) {
    static const struct {
        const char *plugin;
        sb_series_kind kind;
    } parts[] = {{"scalars", SB_SERIES_SCALAR},
                 {"histograms", SB_SERIES_TENSOR},
                 {"images", SB_SERIES_BLOBS}};
    sb_json j;
    sb_status status = SB_OK;
    sb_compat_json_begin(&j, r);
    sb_json_begin_object(&j);
    for (size_t i = 0; i < 3 && status == SB_OK; i++) {
        sb_series_list list;
        status = sb_compat_list(&list, q, r, app, parts[i].plugin, parts[i].kind);
        if (status != SB_OK) break;
        sb_json_key_str(&j, parts[i].plugin);
        status = parts[i].kind == SB_SERIES_BLOBS ? add_sampled(&j, &list, q, sb_http_err(r))
                                                  : add_basic(&j, &list, q, sb_http_err(r));
        sb_series_list_release(&list);
    }
    if (status != SB_OK) return status;
    sb_json_end_object(&j);
    return sb_compat_json_end(&j, r);
}

/* ---- /timeSeries ----------------------------------------------------------------------------- */

typedef struct answering {
    sb_http_request *q;
    sb_http_reply *r;
    sb_app *app;
    sb_json *j;
    sb_slice tag;
    int64_t sample;
} answering;

/* Appends "run": [...] for one series, or nothing. */
typedef sb_status (*series_fn)(answering *a, sb_run *run, const sb_series *series,
                               sb_slice run_name);

static sb_status add_scalars(answering *a, sb_run *run, const sb_series *series,
                             sb_slice run_name) {
    (void)run;
    sb_sampling sampling = sb_compat_sampling(a->app, "scalars", SCALAR_LIMIT);
    sb_json_key(a->j, run_name);
    sb_json_raw(a->j, SB_LIT(""));
    return sb_compat_add_points(a->j->out, series, a->app, &sampling, SB_POINTS_OBJECTS, a->q,
                                sb_http_err(a->r));
}

static void add_bins(sb_json *j, const sb_histo_rows *histo) {
    sb_json_key_str(j, "bins");
    sb_json_begin_array(j);
    for (size_t i = 0; i < histo->n; i++) {
        const double *row = histo->rows + 3 * i;
        sb_json_begin_object(j);
        sb_json_put_double(j, "min", row[0]);
        sb_json_put_double(j, "max", row[1]);
        sb_json_put_double(j, "count", row[2]);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
}

static sb_status add_histogram_points(answering *a, sb_run *run, const sb_series *series,
                                      sb_slice run_name) {
    sb_histo_point *points;
    size_t n;
    sb_status status =
        sb_compat_read_histograms(a->q, a->r, a->app, run, series, HISTOGRAM_LIMIT, &points, &n);
    if (status != SB_OK) return status;
    sb_json *j = a->j;
    sb_json_key(j, run_name);
    sb_json_begin_array(j);
    for (size_t i = 0; i < n; i++) {
        sb_json_begin_object(j);
        sb_json_put_double(j, "wallTime", points[i].wall);
        sb_json_put_int(j, "step", points[i].step);
        add_bins(j, &points[i].histo);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
    return SB_OK;
}

static void add_image(answering *a, const sb_ref_item *item, sb_slice run_name) {
    sb_buf key;
    sb_buf_init(&key, a->q->alloc, (size_t)4 << 20);
    sb_blob_key_add(&key, &(sb_blob_key){.experiment = sb_compat_experiment(a->q, a->app),
                                         .plugin = SB_LIT("images"),
                                         .run = run_name,
                                         .tag = a->tag,
                                         .step = item->step,
                                         .index = a->sample + 2});
    sb_json_begin_object(a->j);
    sb_json_key_str(a->j, "step");
    sb_json_int(a->j, item->step);
    sb_json_key_str(a->j, "wallTime");
    sb_json_double(a->j, item->wall);
    sb_json_key_str(a->j, "imageId");
    sb_json_text(a->j, sb_buf_slice(&key));
    sb_json_end_object(a->j);
    if (key.failed != SB_OK && a->j->out->failed == SB_OK) a->j->out->failed = key.failed;
    sb_buf_fini(&key);
}

/* Steps without that sample are left out, and so is a run that has none. */
static sb_status add_image_series(answering *a, sb_run *run, const sb_series *series,
                                  sb_slice run_name) {
    (void)run;
    sb_ref_item *items;
    size_t n, shown = 0;
    sb_sampling sampling = sb_compat_sampling(a->app, "images", IMAGE_LIMIT);
    sb_ref_ask ask = {
        .by_step = true, .show_superseded = a->app->show_superseded, .sampling = &sampling};
    sb_status status = sb_refs_list(series, &ask, a->q->arena, &items, &n, NULL, sb_http_err(a->r));
    if (status != SB_OK) return status;
    for (size_t i = 0; i < n; i++) {
        if (a->sample < 0 || (int64_t)items[i].ref.count <= a->sample + 2) continue;
        if (shown++ == 0) {
            sb_json_key(a->j, run_name);
            sb_json_begin_array(a->j);
        }
        add_image(a, &items[i], run_name);
    }
    if (shown) sb_json_end_array(a->j);
    return SB_OK;
}

static sb_status add_series_of(answering *a, sb_run *run, sb_slice run_name, const char *plugin,
                               sb_series_kind kind, series_fn add) {
    sb_series series;
    sb_arena_mark mark = sb_arena_here(a->q->arena);
    sb_status status = sb_series_take(run, a->tag, a->q->arena, &series);
    if (status == SB_NOT_FOUND) return SB_OK;
    if (status != SB_OK) return status;
    if (series.meta->kind == kind && sb_slice_eq(series.meta->plugin_name, sb_slice_str(plugin)))
        status = add(a, run, &series, run_name);
    sb_series_release(&series);
    sb_arena_reset(a->q->arena, mark);
    return status;
}

/* "runToSeries": of one run, or (no name) of all that have the tag. */
static sb_status add_runs(answering *a, sb_slice name, const char *plugin, sb_series_kind kind,
                          series_fn add) {
    sb_status status = SB_OK;
    sb_json_key_str(a->j, "runToSeries");
    sb_json_begin_object(a->j);
    if (name.n) {
        sb_run *run = sb_store_find_run(a->app->store, name);
        if (run) status = add_series_of(a, run, name, plugin, kind, add);
        sb_run_release(run);
    } else {
        sb_runs runs;
        status = sb_store_runs(a->app->store, a->q->arena, &runs);
        if (status != SB_OK) return status;
        for (size_t i = 0; i < runs.n && status == SB_OK; i++) {
            sb_run_info info;
            sb_run_get_info(runs.items[i], &info);
            status = add_series_of(a, runs.items[i], info.name, plugin, kind, add);
        }
        sb_runs_release(&runs);
    }
    if (status == SB_OK) sb_json_end_object(a->j);
    return status;
}

static sb_slice json_text(const json_t *value) {
    if (!json_is_string(value)) return (sb_slice){NULL, 0};
    return sb_slice_of(json_string_value(value), json_string_length(value));
}

/* A value that is only echoed: texts, numbers, booleans and null as they are, nested values as
 * null. */
static void echo(sb_json *j, const char *key, const json_t *value) {
    sb_json_key_str(j, key);
    if (json_is_string(value))
        sb_json_text(j, json_text(value));
    else if (json_is_integer(value))
        sb_json_int(j, json_integer_value(value));
    else if (json_is_real(value))
        sb_json_double(j, json_real_value(value));
    else if (json_is_boolean(value))
        sb_json_bool(j, json_is_true(value));
    else
        sb_json_null(j);
}

static sb_status answer_one(answering *a, const json_t *request) {
    static const struct {
        const char *plugin;
        sb_series_kind kind;
        series_fn add;
        bool needs_run, needs_sample;
    } kinds[] = {
        {"scalars", SB_SERIES_SCALAR, add_scalars, false, false},
        {"histograms", SB_SERIES_TENSOR, add_histogram_points, true, false},
        {"images", SB_SERIES_BLOBS, add_image_series, true, true},
    };
    const size_t kind_count = sizeof kinds / sizeof kinds[0];
    const json_t *plugin = json_object_get(request, "plugin"),
                 *tag = json_object_get(request, "tag");
    const json_t *run = json_object_get(request, "run"),
                 *sample = json_object_get(request, "sample");
    size_t k = 0;
    while (k < kind_count && !sb_slice_eq(json_text(plugin), sb_slice_str(kinds[k].plugin))) k++;
    sb_json_begin_object(a->j);
    echo(a->j, "plugin", plugin);
    echo(a->j, "tag", tag);
    if (json_is_string(run)) echo(a->j, "run", run);
    if (json_is_integer(sample) || json_is_boolean(sample)) echo(a->j, "sample", sample);
    const char *wrong = !json_is_string(tag)                                ? "Missing tag"
                        : k == kind_count                                   ? "Invalid plugin"
                        : kinds[k].needs_run && !json_is_string(run)        ? "Missing run"
                        : kinds[k].needs_sample && !json_is_integer(sample) ? "Missing sample"
                                                                            : NULL;
    sb_status status = SB_OK;
    if (wrong) {
        sb_json_key_str(a->j, "error");
        sb_json_str(a->j, wrong);
    } else {
        a->tag = json_text(tag);
        a->sample = json_integer_value(sample);
        status = add_runs(a, json_text(run), kinds[k].plugin, kinds[k].kind, kinds[k].add);
    }
    if (status == SB_OK) sb_json_end_object(a->j);
    return status;
}

/* The field of the form, or of the query when it is no POST. */
static sb_status find_requests(sb_http_request *q, sb_http_reply *r, sb_slice *out) {
    *out = sb_http_query(q, "requests");
    if (q->method != SB_HTTP_POST) return SB_OK;
    sb_http_params form;
    sb_status status = sb_http_form(q, &form, sb_http_err(r));
    if (status == SB_OK) *out = sb_http_param_get(form, SB_LIT("requests"));
    return status;
}

static sb_status answer_time_series(sb_http_request *q, sb_http_reply *r, sb_app *app,
                                    const json_t *requests) {
    sb_json j;
    sb_status status = SB_OK;
    sb_compat_json_begin(&j, r);
    sb_json_begin_array(&j);
    for (size_t i = 0; i < json_array_size(requests) && status == SB_OK; i++) {
        answering a = {.q = q, .r = r, .app = app, .j = &j};
        status = answer_one(&a, json_array_get(requests, i));
    }
    if (status != SB_OK) return status;
    sb_json_end_array(&j);
    return sb_compat_json_end(&j, r);
}

SB_COMPAT_HANDLER(time_series) {
    sb_slice text;
    sb_status status = find_requests(q, r, &text);
    if (status != SB_OK) return status;
    if (text.n == 0) return sb_compat_invalid(r, "Missing 'requests' field");
    json_t *requests;
    status = sb_json_load(&requests, text, JSON_DECODE_ANY, sb_http_err(r));
    if (status == SB_LIMIT) return status;
    if (status != SB_OK) return sb_compat_invalid(r, "Unable to parse 'requests' as JSON");
    bool fine =
        json_is_array(requests) || (json_is_object(requests) && json_object_size(requests) == 0);
    for (size_t i = 0; i < json_array_size(requests); i++)
        fine &= json_is_object(json_array_get(requests, i));
    status = fine ? answer_time_series(q, r, app, requests)
                  : sb_compat_invalid(r, "'requests' must be a list of objects");
    json_decref(requests);
    return status;
}

/* ---- /imageData ------------------------------------------------------------------------------ */

SB_COMPAT_HANDLER(image_data) {
    sb_slice key = sb_http_query(q, "imageId");
    if (!key.p) return sb_compat_page(r, 400, (sb_slice){NULL, 0});
    if (key.n == 0) return sb_compat_invalid(r, "Missing 'imageId' field");
    sb_status status = sb_blob_key_send(q, r, app, key, "images", NULL);
    if (status == SB_INVALID) return sb_compat_invalid(r, "that is no imageId");
    if (status == SB_NOT_FOUND) return sb_compat_plain(r, 404, "Not found");
    return status;
}
