/* glance.c: sniffing put together with the size of a picture or the header of a WAV file. */
#include "media/glance.h"

#include <string.h>

#include "base/bytes.h"
#include "base/slice.h"
#include "media/wav_read.h"
#include "base/banned.h"

#define LOOK_BACK ((size_t)64)

static uint32_t at_most_u32(uint64_t n) {
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* Is the mark with which such a picture ends missing? Some bytes may stand behind it. */
static bool is_cut(sb_media media, sb_slice blob) {
    sb_slice end = blob.n > LOOK_BACK ? sb_slice_of(blob.p + blob.n - LOOK_BACK, LOOK_BACK) : blob;
    switch (media) {
    case SB_MEDIA_PNG:
        return !memmem(end.p, end.n, "IEND", 4);
    case SB_MEDIA_JPEG:
        return !memmem(end.p, end.n, "\xff\xd9", 2);
    case SB_MEDIA_GIF:
        return !memchr(end.p, 0x3b, end.n);
    case SB_MEDIA_WEBP:
        return (uint64_t)sb_load32(blob.p + 4) + 8 > blob.n;
    default:
        return false;
    }
}

sb_glance sb_glance_picture(sb_slice blob) {
    sb_glance g = {.media = sb_media_sniff(blob), .bytes = at_most_u32(blob.n)};
    g.channels = is_cut(g.media, blob);
    uint32_t width, height;
    if (sb_media_picture_size(&width, &height, blob, NULL) == SB_OK) {
        g.width_or_rate = width;
        g.height_or_frames = height;
    }
    return g;
}

sb_glance sb_glance_clip(sb_slice blob) {
    sb_glance g = {.media = sb_media_sniff(blob), .bytes = at_most_u32(blob.n)};
    sb_wav wav;
    if (sb_wav_read(&wav, blob, NULL) == SB_OK) {
        g.channels = wav.channels;
        g.width_or_rate = wav.rate;
        g.height_or_frames = at_most_u32(wav.frames);
    }
    return g;
}
