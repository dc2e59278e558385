/* compare.h: how far two pictures of one size are apart.
 *
 * Pictures are compared as they look on white paper: what is transparent is white.
 *   PSNR  10 log10(255^2 / mean squared difference) over red, green and blue; infinite for equal
 *         ones
 *   SSIM  structural similarity of the luma (0.299 R + 0.587 G + 0.114 B) after Wang et al. 2004:
 *         a Gaussian window of 11 x 11 pixels with sigma 1.5, C1 = (0.01 * 255)^2,
 *         C2 = (0.03 * 255)^2, the mean over all places where the window fits. The window of a
 *         picture with a side below 11 is smaller.
 * Threads: no state.  Cost: one pass; memory for eleven rows of sums. */
#ifndef SB_MEDIA_VIEW_COMPARE_H
#define SB_MEDIA_VIEW_COMPARE_H

#include "media/view/picture.h"

typedef struct sb_comparison {
    double psnr, ssim;
    double mean;      /* of all absolute differences of red, green and blue, 0 to 255 */
    uint32_t largest; /* of them */
    double share;     /* of the pixels in which one differs by more than sb_compare_visible */
} sb_comparison;

enum { sb_compare_visible = 8 };

/* SB_INVALID for two sizes, SB_NOMEM. */
sb_status sb_pictures_compare(sb_comparison *out, const sb_picture *a, const sb_picture *b,
                              const sb_alloc *alloc, sb_err *err);

/* The difference as a picture: orange, the more opaque the larger the largest difference of a
 * pixel's channels is; opaque from `full` (1 to 255) on. */
sb_status sb_pictures_difference(sb_picture *out, const sb_picture *a, const sb_picture *b,
                                 uint32_t full, const sb_alloc *alloc, sb_err *err);

#endif
