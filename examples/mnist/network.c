/* network.c: builds the network. */
#include "network.h"

static sb_op *weights(sb_net *g, sb_dims dims, double stddev) {
    sb_op *w =
        sb_net_variable(g, sb_net_truncated_normal(g, dims, 0, stddev, NULL), true, "weights");
    sb_net_histogram_summary(g, "histogram", w);
    return w;
}

static sb_op *biases(sb_net *g, int64_t n) {
    return sb_net_variable(g, sb_net_zeros(g, SB_DIMS(n), NULL), true, "biases");
}

static sb_op *convolution(sb_net *g, const char *name, sb_op *x, int64_t in, int64_t out,
                          sb_op **filters) {
    sb_net_scope_begin(g, name);
    *filters = weights(g, SB_DIMS(5, 5, in, out), 0.1);
    sb_op *y = sb_net_conv2d(g, x, *filters, 1, 1, SB_PADDING_SAME, NULL);
    y = sb_net_relu(g, sb_net_bias_add(g, y, biases(g, out), NULL), NULL);
    y = sb_net_max_pool(g, y, 2, 2, 2, 2, SB_PADDING_SAME, NULL);
    sb_net_scope_end(g);
    return y;
}

static sb_op *dense(sb_net *g, const char *name, sb_op *x, int64_t in, int64_t out, sb_op **w) {
    sb_net_scope_begin(g, name);
    *w = weights(g, SB_DIMS(in, out), 0.05);
    sb_op *y =
        sb_net_bias_add(g, sb_net_matmul(g, x, *w, false, false, NULL), biases(g, out), NULL);
    sb_net_scope_end(g);
    return y;
}

bool network_build(network *n, const sb_optimizer *optimizer, sb_err *err) {
    if (sb_net_new(&n->g, err) != SB_OK) return false;
    sb_net *g = n->g;
    n->images = sb_net_placeholder(g, SB_FLOAT, SB_DIMS(BATCH, 784), "images");
    n->labels = sb_net_placeholder(g, SB_INT32, SB_DIMS(BATCH), "labels");
    n->keep_prob = sb_net_placeholder(g, SB_FLOAT, SB_SCALAR_DIMS, "keep_prob");
    sb_op *x = sb_net_reshape(g, n->images, SB_DIMS(BATCH, 28, 28, 1), NULL);
    x = convolution(g, "conv1", x, 1, FILTERS1, &n->filters1);
    x = convolution(g, "conv2", x, FILTERS1, FILTERS2, &n->filters2);
    x = sb_net_reshape(g, x, SB_DIMS(BATCH, 7 * 7 * FILTERS2), NULL);
    n->features =
        sb_net_relu(g, dense(g, "features", x, 7 * 7 * FILTERS2, FEATURES, &n->weights1), NULL);
    x = sb_net_dropout(g, n->features, n->keep_prob, NULL);
    n->logits = dense(g, "logits", x, FEATURES, 10, &n->weights2);
    n->probabilities = sb_net_softmax(g, n->logits, NULL);
    n->predictions = sb_net_argmax(g, n->logits, 1, NULL);
    sb_op *losses = sb_net_sparse_softmax_cross_entropy(g, n->labels, n->logits, "xentropy");
    n->loss = sb_net_mean(g, losses, SB_ALL_AXES, false, "loss");
    sb_op *correct = sb_net_in_top_k(g, n->logits, n->labels, 1, NULL);
    n->accuracy =
        sb_net_mean(g, sb_net_cast(g, correct, SB_FLOAT, NULL), SB_ALL_AXES, false, "accuracy");
    n->summary = sb_net_merge_all(g);
    n->train = sb_net_minimize(g, optimizer, n->loss, sb_net_global_step(g));
    n->init = sb_net_initializer(g, NULL);
    return sb_net_check(g, err) == SB_OK;
}
