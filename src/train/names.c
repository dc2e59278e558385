/* names.c: names of ops: scopes, and what makes equal names unique, as TensorFlow 1 does; control
 * dependencies and colocations, which are scopes as well. */
#include <stdio.h>

#include "train/graph.h"
#include "base/banned.h"

#define MAX_NAME 4096

/* How often a name was asked for; a new one is entered with 0. NULL when memory is out. */
static uint32_t *uses_of(sb_net *g, const char *name, bool *is_new) {
    uint32_t id;
    if (sb_intern_add(&g->names, sb_slice_str(name), &id, is_new) != SB_OK) return NULL;
    while (g->name_uses.n <= id) {
        uint32_t *uses = SB_VEC_PUSH(&g->name_uses, NET_ALLOC, SIZE_MAX);
        if (!uses) return NULL;
        *uses = 0;
    }
    return &g->name_uses.items[id];
}

static const char *keep(sb_net *g, const char *name) {
    sb_slice copy = sb_arena_dup(&g->arena, sb_slice_str(name));
    return copy.p ? (const char *)copy.p : sb_net_nomem(g);
}

const char *sb_net_unique_name(sb_net *g, const char *name) {
    char base[MAX_NAME], full[MAX_NAME + 16];
    sb_slice scope = g->scopes.n ? g->scopes.items[g->scopes.n - 1] : (sb_slice){0};
    bool is_new;
    int n = snprintf(base, sizeof base, "%.*s%s", (int)scope.n,
                     scope.n ? (const char *)scope.p : "", name);
    if (n < 0 || (size_t)n >= sizeof base)
        return sb_net_fail(g, SB_LIMIT, "the name %.100s... is too long", name);
    uint32_t *uses = uses_of(g, base, &is_new);
    if (!uses) return sb_net_nomem(g);
    uint32_t i = (*uses)++;
    if (i == 0) return keep(g, base);
    do {
        snprintf(full, sizeof full, "%s_%u", base, i++);
        uses = uses_of(g, full, &is_new);
        if (!uses) return sb_net_nomem(g);
    } while (*uses > 0);
    *uses = 1;
    return keep(g, full);
}

const char *sb_net_scope(sb_net *g, const char *name) {
    char full[MAX_NAME + 32];
    size_t n = strlen(name);
    bool is_exact = n && name[n - 1] == '/';
    if (!is_exact) name = sb_net_unique_name(g, name);
    if (!name) name = "";
    int length = snprintf(full, sizeof full, is_exact ? "%s" : "%s/", name);
    sb_slice *slot = SB_VEC_PUSH(&g->scopes, NET_ALLOC, SIZE_MAX);
    const char *kept = length > 0 && (size_t)length < sizeof full ? keep(g, full) : NULL;
    if (!slot || !kept) {
        sb_net_nomem(g);
        if (slot) *slot = (sb_slice){0};
        return "";
    }
    *slot = sb_slice_str(kept);
    return kept;
}

void sb_net_scope_begin(sb_net *g, const char *name) {
    if (!name || !*name) sb_net_fail(g, SB_INVALID, "a scope needs a name");
    sb_net_scope(g, name && *name ? name : "scope");
}

void sb_net_scope_end(sb_net *g) {
    if (g->scopes.n)
        g->scopes.n--;
    else
        sb_net_fail(g, SB_INVALID, "a scope ends that did not begin");
}

void sb_net_control_begin(sb_net *g, sb_op *const *ops, size_t count) {
    op_pointers *outer = g->controls.n ? &g->controls.items[g->controls.n - 1] : NULL;
    op_pointers made = {0};
    size_t inherited = outer ? outer->n : 0;
    for (size_t i = 0; i < inherited + count; i++) {
        sb_op **slot = SB_VEC_PUSH(&made, NET_ALLOC, MAX_OPS);
        if (!slot) sb_net_nomem(g);
        if (slot) *slot = i < inherited ? outer->items[i] : ops[i - inherited];
        if (slot && !*slot) {
            sb_net_fail(g, SB_INVALID, "a control dependency is NULL");
            made.n--;
        }
    }
    op_pointers *slot = SB_VEC_PUSH(&g->controls, NET_ALLOC, SIZE_MAX);
    if (slot)
        *slot = made;
    else
        sb_net_nomem(g);
}

void sb_net_control_end(sb_net *g) {
    if (!g->controls.n) {
        sb_net_fail(g, SB_INVALID, "control dependencies end that did not begin");
        return;
    }
    g->controls.n--;
    SB_VEC_FREE(&g->controls.items[g->controls.n], NET_ALLOC);
}

void sb_net_colocate_begin(sb_net *g, const sb_op *op) {
    const sb_op **slot = SB_VEC_PUSH(&g->colocations, NET_ALLOC, SIZE_MAX);
    if (slot)
        *slot = op;
    else
        sb_net_nomem(g);
}

void sb_net_colocate_end(sb_net *g) {
    if (g->colocations.n) g->colocations.n--;
}
