/* png_test.c: what the fast encoder writes is what libpng reads. */
#include "media/png.h"

#include <libdeflate.h>
#include <png.h>
#include <stdlib.h>

#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

enum content { flat, gradient, noise, contents };

static uint8_t *make_pixels(enum content content, size_t width, size_t height, size_t channels) {
    sb_test_random r = sb_test_random_of(width * 31 + height);
    uint8_t *p = malloc(width * height * channels);
    assert_non_null(p);
    for (size_t i = 0; i < width * height * channels; i++) {
        size_t x = i / channels % width, y = i / channels / width;
        if (content == flat) p[i] = 77;
        if (content == gradient) p[i] = (uint8_t)(x * 3 + y * (1 + i % channels));
        if (content == noise) p[i] = (uint8_t)sb_test_u64(&r);
    }
    return p;
}

/* Decodes with libpng, which checks structure and checksums, and compares all of it. */
static void is_picture(sb_slice file, const uint8_t *pixels, uint32_t width, uint32_t height,
                       uint32_t channels) {
    static const png_uint_32 formats[5] = {0, PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB,
                                           PNG_FORMAT_RGBA};
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_memory(&image, file.p, file.n));
    assert_int_equal(image.width, width);
    assert_int_equal(image.height, height);
    assert_int_equal(image.format, formats[channels]);
    size_t n = PNG_IMAGE_SIZE(image);
    assert_int_equal(n, (size_t)width * height * channels);
    uint8_t *decoded = malloc(n);
    assert_non_null(decoded);
    assert_true(png_image_finish_read(&image, NULL, decoded, 0, NULL));
    assert_int_equal(image.warning_or_error, 0);
    assert_memory_equal(decoded, pixels, n);
    free(decoded);
}

static void all_sizes_channels_and_contents_come_back(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1},   {1, 7},    {7, 1},   {2, 2},    {3, 5},
                                        {31, 17}, {255, 33}, {64, 64}, {1000, 3}, {3, 1000}};
    sb_png_encoder encoder;
    sb_png_encoder_init(&encoder, &sb_alloc_libc, 1 << 20);
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 24);
    sb_err err = {0};
    for (size_t i = 0; i < SB_COUNT(sizes); i++) {
        for (uint32_t channels = 1; channels <= 4; channels++) {
            for (enum content content = flat; content < contents; content++) {
                uint32_t w = sizes[i][0], h = sizes[i][1];
                uint8_t *pixels = make_pixels(content, w, h, channels);
                sb_buf_clear(&out);
                assert_ok(sb_png_encode(&out, &encoder, pixels, w, h, channels, &err), &err);
                is_picture(sb_buf_slice(&out), pixels, w, h, channels);
                free(pixels);
            }
        }
    }
    sb_buf_fini(&out);
    sb_png_encoder_fini(&encoder);
}

static void pictures_are_appended_and_repeatable(void **state) {
    (void)state;
    sb_png_encoder encoder;
    sb_png_encoder_init(&encoder, &sb_alloc_libc, 1 << 20);
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 24);
    uint8_t *large = make_pixels(noise, 90, 70, 3), *small = make_pixels(gradient, 9, 5, 4);
    sb_err err = {0};
    sb_buf_add_str(&out, "head");
    assert_ok(sb_png_encode(&out, &encoder, large, 90, 70, 3, &err), &err);
    size_t first = out.n;
    assert_ok(sb_png_encode(&out, &encoder, small, 9, 5, 4, &err), &err);
    size_t second = out.n;
    assert_ok(sb_png_encode(&out, &encoder, large, 90, 70, 3, &err), &err);
    assert_slice_is(sb_slice_of(out.p, 4), "head");
    is_picture(sb_slice_of(out.p + 4, first - 4), large, 90, 70, 3);
    is_picture(sb_slice_of(out.p + first, second - first), small, 9, 5, 4);
    assert_slice_equal(sb_slice_of(out.p + second, out.n - second),
                       sb_slice_of(out.p + 4, first - 4));
    free(large);
    free(small);
    sb_buf_fini(&out);
    sb_png_encoder_fini(&encoder);
    sb_png_encoder_fini(&encoder); /* twice is harmless */
}

/* Sizes are refused before a pixel is looked at: there are none here. */
static void senseless_sizes_are_refused_unread(void **state) {
    (void)state;
    static const struct {
        uint32_t width, height, channels;
        sb_status status;
    } cases[] = {
        {0, 1, 3, SB_INVALID},
        {1, 0, 3, SB_INVALID},
        {1, 1, 0, SB_INVALID},
        {1, 1, 5, SB_INVALID},
        {101, 10, 1, SB_LIMIT},
        {UINT32_MAX, 1, 1, SB_LIMIT},
        {1, UINT32_MAX, 4, SB_LIMIT},
        {UINT32_MAX, UINT32_MAX, 4, SB_LIMIT},
        {0x80000000u, 0x80000000u, 4, SB_LIMIT},
    };
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 24);
    sb_png_encoder encoder;
    sb_png_encoder_init(&encoder, &sb_alloc_libc, 1000);
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        sb_err err = {0};
        assert_int_equal(sb_png_encode(&out, &encoder, NULL, cases[i].width, cases[i].height,
                                       cases[i].channels, &err),
                         cases[i].status);
        assert_int_equal(err.code, cases[i].status);
        assert_int_equal(out.n, 0);
    }
    sb_png_encoder_fini(&encoder);
    sb_png_encoder_init(&encoder, &sb_alloc_libc, UINT64_MAX);
    assert_int_equal(sb_png_encode(&out, &encoder, NULL, 0x7fffffffu, 0x7fffffffu, 4, NULL),
                     SB_LIMIT);
    sb_png_encoder_fini(&encoder);
    sb_buf_fini(&out);
}

/* The cap is the file's real size: neither the compressor's worst case, nor a byte less. */
static void a_full_buffer_is_a_limit_and_keeps_what_it_held(void **state) {
    (void)state;
    uint8_t *pixels = make_pixels(gradient, 40, 30, 3);
    sb_png_encoder encoder;
    sb_png_encoder_init(&encoder, &sb_alloc_libc, 1 << 20);
    sb_buf whole;
    sb_buf_init(&whole, &sb_alloc_libc, 1 << 20);
    assert_ok(sb_png_encode(&whole, &encoder, pixels, 40, 30, 3, NULL), NULL);
    for (size_t cap = 4; cap < whole.n + 4 + 40; cap++) {
        sb_buf out;
        sb_buf_init(&out, &sb_alloc_libc, cap);
        sb_buf_add_str(&out, "head");
        sb_err err = {0};
        sb_status status = sb_png_encode(&out, &encoder, pixels, 40, 30, 3, &err);
        if (cap < whole.n + 4) assert_int_equal(status, SB_LIMIT);
        /* libdeflate wants a few bytes of room in hand, so the first caps above may still fail */
        if (status == SB_OK) {
            assert_slice_equal(sb_slice_of(out.p + 4, out.n - 4), sb_buf_slice(&whole));
        } else {
            assert_int_equal(status, SB_LIMIT);
            assert_int_equal(err.code, SB_LIMIT);
            assert_slice_is(sb_buf_slice(&out), "head");
        }
        if (cap >= whole.n + 4 + 32) assert_int_equal(status, SB_OK);
        sb_buf_fini(&out);
    }
    sb_buf_fini(&whole);
    sb_png_encoder_fini(&encoder);
    free(pixels);
}

static sb_status encode_two(const sb_alloc *alloc, void *ud) {
    uint8_t *pixels = ud;
    sb_png_encoder encoder;
    sb_png_encoder_init(&encoder, alloc, 1 << 20);
    sb_buf out;
    sb_buf_init(&out, alloc, 1 << 20);
    sb_err err = {0};
    sb_status status = sb_png_encode(&out, &encoder, pixels, 8, 8, 3, &err);
    if (status == SB_OK) status = sb_png_encode(&out, &encoder, pixels, 40, 30, 3, &err);
    if (status != SB_OK) assert_int_equal(err.code, status);
    sb_buf_fini(&out);
    sb_png_encoder_fini(&encoder);
    return status;
}

static void each_failed_allocation_is_reported(void **state) {
    (void)state;
    uint8_t *pixels = make_pixels(noise, 40, 30, 3);
    sb_fault_alloc_sweep(encode_two, pixels);
    free(pixels);
}

static void *no_memory(size_t n) {
    (void)n;
    return NULL;
}

static void a_compressor_without_memory_is_reported_and_tried_again(void **state) {
    (void)state;
    uint8_t *pixels = make_pixels(flat, 8, 8, 3);
    sb_png_encoder encoder;
    sb_png_encoder_init(&encoder, &sb_alloc_libc, 1 << 20);
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 20);
    libdeflate_set_memory_allocator(no_memory, free);
    assert_int_equal(sb_png_encode(&out, &encoder, pixels, 8, 8, 3, NULL), SB_NOMEM);
    assert_int_equal(out.n, 0);
    libdeflate_set_memory_allocator(malloc, free);
    assert_ok(sb_png_encode(&out, &encoder, pixels, 8, 8, 3, NULL), NULL);
    is_picture(sb_buf_slice(&out), pixels, 8, 8, 3);
    sb_buf_fini(&out);
    sb_png_encoder_fini(&encoder);
    free(pixels);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_sizes_channels_and_contents_come_back),
        cmocka_unit_test(pictures_are_appended_and_repeatable),
        cmocka_unit_test(senseless_sizes_are_refused_unread),
        cmocka_unit_test(a_full_buffer_is_a_limit_and_keeps_what_it_held),
        cmocka_unit_test(each_failed_allocation_is_reported),
        cmocka_unit_test(a_compressor_without_memory_is_reported_and_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
