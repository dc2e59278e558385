/* fold.c: constants are computed once. Large ones are left to the session: a graph does not hold
 * what a run can make. */
#include "train/build/fold.h"

#include "codec/tensor.h"
#include "train/ops.h"
#include "base/banned.h"

#define MOST_ELEMENTS 4096
#define MOST_PORTS 16

static bool is_foldable(const sb_op *op) {
    if (op->kind->flags & (OP_STATE | OP_RANDOM) || op->kind->scratch) return false;
    if (op->input_count == 0 || op->input_count > MOST_PORTS || op->out_count == 0) return false;
    for (uint32_t i = 0; i < op->input_count; i++)
        if (!input_of(op, i)->value || input_of(op, i)->dtype == SB_STRING) return false;
    for (uint32_t i = 0; i < op->out_count; i++)
        if (op->outs[i].count > MOST_ELEMENTS || op->outs[i].dtype == SB_STRING) return false;
    return true;
}

bool sb_op_is_alias(const sb_op *op) {
    if (op->kind->flags & (OP_ALIAS | OP_REF)) return true;
    bool is_sum = is_kind(op, OP_SUM) || is_kind(op, OP_MEAN) || is_kind(op, OP_PROD);
    return is_sum && op->outs[0].count == input_of(op, 0)->count;
}

bool sb_fold_op(sb_op *op) {
    void *in[MOST_PORTS], *out[MOST_PORTS];
    if (!is_foldable(op)) return true;
    for (uint32_t i = 0; i < op->input_count; i++)
        in[i] = (void *)(uintptr_t)input_of(op, i)->value;
    for (uint32_t i = 0; i < op->out_count; i++) {
        size_t bytes = op->outs[i].count * sb_dtype_size(op->outs[i].dtype);
        out[i] = i == 0 && sb_op_is_alias(op) ? in[0] : sb_arena_get(&op->net->arena, bytes);
        if (!out[i]) return false;
    }
    if (!sb_op_is_alias(op)) {
        op_call call = {.op = op, .in = in, .out = out};
        if (op->kind->run(&call, NULL) != SB_OK) return true; /* the session will say why */
    }
    for (uint32_t i = 0; i < op->out_count; i++) op->outs[i].value = out[i];
    return true;
}
