/* graph.c: a graph's ops: adding, checking, finding; the first failure is kept. */
#include "train/graph.h"

#include <stdio.h>

#include "base/checked.h"
#include "base/status.h"
#include "codec/tensor.h"
#include "train/build/fold.h"
#include "train/ops.h"
#include "base/banned.h"

#define ARENA_BLOCK ((size_t)32 << 10)
#define MAX_ELEMENTS ((size_t)1 << 40)

#define OP(id, type, infer, run, grad, scratch, flags, attrs)                                      \
    {type, infer, run, grad, scratch, attrs, flags},
const op_kind sb_op_kinds[OP_KINDS] = {
#include "train/ops.def"
};
#undef OP

/* ---- life ------------------------------------------------------------------------------------ */

sb_status sb_net_new(sb_net **out, sb_err *err) {
    *out = NULL;
    sb_net *g = sb_alloc_zeroed(NET_ALLOC, 1, sizeof *g);
    if (!g) return sb_fail_nomem(err, "for a graph");
    sb_arena_init(&g->arena, NET_ALLOC, ARENA_BLOCK, SIZE_MAX / 2);
    sb_buf_init(&g->exported, NET_ALLOC, INT32_MAX);
    sb_intern_init(&g->names, NET_ALLOC, 0, UINT32_MAX - 1);
    *out = g;
    return SB_OK;
}

void sb_net_free(sb_net *g) {
    if (!g) return;
    for (size_t i = 0; i < g->controls.n; i++) SB_VEC_FREE(&g->controls.items[i], NET_ALLOC);
    SB_VEC_FREE(&g->controls, NET_ALLOC);
    SB_VEC_FREE(&g->ops, NET_ALLOC);
    SB_VEC_FREE(&g->variables, NET_ALLOC);
    SB_VEC_FREE(&g->scopes, NET_ALLOC);
    SB_VEC_FREE(&g->colocations, NET_ALLOC);
    SB_VEC_FREE(&g->summaries, NET_ALLOC);
    SB_VEC_FREE(&g->train_ops, NET_ALLOC);
    SB_VEC_FREE(&g->name_uses, NET_ALLOC);
    SB_VEC_FREE(&g->op_of_name, NET_ALLOC);
    sb_buf_fini(&g->exported);
    sb_intern_fini(&g->names);
    sb_arena_fini(&g->arena);
    sb_alloc_put(NET_ALLOC, g, sizeof *g);
}

sb_status sb_net_check(sb_net *g, sb_err *err) {
    if (g->err.code != SB_OK && err) *err = g->err;
    return g->err.code;
}

/* ---- failures -------------------------------------------------------------------------------- */

void *sb_net_fail(sb_net *g, sb_status code, const char *format, ...) {
    char text[sizeof g->err.text];
    va_list args;
    if (g->err.code != SB_OK) return NULL;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sb_fail(&g->err, code, 0, "%s", text);
    return NULL;
}

void *sb_net_nomem(sb_net *g) {
    if (g->err.code == SB_OK) sb_fail_nomem(&g->err, "for a graph");
    return NULL;
}

static void print_dims(char *to, size_t room, const sb_dims *dims) {
    size_t n = 0;
    n += (size_t)snprintf(to, room, "[");
    for (uint32_t i = 0; i < dims->rank && n < room; i++)
        n += (size_t)snprintf(to + n, room - n, i ? ",%lld" : "%lld", (long long)dims->at[i]);
    if (n < room) snprintf(to + n, room - n, "]");
}

shown_port sb_show_dims(const sb_dims *dims) {
    shown_port shown;
    print_dims(shown.text, sizeof shown.text, dims);
    return shown;
}

shown_port sb_show_port(port p) {
    shown_port shown;
    const char *name = p.op->name;
    size_t n = strlen(name), most = 100;
    n = (size_t)snprintf(shown.text, sizeof shown.text, "%s%s ", n > most ? "..." : "",
                         n > most ? name + n - most : name);
    print_dims(shown.text + n, sizeof shown.text - n, &out_of(p)->dims);
    return shown;
}

/* ---- looking --------------------------------------------------------------------------------- */

size_t sb_net_op_count(const sb_net *g) {
    return g->ops.n;
}

sb_op *sb_net_op_at(const sb_net *g, size_t i) {
    return i < g->ops.n ? g->ops.items[i] : NULL;
}

sb_op *sb_net_find(sb_net *g, const char *name) {
    uint32_t id = sb_intern_find(&g->names, sb_slice_str(name));
    return id < g->op_of_name.n ? g->op_of_name.items[id] : NULL;
}

const char *sb_op_name(const sb_op *op) {
    return op->name;
}

const char *sb_op_type(const sb_op *op) {
    return op->kind->type;
}

sb_dtype sb_op_dtype(const sb_op *op) {
    return op->out_count ? op->outs[0].dtype : SB_NO_DTYPE;
}

const sb_dims *sb_op_dims(const sb_op *op) {
    static const sb_dims none = {0};
    return op->out_count ? &op->outs[0].dims : &none;
}

const attr *sb_op_attr(const sb_op *op, const char *name) {
    for (uint32_t i = 0; i < op->attr_count; i++)
        if (strcmp(op->attrs[i].name, name) == 0) return &op->attrs[i];
    return NULL;
}

int64_t sb_op_int(const sb_op *op, const char *name) {
    const attr *a = sb_op_attr(op, name);
    return a ? a->i : 0;
}

var_ops *sb_net_variable_of_op(const sb_op *op) {
    if (op && is_kind(op, OP_IDENTITY)) op = op->inputs[0].op;
    return op && op->variable != UINT32_MAX ? &op->net->variables.items[op->variable] : NULL;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

bool sb_dims_count(const sb_dims *dims, size_t *count) {
    size_t n = 1;
    if (dims->rank > SB_NET_MAX_RANK) return false;
    for (uint32_t i = 0; i < dims->rank; i++)
        if (dims->at[i] < 0 || !sb_mul_size(&n, n, (size_t)dims->at[i]) || n > MAX_ELEMENTS)
            return false;
    *count = n;
    return true;
}

bool sb_dims_equal(const sb_dims *a, const sb_dims *b) {
    return a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->at, b->at, a->rank * sizeof a->at[0]) == 0);
}

bool sb_dims_broadcast(const sb_dims *x, const sb_dims *y, sb_dims *out) {
    sb_dims made = {.rank = x->rank > y->rank ? x->rank : y->rank};
    for (uint32_t i = 1; i <= made.rank; i++) {
        int64_t a = i <= x->rank ? x->at[x->rank - i] : 1;
        int64_t b = i <= y->rank ? y->at[y->rank - i] : 1;
        if (a != b && a != 1 && b != 1) return false;
        made.at[made.rank - i] = a == 1 ? b : a;
    }
    *out = made;
    return true;
}

bool sb_known_ints(port p, int64_t *out, size_t room, size_t *n) {
    const op_out *o = out_of(p);
    if (!o->value || o->count > room) return false;
    for (size_t i = 0; i < o->count; i++) {
        if (o->dtype == SB_INT32)
            out[i] = ((const int32_t *)o->value)[i];
        else if (o->dtype == SB_INT64)
            out[i] = ((const int64_t *)o->value)[i];
        else
            return false;
    }
    *n = o->count;
    return true;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* Copies what the spec points to, so that the graph owns it. */
static bool copy_parts(sb_net *g, sb_op *op, const op_spec *spec) {
    op->inputs = sb_arena_zeroed(&g->arena, spec->input_count + 1, sizeof *op->inputs);
    op->attrs = sb_arena_zeroed(&g->arena, spec->attr_count + 1, sizeof *op->attrs);
    if (!op->inputs || !op->attrs) return false;
    for (size_t i = 0; i < spec->input_count; i++) op->inputs[i] = spec->inputs[i];
    op->input_count = (uint32_t)spec->input_count;
    for (size_t i = 0; i < spec->attr_count; i++) {
        attr *a = &op->attrs[i];
        *a = spec->attrs[i];
        if (a->text.n) a->text = sb_arena_dup(&g->arena, a->text);
        if (a->count) {
            int64_t *list = sb_arena_get(&g->arena, a->count * sizeof *list);
            if (!list) return false;
            memcpy(list, a->list, a->count * sizeof *list);
            a->list = list;
        }
        if (a->text.n && !a->text.p) return false;
    }
    op->attr_count = (uint32_t)spec->attr_count;
    return true;
}

static bool copy_controls(sb_net *g, sb_op *op) {
    if (!g->controls.n) return true;
    const op_pointers *current = &g->controls.items[g->controls.n - 1];
    op->controls = sb_arena_get(&g->arena, (current->n + 1) * sizeof *op->controls);
    if (!op->controls) return false;
    /* one that is an input already orders the two as it is */
    for (size_t i = 0; i < current->n; i++) {
        bool is_input = false;
        for (uint32_t k = 0; k < op->input_count; k++)
            is_input |= op->inputs[k].op == current->items[i];
        if (!is_input) op->controls[op->control_count++] = current->items[i];
    }
    return true;
}

static const char *choose_op_name(sb_net *g, const op_spec *spec) {
    const char *wanted = spec->name ? spec->name : sb_op_kinds[spec->kind].type;
    size_t n = strlen(wanted);
    if (n == 0) return sb_net_fail(g, SB_INVALID, "the name of an op is empty");
    if (wanted[n - 1] != '/') return sb_net_unique_name(g, wanted);
    sb_slice copy = sb_arena_dup(&g->arena, sb_slice_of(wanted, n - 1));
    return copy.p ? (const char *)copy.p : sb_net_nomem(g);
}

/* Enters the op under its name, which the table of names has already. */
static bool file_op(sb_net *g, sb_op *op) {
    uint32_t id;
    sb_op **slot = SB_VEC_PUSH(&g->ops, NET_ALLOC, MAX_OPS);
    if (!slot || sb_intern_add(&g->names, sb_slice_str(op->name), &id, NULL) != SB_OK) return false;
    *slot = op;
    while (g->op_of_name.n <= id) {
        sb_op **none = SB_VEC_PUSH(&g->op_of_name, NET_ALLOC, SIZE_MAX);
        if (!none) return false;
        *none = NULL;
    }
    g->op_of_name.items[id] = op;
    return true;
}

sb_op *sb_net_add_op(sb_net *g, const op_spec *spec) {
    if (g->err.code != SB_OK) return NULL;
    for (size_t i = 0; i < spec->input_count; i++) {
        if (!spec->inputs[i].op)
            return sb_net_fail(g, SB_INVALID, "%s: input %zu is NULL", sb_op_kinds[spec->kind].type,
                               i);
        if (spec->inputs[i].op->net != g)
            return sb_net_fail(g, SB_INVALID, "%s: input %zu, %s, belongs to another graph",
                               sb_op_kinds[spec->kind].type, i, spec->inputs[i].op->name);
        if (spec->inputs[i].op->out_count <= spec->inputs[i].slot)
            return sb_net_fail(g, SB_INVALID, "%s: input %zu, %s (%s), has no value",
                               sb_op_kinds[spec->kind].type, i, spec->inputs[i].op->name,
                               spec->inputs[i].op->kind->type);
    }
    sb_op *op = sb_arena_zeroed(&g->arena, 1, sizeof *op);
    if (!op) return sb_net_nomem(g);
    op->net = g;
    op->kind = &sb_op_kinds[spec->kind];
    op->variable = UINT32_MAX;
    op->id = (uint32_t)g->ops.n;
    op->colocated = g->colocations.n ? g->colocations.items[g->colocations.n - 1] : NULL;
    op->name = choose_op_name(g, spec);
    if (!op->name) return NULL;
    if (!copy_parts(g, op, spec) || !copy_controls(g, op)) return sb_net_nomem(g);
    if (!op->kind->infer(op, spec)) return sb_net_nomem(g);
    for (uint32_t i = 0; i < op->out_count; i++)
        if (!sb_dims_count(&op->outs[i].dims, &op->outs[i].count))
            return sb_net_fail(g, SB_LIMIT, "%s: the shape %s is too large or makes no sense",
                               op->name, sb_show_dims(&op->outs[i].dims).text);
    if (!sb_fold_op(op) || !file_op(g, op)) return sb_net_nomem(g);
    return op;
}

sb_op *sb_net_op1(sb_net *g, op_id kind, sb_op *x, const char *name) {
    const port inputs[] = {port_of(x)};
    return x ? sb_net_add_op(g, OP_SPEC(kind, name, inputs, 1)) : NULL;
}

sb_op *sb_net_op2(sb_net *g, op_id kind, sb_op *x, sb_op *y, const char *name) {
    const port inputs[] = {port_of(x), port_of(y)};
    return x && y ? sb_net_add_op(g, OP_SPEC(kind, name, inputs, 2)) : NULL;
}

sb_op *sb_net_op3(sb_net *g, op_id kind, sb_op *x, sb_op *y, sb_op *z, const char *name) {
    const port inputs[] = {port_of(x), port_of(y), port_of(z)};
    return x && y && z ? sb_net_add_op(g, OP_SPEC(kind, name, inputs, 3)) : NULL;
}

/* ---- constants ------------------------------------------------------------------------------- */

sb_op *sb_net_const(sb_net *g, sb_dtype dtype, const sb_dims *dims, const void *value,
                    const char *name) {
    return sb_net_add_op(g, &(op_spec){.kind = OP_CONST,
                                       .name = name ? name : "Const",
                                       .dtype = dtype,
                                       .dims = *dims,
                                       .value = value});
}

sb_op *sb_net_const_ints(sb_net *g, const int64_t *value, size_t n, const char *name) {
    int32_t narrow[2 * SB_NET_MAX_RANK];
    const sb_dims dims = {1, {(int64_t)n}};
    for (size_t i = 0; i < n; i++) {
        if (value[i] > INT32_MAX || value[i] < INT32_MIN)
            return sb_net_fail(g, SB_LIMIT, "%lld does not fit into an int32", (long long)value[i]);
        narrow[i] = (int32_t)value[i];
    }
    return sb_net_const(g, SB_INT32, &dims, narrow, name);
}

sb_op *sb_net_const_int(sb_net *g, int32_t value, const char *name) {
    return sb_net_const(g, SB_INT32, &SB_SCALAR_DIMS, &value, name);
}

sb_op *sb_net_const_float(sb_net *g, float value, const char *name) {
    return sb_net_const(g, SB_FLOAT, &SB_SCALAR_DIMS, &value, name);
}

sb_op *sb_net_const_text(sb_net *g, sb_slice value, const char *name) {
    return sb_net_const(g, SB_STRING, &SB_SCALAR_DIMS, &value, name);
}
