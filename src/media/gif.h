/* gif.h: frames to an animated GIF that repeats for ever.
 *
 * Threads: no state. Cost: a pass to count colours, one to number them, and giflib's compressor. */
#ifndef SB_MEDIA_GIF_H
#define SB_MEDIA_GIF_H

#include "base/alloc.h"
#include "base/buf.h"
#include "base/status.h"
#include "media/pixels.h"

/* Appends one GIF to out. frames are shape->frames pictures one behind the other, of 1 (grey), 2
 * (grey, alpha), 3 (RGB) or 4 (RGBA) channels; GIF has no use for alpha, so it is dropped. No side
 * is over 65535. Colours are exact where a picture, or better all of them, has up to 256. Frames
 * are shown 1/fps seconds each, in hundredths that add up; never under two hundredths, which
 * browsers would slow down to ten. scratch lends about 1.2 MiB for the time of the call. On failure
 * out holds the bytes that it held before. */
sb_status sb_gif_encode(sb_buf *out, const uint8_t *frames, const sb_pixel_shape *shape, double fps,
                        const sb_alloc *scratch, sb_err *err);

#endif
