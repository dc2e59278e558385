/* losses.c: softmax, cross entropies, in_top_k. Rows are independent of each other. */
#include <math.h>

#include "train/ops.h"
#include "base/banned.h"

/* exp(x - max) into out; answers their sum, and max. */
static float exp_row(const float *x, float *out, size_t n, float *max) {
    float sum = 0;
    *max = n ? x[0] : 0;
    for (size_t i = 1; i < n; i++) *max = x[i] > *max ? x[i] : *max;
    for (size_t i = 0; i < n; i++) {
        out[i] = expf(x[i] - *max);
        sum += out[i];
    }
    return sum;
}

sb_status sb_run_softmax(const op_call *c, sb_err *err) {
    const sb_dims *dims = &c->op->outs[0].dims;
    size_t n = (size_t)dims->at[dims->rank - 1], rows = n ? c->op->outs[0].count / n : 0;
    (void)err;
    for (size_t r = 0; r < rows; r++) {
        float *y = (float *)c->out[0] + r * n, max;
        float sum = exp_row((const float *)c->in[0] + r * n, y, n, &max);
        for (size_t i = 0; i < n; i++) y[i] /= sum;
    }
    return SB_OK;
}

static int64_t class_at(const op_call *c, size_t i) {
    if (input_of(c->op, 1)->dtype == SB_INT32) return ((const int32_t *)c->in[1])[i];
    return ((const int64_t *)c->in[1])[i];
}

/* Second output: softmax - onehot. */
sb_status sb_run_sparse_xent(const op_call *c, sb_err *err) {
    size_t rows = (size_t)input_of(c->op, 0)->dims.at[0],
           n = (size_t)input_of(c->op, 0)->dims.at[1];
    for (size_t r = 0; r < rows; r++) {
        const float *x = (const float *)c->in[0] + r * n;
        float *back = (float *)c->out[1] + r * n, max;
        int64_t label = class_at(c, r);
        if (label < 0 || label >= (int64_t)n)
            return sb_fail(err, SB_INVALID, 0,
                           "%s: label %lld in row %zu of %s is outside the %zu classes of %s",
                           c->op->name, (long long)label, r, c->op->inputs[1].op->name, n,
                           c->op->inputs[0].op->name);
        float sum = exp_row(x, back, n, &max);
        ((float *)c->out[0])[r] = logf(sum) - (x[label] - max);
        for (size_t i = 0; i < n; i++) back[i] /= sum;
        back[label] -= 1;
    }
    return SB_OK;
}

sb_status sb_run_xent(const op_call *c, sb_err *err) {
    size_t rows = (size_t)input_of(c->op, 0)->dims.at[0],
           n = (size_t)input_of(c->op, 0)->dims.at[1];
    (void)err;
    for (size_t r = 0; r < rows; r++) {
        const float *x = (const float *)c->in[0] + r * n, *labels = (const float *)c->in[1] + r * n;
        float *back = (float *)c->out[1] + r * n, max, loss = 0;
        float sum = exp_row(x, back, n, &max), log_sum = logf(sum);
        for (size_t i = 0; i < n; i++) {
            loss += labels[i] * (log_sum - (x[i] - max));
            back[i] = back[i] / sum - labels[i];
        }
        ((float *)c->out[0])[r] = loss;
    }
    return SB_OK;
}

/* Ties count as correct; a row with a number that is not finite, or a bad target, does not. */
sb_status sb_run_in_top_k(const op_call *c, sb_err *err) {
    size_t rows = (size_t)input_of(c->op, 0)->dims.at[0],
           n = (size_t)input_of(c->op, 0)->dims.at[1];
    bool is_wide = input_of(c->op, 2)->dtype == SB_INT64;
    int64_t k = is_wide ? *(const int64_t *)c->in[2] : *(const int32_t *)c->in[2];
    (void)err;
    for (size_t r = 0; r < rows; r++) {
        const float *x = (const float *)c->in[0] + r * n;
        int64_t target = class_at(c, r), greater = 0;
        bool is_good = target >= 0 && target < (int64_t)n;
        for (size_t i = 0; i < n && is_good; i++) {
            is_good = isfinite(x[i]);
            greater += x[i] > x[target];
        }
        ((uint8_t *)c->out[0])[r] = is_good && greater < k;
    }
    return SB_OK;
}
