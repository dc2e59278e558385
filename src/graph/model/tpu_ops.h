/* tpu_ops.h: which TensorFlow operations XLA compiles, so that a TPU can run them. */
#ifndef SB_GRAPH_TPU_OPS_H
#define SB_GRAPH_TPU_OPS_H

#include <stdbool.h>

#include "seaboard/types.h"

/* Returns true when XLA can compile the operation. Also returns true for operations that need no
 * device (arguments, results, constants), and for those that cannot be judged: operations of torch
 * (names with "::", or "IO Node") and nodes without an operation type. Callers do not ask for
 * graphs of ONNX and Keras, which have no producer version. */
bool sb_tpu_runs(sb_slice op);

#endif
