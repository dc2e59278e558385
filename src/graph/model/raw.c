/* raw.c: reads the nodes of a graph, and those of the functions that it calls.
 *
 * The body of a library function is copied to each place that calls it: its arguments, nodes and
 * results get the name of the call as their scope. A recursive function is copied only once, and
 * the total number of copied nodes is limited. Functions that no call refers to (bodies of loops,
 * functions of datasets) are placed under "functions/", so that every part of the graph can be
 * reached. */
#include "base/slice.h"
#include "base/vec.h"
#include "graph/model/model_int.h"
#include "base/banned.h"

#define MOST_NODES (16u << 20)
#define MOST_FUNCTIONS 100000u
#define MOST_NESTED 12u
#define LEAST_COPIES 50000u

typedef struct library {
    sb_function *items;
    bool *used;
    sb_intern names; /* the id is the index of the function */
    uint32_t n;
} library;

typedef struct reading {
    sb_raw *r;
    library lib;
    uint32_t stack[MOST_NESTED]; /* the functions that are being copied now, to detect recursion */
    uint32_t depth;
    uint32_t most_copied;
    bool failed;
} reading;

static sb_raw_node *add_node(reading *rd) {
    sb_raw_node *node = SB_VEC_PUSH(&rd->r->nodes, &rd->r->alloc, MOST_NODES);
    if (!node) {
        rd->failed = true;
        return NULL;
    }
    *node = (sb_raw_node){.box = SB_BOX_NONE, .call = SB_BOX_NONE};
    return node;
}

static sb_slice join(reading *rd, sb_slice within, sb_slice name, const char *suffix) {
    size_t more = strlen(suffix), n = within.n + 1 + name.n + more;
    uint8_t *p = sb_arena_get(rd->r->scratch, n + 1);
    if (!p) {
        rd->failed = true;
        return name;
    }
    size_t at = 0;
    if (within.n) {
        memcpy(p, within.p, within.n);
        p[within.n] = '/';
        at = within.n + 1;
    }
    if (name.n) memcpy(p + at, name.p, name.n);
    memcpy(p + at + name.n, suffix, more);
    return sb_slice_of(p, at + name.n + more);
}

static bool read_node(reading *rd, sb_slice message, sb_slice within) {
    sb_node view;
    sb_model *m = rd->r->m;
    if (sb_node_read(&view, message) != SB_OK) {
        sb_model_note(m, SB_ODD_NODE, view.name);
        if (view.name.n == 0) return true;
    }
    if (view.name.n == 0) {
        sb_model_note(m, SB_ODD_UNNAMED, view.op);
        view.name = view.op.n ? view.op : SB_LIT("(unnamed)");
    }
    sb_raw_node *node = add_node(rd);
    if (!node) return false;
    node->name = within.n ? join(rd, within, view.name, "") : view.name;
    node->op = view.op;
    node->device = view.device;
    node->message = node->inputs = message;
    node->within = within;
    return !rd->failed;
}

/* ---- functions ------------------------------------------------------------------------------- */

static bool read_library(reading *rd, sb_slice graph_def) {
    sb_items libraries = sb_items_of(graph_def, SB_GRAPH_LIBRARY);
    sb_slice body, one;
    size_t n = 0;
    while (sb_items_next(&libraries, &body) == SB_OK) {
        sb_items functions = sb_items_of(body, SB_LIBRARY_FUNCTION);
        while (sb_items_next(&functions, &one) == SB_OK) n++;
    }
    if (n > MOST_FUNCTIONS) n = MOST_FUNCTIONS;
    sb_intern_init(&rd->lib.names, rd->r->m->alloc, 1, MOST_FUNCTIONS);
    rd->lib.items = sb_arena_zeroed(rd->r->scratch, n + 1, sizeof *rd->lib.items);
    rd->lib.used = sb_arena_zeroed(rd->r->scratch, n + 1, sizeof *rd->lib.used);
    if (!rd->lib.items || !rd->lib.used) return false;
    libraries = sb_items_of(graph_def, SB_GRAPH_LIBRARY);
    while (sb_items_next(&libraries, &body) == SB_OK) {
        sb_items functions = sb_items_of(body, SB_LIBRARY_FUNCTION);
        while (rd->lib.n < n && sb_items_next(&functions, &one) == SB_OK) {
            sb_function f;
            uint32_t id;
            bool is_new;
            if (sb_function_read(&f, one) != SB_OK || f.name.n == 0) continue;
            if (sb_intern_add(&rd->lib.names, f.name, &id, &is_new) != SB_OK) return false;
            if (is_new) rd->lib.items[rd->lib.n++] = f;
        }
    }
    return true;
}

/* Returns the function that a node calls: the operation type is its name, or the attribute f of a
 * partitioned call refers to it. SB_BOX_NONE: the node is not a call of a library function. */
static uint32_t called_by(reading *rd, const sb_raw_node *node) {
    uint32_t id = sb_intern_find(&rd->lib.names, node->op);
    if (id != SB_INTERN_NONE) return id;
    if (!sb_slice_ends(node->op, SB_LIT("PartitionedCall"))) return SB_BOX_NONE;
    sb_node view;
    sb_slice value;
    sb_attr_value attr;
    if (sb_node_read(&view, node->message) != SB_OK ||
        sb_node_find_attr(&value, &view, SB_LIT("f")) != SB_OK ||
        sb_attr_value_read(&attr, value) != SB_OK || attr.kind != SB_ATTR_FUNC)
        return SB_BOX_NONE;
    sb_items names = sb_items_of(attr.body, SB_NAME_ATTRS_NAME);
    sb_slice name;
    if (sb_items_next(&names, &name) != SB_OK) return SB_BOX_NONE;
    id = sb_intern_find(&rd->lib.names, name);
    return id == SB_INTERN_NONE ? SB_BOX_NONE : id;
}

static bool copy_args(reading *rd, const sb_function *f, sb_slice within) {
    sb_items args = sb_items_of(f->signature, SB_OP_INPUT_ARG);
    sb_slice item;
    sb_op_arg arg;
    while (sb_items_next(&args, &item) == SB_OK) {
        if (sb_op_arg_read(&arg, item) != SB_OK) continue;
        sb_raw_node *node = add_node(rd);
        if (!node) return false;
        node->name = join(rd, within, arg.name, "");
        node->op = SB_LIT("_Arg");
    }
    return !rd->failed;
}

static sb_slice find_result(const sb_function *f, sb_slice name) {
    sb_items rets = sb_items_of(f->message, SB_FUNCTION_RET);
    sb_slice key, value;
    while (sb_text_entry_next(&rets, &key, &value) == SB_OK)
        if (sb_slice_eq(key, name)) return value;
    return (sb_slice){NULL, 0};
}

static bool copy_results(reading *rd, const sb_function *f, sb_slice within) {
    sb_items results = sb_items_of(f->signature, SB_OP_OUTPUT_ARG);
    sb_slice item;
    sb_op_arg arg;
    while (sb_items_next(&results, &item) == SB_OK) {
        if (sb_op_arg_read(&arg, item) != SB_OK) continue;
        sb_raw_node *node = add_node(rd);
        if (!node) return false;
        node->name = join(rd, within, arg.name, "_RetVal");
        node->op = SB_LIT("_Retval");
        node->within = within;
        node->input = find_result(f, arg.name);
    }
    return !rd->failed;
}

static bool open_calls(reading *rd, size_t from, size_t to);

/* Copies the body of a function with `within` as the scope; then the calls inside it are
 * expanded. */
static bool copy_body(reading *rd, uint32_t function, sb_slice within, uint32_t caller) {
    sb_raw *r = rd->r;
    const sb_function *f = &rd->lib.items[function];
    sb_raw_call call = {.node = caller, .first_arg = (uint32_t)r->nodes.n};
    sb_slice item;
    size_t before = r->nodes.n;
    if (!copy_args(rd, f, within)) return false;
    call.arg_count = (uint32_t)r->nodes.n - call.first_arg;
    size_t first = r->nodes.n;
    sb_items body = sb_items_of(f->message, SB_FUNCTION_NODE_DEF);
    while (sb_items_next(&body, &item) == SB_OK)
        if (!read_node(rd, item, within)) return false;
    size_t last = r->nodes.n;
    call.first_ret = (uint32_t)last;
    if (!copy_results(rd, f, within)) return false;
    call.ret_count = (uint32_t)r->nodes.n - call.first_ret;
    rd->lib.used[function] = true;
    r->copied += (uint32_t)(r->nodes.n - before);
    if (caller != SB_BOX_NONE) {
        sb_raw_call *kept = SB_VEC_PUSH(&r->calls, &r->alloc, MOST_NODES);
        if (!kept) return false;
        *kept = call;
        r->nodes.items[caller].call = (uint32_t)r->calls.n - 1;
    }
    rd->stack[rd->depth++] = function;
    bool is_done = open_calls(rd, first, last);
    rd->depth--;
    return is_done;
}

static bool open_calls(reading *rd, size_t from, size_t to) {
    sb_raw *r = rd->r;
    for (size_t i = from; i < to; i++) {
        uint32_t function = called_by(rd, &r->nodes.items[i]);
        if (function == SB_BOX_NONE) continue;
        sb_slice name = r->nodes.items[i].name;
        bool is_inside = false;
        for (uint32_t k = 0; k < rd->depth; k++) is_inside |= rd->stack[k] == function;
        if (is_inside) {
            sb_model_note(r->m, SB_ODD_RECURSION, name);
        } else if (rd->depth == MOST_NESTED || r->copied > rd->most_copied) {
            sb_model_note(r->m, SB_ODD_FUNCTIONS, name);
        } else if (!copy_body(rd, function, name, (uint32_t)i)) {
            return false;
        }
    }
    return true;
}

static bool copy_unused(reading *rd) {
    for (uint32_t i = 0; i < rd->lib.n; i++) {
        if (rd->lib.used[i]) continue;
        if (rd->r->copied > rd->most_copied) {
            sb_model_note(rd->r->m, SB_ODD_FUNCTIONS, rd->lib.items[i].name);
            continue;
        }
        sb_slice within = join(rd, SB_LIT("functions"), rd->lib.items[i].name, "");
        if (!copy_body(rd, i, within, SB_BOX_NONE)) return false;
    }
    return true;
}

/* ---- the graph ------------------------------------------------------------------------------- */

static bool read_own(reading *rd, sb_slice graph_def, sb_status *end) {
    sb_items nodes = sb_items_of(graph_def, SB_GRAPH_NODE);
    sb_slice item;
    while ((*end = sb_items_next(&nodes, &item)) == SB_OK) {
        if (!read_node(rd, item, (sb_slice){NULL, 0})) return false;
        bool is_told = rd->r->nodes.n % 4096 == 0;
        if (is_told && !sb_raw_tell(rd->r, (size_t)(item.p - graph_def.p), graph_def.n))
            return false;
    }
    return true;
}

sb_status sb_raw_read(sb_raw *r, sb_slice graph_def, sb_err *err) {
    reading rd = {.r = r};
    sb_status end = SB_END;
    size_t first = r->nodes.n;
    bool is_done = read_library(&rd, graph_def) && read_own(&rd, graph_def, &end);
    r->own = (uint32_t)(r->nodes.n - first);
    rd.most_copied = 4 * r->own + LEAST_COPIES;
    is_done = is_done && open_calls(&rd, first, r->nodes.n) && copy_unused(&rd);
    sb_intern_fini(&rd.lib.names);
    if (!is_done) return sb_fail_nomem(err, "for a graph");
    if (end != SB_END) {
        if (r->nodes.n == first) return sb_fail(err, SB_CORRUPT, 0, "not a graph");
        sb_model_note(r->m, SB_ODD_CUT, r->nodes.items[r->nodes.n - 1].name);
    }
    sb_graph_view view;
    if (sb_graph_read(&view, graph_def) == SB_OK) r->m->producer = view.producer;
    r->m->op_count += r->own;
    return SB_OK;
}
