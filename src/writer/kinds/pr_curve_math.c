/* pr_curve_math.c: counting predictions by threshold.
 *
 * A prediction p falls into bucket floor(p (n - 1)); what reaches a threshold is the sum of its
 * bucket and all above. Cost: one pass over the input, one over the thresholds. */
#include <math.h>
#include <string.h>

#include "base/half.h"
#include "writer/kinds/pr_curve.h"

#include "base/banned.h"

#define BLOCK 256
#define NUMPY_BLOCK                                                                                \
    65536 /* numpy sums the weights of a histogram in blocks of this size, then adds the sums */
#define LEAST_COUNT 1e-7

typedef struct block {
    double labels[BLOCK], predictions[BLOCK], weights[BLOCK];
    size_t n;
} block;

static void read_block(const sb_pr_input *in, size_t at, block *b) {
    size_t left = in->predictions.count - at;
    b->n = left < BLOCK ? left : BLOCK;
    sb_tensor_doubles(&in->labels, at, b->n, b->labels);
    sb_tensor_doubles(&in->predictions, at, b->n, b->predictions);
    if (in->weights.count > 1) {
        sb_tensor_doubles(&in->weights, at, b->n, b->weights);
        return;
    }
    double weight = 1;
    if (in->weights.count) sb_tensor_doubles(&in->weights, 0, 1, &weight);
    for (size_t i = 0; i < b->n; i++) b->weights[i] = weight;
}

/* Adds a block to tp and fp, n buckets each. place: p (n - 1), not yet rounded down. */
static void count_one(double *tp, double *fp, uint32_t n, double place, double label,
                      double weight) {
    place = floor(place);
    if (!(place >= 0 && place < (double)n)) return; /* also NaN */
    size_t bucket = (size_t)place;
    if (label != 0)
        tp[bucket] += weight;
    else
        fp[bucket] += weight;
}

/* ---- TensorFlow ------------------------------------------------------------------------------ */

void sb_pr_curve_tf(const sb_pr_input *in, uint32_t n, double *scratch, float *rows) {
    double *tp_counts = scratch, *fp_counts = scratch + n;
    memset(scratch, 0, 2 * sizeof *scratch * n);
    block b;
    for (size_t at = 0; at < in->predictions.count; at += b.n) {
        read_block(in, at, &b);
        for (size_t i = 0; i < b.n; i++) {
            float p = (float)b.predictions[i];
            if (isnan(p)) continue;
            p = fminf(1.0f, fmaxf(0.0f, p));
            float place = p * (float)(n - 1);
            count_one(tp_counts, fp_counts, n, (double)place, b.labels[i],
                      sb_round_to_float(b.weights[i]));
        }
    }
    float *tp = rows, *fp = rows + n, *tn = rows + 2 * (size_t)n, *fn = rows + 3 * (size_t)n;
    float *precision = rows + 4 * (size_t)n, *recall = rows + 5 * (size_t)n;
    float tp_sum = 0, fp_sum = 0;
    for (size_t i = n; i-- > 0;) {
        tp[i] = tp_sum += (float)tp_counts[i];
        fp[i] = fp_sum += (float)fp_counts[i];
    }
    for (size_t i = 0; i < n; i++) {
        tn[i] = fp[0] - fp[i];
        fn[i] = tp[0] - tp[i];
        precision[i] = tp[i] / fmaxf((float)LEAST_COUNT, tp[i] + fp[i]);
        recall[i] = tp[i] / fmaxf((float)LEAST_COUNT, tp[i] + fn[i]);
    }
}

/* ---- torch ----------------------------------------------------------------------------------- */

/* p (n - 1) in the arithmetic of the predictions' own type, as numpy does. */
static double place_of_prediction(sb_dtype dtype, double p, uint32_t n) {
    float product = (float)p * (float)(n - 1);
    switch (dtype) {
    case SB_FLOAT:
    case SB_BFLOAT16:
        return (double)product;
    case SB_HALF:
        return (double)sb_half_to_float(sb_float_to_half(product));
    default:
        return p * (double)(n - 1);
    }
}

/* Counts up to NUMPY_BLOCK predictions from `at` on, in order, into counts (cleared before). */
static void count_run(const sb_pr_input *in, uint32_t n, size_t at, double *counts) {
    size_t end =
        in->predictions.count - at > NUMPY_BLOCK ? at + NUMPY_BLOCK : in->predictions.count;
    memset(counts, 0, 2 * sizeof *counts * n);
    block b;
    for (; at < end; at += b.n) {
        read_block(in, at, &b);
        for (size_t i = 0; i < b.n; i++)
            count_one(counts, counts + n, n,
                      place_of_prediction(in->predictions.dtype, b.predictions[i], n), b.labels[i],
                      b.weights[i]);
    }
}

void sb_pr_curve_torch(const sb_pr_input *in, uint32_t n, double *scratch, float *rows) {
    double *totals = scratch, *run = scratch + 2 * (size_t)n;
    memset(totals, 0, 2 * sizeof *totals * n);
    for (size_t at = 0; at < in->predictions.count; at += NUMPY_BLOCK) {
        count_run(in, n, at, run);
        for (size_t i = 0; i < 2 * (size_t)n; i++) totals[i] += run[i];
    }
    double *tp = totals, *fp = totals + n;
    for (size_t i = n - 1; i-- > 0;) {
        tp[i] += tp[i + 1];
        fp[i] += fp[i + 1];
    }
    for (size_t i = 0; i < n; i++) {
        double tn = fp[0] - fp[i], fn = tp[0] - tp[i];
        const double row[] = {tp[i],
                              fp[i],
                              tn,
                              fn,
                              tp[i] / fmax(LEAST_COUNT, tp[i] + fp[i]),
                              tp[i] / fmax(LEAST_COUNT, tp[i] + fn)};
        for (size_t k = 0; k < 6; k++) rows[k * n + i] = (float)row[k];
    }
}
