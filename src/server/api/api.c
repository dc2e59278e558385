/* api.c: what all handlers of /api/v1 share. */
#include "server/api/api.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/text/number.h"
#include "server/json_load.h"
#include "base/banned.h"

const sb_json_opts sb_api_json = {.utf8 = true, .nonfinite = SB_JSON_QUOTED};

/* ---- errors ---------------------------------------------------------------------------------- */

void sb_api_begin_error(sb_json *j, sb_http_reply *r, int status, const char *code,
                        const char *message) {
    sb_http_status(r, status);
    sb_http_type(r, "application/json");
    sb_buf_clear(sb_http_body(r)); /* remove what the handler has already written */
    sb_json_init(j, sb_http_body(r), &sb_api_json);
    sb_json_begin_object(j);
    sb_json_key_str(j, "error");
    sb_json_begin_object(j);
    sb_json_put_str(j, "code", code);
    sb_json_put_str(j, "message", message);
}

sb_status sb_api_end_error(sb_json *j, sb_http_reply *r) {
    sb_json_end_object(j);
    return sb_api_end(j, r);
}

static void write_error(sb_http_reply *r, int status, const char *code, const char *message) {
    sb_json j;
    sb_api_begin_error(&j, r, status, code, message);
    (void)sb_api_end_error(&j, r); /* it is short: a failure to write it shows in the body */
}

sb_status sb_api_fail(sb_http_reply *r, int status, const char *code, const char *format, ...) {
    char message[500];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    write_error(r, status, code, message);
    return SB_OK;
}

void sb_api_error_page(sb_http_reply *r, int status, const char *text) {
    static const struct {
        int status;
        const char *code;
    } codes[] = {{400, "invalid"}, {401, "unauthorized"}, {403, "forbidden"}, {404, "not_found"},
                 {405, "invalid"}, {409, "conflict"},     {410, "gone"},      {413, "limit"},
                 {414, "limit"},   {415, "invalid"},      {431, "limit"},     {503, "busy"},
                 {504, "timeout"}};
    const char *code = "failed";
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (codes[i].status == status) code = codes[i].code;
    write_error(r, status, code, text);
}

/* ---- answers --------------------------------------------------------------------------------- */

uint64_t sb_api_version(sb_http_reply *r, const sb_app *app) {
    uint64_t version = sb_store_version(app->store);
    char text[SB_NUMBER_ROOM];
    size_t n = sb_print_uint64(text, version);
    sb_http_set_header(r, "X-Seaboard-Version", sb_slice_of(text, n));
    sb_http_set_header(r, "X-Seaboard-Instance", sb_slice_str(app->instance));
    return version;
}

uint64_t sb_api_begin(sb_json *j, sb_http_reply *r, const sb_app *app) {
    uint64_t version = sb_api_version(r, app);
    sb_http_type(r, "application/json");
    sb_json_init(j, sb_http_body(r), &sb_api_json);
    sb_json_begin_object(j);
    sb_json_put_uint(j, "version", version);
    return version;
}

sb_status sb_api_end(sb_json *j, sb_http_reply *r) {
    sb_json_end_object(j);
    return sb_json_finish(j, "the answer", sb_http_err(r));
}

void sb_api_step(sb_json *j, int64_t step) {
    const int64_t exact = (int64_t)1 << 53;
    if (step >= -exact && step <= exact) {
        sb_json_int(j, step);
        return;
    }
    char text[SB_NUMBER_ROOM];
    size_t n = sb_print_int64(text, step);
    sb_json_text(j, sb_slice_of(text, n));
}

static bool is_request_over(void *ud) {
    return sb_http_expired(ud);
}

sb_budget sb_api_budget(const sb_http_request *q) {
    /* The budget only reads the request. */
    union {
        const sb_http_request *in;
        void *out;
    } borrowed = {.in = q};
    return (sb_budget){is_request_over, borrowed.out};
}

/* ---- requests -------------------------------------------------------------------------------- */

json_t *sb_api_body(sb_http_request *q, sb_http_reply *r) {
    json_t *body;
    sb_err err;
    sb_status status = sb_json_load(&body, q->body, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &err);
    if (status == SB_LIMIT) sb_api_fail(r, 413, "limit", "%s", err.text);
    if (status == SB_INVALID) sb_api_fail(r, 400, "invalid", "the body is not JSON: %s", err.text);
    if (status != SB_OK) return NULL;
    if (json_is_object(body)) return body;
    json_decref(body);
    sb_api_fail(r, 400, "invalid", "the body must be a JSON object");
    return NULL;
}

/* ---- runs ------------------------------------------------------------------------------------ */

typedef struct numbered {
    uint32_t id;
    sb_run *run;
} numbered;

static int compare_run_ids(const void *a, const void *b) {
    const numbered *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

sb_status sb_api_take_runs(sb_run_index *out, sb_http_request *q, sb_app *app) {
    *out = (sb_run_index){0};
    sb_status status = sb_store_runs(app->store, q->arena, &out->all);
    if (status != SB_OK) return status;
    size_t n = out->all.n;
    numbered *order = sb_arena_get(q->arena, n * sizeof *order);
    out->by_id = sb_arena_get(q->arena, n * sizeof *out->by_id);
    out->ids = sb_arena_get(q->arena, n * sizeof *out->ids);
    if (!order || !out->by_id || !out->ids) {
        sb_runs_release(&out->all);
        return SB_NOMEM;
    }
    for (size_t i = 0; i < n; i++)
        order[i] = (numbered){sb_run_id(out->all.items[i]), out->all.items[i]};
    if (n) qsort(order, n, sizeof *order, compare_run_ids);
    for (size_t i = 0; i < n; i++) {
        out->ids[i] = order[i].id;
        out->by_id[i] = order[i].run;
    }
    return SB_OK;
}

void sb_api_release_runs(sb_run_index *runs) {
    sb_runs_release(&runs->all);
}

sb_run *sb_api_find_run(const sb_run_index *runs, uint32_t id) {
    size_t i;
    SB_PARTITION_POINT(i, 0, runs->all.n, runs->ids[i] < id);
    return i < runs->all.n && runs->ids[i] == id ? runs->by_id[i] : NULL;
}
