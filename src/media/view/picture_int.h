/* picture_int.h: what the decoders share: the place where rows go, and the decoders themselves. */
#ifndef SB_MEDIA_VIEW_PICTURE_INT_H
#define SB_MEDIA_VIEW_PICTURE_INT_H

#include "media/view/picture.h"

/* Takes the rows of a picture from the top and makes the result of them. Sums are over
 * premultiplied colours: transparent pixels do not change the colour of others. */
typedef struct sb_rows {
    const sb_picture_ask *ask;
    const sb_alloc *alloc;
    sb_picture *out;
    uint32_t width, height; /* of the source */
    uint32_t next;          /* the row that comes next */
    uint32_t done;          /* rows of the result that are whole */
    uint64_t *row; /* sums of one source row, out->width * 4; NULL when nothing is scaled */
    uint64_t *sum; /* sums of the result's row that is being made */
    sb_err *err;
} sb_rows;

/* Checks the size against the limits and gets memory for the result. The source has width * height
 * pixels; what a decoder scales by itself is said by the size it gives here. */
sb_status sb_rows_begin(sb_rows *rows, uint32_t width, uint32_t height);
/* One row of width * 4 bytes. SB_TIMEOUT when time is over. */
sb_status sb_rows_add(sb_rows *rows, const uint8_t *rgba);
/* Frees what was only needed meanwhile; after a failure also the result. */
void sb_rows_end(sb_rows *rows, sb_status status);

/* May a picture of this size be decoded at all, and may it be held as a whole? */
sb_status sb_rows_check(const sb_rows *rows, uint64_t width, uint64_t height, bool is_held);

/* The size of the result for a source of this size. */
void sb_rows_fit(const sb_picture_ask *ask, uint32_t width, uint32_t height, uint32_t *to_width,
                 uint32_t *to_height);

sb_status sb_png_rows(sb_rows *rows, sb_slice bytes);
sb_status sb_jpeg_rows(sb_rows *rows, sb_slice bytes);
sb_status sb_gif_rows(sb_rows *rows, sb_slice bytes);
sb_status sb_webp_rows(sb_rows *rows, sb_slice bytes);

#endif
