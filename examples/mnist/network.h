/* network.h: a small convolutional network for digits: two convolutions with pooling, a layer of
 * features, dropout, ten classes. */
#ifndef NETWORK_H
#define NETWORK_H

#include "seaboard/seaboard.h"

enum { BATCH = 50, FEATURES = 64, FILTERS1 = 8, FILTERS2 = 16 };

typedef struct network {
    sb_net *g;
    sb_op *images, *labels, *keep_prob; /* placeholders */
    sb_op *filters1, *filters2, *weights1, *weights2;
    sb_op *features, *logits, *probabilities, *predictions;
    sb_op *loss, *accuracy, *train, *init, *summary;
} network;

bool network_build(network *n, const sb_optimizer *optimizer, sb_err *err);

#endif
