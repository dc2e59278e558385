/* pixels_test.c: TensorFlow's two ways from numbers to pixels.
 *
 * Expected bytes come from tf.image.convert_image_dtype(x, tf.uint8, saturate=True) and from
 * tf.compat.v1.summary.image of TensorFlow 2.21; uint32 and uint64, which it refuses, continue the
 * row of the other types. */
#include "media/pixels.h"

#include <libdeflate.h>
#include <math.h>
#include <stdlib.h>

#include "base/half.h"
#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

typedef sb_status pixels_fn(sb_buf *, sb_pixel_shape *, const sb_array *, uint32_t, uint64_t,
                            sb_err *);

/* One picture of one row. The data is moved to an odd address first. */
static void row_becomes(pixels_fn *fn, const void *data, size_t size, sb_dtype dtype, size_t n,
                        int64_t channels, const uint8_t *expected) {
    uint8_t *odd = malloc(n * size + 1);
    assert_non_null(odd);
    memcpy(odd + 1, data, n * size);
    int64_t dims[4] = {1, 1, (int64_t)n / channels, channels};
    sb_array a = {.data = odd + 1, .dtype = dtype, .rank = 4, .dims = dims};
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 20);
    sb_pixel_shape shape;
    sb_err err = {0};
    assert_ok(fn(&out, &shape, &a, 3, 1 << 20, &err), &err);
    assert_int_equal(shape.width, dims[2]);
    assert_int_equal(shape.height, 1);
    assert_int_equal(shape.channels, channels);
    assert_int_equal(shape.frames, 1);
    assert_slice_equal(sb_buf_slice(&out), sb_slice_of(expected, n));
    sb_buf_fini(&out);
    free(odd);
}

#define TF2(dtype, type, expected, ...)                                                            \
    do {                                                                                           \
        const type values[] = {__VA_ARGS__};                                                       \
        const uint8_t bytes[] = expected;                                                          \
        assert_int_equal(SB_COUNT(values), SB_COUNT(bytes));                                       \
        row_becomes(sb_pixels_tf2, values, sizeof values[0], dtype, SB_COUNT(values), 1, bytes);   \
    } while (0)
#define BYTES(...)                                                                                 \
    { __VA_ARGS__ }

static const double floats[] = {0,
                                0.5,
                                1.0,
                                1.5,
                                -1,
                                0.25,
                                0.1,
                                0.999,
                                1.0 / 255,
                                254.0 / 255,
                                (double)NAN,
                                (double)INFINITY,
                                -(double)INFINITY,
                                1e30,
                                -1e30,
                                -0.0,
                                1e-45,
                                0.9980,
                                0.99805,
                                0.998};
enum { floats_n = SB_COUNT(floats) };

static void tf2_floats_are_scaled_and_cut_in_their_own_type(void **state) {
    (void)state;
    float single[floats_n];
    uint16_t half[floats_n], brain[floats_n];
    for (size_t i = 0; i < floats_n; i++) {
        single[i] = (float)floats[i];
        half[i] = sb_float_to_half(single[i]);
        brain[i] = sb_float_to_bfloat16(single[i]);
    }
    const uint8_t wide[] = {0, 127, 255, 255, 0, 63, 25, 255, 1,   254,
                            0, 255, 0,   255, 0, 0,  0,  254, 255, 254};
    const uint8_t halves[] = {0, 127, 255, 255, 0, 63, 25, 255, 1,   254,
                              0, 255, 0,   255, 0, 0,  0,  255, 255, 255};
    const uint8_t brains[] = {0, 128, 255, 255, 0, 64, 25, 255, 1,   255,
                              0, 255, 0,   255, 0, 0,  0,  255, 255, 255};
    row_becomes(sb_pixels_tf2, floats, 8, SB_DOUBLE, floats_n, 1, wide);
    row_becomes(sb_pixels_tf2, single, 4, SB_FLOAT, floats_n, 1, wide);
    row_becomes(sb_pixels_tf2, half, 2, SB_HALF, floats_n, 1, halves);
    row_becomes(sb_pixels_tf2, brain, 2, SB_BFLOAT16, floats_n, 1, brains);
}

/* All 65536 numbers of each 16-bit type, as a checksum over TensorFlow's pixels. */
static void tf2_every_16_bit_float_is_tensorflows(void **state) {
    (void)state;
    uint16_t *all = malloc(65536 * sizeof *all);
    assert_non_null(all);
    for (size_t i = 0; i < 65536; i++) all[i] = (uint16_t)i;
    const int64_t dims[] = {1, 256, 256, 1};
    sb_array a = {.data = all, .dtype = SB_HALF, .rank = 4, .dims = dims};
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 20);
    sb_pixel_shape shape;
    assert_ok(sb_pixels_tf2(&out, &shape, &a, 1, 1 << 20, NULL), NULL);
    assert_int_equal(libdeflate_crc32(0, out.p, out.n), 0x71249c56);
    sb_buf_clear(&out);
    a.dtype = SB_BFLOAT16;
    assert_ok(sb_pixels_tf2(&out, &shape, &a, 1, 1 << 20, NULL), NULL);
    assert_int_equal(libdeflate_crc32(0, out.p, out.n), 0x004ef109);
    sb_buf_fini(&out);
    free(all);
}

static void tf2_integers_keep_their_upper_bits(void **state) {
    (void)state;
    TF2(SB_UINT8, uint8_t, BYTES(0, 1, 254, 255), 0, 1, 254, 255);
    TF2(SB_INT8, int8_t, BYTES(0, 0, 0, 0, 2, 6, 126, 128, 200, 252, 254), -128, -64, -1, 0, 1, 3,
        63, 64, 100, 126, 127);
    TF2(SB_INT16, int16_t, BYTES(0, 0, 0, 0, 0, 0, 1, 127, 128, 255, 255), -32768, -16384, -1, 0, 1,
        127, 128, 16383, 16384, 32766, 32767);
    TF2(SB_UINT16, uint16_t, BYTES(0, 0, 0, 1, 127, 128, 255, 255), 0, 1, 255, 256, 32767, 32768,
        65534, 65535);
    TF2(SB_INT32, int32_t, BYTES(0, 0, 0, 0, 0, 0, 1, 127, 128, 255, 255), INT32_MIN, -1073741824,
        -1, 0, 127, 8388607, 8388608, 1073741823, 1073741824, 2147483646, INT32_MAX);
    TF2(SB_INT64, int64_t, BYTES(0, 0, 0, 0, 1, 127, 128, 255), INT64_MIN, -1, 127,
        36028797018963967, 36028797018963968, 4611686018427387903, 4611686018427387904, INT64_MAX);
    TF2(SB_UINT32, uint32_t, BYTES(0, 0, 1, 255), 0, 0xffffffu, 0x1000000u, UINT32_MAX);
    TF2(SB_UINT64, uint64_t, BYTES(0, 0, 1, 255), 0, 0xffffffffffffffu, 0x100000000000000u,
        UINT64_MAX);
}

#define TF1(type, channels, expected, ...)                                                         \
    do {                                                                                           \
        const double values[] = {__VA_ARGS__};                                                     \
        const uint8_t bytes[] = expected;                                                          \
        assert_int_equal(SB_COUNT(values), SB_COUNT(bytes));                                       \
        tf1_becomes(type, values, SB_COUNT(values), channels, bytes);                              \
    } while (0)

enum floats_as { as_all, as_double, as_single, as_half };

static void tf1_becomes(enum floats_as as, const double *values, size_t n, int64_t channels,
                        const uint8_t *expected) {
    float single[16];
    uint16_t half[16];
    assert_in_range(n, 1, 16);
    for (size_t i = 0; i < n; i++) {
        single[i] = (float)values[i];
        half[i] = sb_float_to_half(single[i]);
    }
    if (as == as_all || as == as_double) {
        row_becomes(sb_pixels_tf1, values, 8, SB_DOUBLE, n, channels, expected);
    }
    if (as == as_all || as == as_single) {
        row_becomes(sb_pixels_tf1, single, 4, SB_FLOAT, n, channels, expected);
    }
    if (as == as_all || as == as_half) {
        row_becomes(sb_pixels_tf1, half, 2, SB_HALF, n, channels, expected);
    }
}

static void tf1_stretches_each_picture(void **state) {
    (void)state;
    TF1(as_all, 1, BYTES(0, 63, 127, 255), 0, 0.25, 0.5, 1);
    TF1(as_all, 1, BYTES(255, 85, 170, 59), 3, 1, 2, 0.7);
    TF1(as_all, 1, BYTES(1, 128, 191, 255), -1, 0, 0.5, 1);
    TF1(as_all, 1, BYTES(1, 170, 212, 250), -0.3, 0.1, 0.2, 0.29);
    TF1(as_all, 1, BYTES(255, 0, 116), 65504, 1, 30000);
    TF1(as_all, 1, BYTES(0, 255), -0.0, 1);
    const uint8_t bytes[] = {1, 2, 3, 255};
    row_becomes(sb_pixels_tf1, bytes, 1, SB_UINT8, 4, 1, bytes);
}

static void tf1_leaves_dark_pictures_even(void **state) {
    (void)state;
    TF1(as_all, 1, BYTES(0, 0), 0, 0);
    TF1(as_all, 1, BYTES(0, 0, 0), 0, 5e-7, 9e-7);
    TF1(as_all, 1, BYTES(128, 128), -5e-7, 9e-7);
    TF1(as_single, 1, BYTES(0, 85, 170, 255), 0, 1e-5, 2e-5, 3e-5);
    TF1(as_double, 1, BYTES(0, 170, 212, 255), -3e-5, 1e-5, 2e-5, 3e-5);
    TF1(as_single, 1, BYTES(1, 170, 212, 255), -3e-5, 1e-5, 2e-5, 3e-5);
    TF1(as_half, 1, BYTES(0, 0, 0, 0), 0, 0.001, 0.002, 0.003); /* its scale is infinite */
    TF1(as_half, 1, BYTES(0, 0, 0, 0), -3e-5, 1e-5, 2e-5, 3e-5);
    TF1(as_double, 1, BYTES(0, 0, 0), 1e300, 1e299, 1); /* its range is, as a float */
    TF1(as_double, 1, BYTES(128, 128, 128), -1e300, 1e299, 1);
    TF1(as_double, 1, BYTES(0, 255), -1e-300, 1);
}

static void tf1_paints_pixels_that_are_no_numbers_red(void **state) {
    (void)state;
    double nan = (double)NAN, inf = (double)INFINITY;
    TF1(as_all, 3, BYTES(255, 0, 0, 85, 170, 255, 255, 0, 0, 255, 170, 85), nan, 0, 1, 1, 2, 3, 0.5,
        inf, 0, 3, 2, 1);
    TF1(as_all, 1, BYTES(255, 255), nan, -inf);
    TF1(as_all, 4, BYTES(255, 0, 0, 255, 63, 127, 191, 255), nan, 0, 0, 0, 1, 2, 3, 4);
}

/* Every picture has a range of its own, and only the first max_outputs are kept. */
static void only_the_first_pictures_are_kept(void **state) {
    (void)state;
    static const float values[] = {0, 1, 0, 10, -1, 1, 0, 0.5f};
    static const uint8_t tf1[] = {0, 255, 0, 255, 1, 255}, tf2[] = {0, 255, 0, 255, 0, 255};
    const int64_t dims[] = {4, 1, 2, 1};
    sb_array a = {.data = values, .dtype = SB_FLOAT, .rank = 4, .dims = dims};
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 20);
    sb_pixel_shape shape;
    assert_ok(sb_pixels_tf1(&out, &shape, &a, 3, 6, NULL), NULL);
    assert_int_equal(shape.frames, 3);
    assert_ok(sb_pixels_tf2(&out, &shape, &a, 3, 6, NULL), NULL);
    assert_slice_equal(sb_slice_of(out.p, 6), sb_slice_of(tf1, 6));
    assert_slice_equal(sb_slice_of(out.p + 6, out.n - 6), sb_slice_of(tf2, 6));
    sb_buf_fini(&out);
}

static void no_pictures_are_no_failure(void **state) {
    (void)state;
    const int64_t dims[] = {0, 7, 5, 3};
    sb_array a = {.data = NULL, .dtype = SB_FLOAT, .rank = 4, .dims = dims};
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 20);
    pixels_fn *const both[] = {sb_pixels_tf1, sb_pixels_tf2};
    for (size_t i = 0; i < 2; i++) {
        sb_pixel_shape shape = {0};
        assert_ok(both[i](&out, &shape, &a, 3, 100, NULL), NULL);
        assert_int_equal(shape.frames, 0);
        assert_int_equal(shape.width, 5);
        assert_int_equal(shape.height, 7);
        assert_int_equal(out.n, 0);
    }
    sb_buf_fini(&out);
}

static void senseless_arrays_are_refused_unread(void **state) {
    (void)state;
    static const struct {
        sb_dtype dtype;
        uint32_t rank;
        int64_t dims[5];
        sb_status tf2, tf1;
    } cases[] = {
        {SB_FLOAT, 3, {2, 2, 3}, SB_INVALID, SB_INVALID},
        {SB_FLOAT, 5, {1, 1, 2, 2, 3}, SB_INVALID, SB_INVALID},
        {SB_FLOAT, 0, {0}, SB_INVALID, SB_INVALID},
        {SB_FLOAT, 4, {1, 2, 2, 5}, SB_INVALID, SB_INVALID},
        {SB_FLOAT, 4, {1, 2, 2, 0}, SB_INVALID, SB_INVALID},
        {SB_FLOAT, 4, {1, 0, 2, 3}, SB_INVALID, SB_INVALID},
        {SB_FLOAT, 4, {1, 2, 0, 3}, SB_INVALID, SB_INVALID},
        {SB_FLOAT, 4, {-1, 2, 2, 3}, SB_INVALID, SB_INVALID},
        {SB_FLOAT, 4, {1, INT64_MIN, 2, 3}, SB_INVALID, SB_INVALID},
        {SB_STRING, 4, {1, 2, 2, 3}, SB_INVALID, SB_INVALID},
        {SB_BOOL, 4, {1, 2, 2, 3}, SB_INVALID, SB_INVALID},
        {SB_COMPLEX64, 4, {1, 2, 2, 3}, SB_INVALID, SB_INVALID},
        {(sb_dtype)77, 4, {1, 2, 2, 3}, SB_INVALID, SB_INVALID},
        {SB_INT32, 4, {1, 200, 200, 3}, SB_LIMIT, SB_INVALID},
        {SB_FLOAT, 4, {1, 200, 200, 2}, SB_LIMIT, SB_INVALID},
        {SB_FLOAT, 4, {1, 200, 200, 3}, SB_LIMIT, SB_LIMIT},
        {SB_FLOAT, 4, {1, INT64_MAX, 1, 3}, SB_LIMIT, SB_LIMIT},
        {SB_FLOAT, 4, {INT32_MAX, INT32_MAX, INT32_MAX, 4}, SB_LIMIT, SB_LIMIT},
        {SB_FLOAT, 4, {1, INT32_MAX, INT32_MAX, 4}, SB_LIMIT, SB_LIMIT},
    };
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 20);
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        sb_array a = {.dtype = cases[i].dtype, .rank = cases[i].rank, .dims = cases[i].dims};
        sb_pixel_shape shape;
        sb_err err = {0};
        assert_int_equal(sb_pixels_tf2(&out, &shape, &a, 3, 10000, &err), cases[i].tf2);
        assert_int_equal(err.code, cases[i].tf2);
        assert_int_equal(sb_pixels_tf1(&out, &shape, &a, 3, 10000, &err), cases[i].tf1);
        assert_int_equal(err.code, cases[i].tf1);
        assert_int_equal(out.n, 0);
    }
    sb_buf_fini(&out);
}

/* Without a limit on pixels too: a side is never taken modulo 2^32. */
static void sides_over_31_bits_are_a_limit(void **state) {
    (void)state;
    const int64_t dims[] = {1, 0x100000001, 1, 3};
    sb_array a = {.dtype = SB_UINT8, .rank = 4, .dims = dims};
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, SIZE_MAX);
    sb_pixel_shape shape;
    assert_int_equal(sb_pixels_tf2(&out, &shape, &a, 1, UINT64_MAX, NULL), SB_LIMIT);
    assert_int_equal(sb_pixels_tf1(&out, &shape, &a, 1, UINT64_MAX, NULL), SB_LIMIT);
    sb_buf_fini(&out);
}

static sb_status convert_both(const sb_alloc *alloc, void *ud) {
    sb_buf out;
    sb_buf_init(&out, alloc, 1 << 20);
    sb_pixel_shape shape;
    sb_status status = sb_pixels_tf2(&out, &shape, ud, 3, 1000, NULL);
    if (status == SB_OK) status = sb_pixels_tf1(&out, &shape, ud, 3, 1000, NULL);
    sb_buf_fini(&out);
    return status;
}

static void each_failed_allocation_is_reported(void **state) {
    (void)state;
    static const float values[300] = {0.5f};
    const int64_t dims[] = {1, 10, 10, 3};
    sb_array a = {.data = values, .dtype = SB_FLOAT, .rank = 4, .dims = dims};
    sb_fault_alloc_sweep(convert_both, &a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tf2_floats_are_scaled_and_cut_in_their_own_type),
        cmocka_unit_test(tf2_every_16_bit_float_is_tensorflows),
        cmocka_unit_test(tf2_integers_keep_their_upper_bits),
        cmocka_unit_test(tf1_stretches_each_picture),
        cmocka_unit_test(tf1_leaves_dark_pictures_even),
        cmocka_unit_test(tf1_paints_pixels_that_are_no_numbers_red),
        cmocka_unit_test(only_the_first_pictures_are_kept),
        cmocka_unit_test(no_pictures_are_no_failure),
        cmocka_unit_test(senseless_arrays_are_refused_unread),
        cmocka_unit_test(sides_over_31_bits_are_a_limit),
        cmocka_unit_test(each_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
