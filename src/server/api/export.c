/* export.c: all points of the wanted runs and tags as a file to keep. */
#include <string.h>

#include "query/export.h"
#include "server/api/api.h"
#include "base/banned.h"

/* Every value of a repeated key; none: everything is wanted. */
static bool is_named(const sb_http_request *q, const char *key, sb_slice name) {
    bool any = false;
    for (size_t i = 0; i < q->query.count; i++) {
        if (!sb_slice_eq(q->query.items[i].key, sb_slice_str(key))) continue;
        if (sb_slice_eq(q->query.items[i].value, name)) return true;
        any = true;
    }
    return !any;
}

static bool is_run_asked(void *ud, sb_slice run) {
    return is_named(ud, "run", run);
}

static bool is_tag_asked(void *ud, sb_slice tag) {
    return is_named(ud, "tag", tag);
}

/* An export while it is sent, in the request's arena. */
typedef struct sending {
    sb_export export;
    sb_export_at *at;
    sb_budget budget;
} sending;

static sb_status make_some(void *ud, sb_buf *out) {
    sending *s = ud;
    s->export.out = out;
    return sb_export_next(s->at);
}

static void end_sending(void *ud) {
    sb_export_end(((sending *)ud)->at);
}

sb_status sb_api_export(sb_http_request *q, sb_http_reply *r, void *opaque) {
    const sb_app *app = opaque;
    sb_slice format = sb_http_query(q, "format");
    bool json = sb_slice_eq(format, SB_LIT("json"));
    if (format.p && !json && !sb_slice_eq(format, SB_LIT("csv")))
        return sb_api_fail(r, 400, "invalid", "format must be csv or json");
    sending *s = sb_arena_zeroed(q->arena, 1, sizeof *s);
    if (!s) return SB_NOMEM;
    s->budget = sb_api_budget(q);
    s->export = (sb_export){.out = sb_http_body(r),
                            .json = json,
                            .wants_run = is_run_asked,
                            .wants_tag = is_tag_asked,
                            .ud = q,
                            .budget = &s->budget};
    sb_http_type(r, json ? "application/json" : "text/csv; charset=utf-8");
    sb_http_set_header(r, "Content-Disposition",
                       json ? SB_LIT("attachment; filename=\"seaboard.json\"")
                            : SB_LIT("attachment; filename=\"seaboard.csv\""));
    sb_status status = sb_export_begin(&s->at, &s->export, app->store, q->alloc);
    return status == SB_OK ? sb_http_make(r, make_some, end_sending, s) : status;
}
