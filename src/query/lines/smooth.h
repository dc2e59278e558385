/* smooth.h: smoothed values of lines, computed over all points, before decimation.
 *
 * Points that are not finite pass through every filter unchanged and count for nothing; so do lines
 * whose values are all equal. What a filter sees of a point's neighbours are the finite ones.
 *
 *   EMA       TensorBoard's own: s = s w + (1 - w) y, shown as s / (1 - w^k) for the k-th point.
 *             Equal to its page's numbers but for the last bit, where the browser's pow() rounds
 *             otherwise
 *   TIME_EMA  each point counts w^(d / u), d being its distance in x and u a thousandth of the
 *             line's extent in x: lines of different density are smoothed alike
 *   WINDOW    the mean of `points` points around each; fewer at the ends
 *   GAUSSIAN  weights of a bell curve around each point with a standard deviation of `points`
 *             points, cut off at four deviations
 *   MEDIAN    the median of `points` points around each; of two middle ones their mean
 *
 * The visible points of a line are smoothed as one line. Superseded ones, when shown, are smoothed
 * part by part, each part for itself.
 *
 * The cache keeps the smoothed values of the newest snapshot of each line, within a number of bytes
 * that grows with the points in the store; the least recently used are evicted first. Values that
 * are in use stay until they are released.
 * Threads: all functions may be called from any thread; two that ask for the same at the same time
 * both compute it. Cost of EMA: about 5 ns per point, once per snapshot. */
#ifndef SB_QUERY_LINES_SMOOTH_H
#define SB_QUERY_LINES_SMOOTH_H

#include "query/budget.h"
#include "query/lines/points.h"

typedef enum sb_smooth_kind {
    SB_SMOOTH_NONE,
    SB_SMOOTH_EMA,
    SB_SMOOTH_TIME_EMA,
    SB_SMOOTH_WINDOW,
    SB_SMOOTH_GAUSSIAN,
    SB_SMOOTH_MEDIAN,
} sb_smooth_kind;

#define SB_SMOOTH_MAX_WINDOW 100001.0
#define SB_SMOOTH_MAX_DEVIATION 2000.0
#define SB_SMOOTH_MAX_MEDIAN 10001.0

typedef struct sb_smoothing {
    sb_smooth_kind kind;
    double weight; /* of the two EMAs; taken as 0 when not finite, else into 0..1, as TensorBoard
                      does */
    double points; /* of the others: above 0, up to the limits above */
    sb_axis axis;  /* TIME_EMA: what x is */
} sb_smoothing;

/* Does a new point leave the smoothed values of those before it as they are? Otherwise a client
 * that holds some must get all of them again. */
bool sb_smooth_appends(const sb_smoothing *how);

/* Smooths n values in place. xs and unit (TIME_EMA's u) may be NULL and 0 for other kinds.
 * SB_INVALID, SB_TIMEOUT, SB_NOMEM leave the values unspecified. */
sb_status sb_smooth_values(const sb_smoothing *how, double *values, const double *xs, size_t n,
                           double unit, const sb_alloc *alloc, const sb_budget *budget,
                           sb_err *err);

typedef struct sb_smooth_cache sb_smooth_cache;

typedef struct sb_smooth_opts {
    const sb_alloc *alloc;   /* must outlive the cache */
    uint64_t line_bytes;     /* a line whose smoothed values take more is not smoothed */
    uint64_t keep_bytes;     /* so many bytes are kept for later requests, */
    uint64_t keep_per_point; /*   and so many more for each point of the store */
    const sb_store *store;   /* NULL: none */
} sb_smooth_opts;

sb_status sb_smooth_cache_new(sb_smooth_cache **out, const sb_smooth_opts *opts, sb_err *err);
/* Every line must have been released. */
void sb_smooth_cache_free(sb_smooth_cache *cache);
/* Bytes held now, those of lines in use included. */
uint64_t sb_smooth_cache_bytes(sb_smooth_cache *cache);

/* Gives the line (series and show_superseded are set) its smoothed values. It gets none, which is
 * no failure, for SB_SMOOTH_NONE and when it is too long. Else as sb_smooth_values. */
sb_status sb_smooth_line(sb_smooth_cache *cache, sb_line *line, const sb_smoothing *how,
                         const sb_budget *budget, sb_err *err);
/* Ends the use of the line's smoothed values; lines without any are fine. */
void sb_smooth_release(sb_smooth_cache *cache, sb_line *line);

#endif
