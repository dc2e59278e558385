/* scalar_ask.h: what a request for lines asks for, read from its JSON: shared by scalars,
 * measure and bands. */
#ifndef SB_SERVER_API_SCALAR_ASK_H
#define SB_SERVER_API_SCALAR_ASK_H

#include "query/lines/compare.h"
#include "query/lines/points.h"
#include "query/lines/smooth.h"
#include "server/api/api.h"

typedef struct sb_lines_ask {
    sb_axis axis;
    sb_slice x_tag;  /* of SB_AXIS_METRIC; lives as long as the body */
    uint32_t width;  /* 0: all points */
    double from, to; /* NaN: no bound */
    double near;     /* of a log axis (decimate.h); 0: x is linear */
    sb_smoothing smoothing;
    bool superseded;
    uint32_t columns; /* SB_COLUMN_*, those that are wanted */
} sb_lines_ask;

enum {
    SB_COLUMN_STEP = 1,
    SB_COLUMN_WALL = 2,
    SB_COLUMN_VALUE = 4,
    SB_COLUMN_SMOOTH = 8,
    SB_COLUMN_FLAGS = 16,
    SB_COLUMN_X = 32,
    SB_COLUMN_ALL = 63,
};

/* {"run": id, "kind": "difference" or "ratio"}; NULL or null: no comparison. */
typedef struct sb_compare_ask {
    bool is_asked;
    uint32_t run;
    sb_compare_kind kind;
} sb_compare_ask;

/* False when something makes no sense; the reply says what. */
bool sb_compare_ask_read(sb_compare_ask *out, const json_t *compare, sb_http_reply *r);
bool sb_lines_ask_read(sb_lines_ask *out, const json_t *body, sb_http_reply *r);

/* {"run": id, "tag": text}; false and the reply filled when it is none. */
typedef struct sb_series_ask {
    uint32_t run;
    sb_slice tag;      /* lives as long as the body */
    uint64_t epoch, n; /* what the client has */
} sb_series_ask;
bool sb_series_ask_read(sb_series_ask *out, const json_t *item, sb_http_reply *r);

#endif
