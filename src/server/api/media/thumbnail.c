/* thumbnail.c: pictures made small, single frames of animations, and what a picture is: kind, size,
 * frames, and why it cannot be shown. Made once and kept on disk. */
#include <stdio.h>

#include "media/sniff.h"
#include "server/api/media/picture_ref.h"
#include "server/api/one_series.h"
#include "base/banned.h"

#define LEAST_BOX 8u
#define MOST_BOX 2048u
#define MOST_FRAMES 10000u
#define PROBE 16u /* pixels: to see whether a picture can be decoded */

static sb_status make_thumbnail(sb_http_request *q, sb_http_reply *r, sb_app *app,
                                const sb_picture_ref *ref, uint32_t box, uint32_t frame,
                                sb_slice key) {
    sb_slice bytes;
    sb_picture picture;
    sb_status status = sb_picture_ref_bytes(ref, q, r, app, &bytes);
    if (status == SB_OK) status = sb_picture_ref_decode(&picture, bytes, box, frame, q, r);
    if (status == SB_OK) {
        status = sb_made_png(sb_http_body(r), &picture, q, sb_http_err(r));
        sb_picture_free(&picture);
    }
    sb_made_keep(app, key, status == SB_OK ? sb_buf_slice(sb_http_body(r)) : (sb_slice){NULL, 0});
    return status;
}

sb_status sb_api_thumbnail(sb_http_request *q, sb_http_reply *r, void *opaque) {
    sb_picture_ref ref;
    uint64_t box, frame;
    char key[SB_PICTURE_KEY + 48], name[SB_PICTURE_KEY];
    if (!sb_picture_ref_read(&ref, q, r, "")) return SB_OK;
    if (!sb_api_query_number(q, "size", 0, &box) || (box && box < LEAST_BOX) || box > MOST_BOX ||
        !sb_api_query_number(q, "frame", 0, &frame) || frame > MOST_FRAMES)
        return sb_api_fail(r, 400, "invalid",
                           "size is %u to %u pixels, or 0 for its own; frame is at most %u",
                           LEAST_BOX, MOST_BOX, MOST_FRAMES);
    sb_picture_ref_name(name, &ref);
    int n = snprintf(key, sizeof key, "t%s-%u-%u", name, (unsigned)box, (unsigned)frame);
    sb_slice whole = sb_slice_of(key, (size_t)n);
    sb_api_version(r, opaque);
    if (!sb_made_find(opaque, q, whole, sb_http_body(r))) {
        sb_status status =
            make_thumbnail(q, r, opaque, &ref, (uint32_t)box, (uint32_t)frame, whole);
        if (status != SB_OK) return status == SB_END ? SB_OK : status;
    }
    return sb_made_send_png(r, whole);
}

/* ---- what a picture is ----------------------------------------------------------------------- */

static void add_frames(sb_json *j, sb_http_request *q, sb_slice bytes) {
    uint32_t frames = 1;
    uint16_t *delays = sb_arena_zeroed(q->arena, MOST_FRAMES, sizeof *delays);
    if (delays) sb_picture_frames(bytes, MOST_FRAMES, delays, &frames, NULL);
    sb_json_put_uint(j, "frames", frames);
    sb_json_key_str(j, "delays");
    sb_json_begin_array(j);
    for (uint32_t i = 0; delays && frames > 1 && i < frames; i++) sb_json_uint(j, delays[i] * 10u);
    sb_json_end_array(j);
}

static bool is_request_over(void *ud) {
    return sb_http_expired(ud);
}

/* A word for each reason, for which the page has a sentence in the reader's language. */
static const char *word_of(sb_status status) {
    return status == SB_CORRUPT     ? "damaged"
           : status == SB_LIMIT     ? "large"
           : status == SB_NOT_FOUND ? "format"
           : status == SB_TIMEOUT   ? "slow"
                                    : "memory";
}

/* Why it cannot be decoded: in a word, and as the decoder says it. */
static void add_problem(sb_json *j, sb_http_request *q, sb_slice bytes) {
    sb_err err = {0};
    sb_picture picture;
    sb_picture_ask ask = {.box = PROBE,
                          .max_pixels = SB_PICTURE_PIXELS,
                          .max_held = SB_PICTURE_HELD,
                          .is_over = is_request_over,
                          .ud = q};
    sb_status status = sb_picture_decode(&picture, bytes, &ask, q->alloc, &err);
    if (status == SB_OK) {
        sb_picture_free(&picture);
        return;
    }
    sb_json_put_str(j, "trouble", word_of(status));
    sb_json_put_str(j, "problem", err.text);
}

sb_status sb_api_picture(sb_http_request *q, sb_http_reply *r, void *opaque) {
    sb_picture_ref ref;
    sb_slice bytes;
    sb_json j;
    uint32_t width = 0, height = 0;
    uint64_t check;
    if (!sb_picture_ref_read(&ref, q, r, "")) return SB_OK;
    if (!sb_api_query_number(q, "check", 0, &check) || check > 1)
        return sb_api_fail(r, 400, "invalid", "check is 0 or 1");
    sb_api_begin(&j, r, opaque);
    sb_status status = sb_picture_ref_bytes(&ref, q, r, opaque, &bytes);
    if (status != SB_OK) return status == SB_END ? SB_OK : status;
    sb_media_picture_size(&width, &height, bytes, NULL);
    sb_json_put_str(&j, "type", sb_media_type(sb_media_sniff(bytes)));
    sb_json_put_uint(&j, "bytes", bytes.n);
    sb_json_put_uint(&j, "width", width);
    sb_json_put_uint(&j, "height", height);
    add_frames(&j, q, bytes);
    if (check) add_problem(&j, q, bytes);
    return sb_api_end(&j, r);
}
