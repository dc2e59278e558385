/* webp_read.c: rows of a WebP by libwebp, which scales while it decodes. Animations are shown by
 * browsers only. */
#include <webp/decode.h>

#include "media/view/picture_int.h"
#include "base/banned.h"

static sb_status read_webp(sb_rows *rows, sb_slice bytes, uint8_t *pixels, size_t n, uint32_t width,
                           uint32_t height) {
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config))
        return sb_fail(rows->err, SB_CORRUPT, 0, "WebP: another version of libwebp");
    config.options.use_scaling = 1;
    config.options.scaled_width = (int)width;
    config.options.scaled_height = (int)height;
    config.output.colorspace = MODE_RGBA;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = pixels;
    config.output.u.RGBA.stride = (int)(width * 4);
    config.output.u.RGBA.size = n;
    VP8StatusCode code = WebPDecode(bytes.p, bytes.n, &config);
    WebPFreeDecBuffer(&config.output);
    if (code != VP8_STATUS_OK)
        return sb_fail(rows->err, SB_CORRUPT, 0, "WebP: %s",
                       code == VP8_STATUS_NOT_ENOUGH_DATA ? "the data ends too early"
                                                          : "the data is damaged");
    sb_status status = sb_rows_begin(rows, width, height);
    for (uint32_t y = 0; status == SB_OK && y < height; y++)
        status = sb_rows_add(rows, pixels + (size_t)y * width * 4);
    return status;
}

sb_status sb_webp_rows(sb_rows *rows, sb_slice bytes) {
    WebPBitstreamFeatures features;
    if (WebPGetFeatures(bytes.p, bytes.n, &features) != VP8_STATUS_OK)
        return sb_fail(rows->err, SB_CORRUPT, 0, "WebP: the header is damaged");
    if (features.has_animation)
        return sb_fail(rows->err, SB_NOT_FOUND, 0, "WebP: animations are not decoded here");
    sb_status status =
        sb_rows_check(rows, (uint64_t)features.width, (uint64_t)features.height, true);
    if (status != SB_OK) return status;
    uint32_t width, height;
    sb_rows_fit(rows->ask, (uint32_t)features.width, (uint32_t)features.height, &width, &height);
    size_t n = (size_t)width * height * 4;
    uint8_t *pixels = sb_alloc_get(rows->alloc, n);
    if (!pixels) return sb_fail_nomem(rows->err, "for the pixels of a WebP");
    status = read_webp(rows, bytes, pixels, n, width, height);
    sb_alloc_put(rows->alloc, pixels, n);
    return status;
}
