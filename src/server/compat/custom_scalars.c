/* custom_scalars.c: /data/plugin/custom_scalars: charts that people laid out themselves. */
#include "query/kinds/layout.h"
#include "query/tag_regex.h"
#include "server/compat/points.h"
#include "server/compat/series.h"
#include "base/banned.h"

#define HTTP_LIMIT 1000
#define MOST_RECORD ((size_t)64 << 20)
#define MOST_CHARTS 100000

SB_COMPAT_HANDLER(custom_scalars_download) {
    sb_slice run, tag;
    if (!sb_compat_run_tag(q, r, &run, &tag)) return SB_OK;
    return sb_compat_scalar_series(q, r, app, run, tag);
}

/* ---- series whose tags match ----------------------------------------------------------------- */

static sb_status add_matching(sb_json *j, sb_http_request *q, sb_app *app, sb_run *run,
                              sb_tag_regex *regex, sb_err *err) {
    sb_series_info *all;
    size_t n;
    sb_sampling sampling = sb_compat_sampling(app, "scalars", HTTP_LIMIT);
    sb_status status = sb_run_list(run, q->arena, &all, &n);
    for (size_t i = 0; i < n && status == SB_OK; i++) {
        const sb_series_meta *meta = all[i].meta;
        sb_series series;
        if (meta->kind != SB_SERIES_SCALAR || !sb_slice_eq(meta->plugin_name, SB_LIT("scalars")))
            continue;
        if (sb_http_expired(q))
            return sb_fail(err, SB_TIMEOUT, 0, "the answer took longer than allowed");
        bool matches;
        status = sb_tag_regex_match(regex, all[i].tag, &matches, err);
        if (status == SB_OK && !matches) continue;
        if (status == SB_OK) status = sb_series_take(run, all[i].tag, q->arena, &series);
        if (status == SB_NOT_FOUND) {
            status = SB_OK;
            continue;
        }
        if (status != SB_OK) break;
        sb_json_key(j, all[i].tag);
        sb_json_raw(j, SB_LIT(""));
        status = sb_compat_add_points(j->out, &series, app, &sampling, SB_POINTS_ROWS, q, err);
        sb_series_release(&series);
    }
    return status;
}

SB_COMPAT_HANDLER(custom_scalars) {
    sb_app *a = app;
    sb_err *err = sb_http_err(r);
    sb_slice tag = sb_http_query(q, "tag"), name = sb_http_query(q, "run");
    sb_tag_regex *regex = NULL;
    sb_status status = tag.n ? sb_tag_regex_new(&regex, q->alloc, tag, NULL, err) : SB_INVALID;
    if (status == SB_NOMEM) return status;
    if (regex && !name.p) {
        sb_tag_regex_free(regex);
        return sb_compat_invalid(r, "run must be specified");
    }
    sb_json j;
    sb_compat_json_begin(&j, r);
    sb_json_begin_object(&j);
    sb_json_put_bool(&j, "regex_valid", regex != NULL);
    sb_json_key_str(&j, "tag_to_events");
    sb_json_begin_object(&j);
    sb_run *run = regex ? sb_store_find_run(a->store, name) : NULL;
    status = run ? add_matching(&j, q, a, run, regex, err) : SB_OK;
    sb_run_release(run);
    sb_tag_regex_free(regex);
    if (status == SB_LIMIT) return sb_compat_invalid(r, "%s", err->text);
    if (status != SB_OK) return status;
    sb_json_end_object(&j);
    sb_json_end_object(&j);
    return sb_compat_json_end(&j, r);
}

/* ---- the layout ------------------------------------------------------------------------------ */

static void add_chart(sb_json *j, const sb_layout_chart *chart) {
    sb_json_begin_object(j);
    sb_json_put_text(j, "title", chart->title);
    if (chart->kind == SB_CHART_MULTILINE) {
        sb_json_key_str(j, "multiline");
        sb_json_begin_object(j);
        sb_json_key_str(j, "tag");
        sb_json_begin_array(j);
        for (size_t i = 0; i < chart->tag_n; i++) sb_json_text(j, chart->tags[i]);
        sb_json_end_array(j);
        sb_json_end_object(j);
    }
    if (chart->kind == SB_CHART_MARGIN) {
        sb_json_key_str(j, "margin");
        sb_json_begin_object(j);
        sb_json_key_str(j, "series");
        sb_json_begin_array(j);
        for (size_t i = 0; i < chart->series_n; i++) {
            sb_json_begin_object(j);
            sb_json_put_text(j, "value", chart->series[i].value);
            sb_json_put_text(j, "lower", chart->series[i].lower);
            sb_json_put_text(j, "upper", chart->series[i].upper);
            sb_json_end_object(j);
        }
        sb_json_end_array(j);
        sb_json_end_object(j);
    }
    sb_json_end_object(j);
}

/* As proto3 JSON, with two blanks per level. */
static void add_layout(sb_json *j, const sb_layout_merged *layout) {
    sb_json_begin_object(j);
    sb_json_key_str(j, "category");
    sb_json_begin_array(j);
    for (size_t i = 0; i < layout->n; i++) {
        const sb_layout_category *category = &layout->categories[i];
        sb_json_begin_object(j);
        sb_json_put_text(j, "title", category->title);
        sb_json_key_str(j, "chart");
        sb_json_begin_array(j);
        for (size_t k = 0; k < category->n; k++) add_chart(j, &category->charts[k]);
        sb_json_end_array(j);
        sb_json_put_bool(j, "closed", category->closed);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
    sb_json_put_int(j, "version", layout->version);
    sb_json_end_object(j);
}

SB_COMPAT_HANDLER(custom_scalars_layout) {
    sb_app *a = app;
    sb_layout_merged layout;
    sb_budget budget = sb_compat_budget(q);
    sb_status status = sb_layout_merge(a->store, a->blobs, MOST_RECORD, MOST_CHARTS, &budget,
                                       q->arena, &layout, sb_http_err(r));
    if (status != SB_OK) return status;
    sb_json j;
    sb_http_type(r, "application/json");
    sb_json_init(&j, sb_http_body(r), &(sb_json_opts){.spaced = true, .indent = 2});
    if (layout.is_found) {
        add_layout(&j, &layout);
    } else {
        sb_json_begin_object(&j);
        sb_json_end_object(&j);
    }
    return sb_compat_json_end(&j, r);
}
