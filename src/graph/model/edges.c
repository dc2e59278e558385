/* edges.c: turns the inputs of nodes into edges between operations, and finds the edges that close
 * a cycle.
 *
 * When the body of a called function was copied into the graph, edges do not end at the call: the
 * k-th input of the call leads to the k-th argument of the body, and the k-th output of the call
 * comes from the k-th result of the body. */
#include "base/slice.h"
#include "base/vec.h"
#include "graph/model/model_int.h"
#include "base/banned.h"

#define MOST_EDGES (64u << 20)

/* The number of elements of each output of an operation; -1: unknown. */
typedef struct output_sizes {
    size_t n;
    float of[];
} output_sizes;

typedef struct linking {
    sb_raw *r;
    uint32_t *node_of; /* by box: its index in the nodes, or NONE */
    struct {
        sb_edge *items;
        size_t n, room;
    } edges;
    sb_buf text;
    output_sizes **sizes; /* by box; NULL: not computed yet */
} linking;

/* Finds the box that an input name refers to; `within` is the enclosing call, or empty. Returns
 * NONE when there is no such box. */
static uint32_t resolve(linking *l, sb_slice within, sb_slice name) {
    sb_model *m = l->r->m;
    if (within.n) {
        sb_buf_clear(&l->text);
        sb_buf_add_slice(&l->text, within);
        sb_buf_add_byte(&l->text, '/');
        sb_buf_add_slice(&l->text, name);
        name = sb_buf_slice(&l->text);
    }
    uint32_t box = sb_intern_find(&m->names, name);
    if (box == SB_INTERN_NONE) return SB_BOX_NONE;
    if (m->boxes[box].kind != SB_BOX_SCOPE) return box;
    /* The name is that of a scope: the operation was renamed to "a/(a)". */
    const uint8_t *slash = memrchr(name.p, '/', name.n);
    size_t from = slash ? (size_t)(slash - name.p) + 1 : 0;
    sb_buf strict;
    sb_buf_init(&strict, &l->r->alloc, 1 << 20);
    sb_buf_add_slice(&strict, name);
    sb_buf_add_str(&strict, "/(");
    sb_buf_add(&strict, name.p + from, name.n - from);
    sb_buf_add_str(&strict, ")");
    box = sb_intern_find(&m->names, sb_buf_slice(&strict));
    return box == SB_INTERN_NONE ? SB_BOX_NONE : box;
}

static const sb_raw_call *call_of(linking *l, uint32_t box) {
    uint32_t node = l->node_of[box];
    if (node == SB_BOX_NONE || l->r->nodes.items[node].call == SB_BOX_NONE) return NULL;
    return l->r->m->boxes[box].kind == SB_BOX_CALL
               ? &l->r->calls.items[l->r->nodes.items[node].call]
               : NULL;
}

/* Returns the operation that an edge from output *slot of `box` starts at. If `box` is a call, this
 * is the result inside the body; if that is a call again, it is followed too, up to a fixed
 * depth. */
static uint32_t source_of(linking *l, uint32_t box, int64_t *slot) {
    for (unsigned steps = 0; steps < 32; steps++) {
        const sb_raw_call *call = call_of(l, box);
        if (!call) return box;
        uint32_t count = call->ret_count ? call->ret_count : call->arg_count;
        uint32_t first = call->ret_count ? call->first_ret : call->first_arg;
        if (count == 0) return SB_BOX_NONE;
        uint32_t k = *slot < 0 ? 0 : *slot < count ? (uint32_t)*slot : count - 1;
        box = l->r->nodes.items[first + k].box;
        if (*slot > 0) *slot = 0;
    }
    return box;
}

/* Returns the operation that the k-th input of `box` leads to: for a call the argument inside the
 * body. */
static uint32_t target_of(linking *l, uint32_t box, uint32_t k) {
    for (unsigned steps = 0; steps < 32; steps++) {
        const sb_raw_call *call = call_of(l, box);
        if (!call) return box;
        uint32_t count = call->arg_count ? call->arg_count : call->ret_count;
        uint32_t first = call->arg_count ? call->first_arg : call->first_ret;
        if (count == 0) return SB_BOX_NONE;
        box = l->r->nodes.items[first + (k < count ? k : count - 1)].box;
    }
    return box;
}

static float elements_in(sb_slice shape) {
    sb_shape_view view;
    if (sb_shape_read(&view, shape) != SB_OK || view.unknown_rank) return -1;
    sb_items dims = sb_items_of(shape, SB_SHAPE_DIM);
    int64_t size;
    float n = 1;
    while (sb_shape_next(&dims, &size) == SB_OK) n *= size < 0 ? 1 : (float)size;
    return n;
}

/* Reads the sizes of all outputs of a node at once: with a million outputs that are all used, a
 * search in the list for each of them would take quadratic time. */
static bool read_sizes(linking *l, uint32_t op) {
    const sb_slice outputs = l->r->m->boxes[op].outputs;
    sb_items shapes = sb_items_of(outputs, SB_ATTR_LIST_SHAPE);
    sb_slice shape;
    size_t n = 0;
    while (sb_items_next(&shapes, &shape) == SB_OK) n++;
    output_sizes *sizes = sb_arena_get(l->r->scratch, sizeof *sizes + n * sizeof sizes->of[0]);
    if (!sizes) return false;
    sizes->n = 0;
    shapes = sb_items_of(outputs, SB_ATTR_LIST_SHAPE);
    while (sb_items_next(&shapes, &shape) == SB_OK) sizes->of[sizes->n++] = elements_in(shape);
    l->sizes[op] = sizes;
    return true;
}

static bool is_ref_type(const sb_model *m, uint32_t to, uint32_t k) {
    sb_slice op = sb_model_text(m, m->boxes[to].op);
    return k == 0 &&
           (sb_slice_eq(op, SB_LIT("Assign")) || sb_slice_eq(op, SB_LIT("AssignAdd")) ||
            sb_slice_eq(op, SB_LIT("AssignSub")) || sb_slice_starts(op, SB_LIT("Scatter")));
}

/* In merged graphs the prefix comes before the mark of a control edge: "graph_1/^node". This moves
 * the mark to the front, where it belongs. */
static bool unhide_control(linking *l, sb_node_input *input) {
    const uint8_t *sign = memmem(input->name.p, input->name.n, "/^", 2);
    if (!sign) return true;
    size_t before = (size_t)(sign - input->name.p) + 1;
    uint8_t *name = sb_arena_get(l->r->scratch, input->name.n);
    if (!name) return false;
    memcpy(name, input->name.p, before);
    memcpy(name + before, sign + 2, input->name.n - before - 1);
    *input = (sb_node_input){sb_slice_of(name, input->name.n - 1), -1, true};
    return true;
}

static bool add_input(linking *l, sb_raw_node *node, sb_slice text, uint32_t k) {
    sb_model *m = l->r->m;
    sb_node_input input = sb_node_input_parse(text);
    if (input.name.n == 0) return true;
    if (!unhide_control(l, &input)) return false;
    uint32_t from = resolve(l, node->within, input.name);
    int64_t slot = input.slot;
    if (from != SB_BOX_NONE) from = source_of(l, from, &slot);
    uint32_t to = target_of(l, node->box, k);
    if (from == SB_BOX_NONE || to == SB_BOX_NONE || m->boxes[from].kind == SB_BOX_SCOPE) {
        /* torch does not write the nodes of modules that parameters are fetched from: not worth a
         * warning */
        if (!sb_slice_eq(node->op, SB_LIT("prim::GetAttr")))
            sb_model_note(m, SB_ODD_DANGLING, input.name);
        return true;
    }
    if (!l->sizes[from] && !read_sizes(l, from)) return false;
    const output_sizes *sizes = l->sizes[from];
    sb_edge *edge = SB_VEC_PUSH(&l->edges, &l->r->alloc, MOST_EDGES);
    if (!edge) return false;
    *edge = (sb_edge){
        .from = from,
        .to = to,
        .input = (uint16_t)(k < UINT16_MAX ? k : UINT16_MAX),
        .slot = input.control ? -1 : (int32_t)slot,
        .flags = input.control           ? SB_EDGE_CONTROL
                 : is_ref_type(m, to, k) ? SB_EDGE_REF
                                         : 0,
        .size = slot >= 0 && (uint64_t)slot < sizes->n && !input.control ? sizes->of[slot] : -1,
    };
    return true;
}

static bool add_inputs(linking *l, sb_raw_node *node) {
    if (node->input.n) return add_input(l, node, node->input, 0);
    sb_items inputs = sb_items_of(node->inputs, SB_NODE_INPUT);
    sb_slice text;
    uint32_t k = 0;
    while (sb_items_next(&inputs, &text) == SB_OK)
        if (!add_input(l, node, text, k++)) return false;
    return true;
}

/* Sorts edges by `to` with a stable counting sort, and builds the adjacency lists by `from`. */
static sb_status list_edges(linking *l, sb_err *err) {
    sb_model *m = l->r->m;
    uint32_t n = (uint32_t)l->edges.n;
    m->edges = sb_arena_get(&m->arena, (n + 1) * sizeof *m->edges);
    m->outs = sb_arena_get(&m->arena, (n + 1) * sizeof *m->outs);
    if (!m->edges || !m->outs) return sb_fail_nomem(err, "for a graph");
    m->edge_count = n;
    for (uint32_t i = 0; i < n; i++) {
        m->boxes[l->edges.items[i].to].in_count++;
        m->boxes[l->edges.items[i].from].out_count++;
    }
    uint32_t ins = 0, outs = 0;
    for (uint32_t b = 0; b < m->box_count; b++) {
        sb_box *box = &m->boxes[b];
        box->first_in = ins;
        box->first_out = outs;
        ins += box->in_count;
        outs += box->out_count;
        box->in_count = box->out_count = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        sb_box *to = &m->boxes[l->edges.items[i].to];
        m->edges[to->first_in + to->in_count++] = l->edges.items[i];
    }
    for (uint32_t i = 0; i < n; i++) {
        sb_box *from = &m->boxes[m->edges[i].from];
        m->outs[from->first_out + from->out_count++] = i;
    }
    return SB_OK;
}

/* Depth-first search without recursion: an edge to a box on the current path closes a cycle. */
static sb_status find_cycles(linking *l, sb_err *err) {
    sb_model *m = l->r->m;
    enum { NEW, ON_THE_WAY, DONE };
    uint8_t *state = sb_arena_zeroed(l->r->scratch, m->box_count, 1);
    uint32_t *way = sb_arena_get(l->r->scratch, (m->box_count + 1) * sizeof *way);
    uint32_t *next = sb_arena_zeroed(l->r->scratch, m->box_count, sizeof *next);
    if (!state || !way || !next) return sb_fail_nomem(err, "for a graph");
    for (uint32_t start = 0; start < m->box_count; start++) {
        if (state[start] != NEW) continue;
        uint32_t n = 0;
        way[n++] = start;
        state[start] = ON_THE_WAY;
        while (n) {
            const sb_box *b = &m->boxes[way[n - 1]];
            if (next[way[n - 1]] == b->out_count) {
                state[way[--n]] = DONE;
                continue;
            }
            uint32_t to = m->edges[m->outs[b->first_out + next[way[n - 1]]++]].to;
            if (state[to] == ON_THE_WAY) sb_model_note(m, SB_ODD_CYCLE, m->boxes[to].name);
            if (state[to] != NEW) continue;
            state[to] = ON_THE_WAY;
            way[n++] = to;
        }
    }
    return SB_OK;
}

sb_status sb_edges_build(sb_raw *r, sb_err *err) {
    sb_model *m = r->m;
    linking l = {.r = r};
    sb_buf_init(&l.text, &r->alloc, 1 << 20);
    l.node_of = sb_arena_get(r->scratch, m->box_count * sizeof *l.node_of);
    l.sizes = sb_arena_zeroed(r->scratch, m->box_count, sizeof *l.sizes);
    if (!l.node_of || !l.sizes) return sb_fail_nomem(err, "for a graph");
    memset(l.node_of, 0xff, m->box_count * sizeof *l.node_of);
    for (size_t i = 0; i < r->nodes.n; i++) l.node_of[r->nodes.items[i].box] = (uint32_t)i;
    sb_status status = sb_attrs_keep(r, err);
    if (status != SB_OK) return status;
    for (size_t i = 0; i < r->nodes.n; i++) {
        if (!sb_raw_goes_on(r, i, r->nodes.n)) return SB_CANCELLED;
        if (!add_inputs(&l, &r->nodes.items[i])) return sb_fail_nomem(err, "for a graph");
    }
    status = list_edges(&l, err);
    return status == SB_OK ? find_cycles(&l, err) : status;
}
