/* tpu_ops.h: which TensorFlow operations XLA compiles, so that a TPU can run them. */
#ifndef SB_GRAPH_TPU_OPS_H
#define SB_GRAPH_TPU_OPS_H

#include <stdbool.h>

#include "seaboard/types.h"

/* Operations of other frameworks (with "::" in their names, of ONNX, of Keras) are not judged and
 * answer true, as do those that need no device: arguments, results, constants. */
bool sb_tpu_runs(sb_slice op);

#endif
