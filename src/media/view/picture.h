/* picture.h: pictures from logs to pixels, at their own size or scaled down, for thumbnails and
 * comparisons.
 *
 * In:  the bytes of a PNG, JPEG, GIF or WebP picture, hostile ones too.  Out: RGBA, 8 bits a
 * channel, alpha not premultiplied. Scaling averages areas and happens row by row while the picture
 * is decoded, so that a picture of any size needs memory for its rows and for the result only.
 * Exceptions, which are held as a whole and therefore limited by max_held: interlaced PNG,
 * progressive JPEG, GIF.
 *
 *   SB_CORRUPT    it cannot be decoded: damaged, cut short, or not what its header says
 *   SB_LIMIT      more pixels than allowed
 *   SB_NOT_FOUND  none of these formats, or no such frame
 *   SB_TIMEOUT    is_over said so
 *   SB_NOMEM
 *
 * Threads: no state.  Cost: one pass of the decoder. */
#ifndef SB_MEDIA_VIEW_PICTURE_H
#define SB_MEDIA_VIEW_PICTURE_H

#include <stdbool.h>

#include "base/alloc.h"
#include "base/status.h"
#include "seaboard/types.h"

typedef struct sb_picture {
    uint32_t width, height;
    uint8_t *rgba; /* rows from the top, without padding */
    const sb_alloc *alloc;
} sb_picture;

typedef struct sb_picture_ask {
    uint32_t box;        /* the result fits into a square of so many pixels; 0: its own size */
    uint32_t frame;      /* of an animated GIF */
    uint64_t max_pixels; /* width * height that the header may claim */
    uint64_t max_held;   /* pixels that may be in memory at once, the result included */
    bool (*is_over)(void *ud); /* asked now and then; NULL: never */
    void *ud;
} sb_picture_ask;

/* On failure nothing is to be freed. */
sb_status sb_picture_decode(sb_picture *out, sb_slice bytes, const sb_picture_ask *ask,
                            const sb_alloc *alloc, sb_err *err);
void sb_picture_free(sb_picture *picture);

/* The frames of a GIF: how many (at most max are looked at), and how long each of the first ones is
 * shown, in hundredths of a second, where delays is not NULL. Other pictures have one. */
sb_status sb_picture_frames(sb_slice bytes, uint32_t max, uint16_t *delays, uint32_t *frames,
                            sb_err *err);

#endif
