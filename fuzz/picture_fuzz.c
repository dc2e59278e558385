/* picture_fuzz.c: any bytes as a picture: decoded at its own size and made small, frames counted.
 *
 * Decoders must stay within their input and their limits, and say why they refuse. The first byte
 * chooses the box and the frame. */
#include <stdint.h>
#include <stdlib.h>

#include "media/view/compare.h"
#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void hold(int promise) {
    if (!promise) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    sb_slice bytes = {data + 1, size - 1};
    sb_picture_ask ask = {.box = data[0] % 4 ? 8u * (data[0] % 4) : 0,
                          .frame = data[0] / 64,
                          .max_pixels = 1 << 16,
                          .max_held = 1 << 14};
    sb_picture picture;
    sb_err err = {.code = SB_OK};
    sb_status status = sb_picture_decode(&picture, bytes, &ask, &sb_alloc_libc, &err);
    uint32_t frames = 0;
    sb_picture_frames(bytes, 1000, NULL, &frames, NULL);
    if (status != SB_OK) {
        hold(err.code == status && err.text[0]);
        return 0;
    }
    hold(picture.width > 0 && picture.height > 0);
    hold(!ask.box || (picture.width <= ask.box && picture.height <= ask.box));
    sb_comparison c;
    hold(sb_pictures_compare(&c, &picture, &picture, &sb_alloc_libc, &err) == SB_OK);
    hold(c.ssim > 0.999999 && c.largest == 0);
    sb_picture_free(&picture);
    return 0;
}
