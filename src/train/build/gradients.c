/* gradients.c: reverse mode: adds ops that compute derivatives, in the order and with the names of
 * TensorFlow's gradients().
 *
 * Ops between xs and y are visited backwards, each when the gradients of all its uses are there.
 * Several gradients of one output are added up by AddN. The gradients of one op's inputs are tied
 * together (tuple), so that no variable changes before all of them are computed. */
#include <stdio.h>

#include "train/build/build.h"
#include "base/banned.h"

typedef struct port_list {
    port *items;
    size_t n, room;
} port_list;

typedef struct backward {
    sb_net *g;
    size_t count;      /* ops before this call */
    bool *reached;     /* depends on an x */
    bool *between;     /* and y depends on it */
    uint32_t *pending; /* uses whose gradients are not there yet */
    port_list **grads; /* by op and output */
    op_pointers ready; /* a queue */
    size_t taken;      /* of ready */
    const char *scope;
} backward;

static bool is_x(sb_op *const *xs, size_t count, const sb_op *op) {
    for (size_t i = 0; i < count; i++) {
        const var_ops *v = sb_net_variable_of_op(xs[i]);
        if (op == (v ? v->ref : xs[i])) return true;
    }
    return false;
}

static void mark_between(backward *b, const sb_op *y, sb_op *const *xs, size_t count) {
    for (size_t i = 0; i < b->count; i++) {
        const sb_op *op = b->g->ops.items[i];
        b->reached[i] = is_x(xs, count, op);
        for (uint32_t k = 0; k < op->input_count && !b->reached[i]; k++)
            b->reached[i] = b->reached[op->inputs[k].op->id];
    }
    b->between[y->id] = b->reached[y->id];
    for (size_t i = y->id + 1; i-- > 0;) {
        const sb_op *op = b->g->ops.items[i];
        if (!b->between[i] || is_x(xs, count, op)) continue;
        for (uint32_t k = 0; k < op->input_count; k++) {
            uint32_t id = op->inputs[k].op->id;
            if (!b->reached[id]) continue;
            b->between[id] = true;
            b->pending[id]++;
        }
    }
}

static bool push_grad(backward *b, port to, port grad) {
    port_list *lists = b->grads[to.op->id];
    if (!lists) {
        lists = sb_arena_zeroed(&b->g->arena, to.op->out_count, sizeof *lists);
        if (!lists) return false;
        b->grads[to.op->id] = lists;
    }
    port *slot = SB_VEC_PUSH(&lists[to.slot], NET_ALLOC, SIZE_MAX);
    if (slot) *slot = grad;
    return slot != NULL;
}

/* The sum of all gradients of an output; {NULL} when there is none. */
static port sum_of(backward *b, const sb_op *op, uint32_t slot) {
    port_list *lists = b->grads[op->id];
    if (!lists || lists[slot].n == 0) return (port){0};
    if (lists[slot].n > 1) {
        sb_op *sum = sb_net_add_op(b->g, &(op_spec){.kind = OP_ADD_N,
                                                    .inputs = lists[slot].items,
                                                    .input_count = lists[slot].n});
        if (!sum) return (port){0};
        lists[slot].items[0] = port_of(sum);
        lists[slot].n = 1;
    }
    return lists[slot].items[0];
}

/* Identities behind a NoOp that waits for all of them. */
static void tie_together(sb_net *g, port *dx, size_t n) {
    sb_op *deps[8];
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += dx[i].op != NULL;
    if (count < 2 || n > 8) return;
    sb_net_scope(g, "tuple");
    count = 0;
    for (size_t i = 0; i < n; i++)
        if (dx[i].op) deps[count++] = dx[i].op;
    sb_op *group = sb_net_group(g, deps, count, "group_deps");
    sb_net_control_begin(g, &group, group ? 1 : 0);
    for (size_t i = 0; i < n; i++) {
        if (!dx[i].op) continue;
        sb_net_colocate_begin(g, dx[i].op);
        dx[i] = port_of(sb_net_op1(g, OP_IDENTITY, dx[i].op, "control_dependency"));
        sb_net_colocate_end(g);
    }
    sb_net_control_end(g);
    sb_net_scope_end(g);
}

/* Adds the gradient ops of one op: dx from dy. */
static bool visit(backward *b, sb_op *op, port *dx) {
    port dy[4] = {{0}};
    bool any = false;
    for (uint32_t i = 0; i < op->out_count && i < 4; i++) {
        dy[i] = sum_of(b, op, i);
        any |= dy[i].op != NULL;
    }
    if (!any) return true;
    if (!op->kind->grad) {
        bool is_flat = is_kind(op, OP_FLOOR) || is_kind(op, OP_ZEROS_LIKE); /* 0 everywhere */
        if (is_flat || op->outs[0].dtype != SB_FLOAT) return true;
        return sb_net_fail(b->g, SB_INVALID, "gradients: %s (%s) has no gradient in this engine",
                           op->name, op->kind->type);
    }
    /* an output that nobody uses: TensorFlow makes zeros for it */
    for (uint32_t i = 0; i < op->out_count && i < 4; i++)
        if (!dy[i].op && op->outs[i].dtype == SB_FLOAT) {
            const port from = {op, i};
            dy[i] = port_of(sb_net_add_op(b->g, &(op_spec){.kind = OP_ZEROS_LIKE,
                                                           .name = "zeros_like",
                                                           .inputs = &from,
                                                           .input_count = 1}));
        }
    char scope[4096];
    int n = snprintf(scope, sizeof scope, "%s_grad", op->name);
    if (n < 0 || (size_t)n >= sizeof scope)
        return sb_net_fail(b->g, SB_LIMIT, "a name is too long");
    sb_net_scope(b->g, scope);
    bool done = op->kind->grad(op, dy, dx);
    if (done && !is_kind(op, OP_IDENTITY)) tie_together(b->g, dx, op->input_count);
    sb_net_scope_end(b->g);
    return done && b->g->err.code == SB_OK;
}

static bool run_backwards(backward *b, sb_op *const *xs, size_t count) {
    while (b->taken < b->ready.n) {
        sb_op *op = b->ready.items[b->taken++];
        port *dx = sb_arena_zeroed(&b->g->arena, op->input_count + 1, sizeof *dx);
        if (!dx) return sb_net_nomem(b->g);
        if (is_x(xs, count, op)) continue;
        if (!visit(b, op, dx)) return false;
        for (uint32_t i = 0; i < op->input_count; i++) {
            port to = op->inputs[i];
            if (dx[i].op && !push_grad(b, to, dx[i])) return sb_net_nomem(b->g);
            if (!b->between[to.op->id]) continue;
            if (b->pending[to.op->id] == 0 || --b->pending[to.op->id] > 0) continue;
            sb_op **slot = SB_VEC_PUSH(&b->ready, NET_ALLOC, MAX_OPS);
            if (!slot) return sb_net_nomem(b->g);
            *slot = to.op;
        }
    }
    return true;
}

/* dy/dy = 1. */
static bool seed(backward *b, sb_op *y) {
    const sb_dims *dims = sb_op_dims(y);
    sb_op *shape = sb_net_const_ints(b->g, dims->at, dims->rank, "Shape");
    sb_op *one = sb_net_const_float(b->g, 1, "Const");
    sb_op *ones = sb_net_op2(b->g, OP_FILL, shape, one, "Fill");
    sb_op **slot = SB_VEC_PUSH(&b->ready, NET_ALLOC, MAX_OPS);
    if (!slot) return sb_net_nomem(b->g);
    *slot = y;
    return ones && (push_grad(b, port_of(y), port_of(ones)) || sb_net_nomem(b->g));
}

static bool prepare(backward *b, sb_net *g) {
    *b = (backward){.g = g, .count = g->ops.n};
    b->reached = sb_alloc_zeroed(NET_ALLOC, b->count + 1, sizeof *b->reached);
    b->between = sb_alloc_zeroed(NET_ALLOC, b->count + 1, sizeof *b->between);
    b->pending = sb_alloc_zeroed(NET_ALLOC, b->count + 1, sizeof *b->pending);
    b->grads = sb_alloc_zeroed(NET_ALLOC, b->count + 1, sizeof *b->grads);
    return b->reached && b->between && b->pending && b->grads;
}

static void finish(backward *b) {
    for (size_t i = 0; i < b->count && b->grads; i++)
        for (uint32_t k = 0; b->grads[i] && k < b->g->ops.items[i]->out_count; k++)
            SB_VEC_FREE(&b->grads[i][k], NET_ALLOC);
    SB_VEC_FREE(&b->ready, NET_ALLOC);
    sb_alloc_put(NET_ALLOC, b->reached, (b->count + 1) * sizeof *b->reached);
    sb_alloc_put(NET_ALLOC, b->between, (b->count + 1) * sizeof *b->between);
    sb_alloc_put(NET_ALLOC, b->pending, (b->count + 1) * sizeof *b->pending);
    sb_alloc_put(NET_ALLOC, b->grads, (b->count + 1) * sizeof *b->grads);
}

bool sb_net_gradients(sb_net *g, sb_op *y, sb_op *const *xs, size_t count, sb_op **grads) {
    backward b;
    for (size_t i = 0; i < count; i++) grads[i] = NULL;
    if (!y || g->err.code != SB_OK) return false;
    for (size_t i = 0; i < count; i++)
        if (!xs[i]) return sb_net_fail(g, SB_INVALID, "gradients: x %zu is NULL", i);
    if (sb_op_dtype(y) != SB_FLOAT)
        return sb_net_fail(g, SB_INVALID, "gradients: %s is no float32", y->name);
    bool done = prepare(&b, g) || sb_net_nomem(g);
    sb_net_scope(g, "gradients");
    if (done) {
        mark_between(&b, y, xs, count);
        /* a y that depends on no x has no gradient, and nothing is added */
        if (b.between[y->id]) done = seed(&b, y) && run_backwards(&b, xs, count);
    }
    for (size_t i = 0; i < count && done; i++) {
        const var_ops *v = sb_net_variable_of_op(xs[i]);
        grads[i] = sum_of(&b, v ? v->ref : xs[i], 0).op;
    }
    sb_net_scope_end(g);
    finish(&b);
    return done && g->err.code == SB_OK;
}
