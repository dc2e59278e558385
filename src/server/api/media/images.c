/* images.c: the images of one series as JSON. Sizes and types are those that ingest saw: nothing
 * is read from the log. Columns for many series are in media_columns.c. */
#include "media/sniff.h"
#include "query/kinds/media_list.h"
#include "server/api/one_series.h"
#include "base/banned.h"

#define FIRST_PICTURE 2u /* width and height stand before the pictures */

static void add_image_point(sb_json *j, sb_http_request *q, const sb_series *series,
                            const sb_media_item *m) {
    sb_json_begin_object(j);
    sb_api_add_point_head(j, m->item.step, m->item.wall);
    sb_json_put_str(j, "type", sb_media_type(m->item.ref.media));
    sb_json_put_uint(j, "width", m->item.ref.width);
    sb_json_put_uint(j, "height", m->item.ref.height);
    sb_json_key_str(j, "blobs");
    sb_json_begin_array(j);
    for (uint32_t i = 0; i < m->samples; i++)
        sb_api_add_blob_path(j, q, series, &m->item, i + FIRST_PICTURE);
    sb_json_end_array(j);
    sb_json_end_object(j);
}

static sb_status answer_images(sb_json *j, sb_http_request *q, sb_http_reply *r,
                               const sb_series *series) {
    sb_media_item *items;
    size_t n;
    sb_media_ask ask = {.is_audio = false};
    sb_status status = sb_media_list(series, &ask, q->arena, &items, &n, sb_http_err(r));
    if (status != SB_OK) return status;
    uint32_t samples = 0;
    for (size_t i = 0; i < n; i++)
        if (items[i].samples > samples) samples = items[i].samples;
    sb_json_put_uint(j, "samples", samples);
    sb_json_key_str(j, "points");
    sb_json_begin_array(j);
    for (size_t i = 0; i < n; i++) add_image_point(j, q, series, &items[i]);
    sb_json_end_array(j);
    return sb_api_end(j, r);
}

sb_status sb_api_images(sb_http_request *q, sb_http_reply *r, void *app) {
    sb_series series;
    sb_json j;
    sb_api_begin(&j, r, app);
    sb_status status = sb_api_take_series(q, r, app, &series);
    if (status != SB_OK) return status == SB_END ? SB_OK : status;
    status = answer_images(&j, q, r, &series);
    sb_series_release(&series);
    return status;
}
