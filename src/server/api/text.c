/* text.c: the texts of one series as harmless HTML, newest first. */
#include "query/kinds/text.h"
#include "server/api/one_series.h"
#include "base/banned.h"

#define MAX_TEXTS 500u

static void add_html(sb_json *j, sb_http_request *q, const sb_text_point *point) {
    sb_buf html;
    sb_buf_init(&html, q->alloc, SB_MAX_SMALL_RECORD);
    sb_status status = point->status;
    if (status == SB_OK) status = sb_text_point_render(&html, point, true, NULL, NULL);
    if (status == SB_OK) {
        sb_json_put_text(j, "html", sb_buf_slice(&html));
    }
    sb_api_add_point_error(j, status);
    sb_buf_fini(&html);
}

/* The newest first. */
static void reverse_items(sb_ref_item *items, size_t n) {
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
    reverse_items(items, n);
    size_t first = from < n ? (size_t)from : n;
    size_t shown = n - first < count ? n - first : (size_t)count;
    sb_text_point *points = sb_arena_zeroed(q->arena, shown, sizeof *points);
    if (!points) return SB_NOMEM;
    status = sb_texts_read(app->blobs, series->run, items + first, shown, SB_MAX_SMALL_RECORD,
                           &budget, q->arena, points, sb_http_err(r));
    if (status != SB_OK) return status;
    sb_json_put_uint(j, "total", n);
    sb_json_key_str(j, "points");
    sb_json_begin_array(j);
    for (size_t i = 0; i < shown; i++) {
        sb_json_begin_object(j);
        sb_api_add_point_head(j, points[i].step, points[i].wall);
        add_html(j, q, &points[i]);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
    return sb_api_end(j, r);
}

sb_status sb_api_text(sb_http_request *q, sb_http_reply *r, void *opaque) {
    uint64_t from, count;
    if (!sb_api_query_number(q, "from", 0, &from) || !sb_api_query_number(q, "count", 50, &count) ||
        count > MAX_TEXTS)
        return sb_api_fail(r, 400, "invalid",
                           "from and count must be whole numbers, count at most %u", MAX_TEXTS);
    sb_series series;
    sb_json j;
    sb_api_begin(&j, r, opaque);
    sb_status status = sb_api_take_series(q, r, opaque, &series);
    if (status != SB_OK) return status == SB_END ? SB_OK : status;
    status = answer_texts(&j, q, r, opaque, &series, from, count);
    sb_series_release(&series);
    return status;
}
