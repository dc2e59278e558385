/* wav_read.h: what a WAV file holds, checked against the bytes that are there.
 *
 * In:  any bytes, hostile ones too.  Out: format and place of the samples, cut to whole frames that
 * are really there; samples as floats. Nothing that the header says is used before it is checked.
 *
 * Threads: no state.  Cost: sb_wav_read walks over the chunks (at most 256); reading samples is one
 * pass, no allocation. */
#ifndef SB_MEDIA_WAV_READ_H
#define SB_MEDIA_WAV_READ_H

#include <stdbool.h>

#include "base/status.h"
#include "seaboard/types.h"

typedef struct sb_wav {
    uint32_t rate;     /* frames a second, 1 or more */
    uint16_t channels; /* 1 or more */
    uint16_t bits;     /* of a sample, as the header says */
    uint8_t width;     /* bytes that a sample takes: 1..4, or 4 or 8 for floats */
    bool is_float;
    bool is_cut;     /* the header promises more samples than the file has */
    sb_slice data;   /* whole frames */
    uint64_t frames; /* in data; may be 0 */
} sb_wav;

/* SB_OK
 * SB_NOT_FOUND  no WAV file at all
 * SB_CORRUPT    it begins as one, but the header contradicts itself or lacks a part
 * SB_LIMIT      a WAV file whose samples are packed in a way that is not read here (A-law, ADPCM)
 * The error says what is wrong. */
sb_status sb_wav_read(sb_wav *out, sb_slice bytes, sb_err *err);

/* The samples of n frames from `from` on, all channels side by side, in -1..1 (floats as they are;
 * what is not finite becomes 0). The frames must be inside; out has room for n * channels. */
void sb_wav_samples(const sb_wav *wav, uint64_t from, size_t n, float *out);

#endif
