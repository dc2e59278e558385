/* build.c: where values come from: placeholders, constants, random numbers, variables. Names are
 * those of TensorFlow 1.4's Python functions. */
#include "train/build/build.h"

#include "codec/tensor.h"
#include "base/banned.h"

sb_op *sb_net_placeholder(sb_net *g, sb_dtype dtype, sb_dims dims, const char *name) {
    return sb_net_add_op(
        g, &(op_spec){.kind = OP_PLACEHOLDER, .name = name, .dtype = dtype, .dims = dims});
}

static sb_op *constant_named(sb_net *g, const sb_array *value, const char *name) {
    sb_dims dims = {.rank = value->rank};
    if (value->strides || value->rank > SB_NET_MAX_RANK)
        return sb_net_fail(g, SB_INVALID,
                           "%s: a constant is a contiguous array of at most %d dimensions", name,
                           SB_NET_MAX_RANK);
    for (uint32_t i = 0; i < value->rank; i++) dims.at[i] = value->dims[i];
    return sb_net_const(g, value->dtype, &dims, value->data, name);
}

sb_op *sb_net_constant(sb_net *g, const sb_array *value, const char *name) {
    return constant_named(g, value, name ? name : "Const");
}

/* The number in the memory of its type; false for a type that has none. */
static bool put_number(double value, sb_dtype dtype, void *to) {
    switch (dtype) {
    case SB_FLOAT:
        *(float *)to = (float)value;
        return true;
    case SB_INT32:
        if (!(value >= INT32_MIN && value <= INT32_MAX)) return false;
        *(int32_t *)to = (int32_t)value;
        return true;
    case SB_INT64:
        if (!(value >= -9.2e18 && value <= 9.2e18)) return false;
        *(int64_t *)to = (int64_t)value;
        return true;
    case SB_BOOL:
        *(uint8_t *)to = value != 0;
        return true;
    default:
        return false;
    }
}

sb_op *sb_net_number(sb_net *g, double value, sb_dtype dtype, const char *name) {
    int64_t memory[1] = {0};
    if (!put_number(value, dtype, memory))
        return sb_net_fail(g, SB_INVALID, "%s: %g is no %s", name ? name : "Const", value,
                           sb_dtype_name(dtype));
    return sb_net_const(g, dtype, &SB_SCALAR_DIMS, memory, name);
}

sb_op *sb_net_zeros(sb_net *g, sb_dims dims, const char *name) {
    size_t count;
    if (!sb_dims_count(&dims, &count) || count > SIZE_MAX / sizeof(float))
        return sb_net_fail(g, SB_INVALID, "%s: the shape %s makes no sense", name ? name : "zeros",
                           sb_show_dims(&dims).text);
    float *zeros = sb_alloc_zeroed(NET_ALLOC, count + 1, sizeof *zeros);
    if (!zeros) return sb_net_nomem(g);
    sb_op *op = sb_net_const(g, SB_FLOAT, &dims, zeros, name ? name : "zeros");
    sb_alloc_put(NET_ALLOC, zeros, (count + 1) * sizeof *zeros);
    return op;
}

/* ---- random numbers -------------------------------------------------------------------------- */

/* A scope with the shape and two numbers, the random op, and what brings it into their range. */
typedef struct random_form {
    op_id kind;
    const char *scope;
    const char *first, *second; /* names of the two numbers */
} random_form;

static sb_op *random_op(sb_net *g, const random_form *form, const sb_dims *dims, double first,
                        double second, const char *name) {
    const char *scope = sb_net_scope(g, name ? name : form->scope);
    sb_op *shape = sb_net_const_ints(g, dims->at, dims->rank, "shape");
    sb_op *a = sb_net_const_float(g, (float)first, form->first);
    sb_op *b = sb_net_const_float(g, (float)second, form->second);
    sb_op *made = sb_net_op1(g, form->kind, shape, NULL);
    sb_op *op;
    if (form->kind == OP_RANDOM_UNIFORM) {
        sb_op *range = sb_net_op2(g, OP_SUB, b, a, "sub");
        op = sb_net_op2(g, OP_ADD, sb_net_op2(g, OP_MUL, made, range, "mul"), a, scope);
    } else {
        op = sb_net_op2(g, OP_ADD, sb_net_op2(g, OP_MUL, made, b, "mul"), a, scope);
    }
    sb_net_scope_end(g);
    return op;
}

sb_op *sb_net_truncated_normal(sb_net *g, sb_dims dims, double mean, double stddev,
                               const char *name) {
    static const random_form form = {OP_TRUNCATED_NORMAL, "truncated_normal", "mean", "stddev"};
    return random_op(g, &form, &dims, mean, stddev, name);
}

sb_op *sb_net_random_normal(sb_net *g, sb_dims dims, double mean, double stddev, const char *name) {
    static const random_form form = {OP_RANDOM_NORMAL, "random_normal", "mean", "stddev"};
    return random_op(g, &form, &dims, mean, stddev, name);
}

sb_op *sb_net_random_uniform(sb_net *g, sb_dims dims, double min, double max, const char *name) {
    static const random_form form = {OP_RANDOM_UNIFORM, "random_uniform", "min", "max"};
    return random_op(g, &form, &dims, min, max, name);
}

/* ---- variables ------------------------------------------------------------------------------- */

/* Inside the scope of the variable's own name. */
static sb_op *add_variable(sb_net *g, sb_op *initial, bool trainable, const char *scope) {
    if (!initial) return NULL;
    const op_out *value = &initial->outs[0];
    sb_op *ref = sb_net_add_op(
        g,
        &(op_spec){.kind = OP_VARIABLE, .name = scope, .dtype = value->dtype, .dims = value->dims});
    if (!ref) return NULL;
    var_ops *v = SB_VEC_PUSH(&g->variables, NET_ALLOC, UINT32_MAX - 1);
    if (!v) return sb_net_nomem(g);
    *v = (var_ops){.ref = ref, .initial = port_of(initial), .trainable = trainable};
    ref->variable = (uint32_t)(g->variables.n - 1);
    sb_net_colocate_begin(g, ref);
    v->assign = sb_net_op2(g, OP_ASSIGN, ref, initial, "Assign");
    v->read = sb_net_op1(g, OP_IDENTITY, ref, "read");
    sb_net_colocate_end(g);
    return v->read;
}

sb_op *sb_net_variable(sb_net *g, sb_op *initial, bool trainable, const char *name) {
    if (!initial) return NULL;
    if (initial->out_count == 0 || initial->outs[0].dtype == SB_STRING)
        return sb_net_fail(g, SB_INVALID, "%s: %s has no numbers for a variable",
                           name ? name : "Variable", initial->name);
    const char *scope = sb_net_scope(g, name ? name : "Variable");
    sb_op *read = add_variable(g, initial, trainable, scope);
    sb_net_scope_end(g);
    return read;
}

sb_op *sb_net_variable_of(sb_net *g, const sb_array *initial, bool trainable, const char *name) {
    const char *scope = sb_net_scope(g, name ? name : "Variable");
    sb_op *read = add_variable(g, constant_named(g, initial, "initial_value"), trainable, scope);
    sb_net_scope_end(g);
    return read;
}

sb_op *sb_net_global_step(sb_net *g) {
    static const int32_t zero = 0;
    return sb_net_variable_of(g, &(sb_array){.data = &zero, .dtype = SB_INT32}, false,
                              "global_step");
}

sb_op *sb_net_initializer(sb_net *g, const char *name) {
    sb_op **all = sb_alloc_zeroed(NET_ALLOC, g->variables.n + 1, sizeof *all);
    if (!all) return sb_net_nomem(g);
    for (size_t i = 0; i < g->variables.n; i++) all[i] = g->variables.items[i].assign;
    sb_op *op = sb_net_group(g, all, g->variables.n, name ? name : "init");
    sb_alloc_put(NET_ALLOC, all, (g->variables.n + 1) * sizeof *all);
    return op;
}

sb_op *sb_net_group(sb_net *g, sb_op *const *ops, size_t count, const char *name) {
    sb_net_control_begin(g, ops, count);
    sb_op *op = sb_net_add_op(g, &(op_spec){.kind = OP_NO_OP, .name = name ? name : "group_deps"});
    sb_net_control_end(g);
    return op;
}
