/* decimate_int.h: what decimate.c, decimate_order.c and envelope.c share. */
#ifndef SB_QUERY_LINES_DECIMATE_INT_H
#define SB_QUERY_LINES_DECIMATE_INT_H

#include "query/lines/decimate.h"

/* Checks the ask and finds the range that is meant; is_empty: no point has a finite x. */
sb_status sb_decimate_range(const sb_line *line, const sb_decimate_ask *ask, double base,
                            double *from, double *to, bool *is_empty, sb_err *err);

/* Twice the room, up to the limit, with the old points; SB_LIMIT when there is no more. Not for
 * columns with xs. */
sb_status sb_columns_grow(sb_columns *c, sb_arena *arena, sb_point_limit limit, sb_err *err);

/* Moves points down: those at the n rising indices become the points from `to` on. */
void sb_columns_move(sb_columns *c, size_t to, const uint64_t *from, size_t n);

/* sb_scalar_decimate on SB_AXIS_METRIC. */
sb_status sb_decimate_in_order(const sb_line *line, const sb_decimate_ask *ask,
                               const sb_budget *budget, sb_arena *arena, sb_decimated *out,
                               sb_err *err);

#endif
