/* params.c: finds the parameters of a model: which operations hold them, and how many elements they
 * have. What counts as a parameter depends on the framework:
 *
 *     TensorFlow 1    variables, without what an optimiser keeps beside them: variables that are
 *                     named below another one ("dense/kernel/Adam"), and its powers of beta
 *     tf.function     the resources that are handed in, see resource_params.c
 *     Keras           the attribute "parameters" that keras_graph.c gives a layer
 *     torch           fetches of parameters, see torch_params.c; one that is fetched again counts
 *                     once
 *     ONNX            initializers
 *
 * Only floating-point and complex numbers are counted, because integers and strings cannot be
 * trained. */
#include "graph/model/params_int.h"

#include <string.h>

#include "base/slice.h"
#include "base/banned.h"

#define MOST_NAME 1024u /* the longest variable name for which optimizer slots are found */
/* how many siblings are compared to find repeated fetches of a parameter */
#define MOST_FETCHES 64u

bool sb_box_attr(const sb_box *b, const char *key, sb_attr_value *out) {
    sb_node node = {.message = b->attrs};
    sb_slice value;
    return sb_node_find_attr(&value, &node, sb_slice_str(key)) == SB_OK &&
           sb_attr_value_read(out, value) == SB_OK;
}

bool sb_box_is(const sb_model *m, uint32_t box, const char *op) {
    return sb_slice_eq(sb_model_text(m, m->boxes[box].op), sb_slice_str(op));
}

int64_t sb_shape_elements(sb_slice shape) {
    sb_shape_view view;
    if (sb_shape_read(&view, shape) != SB_OK || view.unknown_rank) return -1;
    sb_items dims = sb_items_of(shape, SB_SHAPE_DIM);
    int64_t size, n = 1;
    while (sb_shape_next(&dims, &size) == SB_OK)
        if (size < 0 || __builtin_mul_overflow(n, size, &n)) return -1;
    return n;
}

static bool first_shape(const sb_model *m, uint32_t op, sb_slice *shape) {
    sb_items shapes = sb_items_of(m->boxes[op].outputs, SB_ATTR_LIST_SHAPE);
    return sb_items_next(&shapes, shape) == SB_OK;
}

int64_t sb_box_elements(const sb_model *m, uint32_t op) {
    sb_slice shape;
    return first_shape(m, op, &shape) ? sb_shape_elements(shape) : -1;
}

int64_t sb_box_dim(const sb_model *m, uint32_t op, int which) {
    sb_slice shape;
    sb_shape_view view;
    if (!first_shape(m, op, &shape) || sb_shape_read(&view, shape) != SB_OK) return -1;
    int64_t wanted = which < 0 ? (int64_t)view.rank + which : which, size = -1;
    sb_items dims = sb_items_of(shape, SB_SHAPE_DIM);
    for (int64_t i = 0; sb_shape_next(&dims, &size) == SB_OK; i++)
        if (i == wanted) return size;
    return -1;
}

void sb_box_set_params(sb_box *b, int64_t n) {
    if (n >= 0)
        b->params = (uint64_t)n;
    else if (n != SB_ELEMENTS_NONE)
        b->unsized = 1;
}

bool sb_dtype_is_real(int64_t type) {
    enum { FLOAT = 1, DOUBLE = 2, COMPLEX64 = 8, BFLOAT16 = 14, COMPLEX128 = 18, HALF = 19 };
    return type == FLOAT || type == DOUBLE || type == COMPLEX64 || type == BFLOAT16 ||
           type == COMPLEX128 || type == HALF;
}

bool sb_box_is_real(const sb_box *b) {
    sb_attr_value attr;
    if (!sb_box_attr(b, "dtype", &attr) || attr.kind != SB_ATTR_TYPE) return true;
    return sb_dtype_is_real(attr.i);
}

/* ---- variables of TensorFlow 1 --------------------------------------------------------------- */

static bool is_variable(const sb_model *m, uint32_t op) {
    return sb_box_is(m, op, "VarHandleOp") || sb_box_is(m, op, "VariableV2") ||
           sb_box_is(m, op, "Variable");
}

/* Returns the operation that has the name of its scope, "a/b/(b)"; SB_BOX_NONE: there is none. */
static uint32_t own_op(const sb_model *m, uint32_t scope) {
    uint8_t text[MOST_NAME];
    sb_slice name = m->boxes[scope].name, label = sb_box_label(&m->boxes[scope]);
    size_t n = name.n + label.n + 3;
    if (n > sizeof text) return SB_BOX_NONE;
    memcpy(text, name.p, name.n);
    memcpy(text + name.n, "/(", 2);
    memcpy(text + name.n + 2, label.p, label.n);
    text[n - 1] = ')';
    return sb_model_find(m, sb_slice_of(text, n));
}

/* Returns true when a variable is the state (slot) that an optimizer keeps for another variable. */
static bool is_slot(const sb_model *m, uint32_t op) {
    const sb_box *b = &m->boxes[op];
    sb_slice label = sb_box_label(b);
    /* "kernel/Adam/(Adam)" was renamed: its real name is that of the scope */
    bool is_own = label.n && label.p[0] == '(';
    uint32_t at = is_own ? b->parent : op;
    sb_slice last = sb_box_label(&m->boxes[at]);
    if (sb_slice_starts(last, SB_LIT("beta1_power")) ||
        sb_slice_starts(last, SB_LIT("beta2_power")))
        return true;
    for (at = m->boxes[at].parent; at != SB_BOX_NONE && at != SB_BOX_ROOT;
         at = m->boxes[at].parent) {
        uint32_t above = own_op(m, at);
        if (above != SB_BOX_NONE && is_variable(m, above)) return true;
    }
    return false;
}

static bool is_read(const sb_model *m, uint32_t op) {
    const sb_box *b = &m->boxes[op];
    for (uint32_t i = 0; i < b->out_count; i++) {
        uint32_t to = m->edges[m->outs[b->first_out + i]].to;
        if (sb_box_is(m, to, "ReadVariableOp") || sb_box_is(m, to, "ResourceGather")) return true;
    }
    return false;
}

/* In traced functions only variables that are read count. A function that only creates a variable
 * is ignored: the functions that read the variable get it as an argument, and it is counted
 * there. */
static void count_variable(sb_model *m, uint32_t op, bool is_traced) {
    sb_box *b = &m->boxes[op];
    sb_attr_value attr;
    if (!sb_box_is_real(b) || is_slot(m, op) || (is_traced && !is_read(m, op))) return;
    bool has_shape = sb_box_attr(b, "shape", &attr) && attr.kind == SB_ATTR_SHAPE;
    sb_box_set_params(b, has_shape ? sb_shape_elements(attr.body) : -1);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Returns true when two fetches in the same scope read the same attribute of the module. */
static bool is_same_fetch(const sb_model *m, uint32_t one, uint32_t other) {
    sb_attr_value a, b;
    return sb_box_is(m, other, "prim::GetAttr") && sb_box_attr(&m->boxes[one], "attr", &a) &&
           sb_box_attr(&m->boxes[other], "attr", &b) && a.kind == SB_ATTR_STRING &&
           b.kind == SB_ATTR_STRING && sb_slice_eq(a.body, b.body);
}

/* torch fetches a parameter again for each call of its module; only the first fetch is counted. */
static void count_fetch(sb_model *m, uint32_t op) {
    const sb_box *above = &m->boxes[m->boxes[op].parent];
    int64_t n = sb_torch_elements(m, op);
    bool is_used = m->boxes[op].out_count > 0;
    for (uint32_t i = 0; i < above->child_count && i < MOST_FETCHES; i++) {
        uint32_t other = m->children[above->first_child + i];
        if (other == op || !is_same_fetch(m, op, other)) continue;
        if (other < op) return;
        is_used |= m->boxes[other].out_count > 0;
        if (n == SB_ELEMENTS_UNKNOWN) n = sb_torch_elements(m, other);
    }
    if (is_used) sb_box_set_params(&m->boxes[op], n);
}

static void count_op(sb_model *m, uint32_t op, bool is_traced) {
    sb_box *b = &m->boxes[op];
    sb_attr_value attr;
    if (b->op == SB_BOX_NONE) return;
    if (sb_box_is(m, op, "prim::GetAttr")) {
        count_fetch(m, op);
    } else if (is_variable(m, op)) {
        count_variable(m, op, is_traced);
    } else if (sb_box_is(m, op, "Initializer")) {
        if (sb_box_is_real(b)) sb_box_set_params(b, sb_box_elements(m, op));
    } else if (m->producer == 0 && sb_box_attr(b, "keras_class", &attr) &&
               sb_box_attr(b, "parameters", &attr) && attr.kind == SB_ATTR_INT) {
        sb_box_set_params(b, attr.i);
    }
}

sb_status sb_params_count(sb_raw *r, sb_slice functions, sb_err *err) {
    sb_model *m = r->m;
    for (uint32_t i = 0; i < m->box_count; i++)
        if (m->boxes[i].kind == SB_BOX_OP) count_op(m, i, functions.n > 0);
    return sb_resources_count(r, functions, err);
}
