/* text_export.c: all texts of one series to take away, oldest first, as they were logged. They are
 * read from the log while the client takes them. */
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

/* An export while it is sent, in the request's arena. */
typedef struct sending {
    sb_http_request *q;
    sb_app *app;
    sb_err *err;
    bool is_json;
    bool has_begun;
    bool has_any; /* a point was written */
    sb_series series;
    sb_ref_item *items;
    size_t n, at;
} sending;

static void add_point(sending *s, sb_buf *out, const sb_text_point *point) {
    if (s->is_json) {
        sb_json j;
        if (s->has_any) sb_buf_add_byte(out, ',');
        sb_json_init(&j, out, &(sb_json_opts){.utf8 = true});
        add_json(&j, point);
    } else {
        add_csv(out, point);
    }
    s->has_any = true;
}

static sb_status make_batch(sending *s, sb_buf *out) {
    size_t n = s->n - s->at < BATCH ? s->n - s->at : BATCH;
    sb_budget budget = sb_api_budget(s->q);
    sb_text_point *points = sb_arena_zeroed(s->q->arena, n, sizeof *points);
    if (!points) return SB_NOMEM;
    sb_status status = sb_texts_read(s->app->blobs, s->series.run, s->items + s->at, n,
                                     SB_MAX_SMALL_RECORD, &budget, s->q->arena, points, s->err);
    for (size_t i = 0; status == SB_OK && i < n; i++)
        if (points[i].status == SB_OK) add_point(s, out, &points[i]);
    s->at += n;
    return status;
}

static sb_status make_texts(void *ud, sb_buf *out) {
    sending *s = ud;
    if (!s->has_begun) sb_buf_add_str(out, s->is_json ? "[" : "step,wall_time,index,text\r\n");
    s->has_begun = true;
    if (s->at == s->n) {
        if (s->is_json) sb_buf_add_byte(out, ']');
        return SB_END;
    }
    sb_arena_mark mark = sb_arena_here(s->q->arena);
    sb_status status = make_batch(s, out);
    sb_arena_reset(s->q->arena, mark);
    return status;
}

static void end_sending(void *ud) {
    sb_series_release(&((sending *)ud)->series);
}

sb_status sb_api_text_export(sb_http_request *q, sb_http_reply *r, void *app) {
    sb_slice format = sb_http_query(q, "format");
    bool is_json = format.p && sb_slice_eq(format, SB_LIT("json"));
    if (format.p && !is_json && !sb_slice_eq(format, SB_LIT("csv")))
        return sb_api_fail(r, 400, "invalid", "format must be csv or json");
    sending *s = sb_arena_zeroed(q->arena, 1, sizeof *s);
    if (!s) return SB_NOMEM;
    *s = (sending){.q = q, .app = app, .err = sb_http_err(r), .is_json = is_json};
    sb_api_version(r, app);
    sb_status status = sb_api_take_series(q, r, app, &s->series);
    if (status != SB_OK) return status == SB_END ? SB_OK : status;
    status = sb_refs_list(&s->series, &(sb_ref_ask){0}, q->arena, &s->items, &s->n, NULL, s->err);
    if (status != SB_OK) {
        end_sending(s);
        return status;
    }
    sb_http_type(r, is_json ? "application/json" : "text/csv; charset=utf-8");
    sb_http_set_header(r, "Content-Disposition", SB_LIT("attachment"));
    return sb_http_make(r, make_texts, end_sending, s);
}
