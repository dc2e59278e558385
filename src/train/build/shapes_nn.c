/* shapes_nn.c: shape rules of layers and losses. */
#include <stdio.h>

#include "codec/tensor.h"
#include "train/conv.h"
#include "train/ops.h"
#include "base/banned.h"

#define REFUSE(op, ...) (sb_net_fail((op)->net, SB_INVALID, __VA_ARGS__), false)

static bool set_outs(sb_op *op, uint32_t n, const sb_dims *first, const sb_dims *second) {
    op->outs = sb_arena_zeroed(&op->net->arena, n, sizeof *op->outs);
    if (!op->outs) return false;
    op->outs[0] = (op_out){.dtype = SB_FLOAT, .dims = *first};
    if (n > 1) op->outs[1] = (op_out){.dtype = SB_FLOAT, .dims = *second};
    op->out_count = n;
    return true;
}

static bool expect_floats(sb_op *op, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++)
        if (input_of(op, i)->dtype != SB_FLOAT)
            return REFUSE(op, "%s: input %u, %s, is %s; %s needs float32", op->name, i,
                          op->inputs[i].op->name, sb_dtype_name(input_of(op, i)->dtype),
                          op->kind->type);
    return true;
}

static bool expect_rank(sb_op *op, uint32_t i, uint32_t rank) {
    if (input_of(op, i)->dims.rank == rank) return true;
    return REFUSE(op, "%s: %s must have %u dimensions for %s", op->name,
                  sb_show_port(op->inputs[i]).text, rank, op->kind->type);
}

static bool refuse_shapes(sb_op *op, uint32_t i, uint32_t k, const char *reason) {
    return REFUSE(op, "%s: the shapes of %s and %s do not fit: %s", op->name,
                  sb_show_port(op->inputs[i]).text, sb_show_port(op->inputs[k]).text, reason);
}

bool sb_infer_matmul(sb_op *op, const op_spec *spec) {
    (void)spec;
    if (!expect_floats(op, 0, 2) || !expect_rank(op, 0, 2) || !expect_rank(op, 1, 2)) return false;
    const int64_t *a = input_of(op, 0)->dims.at, *b = input_of(op, 1)->dims.at;
    int64_t ta = sb_op_int(op, "transpose_a"), tb = sb_op_int(op, "transpose_b");
    if (a[ta ? 0 : 1] != b[tb ? 1 : 0]) {
        char reason[96];
        snprintf(reason, sizeof reason, "the inner dimensions %lld and %lld differ",
                 (long long)a[ta ? 0 : 1], (long long)b[tb ? 1 : 0]);
        return refuse_shapes(op, 0, 1, reason);
    }
    return set_outs(op, 1, &SB_DIMS(a[ta ? 1 : 0], b[tb ? 0 : 1]), NULL);
}

bool sb_infer_bias_add(sb_op *op, const op_spec *spec) {
    (void)spec;
    if (!expect_floats(op, 0, 2) || !expect_rank(op, 1, 1)) return false;
    const sb_dims *x = &input_of(op, 0)->dims;
    if (x->rank < 2 || x->at[x->rank - 1] != input_of(op, 1)->dims.at[0])
        return refuse_shapes(op, 0, 1, "the bias is as long as the last dimension");
    return set_outs(op, 1, x, NULL);
}

bool sb_infer_bias_add_grad(sb_op *op, const op_spec *spec) {
    const sb_dims *x = &input_of(op, 0)->dims;
    (void)spec;
    if (!expect_floats(op, 0, 1)) return false;
    if (x->rank < 1) return expect_rank(op, 0, 2);
    return set_outs(op, 1, &SB_DIMS(x->at[x->rank - 1]), NULL);
}

/* ---- pictures -------------------------------------------------------------------------------- */

bool sb_infer_conv2d(sb_op *op, const op_spec *spec) {
    conv_form f;
    (void)spec;
    if (!expect_floats(op, 0, 2) || !expect_rank(op, 0, 4) || !expect_rank(op, 1, 4)) return false;
    if (input_of(op, 0)->dims.at[3] != input_of(op, 1)->dims.at[2])
        return refuse_shapes(op, 0, 1, "the channels differ");
    if (!sb_conv_form_of(&f, op, &input_of(op, 0)->dims, &input_of(op, 1)->dims))
        return refuse_shapes(op, 0, 1, "the window is larger than the picture, or a stride is 0");
    return set_outs(op, 1, &SB_DIMS(f.images, f.out_height, f.out_width, f.outputs), NULL);
}

/* Conv2DBackpropInput(sizes of the input, filter, gradient) and ...Filter(input, sizes of the
 * filter, gradient). */
static bool infer_backprop(sb_op *op, uint32_t sizes) {
    sb_dims dims = {.rank = 4};
    conv_form f;
    size_t n;
    if (!sb_known_ints(op->inputs[sizes], dims.at, 4, &n) || n != 4)
        return REFUSE(op, "%s: %s must be a constant of 4 integers", op->name,
                      op->inputs[sizes].op->name);
    uint32_t other = sizes ? 0 : 1;
    if (!expect_rank(op, other, 4) || !expect_rank(op, 2, 4)) return false;
    const sb_dims *known = &input_of(op, other)->dims;
    if (!sb_conv_form_of(&f, op, sizes ? known : &dims, sizes ? &dims : known) ||
        !sb_dims_equal(&input_of(op, 2)->dims,
                       &SB_DIMS(f.images, f.out_height, f.out_width, f.outputs)))
        return refuse_shapes(op, other, 2, "they are not of the same convolution");
    return set_outs(op, 1, &dims, NULL);
}

bool sb_infer_conv2d_input(sb_op *op, const op_spec *spec) {
    (void)spec;
    return expect_floats(op, 1, 3) && infer_backprop(op, 0);
}

bool sb_infer_conv2d_filter(sb_op *op, const op_spec *spec) {
    (void)spec;
    return expect_floats(op, 0, 1) && expect_floats(op, 2, 3) && infer_backprop(op, 1);
}

bool sb_infer_max_pool(sb_op *op, const op_spec *spec) {
    conv_form f;
    (void)spec;
    if (!expect_floats(op, 0, 1) || !expect_rank(op, 0, 4)) return false;
    if (!sb_conv_form_of(&f, op, &input_of(op, 0)->dims, NULL))
        return REFUSE(op, "%s: the window or its stride does not fit %s", op->name,
                      sb_show_port(op->inputs[0]).text);
    return set_outs(op, 1, &SB_DIMS(f.images, f.out_height, f.out_width, f.channels), NULL);
}

bool sb_infer_max_pool_grad(sb_op *op, const op_spec *spec) {
    (void)spec;
    if (!expect_floats(op, 0, 3)) return false;
    if (!sb_dims_equal(&input_of(op, 1)->dims, &input_of(op, 2)->dims))
        return refuse_shapes(op, 1, 2, "they must be equal");
    return set_outs(op, 1, &input_of(op, 0)->dims, NULL);
}

/* ---- losses ---------------------------------------------------------------------------------- */

bool sb_infer_softmax(sb_op *op, const op_spec *spec) {
    (void)spec;
    if (!expect_floats(op, 0, 1)) return false;
    if (input_of(op, 0)->dims.rank < 1) return expect_rank(op, 0, 2);
    return set_outs(op, 1, &input_of(op, 0)->dims, NULL);
}

static bool expect_classes(sb_op *op, uint32_t i) {
    sb_dtype dtype = input_of(op, i)->dtype;
    if (dtype == SB_INT32 || dtype == SB_INT64) return true;
    return REFUSE(op, "%s: %s is %s; classes are int32 or int64", op->name, op->inputs[i].op->name,
                  sb_dtype_name(dtype));
}

bool sb_infer_sparse_xent(sb_op *op, const op_spec *spec) {
    (void)spec;
    if (!expect_floats(op, 0, 1) || !expect_classes(op, 1) || !expect_rank(op, 0, 2) ||
        !expect_rank(op, 1, 1))
        return false;
    const sb_dims *logits = &input_of(op, 0)->dims, *labels = &input_of(op, 1)->dims;
    if (logits->at[0] != labels->at[0]) return refuse_shapes(op, 0, 1, "one label for each row");
    return set_outs(op, 2, labels, logits);
}

bool sb_infer_xent(sb_op *op, const op_spec *spec) {
    (void)spec;
    if (!expect_floats(op, 0, 2) || !expect_rank(op, 0, 2)) return false;
    const sb_dims *logits = &input_of(op, 0)->dims;
    if (!sb_dims_equal(logits, &input_of(op, 1)->dims))
        return refuse_shapes(op, 0, 1, "they must be equal");
    return set_outs(op, 2, &SB_DIMS(logits->at[0]), logits);
}

bool sb_infer_in_top_k(sb_op *op, const op_spec *spec) {
    (void)spec;
    if (!expect_floats(op, 0, 1) || !expect_classes(op, 1) || !expect_rank(op, 0, 2) ||
        !expect_rank(op, 1, 1))
        return false;
    if (input_of(op, 0)->dims.at[0] != input_of(op, 1)->dims.at[0])
        return refuse_shapes(op, 0, 1, "one target for each row");
    if (!set_outs(op, 1, &input_of(op, 1)->dims, NULL)) return false;
    op->outs[0].dtype = SB_BOOL;
    return true;
}
