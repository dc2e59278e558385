/* points.h: scalar points as TensorBoard spells them. */
#ifndef SB_SERVER_COMPAT_POINTS_H
#define SB_SERVER_COMPAT_POINTS_H

#include "query/reservoir.h"
#include "server/compat/compat.h"

typedef enum sb_points_form {
    SB_POINTS_ROWS,    /* [[wall, step, value], ...] */
    SB_POINTS_OBJECTS, /* [{"wallTime": ..., "step": ..., "value": ...}, ...] */
    SB_POINTS_CSV,     /* wall,step,value and CR LF, without a header */
} sb_points_form;

/* Appends the points of a scalar snapshot. SB_TIMEOUT when the request's time is over. */
sb_status sb_compat_add_points(sb_buf *out, const sb_series *series, const sb_app *app,
                               const sb_sampling *sampling, sb_points_form form,
                               const sb_http_request *q, sb_err *err);

/* How many points an inline handler may write: about half a millisecond's worth. */
#define SB_POINTS_INLINE 4096

#endif
