/* resource_params.c: decides which variables that are passed to a traced function are parameters of
 * the model, and finds their sizes.
 *
 * A function gets its variables as arguments of type resource, which have no shape. TensorFlow also
 * writes the optimized form of each function, in which the arguments have the attribute
 * _handle_shapes. Otherwise the shape is taken from the operations that read the variable, if the
 * graph contains output shapes.
 *
 * A training step gets more variables than the parameters of the model: the state of the optimizer,
 * running statistics, sums of metrics. Those are read only in the scope that also assigns them. A
 * parameter is read by the model, and is assigned by the optimizer in another scope, or not at
 * all. */
#include <stdio.h>
#include <string.h>

#include "base/slice.h"
#include "graph/model/params_int.h"
#include "base/banned.h"

#define MOST_CALLS 12u /* how many nested calls a resource is followed through */
#define MOST_USES 16u  /* how many reads and writes of one variable are remembered */
#define MOST_STEPS 4096u

enum { UNSEEN = -3 };

/* ---- shapes ---------------------------------------------------------------------------------- */

/* Reads the first item of a list attribute: a number into *type if that is not NULL, else bytes
 * into *item. */
static bool first_listed(const sb_node *node, const char *key, uint32_t number, sb_slice *item,
                         int64_t *type) {
    sb_slice value;
    sb_attr_value attr;
    if (sb_node_find_attr(&value, node, sb_slice_str(key)) != SB_OK ||
        sb_attr_value_read(&attr, value) != SB_OK || attr.kind != SB_ATTR_LIST)
        return false;
    if (!type) {
        sb_items items = sb_items_of(attr.body, number);
        return sb_items_next(&items, item) == SB_OK;
    }
    sb_pb c = sb_pb_over(attr.body);
    sb_pb_field f;
    uint64_t bits;
    while (sb_pb_next(&c, &f) == SB_PB_FIELD) {
        if (f.number != number) continue;
        sb_pb_many many = sb_pb_many_of(&f, SB_PB_VARINT);
        if (sb_pb_many_next(&many, &bits) != SB_PB_FIELD) return false;
        *type = (int64_t)bits;
        return true;
    }
    return false;
}

/* Returns the number of elements of the variable that an argument refers to. */
static int64_t handle_elements(const sb_node *arg) {
    sb_slice shape;
    int64_t type;
    if (first_listed(arg, "_handle_dtypes", SB_ATTR_LIST_TYPE, NULL, &type) &&
        !sb_dtype_is_real(type))
        return SB_ELEMENTS_NONE;
    return first_listed(arg, "_handle_shapes", SB_ATTR_LIST_SHAPE, &shape, NULL)
               ? sb_shape_elements(shape)
               : SB_ELEMENTS_UNKNOWN;
}

/* Reads the sizes of the arguments of one function. `prefix` is what its nodes have before their
 * names in the model. */
static void read_handles(sb_raw *r, sb_slice graph, const char *prefix, int64_t *sizes) {
    sb_items nodes = sb_items_of(graph, SB_GRAPH_NODE);
    sb_slice item;
    sb_node node;
    sb_buf name;
    sb_buf_init(&name, &r->alloc, 1 << 20);
    while (sb_items_next(&nodes, &item) == SB_OK) {
        if (sb_node_read(&node, item) != SB_OK || !sb_slice_eq(node.op, SB_LIT("_Arg"))) continue;
        sb_buf_clear(&name);
        sb_buf_add_str(&name, prefix);
        sb_buf_add_slice(&name, node.name);
        uint32_t box = sb_model_find(r->m, sb_buf_slice(&name));
        if (box != SB_BOX_NONE) sizes[box] = handle_elements(&node);
    }
}

static void read_functions(sb_raw *r, sb_slice metadata, int64_t *sizes) {
    sb_items functions = sb_items_of(metadata, SB_RUN_METADATA_FUNCTION_GRAPHS);
    sb_slice one, graph;
    size_t n = 0;
    while (sb_items_next(&functions, &one) == SB_OK) n++;
    functions = sb_items_of(metadata, SB_RUN_METADATA_FUNCTION_GRAPHS);
    for (size_t i = 1; sb_items_next(&functions, &one) == SB_OK; i++) {
        char prefix[32] = "";
        /* the same prefix as in sb_graph_merge */
        if (n > 1) snprintf(prefix, sizeof prefix, "graph_%zu/", i);
        sb_items graphs = sb_items_of(one, SB_FUNCTION_GRAPHS_POST_OPTIMIZATION_GRAPH);
        while (sb_items_next(&graphs, &graph) == SB_OK) read_handles(r, graph, prefix, sizes);
    }
}

/* ---- uses ------------------------------------------------------------------------------------ */

/* The operations that read a variable, and the scopes in which it is assigned. */
typedef struct uses {
    uint32_t reads[MOST_USES], writes[MOST_USES];
    uint32_t read_count, write_count, steps;
    int64_t elements; /* number of elements that are read; UNSEEN: no operation reads it */
} uses;

/* Returns the scope of an operation. Returns SB_BOX_NONE when that is the whole graph or the body
 * of a function, because such a scope contains everything and separates nothing. */
static uint32_t separating_scope(const sb_model *m, uint32_t op) {
    uint32_t above = m->boxes[op].parent;
    const sb_box *b = &m->boxes[above];
    bool is_whole = above == SB_BOX_ROOT || b->kind != SB_BOX_SCOPE ||
                    (b->depth == 1 && sb_slice_starts(b->name, SB_LIT("graph_")));
    return is_whole ? SB_BOX_NONE : above;
}

static bool is_write(sb_slice op) {
    return sb_slice_starts(op, SB_LIT("Assign")) || sb_slice_starts(op, SB_LIT("ResourceApply")) ||
           sb_slice_starts(op, SB_LIT("ResourceScatter"));
}

static void follow(const sb_model *m, uint32_t op, uses *u, unsigned depth) {
    const sb_box *b = &m->boxes[op];
    for (uint32_t i = 0; i < b->out_count && u->steps++ < MOST_STEPS; i++) {
        uint32_t to = m->edges[m->outs[b->first_out + i]].to;
        sb_slice kind = sb_model_text(m, m->boxes[to].op);
        if (sb_slice_eq(kind, SB_LIT("ReadVariableOp"))) {
            if (u->elements < 0)
                u->elements =
                    sb_box_is_real(&m->boxes[to]) ? sb_box_elements(m, to) : SB_ELEMENTS_NONE;
            if (u->read_count < MOST_USES) u->reads[u->read_count++] = to;
        } else if (sb_slice_eq(kind, SB_LIT("ResourceGather"))) {
            if (u->elements == UNSEEN) u->elements = SB_ELEMENTS_UNKNOWN;
            if (u->read_count < MOST_USES) u->reads[u->read_count++] = to;
        } else if (is_write(kind)) {
            if (u->write_count < MOST_USES) u->writes[u->write_count++] = separating_scope(m, to);
        } else if (sb_slice_eq(kind, SB_LIT("_Arg")) && depth < MOST_CALLS) {
            follow(m, to, u, depth + 1);
        }
    }
}

static bool is_read_where_written(const sb_model *m, const uses *u, uint32_t read) {
    for (uint32_t i = 0; i < u->write_count; i++)
        if (u->writes[i] != SB_BOX_NONE && sb_model_is_in(m, read, u->writes[i])) return true;
    return false;
}

/* Returns true when a variable looks like a learning rate: it is never assigned, and is read inside
 * a scope in which other variables are assigned. `assigning` marks those scopes. The caller asks
 * only for single numbers. */
static bool is_setting(const sb_model *m, const uses *u, uint32_t read, const bool *assigning) {
    if (u->write_count) return false;
    for (uint32_t at = read; at != SB_BOX_NONE; at = m->boxes[at].parent)
        if (assigning[at]) return true;
    return false;
}

/* Returns true when the variable is read outside the scopes in which it is assigned. */
static bool is_parameter(const sb_model *m, const uses *u, int64_t elements,
                         const bool *assigning) {
    for (uint32_t i = 0; i < u->read_count; i++)
        if (!is_read_where_written(m, u, u->reads[i]) &&
            !(elements == 1 && is_setting(m, u, u->reads[i], assigning)))
            return true;
    return false;
}

/* Returns true for a resource that is an input of the whole graph. Arguments of inner functions
 * have incoming edges: they are counted at the caller. */
static bool is_resource(const sb_model *m, uint32_t op) {
    enum { RESOURCE = 20 };
    const sb_box *b = &m->boxes[op];
    const char *key = b->op == SB_BOX_NONE              ? NULL
                      : sb_box_is(m, op, "Placeholder") ? "dtype"
                      : sb_box_is(m, op, "_Arg")        ? "T"
                                                        : NULL;
    sb_attr_value attr;
    return key && b->in_count == 0 && sb_box_attr(b, key, &attr) && attr.kind == SB_ATTR_TYPE &&
           attr.i == RESOURCE;
}

sb_status sb_resources_count(sb_raw *r, sb_slice functions, sb_err *err) {
    sb_model *m = r->m;
    int64_t *sizes = sb_arena_get(r->scratch, m->box_count * sizeof *sizes);
    bool *assigning = sb_arena_zeroed(r->scratch, m->box_count, sizeof *assigning);
    if (!sizes || !assigning) return sb_fail_nomem(err, "for a graph");
    for (uint32_t i = 0; i < m->box_count; i++) {
        sizes[i] = UNSEEN;
        bool is_assign =
            m->boxes[i].kind == SB_BOX_OP && is_write(sb_model_text(m, m->boxes[i].op));
        uint32_t place = is_assign ? separating_scope(m, i) : SB_BOX_NONE;
        if (place != SB_BOX_NONE) assigning[place] = true;
    }
    read_functions(r, functions, sizes);
    for (uint32_t i = 0; i < m->box_count; i++) {
        if (m->boxes[i].kind != SB_BOX_OP || !is_resource(m, i)) continue;
        uses u = {.elements = UNSEEN};
        follow(m, i, &u, 0);
        int64_t n = sizes[i] == UNSEEN ? u.elements : sizes[i];
        if (n >= SB_ELEMENTS_UNKNOWN && is_parameter(m, &u, n, assigning))
            sb_box_set_params(&m->boxes[i], n);
    }
    return SB_OK;
}
