/* arrays.c: kernels that move numbers: fill, tile, slice, pad; where the largest is; the axes of a
 * broadcast. */
#include "codec/tensor.h"
#include "train/ops.h"
#include "base/banned.h"

sb_status sb_run_none(const op_call *c, sb_err *err) {
    (void)c;
    (void)err;
    return SB_OK;
}

/* Only called where the memory is not shared. */
sb_status sb_run_identity(const op_call *c, sb_err *err) {
    size_t n = c->op->outs[0].count * sb_dtype_size(c->op->outs[0].dtype);
    (void)err;
    if (n && c->out[0] != c->in[0]) memcpy(c->out[0], c->in[0], n);
    return SB_OK;
}

sb_status sb_run_fill(const op_call *c, sb_err *err) {
    size_t size = sb_dtype_size(c->op->outs[0].dtype);
    uint8_t *out = c->out[0];
    (void)err;
    for (size_t i = 0; i < c->op->outs[0].count; i++) memcpy(out + i * size, c->in[1], size);
    return SB_OK;
}

sb_status sb_run_zeros_like(const op_call *c, sb_err *err) {
    size_t n = c->op->outs[0].count * sb_dtype_size(c->op->outs[0].dtype);
    (void)err;
    if (n) memset(c->out[0], 0, n);
    return SB_OK;
}

/* The place of element i of an array of these dims. */
static void coordinates_of(size_t i, const sb_dims *dims, int64_t *at) {
    for (uint32_t k = dims->rank; k-- > 0;) {
        at[k] = (int64_t)(i % (size_t)dims->at[k]);
        i /= (size_t)dims->at[k];
    }
}

static size_t index_of(const sb_dims *dims, const int64_t *at) {
    size_t i = 0;
    for (uint32_t k = 0; k < dims->rank; k++) i = i * (size_t)dims->at[k] + (size_t)at[k];
    return i;
}

/* Tile and Slice: each element of the result comes from one of the input. */
static void gather(const op_call *c, const int64_t *begin) {
    const sb_dims *to = &c->op->outs[0].dims, *from = &input_of(c->op, 0)->dims;
    size_t size = sb_dtype_size(c->op->outs[0].dtype);
    for (size_t i = 0; i < c->op->outs[0].count; i++) {
        int64_t at[SB_NET_MAX_RANK];
        coordinates_of(i, to, at);
        for (uint32_t k = 0; k < to->rank; k++)
            at[k] = begin ? at[k] + begin[k] : at[k] % from->at[k];
        memcpy((uint8_t *)c->out[0] + i * size,
               (const uint8_t *)c->in[0] + index_of(from, at) * size, size);
    }
}

sb_status sb_run_tile(const op_call *c, sb_err *err) {
    (void)err;
    gather(c, NULL);
    return SB_OK;
}

sb_status sb_run_slice(const op_call *c, sb_err *err) {
    int64_t begin[SB_NET_MAX_RANK] = {0};
    size_t n;
    (void)err;
    sb_known_ints(c->op->inputs[1], begin, SB_NET_MAX_RANK, &n);
    gather(c, begin);
    return SB_OK;
}

sb_status sb_run_pad(const op_call *c, sb_err *err) {
    const sb_dims *to = &c->op->outs[0].dims, *from = &input_of(c->op, 0)->dims;
    size_t size = sb_dtype_size(c->op->outs[0].dtype), n;
    int64_t pads[2 * SB_NET_MAX_RANK] = {0};
    (void)err;
    sb_known_ints(c->op->inputs[1], pads, 2 * SB_NET_MAX_RANK, &n);
    if (c->op->outs[0].count) memset(c->out[0], 0, c->op->outs[0].count * size);
    for (size_t i = 0; i < input_of(c->op, 0)->count; i++) {
        int64_t at[SB_NET_MAX_RANK];
        coordinates_of(i, from, at);
        for (uint32_t k = 0; k < from->rank; k++) at[k] += pads[2 * k];
        memcpy((uint8_t *)c->out[0] + index_of(to, at) * size, (const uint8_t *)c->in[0] + i * size,
               size);
    }
    return SB_OK;
}

static double value_at(sb_dtype dtype, const void *p, size_t i) {
    if (dtype == SB_FLOAT) return (double)((const float *)p)[i];
    if (dtype == SB_INT32) return ((const int32_t *)p)[i];
    return (double)((const int64_t *)p)[i];
}

sb_status sb_run_argmax(const op_call *c, sb_err *err) {
    const sb_dims *from = &input_of(c->op, 0)->dims;
    sb_dtype dtype = input_of(c->op, 0)->dtype;
    int64_t axis = 0, *out = c->out[0];
    size_t n, inner = 1;
    (void)err;
    sb_known_ints(c->op->inputs[1], &axis, 1, &n);
    if (axis < 0) axis += from->rank;
    for (uint32_t k = (uint32_t)axis + 1; k < from->rank; k++) inner *= (size_t)from->at[k];
    size_t length = (size_t)from->at[axis];
    for (size_t i = 0; i < c->op->outs[0].count; i++) {
        size_t start = i / inner * inner * length + i % inner, best = 0;
        for (size_t k = 1; k < length; k++)
            if (value_at(dtype, c->in[0], start + k * inner) >
                value_at(dtype, c->in[0], start + best * inner))
                best = k;
        out[i] = (int64_t)best;
    }
    return SB_OK;
}

sb_status sb_run_broadcast_args(const op_call *c, sb_err *err) {
    const int32_t *shapes[] = {c->in[0], c->in[1]};
    const size_t ranks[] = {input_of(c->op, 0)->count, input_of(c->op, 1)->count};
    size_t rank = ranks[0] > ranks[1] ? ranks[0] : ranks[1];
    (void)err;
    for (size_t k = 0; k < 2; k++) {
        int32_t *out = c->out[k];
        size_t missing = rank - ranks[k], n = 0;
        for (size_t i = 0; i < rank; i++)
            if (i < missing || shapes[k][i - missing] == 1) out[n++] = (int32_t)i;
    }
    return SB_OK;
}
