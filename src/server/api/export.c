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

sb_status sb_api_export(sb_http_request *q, sb_http_reply *r, void *opaque) {
    sb_app *app = opaque;
    sb_slice format = sb_http_query(q, "format");
    bool json = sb_slice_eq(format, SB_LIT("json"));
    if (format.p && !json && !sb_slice_eq(format, SB_LIT("csv")))
        return sb_api_fail(r, 400, "invalid", "format must be csv or json");
    sb_budget budget = sb_api_budget(q);
    sb_export e = {.out = sb_http_body(r),
                   .json = json,
                   .wants_run = is_run_asked,
                   .wants_tag = is_tag_asked,
                   .ud = q,
                   .budget = &budget};
    sb_http_type(r, json ? "application/json" : "text/csv; charset=utf-8");
    sb_http_set_header(r, "Content-Disposition",
                       json ? SB_LIT("attachment; filename=\"seaboard.json\"")
                            : SB_LIT("attachment; filename=\"seaboard.csv\""));
    sb_status status = sb_export_all(&e, app->store, q->alloc);
    if (status == SB_LIMIT)
        return sb_api_fail(r, 413, "limit",
                           "this is more than one answer may hold: name fewer runs or tags, "
                           "submit a job of kind export, or use the command: seaboard export DIR");
    return status;
}
