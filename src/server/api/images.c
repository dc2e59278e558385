/* images.c: the images of series: as JSON for one series, and as columns for many, of which a
 * client gets only what is new to it. Sizes and types are those that ingest saw: nothing is read
 * from the log. */
#include "media/sniff.h"
#include "query/kinds/media_list.h"
#include "query/lines/points.h"
#include "server/api/columns.h"
#include "server/api/one_series.h"
#include "server/api/scalar_ask.h"
#include "base/banned.h"

#define MAX_SERIES 2000u
#define MAX_POINTS ((size_t)200000) /* of a series in one reply; the rest comes when asked again */
#define END_IS_MISSING 0x80u        /* in a column of types */
#define FIRST_PICTURE 2u            /* width and height stand before the pictures */

/* ---- one series ------------------------------------------------------------------------------ */

static void add_image_point(sb_json *j, sb_http_request *q, const sb_series *series,
                            const sb_media_item *m) {
    sb_json_begin_object(j);
    sb_api_add_point_head(j, m->item.step, m->item.wall);
    sb_json_put_str(j, "type", sb_media_type(m->item.ref.media));
    sb_json_put_uint(j, "width", m->item.ref.width);
    sb_json_put_uint(j, "height", m->item.ref.height);
    sb_json_key_str(j, "blobs");
    sb_json_begin_array(j);
    for (uint32_t i = 0; i < m->samples; i++)
        sb_api_add_blob_path(j, q, series, &m->item, i + FIRST_PICTURE);
    sb_json_end_array(j);
    sb_json_end_object(j);
}

static sb_status answer_images(sb_json *j, sb_http_request *q, sb_http_reply *r,
                               const sb_series *series) {
    sb_media_item *items;
    size_t n;
    sb_media_ask ask = {.is_audio = false};
    sb_status status = sb_media_list(series, &ask, q->arena, &items, &n, sb_http_err(r));
    if (status != SB_OK) return status;
    uint32_t samples = 0;
    for (size_t i = 0; i < n; i++)
        if (items[i].samples > samples) samples = items[i].samples;
    sb_json_put_uint(j, "samples", samples);
    sb_json_key_str(j, "points");
    sb_json_begin_array(j);
    for (size_t i = 0; i < n; i++) add_image_point(j, q, series, &items[i]);
    sb_json_end_array(j);
    return sb_api_end(j, r);
}

sb_status sb_api_images(sb_http_request *q, sb_http_reply *r, void *app) {
    sb_series series;
    sb_json j;
    sb_api_begin(&j, r, app);
    sb_status status = sb_api_take_series(q, r, app, &series);
    if (status != SB_OK) return status == SB_END ? SB_OK : status;
    status = answer_images(&j, q, r, &series);
    sb_series_release(&series);
    return status;
}

/* ---- many series ----------------------------------------------------------------------------- */

/* An entry of the answer: offsets of its fields, and its flags. */
enum {
#define SB_IMAGE_ENTRY(magic, bytes) ENTRY = (bytes),
#define SB_IMAGE_FIELD(name, at, type, key, what) AT_##name = (at),
#define SB_IMAGE_FLAG(name, bit, what) IS_##name = (bit),
#include "server/api/columns.def"
};
#define SB_IMAGE_ENTRY(magic, bytes) static const char container[] = magic;
#include "server/api/columns.def"

typedef struct image_list {
    sb_http_request *q;
    sb_app *app;
    sb_err *err;
    sb_run_index runs;
    sb_column_body body;
} image_list;

static uint32_t samples_of(const sb_ref *ref) {
    return ref->count > FIRST_PICTURE ? ref->count - FIRST_PICTURE : 0;
}

static uint8_t type_of(const sb_ref *ref) {
    return (uint8_t)(ref->media | (ref->channels ? END_IS_MISSING : 0));
}

/* One column: a number of each item. */
#define ADD_COLUMN(type, add, at, value)                                                           \
    do {                                                                                           \
        type *column = sb_arena_get(l->q->arena, n * sizeof *column);                              \
        if (!column) return SB_NOMEM;                                                              \
        for (size_t i = 0; i < n; i++) column[i] = (type)(value);                                  \
        add(&l->body, entry, at, column, n);                                                       \
    } while (0)

static sb_status add_image_columns(image_list *l, uint32_t entry, const sb_ref_item *items,
                                   size_t n) {
    sb_column_u32(&l->body, entry, AT_POINTS, (uint32_t)n);
    if (n == 0) return SB_OK;
    ADD_COLUMN(int64_t, sb_column_add_int64s, AT_STEP, items[i].step);
    ADD_COLUMN(double, sb_column_add_doubles, AT_WALL, items[i].wall);
    ADD_COLUMN(double, sb_column_add_doubles, AT_OFFSET, items[i].ref.offset);
    ADD_COLUMN(uint32_t, sb_column_add_u32s, AT_CRC, items[i].ref.crc);
    ADD_COLUMN(uint32_t, sb_column_add_u32s, AT_COUNT, samples_of(&items[i].ref));
    ADD_COLUMN(uint32_t, sb_column_add_u32s, AT_WIDTH, items[i].ref.width);
    ADD_COLUMN(uint32_t, sb_column_add_u32s, AT_HEIGHT, items[i].ref.height);
    ADD_COLUMN(uint32_t, sb_column_add_u32s, AT_BYTES, items[i].ref.bytes);
    ADD_COLUMN(uint8_t, sb_column_add_bytes, AT_TYPE, type_of(&items[i].ref));
    return SB_OK;
}

/* In the order of the log: of the same epoch, what a client has is the beginning of what is there
 * now. */
static sb_status add_image_list(image_list *l, uint32_t entry, const sb_series *series,
                                const sb_series_ask *have) {
    sb_ref_item *items;
    size_t n, from = 0;
    uint64_t epoch = sb_series_epoch(series);
    sb_status status =
        sb_refs_list(series, &(sb_ref_ask){0}, l->q->arena, &items, &n, NULL, l->err);
    if (status != SB_OK) return status;
    uint32_t samples = 0, flags = 0;
    for (size_t i = 0; i < n; i++)
        if (samples_of(&items[i].ref) > samples) samples = samples_of(&items[i].ref);
    if (have->n && have->epoch == epoch && have->n <= n) {
        from = (size_t)have->n;
        flags = from == n ? IS_SAME_IMAGES : IS_MORE_IMAGES;
    }
    sb_column_u64(&l->body, entry, AT_EPOCH, epoch);
    sb_column_u64(&l->body, entry, AT_N, n);
    sb_column_u32(&l->body, entry, AT_SAMPLES, samples);
    sb_column_u32(&l->body, entry, AT_FLAGS, flags);
    return add_image_columns(l, entry, items + from, n - from > MAX_POINTS ? MAX_POINTS : n - from);
}

static sb_status add_image_series(image_list *l, uint32_t entry, const sb_series_ask *have) {
    sb_arena_mark mark = sb_arena_here(l->q->arena);
    sb_run *run = sb_api_find_run(&l->runs, have->run);
    sb_series series;
    sb_status status = run ? sb_series_take(run, have->tag, l->q->arena, &series) : SB_NOT_FOUND;
    sb_column_u32(&l->body, entry, AT_RUN, have->run);
    if (status == SB_OK) {
        status = series.meta->kind == SB_SERIES_BLOBS ? add_image_list(l, entry, &series, have)
                                                      : SB_NOT_FOUND;
        sb_series_release(&series);
    }
    if (status == SB_NOT_FOUND) {
        sb_column_u32(&l->body, entry, AT_FLAGS, IS_NO_IMAGES);
        status = SB_OK;
    }
    sb_arena_reset(l->q->arena, mark);
    return status;
}

static sb_status answer_image_columns(image_list *l, sb_http_reply *r, const json_t *list) {
    uint32_t n = (uint32_t)json_array_size(list);
    sb_http_type(r, "application/x-seaboard-columns");
    sb_http_compress(r, SB_HTTP_CODING_YES);
    sb_column_begin(&l->body, sb_http_body(r), container, sb_api_version(r, l->app), n, ENTRY);
    sb_status status = sb_api_take_runs(&l->runs, l->q, l->app);
    if (status != SB_OK) return status;
    for (uint32_t i = 0; status == SB_OK && i < n; i++) {
        sb_series_ask have;
        if (!sb_series_ask_read(&have, json_array_get(list, i), r)) break;
        status = add_image_series(l, i, &have);
    }
    sb_api_release_runs(&l->runs);
    return status;
}

sb_status sb_api_image_columns(sb_http_request *q, sb_http_reply *r, void *app) {
    json_t *body = sb_api_body(q, r);
    if (!body) return SB_OK;
    image_list l = {.q = q, .app = app, .err = sb_http_err(r)};
    const json_t *list = json_object_get(body, "series");
    sb_status status =
        json_is_array(list) && json_array_size(list) <= MAX_SERIES
            ? answer_image_columns(&l, r, list)
            : sb_api_fail(r, 400, "invalid", "\"series\" must be a list of at most %u", MAX_SERIES);
    json_decref(body);
    return status;
}
