/* media_columns.c: the pictures or clips of many series as columns, of which a client gets only
 * what is new to it. Sizes and types are those that ingest saw: nothing is read from the log. */
#include "media/sniff.h"
#include "query/lines/points.h"
#include "query/records/refs.h"
#include "server/api/columns.h"
#include "server/api/scalar_ask.h"
#include "base/banned.h"

#define MAX_SERIES 2000u
#define MAX_POINTS ((size_t)200000) /* of a series in one reply; the rest comes when asked again */
#define END_IS_MISSING 0x80u        /* in a column of types, of pictures */
#define BEFORE_PICTURES 2u          /* width and height stand before the pictures of a step */

/* An entry of the answer: offsets of its fields, and its flags. */
enum {
#define SB_MEDIA_ENTRY(magic, bytes) ENTRY = (bytes),
#define SB_MEDIA_FIELD(name, at, type, key, what) AT_##name = (at),
#define SB_MEDIA_FLAG(name, bit, what) IS_##name = (bit),
#include "server/api/columns.def"
};
#define SB_MEDIA_ENTRY(magic, bytes) static const char container[] = magic;
#include "server/api/columns.def"

typedef struct media_lists {
    sb_http_request *q;
    sb_app *app;
    sb_err *err;
    bool is_audio;
    sb_run_index runs;
    sb_column_body body;
} media_lists;

static uint32_t samples_of(const media_lists *l, const sb_ref *ref) {
    if (l->is_audio) return ref->count;
    return ref->count > BEFORE_PICTURES ? ref->count - BEFORE_PICTURES : 0;
}

static uint8_t type_of(const media_lists *l, const sb_ref *ref) {
    return (uint8_t)(ref->media | (!l->is_audio && ref->channels ? END_IS_MISSING : 0));
}

/* One column: a number of each item. */
#define ADD_COLUMN(type, add, at, value)                                                           \
    do {                                                                                           \
        type *column = sb_arena_get(l->q->arena, n * sizeof *column);                              \
        if (!column) return SB_NOMEM;                                                              \
        for (size_t i = 0; i < n; i++) column[i] = (type)(value);                                  \
        add(&l->body, entry, at, column, n);                                                       \
    } while (0)

static sb_status add_columns(media_lists *l, uint32_t entry, const sb_ref_item *items, size_t n) {
    sb_column_u32(&l->body, entry, AT_POINTS, (uint32_t)n);
    if (n == 0) return SB_OK;
    ADD_COLUMN(int64_t, sb_column_add_int64s, AT_STEP, items[i].step);
    ADD_COLUMN(double, sb_column_add_doubles, AT_WALL, items[i].wall);
    ADD_COLUMN(double, sb_column_add_doubles, AT_OFFSET, items[i].ref.offset);
    ADD_COLUMN(uint32_t, sb_column_add_u32s, AT_CRC, items[i].ref.crc);
    ADD_COLUMN(uint32_t, sb_column_add_u32s, AT_COUNT, samples_of(l, &items[i].ref));
    ADD_COLUMN(uint32_t, sb_column_add_u32s, AT_BYTES, items[i].ref.bytes);
    ADD_COLUMN(uint8_t, sb_column_add_bytes, AT_TYPE, type_of(l, &items[i].ref));
    if (l->is_audio) {
        ADD_COLUMN(uint32_t, sb_column_add_u32s, AT_RATE, items[i].ref.rate);
        ADD_COLUMN(uint32_t, sb_column_add_u32s, AT_FRAMES, items[i].ref.frames);
    } else {
        ADD_COLUMN(uint32_t, sb_column_add_u32s, AT_WIDTH, items[i].ref.width);
        ADD_COLUMN(uint32_t, sb_column_add_u32s, AT_HEIGHT, items[i].ref.height);
    }
    return SB_OK;
}

/* In the order of the log: of the same epoch, what a client has is the beginning of what is there
 * now. */
static sb_status add_list(media_lists *l, uint32_t entry, const sb_series *series,
                          const sb_series_ask *have) {
    sb_ref_item *items;
    size_t n, from = 0;
    uint64_t epoch = sb_series_epoch(series);
    sb_status status =
        sb_refs_list(series, &(sb_ref_ask){0}, l->q->arena, &items, &n, NULL, l->err);
    if (status != SB_OK) return status;
    uint32_t samples = 0, flags = 0;
    for (size_t i = 0; i < n; i++)
        if (samples_of(l, &items[i].ref) > samples) samples = samples_of(l, &items[i].ref);
    if (have->n && have->epoch == epoch && have->n <= n) {
        from = (size_t)have->n;
        flags = from == n ? IS_SAME_MEDIA : IS_MORE_MEDIA;
    }
    sb_column_u64(&l->body, entry, AT_EPOCH, epoch);
    sb_column_u64(&l->body, entry, AT_N, n);
    sb_column_u32(&l->body, entry, AT_SAMPLES, samples);
    sb_column_u32(&l->body, entry, AT_FLAGS, flags);
    return add_columns(l, entry, items + from, n - from > MAX_POINTS ? MAX_POINTS : n - from);
}

static sb_status add_series(media_lists *l, uint32_t entry, const sb_series_ask *have) {
    sb_arena_mark mark = sb_arena_here(l->q->arena);
    sb_run *run = sb_api_find_run(&l->runs, have->run);
    sb_series series;
    sb_status status = run ? sb_series_take(run, have->tag, l->q->arena, &series) : SB_NOT_FOUND;
    sb_column_u32(&l->body, entry, AT_RUN, have->run);
    if (status == SB_OK) {
        status =
            series.meta->kind == SB_SERIES_BLOBS ? add_list(l, entry, &series, have) : SB_NOT_FOUND;
        sb_series_release(&series);
    }
    if (status == SB_NOT_FOUND) {
        sb_column_u32(&l->body, entry, AT_FLAGS, IS_NO_MEDIA);
        status = SB_OK;
    }
    sb_arena_reset(l->q->arena, mark);
    return status;
}

static sb_status answer_lists(media_lists *l, sb_http_reply *r, const json_t *list) {
    uint32_t n = (uint32_t)json_array_size(list);
    sb_http_type(r, "application/x-seaboard-columns");
    sb_http_compress(r, SB_HTTP_CODING_YES);
    sb_column_begin(&l->body, sb_http_body(r), container, sb_api_version(r, l->app), n, ENTRY);
    sb_status status = sb_api_take_runs(&l->runs, l->q, l->app);
    if (status != SB_OK) return status;
    for (uint32_t i = 0; status == SB_OK && i < n; i++) {
        sb_series_ask have;
        if (!sb_series_ask_read(&have, json_array_get(list, i), r)) break;
        status = add_series(l, i, &have);
    }
    sb_api_release_runs(&l->runs);
    return status;
}

static sb_status answer_media(sb_http_request *q, sb_http_reply *r, sb_app *app, bool is_audio) {
    json_t *body = sb_api_body(q, r);
    if (!body) return SB_OK;
    media_lists l = {.q = q, .app = app, .err = sb_http_err(r), .is_audio = is_audio};
    const json_t *list = json_object_get(body, "series");
    sb_status status =
        json_is_array(list) && json_array_size(list) <= MAX_SERIES
            ? answer_lists(&l, r, list)
            : sb_api_fail(r, 400, "invalid", "\"series\" must be a list of at most %u", MAX_SERIES);
    json_decref(body);
    return status;
}

sb_status sb_api_image_columns(sb_http_request *q, sb_http_reply *r, void *app) {
    return answer_media(q, r, app, false);
}

sb_status sb_api_clip_columns(sb_http_request *q, sb_http_reply *r, void *app) {
    return answer_media(q, r, app, true);
}
