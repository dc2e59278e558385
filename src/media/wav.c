/* wav.c: the 44-byte header and the samples behind it, all little-endian.
 *
 *    0 "RIFF"  4 u32 36 + data bytes   8 "WAVE"
 *   12 "fmt " 16 u32 16               20 u16 1 (PCM)            22 u16 channels
 *   24 u32 frames a second            28 u32 bytes a second     32 u16 bytes a frame   34 u16 16
 *   36 "data" 40 u32 data bytes       44 samples, the channels of one moment side by side */
#include "media/wav.h"

#include <math.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/half.h"
#include "codec/tensor.h"
#include "base/banned.h"

enum { wav_header = 44, wav_sample = 2, wav_max_channels = UINT16_MAX / wav_sample };
#define WAV_MAX_DATA (UINT32_MAX - (wav_header - 8))

/* Each handles NaN: every comparison with it is false, and the result is 0. */
static int16_t round_tf(float x) {
    float scaled = roundf(x * 32768.0f);
    if (scaled >= 32767.0f) return INT16_MAX;
    if (scaled > -32768.0f) return (int16_t)scaled;
    return scaled <= -32768.0f ? INT16_MIN : 0;
}

static int16_t cut_float(float x) {
    if (x >= 1.0f) return INT16_MAX;
    if (x > -1.0f) return (int16_t)(x * 32767.0f);
    return x <= -1.0f ? -INT16_MAX : 0;
}

static int16_t cut_double(double x) {
    if (x >= 1.0) return INT16_MAX;
    if (x > -1.0) return (int16_t)(x * 32767.0);
    return x <= -1.0 ? -INT16_MAX : 0;
}

typedef int16_t sample_fn(const uint8_t *p);

#define SAMPLE(name, type, expression)                                                             \
    static int16_t name(const uint8_t *p) {                                                        \
        type x;                                                                                    \
        memcpy(&x, p, sizeof x);                                                                   \
        return expression;                                                                         \
    }
SAMPLE(tf_float, float, round_tf(x))
SAMPLE(tf_double, double, round_tf((float)x))
SAMPLE(tf_half, uint16_t, round_tf(sb_half_to_float(x)))
SAMPLE(tf_bfloat16, uint16_t, round_tf(sb_bfloat16_to_float(x)))
SAMPLE(torch_float, float, cut_float(x))
SAMPLE(torch_double, double, cut_double(x))
SAMPLE(torch_half, uint16_t, cut_float(sb_half_to_float(x)))
SAMPLE(torch_bfloat16, uint16_t, cut_float(sb_bfloat16_to_float(x)))
SAMPLE(raw_int16, int16_t, x)
#undef SAMPLE

static sample_fn *pick_rule(sb_wav_rule rule, sb_dtype dtype) {
    static const struct {
        sb_dtype dtype;
        sample_fn *by_rule[3];
    } table[] = {
        {SB_FLOAT, {tf_float, torch_float, NULL}},
        {SB_DOUBLE, {tf_double, torch_double, NULL}},
        {SB_HALF, {tf_half, torch_half, NULL}},
        {SB_BFLOAT16, {tf_bfloat16, torch_bfloat16, NULL}},
        {SB_INT16, {NULL, NULL, raw_int16}},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].dtype != dtype) continue;
        return rule >= SB_WAV_TF && rule <= SB_WAV_RAW ? table[i].by_rule[rule] : NULL;
    }
    return NULL;
}

static void store_header(uint8_t *h, uint32_t data, uint32_t channels, uint32_t rate) {
    memcpy(h, "RIFF", 4);
    sb_store32(h + 4, data + wav_header - 8);
    memcpy(h + 8, "WAVEfmt ", 8);
    sb_store32(h + 16, 16);
    sb_store16(h + 20, 1);
    sb_store16(h + 22, (uint16_t)channels);
    sb_store32(h + 24, rate);
    sb_store32(h + 28, rate * channels * wav_sample);
    sb_store16(h + 32, (uint16_t)(channels * wav_sample));
    sb_store16(h + 34, 8 * wav_sample);
    memcpy(h + 36, "data", 4);
    sb_store32(h + 40, data);
}

sb_status sb_wav_encode(sb_buf *out, const sb_array *samples, sb_wav_rule rule, uint32_t rate,
                        sb_err *err) {
    size_t size = sb_dtype_size(samples->dtype);
    sample_fn *sample = pick_rule(rule, samples->dtype);
    if (!sample) {
        return sb_fail(err, SB_INVALID, 0, "audio cannot be made of %s by this rule",
                       sb_dtype_name(samples->dtype));
    }
    if (samples->rank < 1 || samples->rank > 2) {
        return sb_fail(err, SB_INVALID, 0, "audio is [time] or [time, channel], not of rank %u",
                       samples->rank);
    }
    int64_t frames = samples->dims[0];
    int64_t channels = samples->rank == 2 ? samples->dims[1] : 1;
    if (frames < 0 || channels < 1 || channels > wav_max_channels) {
        return sb_fail(err, SB_INVALID, 0, "audio of %lld frames and %lld channels",
                       (long long)frames, (long long)channels);
    }
    if (rate == 0 || rate > UINT32_MAX / ((uint64_t)channels * wav_sample)) {
        return sb_fail(err, SB_INVALID, 0, "a sample rate of %u for %lld channels", rate,
                       (long long)channels);
    }
    if ((uint64_t)frames > WAV_MAX_DATA / ((uint64_t)channels * wav_sample)) {
        return sb_fail(err, SB_LIMIT, 0, "audio of %lld frames is too long for a WAV file",
                       (long long)frames);
    }
    size_t count = (size_t)frames * (size_t)channels;
    if (!sb_buf_reserve(out, wav_header + count * wav_sample)) {
        return sb_buf_check(out, "a WAV file", err);
    }
    uint8_t *p = out->p + out->n;
    store_header(p, (uint32_t)(count * wav_sample), (uint32_t)channels, rate);
    p += wav_header;
    const uint8_t *from = samples->data;
    for (size_t i = 0; i < count; i++) sb_store16(p + 2 * i, (uint16_t)sample(from + i * size));
    out->n += wav_header + count * wav_sample;
    return SB_OK;
}
