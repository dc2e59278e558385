/* media_sniff.c: any bytes at all, as a blob in a log may hold.
 *
 * Sniffing and sizing must read nothing outside the input, agree with each other, and say about
 * every prefix what they said about the whole or that more is needed. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "media/sniff.h"
#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void hold(int promise) {
    if (!promise) abort();
}

static sb_status size_of(uint32_t *width, uint32_t *height, const uint8_t *data, size_t size) {
    sb_err err = {.code = SB_OK};
    sb_slice bytes = {data, size};
    sb_status status = sb_media_picture_size(width, height, bytes, &err);
    hold(status == SB_OK || status == SB_MORE || status == SB_CORRUPT || status == SB_NOT_FOUND);
    hold(err.code == (status == SB_OK || status == SB_MORE ? SB_OK : status));
    if (status == SB_OK) hold(*width > 0 && *height > 0);
    sb_media media = sb_media_sniff(bytes);
    hold(sb_media_type(media) && sb_media_type_in_tensorboard(media));
    if (status == SB_OK || status == SB_CORRUPT) {
        hold(media >= SB_MEDIA_PNG && media <= SB_MEDIA_WEBP);
    }
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint32_t width = 0, height = 0;
    sb_status status = size_of(&width, &height, data, size);
    uint8_t *cut = malloc(size / 2 + 1); /* a block of its own: reading past it is seen */
    if (!cut) return 0;
    if (size) memcpy(cut, data, size / 2);
    uint32_t w = 0, h = 0;
    sb_status early = size_of(&w, &h, cut, size / 2);
    if (early == SB_OK) hold(status == SB_OK && w == width && h == height);
    if (early == SB_CORRUPT) hold(status == SB_CORRUPT);
    if (early == SB_NOT_FOUND) hold(status == SB_NOT_FOUND);
    free(cut);
    return 0;
}
