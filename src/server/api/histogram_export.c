/* histogram_export.c: every bucket of every step of some series, as a file to keep. */
#include "base/text/number.h"
#include "query/csv.h"
#include "query/kinds/histogram.h"
#include "server/api/one_series.h"
#include "base/banned.h"

#define AT_A_TIME 256u /* steps that are in memory */

typedef struct export_to {
    sb_http_request *q;
    sb_app *app;
    sb_err *err;
    sb_buf *out;
    bool json;
    bool is_first;
    sb_slice run, tag;
    sb_budget budget;
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

static sb_status add_steps(export_to *e, const sb_series *series) {
    sb_ref_item *items;
    size_t n;
    sb_histo_point *points = sb_arena_zeroed(e->q->arena, AT_A_TIME, sizeof *points);
    if (!points) return SB_NOMEM;
    sb_status status =
        sb_refs_list(series, &(sb_ref_ask){0}, e->q->arena, &items, &n, NULL, e->err);
    for (size_t i = 0; i < n && status == SB_OK; i += AT_A_TIME) {
        size_t some = n - i < AT_A_TIME ? n - i : AT_A_TIME;
        sb_arena_mark mark = sb_arena_here(e->q->arena);
        status = sb_histos_read(e->app->blobs, series->run, items + i, some, SB_HISTO_TRIMMED,
                                SB_MAX_SMALL_RECORD, &e->budget, e->q->arena, points, e->err);
        for (size_t k = 0; k < some && status == SB_OK; k++) {
            if (points[k].status != SB_OK) continue;
            if (e->json)
                add_json_step(e, &points[k]);
            else
                add_csv_step(e, &points[k]);
            e->is_first = false;
        }
        sb_arena_reset(e->q->arena, mark);
        if (e->out->failed != SB_OK) status = e->out->failed;
    }
    return status;
}

/* The named tag of one run; a run without it adds nothing. */
static sb_status add_run(export_to *e, sb_slice name) {
    sb_run *run = sb_store_find_run(e->app->store, name);
    if (!run) return SB_OK;
    sb_arena_mark mark = sb_arena_here(e->q->arena);
    sb_series series;
    sb_status status = sb_series_take(run, e->tag, e->q->arena, &series);
    if (status == SB_OK) {
        e->run = name;
        if (series.meta->kind == SB_SERIES_TENSOR) status = add_steps(e, &series);
        sb_series_release(&series);
    }
    sb_run_release(run);
    sb_arena_reset(e->q->arena, mark);
    return status == SB_NOT_FOUND ? SB_OK : status;
}

sb_status sb_api_histogram_export(sb_http_request *q, sb_http_reply *r, void *opaque) {
    sb_slice format = sb_http_query(q, "format");
    export_to e = {.q = q,
                   .app = opaque,
                   .err = sb_http_err(r),
                   .out = sb_http_body(r),
                   .json = sb_slice_eq(format, SB_LIT("json")),
                   .is_first = true,
                   .tag = sb_http_query(q, "tag"),
                   .budget = sb_api_budget(q)};
    if (!e.tag.p || (format.p && !e.json && !sb_slice_eq(format, SB_LIT("csv"))))
        return sb_api_fail(r, 400, "invalid", "tag is needed, and format must be csv or json");
    sb_api_version(r, e.app);
    sb_http_type(r, e.json ? "application/json" : "text/csv; charset=utf-8");
    sb_http_set_header(r, "Content-Disposition",
                       e.json ? SB_LIT("attachment; filename=\"histograms.json\"")
                              : SB_LIT("attachment; filename=\"histograms.csv\""));
    if (!e.json) sb_buf_add_str(e.out, "run,tag,step,wall_time,left,right,count\r\n");
    sb_status status = SB_OK;
    for (size_t i = 0; i < q->query.count && status == SB_OK; i++)
        if (sb_slice_eq(q->query.items[i].key, SB_LIT("run")))
            status = add_run(&e, q->query.items[i].value);
    if (status == SB_OK && e.json) sb_buf_add_str(e.out, e.is_first ? "[]\n" : "]\n");
    if (status == SB_LIMIT)
        return sb_api_fail(r, 413, "limit",
                           "this is more than one answer may hold: name fewer runs");
    return status;
}
