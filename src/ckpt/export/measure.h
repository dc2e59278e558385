/* measure.h: what the numbers of a tensor are like: range, mean, spread, zeros, NaN, infinities, a
 * histogram. Two passes over the tensor, some of it in memory at a time. Complex numbers are
 * measured by their magnitude. */
#ifndef SB_CKPT_EXPORT_MEASURE_H
#define SB_CKPT_EXPORT_MEASURE_H

#include "ckpt/bundle/bundle.h"

#define SB_MEASURE_BINS 20

typedef struct sb_tensor_measure {
    uint64_t count;             /* all elements */
    uint64_t zeros, nans, infs; /* infinities of either sign */
    /* Of the finite ones; 0 when there is none. */
    double min, max, mean, std;
    double l2;                      /* square root of the sum of squares */
    uint64_t bins[SB_MEASURE_BINS]; /* equal parts of min .. max */
} sb_tensor_measure;

/* SB_INVALID for strings and other types without numbers. */
sb_status sb_measure_tensor(sb_tensor_measure *out, sb_bundle *b, const sb_bundle_tensor *t,
                            sb_err *err);

/* How two tensors of one shape differ; both are streamed. */
typedef struct sb_tensor_difference {
    double l2, max; /* of the element-wise difference; NaN against NaN is no difference */
    uint64_t count; /* elements that differ */
} sb_tensor_difference;

sb_status sb_measure_difference(sb_tensor_difference *out, sb_bundle *a, const sb_bundle_tensor *x,
                                sb_bundle *b, const sb_bundle_tensor *y, sb_err *err);

#endif
