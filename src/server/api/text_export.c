/* text_export.c: all texts of one series to take away, oldest first, as they were logged. */
#include <stdio.h>

#include "base/text/number.h"
#include "base/text/utf8.h"
#include "query/csv.h"
#include "query/kinds/text.h"
#include "server/api/one_series.h"
#include "base/banned.h"

#define BATCH 256u

static void add_csv(sb_buf *out, const sb_text_point *point) {
    char number[SB_NUMBER_ROOM];
    for (size_t i = 0; i < point->n; i++) {
        sb_buf text;
        sb_buf_init(&text, out->alloc, SB_MAX_SMALL_RECORD * 3);
        sb_utf8_repair(&text, point->strings[i]);
        sb_buf_printf(out, "%lld,", (long long)point->step);
        sb_buf_add(out, number, sb_print_double(number, point->wall));
        sb_buf_printf(out, ",%zu,", i);
        sb_csv_add_quoted(out, sb_buf_slice(&text));
        sb_buf_add_str(out, "\r\n");
        sb_buf_fini(&text);
    }
}

static void add_json(sb_json *j, const sb_text_point *point) {
    sb_json_begin_object(j);
    sb_api_add_point_head(j, point->step, point->wall);
    sb_json_key_str(j, "dims");
    sb_json_begin_array(j);
    for (size_t i = 0; i < point->rank; i++) sb_json_uint(j, point->dims[i]);
    sb_json_end_array(j);
    sb_json_key_str(j, "strings");
    sb_json_begin_array(j);
    for (size_t i = 0; i < point->n; i++) sb_json_text(j, point->strings[i]);
    sb_json_end_array(j);
    sb_json_end_object(j);
}

static sb_status export_batch(sb_http_request *q, sb_http_reply *r, sb_app *app, sb_json *j,
                              const sb_series *series, const sb_ref_item *items, size_t n) {
    sb_budget budget = sb_api_budget(q);
    sb_text_point *points = sb_arena_zeroed(q->arena, n, sizeof *points);
    if (!points) return SB_NOMEM;
    sb_status status = sb_texts_read(app->blobs, series->run, items, n, SB_MAX_SMALL_RECORD,
                                     &budget, q->arena, points, sb_http_err(r));
    for (size_t i = 0; status == SB_OK && i < n; i++) {
        if (points[i].status != SB_OK) continue;
        if (j)
            add_json(j, &points[i]);
        else
            add_csv(sb_http_body(r), &points[i]);
    }
    return status;
}

static sb_status export_series(sb_http_request *q, sb_http_reply *r, sb_app *app,
                               const sb_series *series, bool is_json) {
    sb_ref_item *items;
    size_t n;
    sb_json j;
    sb_status status =
        sb_refs_list(series, &(sb_ref_ask){0}, q->arena, &items, &n, NULL, sb_http_err(r));
    if (status != SB_OK) return status;
    if (is_json) {
        sb_json_init(&j, sb_http_body(r), &(sb_json_opts){.utf8 = true});
        sb_json_begin_array(&j);
    } else {
        sb_buf_add_str(sb_http_body(r), "step,wall_time,index,text\r\n");
    }
    for (size_t at = 0; at < n && status == SB_OK; at += BATCH) {
        sb_arena_mark mark = sb_arena_here(q->arena);
        status = export_batch(q, r, app, is_json ? &j : NULL, series, items + at,
                              n - at < BATCH ? n - at : BATCH);
        sb_arena_reset(q->arena, mark);
    }
    if (is_json && status == SB_OK) sb_json_end_array(&j);
    sb_http_type(r, is_json ? "application/json" : "text/csv; charset=utf-8");
    sb_http_set_header(r, "Content-Disposition", SB_LIT("attachment"));
    return status;
}

sb_status sb_api_text_export(sb_http_request *q, sb_http_reply *r, void *app) {
    sb_slice format = sb_http_query(q, "format");
    bool is_json = format.p && sb_slice_eq(format, SB_LIT("json"));
    if (format.p && !is_json && !sb_slice_eq(format, SB_LIT("csv")))
        return sb_api_fail(r, 400, "invalid", "format must be csv or json");
    sb_series series;
    sb_api_version(r, app);
    sb_status status = sb_api_take_series(q, r, app, &series);
    if (status != SB_OK) return status == SB_END ? SB_OK : status;
    status = export_series(q, r, app, &series, is_json);
    sb_series_release(&series);
    return status;
}
