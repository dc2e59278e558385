/* export.c: a graph as GraphDef and MetaGraphDef.
 *
 *   GraphDef      1 node {1 name, 2 op, 3 input, 5 attr {1 key, 2 value}} | 4 versions {1 producer}
 *   MetaGraphDef  2 graph_def | 3 saver_def | 4 collection_def {1 key, 2 value}
 *   SaverDef      1 filename_tensor | 2 save_tensor | 3 restore_op | 4 max_to_keep | 6 hours |
 *                 7 version
 * Attributes are in the order of their names. A constant of zeros has one number and its shape. */
#include <stdio.h>
#include <stdlib.h>

#include "codec/proto/messages.h"
#include "codec/tensor.h"
#include "train/ops.h"
#include "base/banned.h"

#define PRODUCER 24 /* TensorFlow 1.2 to 1.4 */
#define MOST_ATTRS 24

/* One attribute: its name, and its AttrValue as bytes of a scratch buffer. */
typedef struct made_attr {
    sb_slice name;
    size_t from, to;
} made_attr;

typedef struct exporting {
    sb_buf *b;
    sb_buf values; /* AttrValues of one node */
    made_attr attrs[MOST_ATTRS];
    size_t count;
} exporting;

/* ---- values ---------------------------------------------------------------------------------- */

static void add_shape(sb_buf *b, uint32_t field, const op_out *o) {
    size_t shape = sb_pb_begin(b, field, 4 * (size_t)o->dims.rank);
    for (uint32_t i = 0; i < o->dims.rank; i++) {
        size_t dim = sb_pb_begin(b, SB_SHAPE_DIM, 4);
        sb_pb_add_int_nz(b, SB_DIM_SIZE, o->dims.at[i]);
        sb_pb_end(b, dim);
    }
    sb_pb_end(b, shape);
}

/* What TensorFlow's own shape rule would know. */
static void add_exported_shape(sb_buf *b, uint32_t field, const sb_op *op, uint32_t slot) {
    const op_out *o = &op->outs[slot];
    if (!o->shape_is_hidden) {
        add_shape(b, field, o);
        return;
    }
    size_t shape = sb_pb_begin(b, field, 13);
    if (is_kind(op, OP_BROADCAST_ARGS)) {
        size_t dim = sb_pb_begin(b, SB_SHAPE_DIM, 11);
        sb_pb_add_int(b, SB_DIM_SIZE, -1);
        sb_pb_end(b, dim);
    } else {
        sb_pb_add_uint(b, SB_SHAPE_UNKNOWN_RANK, 1);
    }
    sb_pb_end(b, shape);
}

static bool is_all_zero(const op_out *o) {
    const uint8_t *p = o->value;
    size_t n = o->count * sb_dtype_size(o->dtype);
    if (o->dtype != SB_FLOAT || o->count < 2) return false;
    for (size_t i = 0; i < n; i++)
        if (p[i]) return false;
    return true;
}

static void add_const(sb_buf *b, const op_out *o) {
    if (is_all_zero(o)) {
        static const float zero[1] = {0};
        size_t tensor = sb_pb_begin(b, SB_ATTR_VALUE_TENSOR, 20);
        sb_pb_add_uint(b, SB_TENSOR_DTYPE, SB_FLOAT);
        add_shape(b, SB_TENSOR_TENSOR_SHAPE, o);
        sb_pb_add_packed_floats(b, SB_TENSOR_FLOAT_VAL, zero, 1);
        sb_pb_end(b, tensor);
        return;
    }
    const sb_array array = {
        .data = o->value, .dtype = o->dtype, .rank = o->dims.rank, .dims = o->dims.at};
    sb_tensor_add(b, SB_ATTR_VALUE_TENSOR, &array, SB_TENSOR_PYTHON);
}

/* ---- attributes ------------------------------------------------------------------------------ */

static void open_attr(exporting *x, sb_slice name) {
    if (x->count < MOST_ATTRS) x->attrs[x->count] = (made_attr){.name = name, .from = x->values.n};
}

static void close_attr(exporting *x) {
    if (x->count < MOST_ATTRS) x->attrs[x->count++].to = x->values.n;
}

static void add_given(exporting *x, const attr *a) {
    sb_buf *b = &x->values;
    open_attr(x, sb_slice_str(a->name));
    if (a->type == ATTR_INT)
        sb_pb_add_int(b, SB_ATTR_VALUE_I, a->i);
    else if (a->type == ATTR_BOOL)
        sb_pb_add_uint(b, SB_ATTR_VALUE_B, a->i != 0);
    else if (a->type == ATTR_FLOAT)
        sb_pb_add_float(b, SB_ATTR_VALUE_F, a->f);
    else if (a->type == ATTR_TYPE)
        sb_pb_add_uint(b, SB_ATTR_VALUE_TYPE, (uint64_t)a->i);
    else if (a->type == ATTR_TEXT)
        sb_pb_add_bytes(b, SB_ATTR_VALUE_S, a->text);
    else {
        size_t list = sb_pb_begin(b, SB_ATTR_VALUE_LIST, a->count * 2 + 2);
        size_t packed =
            sb_pb_begin(b, a->is_types ? SB_ATTR_LIST_TYPE : SB_ATTR_LIST_I, a->count * 2);
        for (size_t i = 0; i < a->count; i++) sb_pb_add_varint(b, (uint64_t)a->list[i]);
        sb_pb_end(b, packed);
        sb_pb_end(b, list);
    }
    close_attr(x);
}

/* The row's attributes, e.g. "T=i0 keep=false"; ops.h has the grammar. */
static void add_from_table(exporting *x, const sb_op *op) {
    const char *p = op->kind->attrs;
    while (*p) {
        size_t name = strcspn(p, "="), all = strcspn(p, " ");
        const char *v = p + name + 1;
        sb_buf *b = &x->values;
        open_attr(x, sb_slice_of(p, name));
        if (v[0] == 'i')
            sb_pb_add_uint(b, SB_ATTR_VALUE_TYPE, input_of(op, (size_t)(v[1] - '0'))->dtype);
        else if (v[0] == 'o')
            sb_pb_add_uint(b, SB_ATTR_VALUE_TYPE, op->outs[v[1] - '0'].dtype);
        else if (v[0] == '@')
            add_shape(b, SB_ATTR_VALUE_SHAPE, &op->outs[v[1] - '0']);
        else if (v[0] == '#')
            sb_pb_add_uint(b, SB_ATTR_VALUE_I, op->input_count);
        else if (v[0] == '\'')
            sb_pb_add_bytes(b, SB_ATTR_VALUE_S, sb_slice_of(v + 1, all - name - 3));
        else if (v[0] == 't' || v[0] == 'f')
            sb_pb_add_uint(b, SB_ATTR_VALUE_B, v[0] == 't');
        else
            sb_pb_add_uint(b, SB_ATTR_VALUE_I, (uint64_t)(v[0] - '0'));
        close_attr(x);
        p += all;
        p += *p == ' ';
    }
}

/* What only some kinds have: values, colours; and what many have: colocation, shapes. */
static void add_special(exporting *x, const sb_op *op) {
    sb_buf *b = &x->values;
    if (is_kind(op, OP_CONST)) {
        open_attr(x, SB_LIT("value"));
        add_const(b, &op->outs[0]);
        close_attr(x);
    }
    if (is_kind(op, OP_IMAGE_SUMMARY)) {
        static const uint8_t red[] = {255, 0, 0, 255};
        const sb_array color = {
            .data = red, .dtype = SB_UINT8, .rank = 1, .dims = (const int64_t[]){4}};
        open_attr(x, SB_LIT("bad_color"));
        sb_tensor_add(b, SB_ATTR_VALUE_TENSOR, &color, SB_TENSOR_TYPED);
        close_attr(x);
    }
    if (op->colocated) {
        open_attr(x, SB_LIT("_class"));
        size_t list = sb_pb_begin(b, SB_ATTR_VALUE_LIST, strlen(op->colocated->name) + 8);
        size_t text = sb_pb_begin(b, SB_ATTR_LIST_S, strlen(op->colocated->name) + 5);
        sb_buf_add_str(b, "loc:@");
        sb_buf_add_str(b, op->colocated->name);
        sb_pb_end(b, text);
        sb_pb_end(b, list);
        close_attr(x);
    }
    if (op->out_count) {
        open_attr(x, SB_LIT("_output_shapes"));
        size_t list = sb_pb_begin(b, SB_ATTR_VALUE_LIST, 16);
        for (uint32_t i = 0; i < op->out_count; i++)
            add_exported_shape(b, SB_ATTR_LIST_SHAPE, op, i);
        sb_pb_end(b, list);
        close_attr(x);
    }
}

static int by_attr_name(const void *a, const void *b) {
    return sb_slice_cmp(((const made_attr *)a)->name, ((const made_attr *)b)->name);
}

static void add_attrs(exporting *x, const sb_op *op) {
    sb_buf_clear(&x->values);
    x->count = 0;
    add_from_table(x, op);
    for (uint32_t i = 0; i < op->attr_count; i++) add_given(x, &op->attrs[i]);
    add_special(x, op);
    qsort(x->attrs, x->count, sizeof x->attrs[0], by_attr_name);
    for (size_t i = 0; i < x->count && x->values.failed == SB_OK; i++) {
        const made_attr *a = &x->attrs[i];
        size_t entry = sb_pb_begin(x->b, SB_NODE_ATTR, a->name.n + a->to - a->from + 4);
        sb_pb_add_bytes(x->b, SB_NODE_ATTR_KEY, a->name);
        sb_pb_add_bytes(x->b, SB_NODE_ATTR_VALUE,
                        sb_slice_of(x->values.p + a->from, a->to - a->from));
        sb_pb_end(x->b, entry);
    }
}

/* ---- the graph ------------------------------------------------------------------------------- */

static void add_input(sb_buf *b, const char *mark, const char *name, uint32_t slot) {
    char number[16] = "";
    if (slot) snprintf(number, sizeof number, ":%u", slot);
    size_t input = sb_pb_begin(b, SB_NODE_INPUT, strlen(name) + 2);
    sb_buf_add_str(b, mark);
    sb_buf_add_str(b, name);
    sb_buf_add_str(b, number);
    sb_pb_end(b, input);
}

static void add_node(exporting *x, const sb_op *op) {
    size_t node = sb_pb_begin(x->b, SB_GRAPH_NODE, 200);
    sb_pb_add_bytes(x->b, SB_NODE_NAME, sb_slice_str(op->name));
    sb_pb_add_bytes(x->b, SB_NODE_OP, sb_slice_str(op->kind->type));
    for (uint32_t i = 0; i < op->input_count; i++)
        add_input(x->b, "", op->inputs[i].op->name, op->inputs[i].slot);
    for (uint32_t i = 0; i < op->control_count; i++) add_input(x->b, "^", op->controls[i]->name, 0);
    add_attrs(x, op);
    sb_pb_end(x->b, node);
}

static void add_graph(sb_net *g, exporting *x) {
    for (size_t i = 0; i < g->ops.n; i++) add_node(x, g->ops.items[i]);
    size_t versions = sb_pb_begin(x->b, SB_GRAPH_VERSIONS, 2);
    sb_pb_add_uint(x->b, SB_VERSIONS_PRODUCER, PRODUCER);
    sb_pb_end(x->b, versions);
}

static sb_status check_export(const exporting *x, sb_err *err) {
    sb_status status = sb_buf_check(&x->values, "a graph's attributes", err);
    return status == SB_OK ? sb_buf_check(x->b, "a graph", err) : status;
}

static exporting begin_export(sb_net *g) {
    exporting x = {.b = &g->exported};
    sb_buf_clear(&g->exported);
    sb_buf_init(&x.values, NET_ALLOC, INT32_MAX);
    return x;
}

sb_status sb_net_graph_def(sb_net *g, sb_slice *out, sb_err *err) {
    sb_status status = sb_net_check(g, err);
    if (status != SB_OK) return status;
    exporting x = begin_export(g);
    add_graph(g, &x);
    status = check_export(&x, err);
    sb_buf_fini(&x.values);
    *out = sb_buf_slice(&g->exported);
    return status;
}

/* ---- the meta graph -------------------------------------------------------------------------- */

enum {
    META_COLLECTION = 4,
    ENTRY_KEY = 1,
    ENTRY_VALUE = 2,
    COLLECTION_NODES = 1,
    COLLECTION_BYTES = 2,
    LIST_VALUE = 1,
    SAVER_PATH = 1,
    SAVER_SAVE = 2,
    SAVER_RESTORE = 3,
    SAVER_MOST = 4,
    SAVER_HOURS = 6,
    SAVER_VERSION = 7,
    VARIABLE_NAME = 1,
    VARIABLE_INITIALIZER = 2,
    VARIABLE_SNAPSHOT = 3,
    VARIABLE_INITIAL = 6
};

static void add_name(sb_buf *b, uint32_t field, const char *name, const char *behind) {
    size_t text = sb_pb_begin(b, field, strlen(name) + 2);
    sb_buf_add_str(b, name);
    sb_buf_add_str(b, behind);
    sb_pb_end(b, text);
}

static void add_saver(sb_buf *b, const sb_net *g) {
    size_t saver = sb_pb_begin(b, SB_META_GRAPH_SAVER_DEF, 80);
    add_name(b, SAVER_PATH, g->save_path->name, ":0");
    add_name(b, SAVER_SAVE, g->save_op->name, ":0");
    add_name(b, SAVER_RESTORE, g->restore_op->name, "");
    sb_pb_add_uint(b, SAVER_MOST, 5);
    sb_pb_add_float(b, SAVER_HOURS, 10000);
    sb_pb_add_uint(b, SAVER_VERSION, 2);
    sb_pb_end(b, saver);
}

typedef struct collection {
    size_t entry, value, list;
} collection;

static collection begin_collection(sb_buf *b, const char *key, uint32_t kind) {
    collection c;
    c.entry = sb_pb_begin(b, META_COLLECTION, 200);
    sb_pb_add_bytes(b, ENTRY_KEY, sb_slice_str(key));
    c.value = sb_pb_begin(b, ENTRY_VALUE, 200);
    c.list = sb_pb_begin(b, kind, 200);
    return c;
}

static void end_collection(sb_buf *b, collection c) {
    sb_pb_end(b, c.list);
    sb_pb_end(b, c.value);
    sb_pb_end(b, c.entry);
}

static void add_variables(sb_buf *b, const sb_net *g, const char *key, bool only_trainable) {
    collection c = begin_collection(b, key, COLLECTION_BYTES);
    for (size_t i = 0; i < g->variables.n; i++) {
        const var_ops *v = &g->variables.items[i];
        if (only_trainable && !v->trainable) continue;
        size_t def = sb_pb_begin(b, LIST_VALUE, 100);
        add_name(b, VARIABLE_NAME, v->ref->name, ":0");
        add_name(b, VARIABLE_INITIALIZER, v->assign->name, "");
        add_name(b, VARIABLE_SNAPSHOT, v->read->name, ":0");
        add_name(b, VARIABLE_INITIAL, v->initial.op->name, ":0");
        sb_pb_end(b, def);
    }
    end_collection(b, c);
}

static void add_nodes(sb_buf *b, const op_pointers *ops, const char *key, const char *behind) {
    if (ops->n == 0) return;
    collection c = begin_collection(b, key, COLLECTION_NODES);
    for (size_t i = 0; i < ops->n; i++) add_name(b, LIST_VALUE, ops->items[i]->name, behind);
    end_collection(b, c);
}

sb_status sb_net_meta_graph_def(sb_net *g, bool with_saver, sb_slice *out, sb_err *err) {
    sb_status status = sb_net_check(g, err);
    if (status == SB_OK && with_saver && !g->restore_op)
        status = sb_fail(err, SB_INVALID, 0, "the graph has no saver; call sb_net_saver first");
    if (status != SB_OK) return status;
    exporting x = begin_export(g);
    size_t graph = sb_pb_begin(x.b, SB_META_GRAPH_GRAPH_DEF, g->ops.n * 200);
    add_graph(g, &x);
    sb_pb_end(x.b, graph);
    if (with_saver) add_saver(x.b, g);
    if (g->variables.n) {
        add_variables(x.b, g, "variables", false);
        add_variables(x.b, g, "trainable_variables", true);
    }
    add_nodes(x.b, &g->train_ops, "train_op", "");
    add_nodes(x.b, &g->summaries, "summaries", ":0");
    status = check_export(&x, err);
    sb_buf_fini(&x.values);
    *out = sb_buf_slice(&g->exported);
    return status;
}
