/* spectrum.c: windows of a clip through KissFFT's real transform, as bytes of decibels. */
#include <kiss_fftr.h>
#include <math.h>
#include <string.h>

#include "media/view/sound.h"
#include "base/banned.h"

#define PI 3.14159265358979323846
#define MIN_WINDOW 64u
#define MAX_WINDOW 4096u

static double mel_of(double hertz) {
    return 2595.0 * log10(1.0 + hertz / 700.0);
}

double sb_sound_frequency(sb_sound_scale scale, double place, double nyquist) {
    if (scale == SB_SOUND_LINEAR) return place * nyquist;
    return 700.0 * (pow(10.0, place * mel_of(nyquist) / 2595.0) - 1.0);
}

/* A power of two near 46 ms. */
static uint32_t window_for(uint32_t rate) {
    uint32_t n = MIN_WINDOW;
    while (n < MAX_WINDOW && (double)n * 1.5 < (double)rate * 0.046) n *= 2;
    return n;
}

typedef struct spectrum {
    const sb_wav *wav;
    uint32_t n;    /* frames of a window */
    uint32_t bins; /* n / 2 + 1 */
    kiss_fftr_cfg fft;
    float *hann;       /* n, scaled so that a sine of full scale has power 1 */
    float *frames;     /* n, channels averaged */
    float *samples;    /* n * channels */
    kiss_fft_cpx *out; /* bins */
    float *power;      /* bins: the strongest of the column's windows */
    uint32_t *edges;   /* rows + 1: the first bin of each row, from low to high */
} spectrum;

/* The mean of all channels from a frame on; silence beyond the end of a short clip. */
static void load_window(spectrum *s, int64_t begin) {
    const sb_wav *w = s->wav;
    int64_t from = begin < 0 ? 0 : begin, to = begin + (int64_t)s->n;
    if (to > (int64_t)w->frames) to = (int64_t)w->frames;
    memset(s->frames, 0, s->n * sizeof *s->frames);
    if (to <= from) return;
    size_t n = (size_t)(to - from), at = (size_t)(from - begin);
    sb_wav_samples(w, (uint64_t)from, n, s->samples);
    float share = 1.0f / (float)w->channels;
    for (size_t i = 0; i < n; i++) {
        float sum = 0;
        for (unsigned c = 0; c < w->channels; c++) sum += s->samples[i * w->channels + c];
        s->frames[at + i] = sum * share * s->hann[at + i];
    }
}

static void add_window(spectrum *s, int64_t begin) {
    load_window(s, begin);
    kiss_fftr(s->fft, s->frames, s->out);
    for (uint32_t i = 0; i < s->bins; i++) {
        float p = s->out[i].r * s->out[i].r + s->out[i].i * s->out[i].i;
        if (p > s->power[i]) s->power[i] = p;
    }
}

static uint8_t byte_of(float power) {
    if (!(power > 1e-12f)) return 0;
    double db = 10.0 * log10((double)power);
    double x = 255.0 * (db - SB_SOUND_FLOOR) / -SB_SOUND_FLOOR;
    return x >= 255.0 ? 255 : x <= 0 ? 0 : (uint8_t)lround(x);
}

static void set_edges(spectrum *s, uint32_t rows, sb_sound_scale scale) {
    double nyquist = (double)s->wav->rate / 2.0;
    for (uint32_t i = 0; i <= rows; i++) {
        double hertz = sb_sound_frequency(scale, (double)i / rows, nyquist);
        double bin = floor(hertz / nyquist * (s->bins - 1));
        s->edges[i] = bin < s->bins - 1 ? (uint32_t)bin : s->bins - 1;
    }
}

/* Each row is the strongest of its bins; a row narrower than a bin shows the bin that it is in. */
static void write_column(const spectrum *s, uint32_t column, uint32_t columns, uint32_t rows,
                         uint8_t *out) {
    for (uint32_t r = 0; r < rows; r++) {
        uint32_t from = s->edges[r], to = s->edges[r + 1] > from ? s->edges[r + 1] : from + 1;
        float power = 0;
        for (uint32_t i = from; i < to; i++)
            if (s->power[i] > power) power = s->power[i];
        out[(size_t)(rows - 1 - r) * columns + column] = byte_of(power);
    }
}

static void fill_column(spectrum *s, uint32_t column, uint32_t columns) {
    double width = (double)s->wav->frames / columns, first = width * column;
    double wanted = width / (s->n / 2.0);
    unsigned windows = wanted < 1                  ? 1
                       : wanted > SB_SOUND_WINDOWS ? SB_SOUND_WINDOWS
                                                   : (unsigned)wanted;
    memset(s->power, 0, s->bins * sizeof *s->power);
    for (unsigned k = 0; k < windows; k++) {
        /* The windows at both ends are moved inside: half a window of silence would be heard as a
         * click that is not there. */
        int64_t begin = (int64_t)(first + width * (k + 0.5) / windows) - (int64_t)(s->n / 2);
        int64_t last = (int64_t)s->wav->frames - (int64_t)s->n;
        add_window(s, begin < 0 || last < 0 ? 0 : begin > last ? last : begin);
    }
}

static sb_status draw(spectrum *s, uint32_t columns, uint32_t rows, sb_sound_scale scale,
                      uint8_t *out, const sb_sound_stop *stop, sb_err *err) {
    for (uint32_t i = 0; i < s->n; i++)
        s->hann[i] = (float)((0.5 - 0.5 * cos(2.0 * PI * i / s->n)) * 4.0 / s->n);
    set_edges(s, rows, scale);
    for (uint32_t c = 0; c < columns; c++) {
        if (stop && c % 16 == 0 && stop->is_over(stop->ud))
            return sb_fail(err, SB_TIMEOUT, 0, "drawing the clip took too long");
        fill_column(s, c, columns);
        write_column(s, c, columns, rows, out);
    }
    return SB_OK;
}

sb_status sb_sound_spectrum(const sb_wav *wav, uint32_t columns, uint32_t rows,
                            sb_sound_scale scale, uint8_t *out, const sb_sound_stop *stop,
                            const sb_alloc *alloc, sb_err *err) {
    memset(out, 0, (size_t)columns * rows);
    if (wav->frames == 0 || columns == 0 || rows == 0) return SB_OK;
    spectrum s = {.wav = wav, .n = window_for(wav->rate)};
    s.bins = s.n / 2 + 1;
    size_t samples = (size_t)s.n * wav->channels, edges = (size_t)rows + 1, fft_bytes = 0;
    kiss_fftr_alloc((int)s.n, 0, NULL, &fft_bytes);
    void *fft = sb_alloc_zeroed(alloc, fft_bytes, 1);
    if (fft) s.fft = kiss_fftr_alloc((int)s.n, 0, fft, &fft_bytes);
    s.hann = sb_alloc_zeroed(alloc, s.n, sizeof *s.hann);
    s.frames = sb_alloc_zeroed(alloc, s.n, sizeof *s.frames);
    s.samples = sb_alloc_zeroed(alloc, samples, sizeof *s.samples);
    s.out = sb_alloc_zeroed(alloc, s.bins, sizeof *s.out);
    s.power = sb_alloc_zeroed(alloc, s.bins, sizeof *s.power);
    s.edges = sb_alloc_zeroed(alloc, edges, sizeof *s.edges);
    sb_status status;
    if (s.fft && s.hann && s.frames && s.samples && s.out && s.power && s.edges)
        status = draw(&s, columns, rows, scale, out, stop, err);
    else
        status = sb_fail_nomem(err, "for a spectrogram");
    sb_alloc_put(alloc, fft, fft_bytes);
    sb_alloc_put(alloc, s.hann, s.n * sizeof *s.hann);
    sb_alloc_put(alloc, s.frames, s.n * sizeof *s.frames);
    sb_alloc_put(alloc, s.samples, samples * sizeof *s.samples);
    sb_alloc_put(alloc, s.out, s.bins * sizeof *s.out);
    sb_alloc_put(alloc, s.power, s.bins * sizeof *s.power);
    sb_alloc_put(alloc, s.edges, edges * sizeof *s.edges);
    return status;
}
