/* params_int.h: counts the parameters of a model; one file for each way in which frameworks store
 * them. */
#ifndef SB_GRAPH_PARAMS_INT_H
#define SB_GRAPH_PARAMS_INT_H

#include "graph/model/model_int.h"

/* params.c: sets `params` and `unsized` of all operations. `functions` is the RunMetadata that the
 * graph was made from, or empty. */
sb_status sb_params_count(sb_raw *r, sb_slice functions, sb_err *err);
/* resource_params.c: counts the variables that are passed to a traced function as resources. */
sb_status sb_resources_count(sb_raw *r, sb_slice functions, sb_err *err);
/* torch_params.c: the number of elements of a torch parameter, inferred from the operations that
 * use it. `fetch` is a prim::GetAttr operation. */
int64_t sb_torch_elements(const sb_model *m, uint32_t fetch);

#define SB_ELEMENTS_UNKNOWN (-1) /* the size cannot be inferred */
#define SB_ELEMENTS_NONE (-2)    /* it is not a parameter but, for example, a running mean */

/* ---- shared helpers (params.c) ---- */
bool sb_dtype_is_real(int64_t type);
/* Returns true when the attribute dtype is a floating-point or complex type, or when there is
 * none. */
bool sb_box_is_real(const sb_box *b);
/* Stores a number of elements, or one of the two special values above. */
void sb_box_set_params(sb_box *b, int64_t n);
/* Returns the number of elements of an encoded shape; -1: unknown. */
int64_t sb_shape_elements(sb_slice shape);
bool sb_box_attr(const sb_box *b, const char *key, sb_attr_value *out);
bool sb_box_is(const sb_model *m, uint32_t box, const char *op);
/* Returns the size of one dimension of an operation's first output; -1: unknown. A negative index
 * counts from the last dimension. */
int64_t sb_box_dim(const sb_model *m, uint32_t op, int which);
/* Returns the number of elements of an operation's first output; -1: unknown. */
int64_t sb_box_elements(const sb_model *m, uint32_t op);

#endif
