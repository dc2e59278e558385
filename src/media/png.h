/* png.h: 8-bit pixels to PNG, for a writer that has many pictures to store and little time.
 *
 * One encoder is kept for many pictures: it holds the compressor and the scratch memory between
 * calls. Threads: an encoder belongs to one thread. Cost: one filter pass and libdeflate at its
 * fastest level; the file is a few percent larger than libpng's and made several times faster. */
#ifndef SB_MEDIA_PNG_H
#define SB_MEDIA_PNG_H

#include "base/alloc.h"
#include "base/buf.h"
#include "base/status.h"

struct libdeflate_compressor;

typedef struct sb_png_encoder {
    const sb_alloc *alloc;
    struct libdeflate_compressor *deflate; /* made by the first picture */
    uint8_t *filtered;
    size_t filtered_room;
    uint64_t max_pixels;
} sb_png_encoder;

/* Takes no memory yet. A picture of more than max_pixels pixels will be refused with SB_LIMIT. */
void sb_png_encoder_init(sb_png_encoder *encoder, const sb_alloc *alloc, uint64_t max_pixels);
void sb_png_encoder_fini(sb_png_encoder *encoder);

/* Appends one PNG file to out. pixels are rows from the top without padding; channels is 1 (grey),
 * 2 (grey, alpha), 3 (RGB) or 4 (RGBA). On failure out holds the bytes that it held before. */
sb_status sb_png_encode(sb_buf *out, sb_png_encoder *encoder, const uint8_t *pixels, uint32_t width,
                        uint32_t height, uint32_t channels, sb_err *err);

#endif
