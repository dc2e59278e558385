/* histogram_grid.c: what a histogram says, which range many of them are drawn in, and rebinning. */
#include "query/kinds/histogram_grid.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/search.h"
#include "base/banned.h"

#define TAIL 0.005 /* of all values, at either end of a histogram, may lie beyond low and high */
/* An outlier is a step whose values end more than FENCE times the usual width beyond the usual
 * ones. */
#define FENCE 2.0
/* When all values take at most HARDLY times as much room as without outliers, all are shown. */
#define HARDLY 1.25
#define LOG_DECADES 3.0 /* of a log axis, on either side of zero */
/* Counts above this are scaled down before they are added, so that sums stay finite. */
#define HUGE_COUNT 1e200
/* Values above this are divided by the greatest of them before they are squared. */
#define HUGE_VALUE 1e150

/* ---- buckets that make sense ----------------------------------------------------------------- */

static bool is_sound(const double *row) {
    return isfinite(row[0]) && isfinite(row[1]) && isfinite(row[2]) && row[2] >= 0;
}

static int by_edges(const void *a, const void *b) {
    const double *x = a, *y = b;
    if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
    return (x[1] > y[1]) - (x[1] < y[1]);
}

static bool are_sorted(const double *rows, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (rows[i * 3] < rows[i * 3 - 3]) return false;
    return true;
}

static bool are_all_sound(const sb_histo_rows *h) {
    for (size_t i = 0; i < h->n; i++)
        if (!is_sound(h->rows + i * 3) || h->rows[i * 3] > h->rows[i * 3 + 1]) return false;
    return are_sorted(h->rows, h->n);
}

/* The same rows, or a copy without those that make no sense. */
static sb_status clean_rows(const sb_histo_rows *rows, sb_arena *arena, sb_histo_rows *clean,
                            uint8_t *marks) {
    *clean = *rows;
    if (rows->has_odd_ends) *marks |= SB_HISTO_BROKEN;
    if (rows->has_odd_ends && isnan(rows->sum)) *marks |= SB_HISTO_NAN;
    if (are_all_sound(rows)) return SB_OK;
    size_t bytes, n = 0;
    double *copy = NULL;
    if (sb_mul_size(&bytes, rows->n, 3 * sizeof *copy)) copy = sb_arena_get(arena, bytes);
    if (!copy) return SB_NOMEM;
    for (size_t i = 0; i < rows->n; i++) {
        const double *row = rows->rows + i * 3;
        if (isnan(row[0]) || isnan(row[1]) || isnan(row[2])) *marks |= SB_HISTO_NAN;
        if (!is_sound(row)) continue;
        copy[n * 3] = fmin(row[0], row[1]);
        copy[n * 3 + 1] = fmax(row[0], row[1]);
        copy[n * 3 + 2] = row[2];
        n++;
    }
    if (n < rows->n) *marks |= SB_HISTO_BROKEN;
    if (n > 1 && !are_sorted(copy, n)) qsort(copy, n, 3 * sizeof *copy, by_edges);
    clean->rows = copy;
    clean->n = n;
    return SB_OK;
}

/* What counts are multiplied by before they are added. */
static double count_scale(const sb_histo_rows *h) {
    for (size_t i = 0; i < h->n; i++)
        if (h->rows[i * 3 + 2] > HUGE_COUNT) return 1 / HUGE_COUNT;
    return 1;
}

static double scaled_total(const sb_histo_rows *h, double scale) {
    double total = 0;
    for (size_t i = 0; i < h->n; i++) total += h->rows[i * 3 + 2] * scale;
    return total;
}

/* b - a, halved: finite for all finite numbers. */
static double half_between(double a, double b) {
    return b * 0.5 - a * 0.5;
}

/* ---- facts ----------------------------------------------------------------------------------- */

/* The value below which this many counts lie. */
static double value_at(const sb_histo_rows *h, double scale, double wanted) {
    double before = 0;
    for (size_t i = 0; i < h->n; i++) {
        const double *row = h->rows + i * 3;
        double count = row[2] * scale;
        if (before + count >= wanted && count > 0) {
            double share = (wanted - before) / count;
            return row[0] * (1 - share) + row[1] * share;
        }
        before += count;
    }
    return h->rows[h->n * 3 - 2];
}

/* Mean and deviation of values that are spread evenly within each bucket. */
static void estimate_moments(const sb_histo_rows *h, double scale, double total,
                             sb_histo_facts *out) {
    double mean = 0, square = 0;
    double most = fmax(fabs(out->least), fabs(out->greatest));
    double unit = most > HUGE_VALUE ? most : 1; /* squares stay finite */
    for (size_t i = 0; i < h->n; i++) {
        const double *row = h->rows + i * 3;
        mean += (row[2] * scale / total) * (row[0] * 0.5 + row[1] * 0.5);
    }
    for (size_t i = 0; i < h->n; i++) {
        const double *row = h->rows + i * 3;
        double a = row[0] / unit - mean / unit, b = row[1] / unit - mean / unit;
        square += (row[2] * scale / total) * (a * a / 3 + a * b / 3 + b * b / 3);
    }
    out->mean = mean;
    out->deviation = sqrt(fmax(square, 0)) * unit;
}

/* TensorBoard's percentiles, but for buckets that are wider than the greatest number. */
static void find_percentiles(const sb_histo_rows *h, double scale, double total,
                             sb_histo_facts *out) {
    sb_distribution_of(h, out->percentiles);
    for (size_t k = 0; k < SB_DISTRIBUTION_POINTS; k++)
        if (!isfinite(out->percentiles[k]))
            out->percentiles[k] = value_at(h, scale, total * (sb_distribution_bps[k] / 10000));
}

/* Sums that the log has are exact, if they are about as many values as the buckets count. */
static void add_moments(const sb_histo_rows *h, double scale, double total, sb_histo_facts *out) {
    estimate_moments(h, scale, total, out);
    if (!h->has_sums || !(fabs(h->num - out->total) <= out->total * 1e-6)) return;
    double mean = h->sum / h->num;
    double square = h->sum_squares / h->num - mean * mean;
    if (!isfinite(mean) || !isfinite(square)) return;
    out->mean = mean;
    out->deviation = sqrt(fmax(square, 0));
}

static void find_ends(const sb_histo_rows *h, sb_histo_facts *out) {
    out->least = INFINITY;
    out->greatest = -INFINITY;
    for (size_t i = 0; i < h->n; i++) {
        const double *row = h->rows + i * 3;
        if (!(row[2] > 0)) continue;
        if (row[0] < out->least) out->least = row[0];
        if (row[1] > out->greatest) out->greatest = row[1];
    }
}

sb_status sb_histo_facts_of(const sb_histo_rows *rows, sb_arena *arena, sb_histo_rows *clean,
                            sb_histo_facts *out) {
    *out = (sb_histo_facts){
        .least = NAN, .greatest = NAN, .low = NAN, .high = NAN, .mean = NAN, .deviation = NAN};
    for (size_t i = 0; i < SB_DISTRIBUTION_POINTS; i++) out->percentiles[i] = NAN;
    sb_status status = clean_rows(rows, arena, clean, &out->marks);
    if (status != SB_OK) return status;
    double scale = count_scale(clean);
    double total = scaled_total(clean, scale);
    if (!(total > 0)) {
        out->marks |= SB_HISTO_EMPTY;
        return SB_OK;
    }
    out->total = fmin(total / scale, DBL_MAX);
    find_ends(clean, out);
    out->low = value_at(clean, scale, total * TAIL);
    out->high = value_at(clean, scale, total * (1 - TAIL));
    add_moments(clean, scale, total, out);
    find_percentiles(clean, scale, total, out);
    return SB_OK;
}

/* ---- the range of a picture ------------------------------------------------------------------ */

static int by_value(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool can_be_drawn(const sb_histo_facts *f) {
    return !(f->marks & (SB_HISTO_EMPTY | SB_HISTO_UNREADABLE));
}

static sb_value_range whole_range(const sb_histo_facts *facts, size_t n) {
    sb_value_range all = {INFINITY, -INFINITY};
    for (size_t i = 0; i < n; i++) {
        if (!can_be_drawn(&facts[i])) continue;
        all.low = fmin(all.low, facts[i].least);
        all.high = fmax(all.high, facts[i].greatest);
    }
    return all;
}

/* The range of the steps that are not outliers. ends: room for 2 * n numbers. */
static sb_value_range usual_range(const sb_histo_facts *facts, size_t n, double *ends) {
    double *lows = ends, *highs = ends + n;
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        if (!can_be_drawn(&facts[i])) continue;
        lows[k] = facts[i].low;
        highs[k++] = facts[i].high;
    }
    qsort(lows, k, sizeof *lows, by_value);
    qsort(highs, k, sizeof *highs, by_value);
    double low = lows[k / 4], high = highs[k - 1 - k / 4];
    double width = fmax(high - low, 0);
    sb_value_range out = {low, high};
    for (size_t i = k / 4; i-- > 0 && lows[i] >= low - FENCE * width;) out.low = lows[i];
    for (size_t i = k - k / 4; i < k && highs[i] <= high + FENCE * width; i++) out.high = highs[i];
    return out;
}

/* A range of some width around a single value: TensorBoard's where all values are asked for. */
static sb_value_range around(double v, bool is_all) {
    sb_value_range out = {v / 1.1 - 1, v * 1.1 + 1};
    if (is_all && out.low < out.high && isfinite(out.low) && isfinite(out.high)) return out;
    double room = v != 0 ? fabs(v) * 0.5 : 0.5;
    if (!(room > 0)) room = DBL_MIN;
    out = (sb_value_range){v - room, v + room};
    return (sb_value_range){fmax(out.low, -DBL_MAX), fmin(out.high, DBL_MAX)};
}

sb_status sb_histo_range_of(const sb_histo_facts *facts, size_t n, bool is_all, sb_arena *arena,
                            sb_value_range *out) {
    sb_value_range all = whole_range(facts, n);
    *out = (sb_value_range){0, 1};
    if (!(all.low <= all.high)) return SB_OK;
    *out = all;
    if (!is_all) {
        sb_arena_mark mark = sb_arena_here(arena);
        double *ends = sb_arena_zeroed(arena, n, 2 * sizeof *ends);
        if (!ends) return SB_NOMEM;
        sb_value_range usual = usual_range(facts, n, ends);
        sb_arena_reset(arena, mark);
        double room = half_between(usual.low, usual.high);
        if (half_between(all.low, all.high) > room * HARDLY) *out = usual;
    }
    if (!(out->low < out->high)) *out = around(out->low, is_all);
    return SB_OK;
}

/* ---- bins ------------------------------------------------------------------------------------ */

static double to_log(double v, double near) {
    return copysign(log1p(fabs(v) / near), v);
}

static double from_log(double u, double near) {
    return copysign(expm1(fabs(u)) * near, u);
}

void sb_histo_edges(sb_value_range range, bool is_log, size_t bins, double *edges, double *near) {
    double most = fmax(fabs(range.low), fabs(range.high));
    *near = is_log ? pow(10, floor(log10(most)) - LOG_DECADES) : 0;
    if (!(*near > 0)) *near = is_log ? DBL_MIN : 0;
    double from = is_log ? to_log(range.low, *near) : range.low;
    double to = is_log ? to_log(range.high, *near) : range.high;
    double half_width = half_between(from, to) / (double)bins;
    for (size_t i = 0; i <= bins; i++) {
        double at = from + 2 * half_width * (double)i;
        /* where the width is larger than any number, in two halves */
        if (!isfinite(at)) at = from + half_width * (double)i + half_width * (double)i;
        edges[i] = is_log ? from_log(at, *near) : at;
    }
    edges[0] = range.low;
    edges[bins] = range.high;
    for (size_t i = 1; i <= bins; i++)
        if (!(edges[i] >= edges[i - 1])) edges[i] = edges[i - 1];
}

/* The bin that begins at or before v, which is not below the first edge. */
static size_t bin_of(double v, const double *edges, size_t bins) {
    size_t next;
    SB_PARTITION_POINT(next, 1, bins, edges[next] <= v);
    return next - 1;
}

/* A bucket of one value; the last bin has its right edge too. */
static void add_to_bins(double v, double share, const double *edges, size_t bins, float *shares,
                        double *below, double *above) {
    if (v < edges[0])
        *below += share;
    else if (v > edges[bins])
        *above += share;
    else
        shares[bin_of(v, edges, bins)] += (float)share;
}

static void add_bucket(const double *row, double share, const double *edges, size_t bins,
                       float *shares, double *below, double *above) {
    double left = row[0], right = row[1], half = half_between(left, right);
    if (!(half > 0)) {
        add_to_bins(left, share, edges, bins, shares, below, above);
        return;
    }
    double low = edges[0], high = edges[bins];
    if (left < low) *below += share * fmin(half_between(left, fmin(right, low)) / half, 1);
    if (right > high) *above += share * fmin(half_between(fmax(left, high), right) / half, 1);
    if (right <= low || left >= high) return;
    for (size_t i = left > low ? bin_of(left, edges, bins) : 0; i < bins && edges[i] < right; i++) {
        double inside = half_between(fmax(left, edges[i]), fmin(right, edges[i + 1]));
        if (inside > 0) shares[i] += (float)(share * (inside / half));
    }
}

void sb_histo_rebin(const sb_histo_rows *clean, const double *edges, size_t bins, float *shares,
                    float *below, float *above) {
    memset(shares, 0, bins * sizeof *shares);
    double scale = count_scale(clean), total = scaled_total(clean, scale);
    double under = 0, over = 0;
    for (size_t i = 0; i < clean->n && total > 0; i++) {
        const double *row = clean->rows + i * 3;
        if (row[2] > 0) add_bucket(row, row[2] * scale / total, edges, bins, shares, &under, &over);
    }
    *below = (float)under;
    *above = (float)over;
}
