/* model.h: a model's graph as a tree of boxes with edges: what a page draws, lists and searches.
 *
 *     sb_model_new(&model, &(sb_model_ask){.graph = graph_def, .alloc = alloc}, &err);
 *     const sb_box *root = &model->boxes[SB_BOX_ROOT];
 *     for (uint32_t i = 0; i < root->child_count; i++) ... model->children[root->first_child + i]
 *     sb_model_free(model);
 *
 * Boxes are operations, scopes (the parts of names that end before a '/'), series (five or more
 * siblings that are alike and numbered one after the other, see series.c), calls of functions,
 * which hold the function's body, and parts: of a box with more children than anybody can look at,
 * some hundreds that follow one another (see parts.c). An operation whose name is also that of a
 * scope is the box "scope/(last part)", as in TensorBoard.
 *
 * Nothing about the graph is trusted: what is odd is counted and named in `odds`, and the rest of
 * the graph is there. The model copies what it keeps: the bytes may go when it is made.
 *
 * Threads: a model never changes after sb_model_new, so any number may read it. Cost: a few passes
 * over nodes and edges; about 200 bytes a node and 24 an edge. */
#ifndef SB_GRAPH_MODEL_H
#define SB_GRAPH_MODEL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/status.h"

#define SB_BOX_ROOT 0u
#define SB_BOX_NONE UINT32_MAX
#define SB_SERIES_LEAST 5u /* members of a series */
#define SB_MOST_DEVICES 256u

#define SB_LEVEL_MOST 2000u

typedef enum sb_box_kind {
    SB_BOX_SCOPE,
    SB_BOX_OP,
    SB_BOX_SERIES,
    SB_BOX_CALL,
    SB_BOX_PART
} sb_box_kind;

/* Of a difference: where a box exists. */
typedef enum sb_box_side {
    SB_SIDE_SAME,
    SB_SIDE_CHANGED, /* its operation, attributes or inputs differ; of a scope: something in it */
    SB_SIDE_REMOVED, /* only in the first graph */
    SB_SIDE_ADDED,   /* only in the other graph */
} sb_box_side;

typedef struct sb_box {
    sb_slice name;                     /* whole; "" for the root */
    uint32_t label;                    /* where the part after the last '/' begins */
    uint32_t parent;                   /* SB_BOX_NONE for the root */
    uint32_t first_child, child_count; /* in model->children */
    uint32_t depth;                    /* 0 for the root */
    uint8_t kind;                      /* sb_box_kind */
    uint8_t side;                      /* sb_box_side */
    bool is_input, is_output;          /* of the whole graph: placed at the ends */
    bool is_constant; /* its value is written in the graph; it may have to wait for others */
    bool has_stats;
    uint32_t op;     /* in model->texts; of operations and calls; of scopes the class, if known */
    uint32_t device; /* in model->texts; SB_BOX_NONE: not known, or several in a scope */
    uint32_t first_in, in_count;   /* in model->edges, of operations */
    uint32_t first_out, out_count; /* in model->outs */
    uint32_t ops;                  /* operations in it, itself included */
    uint32_t incompatible;         /* of those, ones that a TPU can't run */
    uint32_t unsized;              /* parameters whose size the graph does not tell */
    uint64_t params;               /* elements of all parameters in it */
    uint64_t structure;            /* equal for boxes of equal structure */
    double time;                   /* of computing, in microseconds; a scope has the sum */
    double bytes;                  /* of outputs, likewise */
    sb_slice attrs;   /* encoded attr entries of a NodeDef, those that are not too large */
    sb_slice outputs; /* the encoded _output_shapes (a ListValue); empty: unknown */
    sb_slice stats;   /* an encoded NodeExecStats */
} sb_box;

enum { SB_EDGE_CONTROL = 1, SB_EDGE_REF = 2 };

typedef struct sb_edge {
    uint32_t from, to; /* operations */
    int32_t slot;      /* of `from`; -1 for control */
    uint16_t input;    /* which input of `to` it is, among all that the node names */
    uint8_t flags;
    float size; /* elements; -1: unknown */
} sb_edge;

typedef enum sb_odd_kind {
    SB_ODD_CUT,       /* the bytes end in the middle of a node */
    SB_ODD_NODE,      /* a node can't be read */
    SB_ODD_UNNAMED,   /* a node without a name */
    SB_ODD_DUPLICATE, /* a name that another node has */
    SB_ODD_DANGLING,  /* an input that does not exist */
    SB_ODD_CYCLE,     /* an edge that closes a cycle */
    SB_ODD_RECURSION, /* a function that calls itself */
    SB_ODD_FUNCTIONS, /* a call that is not opened, since there are too many */
    SB_ODD_DEEP,      /* a name with too many parts */
    SB_ODD_LARGE,     /* an attribute that is left out for its size */
    SB_ODD_COUNT
} sb_odd_kind;

#define SB_ODD_EXAMPLES 8u
typedef struct sb_odd {
    uint32_t n;
    uint32_t shown;
    sb_slice examples[SB_ODD_EXAMPLES];
} sb_odd;

typedef struct sb_model {
    const sb_alloc *alloc;
    sb_arena arena;
    sb_intern names; /* of boxes; the id is the box */
    sb_intern texts; /* operations and devices */
    sb_box *boxes;
    uint32_t box_count, box_room;
    uint32_t op_count; /* operations, without those of functions that were copied into calls */
    uint32_t *children;
    uint32_t *downwards; /* every box, after its parent */
    sb_edge *edges;      /* by `to`, in the order of its inputs */
    uint32_t edge_count;
    uint32_t *outs; /* edges by `from` */
    sb_odd odds[SB_ODD_COUNT];
    uint32_t device_count;             /* that have measurements, those left out included */
    uint32_t devices[SB_MOST_DEVICES]; /* in texts */
    bool has_stats, is_difference;
    bool is_out_of_memory; /* while it is made: an example of something odd could not be kept */
    int32_t producer;      /* version of the graph */
    size_t bytes;          /* that the model holds */
} sb_model;

typedef struct sb_model_ask {
    const sb_alloc *alloc;
    sb_slice graph;    /* a GraphDef */
    sb_slice other;    /* .p NULL: none; else the GraphDef that the first one is compared with */
    sb_slice metadata; /* an encoded RunMetadata with step statistics, or empty */
    const sb_slice *skipped; /* devices whose measurements don't count */
    size_t skipped_count;
    sb_slice functions;  /* the RunMetadata whose traced functions the graph is, or empty: it tells
                           the shapes of their variables */
    bool is_lean;        /* one of both has no large values (sb_graph_lean): they don't count */
    size_t most_bytes;   /* memory; SB_LIMIT beyond it. 0: 2 GiB */
    uint32_t level_most; /* children of a box; more are folded into parts. 0: SB_LEVEL_MOST */
    /* How much of the work is done; false: the model is not wanted any more, and sb_model_new
     * answers SB_DROPPED. Called every few milliseconds. May be NULL. */
    bool (*progress)(void *ud, uint64_t done, uint64_t total);
    void *progress_ud;
} sb_model_ask;

/* SB_OK also for a graph that is cut or odd; SB_CORRUPT when there is not one node in bytes that
 * are no graph at all. */
sb_status sb_model_new(sb_model **out, const sb_model_ask *ask, sb_err *err);
void sb_model_free(sb_model *m);

/* The box of that name, SB_BOX_NONE when there is none. An operation that became "a/(a)" is found
 * by either name when no scope has it. */
uint32_t sb_model_find(const sb_model *m, sb_slice name);

static inline sb_slice sb_box_label(const sb_box *b) {
    return (sb_slice){b->name.p + b->label, b->name.n - b->label};
}
static inline sb_slice sb_model_text(const sb_model *m, uint32_t id) {
    return id == SB_BOX_NONE ? (sb_slice){NULL, 0} : sb_intern_name(&m->texts, id);
}
/* Is `box` the box `above`, or in it? */
bool sb_model_is_in(const sb_model *m, uint32_t box, uint32_t above);

/* Appends the shape of an output as "64 × 3 × 224", "?" for a size that is not known, "scalar"; or
 * nothing when the graph does not tell it. */
void sb_model_shape(const sb_model *m, uint32_t op, int32_t slot, sb_buf *out);

const char *sb_odd_name(sb_odd_kind kind);

#endif
