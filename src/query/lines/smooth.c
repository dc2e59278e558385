/* smooth.c: the filters. What each computes is said in smooth.h. */
#include "query/lines/smooth.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/search.h"
#include "base/banned.h"

#define LOOK_EVERY 65536u /* points between looks at the clock */

bool sb_smooth_appends(const sb_smoothing *how) {
    return how->kind == SB_SMOOTH_NONE || how->kind == SB_SMOOTH_EMA;
}

static double weight_of(const sb_smoothing *how) {
    if (!isfinite(how->weight)) return 0;
    return how->weight < 0 ? 0 : how->weight > 1 ? 1 : how->weight;
}

static bool all_equal(const double *values, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (values[i] != values[0]) return false;
    return true;
}

/* ---- exponential moving averages ------------------------------------------------------------- */

/* The state of the average between two calls of ema_run: the time limit is checked in between. */
typedef struct ema {
    double weight, last;
    uint64_t seen;
    bool is_settled; /* 1 - weight^seen is 1: there is no bias left to correct */
} ema;

static void ema_run(ema *e, double *values, size_t n) {
    double w = e->weight, rest = 1 - w, last = e->last;
    size_t i = 0;
    for (; i < n && !e->is_settled; i++) {
        if (!isfinite(values[i])) continue;
        last = last * w + rest * values[i];
        double bias = w == 1 ? 1 : 1 - pow(w, (double)++e->seen);
        e->is_settled = bias == 1;
        values[i] = last / bias;
    }
    for (; i < n; i++) {
        if (!isfinite(values[i])) continue;
        last = last * w + rest * values[i];
        values[i] = last;
    }
    e->last = last;
}

static sb_status smooth_ema(const sb_smoothing *how, double *values, size_t n,
                            const sb_budget *budget, sb_err *err) {
    ema e = {.weight = weight_of(how)};
    for (size_t i = 0; i < n; i += LOOK_EVERY) {
        if (sb_budget_over(budget)) return sb_fail_timeout(err);
        ema_run(&e, values + i, n - i < LOOK_EVERY ? n - i : LOOK_EVERY);
    }
    return SB_OK;
}

static sb_status smooth_time_ema(const sb_smoothing *how, double *values, const double *xs,
                                 size_t n, double unit, const sb_budget *budget, sb_err *err) {
    double w = weight_of(how), sum = 0, count = 0;
    double last_x = NAN, last_gap = 0, fade = 1;
    for (size_t i = 0; i < n; i++) {
        if (i % LOOK_EVERY == 0 && sb_budget_over(budget)) return sb_fail_timeout(err);
        if (!isfinite(values[i])) continue;
        double gap = xs[i] - last_x;
        if (!(gap > 0)) gap = 0; /* x fell, or is not finite */
        if (isfinite(xs[i])) last_x = xs[i];
        if (gap != last_gap) { /* points mostly come at an even pace */
            fade = unit > 0 ? pow(w, gap / unit) : 1;
            last_gap = gap;
        }
        sum = sum * fade + values[i];
        count = count * fade + 1;
        values[i] = sum / count;
    }
    return SB_OK;
}

/* ---- windows --------------------------------------------------------------------------------- */

/* The window of point i: `left` points before it and `right` behind it, as far as there are. */
typedef struct window {
    size_t left, right;
} window;

static window window_of(double points) {
    size_t k = (size_t)points;
    if (k < 1) k = 1;
    size_t left = (k - 1) / 2;
    return (window){left, k - 1 - left};
}

/* A sum with compensation for rounding errors (Neumaier): `lost` is what the additions rounded
 * away. */
typedef struct exact_sum {
    double sum, lost;
} exact_sum;

static void add_to(exact_sum *s, double x) {
    double sum = s->sum + x;
    s->lost += fabs(s->sum) >= fabs(x) ? (s->sum - sum) + x : (x - sum) + s->sum;
    s->sum = sum;
}

/* The mean of values whose sum is too large for a double. */
static double mean_of(const double *in, size_t n) {
    double mean = 0;
    for (size_t i = 0; i < n; i++) mean += in[i] / (double)n;
    return mean;
}

static sb_status smooth_window(double points, const double *in, double *out, size_t n,
                               const sb_budget *budget, sb_err *err) {
    window w = window_of(points);
    exact_sum s = {0};
    size_t from = 0, to = 0; /* what is in the sum */
    for (size_t i = 0; i < n; i++) {
        if (i % LOOK_EVERY == 0 && sb_budget_over(budget)) return sb_fail_timeout(err);
        size_t end = n - i <= w.right ? n : i + w.right + 1;
        for (; to < end; to++) add_to(&s, in[to]);
        for (; from + w.left < i; from++) add_to(&s, -in[from]);
        out[i] = (s.sum + s.lost) / (double)(to - from);
        if (!isfinite(out[i])) out[i] = mean_of(in + from, to - from);
    }
    return SB_OK;
}

#define STRIP 1024u

/* Computes `count` points from index `at` on. The outer loop goes over the distances of the kernel,
 * so that the compiler can vectorize the inner one. */
static void gauss_strip(const double *in, double *out, size_t n, size_t at, size_t count,
                        const double *kernel, size_t radius) {
    double sums[STRIP], weights[STRIP];
    for (size_t i = 0; i < count; i++) {
        sums[i] = kernel[0] * in[at + i];
        weights[i] = kernel[0];
    }
    for (size_t d = 1; d <= radius; d++) {
        size_t first = at >= d ? 0 : d - at; /* the first that has a point d before it */
        for (size_t i = first; i < count; i++) {
            sums[i] += kernel[d] * in[at + i - d];
            weights[i] += kernel[d];
        }
        size_t end = d >= n ? 0 : n - d > at ? n - d - at : 0;
        if (end > count) end = count;
        for (size_t i = 0; i < end; i++) {
            sums[i] += kernel[d] * in[at + i + d];
            weights[i] += kernel[d];
        }
    }
    for (size_t i = 0; i < count; i++) out[at + i] = sums[i] / weights[i];
}

static sb_status smooth_gaussian(double deviation, const double *in, double *out, size_t n,
                                 const sb_alloc *alloc, const sb_budget *budget, sb_err *err) {
    size_t radius = (size_t)ceil(4 * deviation), bytes = (radius + 1) * sizeof(double);
    double *kernel = sb_alloc_get(alloc, bytes);
    if (!kernel) return sb_fail_nomem(err, "for smoothing");
    for (size_t d = 0; d <= radius; d++)
        kernel[d] = exp(-0.5 * ((double)d / deviation) * ((double)d / deviation));
    sb_status status = SB_OK;
    for (size_t at = 0; at < n && status == SB_OK; at += STRIP) {
        if (sb_budget_over(budget))
            status = sb_fail_timeout(err);
        else
            gauss_strip(in, out, n, at, n - at < STRIP ? n - at : STRIP, kernel, radius);
    }
    sb_alloc_put(alloc, kernel, bytes);
    return status;
}

/* Where x belongs in a sorted array: behind all that are less. */
static size_t place_in(const double *sorted, size_t n, double x) {
    size_t i;
    SB_PARTITION_POINT(i, 0, n, sorted[i] < x);
    return i;
}

static sb_status smooth_median(double points, const double *in, double *out, size_t n,
                               const sb_alloc *alloc, const sb_budget *budget, sb_err *err) {
    window w = window_of(points);
    size_t room = w.left + w.right + 2, bytes = room * sizeof(double);
    double *sorted = sb_alloc_get(alloc, bytes);
    if (!sorted) return sb_fail_nomem(err, "for smoothing");
    sb_status status = SB_OK;
    size_t from = 0, to = 0, held = 0;
    for (size_t i = 0; i < n; i++) {
        if (i % 4096 == 0 && sb_budget_over(budget)) {
            status = sb_fail_timeout(err);
            break;
        }
        size_t end = n - i <= w.right ? n : i + w.right + 1;
        for (; from + w.left < i; from++) {
            size_t at = place_in(sorted, held, in[from]);
            memmove(sorted + at, sorted + at + 1, (--held - at) * sizeof *sorted);
        }
        for (; to < end; to++) {
            size_t at = place_in(sorted, held, in[to]);
            memmove(sorted + at + 1, sorted + at, (held++ - at) * sizeof *sorted);
            sorted[at] = in[to];
        }
        out[i] = held % 2 ? sorted[held / 2] : sorted[held / 2 - 1] * 0.5 + sorted[held / 2] * 0.5;
    }
    sb_alloc_put(alloc, sorted, bytes);
    return status;
}

/* ---- all together ---------------------------------------------------------------------------- */

/* Filters that look around a point see the finite ones only: they are put side by side first. */
static sb_status smooth_around(const sb_smoothing *how, double *values, size_t n,
                               const sb_alloc *alloc, const sb_budget *budget, sb_err *err) {
    size_t bytes;
    double *both = NULL;
    if (sb_mul_size(&bytes, n, 2 * sizeof *both)) both = sb_alloc_get(alloc, bytes);
    if (!both) return sb_fail_nomem(err, "for smoothing");
    double *in = both, *out = both + n;
    size_t finite = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(values[i])) in[finite++] = values[i];
    sb_status status;
    if (how->kind == SB_SMOOTH_WINDOW)
        status = smooth_window(how->points, in, out, finite, budget, err);
    else if (how->kind == SB_SMOOTH_GAUSSIAN)
        status = smooth_gaussian(how->points, in, out, finite, alloc, budget, err);
    else
        status = smooth_median(how->points, in, out, finite, alloc, budget, err);
    if (status == SB_OK)
        for (size_t i = 0, at = 0; i < n; i++)
            if (isfinite(values[i])) values[i] = out[at++];
    sb_alloc_put(alloc, both, bytes);
    return status;
}

static sb_status check_points(double points, double limit, sb_err *err) {
    if (points > 0 && points <= limit) return SB_OK;
    return sb_fail(err, SB_INVALID, 0, "smoothing over %g points; up to %g make sense", points,
                   limit);
}

sb_status sb_smooth_values(const sb_smoothing *how, double *values, const double *xs, size_t n,
                           double unit, const sb_alloc *alloc, const sb_budget *budget,
                           sb_err *err) {
    sb_status status = SB_OK;
    if (how->kind == SB_SMOOTH_WINDOW)
        status = check_points(how->points, SB_SMOOTH_MAX_WINDOW, err);
    else if (how->kind == SB_SMOOTH_GAUSSIAN)
        status = check_points(how->points, SB_SMOOTH_MAX_DEVIATION, err);
    else if (how->kind == SB_SMOOTH_MEDIAN)
        status = check_points(how->points, SB_SMOOTH_MAX_MEDIAN, err);
    if (status != SB_OK || n == 0 || all_equal(values, n)) return status;
    switch (how->kind) {
    case SB_SMOOTH_NONE:
        return SB_OK;
    case SB_SMOOTH_EMA:
        return smooth_ema(how, values, n, budget, err);
    case SB_SMOOTH_TIME_EMA:
        return smooth_time_ema(how, values, xs, n, unit, budget, err);
    case SB_SMOOTH_WINDOW:
    case SB_SMOOTH_GAUSSIAN:
    case SB_SMOOTH_MEDIAN:
        return smooth_around(how, values, n, alloc, budget, err);
    }
    return sb_fail(err, SB_INVALID, 0, "unknown kind of smoothing");
}
