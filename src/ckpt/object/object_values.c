/* object_values.c: values that a checkpoint keeps itself, under the name of an attribute: Python
 * state, the keys and values of tables.
 *
 * In a graph an attribute has a name and a key. Its tensor is stored under that key; a table's two
 * are stored under the key and a suffix. Here a value is called by both, as in "table-keys": all
 * before the first '-' is the attribute. */
#include "base/slice.h"
#include "ckpt/bundle/bundle_int.h"
#include "ckpt/object/object_int.h"
#include "codec/tensor.h"
#include "base/banned.h"

#define MOST_VALUES ((size_t)1 << 16)

sb_slice sb_value_attribute(sb_slice name) {
    const uint8_t *dash = name.n ? memchr(name.p, '-', name.n) : NULL;
    return dash ? sb_slice_of(name.p, (size_t)(dash - name.p)) : name;
}

bool sb_value_is_of(sb_slice name, sb_slice attribute) {
    return sb_slice_starts(name, attribute) &&
           (name.n == attribute.n || name.p[attribute.n] == '-');
}

sb_kept_value *sb_object_find_value(const sb_object *o, sb_slice name) {
    for (size_t i = 0; i < o->values.n; i++)
        if (sb_slice_eq(o->values.items[i].name, name)) return &o->values.items[i];
    return NULL;
}

/* ---- copies ---------------------------------------------------------------------------------- */

void sb_kept_init(sb_kept_value *v, const sb_alloc *alloc, sb_slice name) {
    *v = (sb_kept_value){.name = name};
    sb_arena_init(&v->arena, alloc, 256, SIZE_MAX / 2);
}

static bool copy_elements(sb_kept_value *v, const sb_array *from, size_t count) {
    size_t width = sb_dtype_size(from->dtype);
    if (width) {
        void *to = sb_arena_get(&v->arena, count * width);
        if (to && count) memcpy(to, from->data, count * width);
        v->array.data = to;
        return to != NULL;
    }
    const sb_slice *strings = from->data;
    sb_slice *to = sb_arena_zeroed(&v->arena, count, sizeof *to);
    for (size_t i = 0; to && i < count; i++) {
        to[i] = sb_arena_dup(&v->arena, strings[i]);
        if (!to[i].p) return false;
    }
    v->array.data = to;
    return to != NULL;
}

static bool copy_array(sb_kept_value *v, const sb_array *from, size_t count) {
    int64_t *dims = sb_arena_get(&v->arena, from->rank * sizeof *dims);
    if (!dims) return false;
    if (from->rank) memcpy(dims, from->dims, from->rank * sizeof *dims);
    v->array = (sb_array){.dtype = from->dtype, .rank = from->rank, .dims = dims};
    return copy_elements(v, from, count);
}

/* ---- setting and getting --------------------------------------------------------------------- */

static bool is_sound(const char *name, const sb_array *a, uint64_t *count) {
    bool has_elements = sb_dtype_size(a->dtype) || a->dtype == SB_STRING || a->dtype == SB_VARIANT;
    return name && *name && *name != '-' && strcmp(name, SB_ATTRIBUTE_VALUE) != 0 && has_elements &&
           !a->strides && a->rank <= SB_CKPT_MAX_RANK &&
           sb_bundle_count_elements(a->dims, a->rank, count) && *count <= SIZE_MAX / 16 &&
           (*count == 0 || a->data);
}

sb_status sb_object_set_value(sb_object *o, const char *name, const sb_array *value, sb_err *err) {
    const sb_alloc *alloc = o->c->env.alloc;
    uint64_t count;
    if (!is_sound(name, value, &count))
        return sb_fail(err, SB_INVALID, 0,
                       "'%s': a value needs a name other than " SB_ATTRIBUTE_VALUE
                       ", and a contiguous array of numbers or strings",
                       name ? name : "");
    sb_kept_value *found = sb_object_find_value(o, sb_slice_str(name)), fresh;
    sb_slice kept = found ? found->name : sb_arena_dup(&o->c->arena, sb_slice_str(name));
    sb_kept_init(&fresh, alloc, kept);
    if (!kept.p || !copy_array(&fresh, value, (size_t)count)) {
        sb_arena_fini(&fresh.arena);
        return sb_fail_nomem(err, "for a value");
    }
    if (found) {
        fresh.restored_by = found->restored_by;
        sb_arena_fini(&found->arena);
        *found = fresh;
        return SB_OK;
    }
    sb_kept_value *slot = SB_VEC_PUSH(&o->values, alloc, MOST_VALUES);
    if (!slot) {
        sb_arena_fini(&fresh.arena);
        return sb_fail_nomem(err, "for a value");
    }
    *slot = fresh;
    return sb_restore_deferred_value(o, o->values.n - 1, err);
}

sb_status sb_object_get_value(const sb_object *o, const char *name, sb_array *out, sb_err *err) {
    const sb_kept_value *v = sb_object_find_value(o, sb_slice_str(name));
    *out = (sb_array){.data = NULL};
    if (!v) return sb_fail(err, SB_NOT_FOUND, 0, "'%s': this object has no such value", name);
    *out = v->array;
    return SB_OK;
}

sb_status sb_kept_read(sb_kept_value *v, sb_bundle *b, const sb_bundle_tensor *t,
                       uint64_t restored_by, sb_err *err) {
    sb_kept_value fresh;
    sb_kept_init(&fresh, v->arena.alloc, v->name);
    fresh.restored_by = restored_by;
    int64_t *dims = sb_arena_get(&fresh.arena, t->rank * sizeof *dims);
    sb_status status = dims ? SB_OK : sb_fail_nomem(err, "for a value");
    if (status == SB_OK && t->rank) memcpy(dims, t->dims, t->rank * sizeof *dims);
    fresh.array = (sb_array){.dtype = t->dtype, .rank = t->rank, .dims = dims};
    if (status == SB_OK && sb_bundle_width(t) == 0) {
        sb_slice *strings = NULL;
        status = sb_bundle_read_strings(b, t, &fresh.arena, &strings, err);
        fresh.array.data = strings;
    } else if (status == SB_OK) {
        /* The entry is held against its file first: a lie takes no memory. */
        status = sb_bundle_verify(b, t, err);
        uint64_t bytes = sb_bundle_bytes(b, t);
        void *to = status == SB_OK ? sb_arena_get(&fresh.arena, (size_t)bytes) : NULL;
        if (status == SB_OK && !to) status = sb_fail_nomem(err, "for a value");
        if (status == SB_OK) status = sb_bundle_read_box(b, t, NULL, to, (size_t)bytes, err);
        fresh.array.data = to;
    }
    sb_arena_fini(status == SB_OK ? &v->arena : &fresh.arena);
    if (status == SB_OK) *v = fresh;
    return status;
}
