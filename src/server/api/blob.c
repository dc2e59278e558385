/* blob.c: the bytes of one image, clip or other value, read from the log. */
#include <stdio.h>

#include "base/text/number.h"
#include "media/sniff.h"
#include "server/api/one_series.h"
#include "base/banned.h"

#define MAX_RECORD ((size_t)512 << 20)

static sb_status send_blob(sb_http_request *q, sb_http_reply *r, sb_app *app,
                           const sb_series *series, int64_t step, uint32_t index) {
    sb_ref_item item;
    sb_slice blob;
    sb_status status = sb_api_find_blob(q, r, series, step, &item);
    if (status == SB_OK)
        status = sb_api_read_blob(q, r, app, series, &item, index, MAX_RECORD, &blob);
    if (status != SB_OK) return status == SB_END ? SB_OK : status;
    char etag[80];
    int n = snprintf(etag, sizeof etag, "%llu-%u-%u", (unsigned long long)item.ref.offset,
                     item.ref.crc, index);
    sb_http_type(r, sb_media_type(sb_media_sniff(blob)));
    sb_http_user_content(r, (sb_slice){NULL, 0});
    sb_http_allow_ranges(r);
    sb_http_cache_for(r, sb_http_query(q, "at").p ? SB_HTTP_CACHE_FOREVER : SB_HTTP_CACHE_NO);
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
