/* wav_read.c: chunks of a WAV file, little-endian, each padded to an even size.
 *
 *   0 "RIFF"  4 u32 size (not trusted)  8 "WAVE"  12 chunks: 4 name, u32 size, bytes
 *   "fmt "  0 u16 1 PCM, 3 float, 0xfffe extensible   2 u16 channels      4 u32 frames a second
 *           8 u32 bytes a second   12 u16 bytes a frame   14 u16 bits of a sample
 *           extensible: 16 u16 22   18 u16 valid bits   20 u32 speakers   24 u16 1 or 3, 14 bytes
 *   "data"  samples. A program that streams does not know their size and writes 0 or 0xffffffff:
 *           then they go on to the end of the file. */
#include "media/wav_read.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/slice.h"
#include "base/banned.h"

enum { max_chunks = 256, format_pcm = 1, format_float = 3, format_extensible = 0xfffe };

typedef struct chunk {
    const uint8_t *name;
    sb_slice bytes;   /* as many as there are */
    uint32_t claimed; /* as many as it says */
} chunk;

/* The chunk at *at; false behind the last. */
static bool next_chunk(sb_slice file, size_t *at, chunk *out) {
    if (file.n - *at < 8) return false;
    out->name = file.p + *at;
    out->claimed = sb_load32(out->name + 4);
    size_t left = file.n - *at - 8;
    out->bytes = sb_slice_of(out->name + 8, out->claimed < left ? out->claimed : left);
    size_t step = 8 + out->bytes.n + (out->bytes.n & 1);
    *at = step < file.n - *at ? *at + step : file.n;
    return true;
}

static bool is_named(const chunk *c, const char *name) {
    return memcmp(c->name, name, 4) == 0;
}

static sb_status read_format(sb_wav *w, sb_slice fmt, sb_err *err) {
    if (fmt.n < 16) return sb_fail(err, SB_CORRUPT, 0, "the format of the WAV file is cut short");
    unsigned format = sb_load16(fmt.p), align = sb_load16(fmt.p + 12);
    w->channels = sb_load16(fmt.p + 2);
    w->rate = sb_load32(fmt.p + 4);
    w->bits = sb_load16(fmt.p + 14);
    if (format == format_extensible && fmt.n >= 26) format = sb_load16(fmt.p + 24);
    if (w->channels == 0 || w->rate == 0)
        return sb_fail(err, SB_CORRUPT, 0, "the WAV header names %u channels at %u Hz", w->channels,
                       w->rate);
    if (format != format_pcm && format != format_float)
        return sb_fail(err, SB_LIMIT, 0, "samples in WAV format %u are not decoded here", format);
    w->is_float = format == format_float;
    unsigned width = align / w->channels;
    bool fits = w->is_float
                    ? (width == 4 || width == 8) && w->bits == 8 * width
                    : width >= 1 && width <= 4 && w->bits > 8 * (width - 1) && w->bits <= 8 * width;
    if (!fits || align % w->channels != 0)
        return sb_fail(err, SB_CORRUPT, 0,
                       "the WAV header names %u bits a sample and %u bytes for %u channels",
                       w->bits, align, w->channels);
    w->width = (uint8_t)width;
    return SB_OK;
}

static void take_data(sb_wav *w, sb_slice file, const chunk *c) {
    size_t frame = (size_t)w->width * w->channels;
    sb_slice data = c->bytes;
    bool is_open = c->claimed == UINT32_MAX || (c->claimed == 0 && c->bytes.p < file.p + file.n);
    if (is_open) data.n = (size_t)(file.p + file.n - data.p);
    w->is_cut = !is_open && c->claimed > c->bytes.n;
    w->frames = data.n / frame;
    w->data = sb_slice_of(data.p, (size_t)w->frames * frame);
}

sb_status sb_wav_read(sb_wav *out, sb_slice bytes, sb_err *err) {
    sb_wav w = {0};
    bool has_format = false;
    if (bytes.n < 12 || memcmp(bytes.p, "RIFF", 4) != 0 || memcmp(bytes.p + 8, "WAVE", 4) != 0)
        return sb_fail(err, SB_NOT_FOUND, 0, "this is not a WAV file");
    size_t at = 12;
    chunk c;
    for (int i = 0; i < max_chunks && next_chunk(bytes, &at, &c); i++) {
        if (is_named(&c, "fmt ") && !has_format) {
            sb_status status = read_format(&w, c.bytes, err);
            if (status != SB_OK) return status;
            has_format = true;
        } else if (is_named(&c, "data")) {
            if (!has_format)
                return sb_fail(err, SB_CORRUPT, 0, "the WAV file has samples before their format");
            take_data(&w, bytes, &c);
            *out = w;
            return SB_OK;
        }
    }
    return sb_fail(err, SB_CORRUPT, 0, "the WAV file has no %s",
                   has_format ? "samples" : "format of its samples");
}

/* ---- samples --------------------------------------------------------------------------------- */

static float finite_or_0(double x) {
    return isfinite(x) ? (float)x : 0.0f;
}

static int32_t load24(const uint8_t *p) {
    uint32_t x = (uint32_t)p[0] << 8 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 24;
    return (int32_t)x >> 8;
}

void sb_wav_samples(const sb_wav *w, uint64_t from, size_t n, float *out) {
    size_t count = n * w->channels;
    const uint8_t *p = w->data.p + (size_t)from * w->channels * w->width;
    switch (w->width) {
    case 1: /* unsigned */
        for (size_t i = 0; i < count; i++) out[i] = (float)(p[i] - 128) / 128.0f;
        break;
    case 2:
        for (size_t i = 0; i < count; i++) out[i] = (float)(int16_t)sb_load16(p + 2 * i) / 32768.0f;
        break;
    case 3:
        for (size_t i = 0; i < count; i++) out[i] = (float)load24(p + 3 * i) / 8388608.0f;
        break;
    case 4:
        if (w->is_float) {
            for (size_t i = 0; i < count; i++)
                out[i] = finite_or_0((double)sb_bits_float(sb_load32(p + 4 * i)));
        } else {
            for (size_t i = 0; i < count; i++)
                out[i] = (float)((double)(int32_t)sb_load32(p + 4 * i) / 2147483648.0);
        }
        break;
    default:
        for (size_t i = 0; i < count; i++)
            out[i] = finite_or_0(sb_bits_double(sb_load64(p + 8 * i)));
    }
}
