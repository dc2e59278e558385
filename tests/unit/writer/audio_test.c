/* audio_test.c: sound in every style: shapes, rounding, tags. */
#include <math.h>

#include "base/bytes.h"
#include "support/writer_bed.h"

#include "base/banned.h"

/* Captured from tf.summary.audio("a", zeros (2, 2, 1), 8000, step=1). */
#define TF2_EVENT                                                                                  \
    "10012a8b010a88010a016142740807120812020802120208024230524946462800000057415645666d7420100000" \
    "00"                                                                                           \
    "01000100401f0000803e00000200100064617461040000000000000042004230524946462800000057415645666d" \
    "74"                                                                                           \
    "201000000001000100401f0000803e00000200100064617461040000000000000042004a0d0a0b0a05617564696f" \
    "12"                                                                                           \
    "02100b"
/* Captured from tf.compat.v1.summary.audio("au", zeros (2, 2), 8000.5), step 9. */
#define TF1_EVENT                                                                                  \
    "10092aac010a540a0a61752f617564696f2f3032460d0004fa45100118022230524946462800000057415645666d" \
    "74"                                                                                           \
    "201000000001000100401f0000803e0000020010006461746104000000000000002a09617564696f2f7761760a54" \
    "0a"                                                                                           \
    "0a61752f617564696f2f3132460d0004fa45100118022230524946462800000057415645666d7420100000000100" \
    "01"                                                                                           \
    "00401f0000803e0000020010006461746104000000000000002a09617564696f2f776176"

static void events_have_the_bytes_of_tensorflow(void **state) {
    static const float silence[4];
    bed b = bed_open(*state, "tf2", SB_STYLE_TF2);
    assert_int_equal(sb_audio(b.w, "a", &ARRAY_OF(SB_FLOAT, silence, 2, 2, 1), 8000, 0, 1, NULL),
                     SB_OK);
    bed_close(&b);
    assert_event_bytes(&b, 0, TF2_EVENT);
    bed_free(&b);
    b = bed_open(*state, "tf1", SB_STYLE_TF1);
    assert_int_equal(sb_audio(b.w, "au", &ARRAY_OF(SB_FLOAT, silence, 2, 2), 8000.5, 0, 9, NULL),
                     SB_OK);
    bed_close(&b);
    assert_event_bytes(&b, 0, TF1_EVENT);
    bed_free(&b);
}

static sb_summary_audio audio_of(const bed *b, size_t i) {
    sb_value value = bed_value(b, i, 0);
    sb_summary_audio audio;
    assert_int_equal(value.kind, SB_VALUE_KIND_AUDIO);
    assert_int_equal(sb_summary_audio_read(&audio, value.body), SB_OK);
    return audio;
}

static int16_t sample_at(sb_slice wav, size_t i) {
    return (int16_t)sb_load16(wav.p + 44 + 2 * i);
}

/* The same signal, three ways of rounding; odd numbers never become noise. */
static void every_framework_rounds_in_its_own_way(void **state) {
    const float x[] = {0.3f, -0.3f, 1, -1, 2, -2, NAN, INFINITY, -INFINITY, 0.00001f, -0.00001f};
    const int16_t torch[] = {9830, -9830, 32767, -32767, 32767, -32767, 0, 32767, -32767, 0, 0};
    const int16_t tbx[] = {9830, -9831, 32767, -32768, 32767, -32768, 0, 32767, -32768, 0, -1};
    const int16_t tf[] = {9830, -9830, 32767, -32768, 32767, -32768, 0, 32767, -32768, 0, 0};
    const struct {
        sb_style style;
        const int16_t *expected;
    } rows[] = {{SB_STYLE_TORCH, torch}, {SB_STYLE_TBX, tbx}, {SB_STYLE_TF1, tf}};
    double wide[SB_COUNT(x)];
    for (size_t i = 0; i < SB_COUNT(x); i++) wide[i] = (double)x[i];
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        char name[32];
        snprintf(name, sizeof name, "rounding%zu", i);
        bed b = bed_open(*state, name, rows[i].style);
        int64_t n = (int64_t)SB_COUNT(x);
        sb_array one = ARRAY_OF(SB_FLOAT, x, n), batch = ARRAY_OF(SB_FLOAT, x, 1, n);
        sb_array doubles = ARRAY_OF(SB_DOUBLE, wide, n), more = ARRAY_OF(SB_DOUBLE, wide, 1, n);
        bool tf1 = rows[i].style == SB_STYLE_TF1;
        assert_int_equal(sb_audio(b.w, "a", tf1 ? &batch : &one, 44100, 1, 1, NULL), SB_OK);
        assert_int_equal(sb_audio(b.w, "b", tf1 ? &more : &doubles, 44100, 1, 1, NULL), SB_OK);
        bed_close(&b);
        for (size_t event = 0; event < 2; event++) {
            sb_summary_audio audio = audio_of(&b, event);
            assert_int_equal(audio.frames, n);
            for (size_t k = 0; k < SB_COUNT(x); k++)
                assert_int_equal(sample_at(audio.encoded, k), rows[i].expected[k]);
        }
        bed_free(&b);
    }
}

static void torch_squeezes_and_tensorboardx_takes_two_channels(void **state) {
    static const float x[8];
    bed b = bed_open(*state, "torch", SB_STYLE_TORCH);
    assert_int_equal(sb_audio(b.w, "a", &ARRAY_OF(SB_FLOAT, x, 1, 8, 1), 100, 0, 1, NULL), SB_OK);
    assert_int_equal(sb_audio(b.w, "a", &ARRAY_OF(SB_FLOAT, x, 1, 1), 100, 0, 1, NULL), SB_OK);
    assert_int_equal(sb_audio(b.w, "a", &ARRAY_OF(SB_FLOAT, x, 0), 100, 0, 1, NULL), SB_OK);
    assert_refused(b.w, sb_audio(b.w, "a", &ARRAY_OF(SB_FLOAT, x, 2, 4), 100, 0, 1, NULL),
                   SB_INVALID, "one channel");
    bed_close(&b);
    assert_int_equal(audio_of(&b, 0).frames, 8);
    assert_int_equal(audio_of(&b, 1).frames, 1);
    assert_int_equal(audio_of(&b, 2).frames, 0);
    bed_free(&b);
    b = bed_open(*state, "tbx", SB_STYLE_TBX);
    assert_int_equal(sb_audio(b.w, "a", &ARRAY_OF(SB_FLOAT, x, 4, 2), 100, 0, 1, NULL), SB_OK);
    assert_refused(b.w, sb_audio(b.w, "a", &ARRAY_OF(SB_FLOAT, x, 2, 4), 100, 0, 1, NULL),
                   SB_INVALID, "4 channels");
    bed_close(&b);
    assert_int_equal(audio_of(&b, 0).channels, 2);
    bed_free(&b);
}

static void clips_beyond_max_outputs_stay_out(void **state) {
    static const float x[10 * 6];
    bed b = bed_open(*state, "most", SB_STYLE_TF1);
    assert_int_equal(sb_audio(b.w, "a", &ARRAY_OF(SB_FLOAT, x, 10, 6), 100, 0, 1, NULL), SB_OK);
    assert_int_equal(sb_audio(b.w, "a", &ARRAY_OF(SB_FLOAT, x, 10, 6), 100, 1, 1, NULL), SB_OK);
    assert_int_equal(sb_audio(b.w, "a", &ARRAY_OF(SB_FLOAT, x, 0, 6), 100, 1, 1, NULL), SB_OK);
    bed_close(&b);
    assert_int_equal(bed_value_count(&b, 0), 3);
    assert_slice_is(bed_value(&b, 0, 2).tag, "a/audio/2");
    assert_int_equal(bed_value_count(&b, 1), 1);
    assert_slice_is(bed_value(&b, 1, 0).tag, "a/audio");
    assert_int_equal(bed_value_count(&b, 2), 0);
    bed_free(&b);
}

static void senseless_calls_are_refused(void **state) {
    static const float x[8];
    bed b = bed_open(*state, "refused", SB_STYLE_TF2);
    sb_writer *w = b.w;
    const sb_array good = ARRAY_OF(SB_FLOAT, x, 1, 8, 1);
    assert_refused(w, sb_audio(w, "a", NULL, 100, 0, 1, NULL), SB_INVALID, "missing");
    assert_refused(w, sb_audio(w, "a", &ARRAY_OF(SB_FLOAT, x, 2, 4), 100, 0, 1, NULL), SB_INVALID,
                   "(clips, frames, channels)");
    assert_refused(w, sb_audio(w, "a", &ARRAY_OF(SB_FLOAT, x, 1, 8, 0), 100, 0, 1, NULL),
                   SB_INVALID, "0 channels");
    assert_refused(w, sb_audio(w, "a", &ARRAY_OF(SB_FLOAT, x, 0, 1, 40000), 100, 0, 1, NULL),
                   SB_INVALID, "40000 channels");
    assert_refused(w, sb_audio(w, "a", &ARRAY_OF(SB_INT16, x, 1, 8, 1), 100, 0, 1, NULL),
                   SB_INVALID, "int16");
    const double rates[] = {0, -44100, 0.5, NAN, INFINITY, 5e9};
    for (size_t i = 0; i < SB_COUNT(rates); i++)
        assert_refused(w, sb_audio(w, "a", &good, rates[i], 0, 1, NULL), SB_INVALID, "sample rate");
    bed_close(&b);
    assert_int_equal(bed_count(&b), 0);
    bed_free(&b);
}

static sb_status make_audio(sb_writer *w) {
    static const float x[8];
    return sb_audio(w, "a", &ARRAY_OF(SB_FLOAT, x, 1, 8, 1), 100, 0, 1, NULL);
}

static sb_status make_plain_audio(sb_writer *w) {
    static const float x[8];
    return sb_audio(w, "a", &ARRAY_OF(SB_FLOAT, x, 8), 100, 0, 1, NULL);
}

static void running_out_of_memory_is_told(void **state) {
    bed_sweep(*state, SB_STYLE_TF2, make_audio);
    bed_sweep(*state, SB_STYLE_TF1, make_audio);
    bed_sweep(*state, SB_STYLE_TBX, make_plain_audio);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DIR_TEST(events_have_the_bytes_of_tensorflow),
        DIR_TEST(every_framework_rounds_in_its_own_way),
        DIR_TEST(torch_squeezes_and_tensorboardx_takes_two_channels),
        DIR_TEST(clips_beyond_max_outputs_stay_out),
        DIR_TEST(senseless_calls_are_refused),
        DIR_TEST(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
