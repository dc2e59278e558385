/* pixels_int.h: what the files of the pixels module share. */
#ifndef SB_MEDIA_PIXELS_INT_H
#define SB_MEDIA_PIXELS_INT_H

#include "media/pixels.h"

/* Converts n elements, src_step bytes apart, to n bytes, dst_step apart. */
typedef void sb_pixel_fn(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step,
                         size_t n);

typedef enum sb_pixel_rule {
    SB_PIXEL_TF2,
    SB_PIXEL_TORCH, /* also for video: torch converts uint8 to 0..1 and back there, which changes
                       none of the 256 values */
    SB_PIXEL_TORCH_SPRITE /* 0..1 for all types, in float64 */
} sb_pixel_rule;

/* NULL when the rule does not support the element type. */
sb_pixel_fn *sb_pixel_rule_pick(sb_pixel_rule rule, sb_dtype dtype);

/* Are all dims of the array 1 or more (the first may be 0 when may_be_empty), 2^31 - 1 or less, and
 * do all its elements of size bytes fit into memory? */
sb_status sb_pixel_dims_check(const sb_array *a, size_t size, bool may_be_empty, sb_err *err);

/* Reserves room for a picture of that shape at the end of out; *p points to it. The caller adds
 * *bytes to out->n after writing them. */
sb_status sb_pixel_reserve(sb_buf *out, uint8_t **p, size_t *bytes, const sb_pixel_shape *shape,
                           uint64_t max_pixels, sb_err *err);

#endif
