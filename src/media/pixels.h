/* pixels.h: arrays of any type and layout to the 8-bit pixels that the peers would have stored.
 *
 * TensorFlow 2, TensorFlow 1 and torch each have their own idea of what a float image means; every
 * function here imitates one of them exactly, pixel by pixel. Output is always rows from the top,
 * channels side by side, frames one behind the other, ready for sb_png_encode and sb_gif_encode.
 *
 * All append to out, and leave it as it was on failure. max_pixels bounds width * height * frames
 * of the result; more is SB_LIMIT. Arrays are borrowed, contiguous, and may be unaligned.
 * Threads: no state. Cost: one pass, no memory but out's. */
#ifndef SB_MEDIA_PIXELS_H
#define SB_MEDIA_PIXELS_H

#include "base/buf.h"
#include "base/status.h"

typedef struct sb_pixel_shape {
    uint32_t width, height, channels;
    uint32_t frames; /* pictures of that size, one behind the other */
} sb_pixel_shape;

/* tf.summary.image: [k, height, width, 1..4 channels]; the first max_outputs pictures.
 *   float16, bfloat16, float32, float64   x * 255.5 rounded to the same type, cut, 0..255
 *   uint8  as it is      int8  negative is 0, else doubled
 *   wider integers       negative is 0, else the upper eight bits of the type's positive range
 * NaN is 0. k = 0 is no failure: frames is 0 then. */
sb_status sb_pixels_tf2(sb_buf *out, sb_pixel_shape *shape, const sb_array *images,
                        uint32_t max_outputs, uint64_t max_pixels, sb_err *err);

/* tf.compat.v1.summary.image: [k, height, width, 1, 3 or 4 channels] of uint8, float16, float32 or
 * float64. uint8 is kept. Floats are stretched picture by picture: without negative values the
 * largest becomes 255; with them the largest magnitude becomes 127 around 128; a picture whose
 * largest magnitude is below 1e-6 is even. A pixel with a NaN or infinite channel is red. */
sb_status sb_pixels_tf1(sb_buf *out, sb_pixel_shape *shape, const sb_array *images,
                        uint32_t max_outputs, uint64_t max_pixels, sb_err *err);

/* torch's add_image and add_images. format names the axes: any order of HW, CHW or NCHW, letters of
 * either case. uint8 counts as 0..255, every other type as 0..1; clipped and cut. One channel, or
 * none, becomes three; a batch becomes a grid of min(N, 8) columns on black. */
sb_status sb_pixels_torch(sb_buf *out, sb_pixel_shape *shape, const sb_array *image,
                          sb_slice format, uint64_t max_pixels, sb_err *err);

/* torch's add_video: [N, time, channels, height, width] becomes one frame a moment. The N clips are
 * filled up with black ones to a power of two and stand in 2^((bit length of N - 1) / 2) rows. */
sb_status sb_pixels_torch_video(sb_buf *out, sb_pixel_shape *shape, const sb_array *video,
                                uint64_t max_pixels, sb_err *err);

/* The sprite of torch's add_embedding: [N, channels, height, width] in ceil(sqrt(N)) columns, with
 * black below so that the picture is as high as it is wide (higher, where the labels are: torch
 * fails there). Every type, uint8 too, counts as 0..1. One channel becomes three. */
sb_status sb_pixels_torch_sprite(sb_buf *out, sb_pixel_shape *shape, const sb_array *labels,
                                 uint64_t max_pixels, sb_err *err);

#endif
