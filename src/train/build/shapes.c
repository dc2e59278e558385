/* shapes.c: shape rules of sources, state, arithmetic and reductions. A rule that refuses names
 * both ops and both shapes. */
#include "codec/tensor.h"
#include "train/ops.h"
#include "base/banned.h"

/* One output; false when memory is out. */
static bool set_out(sb_op *op, sb_dtype dtype, const sb_dims *dims) {
    op->outs = sb_arena_zeroed(&op->net->arena, 1, sizeof *op->outs);
    if (!op->outs) return false;
    op->outs[0].dtype = dtype;
    op->outs[0].dims = *dims;
    op->out_count = 1;
    return true;
}

/* Keeps the message of a rule and stops the builder: the answer is "no" either way. */
#define REFUSE(op, ...) (sb_net_fail((op)->net, SB_INVALID, __VA_ARGS__), false)

static bool is_number(sb_dtype dtype) {
    return dtype == SB_FLOAT || dtype == SB_INT32 || dtype == SB_INT64;
}

static bool expect_type(sb_op *op, uint32_t i, sb_dtype dtype) {
    if (input_of(op, i)->dtype == dtype) return true;
    return REFUSE(op, "%s: input %u, %s, is %s; %s needs %s", op->name, i, op->inputs[i].op->name,
                  sb_dtype_name(input_of(op, i)->dtype), op->kind->type, sb_dtype_name(dtype));
}

static bool expect_number(sb_op *op, uint32_t i) {
    if (is_number(input_of(op, i)->dtype)) return true;
    return REFUSE(op, "%s: input %u, %s, is %s; %s needs numbers", op->name, i,
                  op->inputs[i].op->name, sb_dtype_name(input_of(op, i)->dtype), op->kind->type);
}

static bool expect_equal_types(sb_op *op, uint32_t i, uint32_t k) {
    if (input_of(op, i)->dtype == input_of(op, k)->dtype) return true;
    return REFUSE(op, "%s: %s is %s and %s is %s; %s needs equal types, see sb_net_cast", op->name,
                  op->inputs[i].op->name, sb_dtype_name(input_of(op, i)->dtype),
                  op->inputs[k].op->name, sb_dtype_name(input_of(op, k)->dtype), op->kind->type);
}

/* Two shapes that do not fit, with the reason. */
static bool refuse_shapes(sb_op *op, uint32_t i, uint32_t k, const char *reason) {
    return REFUSE(op, "%s: the shapes of %s and %s do not fit: %s", op->name,
                  sb_show_port(op->inputs[i]).text, sb_show_port(op->inputs[k]).text, reason);
}

/* Integers that shape an output must be constants. */
static bool take_ints(sb_op *op, uint32_t i, int64_t *out, size_t room, size_t *n) {
    if (sb_known_ints(op->inputs[i], out, room, n)) return true;
    return REFUSE(op, "%s: input %u, %s, must be a constant of at most %zu integers", op->name, i,
                  op->inputs[i].op->name, room);
}

/* ---- sources and state ----------------------------------------------------------------------- */

bool sb_infer_given(sb_op *op, const op_spec *spec) {
    size_t count;
    bool known = is_number(spec->dtype) || spec->dtype == SB_BOOL || spec->dtype == SB_UINT8 ||
                 spec->dtype == SB_STRING;
    if (!known)
        return REFUSE(
            op,
            "%s: the engine has no type %s; it has float32, int32, int64, bool, uint8 and string",
            op->name, sb_dtype_name(spec->dtype));
    if (!sb_dims_count(&spec->dims, &count))
        return REFUSE(op, "%s: the shape %s makes no sense: every dimension is known and 0 or more",
                      op->name, sb_show_dims(&spec->dims).text);
    return set_out(op, spec->dtype, &spec->dims);
}

/* Strings are copied with their bytes. */
static const void *copy_value(sb_net *g, sb_dtype dtype, size_t count, const void *value) {
    size_t size = dtype == SB_STRING ? sizeof(sb_slice) : sb_dtype_size(dtype);
    void *copy = sb_arena_get(&g->arena, count * size + 1);
    if (!copy || count == 0) return copy;
    memcpy(copy, value, count * size);
    for (size_t i = 0; i < count && dtype == SB_STRING; i++) {
        sb_slice *s = (sb_slice *)copy + i;
        *s = sb_arena_dup(&g->arena, *s);
        if (!s->p) return NULL;
    }
    return copy;
}

bool sb_infer_const(sb_op *op, const op_spec *spec) {
    size_t count;
    if (!sb_infer_given(op, spec)) return false;
    sb_dims_count(&spec->dims, &count);
    op->outs[0].value = copy_value(op->net, spec->dtype, count, spec->value);
    return op->outs[0].value != NULL;
}

bool sb_infer_noop(sb_op *op, const op_spec *spec) {
    (void)spec;
    return op->out_count == 0;
}

bool sb_infer_assign(sb_op *op, const op_spec *spec) {
    (void)spec;
    if (op->inputs[0].op->variable == UINT32_MAX && !is_kind(op->inputs[0].op, OP_VARIABLE))
        return REFUSE(op, "%s: %s is no variable", op->name, op->inputs[0].op->name);
    if (!expect_equal_types(op, 0, 1)) return false;
    const op_out *to = input_of(op, 0), *from = input_of(op, 1);
    if (!sb_dims_equal(&to->dims, &from->dims) && !from->shape_is_hidden)
        return refuse_shapes(op, 0, 1, "a variable keeps its shape");
    return set_out(op, to->dtype, &to->dims);
}

bool sb_infer_random(sb_op *op, const op_spec *spec) {
    sb_dims dims = {0};
    size_t n;
    (void)spec;
    if (!take_ints(op, 0, dims.at, SB_NET_MAX_RANK, &n)) return false;
    dims.rank = (uint32_t)n;
    return set_out(op, SB_FLOAT, &dims);
}

/* The variable, then slots and numbers, and a gradient of the variable's shape. */
bool sb_infer_apply(sb_op *op, const op_spec *spec) {
    (void)spec;
    for (uint32_t i = 0; i < op->input_count; i++) {
        if (!expect_type(op, i, SB_FLOAT)) return false;
        bool is_number_input = input_of(op, i)->dims.rank == 0;
        if (!is_number_input && !sb_dims_equal(&input_of(op, i)->dims, &input_of(op, 0)->dims))
            return refuse_shapes(op, 0, i, "a gradient and a slot have the variable's shape");
    }
    return set_out(op, SB_FLOAT, &input_of(op, 0)->dims);
}

/* ---- shapes and copies ----------------------------------------------------------------------- */

bool sb_infer_same(sb_op *op, const op_spec *spec) {
    (void)spec;
    bool is_copy = op->kind->flags & OP_ALIAS || is_kind(op, OP_ZEROS_LIKE);
    if (!is_copy && !expect_number(op, 0)) return false;
    return set_out(op, input_of(op, 0)->dtype, &input_of(op, 0)->dims);
}

bool sb_infer_grad_pair(sb_op *op, const op_spec *spec) {
    (void)spec;
    if (!expect_type(op, 0, SB_FLOAT) || !expect_type(op, 1, SB_FLOAT)) return false;
    if (!sb_dims_equal(&input_of(op, 0)->dims, &input_of(op, 1)->dims))
        return refuse_shapes(op, 0, 1, "they must be equal");
    return set_out(op, SB_FLOAT, &input_of(op, 0)->dims);
}

bool sb_infer_fill(sb_op *op, const op_spec *spec) {
    sb_dims dims = {0};
    size_t n;
    (void)spec;
    if (!take_ints(op, 0, dims.at, SB_NET_MAX_RANK, &n)) return false;
    dims.rank = (uint32_t)n;
    return set_out(op, input_of(op, 1)->dtype, &dims);
}

bool sb_infer_tile(sb_op *op, const op_spec *spec) {
    sb_dims dims = input_of(op, 0)->dims;
    int64_t times[SB_NET_MAX_RANK];
    size_t n;
    (void)spec;
    if (!take_ints(op, 1, times, SB_NET_MAX_RANK, &n)) return false;
    if (n != dims.rank) return refuse_shapes(op, 0, 1, "one multiple for each dimension");
    for (uint32_t i = 0; i < dims.rank; i++) dims.at[i] *= times[i];
    return set_out(op, input_of(op, 0)->dtype, &dims);
}

bool sb_infer_expand_dims(sb_op *op, const op_spec *spec) {
    const sb_dims *from = &input_of(op, 0)->dims;
    sb_dims dims = {.rank = from->rank + 1};
    int64_t axis;
    size_t n;
    (void)spec;
    if (!take_ints(op, 1, &axis, 1, &n)) return false;
    if (axis < 0) axis += dims.rank;
    if (axis < 0 || axis >= dims.rank || dims.rank > SB_NET_MAX_RANK)
        return REFUSE(op, "%s: %s has no place for a dimension at %lld", op->name,
                      sb_show_port(op->inputs[0]).text, (long long)axis);
    for (uint32_t i = 0, k = 0; i < dims.rank; i++)
        dims.at[i] = i == (uint32_t)axis ? 1 : from->at[k++];
    return set_out(op, input_of(op, 0)->dtype, &dims);
}

bool sb_infer_reshape(sb_op *op, const op_spec *spec) {
    size_t n, count = input_of(op, 0)->count, product = 1;
    sb_dims dims = {0};
    int64_t *free_dim = NULL;
    (void)spec;
    if (!take_ints(op, 1, dims.at, SB_NET_MAX_RANK, &n)) return false;
    dims.rank = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        if (dims.at[i] == -1 && !free_dim)
            free_dim = &dims.at[i];
        else if (dims.at[i] < 0)
            return REFUSE(op, "%s: the shape %s makes no sense", op->name,
                          sb_show_dims(&dims).text);
        else
            product *= (size_t)dims.at[i];
    }
    if (free_dim && product && count % product == 0) *free_dim = (int64_t)(count / product);
    size_t made;
    if (!sb_dims_count(&dims, &made) || made != count)
        return REFUSE(op, "%s: %s has %zu numbers and cannot have the shape %s of %s", op->name,
                      sb_show_port(op->inputs[0]).text, count, sb_show_dims(&dims).text,
                      op->inputs[1].op->name);
    return set_out(op, input_of(op, 0)->dtype, &dims);
}

bool sb_infer_slice(sb_op *op, const op_spec *spec) {
    const sb_dims *from = &input_of(op, 0)->dims;
    int64_t begin[SB_NET_MAX_RANK];
    sb_dims dims = {.rank = from->rank};
    size_t n, m;
    (void)spec;
    if (!take_ints(op, 1, begin, SB_NET_MAX_RANK, &n) ||
        !take_ints(op, 2, dims.at, SB_NET_MAX_RANK, &m))
        return false;
    bool fits = n == from->rank && m == from->rank;
    for (uint32_t i = 0; i < from->rank && fits; i++) {
        if (dims.at[i] == -1) dims.at[i] = from->at[i] - begin[i];
        fits = begin[i] >= 0 && dims.at[i] >= 0 && begin[i] <= from->at[i] &&
               dims.at[i] <= from->at[i] - begin[i];
    }
    if (!fits)
        return REFUSE(op, "%s: the box of %s and %s is not inside %s", op->name,
                      op->inputs[1].op->name, op->inputs[2].op->name,
                      sb_show_port(op->inputs[0]).text);
    return set_out(op, input_of(op, 0)->dtype, &dims);
}

bool sb_infer_pad(sb_op *op, const op_spec *spec) {
    sb_dims dims = input_of(op, 0)->dims;
    int64_t pads[2 * SB_NET_MAX_RANK];
    size_t n;
    (void)spec;
    if (!take_ints(op, 1, pads, 2 * SB_NET_MAX_RANK, &n)) return false;
    if (n != 2 * (size_t)dims.rank) return refuse_shapes(op, 0, 1, "two numbers a dimension");
    for (uint32_t i = 0; i < dims.rank; i++) dims.at[i] += pads[2 * i] + pads[2 * i + 1];
    return set_out(op, input_of(op, 0)->dtype, &dims);
}

bool sb_infer_cast(sb_op *op, const op_spec *spec) {
    if (input_of(op, 0)->dtype == SB_STRING || spec->dtype == SB_STRING)
        return REFUSE(op, "%s: strings cannot be cast", op->name);
    op_spec made = *spec;
    made.dims = input_of(op, 0)->dims;
    return sb_infer_given(op, &made);
}

bool sb_infer_argmax(sb_op *op, const op_spec *spec) {
    const sb_dims *from = &input_of(op, 0)->dims;
    sb_dims dims = {0};
    int64_t axis;
    size_t n;
    (void)spec;
    if (!expect_number(op, 0) || !take_ints(op, 1, &axis, 1, &n)) return false;
    if (axis < 0) axis += from->rank;
    if (axis < 0 || axis >= from->rank || from->at[axis] == 0)
        return REFUSE(op, "%s: %s has no axis %lld with numbers", op->name,
                      sb_show_port(op->inputs[0]).text, (long long)axis);
    for (uint32_t i = 0; i < from->rank; i++)
        if (i != (uint32_t)axis) dims.at[dims.rank++] = from->at[i];
    return set_out(op, SB_INT64, &dims);
}

/* ---- element by element ---------------------------------------------------------------------- */

static bool broadcast_pair(sb_op *op, sb_dims *dims) {
    if (!expect_equal_types(op, 0, 1)) return false;
    return sb_dims_broadcast(&input_of(op, 0)->dims, &input_of(op, 1)->dims, dims) ||
           refuse_shapes(op, 0, 1, "dimensions must be equal, or one of them 1");
}

bool sb_infer_binary(sb_op *op, const op_spec *spec) {
    sb_dims dims;
    (void)spec;
    return expect_number(op, 0) && broadcast_pair(op, &dims) &&
           set_out(op, input_of(op, 0)->dtype, &dims);
}

bool sb_infer_compare(sb_op *op, const op_spec *spec) {
    sb_dims dims;
    (void)spec;
    bool is_bool = input_of(op, 0)->dtype == SB_BOOL;
    return (is_bool || expect_number(op, 0)) && broadcast_pair(op, &dims) &&
           set_out(op, SB_BOOL, &dims);
}

bool sb_infer_select(sb_op *op, const op_spec *spec) {
    (void)spec;
    if (!expect_type(op, 0, SB_BOOL) || !expect_equal_types(op, 1, 2)) return false;
    for (uint32_t i = 1; i < 3; i++)
        if (!sb_dims_equal(&input_of(op, 0)->dims, &input_of(op, i)->dims))
            return refuse_shapes(op, 0, i, "they must be equal");
    return set_out(op, input_of(op, 1)->dtype, &input_of(op, 1)->dims);
}

bool sb_infer_add_n(sb_op *op, const op_spec *spec) {
    (void)spec;
    for (uint32_t i = 0; i < op->input_count; i++) {
        if (!expect_type(op, i, SB_FLOAT)) return false;
        if (!sb_dims_equal(&input_of(op, 0)->dims, &input_of(op, i)->dims))
            return refuse_shapes(op, 0, i, "they must be equal");
    }
    return set_out(op, SB_FLOAT, &input_of(op, 0)->dims);
}

/* ---- reductions ------------------------------------------------------------------------------ */

bool sb_infer_reduce(sb_op *op, const op_spec *spec) {
    const sb_dims *from = &input_of(op, 0)->dims;
    bool keep = sb_op_int(op, "keep_dims") != 0, is_axis[SB_NET_MAX_RANK] = {false};
    int64_t axes[SB_NET_MAX_RANK];
    sb_dims dims = {0};
    size_t n;
    (void)spec;
    if (!expect_number(op, 0) || !take_ints(op, 1, axes, SB_NET_MAX_RANK, &n)) return false;
    for (size_t i = 0; i < n; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + from->rank : axes[i];
        if (axis < 0 || axis >= from->rank)
            return REFUSE(op, "%s: %s has no axis %lld", op->name, sb_show_port(op->inputs[0]).text,
                          (long long)axes[i]);
        is_axis[axis] = true;
    }
    for (uint32_t i = 0; i < from->rank; i++)
        if (!is_axis[i] || keep) dims.at[dims.rank++] = is_axis[i] ? 1 : from->at[i];
    if (!set_out(op, input_of(op, 0)->dtype, &dims)) return false;
    op->outs[0].shape_is_hidden = !is_kind(op->inputs[1].op, OP_CONST);
    return true;
}

/* The axes over which the gradient of a broadcast is summed, for each of two shapes. */
bool sb_infer_broadcast_args(sb_op *op, const op_spec *spec) {
    sb_dims x = {0}, y = {0}, both;
    size_t n, m;
    (void)spec;
    if (!take_ints(op, 0, x.at, SB_NET_MAX_RANK, &n) ||
        !take_ints(op, 1, y.at, SB_NET_MAX_RANK, &m))
        return false;
    x.rank = (uint32_t)n;
    y.rank = (uint32_t)m;
    op->outs = sb_arena_zeroed(&op->net->arena, 2, sizeof *op->outs);
    if (!op->outs) return false;
    op->out_count = 2;
    if (!sb_dims_broadcast(&x, &y, &both))
        return refuse_shapes(op, 0, 1, "they cannot be broadcast");
    for (uint32_t k = 0; k < 2; k++) {
        const sb_dims *own = k ? &y : &x;
        op->outs[k] = (op_out){.dtype = SB_INT32, .dims = {.rank = 1}, .shape_is_hidden = true};
        for (uint32_t i = 0; i < both.rank; i++) {
            uint32_t missing = both.rank - own->rank;
            op->outs[k].dims.at[0] += i < missing || own->at[i - missing] == 1;
        }
    }
    return true;
}
