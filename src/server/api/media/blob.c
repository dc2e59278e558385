/* blob.c: the bytes of one image, clip or other value, read from the log. */
#include <stdio.h>

#include "base/text/number.h"
#include "media/sniff.h"
#include "query/records/value.h"
#include "server/api/media/picture_ref.h"
#include "server/api/one_series.h"
#include "server/send_blob.h"
#include "base/banned.h"

#define MAX_RECORD ((size_t)512 << 20)

typedef struct blob_ask {
    bool has_step;
    int64_t step;
    uint64_t offset; /* of the record, and its checksum, where there is no step */
    uint32_t crc;
    uint32_t index;
} blob_ask;

/* The point that a request names: by its step, or by the place of its record alone. */
static sb_status find_point(sb_http_request *q, sb_http_reply *r, const sb_series *series,
                            const blob_ask *ask, sb_ref_item *out) {
    if (ask->has_step) return sb_api_find_blob(q, r, series, ask->step, out);
    sb_status status = sb_refs_find_at(series, ask->offset, ask->crc, out, sb_http_err(r));
    if (status != SB_NOT_FOUND) return status;
    sb_api_fail(r, 410, "gone", "the log has other bytes there now");
    return SB_END;
}

static sb_status send_blob(sb_http_request *q, sb_http_reply *r, sb_app *app,
                           const sb_series *series, const blob_ask *ask) {
    sb_ref_item item;
    sb_slice blob;
    sb_blob_place place = {.run = series->run, .item = &item, .before = sb_arena_here(q->arena)};
    sb_status status = find_point(q, r, series, ask, &item);
    if (status == SB_OK)
        status = sb_api_read_record(q, r, app, series, &item, MAX_RECORD, &place.payload);
    if (status == SB_OK)
        status = sb_ref_blob(&item.ref, place.payload, ask->index, q->arena, &blob, sb_http_err(r));
    if (status != SB_OK) return status == SB_END ? SB_OK : status;
    char etag[80];
    int n = snprintf(etag, sizeof etag, "%llu-%u-%u", (unsigned long long)item.ref.offset,
                     item.ref.crc, ask->index);
    sb_media media = sb_media_sniff(blob);
    sb_http_type(r, sb_media_type(media));
    /* an SVG is a document: it is saved, never shown */
    sb_http_user_content(r, media == SB_MEDIA_SVG ? SB_LIT("picture.svg") : (sb_slice){NULL, 0});
    sb_http_allow_ranges(r);
    sb_http_cache_for(r, sb_http_query(q, "at").p ? SB_HTTP_CACHE_FOREVER : SB_HTTP_CACHE_NO);
    sb_send_blob(q, r, app, &place, blob);
    return sb_http_etag(r, sb_slice_of(etag, (size_t)n));
}

sb_status sb_api_blob(sb_http_request *q, sb_http_reply *r, void *opaque) {
    blob_ask ask = {0};
    uint64_t index;
    sb_slice step = sb_http_query(q, "step");
    ask.has_step = step.p != NULL;
    bool is_named = ask.has_step ? sb_parse_int64(step, &ask.step)
                                 : sb_picture_ref_at(sb_http_query(q, "at"), &ask.offset, &ask.crc);
    if (!is_named || !sb_api_query_number(q, "index", 0, &index) || index > UINT32_MAX)
        return sb_api_fail(r, 400, "invalid",
                           "step and index must be whole numbers; at, OFFSET-CRC, may stand in "
                           "place of step");
    ask.index = (uint32_t)index;
    sb_series series;
    sb_status status = sb_api_take_series(q, r, opaque, &series);
    if (status != SB_OK) return status == SB_END ? SB_OK : status;
    status = send_blob(q, r, opaque, &series, &ask);
    sb_series_release(&series);
    return status;
}
