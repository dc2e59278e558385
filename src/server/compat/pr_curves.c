/* pr_curves.c: /data/plugin/pr_curves. */
#include "query/kinds/pr_curve.h"

#include "server/compat/series.h"
#include "base/banned.h"

#define PLUGIN "pr_curves"
#define HTTP_LIMIT 100
#define MOST_RECORD ((size_t)256 << 20)

SB_COMPAT_HANDLER(pr_curves_tags) {
    return sb_compat_tag_index(q, r, app, PLUGIN, SB_SERIES_TENSOR);
}

static void add_reals(sb_json *j, const char *key, const double *values, size_t n) {
    sb_json_key_str(j, key);
    sb_json_begin_array(j);
    for (size_t i = 0; i < n; i++) sb_json_double(j, values[i]);
    sb_json_end_array(j);
}

static void add_counts(sb_json *j, const char *key, const int64_t *values, size_t n) {
    sb_json_key_str(j, key);
    sb_json_begin_array(j);
    for (size_t i = 0; i < n; i++) sb_json_int(j, values[i]);
    sb_json_end_array(j);
}

static void add_curve(sb_json *j, const sb_pr_curve_point *p) {
    sb_json_begin_object(j);
    sb_json_put_double(j, "wall_time", p->wall);
    sb_json_put_int(j, "step", p->step);
    add_reals(j, "precision", p->precision, p->n);
    add_reals(j, "recall", p->recall, p->n);
    add_counts(j, "true_positives", p->true_positives, p->n);
    add_counts(j, "false_positives", p->false_positives, p->n);
    add_counts(j, "true_negatives", p->true_negatives, p->n);
    add_counts(j, "false_negatives", p->false_negatives, p->n);
    add_reals(j, "thresholds", p->thresholds, p->n);
    sb_json_end_object(j);
}

static sb_status add_curves(sb_json *j, sb_http_request *q, sb_app *app, sb_found_series *found,
                            sb_err *err) {
    sb_ref_item *items;
    size_t n;
    sb_sampling sampling = sb_compat_sampling(app, PLUGIN, HTTP_LIMIT);
    sb_budget budget = sb_compat_budget(q);
    sb_ref_ask ask = {.show_superseded = app->show_superseded, .sampling = &sampling};
    sb_status status = sb_refs_list(&found->series, &ask, q->arena, &items, &n, NULL, err);
    if (status != SB_OK) return status;
    sb_pr_curve_point *points = sb_arena_zeroed(q->arena, n + 1, sizeof *points);
    if (!points) return sb_fail_nomem(err, "for curves");
    status = sb_pr_curves_read(app->blobs, found->run, items, n, MOST_RECORD, &budget, q->arena,
                               points, err);
    if (status != SB_OK) return status;
    sb_json_begin_array(j);
    for (size_t i = 0; i < n; i++)
        if (points[i].status == SB_OK) add_curve(j, &points[i]);
    sb_json_end_array(j);
    return SB_OK;
}

static sb_status no_curves(sb_http_reply *r, sb_slice run, sb_slice tag) {
    sb_compat_plain(r, 400, "No PR curves could be found for run ");
    sb_compat_add_repr(sb_http_body(r), run);
    sb_buf_add_str(sb_http_body(r), " and tag ");
    sb_compat_add_repr(sb_http_body(r), tag);
    return SB_OK;
}

SB_COMPAT_HANDLER(pr_curves) {
    sb_app *a = app;
    sb_slice tag = sb_http_query(q, "tag");
    if (!sb_http_query(q, "run").p)
        return sb_compat_plain(r, 400, "No runs provided when fetching PR curve data");
    if (tag.n == 0) return sb_compat_plain(r, 400, "No tag provided when fetching PR curve data");
    sb_json j;
    sb_compat_json_begin(&j, r);
    sb_json_begin_object(&j);
    sb_status status = SB_OK;
    for (size_t i = 0; i < q->query.count && status == SB_OK; i++) {
        const sb_http_param *param = &q->query.items[i];
        if (!sb_slice_eq(param->key, SB_LIT("run")) || sb_http_param_is_repeated(q->query, i))
            continue;
        sb_found_series found;
        status = sb_compat_find(&found, a, q->arena, param->value, tag, PLUGIN, SB_SERIES_TENSOR);
        if (status == SB_NOT_FOUND) return no_curves(r, param->value, tag);
        if (status != SB_OK) break;
        sb_json_key(&j, param->value);
        status = add_curves(&j, q, a, &found, sb_http_err(r));
        sb_compat_release(&found);
    }
    if (status != SB_OK) return status;
    sb_json_end_object(&j);
    return sb_compat_json_end(&j, r);
}
