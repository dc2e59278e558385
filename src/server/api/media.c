/* media.c: the images or clips of one series: where the bytes of each are (blob.c), and how large
 * images are. */
#include "query/kinds/media_list.h"
#include "server/api/one_series.h"
#include "server/http/url.h"
#include "base/banned.h"

/* The path of a blob names the value and, by offset and checksum, its exact bytes, so that clients
 * may cache it for ever. */
static void add_blob_path(sb_json *j, sb_http_request *q, const sb_series *series, uint32_t run,
                          const sb_ref_item *item, uint32_t index) {
    sb_buf path;
    sb_buf_init(&path, q->alloc, 1 << 23);
    sb_buf_printf(&path, "blob?run=%u&step=%lld&index=%u&at=%llu-%u&tag=", run,
                  (long long)item->step, index, (unsigned long long)item->ref.offset,
                  item->ref.crc);
    sb_url_add_value(&path, series->tag);
    sb_json_text(j, sb_buf_slice(&path));
    sb_buf_fini(&path);
}

static void add_media_point(sb_json *j, sb_http_request *q, const sb_series *series, uint32_t run,
                            const sb_media_item *m, const sb_image_hint *hint) {
    sb_json_begin_object(j);
    sb_api_add_point_head(j, m->item.step, m->item.wall);
    if (hint) {
        sb_json_put_uint(j, "width", hint->width);
        sb_json_put_uint(j, "height", hint->height);
    }
    sb_json_key_str(j, "blobs");
    sb_json_begin_array(j);
    for (uint32_t i = 0; i < m->samples; i++)
        add_blob_path(j, q, series, run, &m->item, hint ? i + 2 : i);
    sb_json_end_array(j);
    sb_json_end_object(j);
}

static sb_status answer_media(sb_json *j, sb_http_request *q, sb_http_reply *r, sb_app *app,
                              const sb_series *series, bool is_audio) {
    sb_media_item *items;
    size_t n;
    sb_budget budget = sb_api_budget(q);
    sb_media_ask ask = {.is_audio = is_audio};
    sb_status status = sb_media_list(series, &ask, q->arena, &items, &n, sb_http_err(r));
    if (status != SB_OK) return status;
    sb_image_hint *hints = is_audio ? NULL : sb_arena_zeroed(q->arena, n, sizeof *hints);
    if (!is_audio && !hints) return SB_NOMEM;
    if (hints)
        status = sb_image_hints(app->blobs, series->run, items, n, &budget, q->arena, hints,
                                sb_http_err(r));
    if (status != SB_OK) return status;
    uint32_t samples = 0;
    for (size_t i = 0; i < n; i++)
        if (items[i].samples > samples) samples = items[i].samples;
    sb_json_put_uint(j, "samples", samples);
    sb_json_key_str(j, "points");
    sb_json_begin_array(j);
    for (size_t i = 0; i < n; i++)
        add_media_point(j, q, series, sb_run_id(series->run), &items[i], hints ? &hints[i] : NULL);
    sb_json_end_array(j);
    return sb_api_end(j, r);
}

static sb_status list_media(sb_http_request *q, sb_http_reply *r, sb_app *app, bool is_audio) {
    sb_series series;
    sb_json j;
    sb_api_begin(&j, r, app);
    sb_status status = sb_api_take_series(q, r, app, &series);
    if (status != SB_OK) return status == SB_END ? SB_OK : status;
    status = answer_media(&j, q, r, app, &series, is_audio);
    sb_series_release(&series);
    return status;
}

sb_status sb_api_images(sb_http_request *q, sb_http_reply *r, void *app) {
    return list_media(q, r, app, false);
}

sb_status sb_api_audio(sb_http_request *q, sb_http_reply *r, void *app) {
    return list_media(q, r, app, true);
}
