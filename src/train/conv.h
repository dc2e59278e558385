/* conv.h: the geometry of a window that slides over pictures: convolutions and pooling. */
#ifndef SB_TRAIN_CONV_H
#define SB_TRAIN_CONV_H

#include "train/graph.h"

typedef struct conv_form {
    int64_t images, height, width, channels;
    int64_t window_height, window_width, outputs;
    int64_t stride_y, stride_x, pad_top, pad_left;
    int64_t out_height, out_width;
} conv_form;

/* From the op's strides, padding and (filter NULL) ksize. False when nothing fits. */
bool sb_conv_form_of(conv_form *f, const sb_op *op, const sb_dims *x, const sb_dims *filter);

#endif
