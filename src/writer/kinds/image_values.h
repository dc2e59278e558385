/* image_values.h: the two forms in which a summary stores pictures, for image.c and video.c.
 * Between begin and end the caller appends the bytes of the files. */
#ifndef SB_WRITER_KINDS_IMAGE_VALUES_H
#define SB_WRITER_KINDS_IMAGE_VALUES_H

#include "media/pixels.h"
#include "writer/call.h"

/* TF2: a whole event with a string tensor: width, height, then `count` files, which the caller
 * appends as string_val fields. expected: about how many bytes they have. */
typedef struct sb_tensor_frame {
    sb_value_frame value;
    size_t tensor;
} sb_tensor_frame;
sb_tensor_frame sb_image_tensor_begin(sb_buf *event, const sb_call *call, uint32_t width,
                                      uint32_t height, size_t count, size_t expected);
void sb_image_tensor_end(sb_encoder *e, sb_buf *event, const sb_call *call, sb_tensor_frame f);

/* The others: one value of a summary; the caller appends the bytes of the file. */
typedef struct sb_image_frame {
    size_t value, image, file;
} sb_image_frame;
sb_image_frame sb_image_begin(sb_buf *event, sb_slice tag, const sb_pixel_shape *shape,
                              size_t expected);
void sb_image_end(sb_encoder *e, sb_buf *event, const sb_call *call, sb_slice tag,
                  sb_image_frame f);

/* TF1's names of several pictures or clips: TAG/kind/i, or TAG/kind when only one was asked for. .p
 * is NULL when memory is out. */
sb_slice sb_numbered_tag(sb_encoder *e, sb_slice tag, const char *kind, bool is_only, size_t i);

#endif
