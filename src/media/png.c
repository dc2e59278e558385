/* png.c: filters, compresses and frames one picture.
 *
 *   89 50 4e 47 0d 0a 1a 0a
 *   IHDR  13 bytes: width u32, height u32, depth 8, colour type, 0 deflate, 0 filters, 0 plain rows
 *   IDAT  one zlib stream of every row: filter byte, width * channels bytes
 *   IEND  empty
 *   each chunk: length u32 | name 4 | data | crc32 of name and data u32; all big-endian
 *
 * Every row uses the filter "sub" (difference to the pixel on the left). Choosing among none, sub
 * and up row by row was measured: it costs 0.2 ms a megabyte, gains 2 % on photographs and loses on
 * line drawings, where rows of different filters hide repeats from the compressor. */
#include "media/png.h"

#include <libdeflate.h>
#include <string.h>

#include "base/checked.h"
#include "base/banned.h"

enum { png_level = 1, png_filter_sub = 1, png_chunk_frame = 12, png_ihdr_size = 13 };

static const uint8_t png_magic[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
static const uint8_t png_colour_type[5] = {0, 0, 4, 2, 6}; /* by channels */
#define PNG_MAX_LENGTH 0x7fffffffu                         /* of a side, and of a chunk */

void sb_png_encoder_init(sb_png_encoder *encoder, const sb_alloc *alloc, uint64_t max_pixels) {
    *encoder = (sb_png_encoder){.alloc = alloc, .max_pixels = max_pixels};
}

void sb_png_encoder_fini(sb_png_encoder *encoder) {
    if (encoder->deflate) libdeflate_free_compressor(encoder->deflate);
    sb_alloc_put(encoder->alloc, encoder->filtered, encoder->filtered_room);
    *encoder = (sb_png_encoder){.alloc = encoder->alloc, .max_pixels = encoder->max_pixels};
}

static void store_be32(uint8_t *p, uint32_t x) {
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(x >> (24 - 8 * i));
}

/* Completes a chunk whose data is already at frame + 8: writes length and name before it and the
 * checksum after it. */
static void frame_chunk(uint8_t *frame, const char *name, uint32_t length) {
    store_be32(frame, length);
    memcpy(frame + 4, name, 4);
    store_be32(frame + 8 + length, libdeflate_crc32(0, frame + 4, 4 + (size_t)length));
}

static void filter_sub(uint8_t *restrict out, const uint8_t *restrict pixels, uint32_t height,
                       size_t row, size_t channels) {
    for (uint32_t y = 0; y < height; y++, out += row + 1, pixels += row) {
        out[0] = png_filter_sub;
        memcpy(out + 1, pixels, channels);
        for (size_t i = channels; i < row; i++) {
            out[1 + i] = (uint8_t)(pixels[i] - pixels[i - channels]);
        }
    }
}

static sb_status prepare_encoder(sb_png_encoder *e, size_t filtered, sb_err *err) {
    if (!e->deflate) e->deflate = libdeflate_alloc_compressor(png_level);
    if (!e->deflate) return sb_fail_nomem(err, "for a PNG compressor");
    if (filtered <= e->filtered_room) return SB_OK;
    uint8_t *p = sb_alloc_get(e->alloc, filtered); /* free first: the old content is not needed */
    if (!p) return sb_fail_nomem(err, "for the rows of a PNG picture");
    sb_alloc_put(e->alloc, e->filtered, e->filtered_room);
    e->filtered = p;
    e->filtered_room = filtered;
    return SB_OK;
}

/* Compresses directly into out. Room for the worst case is reserved only as far as the cap of out
 * allows, so that a picture that compresses well is not refused because of a bound that it never
 * reaches. */
static sb_status add_idat(sb_buf *out, sb_png_encoder *e, size_t filtered, sb_err *err) {
    size_t room = libdeflate_zlib_compress_bound(e->deflate, filtered);
    size_t left = out->cap > out->n ? out->cap - out->n : 0;
    size_t around = 2 * png_chunk_frame; /* the frame of this chunk, and the IEND chunk */
    if (left <= around) left = around;
    if (room > left - around) room = left - around;
    if (!sb_buf_reserve(out, room + around)) return sb_buf_check(out, "a PNG picture", err);
    uint8_t *frame = out->p + out->n;
    size_t n = libdeflate_zlib_compress(e->deflate, e->filtered, filtered, frame + 8, room);
    if (n == 0 || n > PNG_MAX_LENGTH) {
        return sb_fail(err, SB_LIMIT, 0, "a PNG picture is larger than its limit of %zu bytes",
                       n == 0 ? out->cap : (size_t)PNG_MAX_LENGTH);
    }
    frame_chunk(frame, "IDAT", (uint32_t)n);
    out->n += png_chunk_frame + n;
    frame_chunk(out->p + out->n, "IEND", 0);
    out->n += png_chunk_frame;
    return SB_OK;
}

static void add_head(sb_buf *out, uint32_t width, uint32_t height, uint32_t channels) {
    uint8_t chunk[png_chunk_frame + png_ihdr_size] = {0};
    store_be32(chunk + 8, width);
    store_be32(chunk + 12, height);
    chunk[16] = 8;
    chunk[17] = png_colour_type[channels];
    frame_chunk(chunk, "IHDR", png_ihdr_size);
    sb_buf_add(out, png_magic, sizeof png_magic);
    sb_buf_add(out, chunk, sizeof chunk);
}

sb_status sb_png_encode(sb_buf *out, sb_png_encoder *encoder, const uint8_t *pixels, uint32_t width,
                        uint32_t height, uint32_t channels, sb_err *err) {
    if (channels < 1 || channels > 4) {
        return sb_fail(err, SB_INVALID, 0, "a PNG picture has 1 to 4 channels, not %u", channels);
    }
    if (width == 0 || height == 0) {
        return sb_fail(err, SB_INVALID, 0, "a picture of %u by %u has no pixels", width, height);
    }
    if (width > PNG_MAX_LENGTH || height > PNG_MAX_LENGTH ||
        (uint64_t)width * height > encoder->max_pixels) {
        return sb_fail(err, SB_LIMIT, 0, "a picture of %u by %u is over the limit of %llu pixels",
                       width, height, (unsigned long long)encoder->max_pixels);
    }
    size_t row, filtered;
    if (!sb_mul_size(&row, width, channels) || !sb_mul_size(&filtered, row + 1, height) ||
        filtered > PTRDIFF_MAX) {
        return sb_fail(err, SB_LIMIT, 0, "a picture of %u by %u is too large", width, height);
    }
    sb_status status = prepare_encoder(encoder, filtered, err);
    if (status != SB_OK) return status;
    filter_sub(encoder->filtered, pixels, height, row, channels);
    size_t before = out->n;
    add_head(out, width, height, channels);
    status = add_idat(out, encoder, filtered, err);
    if (status != SB_OK) out->n = before;
    return status;
}
