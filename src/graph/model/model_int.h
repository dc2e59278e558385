/* model_int.h: the steps in which a model is made, one file each, in this order. */
#ifndef SB_GRAPH_MODEL_INT_H
#define SB_GRAPH_MODEL_INT_H

#include "codec/graph.h"
#include "graph/model/model.h"

/* A node as it was read, before it has a box. */
typedef struct sb_raw_node {
    sb_slice name, op, device;
    sb_slice inputs;  /* the message whose SB_NODE_INPUT fields they are; empty: `input` */
    sb_slice input;   /* the only input, of a function's result */
    sb_slice message; /* a NodeDef, or empty */
    sb_slice within;  /* the call that it belongs to, in front of the names of its inputs */
    uint32_t box;
    uint32_t call; /* of a call whose function was copied: its number in `calls`, else NONE */
    uint8_t side;
} sb_raw_node;

/* A call whose function's body is in the graph. */
typedef struct sb_raw_call {
    uint32_t node;
    uint32_t first_arg, arg_count; /* in nodes */
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
    uint32_t own; /* nodes that are not of functions */
    uint32_t copied;
    const sb_model_ask *ask;
    unsigned step; /* of those in which the model is made */
    bool is_dropped;
} sb_raw;

/* After each of n nodes of a step; false: the model is not wanted any more. */
bool sb_raw_tell(sb_raw *r, size_t i, size_t n);
static inline bool sb_raw_goes_on(sb_raw *r, size_t i, size_t n) {
    return (i & 4095) || sb_raw_tell(r, i, n);
}

/* raw.c: nodes of the graph and of the functions that it calls. */
sb_status sb_raw_read(sb_raw *r, sb_slice graph_def, sb_err *err);
/* difference.c: marks nodes of the first graph by those of the other, and adds those it lacks. */
sb_status sb_raw_compare(sb_raw *r, sb_slice other, sb_err *err);
/* tree.c: boxes for nodes and their scopes. */
sb_status sb_tree_build(sb_raw *r, sb_err *err);
/* Lists of children, depths, after parents were set. */
sb_status sb_tree_list(sb_model *m, sb_err *err);
/* attrs.c: what is kept of the attributes of nodes. */
sb_status sb_attrs_keep(sb_raw *r, sb_err *err);
/* edges.c: inputs as edges, and the cycles among them. */
sb_status sb_edges_build(sb_raw *r, sb_err *err);
/* totals.c: parameters, statistics, devices, structure: of operations, then of scopes. */
sb_status sb_totals_build(sb_raw *r, const sb_model_ask *ask, sb_err *err);
/* series.c: boxes for siblings that are alike. */
sb_status sb_series_build(sb_model *m, sb_arena *scratch, sb_err *err);
/* A box becomes a member of a series or a part, which gets its sums. */
void sb_series_adopt(sb_model *m, uint32_t series, uint32_t child);
/* parts.c: boxes for some hundreds of the children of a box that has more than `most`. */
sb_status sb_parts_build(sb_model *m, uint32_t most, sb_arena *scratch, sb_err *err);

void sb_model_note(sb_model *m, sb_odd_kind kind, sb_slice name);
/* A new box, zeroed; NULL: no memory. */
sb_box *sb_model_add_box(sb_model *m, sb_slice name, uint32_t parent, sb_box_kind kind);

#endif
