/* pr_curve.h: precision and recall at evenly spaced thresholds. Pure: no style, no events. */
#ifndef SB_WRITER_KINDS_PR_CURVE_H
#define SB_WRITER_KINDS_PR_CURVE_H

#include "codec/tensor.h"

typedef struct sb_pr_input {
    sb_tensor_view labels; /* 0 or not */
    sb_tensor_view predictions;
    sb_tensor_view weights; /* of one element: for all; of none: 1 */
} sb_pr_input;

/* Six rows of n floats: true positives, false positives, true negatives, false negatives,
 * precision, recall at thresholds 0, 1/(n-1), ..., 1. A NaN prediction counts nowhere.
 *
 * tf: as the op of TensorBoard's pr_curve plugin: predictions are clipped to 0..1, arithmetic is
 * that of float32.  torch: as compute_curve of torch and tensorboardX: predictions outside 0..1
 * count nowhere, arithmetic is that of float64. scratch has room for 4 * n doubles. */
void sb_pr_curve_tf(const sb_pr_input *in, uint32_t n, double *scratch, float *rows);
void sb_pr_curve_torch(const sb_pr_input *in, uint32_t n, double *scratch, float *rows);

#endif
