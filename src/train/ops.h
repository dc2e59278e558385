/* ops.h: the table of ops. ops.def has a row for each; here is what a row means.
 *
 * infer  sets types and shapes of the outputs, or fails with both ops and shapes in the message.
 * run    computes the outputs. All of its memory is there already.
 * grad   adds the ops that compute the gradients of the inputs; NULL: there are none.
 * attrs  the attributes of NodeDef that follow from types and shapes; export.c reads it:
 *          T=i0 type of input 0 | dtype=o0 type of output 0 | shape=@0 shape of output 0
 *          N=# number of inputs | x=true, x=false | x=7 | x='text' */
#ifndef SB_TRAIN_OPS_H
#define SB_TRAIN_OPS_H

#include "train/graph.h"
#include "train/team.h"

/* One op that is being run. */
typedef struct op_call {
    const sb_op *op;
    void *const *in; /* data of each input; variables may be written to */
    void *const *out;
    void *scratch;                  /* as many bytes as scratch() asked for, aligned to 64 */
    team *team;                     /* may be NULL: one thread */
    struct sb_net_session *session; /* NULL while folding */
} op_call;

typedef sb_status run_fn(const op_call *c, sb_err *err);
typedef bool infer_fn(sb_op *op, const op_spec *spec);
/* dy: a gradient for each output (op NULL: none). dx: one for each input, {NULL} beforehand. */
typedef bool grad_fn(sb_op *op, const port *dy, port *dx);
typedef size_t scratch_fn(const sb_op *op);

enum {
    OP_STATE = 1,  /* has an effect or a state: never folded, never left out */
    OP_RANDOM = 2, /* another value every time: never folded */
    OP_ALIAS = 4,  /* output 0 is input 0's memory */
    OP_REF = 8,    /* changes variable of input 0, and output 0 is that variable's memory */
};

struct op_kind {
    const char *type; /* TensorFlow's name of it */
    infer_fn *infer;
    run_fn *run;
    grad_fn *grad;
    scratch_fn *scratch; /* NULL: none */
    const char *attrs;
    uint32_t flags;
};

extern const op_kind sb_op_kinds[OP_KINDS];

static inline bool is_kind(const sb_op *op, op_id id) {
    return op->kind == &sb_op_kinds[id];
}
/* Does output 0 share the memory of input 0 (because of its kind, or since nothing is summed)? */
bool sb_op_is_alias(const sb_op *op);

/* shapes.c, shapes_nn.c */
infer_fn sb_infer_given, sb_infer_const, sb_infer_same, infer_same_bool, sb_infer_binary,
    sb_infer_compare, sb_infer_noop, sb_infer_assign, sb_infer_fill, sb_infer_tile,
    sb_infer_expand_dims, sb_infer_reshape, sb_infer_slice, sb_infer_pad, sb_infer_cast,
    sb_infer_argmax, sb_infer_select, sb_infer_add_n, sb_infer_reduce, sb_infer_broadcast_args,
    sb_infer_matmul, sb_infer_bias_add, sb_infer_bias_add_grad, sb_infer_conv2d,
    sb_infer_conv2d_input, sb_infer_conv2d_filter, sb_infer_max_pool, sb_infer_max_pool_grad,
    sb_infer_softmax, sb_infer_sparse_xent, sb_infer_xent, sb_infer_in_top_k, sb_infer_random,
    sb_infer_apply, sb_infer_grad_pair;
/* kernels/ */
run_fn sb_run_none, run_const, sb_run_assign, sb_run_assign_add, sb_run_identity, sb_run_fill,
    sb_run_zeros_like, sb_run_tile, sb_run_slice, sb_run_pad, sb_run_cast, sb_run_argmax,
    sb_run_add, sb_run_sub, sb_run_mul, sb_run_div, sb_run_floor_div, sb_run_maximum, sb_run_pow,
    sb_run_equal, sb_run_greater, sb_run_neg, sb_run_square, sb_run_log, sb_run_floor,
    sb_run_select, sb_run_add_n, sb_run_relu, sb_run_relu_grad, sb_run_sigmoid, sb_run_sigmoid_grad,
    sb_run_tanh, sb_run_tanh_grad, sb_run_softmax, sb_run_sum, sb_run_mean, sb_run_prod,
    sb_run_broadcast_args, sb_run_matmul, sb_run_bias_add, sb_run_bias_add_grad, sb_run_conv2d,
    sb_run_conv2d_input, sb_run_conv2d_filter, sb_run_max_pool, sb_run_max_pool_grad,
    sb_run_sparse_xent, sb_run_xent, sb_run_in_top_k, sb_run_truncated_normal, sb_run_random_normal,
    sb_run_random_uniform, sb_run_gradient_descent, sb_run_momentum, sb_run_adam;
scratch_fn sb_scratch_matmul, sb_scratch_conv2d, sb_scratch_conv2d_input, sb_scratch_conv2d_filter;
/* summaries.c, saver.c */
infer_fn sb_infer_summary, sb_infer_restore;
run_fn sb_run_scalar_summary, sb_run_histogram_summary, sb_run_image_summary, sb_run_audio_summary,
    sb_run_tensor_summary, sb_run_merge_summary, sb_run_save, sb_run_restore;
/* grad_math.c, grad_nn.c */
grad_fn sb_grad_identity, sb_grad_add, sb_grad_sub, sb_grad_mul, sb_grad_div, sb_grad_pow,
    sb_grad_neg, sb_grad_square, sb_grad_reshape, sb_grad_slice, sb_grad_cast, sb_grad_sum,
    sb_grad_mean, sb_grad_matmul, sb_grad_bias_add, sb_grad_relu, sb_grad_sigmoid, sb_grad_tanh,
    sb_grad_softmax, sb_grad_conv2d, sb_grad_max_pool, sb_grad_sparse_xent, sb_grad_xent,
    sb_grad_log;

#endif
