/* blob.c: the bytes of one image, clip or other value, read from the log. */
#include <stdio.h>

#include "base/text/number.h"
#include "media/sniff.h"
#include "query/records/value.h"
#include "server/api/one_series.h"
#include "base/banned.h"

#define MAX_RECORD ((size_t)512 << 20)

/* Does the log still hold the bytes that the path names? */
static bool is_same(sb_slice at, const sb_ref *ref) {
    char text[64];
    int n = snprintf(text, sizeof text, "%llu-%u", (unsigned long long)ref->offset, ref->crc);
    return !at.p || sb_slice_eq(at, sb_slice_of(text, (size_t)n));
}

static sb_status send_blob(sb_http_request *q, sb_http_reply *r, sb_app *app,
                           const sb_series *series, int64_t step, uint32_t index) {
    sb_ref_item item;
    sb_slice payload, blob, at = sb_http_query(q, "at");
    sb_status status = sb_refs_find(series, step, &item, sb_http_err(r));
    if (status != SB_OK) return status;
    if (!is_same(at, &item.ref))
        return sb_api_fail(r, 410, "gone", "the log has other bytes there now");
    status = sb_blob_read(app->blobs, series->run, item.file, &item.ref, MAX_RECORD, q->arena,
                          &payload, sb_http_err(r));
    if (status == SB_REPLACED) return sb_api_fail(r, 410, "gone", "%s", sb_http_err(r)->text);
    if (status == SB_OK)
        status = sb_ref_blob(&item.ref, payload, index, q->arena, &blob, sb_http_err(r));
    if (status != SB_OK) return status;
    char etag[80];
    int n = snprintf(etag, sizeof etag, "%llu-%u-%u", (unsigned long long)item.ref.offset,
                     item.ref.crc, index);
    sb_http_type(r, sb_media_type(sb_media_sniff(blob)));
    sb_http_user_content(r, (sb_slice){NULL, 0});
    sb_http_allow_ranges(r);
    sb_http_cache_for(r, at.p ? SB_HTTP_CACHE_FOREVER : SB_HTTP_CACHE_NO);
    sb_http_lend(r, blob, NULL, NULL);
    return sb_http_etag(r, sb_slice_of(etag, (size_t)n));
}

sb_status sb_api_blob(sb_http_request *q, sb_http_reply *r, void *opaque) {
    int64_t step = 0;
    uint64_t index;
    sb_slice text = sb_http_query(q, "step");
    if (!text.p || !sb_parse_int64(text, &step) || !sb_api_query_number(q, "index", 0, &index) ||
        index > UINT32_MAX)
        return sb_api_fail(r, 400, "invalid", "step and index must be whole numbers");
    sb_series series;
    sb_status status = sb_api_take_series(q, r, opaque, &series);
    if (status != SB_OK) return status == SB_END ? SB_OK : status;
    status = send_blob(q, r, opaque, &series, step, (uint32_t)index);
    sb_series_release(&series);
    return status;
}
