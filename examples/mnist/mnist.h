/* mnist.h: the network of the tutorial: two hidden layers and a linear one, in four functions. */
#ifndef MNIST_H
#define MNIST_H

#include "seaboard/seaboard.h"

enum { NUM_CLASSES = 10, IMAGE_SIZE = 28, IMAGE_PIXELS = IMAGE_SIZE * IMAGE_SIZE };

/* Logits [batch, NUM_CLASSES] of images [batch, IMAGE_PIXELS]. */
sb_op *mnist_inference(sb_net *g, sb_op *images, int64_t hidden1_units, int64_t hidden2_units);
/* The mean cross entropy of a batch. labels: int32 [batch]. */
sb_op *mnist_loss(sb_net *g, sb_op *logits, sb_op *labels);
/* One step of gradient descent, with a summary of the loss. */
sb_op *mnist_training(sb_net *g, sb_op *loss, double learning_rate, sb_op **global_step);
/* How many of a batch are predicted right: int32. */
sb_op *mnist_evaluation(sb_net *g, sb_op *logits, sb_op *labels);

#endif
