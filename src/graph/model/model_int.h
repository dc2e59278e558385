/* model_int.h: the steps that build a model. Each step has its own file; they run in the order of
 * the declarations below, except that sb_edges_build calls sb_attrs_keep. */
#ifndef SB_GRAPH_MODEL_INT_H
#define SB_GRAPH_MODEL_INT_H

#include "codec/graph.h"
#include "graph/model/model.h"

/* A node as it was read from the file, before a box exists for it. */
typedef struct sb_raw_node {
    sb_slice name, op, device;
    /* the message whose SB_NODE_INPUT fields are the inputs; empty: see `input` */
    sb_slice inputs;
    sb_slice input;   /* for the result of a function: its only input */
    sb_slice message; /* a NodeDef, or empty */
    /* name of the enclosing call, the prefix of the names of its inputs; empty: none */
    sb_slice within;
    uint32_t box;
    uint32_t call; /* for a call whose body was copied: index in `calls`; otherwise SB_BOX_NONE */
    uint8_t side;
} sb_raw_node;

/* A call of a function whose body was copied into the graph. */
typedef struct sb_raw_call {
    uint32_t node;
    uint32_t first_arg, arg_count; /* range of `nodes` with the arguments */
    uint32_t first_ret, ret_count;
} sb_raw_call;

typedef struct sb_raw {
    sb_model *m;
    sb_arena *scratch;
    sb_alloc alloc; /* of the scratch arena */
    struct {
        sb_raw_node *items;
        size_t n, room;
    } nodes;
    struct {
        sb_raw_call *items;
        size_t n, room;
    } calls;
    uint32_t own; /* number of nodes that do not come from functions */
    uint32_t copied;
    const sb_model_ask *ask;
    unsigned step; /* number of the current step, for progress reports */
    bool is_dropped;
} sb_raw;

/* Reports progress: i of n nodes of the current step are done. Returns false when the caller has
 * cancelled the work. sb_raw_goes_on does so only for every 4096th node, to keep loops fast. */
bool sb_raw_tell(sb_raw *r, size_t i, size_t n);
static inline bool sb_raw_goes_on(sb_raw *r, size_t i, size_t n) {
    return (i & 4095) || sb_raw_tell(r, i, n);
}

/* raw.c: reads the nodes of the graph and of the functions that it calls. */
sb_status sb_raw_read(sb_raw *r, sb_slice graph_def, sb_err *err);
/* renumber.c: called by sb_raw_compare: gives the layers of a second Keras model the names of the
 * first, where they differ only by the counter of the process. */
sb_status sb_raw_renumber(const sb_raw *first, sb_raw *second, sb_err *err);
/* difference.c: compares with a second graph: sets the side of each node, and adds the nodes that
 * only the second graph has. */
sb_status sb_raw_compare(sb_raw *r, sb_slice other, sb_err *err);
/* tree.c: creates boxes for nodes and for their scopes. */
sb_status sb_tree_build(sb_raw *r, sb_err *err);
/* Rebuilds the lists of children, the depths and the top-down order after parents were set. */
sb_status sb_tree_list(sb_model *m, sb_err *err);
/* attrs.c: copies the attributes of nodes into the model, without large values. */
sb_status sb_attrs_keep(sb_raw *r, sb_err *err);
/* edges.c: turns inputs of nodes into edges, and finds cycles. */
sb_status sb_edges_build(sb_raw *r, sb_err *err);
/* totals.c: parameters, statistics, devices and structure, first for operations, then summed up for
 * scopes. */
sb_status sb_totals_build(sb_raw *r, const sb_model_ask *ask, sb_err *err);
/* series.c: groups similar siblings into series. */
sb_status sb_series_build(sb_model *m, sb_arena *scratch, sb_err *err);
/* Makes a box a member of a series or a part, and adds its totals to those of the new parent. */
void sb_series_adopt(sb_model *m, uint32_t series, uint32_t child);
/* parts.c: groups the children of each box that has more than `most` of them into parts. */
sb_status sb_parts_build(sb_model *m, uint32_t most, sb_arena *scratch, sb_err *err);

void sb_model_note(sb_model *m, sb_odd_kind kind, sb_slice name);
/* Adds a box with no children and no totals. Returns NULL when memory runs out or the name is
 * taken. */
sb_box *sb_model_add_box(sb_model *m, sb_slice name, uint32_t parent, sb_box_kind kind);

#endif
