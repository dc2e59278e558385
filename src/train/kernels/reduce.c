/* reduce.c: sums, means and products over axes.
 *
 * The input is seen as [outer, summed, inner] when the axes are neighbours, which is what models
 * have; other axes take the slow way, element by element. Long sums are kept in double, so that the
 * order of adding hardly matters. */
#include "train/ops.h"
#include "base/banned.h"

typedef struct reduction {
    size_t outer, length, inner;
    bool is_axis[SB_NET_MAX_RANK];
    bool is_simple;
} reduction;

static reduction reduction_of(const sb_op *op) {
    const sb_dims *from = &input_of(op, 0)->dims;
    reduction r = {.outer = 1, .length = 1, .inner = 1, .is_simple = true};
    int64_t axes[SB_NET_MAX_RANK];
    size_t n = 0;
    sb_known_ints(op->inputs[1], axes, SB_NET_MAX_RANK, &n);
    for (size_t i = 0; i < n; i++) r.is_axis[axes[i] < 0 ? axes[i] + from->rank : axes[i]] = true;
    bool seen = false;
    for (uint32_t i = 0; i < from->rank; i++) {
        size_t size = (size_t)from->at[i];
        if (r.is_axis[i]) {
            if (r.inner > 1) r.is_simple = false;
            seen = true;
            r.length *= size;
        } else if (seen)
            r.inner *= size;
        else
            r.outer *= size;
    }
    return r;
}

/* The place in the result of element i of the input. */
static size_t target_of(const sb_dims *from, const reduction *r, size_t i) {
    size_t target = 0, step = 1;
    for (uint32_t k = from->rank; k-- > 0;) {
        size_t at = i % (size_t)from->at[k];
        i /= (size_t)from->at[k];
        if (r->is_axis[k]) continue;
        target += at * step;
        step *= (size_t)from->at[k];
    }
    return target;
}

/* Rows added to rows: the gradient of a bias. */
static void sum_rows(const float *x, float *out, size_t length, size_t inner) {
    for (size_t i = 0; i < inner; i++) out[i] = 0;
    for (size_t k = 0; k < length; k++)
        for (size_t i = 0; i < inner; i++) out[i] += x[k * inner + i];
}

static double sum_of(const float *x, size_t n) {
    double sum[4] = {0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t k = 0; k < 4; k++) sum[k] += (double)x[i + k];
    for (; i < n; i++) sum[0] += (double)x[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static void sum_floats(const op_call *c, const reduction *r, double scale) {
    const float *x = c->in[0];
    float *out = c->out[0];
    if (!r->is_simple) {
        const sb_dims *from = &input_of(c->op, 0)->dims;
        for (size_t i = 0; i < c->op->outs[0].count; i++) out[i] = 0;
        for (size_t i = 0; i < input_of(c->op, 0)->count; i++) out[target_of(from, r, i)] += x[i];
    } else if (r->inner == 1) {
        for (size_t i = 0; i < r->outer; i++)
            out[i] = (float)(sum_of(x + i * r->length, r->length) * scale);
        return;
    } else {
        for (size_t i = 0; i < r->outer; i++)
            sum_rows(x + i * r->length * r->inner, out + i * r->inner, r->length, r->inner);
    }
    if (scale != 1)
        for (size_t i = 0; i < c->op->outs[0].count; i++) out[i] = (float)((double)out[i] * scale);
}

static int64_t int_at(sb_dtype dtype, const void *p, size_t i) {
    return dtype == SB_INT32 ? ((const int32_t *)p)[i] : ((const int64_t *)p)[i];
}

static void put_int(sb_dtype dtype, void *p, size_t i, int64_t x) {
    if (dtype == SB_INT32)
        ((int32_t *)p)[i] = (int32_t)(uint32_t)(uint64_t)x;
    else
        ((int64_t *)p)[i] = x;
}

/* Integers, and products of floats: element by element. */
static void reduce_slowly(const op_call *c, const reduction *r, bool is_product) {
    const op_out *x = input_of(c->op, 0);
    sb_dtype dtype = x->dtype;
    size_t n = c->op->outs[0].count;
    for (size_t i = 0; i < n; i++) {
        if (dtype == SB_FLOAT)
            ((float *)c->out[0])[i] = is_product ? 1 : 0;
        else
            put_int(dtype, c->out[0], i, is_product ? 1 : 0);
    }
    for (size_t i = 0; i < x->count; i++) {
        size_t to = target_of(&x->dims, r, i);
        if (dtype == SB_FLOAT) {
            ((float *)c->out[0])[to] *= ((const float *)c->in[0])[i];
            continue;
        }
        uint64_t a = (uint64_t)int_at(dtype, c->out[0], to),
                 b = (uint64_t)int_at(dtype, c->in[0], i);
        put_int(dtype, c->out[0], to, (int64_t)(is_product ? a * b : a + b));
    }
}

sb_status sb_run_sum(const op_call *c, sb_err *err) {
    reduction r = reduction_of(c->op);
    (void)err;
    if (input_of(c->op, 0)->dtype == SB_FLOAT)
        sum_floats(c, &r, 1);
    else
        reduce_slowly(c, &r, false);
    return SB_OK;
}

sb_status sb_run_mean(const op_call *c, sb_err *err) {
    reduction r = reduction_of(c->op);
    size_t in = input_of(c->op, 0)->count, out = c->op->outs[0].count;
    size_t each = out ? in / out : 1;
    if (input_of(c->op, 0)->dtype != SB_FLOAT)
        return sb_fail(err, SB_INVALID, 0, "%s: Mean is for float32; cast it first", c->op->name);
    sum_floats(c, &r, 1 / (double)each);
    return SB_OK;
}

sb_status sb_run_prod(const op_call *c, sb_err *err) {
    reduction r = reduction_of(c->op);
    (void)err;
    reduce_slowly(c, &r, true);
    return SB_OK;
}
