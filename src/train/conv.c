/* conv.c: sizes and padding as TensorFlow defines SAME and VALID. */
#include "train/conv.h"

#include "base/banned.h"

/* One dimension: how many windows there are, and how much is added before the first. */
static bool place_windows(int64_t size, int64_t window, int64_t stride, bool is_same,
                          int64_t *count, int64_t *before) {
    if (size < 1 || window < 1 || stride < 1) return false;
    *before = 0;
    if (!is_same) {
        *count = (size - window + stride) / stride;
        return window <= size;
    }
    *count = (size + stride - 1) / stride;
    int64_t added = (*count - 1) * stride + window - size;
    if (added > 0) *before = added / 2;
    return true;
}

bool sb_conv_form_of(conv_form *f, const sb_op *op, const sb_dims *x, const sb_dims *filter) {
    const attr *strides = sb_op_attr(op, "strides"), *ksize = sb_op_attr(op, "ksize");
    bool is_same = sb_slice_eq(sb_op_attr(op, "padding")->text, SB_LIT("SAME"));
    *f = (conv_form){.images = x->at[0],
                     .height = x->at[1],
                     .width = x->at[2],
                     .channels = x->at[3],
                     .window_height = filter ? filter->at[0] : ksize->list[1],
                     .window_width = filter ? filter->at[1] : ksize->list[2],
                     .outputs = filter ? filter->at[3] : x->at[3],
                     .stride_y = strides->list[1],
                     .stride_x = strides->list[2]};
    return place_windows(f->height, f->window_height, f->stride_y, is_same, &f->out_height,
                         &f->pad_top) &&
           place_windows(f->width, f->window_width, f->stride_x, is_same, &f->out_width,
                         &f->pad_left);
}
