/* build_nn.c: layers and losses. */
#include "train/build/build.h"
#include "base/banned.h"

sb_op *sb_net_bias_add(sb_net *g, sb_op *x, sb_op *bias, const char *name) {
    return sb_net_op2(g, OP_BIAS_ADD, x, bias, name);
}

sb_op *sb_net_relu(sb_net *g, sb_op *x, const char *name) {
    return sb_net_op1(g, OP_RELU, x, name);
}

sb_op *sb_net_sigmoid(sb_net *g, sb_op *x, const char *name) {
    return sb_net_op1(g, OP_SIGMOID, x, name);
}

sb_op *sb_net_tanh(sb_net *g, sb_op *x, const char *name) {
    return sb_net_op1(g, OP_TANH, x, name);
}

sb_op *sb_net_softmax(sb_net *g, sb_op *x, const char *name) {
    return sb_net_op1(g, OP_SOFTMAX, x, name);
}

static attr padding_attr(sb_padding padding) {
    return (attr){.name = "padding",
                  .type = ATTR_TEXT,
                  .text = padding == SB_PADDING_SAME ? SB_LIT("SAME") : SB_LIT("VALID")};
}

sb_op *sb_net_conv2d(sb_net *g, sb_op *x, sb_op *filter, int64_t stride_y, int64_t stride_x,
                     sb_padding padding, const char *name) {
    const int64_t strides[] = {1, stride_y, stride_x, 1};
    const attr attrs[] = {{.name = "strides", .type = ATTR_LIST, .list = strides, .count = 4},
                          padding_attr(padding)};
    const port inputs[] = {port_of(x), port_of(filter)};
    if (!x || !filter) return NULL;
    return sb_net_add_op(g, OP_SPEC_ATTRS(OP_CONV2D, name, inputs, 2, attrs, 2));
}

sb_op *sb_net_max_pool(sb_net *g, sb_op *x, int64_t height, int64_t width, int64_t stride_y,
                       int64_t stride_x, sb_padding padding, const char *name) {
    const int64_t strides[] = {1, stride_y, stride_x, 1}, ksize[] = {1, height, width, 1};
    const attr attrs[] = {{.name = "ksize", .type = ATTR_LIST, .list = ksize, .count = 4},
                          {.name = "strides", .type = ATTR_LIST, .list = strides, .count = 4},
                          padding_attr(padding)};
    const port inputs[] = {port_of(x)};
    if (!x) return NULL;
    return sb_net_add_op(g, OP_SPEC_ATTRS(OP_MAX_POOL, name, inputs, 1, attrs, 3));
}

/* floor(keep_prob + random) is 1 with the probability keep_prob. */
sb_op *sb_net_dropout(sb_net *g, sb_op *x, sb_op *keep_prob, const char *name) {
    if (!x || !keep_prob) return NULL;
    if (sb_op_dims(keep_prob)->rank != 0)
        return sb_net_fail(g, SB_INVALID, "%s: the probability %s must be a single number",
                           name ? name : "dropout", sb_show_port(port_of(keep_prob)).text);
    sb_net_scope(g, name ? name : "dropout");
    const sb_dims *dims = sb_op_dims(x);
    sb_op *shape = sb_net_const_ints(g, dims->at, dims->rank, "Shape");
    const char *scope = sb_net_scope(g, "random_uniform");
    sb_op *min = sb_net_const_float(g, 0, "min"), *max = sb_net_const_float(g, 1, "max");
    sb_op *made = sb_net_op1(g, OP_RANDOM_UNIFORM, shape, NULL);
    sb_op *range = sb_net_op2(g, OP_SUB, max, min, "sub");
    sb_op *scaled = sb_net_op2(g, OP_MUL, made, range, "mul");
    sb_op *random = sb_net_op2(g, OP_ADD, scaled, min, scope);
    sb_net_scope_end(g);
    sb_op *mask = sb_net_op1(g, OP_FLOOR, sb_net_op2(g, OP_ADD, keep_prob, random, "add"), "Floor");
    sb_op *kept = sb_net_op2(g, OP_REAL_DIV, x, keep_prob, "div");
    sb_op *op = sb_net_op2(g, OP_MUL, kept, mask, "mul");
    sb_net_scope_end(g);
    return op;
}

sb_op *sb_net_sparse_softmax_cross_entropy(sb_net *g, sb_op *labels, sb_op *logits,
                                           const char *name) {
    if (!labels || !logits) return NULL;
    sb_net_scope(g, name ? name : "SparseSoftmaxCrossEntropyWithLogits");
    const sb_dims *dims = sb_op_dims(labels);
    sb_net_const_ints(g, dims->at, dims->rank, "Shape"); /* TensorFlow makes it, nobody uses it */
    sb_op *op = sb_net_op2(g, OP_SPARSE_XENT, logits, labels, name);
    sb_net_scope_end(g);
    return op;
}

sb_op *sb_net_softmax_cross_entropy(sb_net *g, sb_op *labels, sb_op *logits, const char *name) {
    return sb_net_op2(g, OP_XENT, logits, labels, name);
}

sb_op *sb_net_in_top_k(sb_net *g, sb_op *predictions, sb_op *targets, int32_t k, const char *name) {
    if (!predictions || !targets) return NULL;
    sb_net_scope(g, name ? name : "in_top_k");
    const char *scope = sb_net_scope(g, "InTopKV2");
    sb_op *count = sb_net_const_int(g, k, "k");
    sb_op *op = sb_net_op3(g, OP_IN_TOP_K, predictions, targets, count, scope);
    sb_net_scope_end(g);
    sb_net_scope_end(g);
    return op;
}
