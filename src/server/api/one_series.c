/* one_series.c: the series that a query names, and the head of its points. */
#include "server/api/one_series.h"

#include <stdio.h>

#include "base/text/number.h"
#include "query/records/value.h"
#include "server/http/url.h"
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

/* ---- blobs ----------------------------------------------------------------------------------- */

void sb_api_add_blob_path(sb_json *j, sb_http_request *q, const sb_series *series,
                          const sb_ref_item *item, uint32_t index) {
    sb_buf path;
    sb_buf_init(&path, q->alloc, 1 << 23);
    sb_buf_printf(&path, "blob?run=%u&step=%lld&index=%u&at=%llu-%u&tag=", sb_run_id(series->run),
                  (long long)item->step, index, (unsigned long long)item->ref.offset,
                  item->ref.crc);
    sb_url_add_value(&path, series->tag);
    sb_json_text(j, sb_buf_slice(&path));
    sb_buf_fini(&path);
}

/* Does the log still hold the bytes that the path names? */
static bool is_same(sb_slice at, const sb_ref *ref) {
    char text[64];
    int n = snprintf(text, sizeof text, "%llu-%u", (unsigned long long)ref->offset, ref->crc);
    return !at.p || sb_slice_eq(at, sb_slice_of(text, (size_t)n));
}

sb_status sb_api_find_blob(sb_http_request *q, sb_http_reply *r, const sb_series *series,
                           int64_t step, sb_ref_item *out) {
    sb_status status = sb_refs_find(series, step, out, sb_http_err(r));
    if (status != SB_OK || is_same(sb_http_query(q, "at"), &out->ref)) return status;
    sb_api_fail(r, 410, "gone", "the log has other bytes there now");
    return SB_END;
}

sb_status sb_api_read_record(sb_http_request *q, sb_http_reply *r, sb_app *app,
                             const sb_series *series, const sb_ref_item *item, size_t max_bytes,
                             sb_slice *payload) {
    sb_status status = sb_blob_read(app->blobs, series->run, item->file, &item->ref, max_bytes,
                                    q->arena, payload, sb_http_err(r));
    if (status != SB_REPLACED) return status;
    sb_api_fail(r, 410, "gone", "%s", sb_http_err(r)->text);
    return SB_END;
}

sb_status sb_api_read_blob(sb_http_request *q, sb_http_reply *r, sb_app *app,
                           const sb_series *series, const sb_ref_item *item, uint32_t index,
                           size_t max_bytes, sb_slice *out) {
    sb_slice payload;
    sb_status status = sb_api_read_record(q, r, app, series, item, max_bytes, &payload);
    if (status == SB_OK)
        status = sb_ref_blob(&item->ref, payload, index, q->arena, out, sb_http_err(r));
    return status;
}
