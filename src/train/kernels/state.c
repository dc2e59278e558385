/* state.c: kernels that change variables: assignments and the steps of optimizers. */
#include <math.h>

#include "codec/tensor.h"
#include "train/ops.h"
#include "base/banned.h"

#define PIECE 16384

sb_status sb_run_assign(const op_call *c, sb_err *err) {
    size_t n = c->op->outs[0].count * sb_dtype_size(c->op->outs[0].dtype);
    (void)err;
    if (n) memcpy(c->in[0], c->in[1], n);
    return SB_OK;
}

sb_status sb_run_assign_add(const op_call *c, sb_err *err) {
    size_t n = c->op->outs[0].count;
    (void)err;
    for (size_t i = 0; i < n; i++) {
        if (c->op->outs[0].dtype == SB_FLOAT)
            ((float *)c->in[0])[i] += ((const float *)c->in[1])[i];
        else if (c->op->outs[0].dtype == SB_INT64)
            ((int64_t *)c->in[0])[i] += ((const int64_t *)c->in[1])[i];
        else
            ((int32_t *)c->in[0])[i] += ((const int32_t *)c->in[1])[i];
    }
    return SB_OK;
}

/* ---- optimizers ------------------------------------------------------------------------------ */

typedef struct update {
    float *variable, *m, *v;
    const float *grad;
    float rate, momentum, beta1, beta2, epsilon;
    bool nesterov;
    size_t count;
    void (*run)(const struct update *u, size_t from, size_t to);
} update;

static void update_piece(void *work, size_t i) {
    const update *u = work;
    size_t from = i * PIECE, to = from + PIECE;
    u->run(u, from, to < u->count ? to : u->count);
}

static sb_status apply(const op_call *c, update *u) {
    u->count = c->op->outs[0].count;
    sb_team_run(c->team, (u->count + PIECE - 1) / PIECE, update_piece, u);
    return SB_OK;
}

static float number(const op_call *c, size_t i) {
    return *(const float *)c->in[i];
}

static void descend(const update *u, size_t from, size_t to) {
    float *variable = u->variable;
    const float *grad = u->grad, rate = u->rate;
    for (size_t i = from; i < to; i++) variable[i] -= rate * grad[i];
}

/* var, rate, grad */
sb_status sb_run_gradient_descent(const op_call *c, sb_err *err) {
    update u = {.variable = c->in[0], .rate = number(c, 1), .grad = c->in[2], .run = descend};
    (void)err;
    return apply(c, &u);
}

static void step_momentum(const update *u, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        u->m[i] = u->m[i] * u->momentum + u->grad[i];
        if (u->nesterov)
            u->variable[i] -= u->grad[i] * u->rate + u->m[i] * u->momentum * u->rate;
        else
            u->variable[i] -= u->rate * u->m[i];
    }
}

/* var, accumulated, rate, grad, momentum */
sb_status sb_run_momentum(const op_call *c, sb_err *err) {
    update u = {.variable = c->in[0],
                .m = c->in[1],
                .rate = number(c, 2),
                .grad = c->in[3],
                .momentum = number(c, 4),
                .nesterov = sb_op_int(c->op, "use_nesterov") != 0,
                .run = step_momentum};
    (void)err;
    return apply(c, &u);
}

static void step_adam(const update *u, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        float grad = u->grad[i];
        u->m[i] += (grad - u->m[i]) * (1 - u->beta1);
        u->v[i] += (grad * grad - u->v[i]) * (1 - u->beta2);
        u->variable[i] -= u->m[i] * u->rate / (sqrtf(u->v[i]) + u->epsilon);
    }
}

/* var, m, v, power of beta1, power of beta2, rate, beta1, beta2, epsilon, grad */
sb_status sb_run_adam(const op_call *c, sb_err *err) {
    float rate = number(c, 5) * sqrtf(1 - number(c, 4)) / (1 - number(c, 3));
    update u = {.variable = c->in[0],
                .m = c->in[1],
                .v = c->in[2],
                .rate = rate,
                .beta1 = number(c, 6),
                .beta2 = number(c, 7),
                .epsilon = number(c, 8),
                .grad = c->in[9],
                .run = step_adam};
    (void)err;
    return apply(c, &u);
}
