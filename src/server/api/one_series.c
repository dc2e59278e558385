/* one_series.c: the series that a query names, and the head of its points. */
#include "server/api/one_series.h"

#include "base/text/number.h"
#include "base/banned.h"

bool sb_api_query_number(sb_http_request *q, const char *key, uint64_t otherwise, uint64_t *out) {
    sb_slice text = sb_http_query(q, key);
    *out = otherwise;
    return !text.p || sb_parse_uint64(text, out);
}

sb_status sb_api_take_series(sb_http_request *q, sb_http_reply *r, sb_app *app, sb_series *out) {
    uint64_t id;
    sb_slice tag = sb_http_query(q, "tag");
    if (!sb_api_query_number(q, "run", UINT64_MAX, &id) || id > UINT32_MAX || !tag.p) {
        sb_api_fail(r, 400, "invalid", "run (its id) and tag are needed");
        return SB_END;
    }
    sb_run_index runs;
    sb_status status = sb_api_take_runs(&runs, q, app);
    if (status != SB_OK) return status;
    sb_run *run = sb_api_find_run(&runs, (uint32_t)id);
    status = run ? sb_series_take(run, tag, q->arena, out) : SB_NOT_FOUND;
    sb_api_release_runs(&runs);
    if (status != SB_NOT_FOUND) return status;
    sb_api_fail(r, 404, "not_found", "there is no such run or tag");
    return SB_END;
}

void sb_api_add_point_head(sb_json *j, int64_t step, double wall) {
    sb_json_key_str(j, "step");
    sb_api_step(j, step);
    sb_json_put_double(j, "wall", wall);
}

void sb_api_add_point_error(sb_json *j, sb_status status) {
    if (status == SB_OK) return;
    sb_json_put_str(j, "error", status == SB_REPLACED ? "gone" : sb_status_name(status));
}
