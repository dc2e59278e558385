/* histogram_export.c: every bucket of every step of some series, as a file to keep. */
#include "base/text/number.h"
#include "query/csv.h"
#include "query/kinds/histogram.h"
#include "server/api/one_series.h"
#include "base/banned.h"

#define AT_A_TIME 256u /* steps that are in memory */

/* An export while it is sent, in the request's arena. */
typedef struct export_to {
    sb_http_request *q;
    sb_app *app;
    sb_err *err;
    sb_buf *out;
    bool json;
    bool has_begun;
    bool is_first;
    sb_slice run, tag;
    sb_budget budget;
    sb_histo_point *points; /* room for AT_A_TIME */
    size_t next_run;        /* among the query's parameters */
    sb_arena_mark before_run;
    bool has_series;
    sb_series series;
    sb_ref_item *items; /* of the series */
    size_t n, at;
} export_to;

static void add_number(sb_buf *out, double x) {
    char text[SB_NUMBER_ROOM];
    sb_buf_add(out, text, sb_print_double(text, x));
}

static void add_csv_step(export_to *e, const sb_histo_point *p) {
    for (size_t i = 0; i < p->histo.n; i++) {
        sb_csv_add_text(e->out, e->run);
        sb_buf_add_byte(e->out, ',');
        sb_csv_add_text(e->out, e->tag);
        sb_buf_printf(e->out, ",%lld,", (long long)p->step);
        add_number(e->out, p->wall);
        for (size_t k = 0; k < 3; k++) {
            sb_buf_add_byte(e->out, ',');
            add_number(e->out, p->histo.rows[3 * i + k]);
        }
        sb_buf_add_str(e->out, "\r\n");
    }
}

static void add_json_step(export_to *e, const sb_histo_point *p) {
    sb_json j;
    sb_buf_add_str(e->out, e->is_first ? "[" : ",\n");
    sb_json_init(&j, e->out, &(sb_json_opts){0});
    sb_json_begin_object(&j);
    sb_json_put_text(&j, "run", e->run);
    sb_json_put_text(&j, "tag", e->tag);
    sb_json_key_str(&j, "step");
    sb_api_step(&j, p->step);
    sb_json_put_double(&j, "wall_time", p->wall);
    sb_json_key_str(&j, "buckets");
    sb_json_begin_array(&j);
    for (size_t i = 0; i < p->histo.n; i++) {
        sb_json_begin_array(&j);
        for (size_t k = 0; k < 3; k++) sb_json_double(&j, p->histo.rows[3 * i + k]);
        sb_json_end_array(&j);
    }
    sb_json_end_array(&j);
    sb_json_end_object(&j);
}

static void end_series(export_to *e) {
    if (!e->has_series) return;
    sb_series_release(&e->series);
    sb_arena_reset(e->q->arena, e->before_run);
    e->has_series = false;
}

/* The series of the next run that the query names; SB_END when there is none. A run without that
 * tag adds nothing. */
static sb_status begin_series(export_to *e) {
    while (e->next_run < e->q->query.count) {
        const sb_http_param *param = &e->q->query.items[e->next_run++];
        if (!sb_slice_eq(param->key, SB_LIT("run"))) continue;
        sb_run *run = sb_store_find_run(e->app->store, param->value);
        if (!run) continue;
        sb_status status = sb_series_take(run, e->tag, e->q->arena, &e->series);
        sb_run_release(run);
        if (status == SB_NOT_FOUND) continue;
        if (status != SB_OK) return status;
        e->run = param->value;
        e->has_series = true;
        e->at = e->n = 0;
        if (e->series.meta->kind == SB_SERIES_TENSOR)
            return sb_refs_list(&e->series, &(sb_ref_ask){0}, e->q->arena, &e->items, &e->n, NULL,
                                e->err);
        end_series(e);
    }
    return SB_END;
}

static sb_status add_steps(export_to *e) {
    size_t some = e->n - e->at < AT_A_TIME ? e->n - e->at : AT_A_TIME;
    sb_arena_mark mark = sb_arena_here(e->q->arena);
    sb_status status =
        sb_histos_read(e->app->blobs, e->series.run, e->items + e->at, some, SB_HISTO_TRIMMED,
                       SB_MAX_SMALL_RECORD, &e->budget, e->q->arena, e->points, e->err);
    for (size_t k = 0; k < some && status == SB_OK; k++) {
        if (e->points[k].status != SB_OK) continue;
        if (e->json)
            add_json_step(e, &e->points[k]);
        else
            add_csv_step(e, &e->points[k]);
        e->is_first = false;
    }
    sb_arena_reset(e->q->arena, mark);
    e->at += some;
    if (e->at == e->n) end_series(e);
    return status;
}

static sb_status make_steps(void *ud, sb_buf *out) {
    export_to *e = ud;
    e->out = out;
    if (!e->has_begun && !e->json)
        sb_buf_add_str(out, "run,tag,step,wall_time,left,right,count\r\n");
    e->has_begun = true;
    sb_status status = e->has_series ? SB_OK : begin_series(e);
    if (status == SB_END && e->json) sb_buf_add_str(out, e->is_first ? "[]\n" : "]\n");
    return status == SB_OK ? add_steps(e) : status;
}

static void end_export(void *ud) {
    end_series(ud);
}

sb_status sb_api_histogram_export(sb_http_request *q, sb_http_reply *r, void *opaque) {
    sb_slice format = sb_http_query(q, "format"), tag = sb_http_query(q, "tag");
    bool json = sb_slice_eq(format, SB_LIT("json"));
    if (!tag.p || (format.p && !json && !sb_slice_eq(format, SB_LIT("csv"))))
        return sb_api_fail(r, 400, "invalid", "tag is needed, and format must be csv or json");
    export_to *e = sb_arena_zeroed(q->arena, 1, sizeof *e);
    if (!e) return SB_NOMEM;
    *e = (export_to){.q = q,
                     .app = opaque,
                     .err = sb_http_err(r),
                     .json = json,
                     .is_first = true,
                     .tag = tag,
                     .budget = sb_api_budget(q),
                     .points = sb_arena_zeroed(q->arena, AT_A_TIME, sizeof *e->points)};
    if (!e->points) return SB_NOMEM;
    sb_api_version(r, e->app);
    sb_http_type(r, json ? "application/json" : "text/csv; charset=utf-8");
    sb_http_set_header(r, "Content-Disposition",
                       json ? SB_LIT("attachment; filename=\"histograms.json\"")
                            : SB_LIT("attachment; filename=\"histograms.csv\""));
    e->before_run = sb_arena_here(q->arena);
    return sb_http_make(r, make_steps, end_export, e);
}
