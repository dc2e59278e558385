/* grad_nn.c: gradients of layers and losses. */
#include "train/build/build.h"
#include "base/banned.h"

#define X(op) ((op)->inputs[0].op)
#define Y(op) ((op)->inputs[1].op)

/* The four cases of transposed factors. */
bool sb_grad_matmul(sb_op *op, const port *dy, port *dx) {
    sb_net *g = op->net;
    bool ta = sb_op_int(op, "transpose_a") != 0, tb = sb_op_int(op, "transpose_b") != 0;
    sb_op *a = X(op), *b = Y(op), *d = dy[0].op;
    if (!ta && !tb) {
        dx[0] = port_of(sb_net_matmul(g, d, b, false, true, NULL));
        dx[1] = port_of(sb_net_matmul(g, a, d, true, false, NULL));
    } else if (!ta && tb) {
        dx[0] = port_of(sb_net_matmul(g, d, b, false, false, NULL));
        dx[1] = port_of(sb_net_matmul(g, d, a, true, false, NULL));
    } else if (ta && !tb) {
        dx[0] = port_of(sb_net_matmul(g, b, d, false, true, NULL));
        dx[1] = port_of(sb_net_matmul(g, a, d, false, false, NULL));
    } else {
        dx[0] = port_of(sb_net_matmul(g, b, d, true, true, NULL));
        dx[1] = port_of(sb_net_matmul(g, d, a, true, true, NULL));
    }
    return true;
}

bool sb_grad_bias_add(sb_op *op, const port *dy, port *dx) {
    dx[0] = dy[0];
    dx[1] = port_of(sb_net_op1(op->net, OP_BIAS_ADD_GRAD, dy[0].op, NULL));
    return true;
}

bool sb_grad_relu(sb_op *op, const port *dy, port *dx) {
    dx[0] = port_of(sb_net_op2(op->net, OP_RELU_GRAD, dy[0].op, op, NULL));
    return true;
}

bool sb_grad_sigmoid(sb_op *op, const port *dy, port *dx) {
    dx[0] = port_of(sb_net_op2(op->net, OP_SIGMOID_GRAD, op, dy[0].op, NULL));
    return true;
}

bool sb_grad_tanh(sb_op *op, const port *dy, port *dx) {
    dx[0] = port_of(sb_net_op2(op->net, OP_TANH_GRAD, op, dy[0].op, NULL));
    return true;
}

/* (dy - sum(dy * y)) * y, over the last dimension. */
bool sb_grad_softmax(sb_op *op, const port *dy, port *dx) {
    sb_net *g = op->net;
    sb_op *product = sb_net_op2(g, OP_MUL, dy[0].op, op, "mul");
    sb_op *sum = sb_net_sum(g, product, SB_AXES(op->outs[0].dims.rank - 1), true, NULL);
    sb_op *difference = sb_net_op2(g, OP_SUB, dy[0].op, sum, "sub");
    dx[0] = port_of(sb_net_op2(g, OP_MUL, difference, op, "mul"));
    return true;
}

/* ---- pictures -------------------------------------------------------------------------------- */

static sb_op *shape_of(sb_net *g, port p) {
    const sb_dims *dims = &out_of(p)->dims;
    return sb_net_const_ints(g, dims->at, dims->rank, "Shape");
}

bool sb_grad_conv2d(sb_op *op, const port *dy, port *dx) {
    sb_net *g = op->net;
    sb_op *x_shape = shape_of(g, op->inputs[0]), *filter_shape = shape_of(g, op->inputs[1]);
    const port for_x[] = {port_of(x_shape), op->inputs[1], dy[0]};
    const port for_filter[] = {op->inputs[0], port_of(filter_shape), dy[0]};
    if (!x_shape || !filter_shape) return false;
    dx[0] = port_of(sb_net_add_op(
        g, OP_SPEC_ATTRS(OP_CONV2D_INPUT, NULL, for_x, 3, op->attrs, op->attr_count)));
    dx[1] = port_of(sb_net_add_op(
        g, OP_SPEC_ATTRS(OP_CONV2D_FILTER, NULL, for_filter, 3, op->attrs, op->attr_count)));
    return true;
}

bool sb_grad_max_pool(sb_op *op, const port *dy, port *dx) {
    const port inputs[] = {op->inputs[0], port_of(op), dy[0]};
    dx[0] = port_of(sb_net_add_op(
        op->net, OP_SPEC_ATTRS(OP_MAX_POOL_GRAD, NULL, inputs, 3, op->attrs, op->attr_count)));
    return true;
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* A gradient for each row times a matrix. */
static sb_op *scale_rows(sb_net *g, sb_op *rows, sb_op *matrix) {
    const char *scope = sb_net_scope(g, "ExpandDims");
    sb_op *dim = sb_net_const_int(g, -1, "dim");
    sb_op *column = sb_net_op2(g, OP_EXPAND_DIMS, rows, dim, scope);
    sb_net_scope_end(g);
    return sb_net_op2(g, OP_MUL, column, matrix, "mul");
}

/* The forward op has computed softmax - labels as its second output. */
bool sb_grad_sparse_xent(sb_op *op, const port *dy, port *dx) {
    sb_net *g = op->net;
    const port backprop = {op, 1};
    const attr message = {.name = "message",
                          .type = ATTR_TEXT,
                          .text = SB_LIT("This loss can be differentiated once, not twice.")};
    sb_op *kept =
        sb_net_add_op(g, OP_SPEC_ATTRS(OP_PREVENT_GRADIENT, NULL, &backprop, 1, &message, 1));
    dx[0] = port_of(scale_rows(g, dy[0].op, kept));
    return true;
}

bool sb_grad_xent(sb_op *op, const port *dy, port *dx) {
    return sb_grad_sparse_xent(op, dy, dx);
}
