/* onnx.c: converts ONNX models to GraphDefs. The messages and field numbers that are read:
 *
 * ModelProto  1 ir_version, 2 producer_name, 7 graph, 8 opset_import
 * GraphProto  1 node*, 2 name, 5 initializer*, 11 input*, 12 output*, 13 value_info*, 15 sparse
 * NodeProto   1 input*, 2 output*, 3 name, 4 op_type, 5 attribute*, 7 domain
 * AttributeProto 1 name, 2 f, 3 i, 4 s, 5 t, 6 g, 7 floats*, 8 ints*, 9 strings*, 20 type
 * TensorProto 1 dims*, 2 data_type, 8 name, 9 raw_data
 * ValueInfoProto 1 name, 2 type;  TypeProto 1 tensor_type {1 elem_type, 2 shape {1 dim {1 value,
 * 2 param}}}
 *
 * Node names that torch exports are paths ("/encoder/layers.0/MatMul"), so they become nested
 * scopes, and weights are placed in the scope that uses them. In a GraphDef an input is written as
 * the name of the node that produces the value, followed by ":k" for its output number k (omitted
 * for k = 0). */
#include <stdio.h>

#include "base/intern.h"
#include "base/slice.h"
#include "codec/proto/items.h"
#include "codec/proto/messages.h"
#include "graph/formats/graph_file.h"
#include "base/banned.h"

enum {
    MODEL_GRAPH = 7,
    GRAPH_NODE = 1,
    GRAPH_INITIALIZER = 5,
    GRAPH_INPUT = 11,
    GRAPH_OUTPUT = 12,
    GRAPH_VALUE = 13,
    NODE_INPUT = 1,
    NODE_OUTPUT = 2,
    NODE_NAME = 3,
    NODE_OP = 4,
    NODE_ATTRIBUTE = 5,
    TENSOR_DIMS = 1,
    TENSOR_TYPE = 2,
    TENSOR_NAME = 8,
    VALUE_NAME = 1,
    VALUE_TYPE = 2,
};
#define MOST_VALUES (16u << 20)

typedef struct onnx {
    sb_buf *out;
    sb_arena *scratch;
    sb_slice graph;
    sb_intern values; /* names of values; the id is the index into the two arrays below */
    /* the node that produces the value, as text of an input: "node" or "node:1" */
    sb_slice *maker;
    sb_slice *shape; /* an encoded TypeProto */
    size_t room;
    uint32_t weight_count; /* ids below this number are initializers */
} onnx;

static sb_slice field(sb_slice message, uint32_t number) {
    sb_items items = sb_items_of(message, number);
    sb_slice found = {NULL, 0}, one;
    while (sb_items_next(&items, &one) == SB_OK) found = one;
    return found;
}

/* Returns the concatenation of two texts, allocated in the arena. */
static sb_slice join(onnx *x, sb_slice text, const char *more) {
    size_t n = strlen(more);
    uint8_t *p = sb_arena_get(x->scratch, text.n + n + 1);
    if (!p) return text;
    if (text.n) memcpy(p, text.p, text.n);
    memcpy(p + text.n, more, n);
    return sb_slice_of(p, text.n + n);
}

static sb_slice join_number(onnx *x, sb_slice text, const char *between, size_t n) {
    char number[40];
    snprintf(number, sizeof number, "%s%zu", between, n);
    return join(x, text, number);
}

/* Converts a name to one that is valid in a GraphDef. Leading slashes are removed, because they
 * would make a scope without a name. Colons are replaced, because a colon starts an output number
 * in a GraphDef; torch uses them in the names of weights that it has transformed
 * ("onnx::MatMul_326"). A run of colons becomes one dot. */
static sb_slice plain_name(onnx *x, sb_slice name) {
    while (name.n && name.p[0] == '/') name = sb_slice_of(name.p + 1, name.n - 1);
    if (name.n == 0 || !memchr(name.p, ':', name.n)) return name;
    uint8_t *p = sb_arena_get(x->scratch, name.n);
    size_t n = 0;
    for (size_t i = 0; p && i < name.n; i++)
        if (name.p[i] != ':')
            p[n++] = name.p[i];
        else if (i == 0 || name.p[i - 1] != ':')
            p[n++] = '.';
    return p ? sb_slice_of(p, n) : name;
}

static sb_slice node_name(onnx *x, sb_slice node, size_t number) {
    sb_slice name = plain_name(x, field(node, NODE_NAME));
    return name.n ? name : join_number(x, plain_name(x, field(node, NODE_OP)), "_", number);
}

static bool set_maker(onnx *x, sb_slice value, sb_slice maker) {
    uint32_t id;
    bool is_new;
    if (value.n == 0) return true;
    if (sb_intern_add(&x->values, value, &id, &is_new) != SB_OK || id >= x->room) return false;
    if (is_new || x->maker[id].n == 0) x->maker[id] = maker;
    return true;
}

static bool set_shape(onnx *x, sb_slice info) {
    uint32_t id;
    sb_slice name = field(info, VALUE_NAME);
    if (name.n == 0) return true;
    if (sb_intern_add(&x->values, name, &id, NULL) != SB_OK || id >= x->room) return false;
    x->shape[id] = field(info, VALUE_TYPE);
    return true;
}

static bool count_room(onnx *x) {
    sb_items items;
    sb_slice one, value;
    static const uint32_t lists[] = {GRAPH_INITIALIZER, GRAPH_INPUT, GRAPH_OUTPUT, GRAPH_VALUE};
    x->room = 1;
    for (size_t i = 0; i < 4; i++) {
        items = sb_items_of(x->graph, lists[i]);
        while (sb_items_next(&items, &one) == SB_OK) x->room++;
    }
    items = sb_items_of(x->graph, GRAPH_NODE);
    while (sb_items_next(&items, &one) == SB_OK) {
        sb_items outputs = sb_items_of(one, NODE_OUTPUT);
        while (sb_items_next(&outputs, &value) == SB_OK) x->room++;
    }
    x->maker = sb_arena_zeroed(x->scratch, x->room, sizeof *x->maker);
    x->shape = sb_arena_zeroed(x->scratch, x->room, sizeof *x->shape);
    return x->maker && x->shape;
}

/* Removes the scope from a weight's name: "fc.weight" in the scope "fc" becomes "weight". Other
 * names are returned unchanged. */
static sb_slice name_in_scope(sb_slice name, sb_slice scope) {
    if (name.n <= scope.n + 1 || name.p[scope.n] != '.') return name;
    for (size_t i = 0; i < scope.n; i++)
        if (name.p[i] != (scope.p[i] == '/' ? '.' : scope.p[i])) return name;
    return sb_slice_of(name.p + scope.n + 1, name.n - scope.n - 1);
}

/* An initializer whose name has no scope is moved into the scope of the first node that uses it, so
 * that its parameters are counted there. */
static bool place_weights(onnx *x, sb_slice node, sb_slice scope) {
    sb_items inputs = sb_items_of(node, NODE_INPUT);
    sb_slice value;
    while (scope.n && sb_items_next(&inputs, &value) == SB_OK) {
        uint32_t id = value.n ? sb_intern_find(&x->values, value) : SB_INTERN_NONE;
        if (id >= x->weight_count || memchr(x->maker[id].p, '/', x->maker[id].n)) continue;
        sb_slice label = name_in_scope(x->maker[id], scope);
        uint8_t *name = sb_arena_get(x->scratch, scope.n + 1 + label.n);
        if (!name) return false;
        memcpy(name, scope.p, scope.n);
        name[scope.n] = '/';
        memcpy(name + scope.n + 1, label.p, label.n);
        x->maker[id] = sb_slice_of(name, scope.n + 1 + label.n);
    }
    return true;
}

static sb_slice scope_of(sb_slice name) {
    const uint8_t *slash = name.n ? memrchr(name.p, '/', name.n) : NULL;
    return slash ? sb_slice_of(name.p, (size_t)(slash - name.p)) : (sb_slice){NULL, 0};
}

/* Finds which node produces each value, and the shapes that the file declares. */
static bool find_values(onnx *x) {
    sb_items items;
    sb_slice one, value;
    items = sb_items_of(x->graph, GRAPH_INITIALIZER);
    while (sb_items_next(&items, &one) == SB_OK)
        if (!set_maker(x, field(one, TENSOR_NAME), plain_name(x, field(one, TENSOR_NAME))))
            return false;
    x->weight_count = x->values.count;
    items = sb_items_of(x->graph, GRAPH_INPUT);
    while (sb_items_next(&items, &one) == SB_OK)
        if (!set_maker(x, field(one, VALUE_NAME), plain_name(x, field(one, VALUE_NAME))))
            return false;
    size_t number = 0;
    items = sb_items_of(x->graph, GRAPH_NODE);
    while (sb_items_next(&items, &one) == SB_OK) {
        sb_slice name = node_name(x, one, number++);
        sb_items outputs = sb_items_of(one, NODE_OUTPUT);
        if (!place_weights(x, one, scope_of(name))) return false;
        for (size_t k = 0; sb_items_next(&outputs, &value) == SB_OK; k++)
            if (!set_maker(x, value, k ? join_number(x, name, ":", k) : name)) return false;
    }
    static const uint32_t shaped[] = {GRAPH_INPUT, GRAPH_OUTPUT, GRAPH_VALUE};
    for (size_t i = 0; i < 3; i++) {
        items = sb_items_of(x->graph, shaped[i]);
        while (sb_items_next(&items, &one) == SB_OK)
            if (!set_shape(x, one)) return false;
    }
    return true;
}

/* ---- writing --------------------------------------------------------------------------------- */

static size_t begin_attr(sb_buf *out, const char *key, size_t *value) {
    size_t entry = sb_pb_begin(out, SB_NODE_ATTR, 64);
    sb_pb_add_bytes(out, SB_NODE_ATTR_KEY, sb_slice_str(key));
    *value = sb_pb_begin(out, SB_NODE_ATTR_VALUE, 40);
    return entry;
}

static void add_dim(sb_buf *out, int64_t size) {
    size_t dim = sb_pb_begin(out, SB_SHAPE_DIM, 10);
    sb_pb_add_int_nz(out, SB_DIM_SIZE, size);
    sb_pb_end(out, dim);
}

/* Writes a TypeProto as a TensorShapeProto. A dimension that has a name instead of a size is
 * written as -1, which means unknown. */
static void add_shape(sb_buf *out, uint32_t number, sb_slice type) {
    sb_slice tensor = field(type, 1), shape = field(tensor, 2), dim;
    size_t at = sb_pb_begin(out, number, 32);
    sb_items has = sb_items_of(tensor, 2);
    if (sb_items_next(&has, &dim) != SB_OK) sb_pb_add_uint(out, SB_SHAPE_UNKNOWN_RANK, 1);
    sb_items dims = sb_items_of(shape, 1);
    while (sb_items_next(&dims, &dim) == SB_OK) {
        sb_pb c = sb_pb_over(dim);
        sb_pb_field f;
        int64_t size = -1;
        while (sb_pb_next(&c, &f) == SB_PB_FIELD)
            if (f.number == 1 && f.wire == SB_PB_VARINT) size = sb_pb_int64(&f);
        add_dim(out, size);
    }
    sb_pb_end(out, at);
}

static bool has_shapes(onnx *x, sb_slice node) {
    sb_items outputs = sb_items_of(node, NODE_OUTPUT);
    sb_slice value;
    while (sb_items_next(&outputs, &value) == SB_OK) {
        uint32_t id = sb_intern_find(&x->values, value);
        if (id != SB_INTERN_NONE && x->shape[id].n) return true;
    }
    return false;
}

static void add_output_shapes(onnx *x, sb_slice node) {
    size_t value, entry, list;
    sb_slice name;
    if (!has_shapes(x, node)) return;
    entry = begin_attr(x->out, "_output_shapes", &value);
    list = sb_pb_begin(x->out, SB_ATTR_VALUE_LIST, 40);
    sb_items outputs = sb_items_of(node, NODE_OUTPUT);
    while (sb_items_next(&outputs, &name) == SB_OK) {
        uint32_t id = sb_intern_find(&x->values, name);
        add_shape(x->out, SB_ATTR_LIST_SHAPE,
                  id == SB_INTERN_NONE ? (sb_slice){NULL, 0} : x->shape[id]);
    }
    sb_pb_end(x->out, list);
    sb_pb_end(x->out, value);
    sb_pb_end(x->out, entry);
}

/* Converts an attribute: numbers, strings and their lists are copied. For tensors and subgraphs
 * only the size in bytes is written, as a placeholder. */
static void add_attribute(onnx *x, sb_slice attribute) {
    sb_buf *out = x->out;
    sb_pb c = sb_pb_over(attribute);
    sb_pb_field f;
    size_t value, entry = sb_pb_begin(out, SB_NODE_ATTR, 64), list = 0;
    bool is_list = false;
    sb_pb_add_bytes(out, SB_NODE_ATTR_KEY, field(attribute, 1));
    value = sb_pb_begin(out, SB_NODE_ATTR_VALUE, 40);
    while (sb_pb_next(&c, &f) == SB_PB_FIELD) {
        bool is_of_list = f.number >= 7 && f.number <= 9;
        if (is_of_list && !is_list) list = sb_pb_begin(out, SB_ATTR_VALUE_LIST, 40);
        is_list |= is_of_list;
        if (f.number == 2 && f.wire == SB_PB_FIXED32)
            sb_pb_add_float(out, SB_ATTR_VALUE_F, sb_pb_float(&f));
        else if (f.number == 3 && f.wire == SB_PB_VARINT)
            sb_pb_add_int(out, SB_ATTR_VALUE_I, sb_pb_int64(&f));
        else if (f.number == 4 && f.wire == SB_PB_BYTES)
            sb_pb_add_bytes(out, SB_ATTR_VALUE_S, f.bytes);
        else if ((f.number == 5 || f.number == 6) && f.wire == SB_PB_BYTES && !is_list)
            sb_pb_add_bytes(out, SB_ATTR_VALUE_PLACEHOLDER,
                            join_number(x,
                                        f.number == 5 ? SB_LIT("a tensor, bytes: ")
                                                      : SB_LIT("a graph, bytes: "),
                                        "", f.bytes.n));
        else if (f.number == 8 && f.wire == SB_PB_VARINT)
            sb_pb_add_int(out, SB_ATTR_LIST_I, sb_pb_int64(&f));
        else if (f.number == 8 && f.wire == SB_PB_BYTES)
            sb_pb_add_bytes(out, SB_ATTR_LIST_I, f.bytes);
        else if (f.number == 7 && f.wire == SB_PB_FIXED32)
            sb_pb_add_float(out, SB_ATTR_LIST_F, sb_pb_float(&f));
        else if (f.number == 7 && f.wire == SB_PB_BYTES)
            sb_pb_add_bytes(out, SB_ATTR_LIST_F, f.bytes);
        else if (f.number == 9 && f.wire == SB_PB_BYTES)
            sb_pb_add_bytes(out, SB_ATTR_LIST_S, f.bytes);
    }
    if (is_list) sb_pb_end(out, list);
    sb_pb_end(out, value);
    sb_pb_end(out, entry);
}

static void add_input(onnx *x, sb_slice value) {
    uint32_t id = value.n ? sb_intern_find(&x->values, value) : SB_INTERN_NONE;
    if (value.n == 0) return; /* an optional input that is not used */
    sb_pb_add_bytes(x->out, SB_NODE_INPUT,
                    id != SB_INTERN_NONE && x->maker[id].n ? x->maker[id] : plain_name(x, value));
}

static void add_node(onnx *x, sb_slice node, size_t number) {
    size_t at = sb_pb_begin(x->out, SB_GRAPH_NODE, 256);
    sb_slice one;
    sb_pb_add_bytes(x->out, SB_NODE_NAME, node_name(x, node, number));
    sb_pb_add_bytes(x->out, SB_NODE_OP, field(node, NODE_OP));
    sb_items inputs = sb_items_of(node, NODE_INPUT);
    while (sb_items_next(&inputs, &one) == SB_OK) add_input(x, one);
    sb_items attributes = sb_items_of(node, NODE_ATTRIBUTE);
    while (sb_items_next(&attributes, &one) == SB_OK) add_attribute(x, one);
    add_output_shapes(x, node);
    sb_pb_end(x->out, at);
}

/* Maps ONNX element types to TensorFlow's DataType numbers; 0 if TensorFlow has no such type
 * here. */
static uint64_t tf_type(uint64_t type) {
    static const uint8_t types[] = {0, 1, 4, 6, 17, 5, 3, 9, 7, 10, 19, 2, 22, 23, 8, 18, 14};
    return type < sizeof types ? types[type] : 0;
}

static void add_initializer(onnx *x, sb_slice tensor) {
    sb_buf *out = x->out;
    uint64_t type = 0, bits;
    size_t at = sb_pb_begin(out, SB_GRAPH_NODE, 128), value, entry, shape;
    sb_slice name = field(tensor, TENSOR_NAME);
    uint32_t id = name.n ? sb_intern_find(&x->values, name) : SB_INTERN_NONE;
    sb_pb_add_bytes(out, SB_NODE_NAME, id == SB_INTERN_NONE ? plain_name(x, name) : x->maker[id]);
    sb_pb_add_bytes(out, SB_NODE_OP, SB_LIT("Initializer"));
    for (int is_list = 0; is_list < 2; is_list++) {
        size_t list = 0;
        entry = begin_attr(out, is_list ? "_output_shapes" : "shape", &value);
        if (is_list) list = sb_pb_begin(out, SB_ATTR_VALUE_LIST, 40);
        shape = sb_pb_begin(out, is_list ? SB_ATTR_LIST_SHAPE : SB_ATTR_VALUE_SHAPE, 32);
        sb_pb c = sb_pb_over(tensor);
        sb_pb_field f;
        while (sb_pb_next(&c, &f) == SB_PB_FIELD) {
            if (f.number == TENSOR_TYPE && f.wire == SB_PB_VARINT) type = f.u64;
            if (f.number != TENSOR_DIMS) continue;
            sb_pb_many many = sb_pb_many_of(&f, SB_PB_VARINT);
            while (sb_pb_many_next(&many, &bits) == SB_PB_FIELD) add_dim(out, (int64_t)bits);
        }
        sb_pb_end(out, shape);
        if (is_list) sb_pb_end(out, list);
        sb_pb_end(out, value);
        sb_pb_end(out, entry);
    }
    entry = begin_attr(out, "dtype", &value);
    sb_pb_add_uint(out, SB_ATTR_VALUE_TYPE, tf_type(type));
    sb_pb_end(out, value);
    sb_pb_end(out, entry);
    sb_pb_end(out, at);
}

/* Adds a node for an input or an output of the whole graph. The caller leaves out inputs that are
 * initializers. */
static void add_end(onnx *x, sb_slice info, bool is_input) {
    sb_buf *out = x->out;
    sb_slice name = field(info, VALUE_NAME), type = field(info, VALUE_TYPE);
    size_t value, entry, list, at = sb_pb_begin(out, SB_GRAPH_NODE, 128);
    sb_pb_add_bytes(out, SB_NODE_NAME,
                    is_input ? plain_name(x, name) : join(x, plain_name(x, name), " (output)"));
    sb_pb_add_bytes(out, SB_NODE_OP, is_input ? SB_LIT("Input") : SB_LIT("Output"));
    if (!is_input) add_input(x, name);
    entry = begin_attr(out, "_output_shapes", &value);
    list = sb_pb_begin(out, SB_ATTR_VALUE_LIST, 40);
    add_shape(out, SB_ATTR_LIST_SHAPE, type);
    sb_pb_end(out, list);
    sb_pb_end(out, value);
    sb_pb_end(out, entry);
    sb_pb_end(out, at);
}

static sb_status add_all(onnx *x) {
    sb_items items = sb_items_of(x->graph, GRAPH_INPUT);
    sb_intern weights;
    sb_slice one;
    sb_status end;
    sb_intern_init(&weights, x->out->alloc, 3, MOST_VALUES);
    sb_items tensors = sb_items_of(x->graph, GRAPH_INITIALIZER);
    while (sb_items_next(&tensors, &one) == SB_OK)
        sb_intern_add(&weights, field(one, TENSOR_NAME), &(uint32_t){0}, NULL);
    while (sb_items_next(&items, &one) == SB_OK)
        if (sb_intern_find(&weights, field(one, VALUE_NAME)) == SB_INTERN_NONE)
            add_end(x, one, true);
    sb_intern_fini(&weights);
    tensors = sb_items_of(x->graph, GRAPH_INITIALIZER);
    while (sb_items_next(&tensors, &one) == SB_OK) add_initializer(x, one);
    items = sb_items_of(x->graph, GRAPH_NODE);
    for (size_t n = 0; (end = sb_items_next(&items, &one)) == SB_OK; n++) add_node(x, one, n);
    items = sb_items_of(x->graph, GRAPH_OUTPUT);
    while (sb_items_next(&items, &one) == SB_OK) add_end(x, one, false);
    return end;
}

/* Returns the GraphProto of a model. If the file is truncated inside the graph, the part that
 * exists is returned and *is_cut is set. */
static sb_slice find_graph(sb_slice model, bool *is_cut) {
    sb_pb c = sb_pb_over(model);
    sb_pb_field f;
    sb_slice graph = {NULL, 0};
    for (;;) {
        const uint8_t *from = c.p;
        sb_pb_step step = sb_pb_next(&c, &f);
        if (step == SB_PB_END) return graph;
        if (step == SB_PB_FIELD) {
            if (f.number == MODEL_GRAPH && f.wire == SB_PB_BYTES) graph = f.bytes;
            continue;
        }
        *is_cut = true;
        sb_pb rest = {from, c.end};
        uint64_t key, n;
        if (!graph.n && sb_pb_varint(&rest, &key) && key == (MODEL_GRAPH << 3 | SB_PB_BYTES) &&
            sb_pb_varint(&rest, &n))
            return sb_slice_of(rest.p, (size_t)(rest.end - rest.p));
        return graph;
    }
}

sb_status sb_onnx_graph(sb_buf *out, sb_slice model, bool *is_cut, sb_arena *scratch, sb_err *err) {
    onnx x = {.out = out, .scratch = scratch};
    *is_cut = false;
    x.graph = find_graph(model, is_cut);
    sb_items nodes = sb_items_of(x.graph, GRAPH_NODE);
    sb_slice first;
    if (sb_items_next(&nodes, &first) != SB_OK || field(first, NODE_OP).n == 0)
        return sb_fail(err, SB_CORRUPT, 0, "not an ONNX model");
    sb_intern_init(&x.values, out->alloc, 4, MOST_VALUES);
    bool is_done = count_room(&x) && find_values(&x);
    if (is_done && add_all(&x) != SB_END) *is_cut = true;
    sb_intern_fini(&x.values);
    return is_done ? sb_buf_check(out, "a graph", err) : sb_fail_nomem(err, "for a graph");
}
