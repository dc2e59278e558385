/* picture.c: which decoder, and from the rows it gives to a picture of the size that is wanted. */
#include "media/view/picture.h"

#include <string.h>

#include "base/checked.h"
#include "media/sniff.h"
#include "media/view/picture_int.h"
#include "base/banned.h"

#define LOOK_EVERY 64u /* rows */

/* ---- sizes ----------------------------------------------------------------------------------- */

void sb_rows_fit(const sb_picture_ask *ask, uint32_t width, uint32_t height, uint32_t *to_width,
                 uint32_t *to_height) {
    *to_width = width;
    *to_height = height;
    uint32_t longer = width > height ? width : height;
    if (ask->box == 0 || longer <= ask->box) return;
    *to_width = (uint32_t)(((uint64_t)width * ask->box + longer / 2) / longer);
    *to_height = (uint32_t)(((uint64_t)height * ask->box + longer / 2) / longer);
    if (*to_width == 0) *to_width = 1;
    if (*to_height == 0) *to_height = 1;
}

sb_status sb_rows_check(const sb_rows *rows, uint64_t width, uint64_t height, bool is_held) {
    const sb_picture_ask *ask = rows->ask;
    if (width == 0 || height == 0 || width > INT32_MAX || height > INT32_MAX)
        return sb_fail(rows->err, SB_CORRUPT, 0, "the header claims %llu x %llu pixels",
                       (unsigned long long)width, (unsigned long long)height);
    uint64_t most = is_held && ask->max_held < ask->max_pixels ? ask->max_held : ask->max_pixels;
    if (width * height <= most) return SB_OK;
    return sb_fail(rows->err, SB_LIMIT, 0, "%llu x %llu pixels; at most %llu can be decoded%s",
                   (unsigned long long)width, (unsigned long long)height, (unsigned long long)most,
                   is_held ? " in this format" : "");
}

/* ---- rows ------------------------------------------------------------------------------------ */

sb_status sb_rows_begin(sb_rows *rows, uint32_t width, uint32_t height) {
    sb_picture *out = rows->out;
    sb_status status = sb_rows_check(rows, width, height, false);
    if (status != SB_OK) return status;
    rows->width = width;
    rows->height = height;
    sb_rows_fit(rows->ask, width, height, &out->width, &out->height);
    if ((uint64_t)out->width * out->height > rows->ask->max_held)
        return sb_fail(rows->err, SB_LIMIT, 0, "%u x %u pixels; at most %llu can be held",
                       out->width, out->height, (unsigned long long)rows->ask->max_held);
    out->alloc = rows->alloc;
    out->rgba = sb_alloc_zeroed(rows->alloc, (size_t)out->width * out->height, 4);
    if (out->rgba && (out->width != width || out->height != height)) {
        rows->row = sb_alloc_zeroed(rows->alloc, out->width, 4 * sizeof *rows->row);
        rows->sum = sb_alloc_zeroed(rows->alloc, out->width, 4 * sizeof *rows->sum);
        if (!rows->row || !rows->sum) return sb_fail_nomem(rows->err, "for a row of pixels");
    }
    return out->rgba ? SB_OK : sb_fail_nomem(rows->err, "for a picture");
}

/* Source pixel i covers [i * to, (i + 1) * to) and pixel x of the result [x * from, (x + 1) * from)
 * of a common scale, so that all weights are whole numbers; those of a pixel of the result add up
 * to from. */
static void scale_across(const sb_rows *rows, const uint8_t *p) {
    uint64_t from = rows->width, to = rows->out->width, *at = rows->row, left = from;
    memset(rows->row, 0, (size_t)to * 4 * sizeof *rows->row);
    for (uint64_t i = 0; i < from; i++, p += 4) {
        uint64_t weight = to < left ? to : left, rest = to - weight;
        uint64_t a = p[3], r = a * p[0], g = a * p[1], b = a * p[2];
        at[0] += weight * r;
        at[1] += weight * g;
        at[2] += weight * b;
        at[3] += weight * a;
        left -= weight;
        if (left) continue;
        at += 4;
        left = from - rest;
        if (!rest) continue;
        at[0] += rest * r;
        at[1] += rest * g;
        at[2] += rest * b;
        at[3] += rest * a;
    }
}

static void add_weighted(uint64_t *sum, const uint64_t *row, size_t n, uint64_t weight) {
    for (size_t i = 0; i < n; i++) sum[i] += row[i] * weight;
}

/* Sums of a whole row of the result to pixels. */
static void finish_row(sb_rows *rows) {
    uint64_t area = (uint64_t)rows->width * rows->height;
    uint8_t *to = rows->out->rgba + (size_t)rows->done * rows->out->width * 4;
    for (uint32_t x = 0; x < rows->out->width; x++, to += 4) {
        const uint64_t *s = rows->sum + (size_t)x * 4;
        if (!s[3]) continue;
        for (int k = 0; k < 3; k++) to[k] = (uint8_t)((s[k] + s[3] / 2) / s[3]);
        to[3] = (uint8_t)((s[3] + area / 2) / area);
    }
    rows->done++;
}

static void scale_down(sb_rows *rows) {
    uint64_t from = rows->height, to = rows->out->height;
    size_t n = (size_t)rows->out->width * 4;
    uint64_t end = (uint64_t)(rows->next + 1) * to, border = (uint64_t)(rows->done + 1) * from;
    uint64_t weight = end <= border ? to : to - (end - border);
    add_weighted(rows->sum, rows->row, n, weight);
    if (end < border) return;
    finish_row(rows);
    memset(rows->sum, 0, n * sizeof *rows->sum);
    if (end > border) add_weighted(rows->sum, rows->row, n, end - border);
}

sb_status sb_rows_add(sb_rows *rows, const uint8_t *rgba) {
    const sb_picture_ask *ask = rows->ask;
    if (rows->next >= rows->height) return SB_OK;
    if (rows->next % LOOK_EVERY == LOOK_EVERY - 1 && ask->is_over && ask->is_over(ask->ud))
        return sb_fail(rows->err, SB_TIMEOUT, 0, "decoding the picture takes too long");
    if (rows->row) {
        scale_across(rows, rgba);
        scale_down(rows);
    } else {
        size_t n = (size_t)rows->width * 4;
        memcpy(rows->out->rgba + n * rows->next, rgba, n);
    }
    rows->next++;
    return SB_OK;
}

void sb_rows_end(sb_rows *rows, sb_status status) {
    size_t n = (size_t)rows->out->width * 4 * sizeof(uint64_t);
    sb_alloc_put(rows->alloc, rows->row, n);
    sb_alloc_put(rows->alloc, rows->sum, n);
    if (status != SB_OK) sb_picture_free(rows->out);
}

/* ---- all formats ----------------------------------------------------------------------------- */

void sb_picture_free(sb_picture *picture) {
    if (picture->rgba)
        sb_alloc_put(picture->alloc, picture->rgba, (size_t)picture->width * picture->height * 4);
    *picture = (sb_picture){0};
}

sb_status sb_picture_decode(sb_picture *out, sb_slice bytes, const sb_picture_ask *ask,
                            const sb_alloc *alloc, sb_err *err) {
    *out = (sb_picture){0};
    sb_rows rows = {.ask = ask, .alloc = alloc, .out = out, .err = err};
    sb_media media = sb_media_sniff(bytes);
    if (ask->frame && media != SB_MEDIA_GIF)
        return sb_fail(err, SB_NOT_FOUND, 0, "the picture has one frame");
    sb_status status;
    switch (media) {
    case SB_MEDIA_PNG:
        status = sb_png_rows(&rows, bytes);
        break;
    case SB_MEDIA_JPEG:
        status = sb_jpeg_rows(&rows, bytes);
        break;
    case SB_MEDIA_GIF:
        status = sb_gif_rows(&rows, bytes);
        break;
    case SB_MEDIA_WEBP:
        status = sb_webp_rows(&rows, bytes);
        break;
    default:
        return sb_fail(err, SB_NOT_FOUND, 0, "%s: no picture that can be decoded here",
                       sb_media_type(media));
    }
    if (status == SB_OK && rows.next < rows.height)
        status = sb_fail(err, SB_CORRUPT, 0, "the picture ends after %u of %u rows", rows.next,
                         rows.height);
    sb_rows_end(&rows, status);
    return status;
}
