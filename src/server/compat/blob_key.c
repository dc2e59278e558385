/* blob_key.c: making, reading and following blob keys. */
#include "server/compat/blob_key.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "base/text/base64.h"
#include "media/sniff.h"
#include "query/records/blob.h"
#include "query/records/value.h"
#include "server/compat/series.h"
#include "server/send_blob.h"
#include "base/banned.h"

#define MOST_KEY ((size_t)64 << 10)
#define MOST_RECORD ((size_t)2 << 30)

/* ---- keys ------------------------------------------------------------------------------------ */

void sb_blob_key_add(sb_buf *out, const sb_blob_key *key) {
    sb_buf text;
    sb_buf_init(&text, out->alloc, (size_t)1 << 20);
    sb_json j;
    sb_json_init(&j, &text, NULL);
    sb_json_begin_array(&j);
    sb_json_text(&j, key->experiment);
    sb_json_text(&j, key->plugin);
    sb_json_text(&j, key->run);
    sb_json_text(&j, key->tag);
    sb_json_int(&j, key->step);
    sb_json_int(&j, key->index);
    sb_json_end_array(&j);
    if (text.failed != SB_OK && out->failed == SB_OK) out->failed = text.failed;
    sb_base64_add(out, sb_buf_slice(&text), SB_BASE64_URL);
    sb_buf_fini(&text);
}

static bool take_key_text(const json_t *array, size_t i, sb_arena *arena, sb_slice *out) {
    const json_t *value = json_array_get(array, i);
    if (!json_is_string(value)) return false;
    *out = sb_arena_dup(arena, sb_slice_of(json_string_value(value), json_string_length(value)));
    return out->p != NULL;
}

static bool take_key_number(const json_t *array, size_t i, int64_t *out) {
    const json_t *value = json_array_get(array, i);
    *out = json_integer_value(value);
    return json_is_integer(value);
}

sb_status sb_blob_key_read(sb_blob_key *out, sb_slice text, sb_arena *arena, sb_err *err) {
    *out = (sb_blob_key){.step = 0};
    sb_alloc in_arena = sb_arena_alloc(arena);
    sb_buf json;
    sb_buf_init(&json, &in_arena, MOST_KEY);
    bool is_text = text.n <= MOST_KEY && sb_base64_read(&json, text) && json.n > 0;
    json_error_t error;
    json_t *array = is_text ? json_loadb((const char *)json.p, json.n, 0, &error) : NULL;
    size_t n = json_array_size(array), at = 0;
    bool fine = (n == 5 || n == 6) && take_key_text(array, at++, arena, &out->experiment);
    if (fine && n == 6) fine = take_key_text(array, at++, arena, &out->plugin);
    fine = fine && take_key_text(array, at, arena, &out->run) &&
           take_key_text(array, at + 1, arena, &out->tag) &&
           take_key_number(array, at + 2, &out->step) &&
           take_key_number(array, at + 3, &out->index);
    json_decref(array);
    return fine ? SB_OK : sb_fail(err, SB_INVALID, 0, "that is no blob key");
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static sb_status send_item(sb_http_request *q, sb_http_reply *r, sb_app *app, sb_run *run,
                           const sb_ref_item *item, uint32_t index, const char *content_type) {
    sb_slice blob;
    sb_err *err = sb_http_err(r);
    sb_blob_place place = {.run = run, .item = item, .before = sb_arena_here(q->arena)};
    sb_status status = sb_blob_read(app->blobs, run, item->file, &item->ref, MOST_RECORD, q->arena,
                                    &place.payload, err);
    if (status == SB_OK)
        status = sb_ref_blob(&item->ref, place.payload, index, q->arena, &blob, err);
    if (status != SB_OK) return status;
    char name[96];
    int n = snprintf(name, sizeof name, "%" PRIx64 "-%x-%x-%x-%zx", item->ref.offset, item->ref.crc,
                     item->ref.value_index, index, blob.n);
    sb_http_type(r,
                 content_type ? content_type : sb_media_type_in_tensorboard(sb_media_sniff(blob)));
    sb_send_blob(q, r, app, &place, blob);
    sb_http_user_content(r, (sb_slice){NULL, 0});
    sb_http_compress(r, SB_HTTP_CODING_NO);
    return sb_http_etag(r, sb_slice_of(name, (size_t)n));
}

sb_status sb_blob_key_send(sb_http_request *q, sb_http_reply *r, sb_app *app, sb_slice text,
                           const char *plugin, const char *content_type) {
    sb_blob_key key;
    sb_found_series found;
    sb_ref_item item;
    sb_status status = sb_blob_key_read(&key, text, q->arena, sb_http_err(r));
    if (status != SB_OK) return status;
    if (key.index < 0 || key.index > UINT32_MAX) return SB_NOT_FOUND;
    if (key.plugin.p && !sb_slice_eq(key.plugin, sb_slice_str(plugin))) return SB_NOT_FOUND;
    status = sb_compat_find(&found, app, q->arena, key.run, key.tag, plugin, SB_SERIES_BLOBS);
    if (status != SB_OK) return status;
    status = sb_refs_find(&found.series, key.step, &item, sb_http_err(r));
    if (status == SB_OK)
        status = send_item(q, r, app, found.run, &item, (uint32_t)key.index, content_type);
    sb_compat_release(&found);
    return status;
}
