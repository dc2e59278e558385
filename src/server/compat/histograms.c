/* histograms.c: /data/plugin/histograms and /data/plugin/distributions, which show the same
 * data. */
#include "query/kinds/histogram.h"

#include "server/compat/series.h"
#include "base/banned.h"

#define PLUGIN "histograms"
#define HISTOGRAM_LIMIT 51
#define DISTRIBUTION_LIMIT 501
#define MOST_RECORD ((size_t)256 << 20)

SB_COMPAT_HANDLER(histograms_tags) {
    return sb_compat_tag_index(q, r, app, PLUGIN, SB_SERIES_TENSOR);
}

sb_status sb_compat_read_histograms(sb_http_request *q, sb_http_reply *r, sb_app *app, sb_run *run,
                                    const sb_series *series, uint64_t http_limit,
                                    sb_histo_point **out, size_t *n) {
    sb_err *err = sb_http_err(r);
    sb_ref_item *items;
    sb_sampling sampling = sb_compat_sampling(app, PLUGIN, http_limit);
    sb_budget budget = sb_compat_budget(q);
    sb_ref_ask ask = {.show_superseded = app->show_superseded, .sampling = &sampling};
    size_t all;
    sb_status status = sb_refs_list(series, &ask, q->arena, &items, &all, NULL, err);
    if (status != SB_OK) return status;
    *out = sb_arena_zeroed(q->arena, all + 1, sizeof **out);
    if (!*out) return sb_fail_nomem(err, "for histograms");
    status = sb_histos_read(app->blobs, run, items, all, SB_HISTO_TRIMMED, MOST_RECORD, &budget,
                            q->arena, *out, err);
    *n = 0;
    for (size_t i = 0; i < all && status == SB_OK; i++)
        if ((*out)[i].status == SB_OK) (*out)[(*n)++] = (*out)[i];
    return status;
}

/* [wall, step, [...]] */
static void begin_point(sb_json *j, const sb_histo_point *point) {
    sb_json_begin_array(j);
    sb_json_double(j, point->wall);
    sb_json_int(j, point->step);
    sb_json_begin_array(j);
}

static void end_point(sb_json *j) {
    sb_json_end_array(j);
    sb_json_end_array(j);
}

static void add_histogram(sb_json *j, const sb_histo_point *point) {
    begin_point(j, point);
    for (size_t i = 0; i < point->histo.n; i++) {
        sb_json_begin_array(j);
        for (size_t k = 0; k < 3; k++) sb_json_double(j, point->histo.rows[3 * i + k]);
        sb_json_end_array(j);
    }
    end_point(j);
}

static void add_distribution(sb_json *j, const sb_histo_point *point) {
    double values[SB_DISTRIBUTION_POINTS];
    sb_distribution_of(&point->histo, values);
    begin_point(j, point);
    for (size_t i = 0; i < SB_DISTRIBUTION_POINTS; i++) {
        sb_json_begin_array(j);
        sb_json_int(j, (int64_t)sb_distribution_bps[i]);
        sb_json_double(j, values[i]);
        sb_json_end_array(j);
    }
    end_point(j);
}

static sb_status answer_histograms(sb_http_request *q, sb_http_reply *r, sb_app *app,
                                   uint64_t limit, void (*add)(sb_json *, const sb_histo_point *)) {
    sb_slice run, tag;
    sb_found_series found;
    if (!sb_compat_run_tag(q, r, &run, &tag)) return SB_OK;
    sb_status status = sb_compat_find(&found, app, q->arena, run, tag, PLUGIN, SB_SERIES_TENSOR);
    if (status == SB_NOT_FOUND) {
        sb_compat_not_found(r, "No histogram tag ");
        sb_compat_add_repr(sb_http_body(r), tag);
        sb_buf_add_str(sb_http_body(r), " for run ");
        sb_compat_add_repr(sb_http_body(r), run);
        return SB_OK;
    }
    if (status != SB_OK) return status;
    sb_histo_point *points;
    size_t n;
    status = sb_compat_read_histograms(q, r, app, found.run, &found.series, limit, &points, &n);
    sb_compat_release(&found);
    if (status != SB_OK) return status;
    sb_json j;
    sb_compat_json_begin(&j, r);
    sb_json_begin_array(&j);
    for (size_t i = 0; i < n; i++) add(&j, &points[i]);
    sb_json_end_array(&j);
    return sb_compat_json_end(&j, r);
}

SB_COMPAT_HANDLER(histograms) {
    return answer_histograms(q, r, app, HISTOGRAM_LIMIT, add_histogram);
}

SB_COMPAT_HANDLER(distributions) {
    return answer_histograms(q, r, app, DISTRIBUTION_LIMIT, add_distribution);
}
