/* elementwise.c: kernels that compute each number from the numbers at its place.
 *
 * Two inputs may be of different shapes: the shapes are first joined into as few dimensions as
 * possible, so that the inner loop is long; it has a form for equal inputs and for a single number
 * on one side. */
#include <math.h>

#include "codec/tensor.h"
#include "train/ops.h"
#include "base/banned.h"

/* Numbers of a kernel that are worth a hand-over to another thread. */
#define PIECE 32768

/* ---- two inputs ------------------------------------------------------------------------------ */

/* Loops over the result; a stride is 0 where an input is repeated. */
typedef struct pair_loop {
    uint32_t rank;
    int64_t size[SB_NET_MAX_RANK];
    int64_t x[SB_NET_MAX_RANK], y[SB_NET_MAX_RANK];
} pair_loop;

static void strides_of(const sb_dims *own, const sb_dims *all, int64_t *strides) {
    int64_t step = 1;
    for (uint32_t i = all->rank; i-- > 0;) {
        uint32_t missing = all->rank - own->rank;
        bool is_repeated = i < missing || own->at[i - missing] == 1;
        strides[i] = is_repeated ? 0 : step;
        if (i >= missing) step *= own->at[i - missing];
    }
}

/* Neighbouring dimensions that both inputs walk through in one go become one. */
static pair_loop loop_of(const sb_op *op) {
    const sb_dims *all = &op->outs[0].dims;
    int64_t x[SB_NET_MAX_RANK], y[SB_NET_MAX_RANK];
    pair_loop l = {0};
    strides_of(&input_of(op, 0)->dims, all, x);
    strides_of(&input_of(op, 1)->dims, all, y);
    for (uint32_t i = 0; i < all->rank; i++) {
        if (all->at[i] == 1) continue;
        bool joins =
            l.rank && l.x[l.rank - 1] == x[i] * all->at[i] && l.y[l.rank - 1] == y[i] * all->at[i];
        uint32_t at = joins ? l.rank - 1 : l.rank++;
        l.size[at] = joins ? l.size[at] * all->at[i] : all->at[i];
        l.x[at] = x[i];
        l.y[at] = y[i];
    }
    if (l.rank == 0) {
        l.rank = 1;
        l.size[0] = 1;
    }
    return l;
}

/* Where a row of the inner loop begins. */
static void row_of(const pair_loop *l, size_t row, int64_t *x, int64_t *y) {
    *x = *y = 0;
    for (uint32_t i = l->rank - 1; i-- > 0;) {
        int64_t at = (int64_t)(row % (size_t)l->size[i]);
        row /= (size_t)l->size[i];
        *x += at * l->x[i];
        *y += at * l->y[i];
    }
}

#define PAIR_BODY(In, Out, expr)                                                                   \
    do {                                                                                           \
        const In *xs = (const In *)c->in[0] + x0, *ys = (const In *)c->in[1] + y0;                 \
        Out *zs = (Out *)c->out[0] + row * n;                                                      \
        if (sx == 1 && sy == 1)                                                                    \
            for (size_t i = 0; i < n; i++) {                                                       \
                In x = xs[i], y = ys[i];                                                           \
                zs[i] = (Out)(expr);                                                               \
            }                                                                                      \
        else if (sy == 0) {                                                                        \
            In y = ys[0];                                                                          \
            for (size_t i = 0; i < n; i++) {                                                       \
                In x = xs[(int64_t)i * sx];                                                        \
                zs[i] = (Out)(expr);                                                               \
            }                                                                                      \
        } else                                                                                     \
            for (size_t i = 0; i < n; i++) {                                                       \
                In x = xs[(int64_t)i * sx], y = ys[(int64_t)i * sy];                               \
                zs[i] = (Out)(expr);                                                               \
            }                                                                                      \
    } while (0)

/* run_NAME for float32, int32 and int64. Out is the type of the result of floats, ints likewise. */
#define PAIR(NAME, FloatOut, IntOut, LongOut, float_expr, int_expr)                                \
    sb_status sb_run_##NAME(const op_call *c, sb_err *err) {                                       \
        (void)err;                                                                                 \
        pair_loop l = loop_of(c->op);                                                              \
        size_t n = (size_t)l.size[l.rank - 1];                                                     \
        size_t rows = n ? c->op->outs[0].count / n : 0;                                            \
        int64_t sx = l.x[l.rank - 1], sy = l.y[l.rank - 1];                                        \
        sb_dtype dtype = input_of(c->op, 0)->dtype;                                                \
        for (size_t row = 0; row < rows; row++) {                                                  \
            int64_t x0, y0;                                                                        \
            row_of(&l, row, &x0, &y0);                                                             \
            if (dtype == SB_FLOAT)                                                                 \
                PAIR_BODY(float, FloatOut, float_expr);                                            \
            else if (dtype == SB_INT32)                                                            \
                PAIR_BODY(int32_t, IntOut, int_expr);                                              \
            else if (dtype == SB_INT64)                                                            \
                PAIR_BODY(int64_t, LongOut, int_expr);                                             \
            else                                                                                   \
                PAIR_BODY(uint8_t, uint8_t, int_expr);                                             \
        }                                                                                          \
        return SB_OK;                                                                              \
    }

/* Integer arithmetic wraps round instead of being undefined. */
#define WRAP(op) (int64_t)((uint64_t)x op(uint64_t) y)

static int64_t floor_divide(int64_t x, int64_t y) {
    if (y == 0) return 0;
    if (y == -1) return (int64_t)(0 - (uint64_t)x);
    int64_t q = x / y;
    return q - (x % y != 0 && (x < 0) != (y < 0));
}

static int64_t power(int64_t x, int64_t y) {
    uint64_t result = 1, base = (uint64_t)x;
    for (; y > 0; y >>= 1) {
        if (y & 1) result *= base;
        base *= base;
    }
    return (int64_t)result;
}

static float float_power(float x, float y) {
    return y == 2 ? x * x : y == 1 ? x : powf(x, y);
}

PAIR(add, float, int32_t, int64_t, x + y, WRAP(+))
PAIR(sub, float, int32_t, int64_t, x - y, WRAP(-))
PAIR(mul, float, int32_t, int64_t, x *y, WRAP(*))
PAIR(div, float, int32_t, int64_t, x / y, floor_divide(x, y))
PAIR(floor_div, float, int32_t, int64_t, floorf(x / y), floor_divide(x, y))
PAIR(maximum, float, int32_t, int64_t, x > y ? x : y, x > y ? x : y)
PAIR(pow, float, int32_t, int64_t, float_power(x, y), power(x, y))
PAIR(equal, uint8_t, uint8_t, uint8_t, x == y, x == y)
PAIR(greater, uint8_t, uint8_t, uint8_t, x > y, x > y)

/* ---- one input, or several of one shape ------------------------------------------------------ */

/* A part of the numbers, as a piece of the team's work. */
typedef struct span_work {
    const op_call *c;
    void (*run)(const op_call *c, size_t from, size_t to);
    size_t count;
} span_work;

static void run_piece(void *work, size_t i) {
    const span_work *w = work;
    size_t from = i * PIECE, to = from + PIECE;
    w->run(w->c, from, to < w->count ? to : w->count);
}

static sb_status run_spans(const op_call *c, void (*run)(const op_call *, size_t, size_t)) {
    span_work work = {c, run, c->op->outs[0].count};
    sb_team_run(c->team, (work.count + PIECE - 1) / PIECE, run_piece, &work);
    return SB_OK;
}

/* run_NAME of floats: x and, when there is a second input, y. */
#define FLOATS(NAME, expr)                                                                         \
    static void span_##NAME(const op_call *c, size_t from, size_t to) {                            \
        const float *xs = c->in[0], *ys = c->op->input_count > 1 ? c->in[1] : c->in[0];            \
        float *zs = c->out[0];                                                                     \
        for (size_t i = from; i < to; i++) {                                                       \
            float x = xs[i], y = ys[i];                                                            \
            (void)y;                                                                               \
            zs[i] = (expr);                                                                        \
        }                                                                                          \
    }                                                                                              \
    sb_status sb_run_##NAME(const op_call *c, sb_err *err) {                                       \
        if (input_of(c->op, 0)->dtype != SB_FLOAT)                                                 \
            return sb_fail(err, SB_INVALID, 0, "%s: %s is for float32", c->op->name,               \
                           c->op->kind->type);                                                     \
        return run_spans(c, span_##NAME);                                                          \
    }

FLOATS(neg, -x)
FLOATS(square, x *x)
FLOATS(log, logf(x))
FLOATS(floor, floorf(x))
FLOATS(relu, x > 0 ? x : 0)
FLOATS(relu_grad, y > 0 ? x : 0) /* gradient, then the output of Relu */
FLOATS(sigmoid, 1 / (1 + expf(-x)))
FLOATS(sigmoid_grad, y *(x *(1 - x))) /* the output of Sigmoid, then the gradient */
FLOATS(tanh, tanhf(x))
FLOATS(tanh_grad, y *(1 - x * x))

sb_status sb_run_select(const op_call *c, sb_err *err) {
    const uint8_t *which = c->in[0];
    size_t size = sb_dtype_size(c->op->outs[0].dtype);
    (void)err;
    for (size_t i = 0; i < c->op->outs[0].count; i++)
        memcpy((uint8_t *)c->out[0] + i * size, (const uint8_t *)c->in[which[i] ? 1 : 2] + i * size,
               size);
    return SB_OK;
}

sb_status sb_run_add_n(const op_call *c, sb_err *err) {
    float *sum = c->out[0];
    size_t n = c->op->outs[0].count;
    (void)err;
    memcpy(sum, c->in[0], n * sizeof *sum);
    for (uint32_t k = 1; k < c->op->input_count; k++) {
        const float *x = c->in[k];
        for (size_t i = 0; i < n; i++) sum[i] += x[i];
    }
    return SB_OK;
}

/* ---- casts ----------------------------------------------------------------------------------- */

static double number_at(sb_dtype dtype, const void *p, size_t i) {
    switch (dtype) {
    case SB_FLOAT:
        return (double)((const float *)p)[i];
    case SB_INT32:
        return ((const int32_t *)p)[i];
    case SB_INT64:
        return (double)((const int64_t *)p)[i];
    default:
        return ((const uint8_t *)p)[i];
    }
}

/* Integers to integers keep their low bits; floats are cut, and what no integer can hold is 0. */
static int64_t integer_at(sb_dtype dtype, const void *p, size_t i) {
    if (dtype == SB_INT64) return ((const int64_t *)p)[i];
    double x = number_at(dtype, p, i);
    return x > -9.2e18 && x < 9.2e18 ? (int64_t)x : 0;
}

sb_status sb_run_cast(const op_call *c, sb_err *err) {
    sb_dtype from = input_of(c->op, 0)->dtype, to = c->op->outs[0].dtype;
    size_t n = c->op->outs[0].count;
    void *out = c->out[0];
    (void)err;
    for (size_t i = 0; i < n; i++) {
        if (to == SB_FLOAT)
            ((float *)out)[i] = (float)number_at(from, c->in[0], i);
        else if (to == SB_BOOL)
            ((uint8_t *)out)[i] = number_at(from, c->in[0], i) != 0;
        else if (to == SB_INT32)
            ((int32_t *)out)[i] = (int32_t)(uint32_t)(uint64_t)integer_at(from, c->in[0], i);
        else if (to == SB_INT64)
            ((int64_t *)out)[i] = integer_at(from, c->in[0], i);
        else
            ((uint8_t *)out)[i] = (uint8_t)(uint64_t)integer_at(from, c->in[0], i);
    }
    return SB_OK;
}
