/* histogram.c: rows and distributions. */
#include "query/kinds/histogram.h"

#include <math.h>

#include "base/checked.h"
#include "base/half.h"
#include "codec/tensor.h"
#include "query/records/value.h"
#include "base/banned.h"

static double *rows_for(sb_arena *arena, size_t n) {
    size_t bytes;
    if (!sb_mul_size(&bytes, n, 3 * sizeof(double))) return NULL;
    return sb_arena_get(arena, bytes);
}

/* ---- new style ------------------------------------------------------------------------------- */

static sb_status rows_of_tensor(sb_slice body, size_t max_rows, sb_arena *arena, sb_histo_rows *out,
                                sb_err *err) {
    sb_tensor_view t;
    if (sb_tensor_read(&t, body) != SB_OK)
        return sb_fail(err, SB_CORRUPT, 0, "the tensor is damaged");
    if (t.rank != 2 || t.dims[1] != 3)
        return sb_fail(err, SB_CORRUPT, 0, "a histogram is a tensor of shape [n, 3]");
    if (t.count / 3 > max_rows)
        return sb_fail(err, SB_LIMIT, 0, "a histogram of %zu rows", t.count / 3);
    out->n = (size_t)t.dims[0];
    double *rows = rows_for(arena, out->n);
    if (!rows) return sb_fail_nomem(err, "for a histogram");
    if (sb_tensor_doubles(&t, 0, out->n * 3, rows) != SB_OK)
        return sb_fail(err, SB_CORRUPT, 0, "the tensor holds no numbers");
    out->rows = rows;
    return SB_OK;
}

/* ---- old style ------------------------------------------------------------------------------- */

/* rows: left and right from the limits, count; buckets from..to of all. */
static void fill_rows(double *rows, const sb_summary_histo *h, const double *limits,
                      const double *counts, size_t from, size_t to, bool trimmed) {
    for (size_t i = from; i < to; i++, rows += 3) {
        rows[0] = i == from ? h->min : limits[i - 1];
        rows[1] = i + 1 == to ? h->max : limits[i];
        rows[2] = counts[i];
        if (!trimmed) continue;
        for (size_t k = 0; k < 3; k++) rows[k] = sb_round_to_float(rows[k]);
        if (rows[0] <= rows[1] || isnan(rows[0]) || isnan(rows[1])) continue;
        if (i == from)
            rows[0] = rows[1];
        else
            rows[1] = rows[0];
    }
}

/* Limits in place of a min or max that is not finite; true when there was such a one. */
static bool mend_ends(sb_summary_histo *h, const double *limits, size_t from, size_t to) {
    bool is_odd = !isfinite(h->min) || !isfinite(h->max);
    if (!isfinite(h->min)) h->min = from > 0 ? limits[from - 1] : limits[from];
    if (!isfinite(h->max)) h->max = limits[to - 1];
    return is_odd;
}

static sb_status rows_of_histo(sb_slice body, sb_histo_form form, sb_arena *arena,
                               sb_histo_rows *out, sb_err *err) {
    sb_summary_histo h;
    if (sb_summary_histo_read(&h, body) != SB_OK)
        return sb_fail(err, SB_CORRUPT, 0, "the histogram is damaged");
    size_t n = h.buckets.count, bytes;
    double *limits = NULL, *counts = NULL;
    if (sb_mul_size(&bytes, n, sizeof *limits)) {
        limits = sb_arena_get(arena, bytes);
        counts = sb_arena_get(arena, bytes);
    }
    if (!limits || !counts) return sb_fail_nomem(err, "for a histogram");
    sb_doubles_copy(&h.limits, 0, n, limits);
    sb_doubles_copy(&h.buckets, 0, n, counts);
    size_t from = 0, to = n;
    bool trimmed = form != SB_HISTO_WHOLE;
    if (trimmed) {
        while (from < n && !(counts[from] > 0)) from++;
        while (to > from && !(counts[to - 1] > 0)) to--;
    }
    out->n = to - from;
    double *rows = rows_for(arena, out->n);
    if (!rows) return sb_fail_nomem(err, "for a histogram");
    out->has_sums = true;
    out->num = h.num;
    out->sum = h.sum;
    out->sum_squares = h.sum_squares;
    if (form == SB_HISTO_DRAWN && out->n) out->has_odd_ends = mend_ends(&h, limits, from, to);
    fill_rows(rows, &h, limits, counts, from, to, trimmed);
    out->rows = rows;
    return SB_OK;
}

sb_status sb_histo_of_value(const sb_value *value, sb_histo_form form, size_t max_rows,
                            sb_arena *arena, sb_histo_rows *out, sb_err *err) {
    *out = (sb_histo_rows){0};
    if (value->kind == SB_VALUE_KIND_TENSOR)
        return rows_of_tensor(value->body, max_rows, arena, out, err);
    if (value->kind == SB_VALUE_KIND_HISTO)
        return rows_of_histo(value->body, form, arena, out, err);
    return sb_fail(err, SB_CORRUPT, 0, "the value is no histogram");
}

/* ---- many ------------------------------------------------------------------------------------ */

typedef struct reading {
    const sb_ref_item *items;
    sb_histo_form form;
    size_t max_rows;
    sb_arena *arena;
    sb_histo_point *out;
} reading;

static sb_status take_histogram(void *ud, size_t index, sb_status status, sb_slice payload,
                                const sb_err *err) {
    (void)err;
    reading *r = ud;
    sb_histo_point *point = &r->out[index];
    sb_value value;
    if (status == SB_OK) status = sb_ref_value(&r->items[index].ref, payload, &value, NULL);
    if (status == SB_OK)
        status = sb_histo_of_value(&value, r->form, r->max_rows, r->arena, &point->histo, NULL);
    if (status != SB_OK) point->histo = (sb_histo_rows){0};
    point->status = status;
    return status == SB_NOMEM ? SB_NOMEM : SB_OK;
}

sb_status sb_histos_read(sb_blob_cache *blobs, sb_run *run, const sb_ref_item *items, size_t n,
                         sb_histo_form form, size_t max_bytes, const sb_budget *budget,
                         sb_arena *arena, sb_histo_point *out, sb_err *err) {
    for (size_t i = 0; i < n; i++)
        out[i] = (sb_histo_point){
            .step = items[i].step, .wall = items[i].wall, .superseded = items[i].superseded};
    reading r = {items, form, max_bytes / sizeof(double), arena, out};
    sb_status status =
        sb_blob_read_many(blobs, run, items, n, max_bytes, budget, arena, take_histogram, &r, err);
    return status == SB_NOMEM ? sb_fail_nomem(err, "for histograms") : status;
}

/* ---- distributions --------------------------------------------------------------------------- */

const double sb_distribution_bps[SB_DISTRIBUTION_POINTS] = {0,    668,  1587, 3085, 5000,
                                                            6915, 8413, 9332, 10000};

/* numpy adds numbers in pairs of blocks; the sum's last bit shows in the values. */
static double pairwise_sum(const double *rows, size_t n) {
    if (n < 8) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) sum += rows[i * 3 + 2];
        return sum;
    }
    if (n <= 128) {
        double r[8];
        size_t i = 8;
        for (size_t k = 0; k < 8; k++) r[k] = rows[k * 3 + 2];
        for (; i + 8 <= n; i += 8)
            for (size_t k = 0; k < 8; k++) r[k] += rows[(i + k) * 3 + 2];
        double sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
        for (; i < n; i++) sum += rows[i * 3 + 2];
        return sum;
    }
    size_t half = n / 2;
    half -= half % 8;
    return pairwise_sum(rows, half) + pairwise_sum(rows + half * 3, n - half);
}

/* The running weights, computed again from the front as they are needed: basis points ascend. */
typedef struct weights {
    const double *rows;
    size_t n, i; /* the bucket whose weight is `here` */
    double total;
    double before, here;
} weights;

static double share(const weights *w, size_t i) {
    return w->rows[i * 3 + 2] * 10000 / w->total;
}

static void next_bucket(weights *w) {
    w->before = w->here;
    if (++w->i < w->n) w->here += share(w, w->i);
}

void sb_distribution_of(const sb_histo_rows *histo, double values[SB_DISTRIBUTION_POINTS]) {
    const double *rows = histo->rows;
    size_t n = histo->n;
    if (n == 0) {
        for (size_t k = 0; k < SB_DISTRIBUTION_POINTS; k++) values[k] = 0;
        return;
    }
    double first_left = rows[0], last_right = rows[(n - 1) * 3 + 1];
    double sum = pairwise_sum(rows, n);
    weights w = {.rows = rows, .n = n, .total = sum != 0 ? sum : 1};
    w.here = share(&w, 0);
    for (size_t k = 0; k < SB_DISTRIBUTION_POINTS; k++) {
        double bp = sb_distribution_bps[k];
        /* NaN counts as large, as it does for numpy */
        while (w.i < n && (w.here <= bp || w.here == w.before)) next_bucket(&w);
        if (w.i == n) {
            values[k] = last_right;
            continue;
        }
        double left = first_left;
        if (w.i > 0 && w.before != 0) {
            left = rows[(w.i - 1) * 3 + 1];
            if (left < first_left) left = first_left;
        }
        double right = rows[w.i * 3 + 1];
        if (last_right < right) right = last_right;
        values[k] = left + (bp - w.before) * (right - left) / (w.here - w.before);
    }
}
