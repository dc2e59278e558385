/* object_restore.c: matches the objects of a file with those of the program, and assigns values.
 *
 * Node 0 is the root. From a pair of node and object the pairs of their children follow by the
 * names of edges; what the file has and the program has not is left at the object, under its name,
 * for later. The first pair of a node stands. Types and shapes of all values are compared before
 * the first one is read; all are read at once, on all processors.
 *
 * Each restore has a number, and an object remembers the number that set it: a value that was left
 * for later never overwrites one of a newer restore. */
#include "base/search.h"
#include "base/slice.h"
#include "ckpt/object/graph_keys.h"
#include "ckpt/object/restore_int.h"
#include "codec/tensor.h"
#include "base/banned.h"

/* ---- values ---------------------------------------------------------------------------------- */

static void add_form(sb_buf *out, sb_dtype dtype, uint32_t rank, const int64_t *dims) {
    sb_buf_printf(out, "%s [", sb_dtype_name(dtype));
    for (uint32_t d = 0; d < rank; d++)
        sb_buf_printf(out, "%s%lld", d ? ", " : "", (long long)dims[d]);
    sb_buf_add_byte(out, ']');
}

static sb_status wrong_form(const sb_restore *r, const sb_bundle_tensor *t, sb_dtype dtype,
                            uint32_t rank, const int64_t *dims, sb_err *err) {
    sb_buf text;
    sb_buf_init(&text, r->c->env.alloc, 1 << 16);
    sb_buf_add_str(&text, "the file has ");
    add_form(&text, t->dtype, t->rank, t->dims);
    sb_buf_add_str(&text, ", the program has ");
    add_form(&text, dtype, rank, dims);
    sb_fail(err, SB_INVALID, 0, "%.*s: can't restore '%.*s': %.*s", SB_SHOWN(r->path),
            SB_SHOWN(t->name), SB_SHOWN(sb_buf_slice(&text)));
    sb_buf_fini(&text);
    return SB_INVALID;
}

static sb_status find_tensor(const sb_restore *r, sb_slice key, const sb_bundle_tensor **out,
                             sb_err *err) {
    *out = sb_bundle_find(r->b, key);
    if (*out) return SB_OK;
    return sb_fail(err, SB_CORRUPT, 0, "%.*s: '%.*s' is missing, and an object refers to it",
                   SB_SHOWN(r->path), SB_SHOWN(key));
}

static sb_status request_single(sb_restore *r, sb_single_value wanted, sb_err *err) {
    sb_single_value *slot = SB_VEC_PUSH(&r->singles, r->c->env.alloc, SIZE_MAX);
    if (!slot) return sb_fail_nomem(err, "for restoring");
    *slot = wanted;
    return SB_OK;
}

/* Notes that the variable gets the value of that key. */
static sb_status request(sb_restore *r, sb_object *o, sb_slice key, sb_err *err) {
    const sb_bundle_tensor *t;
    sb_status status = find_tensor(r, key, &t, err);
    if (status != SB_OK) return status;
    if (t->dtype != o->dtype || t->rank != o->rank ||
        (t->rank && memcmp(t->dims, o->dims, t->rank * sizeof *t->dims) != 0))
        return wrong_form(r, t, o->dtype, o->rank, o->dims, err);
    if (t->dtype == SB_STRING)
        return request_single(r, (sb_single_value){t, o, SB_RESTORE_VARIABLE}, err);
    sb_bundle_request *slot = SB_VEC_PUSH(&r->requests, r->c->env.alloc, SIZE_MAX);
    sb_object **object = slot ? SB_VEC_PUSH(&r->assigned, r->c->env.alloc, SIZE_MAX) : NULL;
    if (!object) return sb_fail_nomem(err, "for restoring");
    *slot = (sb_bundle_request){
        .t = t, .to = o->data, .n = (size_t)(o->count * sb_dtype_size(o->dtype))};
    *object = o;
    return SB_OK;
}

/* Notes that a value that the checkpoint keeps gets the tensor of its attribute; its type stays,
 * its shape may change. */
static sb_status request_value(sb_restore *r, sb_object *o, size_t i, const sb_graph_value *v,
                               sb_err *err) {
    const sb_kept_value *kept = &o->values.items[i];
    const sb_bundle_tensor *t = NULL;
    sb_buf key;
    if (r->number <= kept->restored_by) return SB_OK; /* a newer restore has set it */
    sb_buf_init(&key, r->c->env.alloc, SIZE_MAX / 2);
    sb_buf_add_slice(&key, v->key);
    sb_buf_add(&key, kept->name.p + v->name.n, kept->name.n - v->name.n);
    sb_status status = sb_buf_check(&key, "a key", err);
    if (status == SB_OK) status = find_tensor(r, sb_buf_slice(&key), &t, err);
    sb_buf_fini(&key);
    if (status != SB_OK) return status;
    if (t->dtype != kept->array.dtype)
        return wrong_form(r, t, kept->array.dtype, kept->array.rank, kept->array.dims, err);
    return request_single(r, (sb_single_value){t, o, i}, err);
}

/* How many tensors an attribute has: one, or those with a suffix behind its key. */
static size_t count_tensors(const sb_restore *r, sb_slice key) {
    size_t i, n = 0, all = sb_bundle_count(r->b);
    SB_PARTITION_POINT(i, 0, all, sb_slice_cmp(sb_bundle_at(r->b, i)->name, key) < 0);
    for (; i < all && sb_value_is_of(sb_bundle_at(r->b, i)->name, key); i++) n++;
    return n ? n : 1;
}

static sb_status note_unused(sb_restore *r, sb_unused_value u, sb_err *err) {
    sb_unused_value *slot = SB_VEC_PUSH(&r->unused, r->c->env.alloc, SIZE_MAX);
    if (!slot) return sb_fail_nomem(err, "for restoring");
    *slot = u;
    return SB_OK;
}

static sb_status load_node(sb_restore *r, uint32_t number, sb_object *o, sb_err *err) {
    const sb_graph_node *node = &r->nodes[number];
    sb_status status = SB_OK;
    for (uint32_t i = 0; i < node->value_count && status == SB_OK; i++) {
        const sb_graph_value *v = &node->values[i];
        if (o->is_variable && sb_slice_eq(v->name, SB_LIT(SB_ATTRIBUTE_VALUE))) {
            if (r->number > o->restored_by) status = request(r, o, v->key, err);
            continue;
        }
        size_t left = count_tensors(r, v->key);
        for (size_t k = 0; k < o->values.n && status == SB_OK && left; k++)
            if (sb_value_is_of(o->values.items[k].name, v->name)) {
                left--;
                status = request_value(r, o, k, v, err);
            }
        if (status == SB_OK && left && !v->is_optional)
            status = note_unused(r, (sb_unused_value){number, i, left}, err);
    }
    return status;
}

/* Closes the file when none of its values is left for later. */
static void release_if_done(sb_restore *r) {
    if (r->by_name || r->unmatched || r->unused.n) return;
    sb_bundle_close(r->b);
    r->b = NULL;
}

/* Strings come into the memory of the object; a variable's slices point there. */
static sb_status read_string_variable(sb_restore *r, sb_object *o, const sb_bundle_tensor *t,
                                      sb_err *err) {
    sb_arena fresh;
    sb_slice *strings = NULL;
    sb_arena_init(&fresh, r->c->env.alloc, 256, SIZE_MAX / 2);
    sb_status status = sb_bundle_read_strings(r->b, t, &fresh, &strings, err);
    if (status != SB_OK) {
        sb_arena_fini(&fresh);
        return status;
    }
    if (t->count) memcpy(o->data, strings, (size_t)t->count * sizeof *strings);
    if (o->strings.alloc) sb_arena_fini(&o->strings);
    o->strings = fresh;
    o->restored_by = r->number;
    return SB_OK;
}

/* Reads everything that was requested. */
static sb_status assign(sb_restore *r, sb_status status, sb_err *err) {
    if (status == SB_OK)
        status = sb_bundle_read_many(r->b, r->requests.items, r->requests.n, 0, err);
    for (size_t i = 0; i < r->assigned.n && status == SB_OK; i++)
        r->assigned.items[i]->restored_by = r->number;
    for (size_t i = 0; i < r->singles.n && status == SB_OK; i++) {
        const sb_single_value *s = &r->singles.items[i];
        status = s->value == SB_RESTORE_VARIABLE
                     ? read_string_variable(r, s->object, s->t, err)
                     : sb_kept_read(&s->object->values.items[s->value], r->b, s->t, r->number, err);
    }
    r->requests.n = r->assigned.n = r->singles.n = 0;
    release_if_done(r);
    return status;
}

/* ---- matching -------------------------------------------------------------------------------- */

static sb_status match(sb_restore *r, uint32_t node, sb_object *o, sb_err *err) {
    if (r->objects[node]) return SB_OK; /* the first match counts */
    sb_matched_pair *p = SB_VEC_PUSH(&r->queue, r->c->env.alloc, SIZE_MAX);
    if (!p) return sb_fail_nomem(err, "for restoring");
    *p = (sb_matched_pair){node, o};
    r->objects[node] = o;
    r->unmatched -= r->nodes[node].value_count != 0;
    return SB_OK;
}

static sb_status defer(sb_restore *r, sb_object *o, const sb_graph_edge *edge, sb_err *err) {
    sb_object_deferred *d = SB_VEC_PUSH(&o->deferred, r->c->env.alloc, SIZE_MAX);
    if (!d) return sb_fail_nomem(err, "for restoring");
    *d = (sb_object_deferred){r, edge->node, edge->name};
    return SB_OK;
}

/* Slots whose optimizer and variable are both there. */
static sb_status match_slots(sb_restore *r, sb_err *err) {
    for (size_t n = 0; r->has_slots && n < r->count; n++) {
        const sb_object *optimizer = r->nodes[n].slot_count ? r->objects[n] : NULL;
        for (uint32_t i = 0; optimizer && i < r->nodes[n].slot_count; i++) {
            const sb_graph_slot *s = &r->nodes[n].slots[i];
            const sb_object *variable = r->objects[s->variable];
            for (size_t k = 0; variable && k < optimizer->slots.n; k++)
                if (optimizer->slots.items[k].variable == variable &&
                    sb_slice_eq(optimizer->slots.items[k].name, s->name)) {
                    sb_status status = match(r, s->value, optimizer->slots.items[k].value, err);
                    if (status != SB_OK) return status;
                }
        }
    }
    return SB_OK;
}

const char *sb_object_awaited_slot(const sb_object *optimizer, const sb_object *variable,
                                   size_t i) {
    sb_checkpoint *c = optimizer->c;
    for (size_t k = c->restores.n; k-- > 0;) { /* newest first */
        const sb_restore *r = c->restores.items[k];
        for (size_t n = 0; r->has_slots && n < r->count; n++)
            for (uint32_t j = 0; r->objects[n] == optimizer && j < r->nodes[n].slot_count; j++) {
                const sb_graph_slot *s = &r->nodes[n].slots[j];
                if (r->objects[s->variable] == variable && !r->objects[s->value] && i-- == 0)
                    return (const char *)sb_arena_dup(&c->arena, s->name).p;
            }
    }
    return NULL;
}

/* Goes through the queue until nothing new is matched. */
static sb_status match_all(sb_restore *r, sb_err *err) {
    sb_status status = SB_OK;
    size_t at = 0;
    while (status == SB_OK) {
        if (at == r->queue.n) {
            status = match_slots(r, err);
            if (status != SB_OK || at == r->queue.n) break;
        }
        sb_matched_pair p = r->queue.items[at++];
        const sb_graph_node *node = &r->nodes[p.node];
        status = load_node(r, p.node, p.object, err);
        for (uint32_t i = 0; i < node->edge_count && status == SB_OK; i++) {
            const sb_graph_edge *edge = &node->edges[i];
            if (r->objects[edge->node]) continue;
            sb_object *child = sb_object_child(p.object, edge->name);
            if (child)
                status = match(r, edge->node, child, err);
            else if (r->nodes[edge->node].has_values)
                status = defer(r, p.object, edge, err);
        }
    }
    r->queue.n = 0;
    return status;
}

/* A file without objects: by the names of variables. */
static sb_status request_by_name(sb_restore *r, sb_object *o, sb_err *err) {
    if (!o->is_variable || r->number <= o->restored_by || o == r->c->counter) return SB_OK;
    return sb_bundle_find(r->b, o->full_name) ? request(r, o, o->full_name, err) : SB_OK;
}

/* What a restore left at an object under that name, if anything; it is used up by this. Children
 * mostly come in the order of the file, so the search is short. */
static sb_object_deferred *take_deferred(sb_object *o, const sb_restore *r, sb_slice name) {
    sb_object_deferred *found = NULL;
    for (size_t i = o->deferred_begin; i < o->deferred.n && !found; i++) {
        sb_object_deferred *d = &o->deferred.items[i];
        if (d->restore == r && sb_slice_eq(d->name, name)) found = d;
    }
    if (found) found->restore = NULL;
    while (o->deferred_begin < o->deferred.n && !o->deferred.items[o->deferred_begin].restore)
        o->deferred_begin++;
    return found;
}

sb_status sb_restore_deferred_child(sb_object *parent, const sb_object_edge *edge, sb_err *err) {
    sb_checkpoint *c = parent->c;
    sb_status status = SB_OK;
    for (size_t k = c->restores.n; k-- > 0 && status == SB_OK;) { /* newest first */
        sb_restore *r = c->restores.items[k];
        if (r->by_name) {
            status = assign(r, request_by_name(r, edge->child, err), err);
            continue;
        }
        sb_object_deferred *d = take_deferred(parent, r, edge->name);
        if (!d) continue;
        status = match(r, d->node, edge->child, err);
        if (status == SB_OK) status = assign(r, match_all(r, err), err);
    }
    return status;
}

sb_status sb_restore_deferred_slots(sb_checkpoint *c, sb_err *err) {
    sb_status status = SB_OK;
    for (size_t k = c->restores.n; k-- > 0 && status == SB_OK;)
        if (!c->restores.items[k]->by_name)
            status = assign(c->restores.items[k], match_all(c->restores.items[k], err), err);
    return status;
}

sb_status sb_restore_deferred_value(sb_object *o, size_t value, sb_err *err) {
    sb_checkpoint *c = o->c;
    sb_status status = SB_OK;
    for (size_t k = c->restores.n; k-- > 0 && status == SB_OK;) { /* newest first */
        sb_restore *r = c->restores.items[k];
        for (size_t i = 0; i < r->unused.n && status == SB_OK; i++) {
            sb_unused_value *u = &r->unused.items[i];
            const sb_graph_value *v = &r->nodes[u->node].values[u->value];
            if (r->objects[u->node] != o || !sb_value_is_of(o->values.items[value].name, v->name))
                continue;
            status = request_value(r, o, value, v, err);
            if (--u->left == 0) SB_VEC_REMOVE(&r->unused, i);
            status = assign(r, status, err);
            break;
        }
    }
    return status;
}

/* ---- restoring ------------------------------------------------------------------------------- */

void sb_restore_free(sb_restore *r) {
    const sb_alloc *alloc = r->c->env.alloc;
    sb_bundle_close(r->b);
    SB_VEC_FREE(&r->queue, alloc);
    SB_VEC_FREE(&r->requests, alloc);
    SB_VEC_FREE(&r->assigned, alloc);
    SB_VEC_FREE(&r->singles, alloc);
    SB_VEC_FREE(&r->unused, alloc);
    sb_arena_fini(&r->arena);
    sb_alloc_put(alloc, r, sizeof *r);
}

static sb_status open_file(sb_restore *r, const char *path, sb_err *err) {
    const sb_env *env = &r->c->env;
    r->path = sb_arena_dup(&r->arena, sb_slice_str(path));
    if (!r->path.p) return sb_fail_nomem(err, "for restoring");
    sb_status status =
        sb_bundle_open(&r->b, env->fs, env->alloc, NULL, sb_slice_str(path), NULL, err);
    if (status != SB_OK) return status;
    const sb_bundle_tensor *t = sb_bundle_find(r->b, SB_LIT(SB_OBJECT_GRAPH_KEY));
    r->by_name = !t || t->dtype != SB_STRING || t->count != 1;
    if (r->by_name) return SB_OK;
    sb_slice *graph;
    status = sb_bundle_read_strings(r->b, t, &r->arena, &graph, err);
    if (status == SB_OK) status = sb_graph_parse(&r->nodes, &r->count, graph[0], &r->arena, err);
    if (status != SB_OK) return status;
    for (size_t n = 0; n < r->count; n++) {
        r->unmatched += r->nodes[n].value_count != 0;
        r->has_slots |= r->nodes[n].slot_count != 0;
    }
    r->objects = sb_arena_zeroed(&r->arena, r->count, sizeof *r->objects);
    return r->objects ? SB_OK : sb_fail_nomem(err, "for restoring");
}

static sb_status restore_all(sb_restore *r, sb_err *err) {
    sb_checkpoint *c = r->c;
    sb_status status = SB_OK;
    if (!r->by_name) {
        status = match(r, 0, c->root, err);
        if (status == SB_OK) status = match_all(r, err);
    }
    for (size_t i = 0; r->by_name && i < c->objects.n && status == SB_OK; i++)
        status = request_by_name(r, c->objects.items[i], err);
    return assign(r, status, err);
}

static void forget(sb_restore *r) {
    sb_checkpoint *c = r->c;
    for (size_t i = 0; i < c->objects.n; i++) {
        sb_object *o = c->objects.items[i];
        for (size_t k = o->deferred_begin; k < o->deferred.n; k++)
            if (o->deferred.items[k].restore == r) o->deferred.items[k].restore = NULL;
    }
    if (c->restores.n && c->restores.items[c->restores.n - 1] == r) c->restores.n--;
    sb_restore_free(r);
}

sb_status sb_checkpoint_read(sb_checkpoint *c, const char *path, sb_restore **out, sb_err *err) {
    if (out) *out = NULL;
    sb_restore *r = sb_alloc_zeroed(c->env.alloc, 1, sizeof *r);
    if (!r) return sb_fail_nomem(err, "for restoring");
    r->c = c;
    r->number = c->restores.n ? c->restores.items[c->restores.n - 1]->number + 1 : 1;
    sb_arena_init(&r->arena, c->env.alloc, 64 << 10, SIZE_MAX / 2);
    sb_status status = open_file(r, path, err);
    if (status == SB_OK) {
        sb_restore **slot = SB_VEC_PUSH(&c->restores, c->env.alloc, SIZE_MAX);
        status = slot ? SB_OK : sb_fail_nomem(err, "for restoring");
        if (slot) *slot = r;
    }
    if (status == SB_OK) status = restore_all(r, err);
    if (status != SB_OK) {
        forget(r);
        return status;
    }
    if (out) *out = r;
    return SB_OK;
}

sb_status sb_checkpoint_restore(sb_checkpoint *c, const char *path, sb_restore **out, sb_err *err) {
    sb_status status = sb_checkpoint_read(c, path, out, err);
    return status == SB_OK ? sb_checkpoint_need_counter(c, err) : status;
}
