/* grad_math.c: gradients of arithmetic, reductions and shapes. */
#include "train/build/build.h"
#include "base/banned.h"

bool sb_grad_identity(sb_op *op, const port *dy, port *dx) {
    (void)op;
    dx[0] = dy[0];
    return true;
}

/* ---- broadcasts ------------------------------------------------------------------------------ */

/* The shapes of both inputs, and the axes over which their gradients are summed. */
typedef struct broadcast {
    sb_op *x_shape, *y_shape, *args;
} broadcast;

static sb_op *shape_of(sb_net *g, port p, const char *name) {
    const sb_dims *dims = &out_of(p)->dims;
    return sb_net_const_ints(g, dims->at, dims->rank, name);
}

static broadcast broadcast_of(sb_op *op) {
    sb_net *g = op->net;
    broadcast b;
    b.x_shape = shape_of(g, op->inputs[0], "Shape");
    b.y_shape = shape_of(g, op->inputs[1], "Shape");
    b.args = sb_net_op2(g, OP_BROADCAST_ARGS, b.x_shape, b.y_shape, NULL);
    return b;
}

static sb_op *sum_axes(sb_net *g, sb_op *grad, sb_op *args, uint32_t slot) {
    const port inputs[] = {port_of(grad), {args, slot}};
    const attr keep = {.name = "keep_dims", .type = ATTR_BOOL};
    if (!grad || !args) return NULL;
    return sb_net_add_op(g, OP_SPEC_ATTRS(OP_SUM, NULL, inputs, 2, &keep, 1));
}

/* A gradient of the whole result, made into one of the first or the second input. */
static port reduce_to_x(sb_net *g, const broadcast *b, sb_op *grad) {
    return port_of(sb_net_op2(g, OP_RESHAPE, sum_axes(g, grad, b->args, 0), b->x_shape, NULL));
}

static port reduce_to_y(sb_net *g, const broadcast *b, sb_op *grad) {
    return port_of(sb_net_op2(g, OP_RESHAPE, sum_axes(g, grad, b->args, 1), b->y_shape, NULL));
}

bool sb_grad_add(sb_op *op, const port *dy, port *dx) {
    broadcast b = broadcast_of(op);
    dx[0] = reduce_to_x(op->net, &b, dy[0].op);
    dx[1] = reduce_to_y(op->net, &b, dy[0].op);
    return true;
}

bool sb_grad_sub(sb_op *op, const port *dy, port *dx) {
    sb_net *g = op->net;
    broadcast b = broadcast_of(op);
    dx[0] = reduce_to_x(g, &b, dy[0].op);
    sb_op *negative = sb_net_op1(g, OP_NEG, sum_axes(g, dy[0].op, b.args, 1), NULL);
    dx[1] = port_of(sb_net_op2(g, OP_RESHAPE, negative, b.y_shape, NULL));
    return true;
}

/* The ops that an op's inputs are; a second output cannot be an input of arithmetic. */
#define X(op) ((op)->inputs[0].op)
#define Y(op) ((op)->inputs[1].op)

bool sb_grad_mul(sb_op *op, const port *dy, port *dx) {
    sb_net *g = op->net;
    broadcast b = broadcast_of(op);
    dx[0] = reduce_to_x(g, &b, sb_net_op2(g, OP_MUL, dy[0].op, Y(op), "mul"));
    dx[1] = reduce_to_y(g, &b, sb_net_op2(g, OP_MUL, X(op), dy[0].op, "mul"));
    return true;
}

bool sb_grad_div(sb_op *op, const port *dy, port *dx) {
    sb_net *g = op->net;
    broadcast b = broadcast_of(op);
    dx[0] = reduce_to_x(g, &b, sb_net_op2(g, OP_REAL_DIV, dy[0].op, Y(op), NULL));
    sb_op *ratio = sb_net_op2(g, OP_REAL_DIV, sb_net_op1(g, OP_NEG, X(op), NULL), Y(op), NULL);
    ratio = sb_net_op2(g, OP_REAL_DIV, ratio, Y(op), NULL);
    dx[1] = reduce_to_y(g, &b, sb_net_op2(g, OP_MUL, dy[0].op, ratio, "mul"));
    return true;
}

/* x^y: y x^(y-1), and x^y log x where x > 0. */
bool sb_grad_pow(sb_op *op, const port *dy, port *dx) {
    sb_net *g = op->net;
    broadcast b = broadcast_of(op);
    sb_op *product = sb_net_op2(g, OP_MUL, dy[0].op, Y(op), "mul");
    sb_op *less = sb_net_op2(g, OP_SUB, Y(op), sb_net_const_float(g, 1, "sub/y"), "sub");
    sb_op *power = sb_net_op2(g, OP_POW, X(op), less, NULL);
    dx[0] = reduce_to_x(g, &b, sb_net_op2(g, OP_MUL, product, power, "mul"));
    sb_op *zero = sb_net_const_float(g, 0, "Greater/y");
    sb_op *is_positive = sb_net_op2(g, OP_GREATER, X(op), zero, NULL);
    sb_op *log = sb_net_op1(g, OP_LOG, X(op), NULL);
    sb_op *zeros = sb_net_op1(g, OP_ZEROS_LIKE, X(op), "zeros_like");
    sb_op *safe = sb_net_op3(g, OP_SELECT, is_positive, log, zeros, NULL);
    sb_op *grown = sb_net_op2(g, OP_MUL, dy[0].op, op, "mul");
    dx[1] = reduce_to_y(g, &b, sb_net_op2(g, OP_MUL, grown, safe, "mul"));
    return true;
}

bool sb_grad_neg(sb_op *op, const port *dy, port *dx) {
    dx[0] = port_of(sb_net_op1(op->net, OP_NEG, dy[0].op, NULL));
    return true;
}

bool sb_grad_square(sb_op *op, const port *dy, port *dx) {
    sb_net *g = op->net;
    sb_op *two = sb_net_const_float(g, 2, "mul/x");
    sb_op *twice = sb_net_op2(g, OP_MUL, two, X(op), "mul");
    dx[0] = port_of(sb_net_op2(g, OP_MUL, dy[0].op, twice, "mul"));
    return true;
}

bool sb_grad_log(sb_op *op, const port *dy, port *dx) {
    dx[0] = port_of(sb_net_op2(op->net, OP_REAL_DIV, dy[0].op, X(op), NULL));
    return true;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

bool sb_grad_reshape(sb_op *op, const port *dy, port *dx) {
    sb_op *shape = shape_of(op->net, op->inputs[0], "Shape");
    dx[0] = port_of(sb_net_op2(op->net, OP_RESHAPE, dy[0].op, shape, NULL));
    return true;
}

/* Zeros around the gradient. */
bool sb_grad_slice(sb_op *op, const port *dy, port *dx) {
    sb_net *g = op->net;
    int64_t begin[SB_NET_MAX_RANK];
    int32_t pads[2 * SB_NET_MAX_RANK];
    const sb_dims *from = &input_of(op, 0)->dims;
    size_t n;
    sb_known_ints(op->inputs[1], begin, SB_NET_MAX_RANK, &n);
    for (uint32_t i = 0; i < from->rank; i++) {
        pads[2 * i] = (int32_t)begin[i];
        pads[2 * i + 1] = (int32_t)(from->at[i] - begin[i] - op->outs[0].dims.at[i]);
    }
    sb_op *paddings = sb_net_const(g, SB_INT32, &SB_DIMS(from->rank, 2), pads, "concat");
    dx[0] = port_of(sb_net_op2(g, OP_PAD, dy[0].op, paddings, NULL));
    return true;
}

bool sb_grad_cast(sb_op *op, const port *dy, port *dx) {
    if (input_of(op, 0)->dtype != SB_FLOAT) return true; /* nothing flows through integers */
    dx[0] = port_of(sb_net_cast(op->net, dy[0].op, SB_FLOAT, NULL));
    return true;
}

/* ---- reductions ------------------------------------------------------------------------------ */

/* Every summed number has the gradient of its sum. */
static sb_op *spread(sb_op *op, sb_op *dy) {
    sb_net *g = op->net;
    const sb_dims *from = &input_of(op, 0)->dims;
    int64_t axes[SB_NET_MAX_RANK];
    sb_dims kept = *from, times = {.rank = from->rank};
    size_t n = 0;
    sb_known_ints(op->inputs[1], axes, SB_NET_MAX_RANK, &n);
    for (uint32_t i = 0; i < from->rank; i++) times.at[i] = 1;
    for (size_t i = 0; i < n; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + from->rank : axes[i];
        kept.at[axis] = 1;
        times.at[axis] = from->at[axis];
    }
    sb_op *shaped = dy ? sb_net_reshape_to(g, dy, &kept, NULL) : NULL;
    const char *scope = sb_net_scope(g, "Tile");
    sb_op *multiples = sb_net_const_ints(g, times.at, times.rank, "multiples");
    sb_op *tile = sb_net_op2(g, OP_TILE, shaped, multiples, scope);
    sb_net_scope_end(g);
    return tile;
}

bool sb_grad_sum(sb_op *op, const port *dy, port *dx) {
    dx[0] = port_of(spread(op, dy[0].op));
    return true;
}

/* How many numbers each mean is of: small integer arithmetic, as TensorFlow writes it. */
bool sb_grad_mean(sb_op *op, const port *dy, port *dx) {
    sb_net *g = op->net;
    sb_op *sum = spread(op, dy[0].op);
    sb_op *in_shape = shape_of(g, op->inputs[0], "Shape");
    sb_op *out_shape = shape_of(g, port_of(op), "Shape");
    sb_net_colocate_begin(g, in_shape);
    sb_op *in_count = sb_net_reduce(
        g, OP_PROD, in_shape, in_shape ? sb_net_axes(g, in_shape, "Const") : NULL, false, NULL);
    sb_op *out_count = sb_net_reduce(
        g, OP_PROD, out_shape, out_shape ? sb_net_axes(g, out_shape, "Const") : NULL, false, NULL);
    const char *scope = sb_net_scope(g, "Maximum");
    sb_op *one = sb_net_const_int(g, 1, "y");
    sb_op *divisor = sb_net_op2(g, OP_MAXIMUM, out_count, one, scope);
    sb_net_scope_end(g);
    sb_op *factor = sb_net_op2(g, OP_FLOOR_DIV, in_count, divisor, "floordiv");
    sb_net_colocate_end(g);
    sb_op *count = sb_net_cast(g, factor, SB_FLOAT, NULL);
    dx[0] = port_of(sb_net_op2(g, OP_REAL_DIV, sum, count, "truediv"));
    return true;
}
