/* scalars.c: /data/plugin/scalars. */
#include "query/lines/scalars.h"
#include "base/bytes.h"
#include "server/body_cache.h"
#include "server/compat/points.h"
#include "server/compat/series.h"
#include "base/banned.h"

#define PLUGIN "scalars"
#define HTTP_LIMIT 1000

SB_COMPAT_HANDLER(scalars_tags) {
    return sb_compat_tag_index(q, r, app, PLUGIN, SB_SERIES_SCALAR);
}

/* ---- one series ------------------------------------------------------------------------------ */

static bool is_csv(const sb_http_request *q) {
    return sb_slice_eq(sb_http_query(q, "format"), SB_LIT("csv"));
}

/* The key of a cached answer: the series, its version, and the form of the answer. */
static sb_slice scalars_cache_key(uint8_t key[SB_CACHE_KEY_BYTES], sb_run *run,
                                  const sb_series_info *info, bool csv) {
    sb_run_info state;
    sb_run_get_info(run, &state);
    key[0] = csv ? 'c' : 'j';
    sb_store32(key + 1, state.id);
    sb_store32(key + 5, info->id);
    sb_store64(key + 9, info->version);
    sb_store64(key + 17, state.epoch);
    return sb_slice_of(key, 25);
}

static void send_body(sb_http_reply *r, sb_body *body, bool csv) {
    sb_http_type(r, csv ? "text/csv; charset=utf-8" : "application/json");
    sb_http_lend(r, sb_body_bytes(body), sb_body_release, body);
}

static sb_status write_series(sb_http_request *q, sb_http_reply *r, sb_app *app,
                              const sb_series *series, bool csv) {
    sb_sampling sampling = sb_compat_sampling(app, PLUGIN, HTTP_LIMIT);
    sb_buf *out = sb_http_body(r);
    sb_http_type(r, csv ? "text/csv; charset=utf-8" : "application/json");
    if (csv) sb_buf_add_str(out, "Wall time,Step,Value\r\n");
    return sb_compat_add_points(out, series, app, &sampling, csv ? SB_POINTS_CSV : SB_POINTS_ROWS,
                                q, sb_http_err(r));
}

/* The run and the tag exist; SB_NOT_FOUND when they are no scalars, SB_MORE when it takes long. */
static sb_status answer_series(sb_http_request *q, sb_http_reply *r, sb_app *app, sb_run *run,
                               sb_slice tag) {
    sb_series_info info;
    sb_status status = sb_run_find_info(run, tag, &info);
    bool csv = is_csv(q);
    if (status != SB_OK) return status;
    if (info.meta->kind != SB_SERIES_SCALAR || !sb_slice_eq(info.meta->plugin_name, SB_LIT(PLUGIN)))
        return SB_NOT_FOUND;
    uint8_t room[SB_CACHE_KEY_BYTES];
    sb_slice key = scalars_cache_key(room, run, &info, csv);
    sb_body *body = sb_body_cache_find(app->bodies, key);
    if (body) {
        send_body(r, body, csv);
        return SB_OK;
    }
    if (q->is_inline && info.points > SB_POINTS_INLINE) return SB_MORE;
    sb_series series;
    status = sb_series_take(run, tag, q->arena, &series);
    if (status != SB_OK) return status;
    status = write_series(q, r, app, &series, csv);
    sb_series_release(&series);
    if (status != SB_OK || sb_http_body(r)->failed != SB_OK) return status;
    /* points that were committed after the key was made would be stored under an old version */
    uint8_t room_now[SB_CACHE_KEY_BYTES];
    if (sb_run_find_info(run, tag, &info) != SB_OK ||
        !sb_slice_eq(key, scalars_cache_key(room_now, run, &info, csv)))
        return SB_OK;
    body = sb_body_cache_keep(app->bodies, key, sb_buf_slice(sb_http_body(r)));
    if (body) send_body(r, body, csv);
    return SB_OK;
}

sb_status sb_compat_scalar_series(sb_http_request *q, sb_http_reply *r, sb_app *app,
                                  sb_slice run_name, sb_slice tag) {
    sb_run *run = sb_store_find_run(app->store, run_name);
    sb_status status = run ? answer_series(q, r, app, run, tag) : SB_NOT_FOUND;
    sb_run_release(run);
    return status == SB_NOT_FOUND ? sb_compat_no_data(r, "scalar", run_name, tag) : status;
}

SB_COMPAT_HANDLER(scalars) {
    sb_slice run, tag;
    if (!sb_compat_run_tag(q, r, &run, &tag)) return SB_OK;
    return sb_compat_scalar_series(q, r, app, run, tag);
}

/* ---- several runs ---------------------------------------------------------------------------- */

SB_COMPAT_HANDLER(scalars_multirun) {
    sb_app *a = app;
    sb_http_params form;
    sb_status status = sb_http_form(q, &form, sb_http_err(r));
    if (status != SB_OK) return status;
    size_t tags = 0;
    sb_slice tag = {NULL, 0};
    for (size_t i = 0; i < form.count; i++) {
        if (!sb_slice_eq(form.items[i].key, SB_LIT("tag"))) continue;
        tag = form.items[i].value;
        tags++;
    }
    if (tags != 1) return sb_compat_invalid(r, "tag must be specified exactly once");
    sb_sampling sampling = sb_compat_sampling(a, PLUGIN, HTTP_LIMIT);
    sb_json j;
    sb_compat_json_begin(&j, r);
    sb_json_begin_object(&j);
    for (size_t i = 0; i < form.count && status == SB_OK; i++) {
        if (!sb_slice_eq(form.items[i].key, SB_LIT("runs")) || sb_http_param_is_repeated(form, i))
            continue;
        sb_found_series found;
        status =
            sb_compat_find(&found, a, q->arena, form.items[i].value, tag, PLUGIN, SB_SERIES_SCALAR);
        if (status == SB_NOT_FOUND) {
            status = SB_OK;
            continue;
        }
        if (status != SB_OK) break;
        sb_json_key(&j, form.items[i].value);
        sb_json_raw(&j, SB_LIT(""));
        status = sb_compat_add_points(j.out, &found.series, a, &sampling, SB_POINTS_ROWS, q,
                                      sb_http_err(r));
        sb_compat_release(&found);
    }
    if (status != SB_OK) return status;
    sb_json_end_object(&j);
    return sb_compat_json_end(&j, r);
}
