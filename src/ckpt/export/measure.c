/* measure.c: statistics by Welford's method in blocks; the second pass fills the histogram. */
#include "ckpt/export/measure.h"

#include <math.h>

#include "base/slice.h"
#include "ckpt/bundle/bundle_int.h"
#include "codec/tensor.h"
#include "base/banned.h"

#define BLOCK 4096

/* Elements from memory as doubles (magnitudes of complex numbers). */
static void read_doubles(sb_dtype dtype, const uint8_t *p, size_t count, double *out) {
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
    sb_tensor_measure *m;
    sb_dtype dtype;
    size_t width;
    uint64_t finite;
    double sum_squares; /* of the distances from the mean so far */
    double squares;
    bool is_second;
} pass;

static void add_number(pass *p, double x) {
    sb_tensor_measure *m = p->m;
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
    sb_tensor_measure *m = p->m;
    if (!isfinite(x)) return;
    double range = m->max - m->min;
    double place = range > 0 && isfinite(range) ? (x - m->min) / range * SB_MEASURE_BINS : 0;
    size_t bin = place >= SB_MEASURE_BINS ? SB_MEASURE_BINS - 1 : (size_t)place;
    m->bins[bin]++;
}

static sb_status measure_block(void *ud, const uint8_t *bytes, size_t n, sb_err *err) {
    (void)err;
    pass *p = ud;
    double numbers[BLOCK];
    for (size_t at = 0, count = n / p->width; at < count;) {
        size_t some = count - at < BLOCK ? count - at : BLOCK;
        read_doubles(p->dtype, bytes + at * p->width, some, numbers);
        for (size_t i = 0; i < some; i++)
            p->is_second ? put_into_bin(p, numbers[i]) : add_number(p, numbers[i]);
        at += some;
    }
    return SB_OK;
}

sb_status sb_measure_tensor(sb_tensor_measure *out, sb_bundle *b, const sb_bundle_tensor *t,
                            sb_err *err) {
    *out = (sb_tensor_measure){0};
    pass p = {.m = out, .dtype = t->dtype, .width = sb_bundle_width(t)};
    sb_status status = sb_bundle_stream(b, t, measure_block, &p, err);
    if (status != SB_OK) return status;
    out->std = p.finite ? sqrt(p.sum_squares / (double)p.finite) : 0;
    out->l2 = sqrt(p.squares);
    p.is_second = true;
    return sb_bundle_stream(b, t, measure_block, &p, err);
}

/* ---- differences ----------------------------------------------------------------------------- */

/* One of the two sides: the bytes that were read and not yet compared. */
typedef struct side {
    sb_bundle_cursor *cursor;
    sb_dtype dtype;
    size_t width;
    sb_slice bytes;
} side;

/* Reads on when all was compared; no bytes: the end. */
static sb_status fill(side *s, sb_err *err) {
    return s->bytes.n ? SB_OK : sb_bundle_cursor_next(s->cursor, &s->bytes, err);
}

static void next_doubles(side *s, size_t count, double *out) {
    read_doubles(s->dtype, s->bytes.p, count, out);
    s->bytes.p += count * s->width;
    s->bytes.n -= count * s->width;
}

static void compare_block(sb_tensor_difference *d, double *squares, const double *x,
                          const double *y, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (x[i] == y[i] || (isnan(x[i]) && isnan(y[i]))) continue;
        double distance = fabs(x[i] - y[i]);
        d->count++;
        *squares += distance * distance;
        if (!(distance <= d->max)) d->max = distance;
    }
}

static sb_status compare_sides(sb_tensor_difference *out, side sides[2], sb_err *err) {
    double numbers[2][BLOCK], squares = 0;
    for (;;) {
        sb_status status = fill(&sides[0], err);
        if (status == SB_OK) status = fill(&sides[1], err);
        if (status != SB_OK) return status;
        size_t count = sides[0].bytes.n / sides[0].width, other = sides[1].bytes.n / sides[1].width;
        if (other < count) count = other;
        if (count > BLOCK) count = BLOCK;
        if (count == 0) break; /* both have as many elements */
        for (int i = 0; i < 2; i++) next_doubles(&sides[i], count, numbers[i]);
        compare_block(out, &squares, numbers[0], numbers[1], count);
    }
    out->l2 = sqrt(squares);
    return SB_OK;
}

sb_status sb_measure_difference(sb_tensor_difference *out, sb_bundle *a, const sb_bundle_tensor *x,
                                sb_bundle *b, const sb_bundle_tensor *y, sb_err *err) {
    *out = (sb_tensor_difference){0};
    if (x->count != y->count)
        return sb_fail(err, SB_INVALID, 0, "'%.*s': the two have different shapes",
                       SB_SHOWN(x->name));
    side sides[2] = {{.dtype = x->dtype, .width = sb_bundle_width(x)},
                     {.dtype = y->dtype, .width = sb_bundle_width(y)}};
    sb_status status = sb_bundle_cursor_open(&sides[0].cursor, a, x, err);
    if (status == SB_OK) status = sb_bundle_cursor_open(&sides[1].cursor, b, y, err);
    if (status == SB_OK) status = compare_sides(out, sides, err);
    sb_bundle_cursor_close(sides[0].cursor);
    sb_bundle_cursor_close(sides[1].cursor);
    return status;
}
