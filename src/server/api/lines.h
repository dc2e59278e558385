/* lines.h: the lines that a request names, one at a time: looked up, smoothed, compared and
 * laid along another metric as asked. Shared by scalars and measure.
 *
 *     sb_lines_read(&lines, q, r, app, body) && sb_lines_open(&lines)
 *     while (...) { sb_lines_take(&lines, &ask, &one); sb_lines_ready(&lines, &one); ...
 *                   sb_lines_release(&lines, &one); }
 *     sb_lines_close(&lines)
 *
 * The baseline of the tag last asked for is kept in the request's arena, so lists that are sorted
 * by tag cost least. Threads: belongs to the handler. */
#ifndef SB_SERVER_API_LINES_H
#define SB_SERVER_API_LINES_H

#include "query/lines/compare.h"
#include "server/api/scalar_ask.h"

typedef struct sb_lines {
    sb_http_request *q;
    sb_app *app;
    sb_err *err;
    sb_budget budget;
    sb_lines_ask ask;
    sb_compare_ask compare;
    sb_run_index runs;
    /* the baseline: */
    sb_arena_mark below; /* the arena before the baseline and all that follows it */
    bool is_known;       /* the baseline of this tag was looked up: */
    sb_slice tag;
    bool has_baseline;
    sb_baseline baseline;
} sb_lines;

/* Reads what the body asks of all lines. False: the reply says what is wrong. */
bool sb_lines_read(sb_lines *lines, sb_http_request *q, sb_http_reply *r, sb_app *app,
                   const json_t *body);
/* Takes references to all runs; to be closed also after a failure. Memory that is taken from the
 * request's arena after this is released with the baseline, so the headers of the reply are set
 * before. */
sb_status sb_lines_open(sb_lines *lines);
void sb_lines_close(sb_lines *lines);

typedef struct sb_taken_line {
    sb_series series;
    sb_line own;   /* as logged, perhaps smoothed */
    sb_line *line; /* the line to answer with: own, or the compared one */
    sb_compared compared;
    uint64_t epoch, n; /* what the client sends with its next request */
    bool lacks_baseline, lacks_x;
    sb_series metric; /* the metric that is x; only when x is another metric */
    bool has_metric;
    sb_arena_mark mark;
} sb_taken_line;

/* SB_NOT_FOUND: no such series of scalars; nothing is to be released then, nor after a failure. */
sb_status sb_lines_take(sb_lines *lines, const sb_series_ask *ask, sb_taken_line *out);
/* Smooths, compares and finds x; not for lines that lack their baseline or x. */
sb_status sb_lines_ready(sb_lines *lines, sb_taken_line *one);
/* Makes another metric of the run the x of a line: SB_AXIS_METRIC. */
sb_status sb_line_along(sb_line *line, const sb_series *metric, const sb_budget *budget,
                        sb_arena *arena, sb_err *err);
void sb_lines_release(sb_lines *lines, sb_taken_line *one);

#endif
