/* params_int.h: how parameters are counted, one file for what each framework writes. */
#ifndef SB_GRAPH_PARAMS_INT_H
#define SB_GRAPH_PARAMS_INT_H

#include "graph/model/model_int.h"

/* params.c: fills in params and unsized of all operations. `functions`: a RunMetadata whose
 * functions the graph is made of, or empty. */
sb_status sb_params_count(sb_raw *r, sb_slice functions, sb_err *err);
/* resource_params.c: those of the variables that a function is handed. */
sb_status sb_resources_count(sb_raw *r, sb_slice functions, sb_err *err);
/* torch_params.c: the elements of a torch parameter by what uses it. */
int64_t sb_torch_elements(const sb_model *m, uint32_t fetch);

#define SB_ELEMENTS_UNKNOWN (-1) /* what uses it does not tell its size */
#define SB_ELEMENTS_NONE (-2)    /* it is no parameter: a running mean, say */

/* ---- what they look at (params.c) ---- */
bool sb_dtype_is_real(int64_t type);
/* By its attribute dtype; true without one. */
bool sb_box_is_real(const sb_box *b);
/* n elements; or one of the two above. */
void sb_box_set_params(sb_box *b, int64_t n);
/* Elements of an encoded shape; -1: unknown. */
int64_t sb_shape_elements(sb_slice shape);
bool sb_box_attr(const sb_box *b, const char *key, sb_attr_value *out);
bool sb_box_is(const sb_model *m, uint32_t box, const char *op);
/* The size of a dimension of an operation's first output, counted from its end when negative; -1:
 * unknown. */
int64_t sb_box_dim(const sb_model *m, uint32_t op, int which);
/* Elements of its first output; -1: unknown. */
int64_t sb_box_elements(const sb_model *m, uint32_t op);

#endif
