/* sound.h: a clip as a picture and in numbers: waveform, spectrogram, loudness.
 *
 * In:  a WAV file that wav_read.h has checked.  Out: columns for a picture of a given width, and
 * measures of all samples.
 *
 *   waveform     of each column the least and the greatest sample of all channels
 *   spectrogram  of the mean of all channels: Hann window of about 46 ms, one window a column, or
 *                the strongest of SB_SOUND_WINDOWS evenly spread ones where a column is longer
 *   loudness     integrated, as ITU-R BS.1770-4 gates and weights it (without weights for
 *                surround channels)
 *
 * Threads: no state.  Memory: a few windows and one block of frames, whatever the length.
 * Cost: two passes over the samples, columns * SB_SOUND_WINDOWS transforms at most. */
#ifndef SB_MEDIA_VIEW_SOUND_H
#define SB_MEDIA_VIEW_SOUND_H

#include "base/alloc.h"
#include "media/wav_read.h"

#define SB_SOUND_WINDOWS 8
#define SB_SOUND_FLOOR (-120.0) /* decibels that a byte of 0 stands for */

typedef struct sb_sound_measures {
    double peak;         /* the greatest magnitude of a sample; 1 is full scale */
    double rms;          /* root of the mean square */
    double loudness;     /* LUFS; -infinity for silence */
    uint64_t clipped;    /* samples at full scale that stand beside another one */
    uint64_t not_finite; /* samples of a float file that are NaN or infinite, taken as 0 */
} sb_sound_measures;

/* Asked every few milliseconds; true: nobody waits any more. May be NULL. */
typedef struct sb_sound_stop {
    bool (*is_over)(void *ud);
    void *ud;
} sb_sound_stop;

/* low and high have room for `columns`, in -1..1; 0 where the clip has no frame. SB_OK, SB_NOMEM,
 * SB_TIMEOUT. */
sb_status sb_sound_wave(const sb_wav *wav, uint32_t columns, float *low, float *high,
                        sb_sound_measures *measures, const sb_sound_stop *stop,
                        const sb_alloc *alloc, sb_err *err);

typedef enum sb_sound_scale { SB_SOUND_MEL, SB_SOUND_LINEAR } sb_sound_scale;

/* columns * rows bytes, row after row, the highest frequencies first; a byte is the strength of a
 * sine in decibels below full scale, SB_SOUND_FLOOR..0 as 0..255. Rows are spread evenly over the
 * scale from 0 to half the rate. SB_OK, SB_NOMEM, SB_TIMEOUT. */
sb_status sb_sound_spectrum(const sb_wav *wav, uint32_t columns, uint32_t rows,
                            sb_sound_scale scale, uint8_t *out, const sb_sound_stop *stop,
                            const sb_alloc *alloc, sb_err *err);

/* The frequency at a place in 0..1 of the scale; nyquist is half the rate. */
double sb_sound_frequency(sb_sound_scale scale, double place, double nyquist);

#endif
