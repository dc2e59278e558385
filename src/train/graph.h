/* graph.h: a graph inside: ops, their inputs, outputs, attributes; and how builders add one.
 *
 * Every op is added behind its inputs, so the order of ids is an order in which they can run. Ops
 * whose inputs are all known and that are no state are computed when they are added (fold.c): the
 * shape rules of Reshape, Sum and others look at those values.
 *
 * Memory: all of it is in the graph's arena. Threads: one at a time. */
#ifndef SB_TRAIN_GRAPH_H
#define SB_TRAIN_GRAPH_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/slice.h"
#include "base/vec.h"
#include "seaboard/train.h"

typedef struct op_kind op_kind;

/* One output of an op. */
typedef struct port {
    sb_op *op;
    uint32_t slot;
} port;

typedef enum attr_type {
    ATTR_INT,
    ATTR_FLOAT,
    ATTR_BOOL,
    ATTR_TEXT,
    ATTR_TYPE,
    ATTR_LIST
} attr_type;

/* An attribute of NodeDef that is not made from the op's types and shapes (ops.def has those). */
typedef struct attr {
    const char *name;
    attr_type type;
    int64_t i;
    float f;
    sb_slice text;
    const int64_t *list; /* of integers; of types when is_types */
    size_t count;
    bool is_types;
} attr;

typedef struct op_out {
    sb_dtype dtype;
    sb_dims dims;
    size_t count;         /* elements */
    bool shape_is_hidden; /* TensorFlow's own shape rule does not know it: not exported */
    const void *value;    /* when it is known already; strings are sb_slice */
} op_out;

struct sb_op {
    sb_net *net;
    const op_kind *kind;
    const char *name;
    uint32_t id;
    uint32_t input_count, control_count, out_count, attr_count;
    port *inputs;
    sb_op **controls;
    op_out *outs;
    attr *attrs;
    const sb_op *colocated; /* NULL: with none */
    uint32_t variable;      /* VariableV2: which; others: UINT32_MAX */
};

/* A variable, and the ops that TensorFlow makes for it. */
typedef struct var_ops {
    sb_op *ref, *assign, *read;
    port initial;
    bool trainable;
} var_ops;

typedef struct op_pointers {
    sb_op **items;
    size_t n, room;
} op_pointers;

struct sb_net {
    sb_arena arena;
    sb_err err; /* the first failure */
    op_pointers ops;
    SB_VEC(var_ops) variables;
    SB_VEC(sb_slice) scopes;           /* each with its slash; the last one is where we are */
    SB_VEC(op_pointers) controls;      /* each holds those of the outer ones too */
    SB_VEC(const sb_op *) colocations; /* NULL: none */
    op_pointers summaries, train_ops;
    sb_intern names;                         /* everything that unique_name has given out */
    SB_VEC(uint32_t) name_uses;              /* by id of names */
    SB_VEC(sb_op *) op_of_name;              /* by id of names; NULL: a scope */
    sb_op *save_path, *save_op, *restore_op; /* of the saver; NULL: there is none */
    sb_buf exported;                         /* the newest export */
};

#define NET_ALLOC (&sb_alloc_libc)
#define MAX_OPS ((size_t)1 << 24)

/* ---- failures -------------------------------------------------------------------------------- */

/* Keeps the first failure; answers NULL so that a builder can return it. */
void *sb_net_fail(sb_net *g, sb_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void *sb_net_nomem(sb_net *g);
/* "hidden1/MatMul [100,784]"; for two arguments of "%s" in one message call it with two buffers. */
typedef struct shown_port {
    char text[160];
} shown_port;
shown_port sb_show_port(port p);
shown_port sb_show_dims(const sb_dims *dims);

/* ---- adding ops ------------------------------------------------------------------------------ */

/* OP_ADD, OP_MATMUL, ...: the rows of ops.def. */
#define OP(id, type, infer, run, grad, scratch, flags, attrs) OP_##id,
typedef enum op_id {
#include "train/ops.def"
    OP_KINDS
} op_id;
#undef OP

typedef struct op_spec {
    op_id kind;
    const char *name; /* made unique under the scope; ending in '/': exactly this, as TF does */
    const port *inputs;
    size_t input_count;
    const attr *attrs;
    size_t attr_count;
    /* for kinds whose type or shape the inputs do not say */
    sb_dtype dtype;
    sb_dims dims;
    const void *value; /* of a Const */
} op_spec;

#define OP_SPEC(k, label, ins, n)                                                                  \
    (&(op_spec){.kind = (k), .name = (label), .inputs = (ins), .input_count = (n)})
#define OP_SPEC_ATTRS(k, label, ins, n, list, m)                                                   \
    (&(op_spec){.kind = (k),                                                                       \
                .name = (label),                                                                   \
                .inputs = (ins),                                                                   \
                .input_count = (n),                                                                \
                .attrs = (list),                                                                   \
                .attr_count = (m)})

/* Checks, infers shapes, folds. NULL after a failure. */
sb_op *sb_net_add_op(sb_net *g, const op_spec *spec);
/* Without attributes. Any op may be NULL: the answer is NULL then. */
sb_op *sb_net_op1(sb_net *g, op_id kind, sb_op *x, const char *name);
sb_op *sb_net_op2(sb_net *g, op_id kind, sb_op *x, sb_op *y, const char *name);
sb_op *sb_net_op3(sb_net *g, op_id kind, sb_op *x, sb_op *y, sb_op *z, const char *name);

/* Constants with the names and types that TensorFlow gives them. */
sb_op *sb_net_const(sb_net *g, sb_dtype dtype, const sb_dims *dims, const void *value,
                    const char *name);
sb_op *sb_net_const_ints(sb_net *g, const int64_t *value, size_t n,
                         const char *name); /* [n] int32 */
sb_op *sb_net_const_int(sb_net *g, int32_t value, const char *name);
sb_op *sb_net_const_float(sb_net *g, float value, const char *name);
sb_op *sb_net_const_text(sb_net *g, sb_slice value, const char *name);

static inline port port_of(sb_op *op) {
    return (port){op, 0};
}
static inline const op_out *out_of(port p) {
    return &p.op->outs[p.slot];
}
static inline const op_out *input_of(const sb_op *op, size_t i) {
    return out_of(op->inputs[i]);
}
const attr *sb_op_attr(const sb_op *op, const char *name);
int64_t sb_op_int(const sb_op *op, const char *name);

/* ---- names ----------------------------------------------------------------------------------- */

/* A name that nothing has yet, under the current scope: NAME, NAME_1, ...; marks it as used. NULL
 * when memory is out. */
const char *sb_net_unique_name(sb_net *g, const char *name);
/* Enters a scope whose name is made unique; answers "full/name/". Ending in '/': exactly this one.
 * Pair with sb_net_scope_end. */
const char *sb_net_scope(sb_net *g, const char *name);
/* Ops that are added until the end get _class = loc:@op. NULL: none. */
void sb_net_colocate_begin(sb_net *g, const sb_op *op);
void sb_net_colocate_end(sb_net *g);

/* ---- variables ------------------------------------------------------------------------------- */

/* The variable whose value or reference op is; NULL: it is none. */
var_ops *sb_net_variable_of_op(const sb_op *op);

/* ---- shapes ---------------------------------------------------------------------------------- */

/* false: a negative dimension, or more elements than memory could hold. */
bool sb_dims_count(const sb_dims *dims, size_t *count);
bool sb_dims_equal(const sb_dims *a, const sb_dims *b);
/* The shape of x + y; false when they do not fit. */
bool sb_dims_broadcast(const sb_dims *x, const sb_dims *y, sb_dims *out);
/* Integers of a constant input; false when it is not known, or there are more than room. */
bool sb_known_ints(port p, int64_t *out, size_t room, size_t *n);

#endif
