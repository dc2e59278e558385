/* tensor_values.c: the elements of a tensor as numbers.
 *
 * Three sources: raw bytes (tensor_content, and fixed-size typed values that lie in one piece), and
 * typed values scattered over fields or coded as varints. Float and double, the bulk of all
 * tensors, go from raw bytes by plain loops that the compiler turns into vector moves. */
#include "base/bytes.h"
#include "base/half.h"
#include "codec/float8.h"
#include "codec/tensor_int.h"
#include "base/banned.h"

static int64_t cut_to_int(double x) {
    if (x != x) return 0;
    if (x >= 0x1p63) return INT64_MAX;
    if (x < -0x1p63) return INT64_MIN;
    return (int64_t)x;
}

static sb_number of_real(double x) {
    return (sb_number){.re = x, .i = cut_to_int(x)};
}

static sb_number of_int(int64_t x) {
    return (sb_number){.re = (double)x, .i = x};
}

static sb_number of_uint64(uint64_t x) {
    return (sb_number){.re = (double)x, .i = (int64_t)x};
}

/* The integer types, from bits that are wide enough: each is cut to its own width. */
static sb_number of_int_bits(sb_dtype dtype, uint64_t bits) {
    switch (dtype) {
    case SB_INT32:
    case SB_QINT32:
        return of_int((int32_t)(uint32_t)bits);
    case SB_UINT32:
        return of_int((uint32_t)bits);
    case SB_INT16:
    case SB_QINT16:
        return of_int((int16_t)(uint16_t)bits);
    case SB_UINT16:
    case SB_QUINT16:
        return of_int((uint16_t)bits);
    case SB_INT8:
    case SB_QINT8:
        return of_int((int8_t)(uint8_t)bits);
    case SB_UINT8:
    case SB_QUINT8:
        return of_int((uint8_t)bits);
    case SB_INT4:
        return of_int((int64_t)((bits & 0xF) ^ 0x8) - 0x8);
    case SB_UINT4:
        return of_int((int64_t)(bits & 0xF));
    case SB_INT2:
        return of_int((int64_t)((bits & 0x3) ^ 0x2) - 0x2);
    case SB_UINT2:
        return of_int((int64_t)(bits & 0x3));
    case SB_BOOL:
        return of_int(bits != 0);
    case SB_UINT64:
        return of_uint64(bits);
    default:
        return of_int((int64_t)bits);
    }
}

sb_number sb_number_of_bits(sb_dtype dtype, bool wide_half, uint64_t re, uint64_t im) {
    sb_number x;
    switch (dtype) {
    case SB_FLOAT:
    case SB_COMPLEX64:
        x = of_real((double)sb_bits_float((uint32_t)re));
        x.im = (double)sb_bits_float((uint32_t)im);
        return x;
    case SB_DOUBLE:
    case SB_COMPLEX128:
        x = of_real(sb_bits_double(re));
        x.im = sb_bits_double(im);
        return x;
    case SB_HALF:
    case SB_BFLOAT16:
        if (wide_half) return of_real((double)sb_bits_float((uint32_t)re));
        return of_real((double)(dtype == SB_HALF ? sb_half_to_float((uint16_t)re)
                                                 : sb_bfloat16_to_float((uint16_t)re)));
    default:
        if (sb_dtype_small_float(dtype))
            return of_real((double)sb_float8_to_float(dtype, (uint8_t)re));
        return of_int_bits(dtype, re);
    }
}

sb_number sb_number_of_raw(sb_dtype dtype, const uint8_t *p) {
    switch (sb_dtype_size(dtype)) {
    case 1:
        return sb_number_of_bits(dtype, false, *p, 0);
    case 2:
        return sb_number_of_bits(dtype, false, sb_load16(p), 0);
    case 4:
        return sb_number_of_bits(dtype, false, sb_load32(p), 0);
    case 8:
        if (dtype == SB_COMPLEX64)
            return sb_number_of_bits(dtype, false, sb_load32(p), sb_load32(p + 4));
        return sb_number_of_bits(dtype, false, sb_load64(p), 0);
    case 16:
        return sb_number_of_bits(dtype, false, sb_load64(p), sb_load64(p + 8));
    default:
        return (sb_number){0};
    }
}

/* ---- walking ----------------------------------------------------------------------------------
 */

/* Goes over the elements in order, from any source. */
typedef struct walk {
    const sb_tensor_view *t;
    sb_typed_field typed;
    const uint8_t *raw; /* raw elements; NULL: scattered values */
    size_t raw_count;
    size_t element_size;
    size_t at;
    sb_pb c;
    sb_pb_many many;
    sb_number last;
} walk;

static walk walk_begin(const sb_tensor_view *t) {
    walk w = {.t = t, .typed = sb_tensor_typed_field(t->dtype), .many = {.state = 2}};
    w.element_size = sb_dtype_size(t->dtype);
    if (t->content.n) {
        w.raw = t->content.p;
        w.raw_count = t->count;
    } else if (t->run) {
        w.raw = t->run;
        w.raw_count = t->given;
    } else if (t->given) {
        w.c = sb_pb_over(t->message);
    }
    return w;
}

static bool next_bits(walk *w, uint64_t *bits) {
    while (sb_pb_many_next(&w->many, bits) != SB_PB_FIELD) {
        sb_pb_field f;
        do {
            if (sb_pb_next(&w->c, &f) != SB_PB_FIELD) return false;
        } while (f.number != w->t->field);
        w->many = sb_pb_many_of(&f, w->typed.wire);
    }
    return true;
}

static sb_number walk_next(walk *w) {
    size_t i = w->at++;
    if (w->raw) {
        size_t from = i < w->raw_count ? i : w->raw_count - 1;
        return sb_number_of_raw(w->t->dtype, w->raw + from * w->element_size);
    }
    uint64_t re, im = 0;
    /* Behind the last value given: it is repeated. Before the first: zero. */
    if (i >= w->t->given || !next_bits(w, &re)) return w->last;
    if (w->typed.values == 2 && !next_bits(w, &im)) return w->last;
    w->last = sb_number_of_bits(w->t->dtype, w->t->wide_half, re, im);
    return w->last;
}

static void walk_skip(walk *w, size_t n) {
    if (w->raw) {
        w->at += n;
        return;
    }
    /* Beyond the values given there is nothing to step over. */
    for (; n && w->at < w->t->given; n--) walk_next(w);
    w->at += n;
}

static bool range_is_inside(const sb_tensor_view *t, size_t from, size_t n) {
    return sb_dtype_numeric(t->dtype) && from <= t->count && n <= t->count - from;
}

sb_status sb_tensor_at(const sb_tensor_view *t, size_t i, sb_number *out) {
    if (!range_is_inside(t, i, 1)) return SB_INVALID;
    walk w = walk_begin(t);
    walk_skip(&w, i);
    *out = walk_next(&w);
    return SB_OK;
}

/* The elements that lie as raw values of this dtype in one piece; *n is cut to those. NULL when
 * there are none. */
static const uint8_t *raw_part(const sb_tensor_view *t, sb_dtype dtype, size_t from, size_t *n) {
    if (t->dtype != dtype || (t->content.n == 0 && !t->run)) return NULL;
    size_t have = t->content.n ? t->count : t->given;
    if (from >= have) return NULL;
    if (*n > have - from) *n = have - from;
    return (t->content.n ? t->content.p : t->run) + from * sb_dtype_size(dtype);
}

sb_status sb_tensor_doubles(const sb_tensor_view *t, size_t from, size_t n, double *out) {
    if (!range_is_inside(t, from, n)) return SB_INVALID;
    size_t done = n;
    const uint8_t *p;
    if ((p = raw_part(t, SB_DOUBLE, from, &done))) {
        for (size_t i = 0; i < done; i++) out[i] = sb_bits_double(sb_load64(p + 8 * i));
    } else if ((p = raw_part(t, SB_FLOAT, from, &done))) {
        for (size_t i = 0; i < done; i++) out[i] = (double)sb_bits_float(sb_load32(p + 4 * i));
    } else {
        done = 0;
    }
    walk w = walk_begin(t);
    walk_skip(&w, from + done);
    for (size_t i = done; i < n; i++) out[i] = walk_next(&w).re;
    return SB_OK;
}

sb_status sb_tensor_floats(const sb_tensor_view *t, size_t from, size_t n, float *out) {
    if (!range_is_inside(t, from, n)) return SB_INVALID;
    size_t done = n;
    const uint8_t *p;
    if ((p = raw_part(t, SB_FLOAT, from, &done))) {
        for (size_t i = 0; i < done; i++) out[i] = sb_bits_float(sb_load32(p + 4 * i));
    } else if ((p = raw_part(t, SB_DOUBLE, from, &done))) {
        for (size_t i = 0; i < done; i++) out[i] = (float)sb_bits_double(sb_load64(p + 8 * i));
    } else {
        done = 0;
    }
    walk w = walk_begin(t);
    walk_skip(&w, from + done);
    for (size_t i = done; i < n; i++) out[i] = (float)walk_next(&w).re;
    return SB_OK;
}

sb_status sb_tensor_complex(const sb_tensor_view *t, size_t from, size_t n, double *out) {
    if (!range_is_inside(t, from, n)) return SB_INVALID;
    walk w = walk_begin(t);
    walk_skip(&w, from);
    for (size_t i = 0; i < n; i++) {
        sb_number x = walk_next(&w);
        out[2 * i] = x.re;
        out[2 * i + 1] = x.im;
    }
    return SB_OK;
}
