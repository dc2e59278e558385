/* pixels_torch_test.c: torch's layouts and scaling.
 *
 * The pinned bytes come from torch.utils.tensorboard (torch 2.15): summary.image decoded again,
 * _prepare_video with the scaling of summary.video, make_sprite. All other layouts are compared
 * with an element by element walk. */
#include "media/pixels.h"

#include <math.h>
#include <stdlib.h>

#include "base/half.h"
#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

struct result {
    sb_buf out;
    sb_pixel_shape shape;
};

static struct result begin(void) {
    struct result r;
    sb_buf_init(&r.out, &sb_alloc_libc, 1 << 20);
    return r;
}

static void is(struct result *r, uint32_t width, uint32_t height, uint32_t channels,
               uint32_t frames, const uint8_t *pixels) {
    assert_int_equal(r->shape.width, width);
    assert_int_equal(r->shape.height, height);
    assert_int_equal(r->shape.channels, channels);
    assert_int_equal(r->shape.frames, frames);
    assert_slice_equal(sb_buf_slice(&r->out),
                       sb_slice_of(pixels, (size_t)width * height * channels * frames));
    sb_buf_fini(&r->out);
}

#define DIMS(...) ((const int64_t[]){__VA_ARGS__})
#define BYTES(...) ((const uint8_t[]){__VA_ARGS__})

static struct result image(const void *data, sb_dtype dtype, const int64_t *dims,
                           const char *format) {
    struct result r = begin();
    sb_err err = {0};
    sb_slice axes = sb_slice_str(format);
    sb_array a = {.data = data, .dtype = dtype, .rank = (uint32_t)axes.n, .dims = dims};
    assert_ok(sb_pixels_torch(&r.out, &r.shape, &a, axes, 1 << 20, &err), &err);
    return r;
}

static void numbers_are_scaled_clipped_and_cut(void **state) {
    (void)state;
    static const float edges[] = {-0.1f,         0,    0.5f, 1,      1.2f,  1.0f / 255,
                                  254.99f / 255, 0.1f, 0.2f, 0.999f, 3e38f, 1e-9f};
    struct result r = image(edges, SB_FLOAT, DIMS(3, 2, 2), "CHW");
    is(&r, 2, 2, 3, 1, BYTES(0, 255, 51, 0, 1, 254, 127, 254, 255, 255, 25, 0));
    r = image(edges, SB_FLOAT, DIMS(2, 2, 3), "HWC");
    is(&r, 2, 2, 3, 1, BYTES(0, 0, 127, 255, 255, 1, 254, 25, 51, 254, 255, 0));
    uint16_t halves[9], brains[9];
    double doubles[9];
    for (size_t i = 0; i < 9; i++) {
        halves[i] = sb_float_to_half(edges[i]);
        brains[i] = sb_float_to_bfloat16(edges[i]);
        doubles[i] = (double)edges[i];
    }
    r = image(halves, SB_HALF, DIMS(1, 3, 3), "HWC");
    is(&r, 3, 1, 3, 1, BYTES(0, 0, 127, 255, 255, 0, 255, 25, 50));
    r = image(brains, SB_BFLOAT16, DIMS(1, 3, 3), "HWC");
    is(&r, 3, 1, 3, 1, BYTES(0, 0, 127, 255, 255, 1, 255, 25, 51));
    r = image(doubles, SB_DOUBLE, DIMS(1, 3, 3), "HWC");
    is(&r, 3, 1, 3, 1, BYTES(0, 0, 127, 255, 255, 1, 254, 25, 51));
    static const float strange[] = {NAN, INFINITY, -INFINITY};
    r = image(strange, SB_FLOAT, DIMS(1, 1, 3), "HWC");
    is(&r, 1, 1, 3, 1, BYTES(0, 255, 0));
}

#define THREE(a, b, c) a, a, a, b, b, b, c, c, c

static void integers_other_than_uint8_count_as_ones_and_zeros(void **state) {
    (void)state;
    static const int32_t ints[] = {-1, 0, 1, 2, 255, 256};
    struct result r = image(ints, SB_INT32, DIMS(2, 3), "HW");
    is(&r, 3, 2, 3, 1, BYTES(THREE(0, 0, 255), THREE(255, 255, 255)));
    static const uint8_t bools[] = {1, 0, 1, 0, 0, 1};
    r = image(bools, SB_BOOL, DIMS(2, 3), "WH");
    is(&r, 2, 3, 3, 1, BYTES(THREE(255, 0, 0), THREE(0, 255, 255)));
#define SAME(dtype, type)                                                                          \
    do {                                                                                           \
        const type values[] = {0, 1, (type)100};                                                   \
        r = image(values, dtype, DIMS(1, 3), "HW");                                                \
        is(&r, 3, 1, 3, 1, BYTES(THREE(0, 255, 255)));                                             \
    } while (0)
    SAME(SB_INT8, int8_t);
    SAME(SB_INT16, int16_t);
    SAME(SB_INT64, int64_t);
    SAME(SB_UINT16, uint16_t);
    SAME(SB_UINT32, uint32_t);
    SAME(SB_UINT64, uint64_t);
#undef SAME
    static const uint8_t bytes[] = {0, 1, 255};
    r = image(bytes, SB_UINT8, DIMS(1, 3), "HW");
    is(&r, 3, 1, 3, 1, BYTES(THREE(0, 1, 255)));
}

static void a_batch_becomes_a_grid_of_eight_columns(void **state) {
    (void)state;
    static const uint8_t nine[] = {10, 30, 50, 70, 90, 110, 130, 150, 170};
    struct result r = image(nine, SB_UINT8, DIMS(9, 1, 1, 1), "NCHW");
    is(&r, 8, 2, 3, 1,
       BYTES(THREE(10, 30, 50), THREE(70, 90, 110), THREE(130, 150, 170), THREE(0, 0, 0),
             THREE(0, 0, 0), 0, 0, 0));
    uint8_t counted[18];
    for (uint8_t i = 0; i < 18; i++) counted[i] = i;
    r = image(counted, SB_UINT8, DIMS(2, 1, 3, 3), "HWCN");
    is(&r, 3, 2, 3, 1, BYTES(0, 3, 6, 1, 4, 7, 2, 5, 8, 9, 12, 15, 10, 13, 16, 11, 14, 17));
}

/* The element of the source at the given place on each axis, from the definition of row-major. */
static uint8_t element(const uint8_t *p, const char *format, const int64_t *dims,
                       const size_t place[4]) {
    size_t at = 0;
    for (size_t i = 0; format[i]; i++) {
        at = at * (size_t)dims[i] + place[strchr("NCHW", format[i]) - strchr("NCHW", 'N')];
    }
    return p[at];
}

/* Every pixel of the grid, found by walking the canvas instead of the source. */
static void grid_is_right(const uint8_t *source, const char *format, const int64_t *dims,
                          const size_t size[4]) {
    struct result r = image(source, SB_UINT8, dims, format);
    size_t columns = size[0] < 8 ? size[0] : 8, rows = (size[0] + columns - 1) / columns;
    assert_int_equal(r.shape.width, columns * size[3]);
    assert_int_equal(r.shape.height, rows * size[2]);
    assert_int_equal(r.shape.channels, size[1] == 1 ? 3 : size[1]);
    for (size_t y = 0; y < r.shape.height; y++) {
        for (size_t x = 0; x < r.shape.width; x++) {
            for (size_t c = 0; c < r.shape.channels; c++) {
                size_t place[4] = {y / size[2] * columns + x / size[3], size[1] == 1 ? 0 : c,
                                   y % size[2], x % size[3]};
                uint8_t want = place[0] < size[0] ? element(source, format, dims, place) : 0;
                uint8_t got = r.out.p[(y * r.shape.width + x) * r.shape.channels + c];
                assert_int_equal(got, want);
            }
        }
    }
    sb_buf_fini(&r.out);
}

static void every_order_of_axes_is_understood(void **state) {
    (void)state;
    static const char *const orders[] = {
        "NCHW", "NCWH", "NHCW", "NHWC", "NWCH", "NWHC", "CNHW", "CNWH", "CHNW", "CHWN", "CWNH",
        "CWHN", "HNCW", "HNWC", "HCNW", "HCWN", "HWNC", "HWCN", "WNCH", "WNHC", "WCNH", "WCHN",
        "WHNC", "WHCN", "CHW",  "CWH",  "HCW",  "HWC",  "WCH",  "WHC",  "HW",   "WH"};
    static const size_t batches[] = {1, 2, 7, 8, 9, 16, 17};
    uint8_t source[17 * 4 * 3 * 5];
    sb_test_random random = sb_test_random_of(2);
    sb_test_fill(&random, source, sizeof source);
    for (size_t i = 0; i < SB_COUNT(orders); i++) {
        for (size_t b = 0; b < SB_COUNT(batches); b++) {
            for (size_t channels = 1; channels <= 4; channels++) {
                bool has_n = strchr(orders[i], 'N'), has_c = strchr(orders[i], 'C');
                size_t size[4] = {has_n ? batches[b] : 1, has_c ? channels : 1, 3, 5};
                int64_t dims[4];
                for (size_t k = 0; orders[i][k]; k++) {
                    dims[k] = (int64_t)size[strchr("NCHW", orders[i][k]) - strchr("NCHW", 'N')];
                }
                grid_is_right(source, orders[i], dims, size);
            }
        }
    }
}

static void letters_may_be_small(void **state) {
    (void)state;
    static const uint8_t p[] = {1, 2, 3, 4, 5, 6};
    struct result r = image(p, SB_UINT8, DIMS(3, 1, 2), "cHw");
    is(&r, 2, 1, 3, 1, BYTES(1, 3, 5, 2, 4, 6));
}

static struct result video(const void *data, sb_dtype dtype, const int64_t *dims) {
    struct result r = begin();
    sb_err err = {0};
    sb_array a = {.data = data, .dtype = dtype, .rank = 5, .dims = dims};
    assert_ok(sb_pixels_torch_video(&r.out, &r.shape, &a, 1 << 20, &err), &err);
    return r;
}

static void clips_are_tiled_to_a_power_of_two(void **state) {
    (void)state;
    uint8_t counted[12];
    for (uint8_t i = 0; i < 12; i++) counted[i] = (uint8_t)(i + 1);
    struct result r = video(counted, SB_UINT8, DIMS(3, 2, 1, 1, 2));
    is(&r, 8, 1, 1, 2, BYTES(1, 2, 5, 6, 9, 10, 0, 0, 3, 4, 7, 8, 11, 12, 0, 0));
    float sixteenths[15];
    for (size_t i = 0; i < 15; i++) sixteenths[i] = (float)(i + 1) / 16;
    r = video(sixteenths, SB_FLOAT, DIMS(5, 1, 3, 1, 1));
    is(&r, 4, 2, 3, 1,
       BYTES(15, 31, 47, 63, 79, 95, 111, 127, 143, 159, 175, 191, 207, 223, 239, 0, 0, 0, 0, 0, 0,
             0, 0, 0));
}

static void rows_of_clips_follow_their_number(void **state) {
    (void)state;
    static const uint32_t expected[][3] = {/* clips, columns, rows */
                                           {1, 1, 1},  {2, 2, 1},  {3, 4, 1},   {4, 2, 2},
                                           {5, 4, 2},  {8, 4, 2},  {9, 8, 2},   {15, 8, 2},
                                           {16, 4, 4}, {17, 8, 4}, {33, 16, 4}, {64, 8, 8}};
    static const uint8_t black[64 * 6] = {0};
    for (size_t i = 0; i < SB_COUNT(expected); i++) {
        struct result r = video(black, SB_UINT8, DIMS(expected[i][0], 1, 1, 2, 3));
        assert_int_equal(r.shape.width, expected[i][1] * 3);
        assert_int_equal(r.shape.height, expected[i][2] * 2);
        sb_buf_fini(&r.out);
    }
}

static void video_keeps_every_byte(void **state) {
    (void)state;
    uint8_t all[256];
    for (size_t i = 0; i < 256; i++) all[i] = (uint8_t)i;
    struct result r = video(all, SB_UINT8, DIMS(1, 1, 1, 16, 16));
    is(&r, 16, 16, 1, 1, all);
}

static struct result sprite(const void *data, sb_dtype dtype, const int64_t *dims) {
    struct result r = begin();
    sb_err err = {0};
    sb_array a = {.data = data, .dtype = dtype, .rank = 4, .dims = dims};
    assert_ok(sb_pixels_torch_sprite(&r.out, &r.shape, &a, 1 << 20, &err), &err);
    return r;
}

static void labels_become_a_square_sprite(void **state) {
    (void)state;
    static const float three[] = {0.1f, 0.2f, 0.7f};
    struct result r = sprite(three, SB_FLOAT, DIMS(3, 1, 1, 1));
    is(&r, 2, 2, 3, 1, BYTES(THREE(25, 51, 178), 0, 0, 0));
    static const uint8_t five[] = {0, 1, 2, 0, 255};
    r = sprite(five, SB_UINT8, DIMS(5, 1, 1, 1));
    is(&r, 3, 3, 3, 1, BYTES(THREE(0, 255, 255), THREE(0, 255, 0), THREE(0, 0, 0)));
    static const double near[] = {(51 - 1e-9) / 255, 51.0 / 255, 0.3, 1e300}; /* not in float */
    r = sprite(near, SB_DOUBLE, DIMS(4, 1, 1, 1));
    is(&r, 2, 2, 3, 1, BYTES(THREE(50, 51, 76), 255, 255, 255));
    static const uint8_t wide[2 * 3 * 2] = {1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0};
    static const uint8_t square[4 * 4 * 3] = {255, 255, 255, 255, 255, 255};
    r = sprite(wide, SB_BOOL, DIMS(2, 3, 1, 2));
    is(&r, 4, 4, 3, 1, square);
    static const float tall[] = {1, 1, 1, 1, 1}; /* no square has room for these */
    r = sprite(tall, SB_FLOAT, DIMS(1, 1, 5, 1));
    assert_int_equal(r.shape.width, 1);
    assert_int_equal(r.shape.height, 5);
    sb_buf_fini(&r.out);
}

static void nothing_is_made_of(const void *data, sb_dtype dtype, uint32_t rank, const int64_t *dims,
                               const char *format, sb_status want) {
    sb_array a = {.data = data, .dtype = dtype, .rank = rank, .dims = dims};
    struct result r = begin();
    sb_err err = {0};
    assert_int_equal(sb_pixels_torch(&r.out, &r.shape, &a, sb_slice_str(format), 10000, &err),
                     want);
    assert_int_equal(err.code, want);
    assert_int_equal(r.out.n, 0);
    sb_buf_fini(&r.out);
}

static void senseless_pictures_are_refused_unread(void **state) {
    (void)state;
    static const char *const formats[] = {"",      "H",  "HH",  "HC",    "NHW", "CHC", "NCHH",
                                          "NCHWT", "XY", "H W", "NTCHW", "hH",  "CHWW"};
    for (size_t i = 0; i < SB_COUNT(formats); i++) {
        nothing_is_made_of(NULL, SB_FLOAT, (uint32_t)strlen(formats[i]), DIMS(2, 2, 2, 2, 2),
                           formats[i], SB_INVALID);
    }
    nothing_is_made_of(NULL, SB_FLOAT, 2, DIMS(2, 2), "CHW", SB_INVALID);
    nothing_is_made_of(NULL, SB_FLOAT, 4, DIMS(2, 2, 2, 2), "CHW", SB_INVALID);
    nothing_is_made_of(NULL, SB_FLOAT, 3, DIMS(5, 2, 2), "CHW", SB_INVALID);
    nothing_is_made_of(NULL, SB_FLOAT, 3, DIMS(0, 2, 2), "CHW", SB_INVALID);
    nothing_is_made_of(NULL, SB_FLOAT, 4, DIMS(0, 3, 2, 2), "NCHW", SB_INVALID);
    nothing_is_made_of(NULL, SB_FLOAT, 3, DIMS(3, -2, 2), "CHW", SB_INVALID);
    nothing_is_made_of(NULL, SB_STRING, 3, DIMS(3, 2, 2), "CHW", SB_INVALID);
    nothing_is_made_of(NULL, SB_COMPLEX128, 3, DIMS(3, 2, 2), "CHW", SB_INVALID);
    nothing_is_made_of(NULL, SB_FLOAT, 3, DIMS(3, 101, 100), "CHW", SB_LIMIT);
    nothing_is_made_of(NULL, SB_FLOAT, 3, DIMS(3, INT64_MAX, 2), "CHW", SB_LIMIT);
    nothing_is_made_of(NULL, SB_FLOAT, 4, DIMS(8, 3, 1, INT32_MAX), "NCHW", SB_LIMIT);
    nothing_is_made_of(NULL, SB_FLOAT, 4, DIMS(INT32_MAX, 3, INT32_MAX, 1), "NCHW", SB_LIMIT);
}

static void senseless_videos_and_sprites_are_refused_unread(void **state) {
    (void)state;
    static const struct {
        uint32_t rank;
        int64_t dims[5];
        sb_status status;
    } cases[] = {
        {3, {1, 1, 1}, SB_INVALID},
        {5, {0, 1, 1, 1, 1}, SB_INVALID},
        {5, {1, 0, 1, 1, 1}, SB_INVALID},
        {5, {1, 1, 5, 1, 1}, SB_INVALID},
        {5, {3, 1, 1, 50, 51}, SB_LIMIT},
        {5, {1, 10001, 1, 1, 1}, SB_LIMIT},
        {5, {INT32_MAX, INT32_MAX, 1, 1, 1}, SB_LIMIT},
        {4, {0, 1, 1, 1}, SB_INVALID},
        {4, {1, 6, 1, 1}, SB_INVALID},
        {4, {2, 1, 100, 51}, SB_LIMIT},
        {4, {INT32_MAX, 1, 1, INT32_MAX}, SB_LIMIT},
    };
    struct result r = begin();
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        sb_array a = {.dtype = SB_FLOAT, .rank = cases[i].rank, .dims = cases[i].dims};
        sb_err err = {0};
        sb_status status = cases[i].rank == 4
                               ? sb_pixels_torch_sprite(&r.out, &r.shape, &a, 10000, &err)
                               : sb_pixels_torch_video(&r.out, &r.shape, &a, 10000, &err);
        assert_int_equal(status, cases[i].status);
        assert_int_equal(err.code, cases[i].status);
        assert_int_equal(r.out.n, 0);
    }
    sb_buf_fini(&r.out);
}

static sb_status convert_all(const sb_alloc *alloc, void *ud) {
    static const float values[300] = {0.5f};
    sb_array a = {.data = values, .dtype = SB_FLOAT, .rank = 4, .dims = DIMS(5, 3, 4, 5)};
    sb_array v = {.data = values, .dtype = SB_FLOAT, .rank = 5, .dims = DIMS(5, 1, 3, 4, 5)};
    (void)ud;
    sb_buf out;
    sb_buf_init(&out, alloc, 1 << 20);
    sb_pixel_shape shape;
    sb_status status = sb_pixels_torch(&out, &shape, &a, SB_LIT("NCHW"), 1000, NULL);
    if (status == SB_OK) status = sb_pixels_torch_sprite(&out, &shape, &a, 1000, NULL);
    if (status == SB_OK) status = sb_pixels_torch_video(&out, &shape, &v, 1000, NULL);
    sb_buf_fini(&out);
    return status;
}

static void each_failed_allocation_is_reported(void **state) {
    (void)state;
    sb_fault_alloc_sweep(convert_all, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_scaled_clipped_and_cut),
        cmocka_unit_test(integers_other_than_uint8_count_as_ones_and_zeros),
        cmocka_unit_test(a_batch_becomes_a_grid_of_eight_columns),
        cmocka_unit_test(every_order_of_axes_is_understood),
        cmocka_unit_test(letters_may_be_small),
        cmocka_unit_test(clips_are_tiled_to_a_power_of_two),
        cmocka_unit_test(rows_of_clips_follow_their_number),
        cmocka_unit_test(video_keeps_every_byte),
        cmocka_unit_test(labels_become_a_square_sprite),
        cmocka_unit_test(senseless_pictures_are_refused_unread),
        cmocka_unit_test(senseless_videos_and_sprites_are_refused_unread),
        cmocka_unit_test(each_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
