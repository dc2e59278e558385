/* picture_test.c: pictures decoded, scaled and compared: what comes out, and what is said of what
 * is damaged or too large. */
#include "media/view/picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "base/slice.h"
#include "media/gif.h"
#include "media/png.h"
#include "media/sniff.h"
#include "media/view/compare.h"
#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

static const sb_picture_ask plain = {.max_pixels = 1 << 24, .max_held = 1 << 22};

/* A picture whose every pixel is another colour. */
static uint8_t *made_pixels(uint32_t width, uint32_t height, uint32_t channels) {
    uint8_t *p = malloc((size_t)width * height * channels);
    assert_non_null(p);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            for (uint32_t k = 0; k < channels; k++)
                p[((size_t)y * width + x) * channels + k] =
                    (uint8_t)(k == 3 ? 255 - y : x * (k + 1) + y * 3);
    return p;
}

static sb_buf png_of(const uint8_t *pixels, uint32_t width, uint32_t height, uint32_t channels) {
    sb_buf out;
    sb_err err;
    sb_png_encoder encoder;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 26);
    sb_png_encoder_init(&encoder, &sb_alloc_libc, 1 << 24);
    assert_ok(sb_png_encode(&out, &encoder, pixels, width, height, channels, &err), &err);
    sb_png_encoder_fini(&encoder);
    return out;
}

static sb_buf jpeg_of(const uint8_t *rgb, uint32_t width, uint32_t height, bool is_progressive) {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    unsigned char *bytes = NULL;
    unsigned long n = 0;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &bytes, &n);
    jpeg.image_width = width;
    jpeg.image_height = height;
    jpeg.input_components = 3;
    jpeg.in_color_space = JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 95, TRUE);
    if (is_progressive) jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < height) {
        uint8_t row[3 * 1024];
        memcpy(row, rgb + (size_t)jpeg.next_scanline * width * 3, (size_t)width * 3);
        JSAMPROW at = row;
        jpeg_write_scanlines(&jpeg, &at, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 26);
    sb_buf_add(&out, bytes, n);
    free(bytes);
    return out;
}

static sb_picture decoded(sb_slice bytes, const sb_picture_ask *ask) {
    sb_picture picture;
    sb_err err;
    assert_ok(sb_picture_decode(&picture, bytes, ask, &sb_alloc_libc, &err), &err);
    return picture;
}

static void a_png_comes_back_pixel_by_pixel(void **state) {
    (void)state;
    for (uint32_t channels = 1; channels <= 4; channels++) {
        uint8_t *pixels = made_pixels(37, 23, channels);
        sb_buf png = png_of(pixels, 37, 23, channels);
        sb_picture p = decoded(sb_buf_slice(&png), &plain);
        assert_int_equal(p.width, 37);
        assert_int_equal(p.height, 23);
        for (size_t i = 0; i < 37 * 23; i++) {
            const uint8_t *from = pixels + i * channels, *to = p.rgba + 4 * i;
            bool is_grey = channels < 3;
            assert_int_equal(to[0], from[0]);
            assert_int_equal(to[1], from[is_grey ? 0 : 1]);
            assert_int_equal(to[2], from[is_grey ? 0 : 2]);
            assert_int_equal(to[3], channels == 2 ? from[1] : channels == 4 ? from[3] : 255);
        }
        sb_picture_free(&p);
        sb_buf_fini(&png);
        free(pixels);
    }
}

/* The mean over the area of each pixel of the result, by its definition. */
static double mean_of(const uint8_t *grey, uint32_t width, uint32_t height, const sb_picture *to,
                      uint32_t x, uint32_t y) {
    double sx = (double)width / to->width, sy = (double)height / to->height, sum = 0, area = 0;
    for (uint32_t v = (uint32_t)(y * sy); v < height && v < (y + 1) * sy; v++)
        for (uint32_t u = (uint32_t)(x * sx); u < width && u < (x + 1) * sx; u++) {
            double w = fmin(u + 1, (x + 1) * sx) - fmax(u, x * sx),
                   h = fmin(v + 1, (y + 1) * sy) - fmax(v, y * sy);
            if (w <= 0 || h <= 0) continue;
            sum += w * h * grey[(size_t)v * width + u];
            area += w * h;
        }
    return sum / area;
}

static void scaling_averages_areas(void **state) {
    (void)state;
    static const struct {
        uint32_t width, height, box, to_width, to_height;
    } cases[] = {{100, 50, 50, 50, 25},
                 {97, 61, 13, 13, 8},
                 {5, 300, 16, 1, 16},
                 {300, 1, 7, 7, 1},
                 {40, 40, 39, 39, 39}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t *pixels = made_pixels(cases[i].width, cases[i].height, 1);
        sb_buf png = png_of(pixels, cases[i].width, cases[i].height, 1);
        sb_picture_ask ask = plain;
        ask.box = cases[i].box;
        sb_picture p = decoded(sb_buf_slice(&png), &ask);
        assert_int_equal(p.width, cases[i].to_width);
        assert_int_equal(p.height, cases[i].to_height);
        for (uint32_t y = 0; y < p.height; y++)
            for (uint32_t x = 0; x < p.width; x++) {
                double want = mean_of(pixels, cases[i].width, cases[i].height, &p, x, y);
                assert_true(fabs(want - p.rgba[((size_t)y * p.width + x) * 4]) < 0.51);
            }
        sb_picture_free(&p);
        sb_buf_fini(&png);
        free(pixels);
    }
}

static void transparent_pixels_do_not_colour_their_neighbours(void **state) {
    (void)state;
    const uint8_t pixels[] = {255, 0, 0, 255, 0, 255, 0, 0};
    sb_buf png = png_of(pixels, 2, 1, 4);
    sb_picture_ask ask = plain;
    ask.box = 1;
    sb_picture p = decoded(sb_buf_slice(&png), &ask);
    const uint8_t want[] = {255, 0, 0, 128};
    assert_memory_equal(p.rgba, want, 4);
    sb_picture_free(&p);
    sb_buf_fini(&png);
}

static void a_jpeg_is_scaled_as_it_is_decoded(void **state) {
    (void)state;
    uint8_t pixels[64 * 48 * 3];
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i % 3 == 0 ? 200 : i % 3 == 1 ? 40 : 90);
    for (int is_progressive = 0; is_progressive < 2; is_progressive++) {
        sb_buf jpeg = jpeg_of(pixels, 64, 48, is_progressive != 0);
        for (uint32_t box = 0; box <= 64; box += 16) {
            sb_picture_ask ask = plain;
            ask.box = box;
            sb_picture p = decoded(sb_buf_slice(&jpeg), &ask);
            assert_int_equal(p.width, box ? box : 64);
            assert_int_equal(p.height, box ? box * 3 / 4 : 48);
            assert_true(abs(p.rgba[0] - 200) < 4 && abs(p.rgba[1] - 40) < 4 &&
                        abs(p.rgba[2] - 90) < 4);
            assert_int_equal(p.rgba[3], 255);
            sb_picture_free(&p);
        }
        sb_buf_fini(&jpeg);
    }
}

static void frames_of_a_gif_are_counted_and_drawn(void **state) {
    (void)state;
    enum { frames = 3, side = 10 };
    uint8_t pixels[frames * side * side * 3];
    for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)(80 * (i / (side * side * 3)));
    sb_buf gif;
    sb_err err;
    sb_buf_init(&gif, &sb_alloc_libc, 1 << 20);
    sb_pixel_shape shape = {.width = side, .height = side, .channels = 3, .frames = frames};
    assert_ok(sb_gif_encode(&gif, pixels, &shape, 10, &sb_alloc_libc, &err), &err);
    uint32_t n;
    uint16_t delays[8];
    assert_ok(sb_picture_frames(sb_buf_slice(&gif), 8, delays, &n, &err), &err);
    assert_int_equal(n, frames);
    for (uint32_t i = 0; i < n; i++) assert_int_equal(delays[i], 10);
    for (uint32_t i = 0; i < frames; i++) {
        sb_picture_ask ask = plain;
        ask.frame = i;
        sb_picture p = decoded(sb_buf_slice(&gif), &ask);
        assert_int_equal(p.rgba[0], 80 * i);
        assert_int_equal(p.rgba[4 * side * side - 2], 80 * i);
        sb_picture_free(&p);
    }
    sb_picture p;
    sb_picture_ask ask = plain;
    ask.frame = frames;
    assert_int_equal(sb_picture_decode(&p, sb_buf_slice(&gif), &ask, &sb_alloc_libc, &err),
                     SB_NOT_FOUND);
    assert_non_null(strstr(err.text, "3 frames"));
    sb_buf_fini(&gif);
}

static void what_is_too_large_is_refused_before_it_is_decoded(void **state) {
    (void)state;
    uint8_t *pixels = made_pixels(200, 100, 1);
    sb_buf png = png_of(pixels, 200, 100, 1);
    sb_picture p;
    sb_err err;
    sb_picture_ask ask = {.max_pixels = 19999, .max_held = 1 << 20};
    assert_int_equal(sb_picture_decode(&p, sb_buf_slice(&png), &ask, &sb_alloc_libc, &err),
                     SB_LIMIT);
    assert_non_null(strstr(err.text, "200 x 100 pixels"));
    ask = (sb_picture_ask){.max_pixels = 20000, .max_held = 100}; /* row by row it is fine */
    assert_int_equal(sb_picture_decode(&p, sb_buf_slice(&png), &ask, &sb_alloc_libc, &err),
                     SB_LIMIT);
    ask.box = 10;
    p = decoded(sb_buf_slice(&png), &ask);
    assert_int_equal(p.width, 10);
    sb_picture_free(&p);
    sb_buf_fini(&png);
    free(pixels);
}

static bool at_once(void *ud) {
    (void)ud;
    return true;
}

static void decoding_ends_when_time_is_over(void **state) {
    (void)state;
    uint8_t *pixels = made_pixels(8, 200, 3);
    sb_buf png = png_of(pixels, 8, 200, 3);
    sb_picture_ask ask = plain;
    ask.is_over = at_once;
    sb_picture p;
    assert_int_equal(sb_picture_decode(&p, sb_buf_slice(&png), &ask, &sb_alloc_libc, NULL),
                     SB_TIMEOUT);
    sb_buf_fini(&png);
    free(pixels);
}

/* Decodes and throws away; any status will do. */
static sb_status try(sb_slice bytes, uint32_t box) {
    sb_picture p;
    sb_picture_ask ask = {.box = box, .max_pixels = 1 << 20, .max_held = 1 << 18};
    sb_err err;
    sb_status status = sb_picture_decode(&p, bytes, &ask, &sb_alloc_libc, &err);
    if (status == SB_OK)
        sb_picture_free(&p);
    else
        assert_true(err.text[0] != '\0');
    uint32_t frames;
    sb_picture_frames(bytes, 100, NULL, &frames, NULL);
    return status;
}

static void cut_and_flipped_pictures_do_no_harm(void **state) {
    (void)state;
    uint8_t *pixels = made_pixels(33, 17, 3);
    sb_buf gif;
    sb_buf_init(&gif, &sb_alloc_libc, 1 << 20);
    sb_pixel_shape shape = {.width = 33, .height = 17, .channels = 3, .frames = 1};
    sb_err err;
    assert_ok(sb_gif_encode(&gif, pixels, &shape, 10, &sb_alloc_libc, &err), &err);
    sb_buf all[] = {png_of(pixels, 33, 17, 3), jpeg_of(pixels, 33, 17, false),
                    jpeg_of(pixels, 33, 17, true), gif};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        assert_int_equal(try(sb_buf_slice(&all[k]), 0), SB_OK);
        for (size_t n = 0; n < all[k].n; n += 1 + n / 64) {
            uint8_t *cut = malloc(n + 1); /* a block of its own: reading past it is seen */
            assert_non_null(cut);
            memcpy(cut, all[k].p, n);
            sb_status status = try(sb_slice_of(cut, n), n % 2 ? 0 : 8);
            if (k == 0 && n > 8 && n < all[k].n / 2) assert_int_equal(status, SB_CORRUPT);
            free(cut);
        }
        for (size_t at = 0; at < all[k].n; at += 1 + at / 32) {
            all[k].p[at] ^= (uint8_t)(1u << at % 8);
            try(sb_buf_slice(&all[k]), 8);
            all[k].p[at] ^= (uint8_t)(1u << at % 8);
        }
        sb_buf_fini(&all[k]);
    }
    free(pixels);
}

static sb_status decode_small(const sb_alloc *alloc, void *ud) {
    const sb_buf *bytes = ud;
    sb_picture p;
    sb_picture_ask ask = plain;
    ask.box = 8;
    sb_status status = sb_picture_decode(&p, sb_buf_slice(bytes), &ask, alloc, NULL);
    if (status == SB_OK) sb_picture_free(&p);
    return status;
}

static void memory_that_runs_out_is_said_and_nothing_leaks(void **state) {
    (void)state;
    uint8_t *pixels = made_pixels(33, 17, 3);
    sb_buf png = png_of(pixels, 33, 17, 3), jpeg = jpeg_of(pixels, 33, 17, false);
    sb_fault_alloc_sweep(decode_small, &png);
    sb_fault_alloc_sweep(decode_small, &jpeg);
    sb_buf_fini(&png);
    sb_buf_fini(&jpeg);
    free(pixels);
}

/* ---- comparing ------------------------------------------------------------------------------- */

static sb_picture noisy(uint32_t width, uint32_t height, uint32_t seed, int spread) {
    sb_picture p = {width, height, malloc((size_t)width * height * 4), &sb_alloc_libc};
    assert_non_null(p.rgba);
    uint32_t state = seed;
    for (size_t i = 0; i < (size_t)width * height * 4; i++) {
        state = state * 1664525u + 1013904223u;
        int base = (int)(i / 4 % width * 3 + i / 4 / width * 5) % 200 + 20;
        p.rgba[i] =
            (uint8_t)(i % 4 == 3 ? 255 : base + (int)(state >> 24) % (2 * spread + 1) - spread);
    }
    return p;
}

static void equal_pictures_are_equal(void **state) {
    (void)state;
    sb_picture a = noisy(40, 30, 1, 9);
    sb_comparison c;
    sb_err err;
    assert_ok(sb_pictures_compare(&c, &a, &a, &sb_alloc_libc, &err), &err);
    assert_true(isinf(c.psnr) && c.psnr > 0);
    assert_true(fabs(c.ssim - 1) < 1e-12);
    assert_true(c.mean == 0 && c.largest == 0 && c.share == 0);
    sb_picture_free(&a);
}

/* SSIM by its definition, window by window. */
static double ssim_by_hand(const sb_picture *a, const sb_picture *b) {
    double total = 0, weights[11][11], sum = 0;
    for (int y = 0; y < 11; y++)
        for (int x = 0; x < 11; x++)
            sum += weights[y][x] = exp(-((x - 5) * (x - 5) + (y - 5) * (y - 5)) / (2 * 1.5 * 1.5));
    int places = 0;
    for (uint32_t y = 0; y + 11 <= a->height; y++)
        for (uint32_t x = 0; x + 11 <= a->width; x++, places++) {
            double m[2] = {0}, v[3] = {0};
            for (int pass = 0; pass < 2; pass++)
                for (uint32_t j = 0; j < 11; j++)
                    for (uint32_t i = 0; i < 11; i++) {
                        const uint8_t *p = a->rgba + ((size_t)(y + j) * a->width + x + i) * 4;
                        const uint8_t *q = b->rgba + ((size_t)(y + j) * a->width + x + i) * 4;
                        double la = 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2];
                        double lb = 0.299 * q[0] + 0.587 * q[1] + 0.114 * q[2];
                        double w = weights[j][i] / sum;
                        if (pass == 0) {
                            m[0] += w * la;
                            m[1] += w * lb;
                        } else {
                            v[0] += w * (la - m[0]) * (la - m[0]);
                            v[1] += w * (lb - m[1]) * (lb - m[1]);
                            v[2] += w * (la - m[0]) * (lb - m[1]);
                        }
                    }
            double c1 = 6.5025, c2 = 58.5225;
            total += (2 * m[0] * m[1] + c1) * (2 * v[2] + c2) /
                     ((m[0] * m[0] + m[1] * m[1] + c1) * (v[0] + v[1] + c2));
        }
    return total / places;
}

static void numbers_are_those_of_the_definitions(void **state) {
    (void)state;
    sb_picture a = noisy(31, 27, 1, 3), b = noisy(31, 27, 2, 12);
    double squares = 0, sum = 0;
    uint32_t visible = 0;
    for (size_t i = 0; i < 31 * 27; i++) {
        int most = 0;
        for (size_t k = 0; k < 3; k++) {
            int d = abs(a.rgba[4 * i + k] - b.rgba[4 * i + k]);
            squares += d * d;
            sum += d;
            most = d > most ? d : most;
        }
        visible += most > 8;
    }
    double n = 31 * 27;
    sb_comparison c;
    sb_err err;
    assert_ok(sb_pictures_compare(&c, &a, &b, &sb_alloc_libc, &err), &err);
    assert_true(fabs(c.psnr - 10 * log10(255 * 255 * 3 * n / squares)) < 1e-9);
    assert_true(fabs(c.mean - sum / (3 * n)) < 1e-12);
    assert_true(fabs(c.share - visible / n) < 1e-12);
    assert_true(fabs(c.ssim - ssim_by_hand(&a, &b)) < 1e-9);
    assert_true(c.ssim < 0.99);
    sb_picture_free(&a);
    sb_picture_free(&b);
}

static void small_and_unequal_pictures(void **state) {
    (void)state;
    sb_picture a = noisy(1, 1, 1, 3), b = noisy(4, 3, 2, 3), d;
    sb_comparison c;
    sb_err err;
    assert_ok(sb_pictures_compare(&c, &a, &a, &sb_alloc_libc, &err), &err);
    assert_true(c.ssim == 1);
    assert_ok(sb_pictures_compare(&c, &b, &b, &sb_alloc_libc, &err), &err);
    assert_int_equal(sb_pictures_compare(&c, &a, &b, &sb_alloc_libc, &err), SB_INVALID);
    assert_non_null(strstr(err.text, "1 x 1 and 4 x 3"));
    assert_int_equal(sb_pictures_difference(&d, &a, &b, 64, &sb_alloc_libc, &err), SB_INVALID);
    sb_picture_free(&a);
    sb_picture_free(&b);
}

static void a_difference_is_the_more_opaque_the_larger_it_is(void **state) {
    (void)state;
    uint8_t of_a[] = {10, 10, 10, 255, 10, 10, 10, 255, 10, 10, 10, 255};
    uint8_t of_b[] = {10, 10, 10, 255, 10, 42, 10, 255, 200, 10, 10, 255};
    sb_picture a = {3, 1, of_a, &sb_alloc_libc}, b = {3, 1, of_b, &sb_alloc_libc}, d;
    sb_err err;
    assert_ok(sb_pictures_difference(&d, &a, &b, 64, &sb_alloc_libc, &err), &err);
    assert_int_equal(d.rgba[3], 0);
    assert_int_equal(d.rgba[7], 127);
    assert_int_equal(d.rgba[11], 255);
    sb_picture_free(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_png_comes_back_pixel_by_pixel),
        cmocka_unit_test(scaling_averages_areas),
        cmocka_unit_test(transparent_pixels_do_not_colour_their_neighbours),
        cmocka_unit_test(a_jpeg_is_scaled_as_it_is_decoded),
        cmocka_unit_test(frames_of_a_gif_are_counted_and_drawn),
        cmocka_unit_test(what_is_too_large_is_refused_before_it_is_decoded),
        cmocka_unit_test(decoding_ends_when_time_is_over),
        cmocka_unit_test(cut_and_flipped_pictures_do_no_harm),
        cmocka_unit_test(memory_that_runs_out_is_said_and_nothing_leaks),
        cmocka_unit_test(equal_pictures_are_equal),
        cmocka_unit_test(numbers_are_those_of_the_definitions),
        cmocka_unit_test(small_and_unequal_pictures),
        cmocka_unit_test(a_difference_is_the_more_opaque_the_larger_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
