/* wav_fuzz.c: any bytes as a WAV file, drawn and measured.
 *
 * What a header says is held against the bytes, every picture is finite, and half of a file is
 * never read as more than the whole. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "media/view/sound.h"
#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void hold(int promise) {
    if (!promise) abort();
}

enum { columns = 9, rows = 7 };

static void draw(const sb_wav *wav) {
    float low[columns], high[columns];
    uint8_t spectrum[columns * rows];
    sb_sound_measures m;
    sb_status status = sb_sound_wave(wav, columns, low, high, &m, NULL, &sb_alloc_libc, NULL);
    hold(status == SB_OK || status == SB_NOMEM);
    if (status == SB_OK) {
        for (int i = 0; i < columns; i++) hold(low[i] <= high[i]);
        hold(m.peak >= 0 && !isnan(m.rms) && !isnan(m.loudness));
    }
    status =
        sb_sound_spectrum(wav, columns, rows, SB_SOUND_MEL, spectrum, NULL, &sb_alloc_libc, NULL);
    hold(status == SB_OK || status == SB_NOMEM);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sb_wav wav, half;
    sb_err err = {.code = SB_OK};
    sb_status status = sb_wav_read(&wav, (sb_slice){data, size}, &err);
    hold(status == SB_OK || err.code == status);
    if (status == SB_OK) {
        hold(wav.channels && wav.rate && wav.width);
        hold(wav.data.p >= data && wav.data.n <= (size_t)(data + size - wav.data.p));
        hold(wav.frames * wav.channels * wav.width == wav.data.n);
        draw(&wav);
    }
    uint8_t *cut = malloc(size / 2 + 1); /* a block of its own: reading past it is seen */
    if (!cut) return 0;
    if (size) memcpy(cut, data, size / 2);
    if (sb_wav_read(&half, (sb_slice){cut, size / 2}, NULL) == SB_OK) {
        hold(status != SB_OK || half.frames <= wav.frames);
        draw(&half);
    }
    free(cut);
    return 0;
}
