/* sound_test.c: pictures and measures of clips, held against sums done by hand. */
#include "media/view/sound.h"

#include <math.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/slice.h"
#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

#define RATE 48000u

static uint8_t *bytes_of;

/* n frames of float samples in -1..1. */
static sb_wav wav_of(const float *x, size_t frames, unsigned channels, uint32_t rate) {
    size_t n = frames * channels * 4;
    free(bytes_of);
    bytes_of = malloc(n ? n : 1);
    assert_non_null(bytes_of);
    for (size_t i = 0; i < frames * channels; i++)
        sb_store32(bytes_of + 4 * i, sb_float_bits(x[i]));
    return (sb_wav){.rate = rate,
                    .channels = (uint16_t)channels,
                    .bits = 32,
                    .width = 4,
                    .is_float = true,
                    .data = sb_slice_of(bytes_of, n),
                    .frames = frames};
}

static float *sine(size_t frames, double hertz, double size) {
    float *x = malloc(frames * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < frames; i++)
        x[i] = (float)(size * sin(2.0 * 3.14159265358979 * hertz * (double)i / RATE));
    return x;
}

static void each_column_has_its_least_and_greatest_sample(void **state) {
    (void)state;
    float x[1000], low[7], high[7];
    sb_test_random random = sb_test_random_of(7);
    for (size_t i = 0; i < 1000; i++) x[i] = (float)sb_test_below(&random, 2001) / 1000.0f - 1.0f;
    sb_wav wav = wav_of(x, 500, 2, RATE);
    sb_sound_measures m;
    assert_ok(sb_sound_wave(&wav, 7, low, high, &m, NULL, &sb_alloc_libc, NULL), NULL);
    float peak = 0;
    for (size_t c = 0; c < 7; c++) {
        float a = 2, b = -2;
        for (size_t i = 500 * c / 7; i < 500 * (c + 1) / 7; i++) {
            for (size_t k = 0; k < 2; k++) {
                a = fminf(a, x[2 * i + k]);
                b = fmaxf(b, x[2 * i + k]);
            }
        }
        assert_true(low[c] == a && high[c] == b);
        peak = fmaxf(peak, fmaxf(-a, b));
    }
    assert_true((float)m.peak == peak);
}

static void few_frames_fill_many_columns_and_none_fill_them_with_silence(void **state) {
    (void)state;
    float x[] = {0.5f, -0.5f}, low[8], high[8];
    sb_sound_measures m;
    sb_wav wav = wav_of(x, 2, 1, RATE);
    assert_ok(sb_sound_wave(&wav, 8, low, high, &m, NULL, &sb_alloc_libc, NULL), NULL);
    for (size_t i = 0; i < 8; i++)
        assert_true(low[i] == (i < 4 ? 0.5f : -0.5f) && high[i] == low[i]);
    wav = wav_of(x, 0, 1, RATE);
    uint8_t spectrum[64];
    assert_ok(sb_sound_wave(&wav, 8, low, high, &m, NULL, &sb_alloc_libc, NULL), NULL);
    assert_ok(sb_sound_spectrum(&wav, 8, 8, SB_SOUND_MEL, spectrum, NULL, &sb_alloc_libc, NULL),
              NULL);
    for (size_t i = 0; i < 8; i++)
        assert_true(low[i] == 0.0f && high[i] == 0.0f && spectrum[i] == 0);
    assert_true(isinf(m.loudness) && m.loudness < 0);
}

/* The standard's own example: a sine of 997 Hz at full scale in one channel is -3.01 LUFS. */
static void loudness_is_that_of_the_standard(void **state) {
    (void)state;
    float low[4], high[4];
    sb_sound_measures m;
    float *x = sine(RATE * 3, 997.0, 1.0);
    sb_wav wav = wav_of(x, RATE * 3, 1, RATE);
    assert_ok(sb_sound_wave(&wav, 4, low, high, &m, NULL, &sb_alloc_libc, NULL), NULL);
    assert_true(fabs(m.loudness - -3.01) < 0.02);
    assert_true(fabs(m.rms - sqrt(0.5)) < 1e-4);
    free(x);
    x = sine(RATE * 3, 997.0, 0.1); /* then two seconds of silence, which the gate leaves out */
    for (size_t i = RATE; i < RATE * 3; i++) x[i] = 0;
    wav = wav_of(x, RATE * 3, 1, RATE);
    assert_ok(sb_sound_wave(&wav, 4, low, high, &m, NULL, &sb_alloc_libc, NULL), NULL);
    assert_true(m.loudness > -24.2 && m.loudness < -23.0);
    free(x);
    x = sine(3000, 12001.0, 0.5); /* a rate below the filters' frequencies */
    wav = wav_of(x, 3000, 1, 1000);
    assert_ok(sb_sound_wave(&wav, 4, low, high, &m, NULL, &sb_alloc_libc, NULL), NULL);
    assert_true(fabs(m.loudness - 20.0 * log10(m.rms) - -0.691) < 1.0);
    free(x);
    x = sine(100, 997.0, 0.5); /* shorter than a block */
    wav = wav_of(x, 100, 1, RATE);
    assert_ok(sb_sound_wave(&wav, 4, low, high, &m, NULL, &sb_alloc_libc, NULL), NULL);
    assert_true(isfinite(m.loudness));
    free(x);
}

static void clipped_and_impossible_samples_are_counted(void **state) {
    (void)state;
    float x[] = {0, 1, 0.2f, 1, 1, 1, -1, 0, NAN, INFINITY}, low[2], high[2];
    sb_wav wav = wav_of(x, SB_COUNT(x), 1, RATE);
    sb_sound_measures m;
    assert_ok(sb_sound_wave(&wav, 2, low, high, &m, NULL, &sb_alloc_libc, NULL), NULL);
    assert_int_equal(m.clipped, 3);
    assert_int_equal(m.not_finite, 2);
    assert_true(m.peak == 1.0 && isfinite(m.rms) && isfinite(m.loudness));
}

/* The row of a sine's frequency is the brightest of every column, at its own strength. */
static void a_sine_is_one_bright_row(void **state) {
    (void)state;
    enum { columns = 20, rows = 96 };
    static uint8_t out[columns * rows];
    for (int scale = SB_SOUND_MEL; scale <= SB_SOUND_LINEAR; scale++) {
        float *x = sine(RATE, 3000.0, 0.1);
        sb_wav wav = wav_of(x, RATE, 1, RATE);
        assert_ok(sb_sound_spectrum(&wav, columns, rows, (sb_sound_scale)scale, out, NULL,
                                    &sb_alloc_libc, NULL),
                  NULL);
        double place = 0;
        while (sb_sound_frequency((sb_sound_scale)scale, place, RATE / 2.0) < 3000)
            place += 1.0 / 4096;
        for (size_t c = 1; c + 1 < columns; c++) {
            size_t best = 0;
            for (size_t r = 0; r < rows; r++)
                if (out[r * columns + c] > out[best * columns + c]) best = r;
            assert_true(fabs((double)(rows - 1 - best) + 0.5 - place * rows) < 1.6);
            double db = SB_SOUND_FLOOR - SB_SOUND_FLOOR * out[best * columns + c] / 255.0;
            assert_true(fabs(db - -20.0) < 1.6); /* between two bins a window loses up to 1.4 dB */
            assert_true(out[c] < 60);            /* nothing near half the rate */
        }
        free(x);
    }
}

static bool is_over(void *ud) {
    return ++*(int *)ud > 2;
}

static void who_does_not_wait_any_more_stops_it(void **state) {
    (void)state;
    float *x = sine(RATE * 2, 100, 0.5), low[64], high[64];
    sb_wav wav = wav_of(x, RATE * 2, 1, RATE);
    sb_sound_measures m;
    static uint8_t out[64 * 64];
    int asked = 0;
    sb_sound_stop stop = {is_over, &asked};
    assert_int_equal(sb_sound_wave(&wav, 64, low, high, &m, &stop, &sb_alloc_libc, NULL),
                     SB_TIMEOUT);
    asked = 0;
    assert_int_equal(
        sb_sound_spectrum(&wav, 64, 64, SB_SOUND_MEL, out, &stop, &sb_alloc_libc, NULL),
        SB_TIMEOUT);
    free(x);
}

static sb_status draw_all(const sb_alloc *alloc, void *ud) {
    float low[4], high[4];
    uint8_t out[16];
    sb_sound_measures m;
    sb_status status = sb_sound_wave(ud, 4, low, high, &m, NULL, alloc, NULL);
    if (status == SB_OK) status = sb_sound_spectrum(ud, 4, 4, SB_SOUND_MEL, out, NULL, alloc, NULL);
    return status;
}

static void memory_that_fails_at_any_request_leaks_nothing(void **state) {
    (void)state;
    float x[64] = {0};
    sb_wav wav = wav_of(x, 32, 2, RATE);
    sb_fault_alloc_sweep(draw_all, &wav);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_column_has_its_least_and_greatest_sample),
        cmocka_unit_test(few_frames_fill_many_columns_and_none_fill_them_with_silence),
        cmocka_unit_test(loudness_is_that_of_the_standard),
        cmocka_unit_test(clipped_and_impossible_samples_are_counted),
        cmocka_unit_test(a_sine_is_one_bright_row),
        cmocka_unit_test(who_does_not_wait_any_more_stops_it),
        cmocka_unit_test(memory_that_fails_at_any_request_leaks_nothing),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(bytes_of);
    return failed;
}
