/* optimizers.c: gradient descent, momentum and Adam: gradients, slots, updates, counting. Names and
 * order are those of TensorFlow 1.4's optimizers, so that checkpoints can be exchanged. */
#include <stdio.h>

#include "base/sized.h"
#include "train/build/build.h"
#include "base/banned.h"

static const char *const names[] = {
    [SB_GRADIENT_DESCENT] = "GradientDescent", [SB_MOMENTUM] = "Momentum", [SB_ADAM] = "Adam"};

typedef struct training {
    sb_net *g;
    sb_optimizer o;
    size_t count; /* of trainable variables */
    sb_op **values, **grads, **updates;
    sb_op **slots; /* two a variable */
    sb_op *rate, *momentum, *beta1, *beta2, *epsilon;
    sb_op *beta1_power, *beta2_power; /* values of the two variables */
} training;

sb_op *sb_net_slot(sb_net *g, const var_ops *owner, const char *name) {
    char full[4096];
    size_t count = owner->ref->outs[0].count;
    int n = snprintf(full, sizeof full, "%s/%s", owner->ref->name, name);
    if (n < 0 || (size_t)n >= sizeof full - 64)
        return sb_net_fail(g, SB_LIMIT, "a name is too long");
    float *zeros = sb_alloc_zeroed(NET_ALLOC, count + 1, sizeof *zeros);
    if (!zeros) return sb_net_nomem(g);
    /* slots do not belong to the scope that is open */
    sb_slice *none = SB_VEC_PUSH(&g->scopes, NET_ALLOC, SIZE_MAX);
    if (none) *none = (sb_slice){0};
    const char *unique = sb_net_unique_name(g, full);
    snprintf(full, sizeof full, "%s/Initializer/zeros", unique ? unique : "");
    sb_net_colocate_begin(g, owner->ref);
    sb_op *initial = sb_net_const(g, SB_FLOAT, &owner->ref->outs[0].dims, zeros, full);
    sb_net_colocate_end(g);
    snprintf(full, sizeof full, "%s/", unique ? unique : "");
    sb_op *slot = sb_net_variable(g, initial, false, full);
    if (none) g->scopes.n--;
    sb_alloc_put(NET_ALLOC, zeros, (count + 1) * sizeof *zeros);
    return slot;
}

static sb_op *power_variable(sb_net *g, float value, const char *name) {
    return sb_net_variable_of(g, &(sb_array){.data = &value, .dtype = SB_FLOAT}, false, name);
}

static void add_slots(training *t) {
    if (t->o.kind == SB_ADAM) {
        t->beta1_power = power_variable(t->g, (float)t->o.beta1, "beta1_power");
        t->beta2_power = power_variable(t->g, (float)t->o.beta2, "beta2_power");
    }
    if (t->o.kind == SB_GRADIENT_DESCENT) return;
    for (size_t i = 0; i < t->count; i++) {
        if (!t->grads[i]) continue;
        /* a copy: adding variables moves the list */
        var_ops owner = *sb_net_variable_of_op(t->values[i]);
        t->slots[2 * i] = sb_net_slot(t->g, &owner, names[t->o.kind]);
        if (t->o.kind == SB_ADAM) t->slots[2 * i + 1] = sb_net_slot(t->g, &owner, "Adam");
    }
}

static void add_numbers(training *t) {
    sb_net *g = t->g;
    t->rate = sb_net_const_float(g, (float)t->o.learning_rate, "learning_rate");
    if (t->o.kind == SB_MOMENTUM)
        t->momentum = sb_net_const_float(g, (float)t->o.momentum, "momentum");
    if (t->o.kind != SB_ADAM) return;
    t->beta1 = sb_net_const_float(g, (float)t->o.beta1, "beta1");
    t->beta2 = sb_net_const_float(g, (float)t->o.beta2, "beta2");
    t->epsilon = sb_net_const_float(g, (float)t->o.epsilon, "epsilon");
}

static sb_op *ref_of(sb_op *value) {
    return value ? sb_net_variable_of_op(value)->ref : NULL;
}

static sb_op *add_update(training *t, size_t i) {
    port in[10];
    size_t n = 0;
    op_id kind = OP_APPLY_GRADIENT_DESCENT;
    const attr nesterov = {.name = "use_nesterov", .type = ATTR_BOOL, .i = t->o.nesterov != 0};
    sb_op *const *slots = &t->slots[2 * i];
    sb_op *ref = ref_of(t->values[i]);
    in[n++] = port_of(ref);
    if (t->o.kind == SB_GRADIENT_DESCENT) {
        in[n++] = port_of(t->rate);
        in[n++] = port_of(t->grads[i]);
    } else if (t->o.kind == SB_MOMENTUM) {
        kind = OP_APPLY_MOMENTUM;
        sb_op *const rest[] = {ref_of(slots[0]), t->rate, t->grads[i], t->momentum};
        for (size_t k = 0; k < 4; k++) in[n++] = port_of(rest[k]);
    } else {
        kind = OP_APPLY_ADAM;
        sb_op *const rest[] = {ref_of(slots[0]), ref_of(slots[1]), t->beta1_power,
                               t->beta2_power,   t->rate,          t->beta1,
                               t->beta2,         t->epsilon,       t->grads[i]};
        for (size_t k = 0; k < 9; k++) in[n++] = port_of(rest[k]);
    }
    char scope[4096];
    int length = snprintf(scope, sizeof scope, "update_%s", ref->name);
    if (length < 0 || (size_t)length >= sizeof scope)
        return sb_net_fail(t->g, SB_LIMIT, "a name is too long");
    sb_net_scope(t->g, scope);
    sb_net_colocate_begin(t->g, ref);
    sb_op *op = sb_net_add_op(
        t->g, OP_SPEC_ATTRS(kind, NULL, in, n, &nesterov, kind == OP_APPLY_MOMENTUM ? 1 : 0));
    sb_net_colocate_end(t->g);
    sb_net_scope_end(t->g);
    return op;
}

static sb_op *multiply_power(training *t, sb_op *power, sb_op *beta) {
    sb_op *next = sb_net_op2(t->g, OP_MUL, power, beta, "mul");
    return sb_net_op2(t->g, OP_ASSIGN, ref_of(power), next, "Assign");
}

/* One op that waits for all updates; Adam's powers go on behind them. */
static sb_op *finish_updates(training *t, size_t updates, const char *name) {
    if (t->o.kind == SB_ADAM && t->beta1_power) {
        sb_net_control_begin(t->g, t->updates, updates);
        sb_net_colocate_begin(t->g, ref_of(t->beta1_power));
        sb_op *first = multiply_power(t, t->beta1_power, t->beta1);
        sb_op *second = multiply_power(t, t->beta2_power, t->beta2);
        sb_net_colocate_end(t->g);
        sb_net_control_end(t->g);
        t->updates[updates++] = first;
        t->updates[updates++] = second;
    }
    return sb_net_group(t->g, t->updates, updates, name);
}

static sb_op *add_training(training *t, sb_op *global_step) {
    sb_net *g = t->g;
    size_t updates = 0;
    sb_op *op;
    add_slots(t);
    const char *scope = sb_net_scope(g, names[t->o.kind]);
    add_numbers(t);
    for (size_t i = 0; i < t->count && g->err.code == SB_OK; i++)
        if (t->grads[i]) t->updates[updates++] = add_update(t, i);
    if (g->err.code != SB_OK) {
        op = NULL;
    } else if (!global_step) {
        op = finish_updates(t, updates, scope);
    } else {
        sb_op *ref = ref_of(global_step);
        sb_op *done = finish_updates(t, updates, "update");
        sb_net_control_begin(g, &done, 1);
        sb_net_colocate_begin(g, ref);
        sb_op *one = sb_net_const_int(g, 1, "value");
        sb_net_control_end(g);
        op = sb_net_op2(g, OP_ASSIGN_ADD, ref, one, scope);
        sb_net_colocate_end(g);
    }
    sb_net_scope_end(g);
    return op;
}

static bool take_options(training *t, const sb_optimizer *optimizer) {
    if (sb_sized_read(&t->o, sizeof t->o, optimizer, 0, "sb_optimizer", &t->g->err) != SB_OK)
        return false;
    if ((unsigned)t->o.kind > SB_ADAM)
        return sb_net_fail(t->g, SB_INVALID, "minimize: there is no optimizer %d", (int)t->o.kind);
    if (t->o.beta1 == 0) t->o.beta1 = 0.9;
    if (t->o.beta2 == 0) t->o.beta2 = 0.999;
    if (t->o.epsilon == 0) t->o.epsilon = 1e-8;
    return true;
}

/* The trainable variables in the order in which they were added. */
static bool take_variables(training *t) {
    size_t most = t->g->variables.n;
    t->values = sb_arena_zeroed(&t->g->arena, most + 1, sizeof *t->values);
    t->grads = sb_arena_zeroed(&t->g->arena, most + 1, sizeof *t->grads);
    t->updates = sb_arena_zeroed(&t->g->arena, most + 3, sizeof *t->updates);
    t->slots = sb_arena_zeroed(&t->g->arena, 2 * most + 1, sizeof *t->slots);
    if (!t->values || !t->grads || !t->updates || !t->slots) return sb_net_nomem(t->g);
    for (size_t i = 0; i < most; i++)
        if (t->g->variables.items[i].trainable)
            t->values[t->count++] = t->g->variables.items[i].read;
    return true;
}

sb_op *sb_net_minimize(sb_net *g, const sb_optimizer *optimizer, sb_op *loss, sb_op *global_step) {
    training t = {.g = g};
    if (!loss || g->err.code != SB_OK || !take_options(&t, optimizer) || !take_variables(&t))
        return NULL;
    if (global_step && (!sb_net_variable_of_op(global_step) ||
                        sb_op_dtype(global_step) != SB_INT32 || sb_op_dims(global_step)->rank != 0))
        return sb_net_fail(g, SB_INVALID, "minimize: %s is no int32 variable without dimensions",
                           global_step->name);
    if (!sb_net_gradients(g, loss, t.values, t.count, t.grads)) return NULL;
    bool any = false;
    for (size_t i = 0; i < t.count; i++) any |= t.grads[i] != NULL;
    if (!any)
        return sb_net_fail(g, SB_INVALID, "minimize: %s does not depend on a trainable variable",
                           loss->name);
    sb_op *op = add_training(&t, global_step);
    if (!op) return NULL;
    sb_op **slot = SB_VEC_PUSH(&g->train_ops, NET_ALLOC, MAX_OPS);
    if (!slot) return sb_net_nomem(g);
    *slot = op;
    return op;
}
