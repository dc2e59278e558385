/* wave.c: one pass over all samples: least and greatest of each column, peak, clipping, loudness.
 *
 * Loudness (ITU-R BS.1770-4): each channel goes through a high shelf and a high-pass filter; blocks
 * of 400 ms, a quarter further each, give the mean square over all channels. Blocks below -70 LUFS
 * do not count, nor do those 10 below the mean of the rest. Here a block is the sum of four
 * quarters, and only the quarters' energies are kept: one number for each 100 ms. */
#include <math.h>

#include "base/bytes.h"
#include "media/view/sound.h"
#include "base/banned.h"

#define PI 3.14159265358979323846
#define BLOCK 4096u   /* frames at a time */
#define FULL 0.99996f /* 32767 of 32768 and above count as full scale */
#define MAX_QUARTERS                                                                               \
    200000u /* of 100 ms: five and a half hours; later ones do not count for the loudness */

/* ---- loudness -------------------------------------------------------------------------------- */

typedef struct biquad {
    double b0, b1, b2, a1, a2;
} biquad;

typedef struct memory {
    double x1, x2, y1, y2;
} memory;

/* The two filters of the standard for any rate, from the analogue ones behind its 48 kHz table. A
 * rate too low for a filter's frequency goes without it. */
static const biquad through = {1, 0, 0, 0, 0};

static biquad shelf_at(double rate) {
    if (rate < 2.1 * 1681.974450955533) return through;
    double k = tan(PI * 1681.974450955533 / rate), q = 0.7071752369554196;
    double vh = pow(10.0, 3.999843853973347 / 20.0), vb = pow(vh, 0.4996667741545416);
    double a0 = 1.0 + k / q + k * k;
    return (biquad){(vh + vb * k / q + k * k) / a0, 2.0 * (k * k - vh) / a0,
                    (vh - vb * k / q + k * k) / a0, 2.0 * (k * k - 1.0) / a0,
                    (1.0 - k / q + k * k) / a0};
}

/* The table's filter lets 1.005 of what it passes through; so it does at every other rate here. */
static biquad high_pass_at(double rate) {
    if (rate < 2.1 * 38.13547087602444) return through;
    double k = tan(PI * 38.13547087602444 / rate), q = 0.5003270373238773;
    double a0 = 1.0 + k / q + k * k, b = 1.0049948987146884 / a0;
    return (biquad){b, -2.0 * b, b, 2.0 * (k * k - 1.0) / a0, (1.0 - k / q + k * k) / a0};
}

static double filter(const biquad *f, memory *m, double x) {
    double y = f->b0 * x + f->b1 * m->x1 + f->b2 * m->x2 - f->a1 * m->y1 - f->a2 * m->y2;
    m->x2 = m->x1, m->x1 = x;
    m->y2 = m->y1, m->y1 = y;
    return y;
}

typedef struct weighing {
    biquad shelf, pass;
    memory *memories; /* two a channel */
    double *quarters; /* energies */
    size_t n, room;
    uint64_t quarter, in_quarter; /* frames */
    double energy;                /* of the quarter so far */
} weighing;

static void end_quarter(weighing *w) {
    if (w->n < w->room) w->quarters[w->n++] = w->energy;
    w->energy = 0;
    w->in_quarter = 0;
}

static void weigh(weighing *w, const float *x, size_t frames, unsigned channels) {
    for (size_t i = 0; i < frames; i++) {
        for (unsigned c = 0; c < channels; c++) {
            memory *m = w->memories + 2 * (size_t)c;
            double y = filter(&w->pass, m + 1, filter(&w->shelf, m, (double)x[i * channels + c]));
            w->energy += y * y;
        }
        if (++w->in_quarter == w->quarter) end_quarter(w);
    }
}

static double lufs(double mean_square) {
    return mean_square > 0 ? -0.691 + 10.0 * log10(mean_square) : -INFINITY;
}

/* The mean of the blocks that are louder than `gate`; 0 when none is. */
static double mean_above(const weighing *w, double gate) {
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i + 4 <= w->n; i++) {
        double block = 0;
        for (size_t k = 0; k < 4; k++) block += w->quarters[i + k];
        block /= 4.0 * (double)w->quarter;
        if (lufs(block) > gate) sum += block, n++;
    }
    return n ? sum / (double)n : 0;
}

/* A clip of less than a block is weighed as a whole, without gates. */
static double integrated(weighing *w, uint64_t frames) {
    if (w->n < 4) {
        double energy = w->energy;
        for (size_t i = 0; i < w->n; i++) energy += w->quarters[i];
        return frames ? lufs(energy / (double)frames) : -INFINITY;
    }
    double loud = mean_above(w, -70.0);
    return lufs(mean_above(w, fmax(-70.0, lufs(loud) - 10.0)));
}

/* ---- samples --------------------------------------------------------------------------------- */

typedef struct pass {
    const sb_wav *wav;
    uint32_t columns;
    float *low, *high;
    sb_sound_measures *m;
    double squares;
    bool was_full; /* the channel's last sample; kept for the first channel only */
    weighing weighing;
} pass;

static uint64_t begin_of_column(const pass *p, uint64_t column) {
    return p->wav->frames * column / p->columns;
}

static void look_at_samples(pass *p, const float *x, size_t count) {
    double squares = 0;
    float peak = (float)p->m->peak;
    for (size_t i = 0; i < count; i++) {
        float size = fabsf(x[i]);
        if (size > peak) peak = size;
        squares += (double)(x[i] * x[i]);
    }
    p->m->peak = (double)peak;
    p->squares += squares;
}

/* Full scale twice in a row in one channel is clipping: a single sample may be correct. */
static void count_clipped(pass *p, const float *x, size_t frames) {
    unsigned channels = p->wav->channels;
    for (size_t i = 0; i < frames; i++) {
        bool full = fabsf(x[i * channels]) >= FULL;
        if (full && p->was_full) p->m->clipped++;
        p->was_full = full;
    }
}

static void widen_columns(pass *p, const float *x, uint64_t from, size_t frames) {
    unsigned channels = p->wav->channels;
    uint64_t column = from * p->columns / p->wav->frames;
    while (column + 1 < p->columns && begin_of_column(p, column + 1) <= from) column++;
    uint64_t end = begin_of_column(p, column + 1);
    for (size_t i = 0; i < frames; i++) {
        while (from + i >= end && column + 1 < p->columns) end = begin_of_column(p, ++column + 1);
        for (unsigned c = 0; c < channels; c++) {
            float v = x[i * channels + c];
            if (v < p->low[column]) p->low[column] = v;
            if (v > p->high[column]) p->high[column] = v;
        }
    }
}

/* A clip with fewer frames than columns: a frame is in the last of its columns; those before it
 * show it, too. */
static void fill_gaps(pass *p) {
    float low = 0.0f, high = 0.0f;
    for (uint32_t i = p->columns; i-- > 0;) {
        if (p->low[i] <= p->high[i]) low = p->low[i], high = p->high[i];
        p->low[i] = low;
        p->high[i] = high;
    }
}

static void count_not_finite(const sb_wav *wav, sb_sound_measures *m) {
    if (!wav->is_float) return;
    for (size_t i = 0; i + wav->width <= wav->data.n; i += wav->width) {
        double x = wav->width == 4 ? (double)sb_bits_float(sb_load32(wav->data.p + i))
                                   : sb_bits_double(sb_load64(wav->data.p + i));
        if (!isfinite(x)) m->not_finite++;
    }
}

static sb_status pass_over(pass *p, float *block, size_t step, const sb_sound_stop *stop,
                           sb_err *err) {
    const sb_wav *wav = p->wav;
    for (uint64_t from = 0; from < wav->frames; from += step) {
        size_t frames = wav->frames - from < step ? (size_t)(wav->frames - from) : step;
        if (stop && stop->is_over(stop->ud))
            return sb_fail(err, SB_TIMEOUT, 0, "drawing the clip took too long");
        sb_wav_samples(wav, from, frames, block);
        look_at_samples(p, block, frames * wav->channels);
        count_clipped(p, block, frames);
        widen_columns(p, block, from, frames);
        weigh(&p->weighing, block, frames, wav->channels);
    }
    return SB_OK;
}

sb_status sb_sound_wave(const sb_wav *wav, uint32_t columns, float *low, float *high,
                        sb_sound_measures *measures, const sb_sound_stop *stop,
                        const sb_alloc *alloc, sb_err *err) {
    *measures = (sb_sound_measures){.loudness = -INFINITY};
    for (uint32_t i = 0; i < columns; i++) low[i] = INFINITY, high[i] = -INFINITY;
    pass p = {.wav = wav, .columns = columns, .low = low, .high = high, .m = measures};
    if (wav->frames == 0 || columns == 0) {
        fill_gaps(&p);
        return SB_OK;
    }
    size_t step = BLOCK / wav->channels + 1;
    uint64_t quarter = wav->rate / 10 ? wav->rate / 10 : 1;
    uint64_t quarters = wav->frames / quarter + 1;
    size_t room = quarters < MAX_QUARTERS ? (size_t)quarters : MAX_QUARTERS;
    p.weighing = (weighing){.shelf = shelf_at(wav->rate),
                            .pass = high_pass_at(wav->rate),
                            .room = room,
                            .quarter = quarter};
    size_t block_n = step * wav->channels, memory_n = 2 * (size_t)wav->channels;
    float *block = sb_alloc_zeroed(alloc, block_n, sizeof *block);
    p.weighing.memories = sb_alloc_zeroed(alloc, memory_n, sizeof(memory));
    p.weighing.quarters = sb_alloc_zeroed(alloc, room, sizeof(double));
    sb_status status = SB_NOMEM;
    if (block && p.weighing.memories && p.weighing.quarters)
        status = pass_over(&p, block, step, stop, err);
    else
        sb_fail_nomem(err, "for a waveform");
    if (status == SB_OK) {
        fill_gaps(&p);
        count_not_finite(wav, measures);
        measures->rms = sqrt(p.squares / ((double)wav->frames * wav->channels));
        measures->loudness = integrated(&p.weighing, wav->frames);
    }
    sb_alloc_put(alloc, block, block_n * sizeof *block);
    sb_alloc_put(alloc, p.weighing.memories, memory_n * sizeof(memory));
    sb_alloc_put(alloc, p.weighing.quarters, room * sizeof(double));
    return status;
}
