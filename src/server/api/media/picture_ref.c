/* picture_ref.c: from the words of a request to the pixels of a picture. */
#include "server/api/media/picture_ref.h"

#include <stdio.h>
#include <string.h>

#include "base/text/number.h"
#include "media/png.h"
#include "server/api/one_series.h"
#include "server/made_cache.h"
#include "base/banned.h"

#define MAX_RECORD ((size_t)512 << 20)
#define FIRST_PICTURE 2u /* width and height stand before */

bool sb_picture_ref_at(sb_slice text, uint64_t *offset, uint32_t *crc) {
    const uint8_t *dash = text.p ? memchr(text.p, '-', text.n) : NULL;
    uint64_t second;
    if (!dash) return false;
    size_t n = (size_t)(dash - text.p);
    if (!sb_parse_uint64(sb_slice_of(text.p, n), offset) ||
        !sb_parse_uint64(sb_slice_of(dash + 1, text.n - n - 1), &second) || second > UINT32_MAX)
        return false;
    *crc = (uint32_t)second;
    return true;
}

bool sb_picture_ref_read(sb_picture_ref *out, sb_http_request *q, sb_http_reply *r,
                         const char *suffix) {
    char key[4][8];
    static const char *const names[] = {"run", "tag", "at", "index"};
    for (size_t i = 0; i < 4; i++) snprintf(key[i], sizeof key[i], "%s%s", names[i], suffix);
    uint64_t run, index;
    *out = (sb_picture_ref){.tag = sb_http_query(q, key[1])};
    if (out->tag.p && sb_api_query_number(q, key[0], UINT64_MAX, &run) && run <= UINT32_MAX &&
        sb_api_query_number(q, key[3], 0, &index) && index < UINT32_MAX - FIRST_PICTURE &&
        sb_picture_ref_at(sb_http_query(q, key[2]), &out->offset, &out->crc)) {
        out->run = (uint32_t)run;
        out->index = (uint32_t)index;
        return true;
    }
    sb_api_fail(r, 400, "invalid",
                "run%s (its id), tag%s and at%s (OFFSET-CRC) are needed, index%s is a whole number",
                suffix, suffix, suffix, suffix);
    return false;
}

/* FNV-1a. */
static uint64_t hash_bytes(sb_slice bytes, uint64_t h) {
    for (size_t i = 0; i < bytes.n; i++) h = (h ^ bytes.p[i]) * 1099511628211u;
    return h ^ h >> 32;
}

/* Values of several tags may be in one record: the tag is a part of the name. */
size_t sb_picture_ref_name(char out[SB_PICTURE_KEY], const sb_picture_ref *ref) {
    int n = snprintf(out, SB_PICTURE_KEY, "%u-%llu-%u-%u-%016llx", ref->run,
                     (unsigned long long)ref->offset, ref->crc, ref->index,
                     (unsigned long long)hash_bytes(ref->tag, 14695981039346656037u));
    return n > 0 ? (size_t)n : 0;
}

static sb_status read_picture_bytes(const sb_picture_ref *ref, sb_http_request *q, sb_http_reply *r,
                                    sb_app *app, const sb_series *series, sb_slice *out) {
    sb_ref_item item;
    sb_status status = sb_refs_find_at(series, ref->offset, ref->crc, &item, sb_http_err(r));
    if (status == SB_NOT_FOUND) {
        sb_api_fail(r, 410, "gone", "the log has other bytes there now");
        return SB_END;
    }
    if (status != SB_OK) return status;
    return sb_api_read_blob(q, r, app, series, &item, ref->index + FIRST_PICTURE, MAX_RECORD, out);
}

sb_status sb_picture_ref_bytes(const sb_picture_ref *ref, sb_http_request *q, sb_http_reply *r,
                               sb_app *app, sb_slice *out) {
    sb_series series;
    sb_run_index runs;
    sb_status status = sb_api_take_runs(&runs, q, app);
    if (status != SB_OK) return status;
    sb_run *run = sb_api_find_run(&runs, ref->run);
    status = run ? sb_series_take(run, ref->tag, q->arena, &series) : SB_NOT_FOUND;
    sb_api_release_runs(&runs);
    if (status == SB_NOT_FOUND) {
        sb_api_fail(r, 404, "not_found", "there is no such run or tag");
        return SB_END;
    }
    if (status != SB_OK) return status;
    status = read_picture_bytes(ref, q, r, app, &series, out);
    sb_series_release(&series);
    return status;
}

static bool is_request_over(void *ud) {
    return sb_http_expired(ud);
}

sb_status sb_picture_ref_decode(sb_picture *out, sb_slice bytes, uint32_t box, uint32_t frame,
                                sb_http_request *q, sb_http_reply *r) {
    sb_picture_ask ask = {.box = box,
                          .frame = frame,
                          .max_pixels = SB_PICTURE_PIXELS,
                          .max_held = SB_PICTURE_HELD,
                          .is_over = is_request_over,
                          .ud = q};
    sb_err *err = sb_http_err(r);
    sb_status status = sb_picture_decode(out, bytes, &ask, q->alloc, err);
    if (status != SB_CORRUPT && status != SB_LIMIT && status != SB_NOT_FOUND) return status;
    int code = status == SB_LIMIT ? 413 : status == SB_CORRUPT ? 422 : 415;
    sb_api_fail(r, code, sb_status_name(status), "%s", err->text);
    return SB_END;
}

/* ---- what is made of pictures ---------------------------------------------------------------- */

bool sb_made_find(sb_app *app, sb_http_request *q, sb_slice key, sb_buf *out) {
    if (sb_made_cache_find(app->made, key, out)) return true;
    bool is_first = sb_made_cache_begin(app->made, key, is_request_over, q);
    /* another thread may have made it by now; a request that waited without success makes it itself
     * */
    bool is_found = sb_made_cache_find(app->made, key, out);
    if (is_first && is_found) sb_made_cache_end(app->made, key);
    return is_found;
}

void sb_made_keep(sb_app *app, sb_slice key, sb_slice bytes) {
    sb_made_cache_keep(app->made, key, bytes);
    sb_made_cache_end(app->made, key);
}

sb_status sb_made_send_png(sb_http_reply *r, sb_slice key) {
    char etag[48];
    int n = snprintf(etag, sizeof etag, "%016llx%016llx",
                     (unsigned long long)hash_bytes(key, 14695981039346656037u),
                     (unsigned long long)hash_bytes(key, 0x9E3779B97F4A7C15u));
    sb_http_type(r, "image/png");
    sb_http_user_content(r, (sb_slice){NULL, 0});
    sb_http_cache_for(r, SB_HTTP_CACHE_FOREVER);
    return sb_http_etag(r, sb_slice_of(etag, (size_t)n));
}

static bool is_opaque(const sb_picture *picture) {
    size_t n = (size_t)picture->width * picture->height;
    for (size_t i = 0; i < n; i++)
        if (picture->rgba[4 * i + 3] != 0xff) return false;
    return true;
}

sb_status sb_made_png(sb_buf *out, const sb_picture *picture, sb_http_request *q, sb_err *err) {
    size_t n = (size_t)picture->width * picture->height;
    uint32_t channels = 4;
    if (is_opaque(picture)) {
        channels = 3;
        for (size_t i = 0; i < n; i++) memmove(picture->rgba + 3 * i, picture->rgba + 4 * i, 3);
    }
    sb_png_encoder encoder;
    sb_png_encoder_init(&encoder, q->alloc, SB_PICTURE_HELD);
    sb_status status =
        sb_png_encode(out, &encoder, picture->rgba, picture->width, picture->height, channels, err);
    sb_png_encoder_fini(&encoder);
    return status;
}
