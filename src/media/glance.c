/* glance.c: sniffing put together with the size of a picture or the header of a WAV file. */
#include "media/glance.h"

#include "media/wav_read.h"
#include "base/banned.h"

static uint32_t at_most_u32(uint64_t n) {
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

sb_glance sb_glance_picture(sb_slice blob) {
    sb_glance g = {.media = sb_media_sniff(blob), .bytes = at_most_u32(blob.n)};
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
