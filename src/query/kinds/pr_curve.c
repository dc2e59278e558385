/* pr_curve.c: curves out of tensors. */
#include "query/kinds/pr_curve.h"

#include <math.h>

#include "base/checked.h"
#include "query/records/value.h"
#include "base/banned.h"

enum { TP, FP, TN, FN, PRECISION, RECALL, ROWS };

static int64_t whole(double x) {
    if (isnan(x)) return 0;
    if (x >= 9223372036854775807.0) return INT64_MAX;
    return x <= -9223372036854775808.0 ? INT64_MIN : (int64_t)x;
}

/* Sums wrap as they do in numpy. It takes more examples than anybody has to see that. */
static bool has_positives(const int64_t *tp, const int64_t *fp, size_t i) {
    return (uint64_t)tp[i] + (uint64_t)fp[i] != 0;
}

/* numpy's linspace(0, 1, n): multiples of one step, the last exactly 1. */
static void spread_thresholds(double *to, size_t kept, size_t n) {
    double step = n > 1 ? 1.0 / (double)(n - 1) : 0;
    for (size_t i = 0; i < kept; i++) to[i] = (double)i * step;
    if (n > 1 && kept == n) to[n - 1] = 1;
}

sb_status sb_pr_curve_of(const sb_tensor_view *t, size_t max, sb_arena *arena,
                         sb_pr_curve_point *out, sb_err *err) {
    if (t->rank != 2 || t->dims[0] != ROWS || t->dims[1] < 1)
        return sb_fail(err, SB_CORRUPT, 0, "a curve is a tensor of shape [6, n]");
    size_t n = (size_t)t->dims[1], bytes;
    if (n > max) return sb_fail(err, SB_LIMIT, 0, "a curve of %zu thresholds", n);
    double *rows = NULL, *thresholds = NULL;
    int64_t *counts = NULL;
    if (sb_mul_size(&bytes, n, ROWS * sizeof(double))) {
        rows = sb_arena_get(arena, bytes);
        counts = sb_arena_get(arena, bytes);
        thresholds = sb_arena_get(arena, n * sizeof *thresholds);
    }
    if (!rows || !counts || !thresholds) return sb_fail_nomem(err, "for a curve");
    if (sb_tensor_doubles(t, 0, n * ROWS, rows) != SB_OK)
        return sb_fail(err, SB_CORRUPT, 0, "the tensor holds no numbers");
    for (size_t i = 0; i < n * PRECISION; i++) counts[i] = whole(rows[i]);
    size_t kept = n;
    while (kept > 1 && !has_positives(counts, counts + FP * n, kept - 1)) kept--;
    spread_thresholds(thresholds, kept, n);
    out->n = kept;
    out->true_positives = counts;
    out->false_positives = counts + FP * n;
    out->true_negatives = counts + TN * n;
    out->false_negatives = counts + FN * n;
    out->precision = rows + PRECISION * n;
    out->recall = rows + RECALL * n;
    out->thresholds = thresholds;
    return SB_OK;
}

typedef struct reading {
    const sb_ref_item *items;
    size_t max;
    sb_arena *arena;
    sb_pr_curve_point *out;
} reading;

static sb_status take_pr_curve(void *ud, size_t index, sb_status status, sb_slice payload,
                               const sb_err *err) {
    (void)err;
    reading *r = ud;
    sb_tensor_view t;
    if (status == SB_OK) status = sb_ref_tensor(&r->items[index].ref, payload, &t, NULL);
    if (status == SB_OK) status = sb_pr_curve_of(&t, r->max, r->arena, &r->out[index], NULL);
    r->out[index].status = status;
    return status == SB_NOMEM ? SB_NOMEM : SB_OK;
}

sb_status sb_pr_curves_read(sb_blob_cache *blobs, sb_run *run, const sb_ref_item *items, size_t n,
                            size_t max_bytes, const sb_budget *budget, sb_arena *arena,
                            sb_pr_curve_point *out, sb_err *err) {
    for (size_t i = 0; i < n; i++)
        out[i] = (sb_pr_curve_point){
            .step = items[i].step, .wall = items[i].wall, .superseded = items[i].superseded};
    reading r = {items, max_bytes / sizeof(double), arena, out};
    sb_status status =
        sb_blob_read_many(blobs, run, items, n, max_bytes, budget, arena, take_pr_curve, &r, err);
    return status == SB_NOMEM ? sb_fail_nomem(err, "for curves") : status;
}
