/* audio.c: the clips of one series: a page of its steps, with what ingest saw of each clip, so that
 * no clip is read; and one clip as waveform, spectrogram and measures (audio_picture.c). */
#include "base/text/number.h"
#include "media/sniff.h"
#include "query/kinds/media_list.h"
#include "server/api/one_series.h"
#include "base/banned.h"

typedef struct clip_ask {
    uint64_t from, count;
    bool is_back; /* from counts from the newest, 0, backwards */
    bool by_step; /* from is that of the clip nearest to step */
    int64_t step;
    uint64_t sample; /* only steps that have it */
} clip_ask;

/* What ingest saw is about the first clip of the step; of the others it is a good guess. */
static void add_clip(sb_json *j, sb_http_request *q, const sb_series *series,
                     const sb_media_item *m) {
    const sb_ref *ref = &m->item.ref;
    sb_json_begin_object(j);
    sb_api_add_point_head(j, m->item.step, m->item.wall);
    sb_json_put_str(j, "type", sb_media_type((sb_media)ref->media));
    sb_json_put_uint(j, "bytes", ref->bytes);
    if (ref->rate) {
        sb_json_put_uint(j, "rate", ref->rate);
        sb_json_put_uint(j, "channels", ref->channels);
        sb_json_put_uint(j, "frames", ref->frames);
    }
    sb_json_key_str(j, "blobs");
    sb_json_begin_array(j);
    for (uint32_t i = 0; i < m->samples; i++) sb_api_add_blob_path(j, q, series, &m->item, i);
    sb_json_end_array(j);
    sb_json_end_object(j);
}

static size_t nearest_clip(const sb_media_item *items, size_t n, int64_t step) {
    size_t best = 0;
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        int64_t at = items[i].item.step;
        uint64_t away = at > step ? (uint64_t)at - (uint64_t)step : (uint64_t)step - (uint64_t)at;
        if (away <= least) least = away, best = i;
    }
    return best;
}

static size_t first_clip(const clip_ask *ask, const sb_media_item *items, size_t n) {
    if (ask->by_step) return nearest_clip(items, n, ask->step);
    if (ask->from >= n) return ask->is_back ? 0 : n;
    return ask->is_back ? n - 1 - (size_t)ask->from : (size_t)ask->from;
}

static sb_status answer_clips(sb_json *j, sb_http_request *q, sb_http_reply *r,
                              const sb_series *series, const clip_ask *ask) {
    sb_media_item *items;
    size_t n;
    sb_media_ask media = {.is_audio = true, .sample = (uint32_t)ask->sample};
    sb_status status = sb_media_list(series, &media, q->arena, &items, &n, sb_http_err(r));
    if (status != SB_OK) return status;
    size_t first = first_clip(ask, items, n);
    size_t shown = n - first < ask->count ? n - first : (size_t)ask->count;
    uint32_t samples = 0;
    for (size_t i = 0; i < n; i++)
        if (items[i].samples > samples) samples = items[i].samples;
    sb_json_put_uint(j, "epoch", series->epoch);
    sb_json_put_uint(j, "samples", samples);
    sb_json_put_uint(j, "total", n);
    sb_json_put_uint(j, "from", first);
    sb_json_key_str(j, "points");
    sb_json_begin_array(j);
    for (size_t i = 0; i < shown; i++) add_clip(j, q, series, &items[first + i]);
    sb_json_end_array(j);
    return sb_api_end(j, r);
}

sb_status sb_api_audio(sb_http_request *q, sb_http_reply *r, void *app) {
    clip_ask ask = {0};
    uint64_t back;
    sb_slice step = sb_http_query(q, "at");
    ask.by_step = step.p != NULL;
    ask.is_back = sb_http_query(q, "back").p != NULL;
    if (!sb_api_query_number(q, "from", 0, &ask.from) ||
        !sb_api_query_number(q, "back", 0, &back) ||
        !sb_api_query_number(q, "count", UINT64_MAX, &ask.count) ||
        !sb_api_query_number(q, "sample", 0, &ask.sample) || ask.sample > UINT32_MAX ||
        (step.p && !sb_parse_int64(step, &ask.step)))
        return sb_api_fail(r, 400, "invalid",
                           "from, back, at, count and sample must be whole numbers");
    if (ask.is_back) ask.from = back;
    sb_series series;
    sb_json j;
    sb_api_begin(&j, r, app);
    sb_status status = sb_api_take_series(q, r, app, &series);
    if (status != SB_OK) return status == SB_END ? SB_OK : status;
    status = answer_clips(&j, q, r, &series, &ask);
    sb_series_release(&series);
    return status;
}
