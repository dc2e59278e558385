/* wav_read_test.c: headers that are true, that lie, and that are cut anywhere. */
#include "media/wav_read.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/slice.h"
#include "media/glance.h"
#include "support/test.h"
#include "base/banned.h"

typedef struct spec {
    unsigned format, channels, bits;
    uint32_t rate, claimed;
    const void *data;
    size_t n;
    const char *before; /* name of a chunk of 3 bytes before the samples */
} spec;

static size_t put_file(uint8_t *p, const spec *s) {
    unsigned frame = s->channels * ((s->bits + 7) / 8);
    size_t at = 12;
    memcpy(p, "RIFF\xff\xff\xff\xffWAVE", 12);
    memcpy(p + at, "fmt ", 4);
    sb_store32(p + at + 4, 16);
    sb_store16(p + at + 8, (uint16_t)s->format);
    sb_store16(p + at + 10, (uint16_t)s->channels);
    sb_store32(p + at + 12, s->rate);
    sb_store32(p + at + 16, s->rate * frame);
    sb_store16(p + at + 20, (uint16_t)frame);
    sb_store16(p + at + 22, (uint16_t)s->bits);
    at += 24;
    if (s->before) {
        memcpy(p + at, s->before, 4);
        sb_store32(p + at + 4, 3);
        memset(p + at + 8, 7, 4);
        at += 12;
    }
    memcpy(p + at, "data", 4);
    sb_store32(p + at + 4, s->claimed);
    if (s->n) memcpy(p + at + 8, s->data, s->n);
    return at + 8 + s->n;
}

static sb_status read_spec(sb_wav *out, const spec *s, sb_err *err) {
    static uint8_t file[512];
    return sb_wav_read(out, sb_slice_of(file, put_file(file, s)), err);
}

static void every_width_of_samples_is_read(void **state) {
    (void)state;
    static const struct {
        unsigned format, bits;
        uint8_t bytes[16];
        size_t n;
    } cases[] = {
        {1, 8, {0x80, 0xc0, 0x00}, 3},
        {1, 16, {0, 0, 0, 0x40, 0, 0x80}, 6},
        {1, 24, {0, 0, 0, 0, 0, 0x40, 0, 0, 0x80}, 9},
        {1, 32, {0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0x80}, 12},
        {3, 32, {0, 0, 0, 0, 0, 0, 0, 0x3f, 0, 0, 0x80, 0xbf}, 12},
        {1, 12, {0, 0, 0, 0x40, 0, 0x80}, 6},
    };
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        spec s = {cases[i].format, 1,          cases[i].bits,        8000, (uint32_t)cases[i].n,
                  cases[i].bytes,  cases[i].n, i % 2 ? "LIST" : NULL};
        sb_wav wav;
        sb_err err = {0};
        assert_ok(read_spec(&wav, &s, &err), &err);
        assert_int_equal(wav.frames, 3);
        assert_int_equal(wav.rate, 8000);
        assert_false(wav.is_cut);
        float x[3];
        sb_wav_samples(&wav, 0, 3, x);
        assert_true(x[0] == 0.0f && x[1] == 0.5f && x[2] == -1.0f);
    }
}

static void samples_that_are_not_finite_are_silence(void **state) {
    (void)state;
    double d[] = {sb_bits_double(0x7ff8000000000000), 0.25, sb_bits_double(0x7ff0000000000000),
                  -0.5};
    spec s = {3, 2, 64, 48000, sizeof d, d, sizeof d, NULL};
    sb_wav wav;
    assert_ok(read_spec(&wav, &s, NULL), NULL);
    assert_int_equal(wav.frames, 2);
    float x[4];
    sb_wav_samples(&wav, 0, 2, x);
    assert_true(x[0] == 0.0f && x[1] == 0.25f && x[2] == 0.0f && x[3] == -0.5f);
    sb_wav_samples(&wav, 1, 1, x);
    assert_true(x[0] == 0.0f && x[1] == -0.5f);
}

static void a_header_that_promises_too_much_is_cut_to_what_is_there(void **state) {
    (void)state;
    static const uint8_t bytes[7] = {1, 0, 2, 0, 3, 0, 4};
    spec s = {1, 1, 16, 8000, 4000000000u, bytes, sizeof bytes, NULL};
    sb_wav wav;
    assert_ok(read_spec(&wav, &s, NULL), NULL);
    assert_true(wav.is_cut);
    assert_int_equal(wav.frames, 3);
    s.claimed = UINT32_MAX; /* streamed: nobody knew */
    assert_ok(read_spec(&wav, &s, NULL), NULL);
    assert_false(wav.is_cut);
    assert_int_equal(wav.frames, 3);
    s.claimed = 0;
    assert_ok(read_spec(&wav, &s, NULL), NULL);
    assert_int_equal(wav.frames, 3);
    s.n = 0;
    assert_ok(read_spec(&wav, &s, NULL), NULL);
    assert_int_equal(wav.frames, 0);
    assert_false(wav.is_cut);
}

static void headers_that_contradict_themselves_are_refused(void **state) {
    (void)state;
    static const uint8_t bytes[8] = {0};
    static const spec cases[] = {
        {1, 0, 16, 8000, 8, bytes, 8, NULL}, {1, 1, 16, 0, 8, bytes, 8, NULL},
        {1, 1, 0, 8000, 8, bytes, 8, NULL},  {1, 1, 40, 8000, 8, bytes, 8, NULL},
        {3, 1, 16, 8000, 8, bytes, 8, NULL},
    };
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        sb_wav wav;
        sb_err err = {0};
        assert_int_equal(read_spec(&wav, &cases[i], &err), SB_CORRUPT);
        assert_int_not_equal(err.text[0], 0);
    }
    sb_wav wav;
    spec packed = {6, 1, 8, 8000, 8, bytes, 8, NULL}; /* A-law */
    assert_int_equal(read_spec(&wav, &packed, NULL), SB_LIMIT);
    assert_int_equal(sb_wav_read(&wav, SB_LIT("<html>RIFF"), NULL), SB_NOT_FOUND);
    assert_int_equal(sb_wav_read(&wav, SB_LIT("RIFF\0\0\0\0WAVEdata\4\0\0\0abcd"), NULL),
                     SB_CORRUPT);
}

/* Each prefix stands in a block of its own, so that the sanitizer sees a read past its end. */
static void a_file_cut_anywhere_reads_nothing_behind_it(void **state) {
    (void)state;
    uint8_t file[128];
    static const uint8_t bytes[12] = {1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0};
    spec s = {1, 2, 16, 8000, sizeof bytes, bytes, sizeof bytes, "LIST"};
    size_t n = put_file(file, &s);
    for (size_t cut = 0; cut <= n; cut++) {
        uint8_t *copy = malloc(cut ? cut : 1);
        assert_non_null(copy);
        memcpy(copy, file, cut);
        sb_wav wav;
        if (sb_wav_read(&wav, sb_slice_of(copy, cut), NULL) == SB_OK) {
            float x[6];
            assert_true(wav.frames <= 3);
            sb_wav_samples(&wav, 0, (size_t)wav.frames, x);
        }
        free(copy);
    }
}

static void a_glance_tells_rate_channels_and_length(void **state) {
    (void)state;
    uint8_t file[128];
    static const uint8_t bytes[12] = {0};
    spec s = {1, 2, 16, 22050, sizeof bytes, bytes, sizeof bytes, NULL};
    size_t n = put_file(file, &s);
    sb_glance g = sb_glance_clip(sb_slice_of(file, n));
    assert_int_equal(g.media, SB_MEDIA_WAV);
    assert_int_equal(g.width_or_rate, 22050);
    assert_int_equal(g.height_or_frames, 3);
    assert_int_equal(g.channels, 2);
    assert_int_equal(g.bytes, n);
    sb_store16(file + 22,
               0); /* no channels: still called a WAV file, but nothing of it is believed */
    g = sb_glance_clip(sb_slice_of(file, n));
    assert_int_equal(g.media, SB_MEDIA_WAV);
    assert_int_equal(g.width_or_rate, 0);
    g = sb_glance_clip(SB_LIT("not a clip"));
    assert_int_equal(g.media, SB_MEDIA_UNKNOWN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_width_of_samples_is_read),
        cmocka_unit_test(samples_that_are_not_finite_are_silence),
        cmocka_unit_test(a_header_that_promises_too_much_is_cut_to_what_is_there),
        cmocka_unit_test(headers_that_contradict_themselves_are_refused),
        cmocka_unit_test(a_file_cut_anywhere_reads_nothing_behind_it),
        cmocka_unit_test(a_glance_tells_rate_channels_and_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
