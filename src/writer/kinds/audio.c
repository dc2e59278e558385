/* audio.c: sound as 16-bit WAV files.
 *
 * In:  float samples; each style has its own shape and its own rounding (media/wav.h).
 * Out: TF2    one string tensor [clips, 2]: file, empty label; plugin "audio", encoding WAV
 *      TF1    one value a clip with an Audio; tags TAG/audio/0, ..., or TAG/audio for one
 *      torch, TBX   one such value
 *      Audio: 1 sample_rate float 2 num_channels 3 length_frames 4 file 5 "audio/wav" */
#include <math.h>

#include "base/slice.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "media/wav.h"
#include "writer/kinds/image_values.h"
#include "writer/kinds/kinds.h"

#include "base/banned.h"

#define DEFAULT_OUTPUTS 3
#define MAX_CHANNELS 32767
#define WAV_HEADER 44
#define ROOM 256

typedef struct params {
    double rate;
    uint64_t clips, frames, channels;
    uint32_t dtype;
    uint32_t max_outputs;
} params;

/* ---- the caller's side ----------------------------------------------------------------------- */

/* Torch squeezes: dimensions of size 1 don't count. */
static bool squeeze_shape(params *p, const sb_shape *shape) {
    uint32_t long_ones = 0;
    p->frames = 1;
    for (uint32_t i = 0; i < shape->rank; i++) {
        if (shape->dims[i] == 1) continue;
        p->frames = (uint64_t)shape->dims[i];
        long_ones++;
    }
    return long_ones == 1 || (long_ones == 0 && shape->rank > 0);
}

static sb_status read_shape(sb_writer *w, params *p, const sb_shape *shape) {
    sb_style style = sb_writer_style(w);
    const int64_t *d = shape->dims;
    p->clips = p->channels = 1;
    if (style == SB_STYLE_TORCH) {
        if (!squeeze_shape(p, shape))
            return sb_call_refuse(w, SB_INVALID, "audio: this style takes one channel: (frames)");
        return SB_OK;
    }
    if (style == SB_STYLE_TBX) {
        if (shape->rank < 1 || shape->rank > 2)
            return sb_call_refuse(w, SB_INVALID,
                                  "audio: this style takes (frames) or (frames, channels)");
        p->frames = (uint64_t)d[0];
        if (shape->rank == 2) p->channels = (uint64_t)d[1];
        if (p->channels < 1 || p->channels > 2)
            return sb_call_refuse(w, SB_INVALID, "audio: %llu channels; this style takes 1 or 2",
                                  (unsigned long long)p->channels);
        return SB_OK;
    }
    if (shape->rank != 3 && !(shape->rank == 2 && style == SB_STYLE_TF1))
        return sb_call_refuse(w, SB_INVALID, "audio: this style takes (clips, frames, channels)%s",
                              style == SB_STYLE_TF1 ? " or (clips, frames)" : "");
    p->clips = (uint64_t)d[0];
    p->frames = (uint64_t)d[1];
    if (shape->rank == 3) p->channels = (uint64_t)d[2];
    if (p->channels < 1 || p->channels > MAX_CHANNELS)
        return sb_call_refuse(w, SB_INVALID, "audio: %llu channels; there are 1 to %d",
                              (unsigned long long)p->channels, MAX_CHANNELS);
    return SB_OK;
}

static bool is_float(sb_dtype dtype) {
    return dtype == SB_FLOAT || dtype == SB_DOUBLE || dtype == SB_HALF || dtype == SB_BFLOAT16;
}

sb_status sb_audio(sb_writer *w, const char *tag, const sb_array *samples, double sample_rate,
                   uint32_t max_outputs, int64_t step, const sb_meta *meta) {
    sb_call call;
    sb_status status = sb_call_begin(w, &call, SB_CALL_AUDIO, tag, true, step, meta);
    if (status != SB_OK) return status;
    params p = {.rate = sample_rate, .max_outputs = max_outputs ? max_outputs : DEFAULT_OUTPUTS};
    sb_shape shape;
    sb_piece elements;
    status = sb_take_array(w, "audio", samples, false, &shape, &elements);
    if (status == SB_OK) status = read_shape(w, &p, &shape);
    if (status != SB_OK) return status;
    if (!is_float(samples->dtype))
        return sb_call_refuse(w, SB_INVALID, "audio: samples of %s; give floats from -1 to 1",
                              sb_dtype_name(samples->dtype));
    if (!(sample_rate >= 1) || sample_rate > (double)UINT32_MAX / (2.0 * (double)p.channels))
        return sb_call_refuse(w, SB_INVALID, "audio: %g is no sample rate a WAV file can have",
                              sample_rate);
    if (p.clips > p.max_outputs) {
        elements.n = elements.n / (size_t)p.clips * p.max_outputs;
        p.clips = p.max_outputs;
    }
    p.dtype = shape.dtype;
    call.params = sb_slice_of(&p, sizeof p);
    return sb_call_put(w, &call, &elements, 1);
}

/* ---- encoding -------------------------------------------------------------------------------- */

/* libsndfile, which tensorboardX uses, scales to 32 bits, rounds there and keeps the upper half. */
static int16_t upper_half(double scaled) {
    if (scaled >= 2147483647.0) return INT16_MAX;
    if (!(scaled > -2147483648.0)) return scaled <= -2147483648.0 ? INT16_MIN : 0;
    return (int16_t)((int32_t)rint(scaled) >> 16);
}

static sb_status round_tbx(sb_encoder *e, sb_array *clip) {
    sb_tensor_view view = sb_array_view(clip);
    int16_t *rounded = sb_arena_get(&e->scratch, view.count * sizeof *rounded);
    if (!rounded) return SB_NOMEM;
    for (size_t at = 0, n; at < view.count; at += n) {
        double x[ROOM];
        n = view.count - at < ROOM ? view.count - at : ROOM;
        sb_tensor_doubles(&view, at, n, x);
        /* Floats stay exact: scaling by a power of two, and 31 bits hold more than their 24. */
        for (size_t i = 0; i < n; i++) rounded[at + i] = upper_half(x[i] * 2147483648.0);
    }
    clip->data = rounded;
    clip->dtype = SB_INT16;
    return SB_OK;
}

static sb_status add_wav(sb_encoder *e, sb_buf *event, const params *p, const uint8_t *from,
                         sb_err *err) {
    const int64_t dims[] = {(int64_t)p->frames, (int64_t)p->channels};
    sb_array clip = {from, (sb_dtype)p->dtype, 2, dims, NULL};
    uint32_t rate = (uint32_t)rint(p->rate);
    if (sb_style_is_tf(e->style)) return sb_wav_encode(event, &clip, SB_WAV_TF, rate, err);
    if (e->style == SB_STYLE_TORCH) return sb_wav_encode(event, &clip, SB_WAV_TORCH, rate, err);
    if (round_tbx(e, &clip) != SB_OK) return sb_fail_nomem(err, "for audio samples");
    return sb_wav_encode(event, &clip, SB_WAV_RAW, rate, err);
}

static size_t clip_bytes(const params *p) {
    return (size_t)(p->frames * p->channels) * sb_dtype_size((sb_dtype)p->dtype);
}

static size_t file_bytes(const params *p) {
    return (size_t)(p->frames * p->channels) * 2 + WAV_HEADER;
}

static sb_status encode_tf2(sb_encoder *e, const sb_call *call, sb_buf *event, const params *p,
                            sb_err *err) {
    size_t expected = (file_bytes(p) + 8) * (size_t)p->clips;
    sb_value_frame frame = sb_value_begin(event, call, call->tag, expected + call->tag.n + 40);
    size_t tensor = sb_pb_begin(event, SB_VALUE_TENSOR, expected + 12);
    sb_pb_add_uint(event, SB_TENSOR_DTYPE, SB_STRING);
    size_t shape = sb_pb_begin(event, SB_TENSOR_TENSOR_SHAPE, 8);
    for (int i = 0; i < 2; i++) {
        size_t dim = sb_pb_begin(event, SB_SHAPE_DIM, 2);
        sb_pb_add_uint_nz(event, SB_DIM_SIZE, i == 0 ? p->clips : 2);
        sb_pb_end(event, dim);
    }
    sb_pb_end(event, shape);
    for (uint64_t i = 0; i < p->clips; i++) {
        size_t file = sb_pb_begin(event, SB_TENSOR_STRING_VAL, file_bytes(p));
        sb_status status = add_wav(e, event, p, call->data.p + i * clip_bytes(p), err);
        if (status != SB_OK) return status;
        sb_pb_end(event, file);
        sb_pb_add_bytes(event, SB_TENSOR_STRING_VAL, SB_LIT(""));
    }
    sb_pb_end(event, tensor);
    static const uint8_t wav_content[] = {0x10, SB_AUDIO_ENCODING_WAV}; /* AudioPluginData */
    sb_value_metadata(event, call, SB_LIT("audio"), sb_slice_of(wav_content, sizeof wav_content),
                      false);
    sb_value_end(event, frame);
    return SB_OK;
}

static sb_status add_clip_value(sb_encoder *e, const sb_call *call, sb_buf *event, sb_slice tag,
                                const params *p, const uint8_t *from, sb_err *err) {
    size_t expected = file_bytes(p) + 40;
    size_t value = sb_pb_begin(event, SB_SUMMARY_VALUE, expected + tag.n);
    sb_pb_add_bytes_nz(event, SB_VALUE_TAG, tag);
    size_t audio = sb_pb_begin(event, SB_VALUE_AUDIO, expected - 4);
    sb_pb_add_float_nz(event, SB_AUDIO_SAMPLE_RATE, (float)p->rate);
    sb_pb_add_uint_nz(event, SB_AUDIO_NUM_CHANNELS, p->channels);
    sb_pb_add_uint_nz(event, SB_AUDIO_LENGTH_FRAMES, p->frames);
    size_t file = sb_pb_begin(event, SB_AUDIO_ENCODED_AUDIO_STRING, file_bytes(p));
    sb_status status = add_wav(e, event, p, from, err);
    if (status != SB_OK) return status;
    sb_pb_end(event, file);
    sb_pb_add_bytes(event, SB_AUDIO_CONTENT_TYPE, SB_LIT("audio/wav"));
    sb_pb_end(event, audio);
    sb_value_metadata_once(e, event, call, tag, SB_LIT(""), SB_LIT(""), false);
    sb_pb_end(event, value);
    return SB_OK;
}

sb_status sb_encode_audio(sb_encoder *e, const sb_call *call, sb_buf *event, sb_err *err) {
    const params *p = (const void *)call->params.p;
    if (e->style == SB_STYLE_TF2) return encode_tf2(e, call, event, p, err);
    sb_status status = SB_OK;
    sb_event_head(event, call);
    size_t summary = sb_pb_begin(event, SB_EVENT_SUMMARY, (file_bytes(p) + 64) * (size_t)p->clips);
    for (uint64_t i = 0; status == SB_OK && i < p->clips; i++) {
        sb_slice tag = call->tag;
        if (e->style == SB_STYLE_TF1)
            tag = sb_numbered_tag(e, tag, "audio", p->max_outputs == 1, (size_t)i);
        if (!tag.p) return sb_encode_nomem(err, call);
        status = add_clip_value(e, call, event, tag, p, call->data.p + i * clip_bytes(p), err);
    }
    sb_pb_end(event, summary);
    return status;
}
