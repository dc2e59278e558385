/* build_math.c: arithmetic, reductions, and what only moves numbers. */
#include "train/build/build.h"
#include "base/banned.h"

sb_op *sb_net_add(sb_net *g, sb_op *x, sb_op *y, const char *name) {
    return sb_net_op2(g, OP_ADD, x, y, name ? name : "add");
}

sb_op *sb_net_sub(sb_net *g, sb_op *x, sb_op *y, const char *name) {
    return sb_net_op2(g, OP_SUB, x, y, name ? name : "sub");
}

sb_op *sb_net_mul(sb_net *g, sb_op *x, sb_op *y, const char *name) {
    return sb_net_op2(g, OP_MUL, x, y, name ? name : "mul");
}

sb_op *sb_net_div(sb_net *g, sb_op *x, sb_op *y, const char *name) {
    if (x && sb_op_dtype(x) != SB_FLOAT)
        return sb_net_fail(g, SB_INVALID, "%s: %s is no float32; cast it before dividing",
                           name ? name : "truediv", x->name);
    return sb_net_op2(g, OP_REAL_DIV, x, y, name ? name : "truediv");
}

sb_op *sb_net_pow(sb_net *g, sb_op *x, sb_op *y, const char *name) {
    return sb_net_op2(g, OP_POW, x, y, name ? name : "Pow");
}

sb_op *sb_net_square(sb_net *g, sb_op *x, const char *name) {
    return sb_net_op1(g, OP_SQUARE, x, name);
}

sb_op *sb_net_neg(sb_net *g, sb_op *x, const char *name) {
    return sb_net_op1(g, OP_NEG, x, name);
}

sb_op *sb_net_equal(sb_net *g, sb_op *x, sb_op *y, const char *name) {
    return sb_net_op2(g, OP_EQUAL, x, y, name);
}

sb_op *sb_net_identity(sb_net *g, sb_op *x, const char *name) {
    return sb_net_op1(g, OP_IDENTITY, x, name);
}

sb_op *sb_net_matmul(sb_net *g, sb_op *a, sb_op *b, bool transpose_a, bool transpose_b,
                     const char *name) {
    const port inputs[] = {port_of(a), port_of(b)};
    const attr attrs[] = {{.name = "transpose_a", .type = ATTR_BOOL, .i = transpose_a},
                          {.name = "transpose_b", .type = ATTR_BOOL, .i = transpose_b}};
    if (!a || !b) return NULL;
    return sb_net_add_op(g, OP_SPEC_ATTRS(OP_MATMUL, name, inputs, 2, attrs, 2));
}

sb_op *sb_net_reduce(sb_net *g, op_id kind, sb_op *x, sb_op *axes, bool keep_dims,
                     const char *name) {
    const port inputs[] = {port_of(x), port_of(axes)};
    const attr keep = {.name = "keep_dims", .type = ATTR_BOOL, .i = keep_dims};
    if (!x || !axes) return NULL;
    return sb_net_add_op(g, OP_SPEC_ATTRS(kind, name, inputs, 2, &keep, 1));
}

sb_op *sb_net_axes(sb_net *g, const sb_op *x, const char *name) {
    int64_t axes[SB_NET_MAX_RANK];
    for (uint32_t i = 0; i < SB_NET_MAX_RANK; i++) axes[i] = i;
    return x ? sb_net_const_ints(g, axes, x->outs[0].dims.rank, name) : NULL;
}

/* All axes: a constant of its own beside the op; given ones belong to the op. */
static sb_op *reduce(sb_net *g, op_id kind, sb_op *x, const sb_dims *axes, bool keep_dims,
                     const char *name) {
    if (!x) return NULL;
    if (x->out_count == 0)
        return sb_net_fail(g, SB_INVALID, "%s: %s has no value", sb_op_kinds[kind].type, x->name);
    if (axes->rank == UINT32_MAX)
        return sb_net_reduce(g, kind, x, sb_net_axes(g, x, "Const"), keep_dims, name);
    if (axes->rank > SB_NET_MAX_RANK) return sb_net_fail(g, SB_INVALID, "too many axes");
    const char *scope = sb_net_scope(g, name ? name : sb_op_kinds[kind].type);
    sb_op *indices = sb_net_const_ints(g, axes->at, axes->rank, "reduction_indices");
    sb_op *op = sb_net_reduce(g, kind, x, indices, keep_dims, scope);
    sb_net_scope_end(g);
    return op;
}

sb_op *sb_net_sum(sb_net *g, sb_op *x, sb_dims axes, bool keep_dims, const char *name) {
    return reduce(g, OP_SUM, x, &axes, keep_dims, name);
}

sb_op *sb_net_mean(sb_net *g, sb_op *x, sb_dims axes, bool keep_dims, const char *name) {
    return reduce(g, OP_MEAN, x, &axes, keep_dims, name);
}

sb_op *sb_net_cast(sb_net *g, sb_op *x, sb_dtype dtype, const char *name) {
    const port inputs[] = {port_of(x)};
    if (!x) return NULL;
    return sb_net_add_op(
        g, &(op_spec){
               .kind = OP_CAST, .name = name, .inputs = inputs, .input_count = 1, .dtype = dtype});
}

sb_op *sb_net_reshape_to(sb_net *g, sb_op *x, const sb_dims *dims, const char *name) {
    if (dims->rank > SB_NET_MAX_RANK) return sb_net_fail(g, SB_INVALID, "too many dimensions");
    const char *scope = sb_net_scope(g, name ? name : "Reshape");
    sb_op *shape = sb_net_const_ints(g, dims->at, dims->rank, "shape");
    sb_op *op = sb_net_op2(g, OP_RESHAPE, x, shape, scope);
    sb_net_scope_end(g);
    return op;
}

sb_op *sb_net_reshape(sb_net *g, sb_op *x, sb_dims dims, const char *name) {
    return x ? sb_net_reshape_to(g, x, &dims, name) : NULL;
}

sb_op *sb_net_slice(sb_net *g, sb_op *x, sb_dims begin, sb_dims size, const char *name) {
    if (!x) return NULL;
    if (begin.rank > SB_NET_MAX_RANK || size.rank > SB_NET_MAX_RANK)
        return sb_net_fail(g, SB_INVALID, "too many dimensions");
    const char *scope = sb_net_scope(g, name ? name : "Slice");
    sb_op *from = sb_net_const_ints(g, begin.at, begin.rank, "begin");
    sb_op *length = sb_net_const_ints(g, size.at, size.rank, "size");
    sb_op *op = sb_net_op3(g, OP_SLICE, x, from, length, scope);
    sb_net_scope_end(g);
    return op;
}

sb_op *sb_net_argmax(sb_net *g, sb_op *x, int64_t axis, const char *name) {
    if (!x) return NULL;
    const char *scope = sb_net_scope(g, name ? name : "ArgMax");
    sb_op *dimension = sb_net_const_int(g, (int32_t)axis, "dimension");
    sb_op *op = sb_net_op2(g, OP_ARGMAX, x, dimension, scope);
    sb_net_scope_end(g);
    return op;
}
