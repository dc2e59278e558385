/* build.h: builders that gradients and optimizers share with the public ones. */
#ifndef SB_TRAIN_BUILD_H
#define SB_TRAIN_BUILD_H

#include "train/ops.h"

sb_op *sb_net_reduce(sb_net *g, op_id kind, sb_op *x, sb_op *axes, bool keep_dims,
                     const char *name);
/* A constant with all axes of x. */
sb_op *sb_net_axes(sb_net *g, const sb_op *x, const char *name);
sb_op *sb_net_reshape_to(sb_net *g, sb_op *x, const sb_dims *dims, const char *name);
/* A variable of zeros named OWNER/NAME, for an optimizer. */
sb_op *sb_net_slot(sb_net *g, const var_ops *owner, const char *name);

#endif
