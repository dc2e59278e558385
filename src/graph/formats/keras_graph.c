/* keras_graph.c: walks recursively over the layers of a model and writes one node for each. */
#include "graph/formats/keras_graph.h"

#include <jansson.h>

#include "base/intern.h"
#include "base/slice.h"
#include "base/vec.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "codec/tensor.h"
#include "graph/formats/keras_params.h"
#include "base/banned.h"

#define MOST_DEPTH 64
#define MOST_NAMES (1u << 20)

/* Maps a name to the names that replace it in edges: an input layer of an inner model to the layer
 * that feeds it, and a model to its output layers. */
typedef struct meaning {
    sb_slice *targets;
    size_t count;
} meaning;

typedef struct names {
    sb_intern table;
    SB_VEC(meaning) meanings; /* by id */
} names;

/* Output shapes of layers. They are not stored with the layer itself, but with the layers that it
 * feeds. */
typedef struct shapes {
    sb_intern table;
    SB_VEC(sb_keras_shape) items; /* by id */
} shapes;

typedef struct walk {
    sb_buf *out;
    sb_arena *arena;
    sb_keras_detail detail;
    shapes shapes;     /* output shape by layer name; not filled in for SB_KERAS_PLAIN */
    names inputs;      /* input layer of an inner model -> the layer that feeds it */
    names outputs;     /* model -> its output layers */
    sb_slice previous; /* the layer that was written last; .p is NULL before the first one */
    sb_err *err;
} walk;

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *get_member(const json_t *object, const char *key) {
    json_t *value = json_object_get(object, key);
    return json_is_null(value) ? NULL : value;
}

static sb_slice text_of(const json_t *value) {
    if (!json_is_string(value)) return SB_LIT("None"); /* Python prints a missing value as None */
    return sb_slice_of(json_string_value(value), json_string_length(value));
}

/* Returns "scope/name" in the arena; .p is NULL when memory runs out. */
static sb_slice scoped(walk *w, sb_slice scope, sb_slice name) {
    if (scope.n == 0) return sb_arena_dup(w->arena, name);
    uint8_t *text = sb_arena_get(w->arena, scope.n + 1 + name.n);
    if (!text) return (sb_slice){NULL, 0};
    memcpy(text, scope.p, scope.n);
    text[scope.n] = '/';
    if (name.n) memcpy(text + scope.n + 1, name.p, name.n);
    return sb_slice_of(text, scope.n + 1 + name.n);
}

/* ---- names ----------------------------------------------------------------------------------- */

static sb_status set_name(walk *w, names *n, sb_slice name, sb_slice *targets, size_t count) {
    sb_alloc in_arena = sb_arena_alloc(w->arena);
    if (!SB_VEC_RESERVE(&n->meanings, &in_arena, 1, SIZE_MAX)) return SB_NOMEM;
    uint32_t id;
    bool is_new;
    sb_status status = sb_intern_add(&n->table, name, &id, &is_new);
    if (status != SB_OK) return status;
    if (is_new) n->meanings.n++;
    n->meanings.items[id] = (meaning){targets, count};
    return SB_OK;
}

/* Returns how many names replace this one; 0 when it is not in the table. */
static size_t find_name(const names *n, sb_slice name, sb_slice **targets) {
    uint32_t id = sb_intern_find(&n->table, name);
    if (id == SB_INTERN_NONE) return 0;
    *targets = n->meanings.items[id].targets;
    return n->meanings.items[id].count;
}

static sb_status join_input(walk *w, sb_slice input, sb_slice target) {
    sb_slice *one = sb_arena_get(w->arena, sizeof *one);
    if (!one || !input.p || !target.p) return SB_NOMEM;
    *one = target;
    return set_name(w, &w->inputs, input, one, 1);
}

/* ---- edges ----------------------------------------------------------------------------------- */

/* One edge as Keras 3 writes it: [layer, node, tensor]. */
typedef struct edge {
    sb_slice name;
    json_int_t tensor;
    const json_t *shape; /* NULL: not in the JSON */
} edge;

typedef sb_status (*edge_fn)(walk *w, const edge *e, void *ud);

static sb_status each_history(walk *w, const json_t *arg, edge_fn fn, void *ud) {
    const json_t *config = json_is_object(arg) ? get_member(arg, "config") : NULL;
    const json_t *history = json_is_object(config) ? get_member(config, "keras_history") : NULL;
    if (!json_is_array(history) || json_array_size(history) < 3) return SB_OK;
    edge e = {text_of(json_array_get(history, 0)), json_integer_value(json_array_get(history, 2)),
              get_member(config, "shape")};
    return fn(w, &e, ud);
}

/* Calls fn for each edge in inbound_nodes, which has the form [{"args": [arg or [arg, ...], ...]},
 * ...]. */
static sb_status each_edge(walk *w, const json_t *layer, edge_fn fn, void *ud) {
    const json_t *inbound = get_member(layer, "inbound_nodes");
    for (size_t i = 0; i < json_array_size(inbound); i++) {
        const json_t *node = json_array_get(inbound, i);
        const json_t *args = json_is_object(node) ? get_member(node, "args") : NULL;
        for (size_t k = 0; k < json_array_size(args); k++) {
            const json_t *arg = json_array_get(args, k);
            size_t several = json_is_array(arg) ? json_array_size(arg) : 1;
            for (size_t m = 0; m < several; m++) {
                const json_t *one = json_is_array(arg) ? json_array_get(arg, m) : arg;
                sb_status status = each_history(w, one, fn, ud);
                if (status != SB_OK) return status;
            }
        }
    }
    return SB_OK;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static sb_status set_shape(walk *w, sb_slice layer, const sb_keras_shape *shape) {
    sb_alloc in_arena = sb_arena_alloc(w->arena);
    uint32_t id;
    bool is_new;
    if (!layer.p || !SB_VEC_RESERVE(&w->shapes.items, &in_arena, 1, SIZE_MAX)) return SB_NOMEM;
    sb_status status = sb_intern_add(&w->shapes.table, layer, &id, &is_new);
    if (status != SB_OK || !is_new) return status;
    w->shapes.items.items[w->shapes.items.n++] = *shape;
    return SB_OK;
}

/* Stores the shape that an edge carries as the output shape of the layer it comes from. */
static sb_status note_edge(walk *w, const edge *e, void *ud) {
    const sb_slice *scope = ud;
    sb_keras_shape shape;
    if (e->tensor != 0 || !e->shape || !sb_keras_shape_read(&shape, e->shape)) return SB_OK;
    return set_shape(w, scoped(w, *scope, e->name), &shape);
}

/* Collects output shapes in a first pass over all layers. In a sequential model, the input shape
 * that a layer was built for is the output shape of the layer before it. */
static sb_status note_shapes(walk *w, const json_t *model, sb_slice scope, unsigned depth) {
    const json_t *config = json_is_object(model) ? get_member(model, "config") : NULL;
    const json_t *layers = json_is_object(config) ? get_member(config, "layers") : NULL;
    bool is_sequential = json_array_size(get_member(config, "input_layers")) == 0;
    sb_slice inner, before = {NULL, 0};
    if (!json_is_array(layers) || depth > MOST_DEPTH) return SB_OK;
    inner = scoped(w, scope, text_of(get_member(config, "name")));
    if (!inner.p) return SB_NOMEM;
    for (size_t i = 0; i < json_array_size(layers); i++) {
        const json_t *layer = json_array_get(layers, i);
        const json_t *own = json_is_object(layer) ? get_member(layer, "config") : NULL;
        sb_keras_shape shape;
        if (!json_is_object(own)) return SB_OK;
        sb_status status = each_edge(w, layer, note_edge, &inner);
        if (status == SB_OK && is_sequential && before.p && sb_keras_built_for(&shape, layer))
            status = set_shape(w, before, &shape);
        if (status == SB_OK) status = note_shapes(w, layer, inner, depth + 1);
        if (status != SB_OK) return status;
        before = scoped(w, inner, text_of(get_member(own, "name")));
    }
    return SB_OK;
}

static bool find_shape(const walk *w, sb_slice name, const json_t *layer, sb_keras_shape *out) {
    uint32_t id = sb_intern_find(&w->shapes.table, name);
    if (id == SB_INTERN_NONE) return sb_keras_output(out, layer);
    *out = w->shapes.items.items[id];
    return true;
}

/* ---- models ---------------------------------------------------------------------------------- */

typedef struct joining {
    sb_slice scope, name; /* of the model */
    const json_t *inputs; /* its input layers; NULL: it is sequential */
    size_t n;
    bool any;
} joining;

/* The i-th edge into an inner model feeds its i-th input layer. */
static sb_status join_edge(walk *w, const edge *e, void *ud) {
    joining *j = ud;
    size_t i = j->n++;
    sb_slice from = scoped(w, j->scope, e->name);
    if (!from.p) return SB_NOMEM;
    if (!j->inputs) { /* a sequential model has one input: its first layer is connected to it */
        if (i == 0) w->previous = from;
        j->any = true;
        return SB_OK;
    }
    j->any = true;
    const json_t *input = json_array_get(j->inputs, i);
    if (!json_is_string(input)) return SB_OK;
    return join_input(w, scoped(w, j->name, text_of(input)), from);
}

static sb_status set_outputs(walk *w, const json_t *config, sb_slice name, bool is_functional) {
    const json_t *layers = get_member(config, "layers");
    const json_t *outputs = get_member(config, "output_layers");
    bool is_nested = json_is_array(json_array_get(outputs, 0));
    size_t n = is_functional && is_nested ? json_array_size(outputs) : 1;
    sb_slice *targets = sb_arena_zeroed(w->arena, n, sizeof *targets);
    if (!targets) return SB_NOMEM;
    for (size_t i = 0; i < n; i++) {
        const json_t *output = !is_functional ? NULL
                               : is_nested    ? json_array_get(outputs, i)
                                              : outputs;
        const json_t *last =
            get_member(json_array_get(layers, json_array_size(layers) - 1), "config");
        sb_slice layer =
            text_of(is_functional ? json_array_get(output, 0) : get_member(last, "name"));
        targets[i] = scoped(w, name, layer);
        if (!targets[i].p) return SB_NOMEM;
    }
    return set_name(w, &w->outputs, name, targets, n);
}

static sb_status take_model(walk *w, const json_t *model, const json_t *config, sb_slice scope) {
    sb_slice name = scoped(w, scope, text_of(get_member(config, "name")));
    if (!name.p) return SB_NOMEM;
    const json_t *inputs = get_member(config, "input_layers");
    bool is_functional =
        json_array_size(inputs) && json_array_size(get_member(config, "output_layers"));
    joining j = {.scope = scope, .name = name, .inputs = is_functional ? inputs : NULL};
    sb_status status = each_edge(w, model, join_edge, &j);
    const json_t *first = json_array_get(inputs, 0);
    if (status == SB_OK && !j.any && w->previous.p && is_functional && json_is_string(first))
        status = join_input(w, scoped(w, name, text_of(first)), w->previous);
    if (status != SB_OK || json_array_size(get_member(config, "layers")) == 0) return status;
    return set_outputs(w, config, name, is_functional);
}

/* ---- layers ---------------------------------------------------------------------------------- */

typedef struct placing {
    sb_slice scope;
} placing;

static sb_status add_edge(walk *w, const edge *e, void *ud) {
    const placing *p = ud;
    sb_slice from = scoped(w, p->scope, e->name);
    if (!from.p) return SB_NOMEM;
    sb_slice *targets;
    size_t n = find_name(&w->outputs, from, &targets);
    if (n) from = targets[e->tensor >= 0 && (size_t)e->tensor < n ? (size_t)e->tensor : n - 1];
    sb_pb_add_bytes(w->out, SB_NODE_INPUT, from);
    return SB_OK;
}

/* The data type of a layer: the JSON has its name, or a policy object that contains the name. */
static sb_dtype dtype_of(const json_t *config) {
    const json_t *value = get_member(config, "dtype");
    if (json_is_object(value)) {
        const json_t *policy = get_member(value, "config");
        value = json_is_object(policy) ? get_member(policy, "name") : NULL;
    }
    if (!json_is_string(value)) return SB_NO_DTYPE;
    static const struct {
        const char *name;
        sb_dtype dtype;
    } more[] = {{"float", SB_FLOAT}, {"double", SB_DOUBLE}, {"half", SB_HALF}};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        if (strcmp(json_string_value(value), more[i].name) == 0) return more[i].dtype;
    return sb_dtype_named(text_of(value));
}

static size_t begin_attr(walk *w, const char *key, size_t *value) {
    size_t entry = sb_pb_begin(w->out, SB_NODE_ATTR, 64);
    sb_pb_add_bytes(w->out, SB_NODE_ATTR_KEY, sb_slice_str(key));
    *value = sb_pb_begin(w->out, SB_NODE_ATTR_VALUE, 40);
    return entry;
}

static void add_counts(walk *w, const json_t *layer, sb_slice name) {
    sb_keras_shape shape;
    size_t value, entry = begin_attr(w, "parameters", &value);
    sb_pb_add_int(w->out, SB_ATTR_VALUE_I, sb_keras_params(layer));
    sb_pb_end(w->out, value);
    sb_pb_end(w->out, entry);
    if (!find_shape(w, name, layer, &shape)) return;
    entry = begin_attr(w, "_output_shapes", &value);
    size_t list = sb_pb_begin(w->out, SB_ATTR_VALUE_LIST, 40);
    size_t at = sb_pb_begin(w->out, SB_ATTR_LIST_SHAPE, 40);
    for (size_t i = 0; i < shape.rank; i++) {
        size_t dim = sb_pb_begin(w->out, SB_SHAPE_DIM, 12);
        sb_pb_add_int_nz(w->out, SB_DIM_SIZE, shape.dims[i]);
        sb_pb_end(w->out, dim);
    }
    sb_pb_end(w->out, at);
    sb_pb_end(w->out, list);
    sb_pb_end(w->out, value);
    sb_pb_end(w->out, entry);
}

static void add_attrs(walk *w, const json_t *layer, const json_t *config) {
    const json_t *class = get_member(layer, "class_name");
    sb_dtype dtype = dtype_of(config);
    if (dtype != SB_NO_DTYPE) {
        size_t entry = sb_pb_begin(w->out, SB_NODE_ATTR, 16);
        sb_pb_add_bytes(w->out, SB_NODE_ATTR_KEY, SB_LIT("dtype"));
        size_t value = sb_pb_begin(w->out, SB_NODE_ATTR_VALUE, 8);
        sb_pb_add_uint(w->out, SB_ATTR_VALUE_TYPE, (uint64_t)dtype);
        sb_pb_end(w->out, value);
        sb_pb_end(w->out, entry);
    }
    if (!json_is_string(class)) return;
    size_t entry = sb_pb_begin(w->out, SB_NODE_ATTR, 40);
    sb_pb_add_bytes(w->out, SB_NODE_ATTR_KEY, SB_LIT("keras_class"));
    size_t value = sb_pb_begin(w->out, SB_NODE_ATTR_VALUE, 24);
    sb_pb_add_bytes(w->out, SB_ATTR_VALUE_S, text_of(class));
    sb_pb_end(w->out, value);
    sb_pb_end(w->out, entry);
}

static sb_status take_layer(walk *w, const json_t *layer, const json_t *config, sb_slice scope) {
    sb_slice name = scoped(w, scope, text_of(get_member(config, "name")));
    if (!name.p) return SB_NOMEM;
    size_t node = sb_pb_begin(w->out, SB_GRAPH_NODE, 128);
    sb_pb_add_bytes(w->out, SB_NODE_NAME, name);
    sb_status status = SB_OK;
    placing p = {scope};
    if (get_member(layer, "inbound_nodes"))
        status = each_edge(w, layer, add_edge, &p);
    else if (w->previous.p)
        sb_pb_add_bytes(w->out, SB_NODE_INPUT, w->previous);
    sb_slice *targets;
    if (find_name(&w->inputs, name, &targets)) sb_pb_add_bytes(w->out, SB_NODE_INPUT, targets[0]);
    add_attrs(w, layer, config);
    if (w->detail == SB_KERAS_COUNTED) add_counts(w, layer, name);
    sb_pb_end(w->out, node);
    w->previous = name;
    return status;
}

static sb_status take_layer_or_model(walk *w, const json_t *layer, sb_slice scope, unsigned depth) {
    if (depth > MOST_DEPTH) return sb_fail(w->err, SB_LIMIT, 0, "models are nested too deep");
    const json_t *config = json_is_object(layer) ? get_member(layer, "config") : NULL;
    if (!json_is_object(config))
        return sb_fail(w->err, SB_CORRUPT, 0, "a layer has no configuration");
    const json_t *layers = get_member(config, "layers");
    if (!json_is_array(layers)) return take_layer(w, layer, config, scope);
    sb_status status = take_model(w, layer, config, scope);
    sb_slice inner = scoped(w, scope, text_of(get_member(config, "name")));
    if (!inner.p) return SB_NOMEM;
    for (size_t i = 0; i < json_array_size(layers) && status == SB_OK; i++)
        status = take_layer_or_model(w, json_array_get(layers, i), inner, depth + 1);
    return status;
}

sb_status sb_keras_graph(sb_buf *graph_def, sb_slice json, sb_keras_detail detail, sb_arena *arena,
                         sb_err *err) {
    json_error_t error;
    json_t *model = json_loadb(json.n ? (const char *)json.p : "", json.n, 0, &error);
    if (!model) return sb_fail(err, SB_CORRUPT, 0, "the model is no JSON: %s", error.text);
    walk w = {.out = graph_def, .arena = arena, .detail = detail, .err = err};
    sb_status status = SB_OK;
    sb_intern_init(&w.inputs.table, arena->alloc, 0, MOST_NAMES);
    sb_intern_init(&w.outputs.table, arena->alloc, 0, MOST_NAMES);
    sb_intern_init(&w.shapes.table, arena->alloc, 0, MOST_NAMES);
    if (detail == SB_KERAS_COUNTED) status = note_shapes(&w, model, SB_LIT(""), 0);
    if (status == SB_OK) status = take_layer_or_model(&w, model, SB_LIT(""), 0);
    if (status == SB_NOMEM) sb_fail_nomem(err, "for a model's graph");
    sb_intern_fini(&w.shapes.table);
    sb_intern_fini(&w.outputs.table);
    sb_intern_fini(&w.inputs.table);
    json_decref(model);
    return status == SB_OK ? sb_buf_check(graph_def, "a model's graph", err) : status;
}
