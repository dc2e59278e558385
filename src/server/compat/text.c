/* text.c: /data/plugin/text. */
#include "query/kinds/text.h"

#include "server/compat/series.h"
#include "base/banned.h"

#define PLUGIN "text"
#define HTTP_LIMIT 100
#define MOST_RECORD ((size_t)256 << 20)

SB_COMPAT_HANDLER(text_tags) {
    sb_series_list list;
    sb_status status = sb_compat_list(&list, q, r, app, PLUGIN, SB_SERIES_TENSOR);
    if (status != SB_OK) return status;
    sb_json j;
    sb_compat_json_begin(&j, r);
    sb_json_begin_object(&j);
    for (size_t i = 0; i < list.n; i++) {
        sb_json_key(&j, list.runs[i].info.name);
        sb_json_begin_array(&j);
        for (size_t k = 0; k < list.runs[i].n; k++) sb_json_text(&j, list.runs[i].series[k].tag);
        sb_json_end_array(&j);
    }
    sb_json_end_object(&j);
    sb_series_list_release(&list);
    return sb_compat_json_end(&j, r);
}

/* Points that can't be read are left out. */
static sb_status add_texts(sb_json *j, const sb_text_point *points, size_t n, sb_http_request *q,
                           sb_err *err) {
    bool markdown = !sb_slice_eq(sb_http_query(q, "markdown"), SB_LIT("false"));
    sb_buf html;
    sb_buf_init(&html, q->alloc, j->out->cap);
    sb_status status = SB_OK;
    for (size_t i = 0; i < n && status == SB_OK; i++) {
        if (points[i].status != SB_OK) continue;
        sb_buf_clear(&html);
        if (sb_http_expired(q)) status = sb_fail_timeout(err);
        if (status == SB_OK) status = sb_text_point_render(&html, &points[i], markdown, NULL, err);
        if (status != SB_OK) break;
        sb_json_begin_object(j);
        sb_json_put_double(j, "wall_time", points[i].wall);
        sb_json_put_int(j, "step", points[i].step);
        sb_json_put_text(j, "text", sb_buf_slice(&html));
        sb_json_end_object(j);
    }
    sb_buf_fini(&html);
    return status;
}

static sb_status read_texts(sb_http_request *q, sb_app *app, sb_found_series *found,
                            sb_text_point **out, size_t *n, sb_err *err) {
    sb_ref_item *items;
    sb_sampling sampling = sb_compat_sampling(app, PLUGIN, HTTP_LIMIT);
    sb_budget budget = sb_compat_budget(q);
    sb_ref_ask ask = {.show_superseded = app->show_superseded, .sampling = &sampling};
    sb_status status = sb_refs_list(&found->series, &ask, q->arena, &items, n, NULL, err);
    if (status != SB_OK) return status;
    *out = sb_arena_zeroed(q->arena, *n + 1, sizeof **out);
    if (!*out) return sb_fail_nomem(err, "for texts");
    return sb_texts_read(app->blobs, found->run, items, *n, MOST_RECORD, &budget, q->arena, *out,
                         err);
}

SB_COMPAT_HANDLER(text) {
    sb_slice run, tag;
    sb_err *err = sb_http_err(r);
    if (!sb_compat_run_tag(q, r, &run, &tag)) return SB_OK;
    sb_found_series found;
    sb_text_point *points = NULL;
    size_t n = 0;
    sb_status status = sb_compat_find(&found, app, q->arena, run, tag, PLUGIN, SB_SERIES_TENSOR);
    bool is_found = status == SB_OK;
    if (status == SB_NOT_FOUND) status = SB_OK;
    if (is_found) status = read_texts(q, app, &found, &points, &n, err);
    if (status == SB_OK) {
        sb_json j;
        sb_compat_json_begin(&j, r);
        sb_json_begin_array(&j);
        status = add_texts(&j, points, n, q, err);
        sb_json_end_array(&j);
        if (status == SB_OK) status = sb_compat_json_end(&j, r);
    }
    if (is_found) sb_compat_release(&found);
    return status;
}
