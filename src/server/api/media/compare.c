/* compare.c: two pictures against each other: numbers, and the difference as a picture. */
#include "media/view/compare.h"

#include <stdio.h>

#include "server/api/media/picture_ref.h"
#include "server/api/one_series.h"
#include "base/banned.h"

#define DEFAULT_FULL 64u /* a difference that is drawn in full colour */

typedef struct pair {
    sb_picture_ref refs[2];
    sb_picture pictures[2];
    char key[2 * SB_PICTURE_KEY + 32];
    size_t key_n;
} pair;

static bool read_pair(pair *p, sb_http_request *q, sb_http_reply *r, char kind, uint32_t full) {
    *p = (pair){0};
    if (!sb_picture_ref_read(&p->refs[0], q, r, "") || !sb_picture_ref_read(&p->refs[1], q, r, "2"))
        return false;
    char names[2][SB_PICTURE_KEY];
    for (size_t i = 0; i < 2; i++) sb_picture_ref_name(names[i], &p->refs[i]);
    int n = snprintf(p->key, sizeof p->key, "%c%s.%s.%u", kind, names[0], names[1], full);
    p->key_n = (size_t)n;
    return true;
}

/* SB_END: the reply says why they can't be compared. */
static sb_status decode_pair(pair *p, sb_http_request *q, sb_http_reply *r, sb_app *app) {
    sb_status status = SB_OK;
    for (size_t i = 0; status == SB_OK && i < 2; i++) {
        sb_slice bytes;
        sb_arena_mark mark = sb_arena_here(q->arena);
        status = sb_picture_ref_bytes(&p->refs[i], q, r, app, &bytes);
        if (status == SB_OK) status = sb_picture_ref_decode(&p->pictures[i], bytes, 0, 0, q, r);
        sb_arena_reset(q->arena, mark);
    }
    return status;
}

static void free_pair(pair *p) {
    for (size_t i = 0; i < 2; i++) sb_picture_free(&p->pictures[i]);
}

/* Two sizes are the client's mistake, which it can show. */
static sb_status answer_of(sb_status status, sb_http_reply *r) {
    if (status == SB_END) return SB_OK;
    if (status == SB_INVALID) return sb_api_fail(r, 400, "invalid", "%s", sb_http_err(r)->text);
    return status;
}

/* ---- numbers --------------------------------------------------------------------------------- */

typedef struct measured {
    sb_comparison numbers;
    uint32_t width, height;
} measured;

static sb_status measure_pair(pair *p, sb_http_request *q, sb_http_reply *r, sb_app *app,
                              measured *out) {
    sb_buf kept;
    sb_slice key = sb_slice_of(p->key, p->key_n);
    sb_buf_init(&kept, q->alloc, sizeof *out);
    bool is_known = sb_made_find(app, q, key, &kept) && kept.n == sizeof *out;
    if (is_known) memcpy(out, kept.p, sizeof *out);
    sb_buf_fini(&kept);
    if (is_known) return SB_OK;
    *out = (measured){0};
    sb_status status = decode_pair(p, q, r, app);
    if (status == SB_OK)
        status = sb_pictures_compare(&out->numbers, &p->pictures[0], &p->pictures[1], q->alloc,
                                     sb_http_err(r));
    out->width = p->pictures[0].width;
    out->height = p->pictures[0].height;
    sb_made_keep(app, key, sb_slice_of(out, status == SB_OK ? sizeof *out : 0));
    return status;
}

sb_status sb_api_compare(sb_http_request *q, sb_http_reply *r, void *opaque) {
    pair p;
    measured m;
    sb_json j;
    if (!read_pair(&p, q, r, 'c', 0)) return SB_OK;
    sb_api_begin(&j, r, opaque);
    sb_status status = measure_pair(&p, q, r, opaque, &m);
    free_pair(&p);
    if (status != SB_OK) return answer_of(status, r);
    sb_json_put_uint(&j, "width", m.width);
    sb_json_put_uint(&j, "height", m.height);
    sb_json_put_double(&j, "psnr", m.numbers.psnr);
    sb_json_put_double(&j, "ssim", m.numbers.ssim);
    sb_json_put_double(&j, "mean", m.numbers.mean);
    sb_json_put_uint(&j, "largest", m.numbers.largest);
    sb_json_put_double(&j, "share", m.numbers.share);
    return sb_api_end(&j, r);
}

/* ---- the difference -------------------------------------------------------------------------- */

static sb_status draw_difference(pair *p, uint32_t full, sb_http_request *q, sb_http_reply *r,
                                 sb_app *app) {
    sb_picture difference;
    sb_status status = decode_pair(p, q, r, app);
    if (status == SB_OK)
        status = sb_pictures_difference(&difference, &p->pictures[0], &p->pictures[1], full,
                                        q->alloc, sb_http_err(r));
    if (status == SB_OK) {
        status = sb_made_png(sb_http_body(r), &difference, q, sb_http_err(r));
        sb_picture_free(&difference);
    }
    sb_made_keep(app, sb_slice_of(p->key, p->key_n),
                 status == SB_OK ? sb_buf_slice(sb_http_body(r)) : (sb_slice){NULL, 0});
    return status;
}

sb_status sb_api_difference(sb_http_request *q, sb_http_reply *r, void *opaque) {
    pair p;
    uint64_t full;
    if (!sb_api_query_number(q, "full", DEFAULT_FULL, &full) || full < 1 || full > 255)
        return sb_api_fail(r, 400, "invalid", "full is 1 to 255");
    if (!read_pair(&p, q, r, 'd', (uint32_t)full)) return SB_OK;
    sb_api_version(r, opaque);
    sb_slice key = sb_slice_of(p.key, p.key_n);
    if (!sb_made_find(opaque, q, key, sb_http_body(r))) {
        sb_status status = draw_difference(&p, (uint32_t)full, q, r, opaque);
        free_pair(&p);
        if (status != SB_OK) return answer_of(status, r);
    }
    return sb_made_send_png(r, key);
}
