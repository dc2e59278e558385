/* model.h: the graph of a model as a tree of boxes with edges. The page draws, lists and searches
 * this tree.
 *
 *     sb_model_new(&model, &(sb_model_ask){.graph = graph_def, .alloc = alloc}, &err);
 *     const sb_box *root = &model->boxes[SB_BOX_ROOT];
 *     for (uint32_t i = 0; i < root->child_count; i++) ... model->children[root->first_child + i]
 *     sb_model_free(model);
 *
 * A box is one of: an operation; a scope (a part of a name that ends before a '/'); a series (five
 * or more similar siblings with consecutive numbers, see series.c); a call of a function, which
 * contains the body of the function; a part, which groups some hundreds of consecutive children of
 * a box that has too many children to draw (see parts.c). An operation whose name is also the name
 * of a scope becomes the box "scope/(last component of the name)", as in TensorBoard.
 *
 * The graph is not trusted: problems are counted and listed in `odds`, and the rest of the graph is
 * still available. The model copies what it keeps, so the encoded bytes may be freed after
 * sb_model_new.
 *
 * Threads: a model is immutable after sb_model_new, so any number of threads may read it. Cost: a
 * few passes over nodes and edges; about 200 bytes of memory per node and 24 per edge. */
#ifndef SB_GRAPH_MODEL_H
#define SB_GRAPH_MODEL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/status.h"

#define SB_BOX_ROOT 0u
#define SB_BOX_NONE UINT32_MAX
#define SB_SERIES_LEAST 5u /* the smallest number of members of a series */
#define SB_MOST_DEVICES 256u

#define SB_LEVEL_MOST 2000u

typedef enum sb_box_kind {
    SB_BOX_SCOPE,
    SB_BOX_OP,
    SB_BOX_SERIES,
    SB_BOX_CALL,
    SB_BOX_PART
} sb_box_kind;

/* In a comparison of two graphs: which of them contains a box. */
typedef enum sb_box_side {
    SB_SIDE_SAME,
    /* in both: the operation, device, attributes or inputs differ; for a scope: something inside
     * differs */
    SB_SIDE_CHANGED,
    SB_SIDE_REMOVED, /* only in the first graph */
    SB_SIDE_ADDED,   /* only in the second graph */
} sb_box_side;

typedef struct sb_box {
    sb_slice name; /* the full name; "" for the root */
    /* the offset in `name` of the component after the last '/' */
    uint32_t label;
    uint32_t parent;                   /* SB_BOX_NONE for the root */
    uint32_t first_child, child_count; /* in model->children */
    uint32_t depth;                    /* 0 for the root */
    uint8_t kind;                      /* sb_box_kind */
    uint8_t side;                      /* sb_box_side */
    /* an input or output of the whole graph: drawn in the first or last rank */
    bool is_input, is_output;
    /* the value is stored in the graph; the operation may still have control inputs */
    bool is_constant;
    bool has_stats;
    /* the type of an operation or call, an index into model->texts; for a layer of Keras its
     * class */
    uint32_t op;
    /* index into model->texts; SB_BOX_NONE: unknown, or a scope with several devices */
    uint32_t device;
    uint32_t first_in, in_count;   /* the incoming edges of an operation, a range of model->edges */
    uint32_t first_out, out_count; /* the outgoing edges, a range of model->outs */
    /* the number of operations in this box, counting the box itself if it is one */
    uint32_t ops;
    uint32_t incompatible; /* how many of them a TPU cannot run */
    /* how many parameters have a size that the graph does not contain */
    uint32_t unsized;
    uint64_t params; /* the number of elements of all parameters in this box */
    /* a hash that is equal for boxes with equal structure (see totals.c) */
    uint64_t structure;
    /* measured compute time in microseconds; for a scope the sum over its children */
    double time;
    /* measured memory of the outputs in bytes; for a scope the sum over its children */
    double bytes;
    /* encoded attr entries of a NodeDef; large values are replaced by a placeholder */
    sb_slice attrs;
    sb_slice outputs; /* the encoded _output_shapes (a ListValue); empty: unknown */
    sb_slice stats;   /* an encoded NodeExecStats */
} sb_box;

enum { SB_EDGE_CONTROL = 1, SB_EDGE_REF = 2 };

typedef struct sb_edge {
    uint32_t from, to; /* operations */
    int32_t slot;      /* output index of `from`; -1 for a control edge */
    uint16_t input;    /* index of the input among all inputs of the node `to` */
    uint8_t flags;
    float size; /* number of elements of the tensor; -1: unknown */
} sb_edge;

typedef enum sb_odd_kind {
    SB_ODD_CUT,       /* the bytes end in the middle of a node */
    SB_ODD_NODE,      /* a node that cannot be read */
    SB_ODD_UNNAMED,   /* a node without a name */
    SB_ODD_DUPLICATE, /* a name that another node already has */
    SB_ODD_DANGLING,  /* an input that refers to a node that does not exist */
    SB_ODD_CYCLE,     /* an edge that closes a cycle */
    SB_ODD_RECURSION, /* a function that calls itself, directly or through others */
    SB_ODD_FUNCTIONS, /* a call whose body was not copied, because a limit was reached */
    SB_ODD_DEEP,      /* a name with too many components */
    SB_ODD_LARGE,     /* an attribute that was left out because it is too large */
    SB_ODD_COUNT
} sb_odd_kind;

#define SB_ODD_EXAMPLES 8u
typedef struct sb_odd {
    uint32_t n;
    uint32_t shown;
    sb_slice examples[SB_ODD_EXAMPLES];
} sb_odd;

/* In a comparison of two Keras models: a layer or scope whose name in the second graph differs by
 * the counter that Keras appends (see renumber.c). */
typedef struct sb_renamed {
    sb_slice name;   /* the name in this model */
    sb_slice other;  /* the name in the second graph */
    bool is_matched; /* the first graph has it too */
} sb_renamed;

typedef struct sb_model {
    const sb_alloc *alloc;
    sb_arena arena;
    sb_intern names; /* names of boxes; the id is the index of the box */
    sb_intern texts; /* types of operations, and names of devices */
    sb_box *boxes;
    uint32_t box_count, box_room;
    uint32_t op_count; /* operations, not counting those in copied bodies of functions */
    uint32_t *children;
    uint32_t *downwards; /* all boxes in top-down order: each one after its parent */
    sb_edge *edges;      /* sorted by `to`, then in the order of the inputs of that node */
    uint32_t edge_count;
    uint32_t *outs; /* indices of edges, sorted by `from` (adjacency lists of outgoing edges) */
    sb_odd odds[SB_ODD_COUNT];
    /* devices with measurements, including those that were skipped */
    uint32_t device_count;
    uint32_t devices[SB_MOST_DEVICES]; /* indices into texts */
    sb_renamed *renamed;
    uint32_t renamed_count;
    bool has_stats, is_difference;
    /* used while the model is built: a text for `odds` could not be stored */
    bool is_out_of_memory;
    int32_t producer; /* producer version of the GraphDef */
    size_t bytes;     /* memory that the model uses */
} sb_model;

typedef struct sb_model_ask {
    const sb_alloc *alloc;
    sb_slice graph;    /* a GraphDef */
    sb_slice other;    /* the GraphDef to compare the first one with; .p is NULL: no comparison */
    sb_slice metadata; /* an encoded RunMetadata with step statistics, or empty */
    const sb_slice *skipped; /* names of devices whose measurements are ignored */
    size_t skipped_count;
    /* the RunMetadata that the graph was made from (sb_graph_of_run_metadata), or empty. It
     * contains the shapes of the variables of traced functions. */
    sb_slice functions;
    /* one of the two graphs was reduced by sb_graph_lean: a comparison ignores large attributes */
    bool is_lean;
    /* memory limit in bytes, for the model and for working memory each; SB_NOMEM when it is
     * exceeded. 0: 2 GiB */
    size_t most_bytes;
    /* the largest number of children of a box; more are grouped into parts. 0: SB_LEVEL_MOST */
    uint32_t level_most;
    /* Progress callback, called every few milliseconds; may be NULL. When it returns false, the
     * work is cancelled and sb_model_new returns SB_CANCELLED. */
    bool (*progress)(void *ud, uint64_t done, uint64_t total);
    void *progress_ud;
} sb_model_ask;

/* Builds a model. Returns SB_OK also for a graph that is truncated or has problems (see `odds`);
 * SB_CORRUPT when the bytes are malformed and contain not even one node. */
sb_status sb_model_new(sb_model **out, const sb_model_ask *ask, sb_err *err);
void sb_model_free(sb_model *m);

/* Returns the box with exactly this name, or SB_BOX_NONE. When an operation was renamed to "a/(a)",
 * the name "a" finds the scope. */
uint32_t sb_model_find(const sb_model *m, sb_slice name);

static inline sb_slice sb_box_label(const sb_box *b) {
    return (sb_slice){b->name.p + b->label, b->name.n - b->label};
}
static inline sb_slice sb_model_text(const sb_model *m, uint32_t id) {
    return id == SB_BOX_NONE ? (sb_slice){NULL, 0} : sb_intern_name(&m->texts, id);
}
/* Returns true when `box` is equal to `above` or is a descendant of it. */
bool sb_model_is_in(const sb_model *m, uint32_t box, uint32_t above);

/* Appends the shape of an output as text: "64 × 3 × 224", with "?" for a dimension of unknown size,
 * or "scalar". Appends nothing when the graph does not contain the shape. */
void sb_model_shape(const sb_model *m, uint32_t op, int32_t slot, sb_buf *out);

const char *sb_odd_name(sb_odd_kind kind);

#endif
