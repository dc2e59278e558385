/* object_save.c: from objects to keys, values and the graph that TensorFlow restores by.
 *
 * Breadth-first from the root: the first visit gives an object its number and its path. The root's
 * children come sorted by name (Checkpoint(**kwargs) sorts them), save_counter last; those of other
 * objects in the order of adding. Slots get the numbers behind all other objects.
 *
 *   key     <path>/.ATTRIBUTES/VARIABLE_VALUE; in the names of edges '.' is '..' and '/' is '.S'
 *   value   <path>/.ATTRIBUTES/<attribute><suffix>, as in .../table-keys; Python state is written
 *           behind all other values
 *   slot    <variable's path>/.OPTIMIZER_SLOT/<optimizer's path>/<slot>/.ATTRIBUTES/VARIABLE_VALUE
 *   graph   TrackableObjectGraph under _CHECKPOINTABLE_OBJECT_GRAPH, a string, written last */
#include <stdlib.h>

#include "base/sized.h"
#include "base/slice.h"
#include "ckpt/bundle/bundle_write.h"
#include "ckpt/bundle/parallel.h"
#include "ckpt/object/graph_keys.h"
#include "ckpt/object/object_int.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "codec/tensor.h"
#include "base/banned.h"

#define MAX_GRAPH ((size_t)1 << 31)

/* A slot variable in the order of saving. */
typedef struct slot_ref {
    sb_object *optimizer;
    const sb_object_slot *slot;
    uint32_t id;
    sb_slice key;
} slot_ref;

typedef SB_VEC(sb_bundle_item) items;

typedef struct saving {
    sb_checkpoint *c;
    sb_arena arena;
    SB_VEC(sb_object *) order; /* by number */
    SB_VEC(slot_ref) slots;
    items items;
    items python_states; /* behind all others */
    sb_buf text;
    sb_buf graph;
} saving;

/* ---- numbers and paths ----------------------------------------------------------------------- */

static void add_escaped(sb_buf *out, sb_slice name) {
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] == '.')
            sb_buf_add_str(out, "..");
        else if (name.p[i] == '/')
            sb_buf_add_str(out, ".S");
        else
            sb_buf_add_byte(out, name.p[i]);
    }
}

static bool visit(saving *s, sb_object *o, const sb_object *parent, sb_slice name) {
    if (o->is_seen) return true;
    sb_object **slot = SB_VEC_PUSH(&s->order, s->c->env.alloc, UINT32_MAX - 1);
    sb_buf_clear(&s->text);
    if (parent && parent->path.n) {
        sb_buf_add_slice(&s->text, parent->path);
        sb_buf_add_byte(&s->text, '/');
    }
    add_escaped(&s->text, name);
    o->path = sb_arena_dup(&s->arena, sb_buf_slice(&s->text));
    if (!slot || !o->path.p || s->text.failed != SB_OK) return false;
    *slot = o;
    o->id = (uint32_t)(s->order.n - 1);
    o->is_seen = true;
    o->has_values = o->is_variable || o->slots.n > 0 || o->values.n > 0;
    return true;
}

static int edges_by_name(const void *x, const void *y) {
    const sb_object_edge *a = x, *b = y;
    return sb_slice_cmp(a->name, b->name);
}

/* The edges of an object in the order in which they are saved, in the arena. */
static const sb_object_edge *edges_of(saving *s, const sb_object *o) {
    if (o != s->c->root || o->edges.n == 0) return o->edges.items;
    sb_object_edge *sorted = sb_arena_get(&s->arena, o->edges.n * sizeof *sorted);
    if (!sorted) return NULL;
    size_t n = 0;
    for (size_t i = 0; i < o->edges.n; i++)
        if (o->edges.items[i].child != s->c->counter) sorted[n++] = o->edges.items[i];
    if (n) qsort(sorted, n, sizeof *sorted, edges_by_name);
    for (size_t i = 0; i < o->edges.n; i++)
        if (o->edges.items[i].child == s->c->counter) sorted[n++] = o->edges.items[i];
    return sorted;
}

static sb_status number_objects(saving *s, sb_err *err) {
    sb_checkpoint *c = s->c;
    for (size_t i = 0; i < c->objects.n; i++) c->objects.items[i]->is_seen = false;
    if (!visit(s, c->root, NULL, SB_LIT(""))) return sb_fail_nomem(err, "for saving");
    for (size_t i = 0; i < s->order.n; i++) {
        const sb_object *o = s->order.items[i];
        const sb_object_edge *edges = edges_of(s, o);
        for (size_t k = 0; k < o->edges.n; k++)
            if (!edges || !visit(s, edges[k].child, o, edges[k].name))
                return sb_fail_nomem(err, "for saving");
    }
    return SB_OK;
}

/* An object has values when it, or one that it leads to, has. Cycles are why this is repeated. */
static void spread_values(saving *s) {
    for (bool again = true; again;) {
        again = false;
        for (size_t i = s->order.n; i-- > 0;) {
            sb_object *o = s->order.items[i];
            for (size_t k = 0; k < o->edges.n && !o->has_values; k++)
                if (o->edges.items[k].child->has_values) o->has_values = again = true;
        }
    }
}

/* ---- slots ----------------------------------------------------------------------------------- */

static int by_slot(const void *x, const void *y) {
    const slot_ref *a = x, *b = y;
    if (a->optimizer->id != b->optimizer->id) return a->optimizer->id < b->optimizer->id ? -1 : 1;
    int order = sb_slice_cmp(a->slot->name, b->slot->name);
    if (order) return order;
    return (a->slot->variable->id > b->slot->variable->id) -
           (a->slot->variable->id < b->slot->variable->id);
}

static sb_slice slot_key(saving *s, const slot_ref *r) {
    sb_buf *text = &s->text;
    sb_buf_clear(text);
    sb_buf_add_slice(text, r->slot->variable->path);
    sb_buf_add_str(text, "/.OPTIMIZER_SLOT/");
    sb_buf_add_slice(text, r->optimizer->path);
    sb_buf_add_byte(text, '/');
    add_escaped(text, r->slot->name);
    sb_buf_add_str(text, "/.ATTRIBUTES/" SB_ATTRIBUTE_VALUE);
    return text->failed == SB_OK ? sb_arena_dup(&s->arena, sb_buf_slice(text))
                                 : (sb_slice){NULL, 0};
}

static sb_status number_slots(saving *s, sb_err *err) {
    for (size_t i = 0; i < s->order.n; i++) {
        sb_object *o = s->order.items[i];
        for (size_t k = 0; k < o->slots.n; k++) {
            if (!o->slots.items[k].variable->is_seen) continue;
            slot_ref *r = SB_VEC_PUSH(&s->slots, s->c->env.alloc, SIZE_MAX);
            if (!r) return sb_fail_nomem(err, "for saving");
            *r = (slot_ref){.optimizer = o, .slot = &o->slots.items[k]};
        }
    }
    if (s->slots.n) qsort(s->slots.items, s->slots.n, sizeof *s->slots.items, by_slot);
    for (size_t i = 0; i < s->slots.n; i++) {
        s->slots.items[i].id = (uint32_t)(s->order.n + i);
        s->slots.items[i].key = slot_key(s, &s->slots.items[i]);
        if (!s->slots.items[i].key.p) return sb_fail_nomem(err, "for saving");
    }
    return SB_OK;
}

/* ---- the graph ------------------------------------------------------------------------------- */

static void add_attribute(sb_buf *b, sb_slice name, sb_slice full_name, sb_slice key) {
    size_t at = sb_pb_begin(b, SB_OBJECT_ATTRIBUTES, 100);
    sb_pb_add_bytes(b, SB_SERIALIZED_TENSOR_NAME, name);
    sb_pb_add_bytes_nz(b, SB_SERIALIZED_TENSOR_FULL_NAME, full_name);
    sb_pb_add_bytes(b, SB_SERIALIZED_TENSOR_CHECKPOINT_KEY, key);
    sb_pb_end(b, at);
}

static void add_has_values(sb_buf *b, bool has_values) {
    size_t at = sb_pb_begin(b, SB_OBJECT_HAS_CHECKPOINT_VALUES, 2);
    sb_pb_add_uint_nz(b, SB_PB_BOOL_VALUE, has_values);
    sb_pb_end(b, at);
}

static sb_slice key_of(saving *s, const sb_object *o, sb_slice attribute) {
    sb_buf_clear(&s->text);
    sb_buf_add_slice(&s->text, o->path);
    sb_buf_add_str(&s->text, "/.ATTRIBUTES/");
    sb_buf_add_slice(&s->text, attribute);
    return s->text.failed == SB_OK ? sb_arena_dup(&s->arena, sb_buf_slice(&s->text))
                                   : (sb_slice){NULL, 0};
}

static sb_status add_item(saving *s, items *to, const sb_array *a, sb_slice key, sb_err *err) {
    sb_bundle_item *item = SB_VEC_PUSH(to, s->c->env.alloc, SIZE_MAX);
    if (!item || !key.p) return sb_fail_nomem(err, "for saving");
    *item = (sb_bundle_item){.name = key,
                             .dtype = a->dtype,
                             .rank = a->rank,
                             .dims = a->dims,
                             .data = a->data,
                             .strings = a->data};
    return SB_OK;
}

static sb_status add_variable(saving *s, const sb_object *o, sb_slice key, sb_err *err) {
    add_attribute(&s->graph, SB_LIT(SB_ATTRIBUTE_VALUE), o->full_name, key);
    const sb_array array = {.dtype = o->dtype, .rank = o->rank, .dims = o->dims, .data = o->data};
    return add_item(s, &s->items, &array, key, err);
}

/* The values that are not variables; those of one attribute share its place in the graph. */
static sb_status add_values(saving *s, const sb_object *o, sb_err *err) {
    sb_status status = SB_OK;
    for (size_t i = 0; i < o->values.n && status == SB_OK; i++) {
        const sb_kept_value *v = &o->values.items[i];
        sb_slice attribute = sb_value_attribute(v->name);
        bool is_first = true;
        for (size_t k = 0; k < i; k++)
            is_first &= !sb_slice_eq(sb_value_attribute(o->values.items[k].name), attribute);
        if (is_first) add_attribute(&s->graph, attribute, SB_LIT(""), key_of(s, o, attribute));
        bool is_state = sb_slice_eq(attribute, SB_LIT("py_state"));
        status = add_item(s, is_state ? &s->python_states : &s->items, &v->array,
                          key_of(s, o, v->name), err);
    }
    return status;
}

/* slot: where this optimizer's slots begin; moved behind them. */
static sb_status add_object(saving *s, const sb_object *o, size_t *slot, sb_err *err) {
    sb_buf *b = &s->graph;
    size_t at = sb_pb_begin(b, SB_OBJECT_GRAPH_NODES, 100);
    const sb_object_edge *edges = edges_of(s, o);
    if (o->edges.n && !edges) return sb_fail_nomem(err, "for saving");
    for (size_t k = 0; k < o->edges.n; k++) {
        size_t edge = sb_pb_begin(b, SB_OBJECT_CHILDREN, 20);
        sb_pb_add_uint_nz(b, SB_OBJECT_REFERENCE_NODE_ID, edges[k].child->id);
        sb_pb_add_bytes(b, SB_OBJECT_REFERENCE_LOCAL_NAME, edges[k].name);
        sb_pb_end(b, edge);
    }
    sb_status status = SB_OK;
    if (o->is_variable) status = add_variable(s, o, key_of(s, o, SB_LIT(SB_ATTRIBUTE_VALUE)), err);
    if (status == SB_OK) status = add_values(s, o, err);
    if (status != SB_OK) return status;
    for (; *slot < s->slots.n && s->slots.items[*slot].optimizer == o; ++*slot) {
        const slot_ref *r = &s->slots.items[*slot];
        size_t place = sb_pb_begin(b, SB_OBJECT_SLOT_VARIABLES, 20);
        sb_pb_add_uint_nz(b, SB_SLOT_VARIABLE_ORIGINAL_VARIABLE_NODE_ID, r->slot->variable->id);
        sb_pb_add_bytes(b, SB_SLOT_VARIABLE_SLOT_NAME, r->slot->name);
        sb_pb_add_uint_nz(b, SB_SLOT_VARIABLE_SLOT_VARIABLE_NODE_ID, r->id);
        sb_pb_end(b, place);
    }
    add_has_values(b, o->has_values);
    sb_pb_end(b, at);
    return SB_OK;
}

static sb_status make_graph(saving *s, sb_err *err) {
    size_t slot = 0;
    sb_status status = SB_OK;
    for (size_t i = 0; i < s->order.n && status == SB_OK; i++)
        status = add_object(s, s->order.items[i], &slot, err);
    for (size_t i = 0; i < s->slots.n && status == SB_OK; i++) {
        const slot_ref *r = &s->slots.items[i];
        size_t at = sb_pb_begin(&s->graph, SB_OBJECT_GRAPH_NODES, 100);
        status = add_variable(s, r->slot->value, r->key, err);
        add_has_values(&s->graph, true);
        sb_pb_end(&s->graph, at);
    }
    for (size_t i = 0; i < s->python_states.n && status == SB_OK; i++) {
        sb_bundle_item *item = SB_VEC_PUSH(&s->items, s->c->env.alloc, SIZE_MAX);
        if (!item) return sb_fail_nomem(err, "for saving");
        *item = s->python_states.items[i];
    }
    return status == SB_OK ? sb_buf_check(&s->graph, "an object graph", err) : status;
}

/* ---- writing --------------------------------------------------------------------------------- */

typedef struct shards {
    sb_bundle_writer *w;
    const sb_bundle_item *items;
    const size_t *begin; /* the first item of each shard, and one more */
} shards;

static sb_status write_shard(void *ud, size_t i, sb_err *err) {
    const shards *x = ud;
    for (size_t k = x->begin[i]; k < x->begin[i + 1]; k++) {
        sb_status status = sb_bundle_write(x->w, (uint32_t)i, &x->items[k], err);
        if (status != SB_OK) return status;
    }
    return SB_OK;
}

static uint64_t item_bytes(const sb_bundle_item *item) {
    uint64_t n = sb_dtype_size(item->dtype);
    for (uint32_t d = 0; d < item->rank; d++) n *= (uint64_t)item->dims[d];
    return n;
}

/* Cuts the items into runs of about equal size, one for each shard. */
static void cut_into_shards(const saving *s, uint32_t count, size_t *begin) {
    uint64_t all = 0, done = 0;
    for (size_t i = 0; i < s->items.n; i++) all += item_bytes(&s->items.items[i]);
    uint32_t shard = 0;
    for (size_t i = 0; i < s->items.n; i++) {
        done += item_bytes(&s->items.items[i]);
        while (shard + 1 < count && done >= all / count * (shard + 1)) begin[++shard] = i + 1;
    }
    while (shard < count) begin[++shard] = s->items.n;
}

static sb_status write_items(saving *s, const char *prefix, const sb_save_opts *opts, sb_err *err) {
    sb_bundle_writer_opts how = {.shards = opts->shards ? opts->shards : 1,
                                 .no_sync = opts->durability == SB_BUFFERED,
                                 .id = &s->c->saved};
    sb_slice graph = sb_buf_slice(&s->graph);
    size_t *begin = sb_arena_zeroed(&s->arena, (size_t)how.shards + 1, sizeof *begin);
    s->c->saved = (sb_bundle_id){0};
    sb_bundle_item *last = SB_VEC_PUSH(&s->items, s->c->env.alloc, SIZE_MAX);
    if (!last || !begin) return sb_fail_nomem(err, "for saving");
    *last = (sb_bundle_item){
        .name = SB_LIT(SB_OBJECT_GRAPH_KEY), .dtype = SB_STRING, .strings = &graph};
    cut_into_shards(s, how.shards, begin);
    shards x = {.items = s->items.items, .begin = begin};
    sb_status status = sb_bundle_writer_open(&x.w, &s->c->env, prefix, &how, err);
    if (status != SB_OK) return status;
    status = sb_parallel(s->c->env.alloc, 0, how.shards, write_shard, &x, err);
    if (status == SB_OK) return sb_bundle_writer_finish(&x.w, err);
    sb_bundle_writer_abandon(&x.w);
    return status;
}

sb_status sb_objects_write(sb_checkpoint *c, const char *prefix, const sb_save_opts *opts,
                           sb_err *err) {
    sb_save_opts how = {0};
    sb_status status = SB_OK;
    if (opts) status = sb_sized_read(&how, sizeof how, opts, 0, "sb_save_opts", err);
    if (status != SB_OK) return status;
    saving s = {.c = c};
    sb_arena_init(&s.arena, c->env.alloc, 64 << 10, SIZE_MAX / 2);
    sb_buf_init(&s.text, c->env.alloc, 1 << 20);
    sb_buf_init(&s.graph, c->env.alloc, MAX_GRAPH);
    status = number_objects(&s, err);
    if (status == SB_OK) {
        spread_values(&s);
        status = number_slots(&s, err);
    }
    if (status == SB_OK) status = make_graph(&s, err);
    if (status == SB_OK) status = write_items(&s, prefix, &how, err);
    SB_VEC_FREE(&s.order, c->env.alloc);
    SB_VEC_FREE(&s.slots, c->env.alloc);
    SB_VEC_FREE(&s.items, c->env.alloc);
    SB_VEC_FREE(&s.python_states, c->env.alloc);
    sb_buf_fini(&s.text);
    sb_buf_fini(&s.graph);
    sb_arena_fini(&s.arena);
    return status;
}
