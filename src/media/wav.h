/* wav.h: samples to a WAV file of 16-bit PCM.
 *
 * The peers turn the same signal into three different files; which rounding is wanted is therefore
 * an argument. Threads: no state. Cost: one pass over the samples. */
#ifndef SB_MEDIA_WAV_H
#define SB_MEDIA_WAV_H

#include "base/buf.h"
#include "base/status.h"

typedef enum sb_wav_rule {
    SB_WAV_TF,    /* x * 32768, halves away from zero, clamped; as tf.audio.encode_wav */
    SB_WAV_TORCH, /* clamped to -1..1, x * 32767, cut towards zero; as torch's add_audio */
    SB_WAV_RAW    /* int16 samples as they are */
} sb_wav_rule;

/* Appends one file to out. samples is [time] or [time, channel] of float16, bfloat16, float32 or
 * float64 for the first two rules (TF computes in float32, torch in float32 or, for float64
 * samples, float64), of int16 for the last. NaN becomes silence. No samples make a valid empty
 * file. On failure out holds the bytes that it held before. */
sb_status sb_wav_encode(sb_buf *out, const sb_array *samples, sb_wav_rule rule, uint32_t rate,
                        sb_err *err);

#endif
