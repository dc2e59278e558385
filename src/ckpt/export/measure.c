/* measure.c: statistics by Welford's method in blocks; the second pass fills the histogram. */
#include "ckpt/export/measure.h"

#include <math.h>

#include "base/slice.h"
#include "ckpt/bundle/bundle_int.h"
#include "codec/tensor.h"
#include "base/banned.h"

#define BLOCK 4096

void sb_measure_doubles(sb_dtype dtype, const uint8_t *p, size_t count, double *out) {
    size_t width = sb_dtype_size(dtype);
    sb_tensor_view view = {
        .dtype = dtype, .rank = 0, .count = count, .content = sb_slice_of(p, count * width)};
    if (!sb_dtype_complex(dtype)) {
        if (sb_tensor_doubles(&view, 0, count, out) != SB_OK)
            for (size_t i = 0; i < count; i++) out[i] = 0;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        double pair[2] = {0, 0};
        sb_tensor_complex(&view, i, 1, pair);
        out[i] = hypot(pair[0], pair[1]);
    }
}

typedef struct pass {
    sb_measure *m;
    sb_dtype dtype;
    size_t width;
    uint64_t finite;
    double sum_squares; /* of the distances from the mean so far */
    double squares;
    bool is_second;
} pass;

static void take_number(pass *p, double x) {
    sb_measure *m = p->m;
    m->count++;
    if (isnan(x)) {
        m->nans++;
        return;
    }
    if (isinf(x)) {
        m->infs++;
        return;
    }
    if (x == 0) m->zeros++;
    if (p->finite == 0 || x < m->min) m->min = x;
    if (p->finite == 0 || x > m->max) m->max = x;
    double distance = x - m->mean;
    m->mean += distance / (double)++p->finite;
    p->sum_squares += distance * (x - m->mean);
    p->squares += x * x;
}

static void put_into_bin(pass *p, double x) {
    sb_measure *m = p->m;
    if (!isfinite(x)) return;
    double range = m->max - m->min;
    double place = range > 0 && isfinite(range) ? (x - m->min) / range * SB_MEASURE_BINS : 0;
    size_t bin = place >= SB_MEASURE_BINS ? SB_MEASURE_BINS - 1 : (size_t)place;
    m->bins[bin]++;
}

static sb_status take(void *ud, const uint8_t *bytes, size_t n, sb_err *err) {
    (void)err;
    pass *p = ud;
    double numbers[BLOCK];
    for (size_t at = 0, count = n / p->width; at < count;) {
        size_t some = count - at < BLOCK ? count - at : BLOCK;
        sb_measure_doubles(p->dtype, bytes + at * p->width, some, numbers);
        for (size_t i = 0; i < some; i++)
            p->is_second ? put_into_bin(p, numbers[i]) : take_number(p, numbers[i]);
        at += some;
    }
    return SB_OK;
}

sb_status sb_measure_tensor(sb_measure *out, sb_bundle *b, const sb_bundle_tensor *t, sb_err *err) {
    *out = (sb_measure){0};
    pass p = {.m = out, .dtype = t->dtype, .width = sb_bundle_width(t)};
    sb_status status = sb_bundle_stream(b, t, take, &p, err);
    if (status != SB_OK) return status;
    out->std = p.finite ? sqrt(p.sum_squares / (double)p.finite) : 0;
    out->l2 = sqrt(p.squares);
    p.is_second = true;
    return sb_bundle_stream(b, t, take, &p, err);
}

/* ---- differences ----------------------------------------------------------------------------- */

typedef struct compare {
    sb_difference *d;
    sb_dtype x_dtype, y_dtype;
    size_t x_width, y_width;
    const uint8_t *y; /* the second tensor, from here on */
    double squares;
} compare;

static sb_status take_both(void *ud, const uint8_t *bytes, size_t n, sb_err *err) {
    (void)err;
    compare *c = ud;
    double x[BLOCK], y[BLOCK];
    for (size_t at = 0, count = n / c->x_width; at < count;) {
        size_t some = count - at < BLOCK ? count - at : BLOCK;
        sb_measure_doubles(c->x_dtype, bytes + at * c->x_width, some, x);
        sb_measure_doubles(c->y_dtype, c->y, some, y);
        for (size_t i = 0; i < some; i++) {
            if (x[i] == y[i] || (isnan(x[i]) && isnan(y[i]))) continue;
            double distance = fabs(x[i] - y[i]);
            c->d->count++;
            c->squares += distance * distance;
            if (!(distance <= c->d->max)) c->d->max = distance;
        }
        c->y += some * c->y_width;
        at += some;
    }
    return SB_OK;
}

sb_status sb_measure_difference(sb_difference *out, sb_bundle *a, const sb_bundle_tensor *x,
                                sb_bundle *b, const sb_bundle_tensor *y, sb_err *err) {
    *out = (sb_difference){0};
    if (x->count != y->count)
        return sb_fail(err, SB_INVALID, 0, "'%.*s': the two have different shapes",
                       SB_SHOWN(x->name));
    sb_buf second;
    sb_buf_init(&second, b->alloc, SIZE_MAX);
    sb_status status = sb_bundle_read(b, y, &second, err);
    compare c = {.d = out,
                 .x_dtype = x->dtype,
                 .y_dtype = y->dtype,
                 .x_width = sb_bundle_width(x),
                 .y_width = sb_bundle_width(y),
                 .y = second.p};
    if (status == SB_OK) status = sb_bundle_stream(a, x, take_both, &c, err);
    out->l2 = sqrt(c.squares);
    sb_buf_fini(&second);
    return status;
}
