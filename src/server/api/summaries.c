/* summaries.c: what a table of runs shows of each metric: last, least, greatest, and where. */
#include "query/lines/scalars.h"
#include "server/api/api.h"
#include "base/banned.h"

#define MAX_CELLS 200000u

static void add_summary_step(sb_json *j, const char *key, int64_t step) {
    sb_json_key_str(j, key);
    sb_api_step(j, step);
}

static void add_cell(sb_json *j, const sb_scalar_summary *s) {
    sb_json_begin_object(j);
    sb_json_put_uint(j, "n", s->n);
    sb_json_put_double(j, "last", s->last_value);
    add_summary_step(j, "lastStep", s->last_step);
    if (s->finite) {
        sb_json_put_double(j, "min", s->min);
        add_summary_step(j, "minStep", s->min_step_at);
        sb_json_put_double(j, "max", s->max);
        add_summary_step(j, "maxStep", s->max_step_at);
        sb_json_put_double(j, "mean", s->mean);
    }
    sb_json_put_uint(j, "nan", s->nan);
    sb_json_put_uint(j, "infinite", s->infinite);
    sb_json_put_double(j, "firstWall", s->first_wall);
    sb_json_put_double(j, "lastWall", s->last_wall);
    sb_json_end_object(j);
}

static sb_status add_cell_of(sb_json *j, sb_http_request *q, sb_run *run, sb_slice tag,
                             const sb_budget *budget) {
    sb_series series;
    sb_arena_mark mark = sb_arena_here(q->arena);
    sb_status status = run ? sb_series_take(run, tag, q->arena, &series) : SB_NOT_FOUND;
    if (status == SB_NOT_FOUND) {
        sb_json_null(j);
        return SB_OK;
    }
    if (status != SB_OK) return status;
    sb_scalar_summary summary;
    status = series.meta->kind == SB_SERIES_SCALAR
                 ? sb_scalar_sum_up(&series, budget, &summary, NULL)
                 : SB_INVALID;
    if (status == SB_OK && summary.n)
        add_cell(j, &summary);
    else if (status == SB_OK || status == SB_INVALID)
        sb_json_null(j);
    sb_series_release(&series);
    sb_arena_reset(q->arena, mark);
    return status == SB_INVALID ? SB_OK : status;
}

/* The wanted runs by id; all when the request names none. */
static sb_status wanted_runs(sb_http_request *q, const json_t *list, const sb_run_index *runs,
                             sb_run ***out, size_t *n) {
    *n = json_is_array(list) ? json_array_size(list) : runs->all.n;
    *out = sb_arena_zeroed(q->arena, *n, sizeof **out);
    if (!*out) return SB_NOMEM;
    for (size_t i = 0; i < *n; i++) {
        if (!json_is_array(list)) {
            (*out)[i] = runs->all.items[i];
            continue;
        }
        json_int_t id = json_integer_value(json_array_get(list, i));
        (*out)[i] = id >= 0 && id <= UINT32_MAX ? sb_api_find_run(runs, (uint32_t)id) : NULL;
    }
    return SB_OK;
}

static void add_heads(sb_json *j, const json_t *tags, sb_run **runs, size_t run_n) {
    sb_json_key_str(j, "runs");
    sb_json_begin_array(j);
    for (size_t i = 0; i < run_n; i++) {
        if (runs[i])
            sb_json_uint(j, sb_run_id(runs[i]));
        else
            sb_json_null(j);
    }
    sb_json_end_array(j);
    sb_json_key_str(j, "tags");
    sb_json_begin_array(j);
    for (size_t i = 0; i < json_array_size(tags); i++)
        sb_json_str(j, json_string_value(json_array_get(tags, i)));
    sb_json_end_array(j);
}

static sb_status answer_summaries(sb_json *j, sb_http_request *q, sb_http_reply *r,
                                  const json_t *tags, sb_run **runs, size_t run_n) {
    sb_budget budget = sb_api_budget(q);
    add_heads(j, tags, runs, run_n);
    sb_json_key_str(j, "cells");
    sb_json_begin_array(j);
    for (size_t t = 0; t < json_array_size(tags); t++) {
        const json_t *tag = json_array_get(tags, t);
        sb_slice name = sb_slice_of(json_string_value(tag), json_string_length(tag));
        sb_json_begin_array(j);
        for (size_t i = 0; i < run_n; i++) {
            sb_status status = add_cell_of(j, q, runs[i], name, &budget);
            if (status != SB_OK) return status;
        }
        sb_json_end_array(j);
    }
    sb_json_end_array(j);
    return sb_api_end(j, r);
}

static bool all_texts(const json_t *list) {
    if (!json_is_array(list)) return false;
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!json_is_string(json_array_get(list, i))) return false;
    return true;
}

sb_status sb_api_summaries(sb_http_request *q, sb_http_reply *r, void *opaque) {
    sb_app *app = opaque;
    json_t *body = sb_api_body(q, r);
    if (!body) return SB_OK;
    const json_t *tags = json_object_get(body, "tags");
    sb_run_index runs;
    sb_run **wanted;
    size_t n;
    sb_json j;
    sb_api_begin(&j, r, app);
    sb_status status = SB_OK;
    if (!all_texts(tags))
        status = sb_api_fail(r, 400, "invalid", "\"tags\" must be a list of texts");
    else if ((status = sb_api_take_runs(&runs, q, app)) == SB_OK) {
        status = wanted_runs(q, json_object_get(body, "runs"), &runs, &wanted, &n);
        if (status == SB_OK && (uint64_t)n * json_array_size(tags) > MAX_CELLS)
            status = sb_api_fail(r, 413, "limit", "%zu runs times %zu tags are more than %u cells",
                                 n, json_array_size(tags), MAX_CELLS);
        else if (status == SB_OK)
            status = answer_summaries(&j, q, r, tags, wanted, n);
        sb_api_release_runs(&runs);
    }
    json_decref(body);
    return status;
}
