/* fold.h: computes ops while the graph is built, when all that they need is known. */
#ifndef SB_TRAIN_FOLD_H
#define SB_TRAIN_FOLD_H

#include "train/graph.h"

/* Sets the values of the op's outputs if they can be known; false when memory is out. */
bool sb_fold_op(sb_op *op);

#endif
