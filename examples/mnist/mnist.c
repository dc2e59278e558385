/* mnist.c: builds the network. */
#include "mnist.h"

#include <math.h>

/* weights and biases in a scope of their own, so that the graph shows one box a layer */
static sb_op *layer(sb_net *g, const char *name, sb_op *x, int64_t inputs, int64_t units,
                    bool is_hidden) {
    sb_net_scope_begin(g, name);
    sb_op *weights = sb_net_variable(
        g, sb_net_truncated_normal(g, SB_DIMS(inputs, units), 0, 1 / sqrt((double)inputs), NULL),
        true, "weights");
    sb_op *biases = sb_net_variable(g, sb_net_zeros(g, SB_DIMS(units), NULL), true, "biases");
    sb_op *y = sb_net_add(g, sb_net_matmul(g, x, weights, false, false, NULL), biases, NULL);
    if (is_hidden) y = sb_net_relu(g, y, NULL);
    sb_net_scope_end(g);
    return y;
}

sb_op *mnist_inference(sb_net *g, sb_op *images, int64_t hidden1_units, int64_t hidden2_units) {
    sb_op *hidden1 = layer(g, "hidden1", images, IMAGE_PIXELS, hidden1_units, true);
    sb_op *hidden2 = layer(g, "hidden2", hidden1, hidden1_units, hidden2_units, true);
    return layer(g, "softmax_linear", hidden2, hidden2_units, NUM_CLASSES, false);
}

sb_op *mnist_loss(sb_net *g, sb_op *logits, sb_op *labels) {
    sb_op *wide = sb_net_cast(g, labels, SB_INT64, "ToInt64");
    sb_op *losses = sb_net_sparse_softmax_cross_entropy(g, wide, logits, "xentropy");
    return sb_net_mean(g, losses, SB_ALL_AXES, false, "xentropy_mean");
}

sb_op *mnist_training(sb_net *g, sb_op *loss, double learning_rate, sb_op **global_step) {
    sb_net_scalar_summary(g, "loss", loss);
    *global_step = sb_net_global_step(g);
    return sb_net_minimize(g, &SB_INIT(sb_optimizer, .learning_rate = learning_rate), loss,
                           *global_step);
}

sb_op *mnist_evaluation(sb_net *g, sb_op *logits, sb_op *labels) {
    sb_op *correct = sb_net_in_top_k(g, logits, labels, 1, NULL);
    return sb_net_sum(g, sb_net_cast(g, correct, SB_INT32, NULL), SB_ALL_AXES, false, NULL);
}
