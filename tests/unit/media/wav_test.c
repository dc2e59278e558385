/* wav_test.c: byte for byte what the peers write.
 *
 * The files were made by tf.audio.encode_wav (TensorFlow 2.21), torch.utils.tensorboard's add_audio
 * (torch 2.15) and Python's wave module, from the samples beside them. */
#include "media/wav.h"

#include <math.h>
#include <stdlib.h>

#include "base/half.h"
#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

static sb_array array(const void *data, sb_dtype dtype, uint32_t rank, const int64_t *dims) {
    return (sb_array){.data = data, .dtype = dtype, .rank = rank, .dims = dims};
}

static void makes(const char *hex, const sb_array *samples, sb_wav_rule rule, uint32_t rate) {
    uint8_t bytes[256];
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 20);
    sb_err err = {0};
    assert_ok(sb_wav_encode(&out, samples, rule, rate, &err), &err);
    assert_slice_equal(sb_buf_slice(&out), sb_test_bytes(bytes, sizeof bytes, hex));
    sb_buf_fini(&out);
}

/* The 16-bit sample that one number becomes. */
static int one(const void *sample, sb_dtype dtype, sb_wav_rule rule) {
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 20);
    sb_array a = array(sample, dtype, 1, (const int64_t[]){1});
    assert_ok(sb_wav_encode(&out, &a, rule, 8000, NULL), NULL);
    assert_int_equal(out.n, 46);
    int value = (int16_t)(out.p[44] | out.p[45] << 8);
    sb_buf_fini(&out);
    return value;
}

#define STEP (1.0f / 32768.0f)

static void tensorflow_rounds_halves_away_from_zero(void **state) {
    (void)state;
    static const float mono[] = {
        0,           0.5f,        1,           -1,           1.5f,         -1.5f,
        0.5f * STEP, 1.5f * STEP, 2.5f * STEP, -0.5f * STEP, -1.5f * STEP, -2.5f * STEP,
        NAN,         INFINITY,    -INFINITY,   1.0f / 3,     -1.0f / 3};
    sb_array a = array(mono, SB_FLOAT, 2, (const int64_t[]){17, 1});
    makes("524946464600000057415645666d7420100000000100010044ac000088580100020010006461746122000000"
          "00000040ff7f0080ff7f0080010002000300fffffefffdff0000ff7f0080ab2a55d5",
          &a, SB_WAV_TF, 44100);
    static const float stereo[] = {0.1f, -0.2f, 0.3f, -0.4f, 0.7f, 0.9f};
    a = array(stereo, SB_FLOAT, 2, (const int64_t[]){3, 2});
    makes("524946463000000057415645666d74201000000001000200803e000000fa000004001000646174610c000000"
          "cd0c66e66626cdcc9a593373",
          &a, SB_WAV_TF, 16000);
}

static void torch_clips_and_cuts(void **state) {
    (void)state;
    static const float floats[] = {0,    0.5f,  1,    -1,       1.5f,    -1.5f,
                                   0.3f, -0.3f, 0.1f, 1.0f / 3, 0.99999f};
    sb_array a = array(floats, SB_FLOAT, 1, (const int64_t[]){11});
    makes("524946463a00000057415645666d74201000000001000100401f0000803e0000020010006461746116000000"
          "0000ff3fff7f0180ff7f018066269ad9cc0caa2afe7f",
          &a, SB_WAV_TORCH, 8000);
    static const double doubles[] = {0.1, 1.0 / 3, -2.0 / 3, 0.0001, 9.0 / 32767, 0.99999};
    a = array(doubles, SB_DOUBLE, 1, (const int64_t[]){6});
    makes("524946463000000057415645666d74201000000001000100401f0000803e000002001000646174610c000000"
          "cc0caa2aacaa03000900fe7f",
          &a, SB_WAV_TORCH, 8000);
}

/* The float next to 3/32767: its product with 32767 rounds up to 3 in float, not in double. */
static void torch_multiplies_in_the_type_of_the_samples(void **state) {
    (void)state;
    float f = sb_bits_float(0x38c00180u);
    double d = (double)f;
    assert_int_equal(one(&f, SB_FLOAT, SB_WAV_TORCH), 3);
    assert_int_equal(one(&d, SB_DOUBLE, SB_WAV_TORCH), 2);
}

static void raw_samples_pass_unchanged(void **state) {
    (void)state;
    static const int16_t stereo[] = {1, -2, 32767, -32768};
    sb_array a = array(stereo, SB_INT16, 2, (const int64_t[]){2, 2});
    makes("524946462c00000057415645666d74201000000001000200112b000044ac0000040010006461746108000000"
          "0100feffff7f0080",
          &a, SB_WAV_RAW, 11025);
}

static void no_samples_make_a_valid_file(void **state) {
    (void)state;
    sb_array a = array(NULL, SB_FLOAT, 2, (const int64_t[]){0, 1});
    makes("524946462400000057415645666d74201000000001000100401f0000803e000002001000"
          "6461746100000000",
          &a, SB_WAV_TF, 8000);
}

static void other_float_types_are_widened(void **state) {
    (void)state;
    static const float values[] = {0.25f, -0.75f, 1, -1, 2, NAN, INFINITY, -INFINITY, 0};
    for (size_t i = 0; i < SB_COUNT(values); i++) {
        uint16_t half = sb_float_to_half(values[i]), brain = sb_float_to_bfloat16(values[i]);
        double wide = (double)values[i];
        for (sb_wav_rule rule = SB_WAV_TF; rule <= SB_WAV_TORCH; rule++) {
            int want = one(&values[i], SB_FLOAT, rule);
            assert_int_equal(one(&half, SB_HALF, rule), want);
            assert_int_equal(one(&brain, SB_BFLOAT16, rule), want);
            assert_int_equal(one(&wide, SB_DOUBLE, rule), want);
        }
    }
}

static void nan_is_silence_and_infinity_is_loud(void **state) {
    (void)state;
    float nan = NAN, loud = INFINITY, low = -INFINITY;
    double nan_double = (double)NAN;
    assert_int_equal(one(&nan, SB_FLOAT, SB_WAV_TORCH), 0);
    assert_int_equal(one(&nan_double, SB_DOUBLE, SB_WAV_TORCH), 0);
    assert_int_equal(one(&loud, SB_FLOAT, SB_WAV_TORCH), 32767);
    assert_int_equal(one(&low, SB_FLOAT, SB_WAV_TORCH), -32767);
    assert_int_equal(one(&low, SB_FLOAT, SB_WAV_TF), -32768);
}

static void senseless_arguments_are_refused_unread(void **state) {
    (void)state;
    static const struct {
        sb_dtype dtype;
        uint32_t rank;
        int64_t dims[3];
        sb_wav_rule rule;
        uint32_t rate;
        sb_status status;
    } cases[] = {
        {SB_INT16, 1, {4}, SB_WAV_TF, 8000, SB_INVALID},
        {SB_FLOAT, 1, {4}, SB_WAV_RAW, 8000, SB_INVALID},
        {SB_STRING, 1, {4}, SB_WAV_TF, 8000, SB_INVALID},
        {SB_FLOAT, 1, {4}, (sb_wav_rule)7, 8000, SB_INVALID},
        {SB_FLOAT, 0, {0}, SB_WAV_TF, 8000, SB_INVALID},
        {SB_FLOAT, 3, {2, 2, 2}, SB_WAV_TF, 8000, SB_INVALID},
        {SB_FLOAT, 1, {-1}, SB_WAV_TF, 8000, SB_INVALID},
        {SB_FLOAT, 2, {1, 0}, SB_WAV_TF, 8000, SB_INVALID},
        {SB_FLOAT, 2, {1, -5}, SB_WAV_TF, 8000, SB_INVALID},
        {SB_FLOAT, 2, {1, 32768}, SB_WAV_TF, 1, SB_INVALID},
        {SB_FLOAT, 1, {1}, SB_WAV_TF, 0, SB_INVALID},
        {SB_FLOAT, 2, {1, 2}, SB_WAV_TF, UINT32_MAX, SB_INVALID},
        {SB_FLOAT, 1, {INT64_MAX}, SB_WAV_TF, 8000, SB_LIMIT},
        {SB_FLOAT, 2, {INT64_MAX, 32767}, SB_WAV_TF, 1, SB_LIMIT},
        {SB_FLOAT, 1, {0x7fffffff}, SB_WAV_TF, 8000, SB_LIMIT},
    };
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, SIZE_MAX);
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        sb_array a = array(NULL, cases[i].dtype, cases[i].rank, cases[i].dims);
        sb_err err = {0};
        assert_int_equal(sb_wav_encode(&out, &a, cases[i].rule, cases[i].rate, &err),
                         cases[i].status);
        assert_int_equal(err.code, cases[i].status);
        assert_int_equal(out.n, 0);
    }
    sb_buf_fini(&out);
}

static void a_full_buffer_is_a_limit_and_keeps_what_it_held(void **state) {
    (void)state;
    static const int16_t samples[] = {1, 2, 3};
    sb_array a = array(samples, SB_INT16, 1, (const int64_t[]){3});
    for (size_t cap = 4; cap <= 4 + 50; cap++) {
        sb_buf out;
        sb_buf_init(&out, &sb_alloc_libc, cap);
        sb_buf_add_str(&out, "head");
        sb_status status = sb_wav_encode(&out, &a, SB_WAV_RAW, 8000, NULL);
        assert_int_equal(status, cap < 54 ? SB_LIMIT : SB_OK);
        assert_int_equal(out.n, cap < 54 ? 4 : 54);
        sb_buf_fini(&out);
    }
}

static sb_status encode_one(const sb_alloc *alloc, void *ud) {
    sb_buf out;
    sb_buf_init(&out, alloc, 1 << 20);
    sb_status status = sb_wav_encode(&out, ud, SB_WAV_TF, 8000, NULL);
    sb_buf_fini(&out);
    return status;
}

static void each_failed_allocation_is_reported(void **state) {
    (void)state;
    static const float samples[300] = {0.5f};
    sb_array a = array(samples, SB_FLOAT, 1, (const int64_t[]){300});
    sb_fault_alloc_sweep(encode_one, &a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensorflow_rounds_halves_away_from_zero),
        cmocka_unit_test(torch_clips_and_cuts),
        cmocka_unit_test(torch_multiplies_in_the_type_of_the_samples),
        cmocka_unit_test(raw_samples_pass_unchanged),
        cmocka_unit_test(no_samples_make_a_valid_file),
        cmocka_unit_test(other_float_types_are_widened),
        cmocka_unit_test(nan_is_silence_and_infinity_is_loud),
        cmocka_unit_test(senseless_arguments_are_refused_unread),
        cmocka_unit_test(a_full_buffer_is_a_limit_and_keeps_what_it_held),
        cmocka_unit_test(each_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
