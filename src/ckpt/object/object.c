/* object.c: builds the tree of objects. */
#include "base/sized.h"
#include "base/slice.h"
#include "ckpt/bundle/bundle_int.h"
#include "ckpt/object/object_int.h"
#include "codec/tensor.h"
#include "fsio/fs.h"
#include "base/banned.h"

#define MOST_OBJECTS ((size_t)1 << 24)
#define ARENA_BLOCK ((size_t)64 << 10)

/* ---- the checkpoint -------------------------------------------------------------------------- */

static sb_object *new_object(sb_checkpoint *c) {
    sb_object **slot = SB_VEC_PUSH(&c->objects, c->env.alloc, MOST_OBJECTS);
    if (!slot) return NULL;
    *slot = sb_alloc_zeroed(c->env.alloc, 1, sizeof **slot);
    if (!*slot) {
        c->objects.n--;
        return NULL;
    }
    (*slot)->c = c;
    return *slot;
}

sb_status sb_checkpoint_new_env(sb_checkpoint **out, const sb_env *env, sb_err *err) {
    *out = NULL;
    sb_checkpoint *c = sb_alloc_zeroed(env->alloc, 1, sizeof *c);
    if (!c) return sb_fail_nomem(err, "for a checkpoint");
    c->env = *env;
    sb_arena_init(&c->arena, env->alloc, ARENA_BLOCK, SIZE_MAX / 2);
    sb_buf_init(&c->path, env->alloc, 1 << 16);
    c->root = new_object(c);
    if (!c->root) {
        sb_checkpoint_free(c);
        return sb_fail_nomem(err, "for a checkpoint");
    }
    *out = c;
    return SB_OK;
}

sb_status sb_checkpoint_new(sb_checkpoint **out, sb_err *err) {
    static const sb_env env = {&sb_alloc_libc, &sb_fs_local, &sb_clock_system};
    return sb_checkpoint_new_env(out, &env, err);
}

/* All that an object holds; the object itself stays, as it was when it was new. */
static void empty_object(sb_object *o) {
    sb_checkpoint *c = o->c;
    const sb_alloc *alloc = c->env.alloc;
    SB_VEC_FREE(&o->edges, alloc);
    sb_alloc_put(alloc, o->table, o->table_size * sizeof *o->table);
    SB_VEC_FREE(&o->slots, alloc);
    SB_VEC_FREE(&o->deferred, alloc);
    for (size_t k = 0; k < o->values.n; k++) sb_arena_fini(&o->values.items[k].arena);
    SB_VEC_FREE(&o->values, alloc);
    if (o->strings.alloc) sb_arena_fini(&o->strings);
    *o = (sb_object){.c = c};
}

static void free_restores(sb_checkpoint *c) {
    for (size_t i = 0; i < c->restores.n; i++) sb_restore_free(c->restores.items[i]);
    c->restores.n = 0;
}

void sb_checkpoint_clear(sb_checkpoint *c) {
    free_restores(c);
    for (size_t i = 0; i < c->objects.n; i++) {
        empty_object(c->objects.items[i]);
        if (c->objects.items[i] != c->root)
            sb_alloc_put(c->env.alloc, c->objects.items[i], sizeof **c->objects.items);
    }
    c->objects.n = 1;
    c->objects.items[0] = c->root;
    c->counter = NULL;
    sb_arena_fini(&c->arena);
    sb_arena_init(&c->arena, c->env.alloc, ARENA_BLOCK, SIZE_MAX / 2);
}

void sb_checkpoint_free(sb_checkpoint *c) {
    if (!c) return;
    sb_env env = c->env;
    free_restores(c);
    SB_VEC_FREE(&c->restores, env.alloc);
    for (size_t i = 0; i < c->objects.n; i++) {
        empty_object(c->objects.items[i]);
        sb_alloc_put(env.alloc, c->objects.items[i], sizeof **c->objects.items);
    }
    SB_VEC_FREE(&c->objects, env.alloc);
    sb_buf_fini(&c->path);
    sb_arena_fini(&c->arena);
    sb_alloc_put(env.alloc, c, sizeof *c);
}

sb_object *sb_checkpoint_root(sb_checkpoint *c) {
    return c->root;
}

int64_t sb_checkpoint_save_counter(const sb_checkpoint *c) {
    return c->save_counter;
}

void sb_checkpoint_set_save_counter(sb_checkpoint *c, int64_t count) {
    c->save_counter = count;
}

bool sb_object_is_restored(const sb_object *object, const char *value) {
    if (!value) return object->restored_by != 0;
    const sb_kept_value *kept = sb_object_find_value(object, sb_slice_str(value));
    return kept && kept->restored_by != 0;
}

const char *sb_object_awaited(const sb_object *object, size_t i) {
    for (size_t k = object->deferred_begin; k < object->deferred.n; k++)
        if (object->deferred.items[k].restore && i-- == 0)
            return (const char *)sb_arena_dup(&object->c->arena, object->deferred.items[k].name).p;
    return NULL;
}

/* ---- edges ----------------------------------------------------------------------------------- */

/* Few edges are searched one by one, more are found by a table. */
#define FEW_EDGES 16

static size_t hash(sb_slice name) {
    uint64_t x = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < name.n; i++) x = (x ^ name.p[i]) * 1099511628211u;
    return (size_t)(x ^ x >> 32);
}

/* The place of a name in the table, or the free one where it belongs. */
static size_t slot_of_edge(const sb_object *o, sb_slice name) {
    size_t at = hash(name) & (o->table_size - 1);
    while (o->table[at] && !sb_slice_eq(o->edges.items[o->table[at] - 1].name, name))
        at = (at + 1) & (o->table_size - 1);
    return at;
}

/* Makes the table anew, twice as large, when it is more than half full. */
static bool grow_table(sb_object *o) {
    const sb_alloc *alloc = o->c->env.alloc;
    if (o->edges.n <= FEW_EDGES || o->table_size >= 2 * o->edges.n) return true;
    size_t size = o->table_size ? 2 * o->table_size : 4 * FEW_EDGES;
    uint32_t *table = sb_alloc_zeroed(alloc, size, sizeof *table);
    if (!table) return false;
    sb_alloc_put(alloc, o->table, o->table_size * sizeof *table);
    o->table = table;
    o->table_size = size;
    for (size_t i = 0; i < o->edges.n; i++)
        table[slot_of_edge(o, o->edges.items[i].name)] = (uint32_t)(i + 1);
    return true;
}

sb_object *sb_object_child(const sb_object *o, sb_slice name) {
    if (o->table_size) {
        uint32_t found = o->table[slot_of_edge(o, name)];
        return found ? o->edges.items[found - 1].child : NULL;
    }
    for (size_t i = 0; i < o->edges.n; i++)
        if (sb_slice_eq(o->edges.items[i].name, name)) return o->edges.items[i].child;
    return NULL;
}

static sb_status add_edge(sb_object *parent, const char *name, sb_object *child, sb_err *err) {
    sb_checkpoint *c = parent->c;
    if (!name || !*name)
        return sb_fail(err, SB_INVALID, 0, "an object needs a name under its parent");
    if (sb_object_child(parent, sb_slice_str(name)))
        return sb_fail(err, SB_INVALID, 0, "'%s': there is an object of that name already", name);
    sb_slice copy = sb_arena_dup(&c->arena, sb_slice_str(name));
    sb_object_edge *edge = copy.p ? SB_VEC_PUSH(&parent->edges, c->env.alloc, MOST_OBJECTS) : NULL;
    if (!edge) return sb_fail_nomem(err, "for an object");
    *edge = (sb_object_edge){copy, child};
    if (!child->name.p) child->name = copy;
    if (!grow_table(parent)) {
        parent->edges.n--;
        return sb_fail_nomem(err, "for an object");
    }
    if (parent->table_size) parent->table[slot_of_edge(parent, copy)] = (uint32_t)parent->edges.n;
    return SB_OK;
}

/* Adds the edge, then what earlier restores have for it. */
static sb_status attach(sb_object *parent, const char *name, sb_object *child, sb_err *err) {
    sb_status status = add_edge(parent, name, child, err);
    if (status != SB_OK) return status;
    return sb_restore_deferred_child(parent, &parent->edges.items[parent->edges.n - 1], err);
}

sb_status sb_object_link(sb_object *parent, const char *name, sb_object *child, sb_err *err) {
    if (parent->c != child->c)
        return sb_fail(err, SB_INVALID, 0, "'%s': the two objects are of different checkpoints",
                       name);
    return attach(parent, name, child, err);
}

sb_status sb_object_add(sb_object **out, sb_object *parent, const char *name, sb_err *err) {
    *out = new_object(parent->c);
    if (!*out) return sb_fail_nomem(err, "for an object");
    return attach(parent, name, *out, err);
}

/* ---- variables ------------------------------------------------------------------------------- */

/* An object that is a variable; it has no edge yet. */
static sb_status new_variable(sb_object **out, sb_checkpoint *c, const char *name,
                              const sb_variable *given, sb_err *err) {
    sb_variable v = {0};
    sb_status status = sb_sized_read(&v, sizeof v, given, 0, "sb_variable", err);
    if (status != SB_OK) return status;
    uint64_t count;
    if (v.rank > SB_CKPT_MAX_RANK || !sb_bundle_count_elements(v.dims, v.rank, &count) ||
        count > SIZE_MAX / 16 || (sb_dtype_size(v.dtype) == 0 && v.dtype != SB_STRING) ||
        (count && !v.data))
        return sb_fail(err, SB_INVALID, 0,
                       "'%s': a variable needs a type with numbers or strings, a shape that makes "
                       "sense, and memory",
                       name);
    sb_object *o = new_object(c);
    int64_t *dims = sb_arena_get(&c->arena, v.rank * sizeof *dims);
    sb_slice full_name = sb_arena_dup(&c->arena, sb_slice_str(v.full_name ? v.full_name : name));
    if (!o || !dims || !full_name.p) return sb_fail_nomem(err, "for a variable");
    if (v.rank) memcpy(dims, v.dims, v.rank * sizeof *dims);
    o->is_variable = true;
    o->dtype = v.dtype;
    o->rank = v.rank;
    o->dims = dims;
    o->count = count;
    o->data = v.data;
    o->full_name = full_name;
    *out = o;
    return SB_OK;
}

sb_status sb_object_add_variable(sb_object **out, sb_object *parent, const char *name,
                                 const sb_variable *variable, sb_err *err) {
    sb_object *o = NULL;
    if (!name) return sb_fail(err, SB_INVALID, 0, "a variable needs a name under its parent");
    sb_status status = new_variable(&o, parent->c, name, variable, err);
    if (status == SB_OK) status = attach(parent, name, o, err);
    if (out) *out = o;
    return status;
}

sb_status sb_object_add_slot(sb_object **out, sb_object *optimizer, sb_object *variable,
                             const char *slot, const sb_variable *value, sb_err *err) {
    sb_checkpoint *c = optimizer->c;
    sb_object *o = NULL;
    if (!slot || !*slot || variable->c != c || !variable->is_variable)
        return sb_fail(err, SB_INVALID, 0, "a slot needs a name and a variable of its checkpoint");
    sb_slice name = sb_arena_dup(&c->arena, sb_slice_str(slot));
    if (!name.p) return sb_fail_nomem(err, "for a slot");
    for (size_t i = 0; i < optimizer->slots.n; i++)
        if (optimizer->slots.items[i].variable == variable &&
            sb_slice_eq(optimizer->slots.items[i].name, name))
            return sb_fail(err, SB_INVALID, 0, "'%s': this variable has such a slot already", slot);
    sb_status status = new_variable(&o, c, slot, value, err);
    if (status != SB_OK) return status;
    sb_object_slot *place = SB_VEC_PUSH(&optimizer->slots, c->env.alloc, MOST_OBJECTS);
    if (!place) return sb_fail_nomem(err, "for a slot");
    *place = (sb_object_slot){name, variable, o};
    if (out) *out = o;
    return sb_restore_deferred_slots(c, err);
}

sb_status sb_checkpoint_need_counter(sb_checkpoint *c, sb_err *err) {
    if (c->counter) return SB_OK;
    sb_variable v = {.size = sizeof v, .dtype = SB_INT64, .data = &c->save_counter};
    sb_status status = new_variable(&c->counter, c, SB_SAVE_COUNTER, &v, err);
    return status == SB_OK ? attach(c->root, SB_SAVE_COUNTER, c->counter, err) : status;
}
