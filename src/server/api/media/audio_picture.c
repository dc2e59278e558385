/* audio_picture.c: one clip as waveform, spectrogram and measures.
 *
 * Made from the clip's samples once and kept on disk; the path names the exact bytes of the clip
 * (`at`), so that browsers keep the answer as well. Memory: the record and one picture.
 * A clip that cannot be drawn is no failure of the request: the answer says why. */
#include <math.h>
#include <stdio.h>

#include "base/text/base64.h"
#include "base/text/number.h"
#include "media/view/sound.h"
#include "server/api/media/picture_ref.h"
#include "server/api/one_series.h"
#include "base/banned.h"

#define MAX_CLIP ((size_t)256 << 20) /* bytes of a record: an hour of 16 bits at 32 kHz */
#define MAX_COLUMNS 4096u
#define MAX_ROWS 512u

typedef struct picture_ask {
    int64_t step;
    uint64_t index, columns, rows;
    sb_sound_scale scale;
} picture_ask;

static void add_bytes(sb_json *j, sb_http_request *q, const char *key, sb_slice bytes) {
    sb_buf text;
    sb_buf_init(&text, q->alloc, bytes.n * 2 + 16);
    sb_base64_add(&text, bytes, SB_BASE64);
    sb_json_put_text(j, key, sb_buf_slice(&text));
    sb_buf_fini(&text);
}

/* -1..1 as 0..255; what is louder than full scale is cut. */
static void add_levels(sb_json *j, sb_http_request *q, const char *key, const float *x, size_t n) {
    uint8_t *bytes = sb_arena_get(q->arena, n);
    for (size_t i = 0; bytes && i < n; i++) {
        float level = roundf((fminf(fmaxf(x[i], -1.0f), 1.0f) + 1.0f) * 127.5f);
        bytes[i] = (uint8_t)level;
    }
    add_bytes(j, q, key, sb_slice_of(bytes, bytes ? n : 0));
}

static void add_format(sb_json *j, const sb_wav *wav) {
    sb_json_put_double(j, "seconds", (double)wav->frames / wav->rate);
    sb_json_put_uint(j, "rate", wav->rate);
    sb_json_put_uint(j, "channels", wav->channels);
    sb_json_put_uint(j, "bits", wav->bits);
    sb_json_put_bool(j, "isFloat", wav->is_float);
    sb_json_put_bool(j, "isCut", wav->is_cut);
}

static void add_measures(sb_json *j, const sb_sound_measures *m) {
    sb_json_put_double(j, "peak", m->peak);
    sb_json_put_double(j, "rms", m->rms);
    sb_json_put_double(j, "loudness", m->loudness);
    sb_json_put_uint(j, "clipped", m->clipped);
    sb_json_put_uint(j, "notFinite", m->not_finite);
}

static sb_status draw_clip(sb_json *j, sb_http_request *q, sb_http_reply *r, const sb_wav *wav,
                           const picture_ask *ask) {
    uint32_t columns = (uint32_t)ask->columns, rows = (uint32_t)ask->rows;
    float *low = sb_arena_zeroed(q->arena, columns, sizeof *low);
    float *high = sb_arena_zeroed(q->arena, columns, sizeof *high);
    uint8_t *spectrum = sb_arena_zeroed(q->arena, (size_t)columns * rows + 1, 1);
    if (!low || !high || !spectrum) return SB_NOMEM;
    sb_budget budget = sb_api_budget(q);
    sb_sound_stop stop = {budget.is_over, budget.ud};
    sb_sound_measures measures;
    sb_status status =
        sb_sound_wave(wav, columns, low, high, &measures, &stop, q->alloc, sb_http_err(r));
    if (status == SB_OK)
        status = sb_sound_spectrum(wav, columns, rows, ask->scale, spectrum, &stop, q->alloc,
                                   sb_http_err(r));
    if (status != SB_OK) return status;
    add_format(j, wav);
    add_measures(j, &measures);
    sb_json_put_uint(j, "columns", columns);
    sb_json_put_uint(j, "rows", rows);
    add_levels(j, q, "low", low, columns);
    add_levels(j, q, "high", high, columns);
    add_bytes(j, q, "spectrum", sb_slice_of(spectrum, (size_t)columns * rows));
    return SB_OK;
}

/* Why there is no picture, as a word and a sentence. */
static sb_status add_trouble(sb_json *j, const char *word, const char *text) {
    sb_json_put_str(j, "trouble", word);
    sb_json_put_str(j, "message", text);
    return SB_OK;
}

static sb_status write_picture(sb_json *j, sb_http_request *q, sb_http_reply *r, sb_slice clip,
                               const picture_ask *ask) {
    sb_wav wav;
    sb_err err = {0};
    switch (sb_wav_read(&wav, clip, &err)) {
    case SB_OK:
        return draw_clip(j, q, r, &wav, ask);
    case SB_NOT_FOUND:
        return add_trouble(j, "format", err.text);
    case SB_LIMIT:
        return add_trouble(j, "packed", err.text);
    default:
        return add_trouble(j, "header", err.text);
    }
}

static sb_slice key_of(char *to, size_t room, const sb_series *series, const sb_ref_item *item,
                       const picture_ask *ask) {
    int n =
        snprintf(to, room, "clip %u %u %llu %u %u %llu %llu %llu %d", sb_run_id(series->run),
                 item->file, (unsigned long long)item->ref.offset, item->ref.crc,
                 item->ref.value_index, (unsigned long long)ask->index,
                 (unsigned long long)ask->columns, (unsigned long long)ask->rows, (int)ask->scale);
    return sb_slice_of(to, (size_t)n);
}

static sb_status make_picture(sb_http_request *q, sb_http_reply *r, sb_app *app,
                              const sb_series *series, const sb_ref_item *item,
                              const picture_ask *ask, sb_slice key) {
    sb_slice clip;
    sb_json j;
    sb_json_init(&j, sb_http_body(r), &(sb_json_opts){.utf8 = true});
    sb_json_begin_object(&j);
    sb_status status =
        sb_api_read_blob(q, r, app, series, item, (uint32_t)ask->index, MAX_CLIP, &clip);
    if (status == SB_LIMIT) {
        status = add_trouble(&j, "long", "the clip is too long to be drawn");
    } else if (status == SB_OK) {
        status = write_picture(&j, q, r, clip, ask);
    }
    if (status == SB_OK) {
        sb_json_end_object(&j);
        status = sb_json_finish(&j, "a picture of a clip", sb_http_err(r));
    }
    sb_made_keep(app, key, status == SB_OK ? sb_buf_slice(sb_http_body(r)) : (sb_slice){NULL, 0});
    return status == SB_END ? SB_OK : status;
}

static sb_status send_picture(sb_http_request *q, sb_http_reply *r, sb_app *app,
                              const sb_series *series, const picture_ask *ask) {
    char text[256];
    sb_ref_item item;
    sb_status status = sb_api_find_blob(q, r, series, ask->step, &item);
    if (status != SB_OK) return status == SB_END ? SB_OK : status;
    sb_slice key = key_of(text, sizeof text, series, &item, ask);
    sb_api_version(r, app);
    sb_http_type(r, "application/json");
    if (sb_http_query(q, "at").p) sb_http_cache_for(r, SB_HTTP_CACHE_FOREVER);
    if (sb_made_find(app, q, key, sb_http_body(r))) return SB_OK;
    return make_picture(q, r, app, series, &item, ask, key);
}

static bool read_scale(sb_slice text, sb_sound_scale *out) {
    *out = text.p && sb_slice_eq(text, SB_LIT("linear")) ? SB_SOUND_LINEAR : SB_SOUND_MEL;
    return !text.p || *out == SB_SOUND_LINEAR || sb_slice_eq(text, SB_LIT("mel"));
}

sb_status sb_api_audio_picture(sb_http_request *q, sb_http_reply *r, void *app) {
    picture_ask ask;
    sb_slice step = sb_http_query(q, "step");
    if (!step.p || !sb_parse_int64(step, &ask.step) ||
        !sb_api_query_number(q, "index", 0, &ask.index) || ask.index > UINT32_MAX ||
        !sb_api_query_number(q, "columns", 600, &ask.columns) || ask.columns < 1 ||
        ask.columns > MAX_COLUMNS || !sb_api_query_number(q, "rows", 96, &ask.rows) ||
        ask.rows > MAX_ROWS || !read_scale(sb_http_query(q, "scale"), &ask.scale))
        return sb_api_fail(r, 400, "invalid",
                           "step and index must be whole numbers, columns 1 to %u, rows at most "
                           "%u, scale mel or linear",
                           MAX_COLUMNS, MAX_ROWS);
    sb_series series;
    sb_status status = sb_api_take_series(q, r, app, &series);
    if (status != SB_OK) return status == SB_END ? SB_OK : status;
    status = send_picture(q, r, app, &series, &ask);
    sb_series_release(&series);
    return status;
}
