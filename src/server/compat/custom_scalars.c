/* custom_scalars.c: /data/plugin/custom_scalars: charts that people laid out themselves. */
#include "query/regex.h"
#include "server/compat/points.h"
#include "server/compat/series.h"
#include "base/banned.h"

#define HTTP_LIMIT 1000

SB_COMPAT_HANDLER(custom_scalars_download) {
    sb_slice run, tag;
    if (!sb_compat_run_tag(q, r, &run, &tag)) return SB_OK;
    return sb_compat_scalar_series(q, r, app, run, tag);
}

/* ---- series whose tags match ----------------------------------------------------------------- */

static sb_status add_matching(sb_json *j, sb_http_request *q, sb_app *app, sb_run *run,
                              sb_regex *regex, sb_err *err) {
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
        status = sb_regex_match(regex, all[i].tag, true, err);
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
    sb_regex *regex = NULL;
    sb_status status = tag.n ? sb_regex_new(&regex, tag, err) : SB_INVALID;
    if (status == SB_NOMEM) return status;
    if (regex && !name.p) {
        sb_regex_free(regex);
        return sb_compat_invalid(r, "run must be specified");
    }
    sb_json j;
    sb_compat_json_begin(&j, r);
    sb_json_begin_object(&j);
    sb_json_key_str(&j, "regex_valid");
    sb_json_bool(&j, regex != NULL);
    sb_json_key_str(&j, "tag_to_events");
    sb_json_begin_object(&j);
    sb_run *run = regex ? sb_store_find_run(a->store, name) : NULL;
    status = run ? add_matching(&j, q, a, run, regex, err) : SB_OK;
    sb_run_release(run);
    sb_regex_free(regex);
    if (status != SB_OK) return status;
    sb_json_end_object(&j);
    sb_json_end_object(&j);
    return sb_compat_json_end(&j, r);
}
