/* export.c: the job that writes all points of many series into a file. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/search.h"
#include "query/export.h"
#include "server/app_int.h"
#include "server/jobs/kinds.h"
#include "base/banned.h"

#define BUFFER_CAP ((size_t)64 << 20) /* it is emptied long before: a few hundred kilobytes */

/* ---- arguments ------------------------------------------------------------------------------- */

/* Names that are wanted, sorted; items NULL: all are. */
typedef struct name_set {
    sb_slice *items; /* their bytes are those of the JSON */
    size_t n;
} name_set;

static int compare_names(const void *a, const void *b) {
    return sb_slice_cmp(*(const sb_slice *)a, *(const sb_slice *)b);
}

static bool is_in_set(const name_set *set, sb_slice name) {
    if (!set->items) return true;
    size_t i;
    SB_PARTITION_POINT(i, 0, set->n, sb_slice_cmp(set->items[i], name) < 0);
    return i < set->n && sb_slice_eq(set->items[i], name);
}

static bool is_list_of_texts(const json_t *list) {
    if (!list) return true;
    if (!json_is_array(list)) return false;
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!json_is_string(json_array_get(list, i))) return false;
    return true;
}

static sb_status read_set(name_set *out, const json_t *list, const sb_alloc *alloc) {
    *out = (name_set){0};
    if (!list) return SB_OK;
    size_t n = json_array_size(list);
    out->items = sb_alloc_zeroed(alloc, n + 1, sizeof *out->items);
    if (!out->items) return SB_NOMEM;
    out->n = n;
    for (size_t i = 0; i < n; i++) {
        const json_t *name = json_array_get(list, i);
        out->items[i] = sb_slice_of(json_string_value(name), json_string_length(name));
    }
    if (n) qsort(out->items, n, sizeof *out->items, compare_names);
    return SB_OK;
}

static void free_set(name_set *set, const sb_alloc *alloc) {
    sb_alloc_put(alloc, set->items, (set->n + 1) * sizeof *set->items);
}

static bool is_json_format(const json_t *args) {
    const char *format = json_string_value(json_object_get(args, "format"));
    return format && strcmp(format, "json") == 0;
}

static sb_status check_args(const json_t *args, sb_err *err) {
    const json_t *format = json_object_get(args, "format");
    const char *text = json_string_value(format);
    if (!is_list_of_texts(json_object_get(args, "runs")) ||
        !is_list_of_texts(json_object_get(args, "tags")))
        return sb_fail(err, SB_INVALID, 0, "\"runs\" and \"tags\" must be lists of names");
    if (format && (!text || (strcmp(text, "csv") != 0 && strcmp(text, "json") != 0)))
        return sb_fail(err, SB_INVALID, 0, "\"format\" must be csv or json");
    return SB_OK;
}

sb_status sb_export_job_check(sb_slice text, sb_err *err) {
    json_t *args = json_loadb((const char *)text.p, text.n, JSON_ALLOW_NUL, NULL);
    sb_status status = args ? check_args(args, err) : sb_fail_nomem(err, "for a background job");
    json_decref(args);
    return status;
}

/* ---- the work -------------------------------------------------------------------------------- */

typedef struct export_work {
    sb_job *job;
    name_set runs, tags;
    sb_export export;
    sb_buf text;
    uint64_t total;
    sb_status status; /* of writing */
    sb_err *err;
} export_work;

static bool wants_run_of_job(void *ud, sb_slice run) {
    return is_in_set(&((export_work *)ud)->runs, run);
}

static bool wants_tag_of_job(void *ud, sb_slice tag) {
    return is_in_set(&((export_work *)ud)->tags, tag);
}

static bool is_job_cancelled(void *ud) {
    return sb_job_is_cancelled(((export_work *)ud)->job);
}

/* Moves the text so far into the result. */
static bool flush_to_result(void *ud) {
    export_work *w = ud;
    w->status = sb_job_write(w->job, sb_buf_slice(&w->text), w->err);
    sb_buf_clear(&w->text);
    sb_job_report(w->job, w->export.points, w->total);
    return w->status == SB_OK && !sb_job_is_cancelled(w->job);
}

static sb_status write_all(export_work *w, const sb_app *app, bool json, bool superseded) {
    sb_budget budget = {is_job_cancelled, w};
    w->export = (sb_export){.out = &w->text,
                            .json = json,
                            .superseded = superseded,
                            .wants_run = wants_run_of_job,
                            .wants_tag = wants_tag_of_job,
                            .flush = flush_to_result,
                            .ud = w,
                            .budget = &budget};
    sb_status status = sb_export_count(&w->export, app->store, app->env->alloc, &w->total);
    if (status == SB_OK) status = sb_export_all(&w->export, app->store, app->env->alloc);
    if (status == SB_OK) flush_to_result(w);
    if (w->status != SB_OK) return w->status; /* the error says why */
    if (status != SB_OK)
        return sb_fail(w->err, status, 0, "the export failed: %s", sb_status_meaning(status));
    sb_job_report(w->job, w->export.points, w->export.points);
    return SB_OK;
}

sb_status sb_export_job_run(sb_job *job, void *opaque, sb_err *err) {
    const sb_app *app = opaque;
    const sb_alloc *alloc = app->env->alloc;
    sb_slice text = sb_job_args(job);
    json_t *args = json_loadb((const char *)text.p, text.n, JSON_ALLOW_NUL, NULL);
    if (!args) return sb_fail_nomem(err, "for a background job");
    bool json = is_json_format(args);
    sb_job_describe_result(job, json ? "application/json" : "text/csv; charset=utf-8",
                           json ? "seaboard.json" : "seaboard.csv");
    export_work w = {.job = job, .err = err};
    sb_buf_init(&w.text, alloc, BUFFER_CAP);
    sb_status status = read_set(&w.runs, json_object_get(args, "runs"), alloc);
    if (status == SB_OK) status = read_set(&w.tags, json_object_get(args, "tags"), alloc);
    if (status == SB_OK)
        status = write_all(&w, app, json, json_is_true(json_object_get(args, "superseded")));
    else
        sb_fail_nomem(err, "for a background job");
    sb_buf_fini(&w.text);
    free_set(&w.tags, alloc);
    free_set(&w.runs, alloc);
    json_decref(args);
    return status;
}
