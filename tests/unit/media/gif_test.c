/* gif_test.c: what is written is what giflib reads: exact colours up to 256, near ones above. */
#include "media/gif.h"

#include <gif_lib.h>
#include <math.h>
#include <stdlib.h>

#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

struct reader {
    sb_slice rest;
};

static int read_bytes(GifFileType *gif, GifByteType *p, int n) {
    struct reader *r = gif->UserData;
    size_t take = (size_t)n < r->rest.n ? (size_t)n : r->rest.n;
    memcpy(p, r->rest.p, take);
    r->rest = sb_slice_of(r->rest.p + take, r->rest.n - take);
    return (int)take;
}

static GifFileType *decode(sb_slice file) {
    struct reader r = {file};
    int code = 0;
    GifFileType *gif = DGifOpen(&r, read_bytes, &code);
    assert_non_null(gif);
    assert_int_equal(DGifSlurp(gif), GIF_OK);
    assert_int_equal(r.rest.n, 0);
    gif->UserData = NULL;
    return gif;
}

static void free_gif(GifFileType *gif) {
    int code = 0;
    assert_int_equal(DGifCloseFile(gif, &code), GIF_OK);
}

static const GifColorType *pixel(const GifFileType *gif, int frame, size_t i) {
    const SavedImage *image = &gif->SavedImages[frame];
    const ColorMapObject *map = image->ImageDesc.ColorMap;
    if (!map) map = gif->SColorMap;
    assert_non_null(map);
    assert_in_range(image->RasterBits[i], 0, (unsigned long)map->ColorCount - 1);
    return &map->Colors[image->RasterBits[i]];
}

/* The largest difference of a channel; *mean gets the mean one. */
static int difference(double *mean, sb_slice file, const uint8_t *frames, const sb_pixel_shape *s) {
    GifFileType *gif = decode(file);
    assert_int_equal(gif->SWidth, s->width);
    assert_int_equal(gif->SHeight, s->height);
    assert_int_equal(gif->ImageCount, s->frames);
    size_t count = (size_t)s->width * s->height;
    int worst = 0;
    double sum = 0;
    for (uint32_t f = 0; f < s->frames; f++) {
        assert_int_equal(gif->SavedImages[f].ImageDesc.Width, s->width);
        assert_int_equal(gif->SavedImages[f].ImageDesc.Height, s->height);
        for (size_t i = 0; i < count; i++) {
            const uint8_t *p = frames + (f * count + i) * s->channels;
            const GifColorType *c = pixel(gif, (int)f, i);
            int d[3] = {abs(c->Red - p[0]), abs(c->Green - p[s->channels < 3 ? 0 : 1]),
                        abs(c->Blue - p[s->channels < 3 ? 0 : 2])};
            for (int k = 0; k < 3; k++) {
                if (d[k] > worst) worst = d[k];
                sum += d[k];
            }
        }
    }
    *mean = sum / (3.0 * (double)count * s->frames);
    free_gif(gif);
    return worst;
}

static void encode(sb_buf *out, const uint8_t *frames, const sb_pixel_shape *s, double fps) {
    sb_err err = {0};
    sb_buf_init(out, &sb_alloc_libc, 1 << 24);
    assert_ok(sb_gif_encode(out, frames, s, fps, &sb_alloc_libc, &err), &err);
}

static void comes_back_exactly(const uint8_t *frames, const sb_pixel_shape *s) {
    sb_buf out;
    double mean;
    encode(&out, frames, s, 4);
    assert_int_equal(difference(&mean, sb_buf_slice(&out), frames, s), 0);
    sb_buf_fini(&out);
}

static uint8_t *make(const sb_pixel_shape *s) {
    uint8_t *p = malloc((size_t)s->width * s->height * s->channels * s->frames);
    assert_non_null(p);
    return p;
}

static void few_colours_come_back_exactly_in_all_sizes(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {1, 9}, {9, 1}, {2, 3}, {37, 11}, {300, 2}};
    sb_test_random r = sb_test_random_of(5);
    for (size_t i = 0; i < SB_COUNT(sizes); i++) {
        for (uint32_t channels = 1; channels <= 4; channels++) {
            for (unsigned colours = 1; colours <= 256; colours = colours * 3 + 1) {
                sb_pixel_shape s = {sizes[i][0], sizes[i][1], channels, 3};
                uint8_t *p = make(&s);
                size_t n = (size_t)s.width * s.height * s.frames;
                for (size_t k = 0; k < n; k++) {
                    uint8_t v = (uint8_t)sb_test_below(&r, colours);
                    for (uint32_t c = 0; c < channels; c++) {
                        p[k * channels + c] = (uint8_t)(v * (c + 1) + c);
                    }
                }
                comes_back_exactly(p, &s);
                free(p);
            }
        }
    }
}

/* Frame f has the 256 colours 256 f .. 256 f + 255: each frame is exact with colours of its own. */
static void frames_have_their_own_colours_when_they_need_them(void **state) {
    (void)state;
    sb_pixel_shape s = {16, 16, 3, 3};
    uint8_t *p = make(&s);
    for (size_t i = 0; i < (size_t)256 * 3; i++) {
        p[3 * i] = (uint8_t)i;
        p[3 * i + 1] = (uint8_t)(i >> 8);
        p[3 * i + 2] = (uint8_t)(i * 7);
    }
    comes_back_exactly(p, &s);
    sb_buf out;
    encode(&out, p, &s, 4);
    GifFileType *gif = decode(sb_buf_slice(&out));
    assert_null(gif->SColorMap);
    for (int f = 0; f < 3; f++) assert_non_null(gif->SavedImages[f].ImageDesc.ColorMap);
    free_gif(gif);
    sb_buf_fini(&out);
    s.frames = 1;
    encode(&out, p, &s, 4);
    gif = decode(sb_buf_slice(&out));
    assert_non_null(gif->SColorMap);
    assert_null(gif->SavedImages[0].ImageDesc.ColorMap);
    free_gif(gif);
    sb_buf_fini(&out);
    free(p);
}

static void many_colours_come_near(void **state) {
    (void)state;
    sb_pixel_shape s = {128, 96, 3, 2};
    size_t count = (size_t)s.width * s.height * s.frames;
    uint8_t *p = make(&s);
    for (size_t i = 0; i < count; i++) { /* a smooth picture, as videos are */
        size_t x = i % s.width, y = i / s.width % s.height;
        p[3 * i] = (uint8_t)(2 * x);
        p[3 * i + 1] = (uint8_t)(2 * y + 10 * (i / (count / 2)));
        p[3 * i + 2] = (uint8_t)(255 - x - y / 2);
    }
    sb_buf out;
    double mean;
    encode(&out, p, &s, 4);
    int worst = difference(&mean, sb_buf_slice(&out), p, &s);
    assert_in_range(worst, 1, 20);
    assert_true(mean < 4.5);
    sb_buf_fini(&out);
    sb_test_random r = sb_test_random_of(9);
    sb_test_fill(&r, p, count * 3); /* noise: 256 colours for the whole cube */
    encode(&out, p, &s, 4);
    worst = difference(&mean, sb_buf_slice(&out), p, &s);
    assert_in_range(worst, 1, 64);
    assert_true(mean < 13.0);
    sb_buf_fini(&out);
    free(p);
}

/* Most pixels are of a dark range, a few are anywhere: colours are spent where the pixels are. */
static void common_colours_are_kept_best(void **state) {
    (void)state;
    sb_pixel_shape s = {100, 100, 3, 1};
    uint8_t *p = make(&s);
    sb_test_random r = sb_test_random_of(3);
    sb_test_fill(&r, p, 30000);
    for (size_t i = 500; i < 10000; i++) {
        p[3 * i] = (uint8_t)(i % 64);
        p[3 * i + 1] = (uint8_t)(i / 64 % 64);
        p[3 * i + 2] = 40;
    }
    sb_buf out;
    encode(&out, p, &s, 4);
    GifFileType *gif = decode(sb_buf_slice(&out));
    int sum = 0;
    for (size_t i = 500; i < 10000; i++) {
        const GifColorType *c = pixel(gif, 0, i);
        sum += abs(c->Red - p[3 * i]) + abs(c->Green - p[3 * i + 1]) + abs(c->Blue - 40);
    }
    assert_in_range(sum, 0, 9500 * 6);
    free_gif(gif);
    sb_buf_fini(&out);
    free(p);
}

static int total_delay(double fps, uint32_t frames, int *least, int *most) {
    sb_pixel_shape s = {1, 1, 1, frames};
    uint8_t *p = make(&s);
    memset(p, 9, frames);
    sb_buf out;
    encode(&out, p, &s, fps);
    GifFileType *gif = decode(sb_buf_slice(&out));
    int sum = 0;
    *least = 1 << 30;
    *most = 0;
    for (int f = 0; f < gif->ImageCount; f++) {
        GraphicsControlBlock control;
        assert_int_equal(DGifSavedExtensionToGCB(gif, f, &control), GIF_OK);
        assert_int_equal(control.TransparentColor, NO_TRANSPARENT_COLOR);
        sum += control.DelayTime;
        if (control.DelayTime < *least) *least = control.DelayTime;
        if (control.DelayTime > *most) *most = control.DelayTime;
    }
    free_gif(gif);
    sb_buf_fini(&out);
    free(p);
    return sum;
}

static void delays_follow_the_frame_rate_and_add_up(void **state) {
    (void)state;
    int least, most;
    assert_int_equal(total_delay(4, 8, &least, &most), 200);
    assert_int_equal(least, 25);
    assert_int_equal(most, 25);
    assert_int_equal(total_delay(30, 60, &least, &most), 200);
    assert_int_equal(least, 3);
    assert_int_equal(most, 4);
    assert_int_equal(total_delay(1000, 5, &least, &most), 10);
    assert_int_equal(total_delay(1e300, 5, &least, &most), 10);
    assert_int_equal(total_delay(1e-300, 2, &least, &most), 2 * 65535);
    assert_int_equal(total_delay(0.5, 1, &least, &most), 200);
    assert_int_equal(total_delay(6, 1, &least, &most), 17);
}

static void it_repeats_for_ever(void **state) {
    (void)state;
    sb_pixel_shape s = {2, 1, 1, 2};
    sb_buf out;
    encode(&out, (const uint8_t *)"\1\2\3\4", &s, 4);
    static const char loop[] = "\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00";
    assert_non_null(memmem(out.p, out.n, loop, sizeof loop));
    assert_slice_is(sb_slice_of(out.p, 6), "GIF89a");
    assert_int_equal(out.p[out.n - 1], 0x3b);
    sb_buf_fini(&out);
}

static void senseless_arguments_are_refused_unread(void **state) {
    (void)state;
    static const struct {
        sb_pixel_shape shape;
        double fps;
        sb_status status;
    } cases[] = {
        {{0, 1, 3, 1}, 4, SB_INVALID},
        {{1, 0, 3, 1}, 4, SB_INVALID},
        {{1, 1, 0, 1}, 4, SB_INVALID},
        {{1, 1, 5, 1}, 4, SB_INVALID},
        {{1, 1, 3, 0}, 4, SB_INVALID},
        {{1, 1, 3, 1}, 0, SB_INVALID},
        {{1, 1, 3, 1}, -1, SB_INVALID},
        {{1, 1, 3, 1}, (double)NAN, SB_INVALID},
        {{1, 1, 3, 1}, (double)INFINITY, SB_INVALID},
        {{65536, 1, 3, 1}, 4, SB_LIMIT},
        {{1, UINT32_MAX, 3, 1}, 4, SB_LIMIT},
    };
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 20);
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        sb_err err = {0};
        assert_int_equal(
            sb_gif_encode(&out, NULL, &cases[i].shape, cases[i].fps, &sb_alloc_libc, &err),
            cases[i].status);
        assert_int_equal(err.code, cases[i].status);
        assert_int_equal(out.n, 0);
    }
    sb_buf_fini(&out);
}

static void a_full_buffer_is_a_limit_and_keeps_what_it_held(void **state) {
    (void)state;
    sb_pixel_shape s = {12, 10, 3, 2};
    uint8_t *p = make(&s);
    sb_test_random r = sb_test_random_of(4);
    sb_test_fill(&r, p, 720);
    sb_buf whole;
    encode(&whole, p, &s, 4);
    for (size_t cap = 4; cap <= whole.n + 4; cap++) {
        sb_buf out;
        sb_buf_init(&out, &sb_alloc_libc, cap);
        sb_buf_add_str(&out, "head");
        sb_err err = {0};
        sb_status status = sb_gif_encode(&out, p, &s, 4, &sb_alloc_libc, &err);
        if (cap < whole.n + 4) {
            assert_int_equal(status, SB_LIMIT);
            assert_int_equal(err.code, SB_LIMIT);
            assert_slice_is(sb_buf_slice(&out), "head");
        } else {
            assert_int_equal(status, SB_OK);
        }
        sb_buf_fini(&out);
    }
    sb_buf_fini(&whole);
    free(p);
}

static sb_status encode_one(const sb_alloc *alloc, void *ud) {
    sb_pixel_shape s = {12, 10, 3, 2};
    sb_buf out;
    sb_buf_init(&out, alloc, 1 << 20);
    sb_err err = {0};
    sb_status status = sb_gif_encode(&out, ud, &s, 4, alloc, &err);
    if (status != SB_OK) assert_int_equal(err.code, status);
    sb_buf_fini(&out);
    return status;
}

static void each_failed_allocation_is_reported(void **state) {
    (void)state;
    uint8_t pixels[720];
    sb_test_random r = sb_test_random_of(4);
    sb_test_fill(&r, pixels, sizeof pixels);
    sb_fault_alloc_sweep(encode_one, pixels);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_colours_come_back_exactly_in_all_sizes),
        cmocka_unit_test(frames_have_their_own_colours_when_they_need_them),
        cmocka_unit_test(many_colours_come_near),
        cmocka_unit_test(common_colours_are_kept_best),
        cmocka_unit_test(delays_follow_the_frame_rate_and_add_up),
        cmocka_unit_test(it_repeats_for_ever),
        cmocka_unit_test(senseless_arguments_are_refused_unread),
        cmocka_unit_test(a_full_buffer_is_a_limit_and_keeps_what_it_held),
        cmocka_unit_test(each_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
