/* media_list.c: images and clips. */
#include "query/kinds/media_list.h"

#include "base/checked.h"
#include "base/slice.h"
#include "base/text/number.h"
#include "codec/plugin.h"
#include "codec/record.h"
#include "query/records/value.h"
#include "base/banned.h"

static uint32_t samples_of(const sb_ref *ref, bool is_audio) {
    if (is_audio) return ref->count;
    return ref->count > 2 ? ref->count - 2 : 0;
}

sb_status sb_media_list(const sb_series *series, const sb_media_ask *ask, sb_arena *arena,
                        sb_media_item **out, size_t *n, sb_err *err) {
    if (series->meta->kind != SB_SERIES_BLOBS)
        return sb_fail(err, SB_INVALID, 0, "%.*s holds no blobs", SB_SHOWN(series->tag));
    sb_ref_ask refs = {
        .by_step = true, .show_superseded = ask->show_superseded, .sampling = ask->sampling};
    sb_ref_item *items;
    size_t count, bytes;
    sb_status status = sb_refs_list(series, &refs, arena, &items, &count, NULL, err);
    if (status != SB_OK) return status;
    *out = NULL;
    if (sb_mul_size(&bytes, count, sizeof **out)) *out = sb_arena_get(arena, bytes);
    if (!*out) return sb_fail_nomem(err, "for a list of blobs");
    *n = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t samples = samples_of(&items[i].ref, ask->is_audio);
        if (samples > ask->sample) (*out)[(*n)++] = (sb_media_item){items[i], samples};
    }
    return SB_OK;
}

const char *sb_audio_type(const sb_series_meta *meta) {
    sb_audio_plugin plugin;
    bool is_wav = sb_audio_plugin_read(&plugin, meta->plugin_content) == SB_OK &&
                  plugin.encoding == SB_AUDIO_ENCODING_WAV;
    return is_wav ? "audio/wav" : "application/octet-stream";
}

sb_status sb_media_blob(sb_blob_cache *blobs, const sb_series *series, int64_t step, uint32_t i,
                        size_t max_bytes, sb_arena *arena, sb_slice *out, sb_err *err) {
    sb_ref_item item;
    sb_slice payload;
    if (series->meta->kind != SB_SERIES_BLOBS)
        return sb_fail(err, SB_NOT_FOUND, 0, "%.*s holds no blobs", SB_SHOWN(series->tag));
    sb_status status = sb_refs_find(series, step, &item, err);
    if (status == SB_OK)
        status =
            sb_blob_read(blobs, series->run, item.file, &item.ref, max_bytes, arena, &payload, err);
    if (status == SB_OK) status = sb_ref_blob(&item.ref, payload, i, arena, out, err);
    return status;
}

/* ---- hints ----------------------------------------------------------------------------------- */

#define PEEK 768u
#define WHOLE ((size_t)1 << 20)

/* The next field, as much of it as there is: what is cut off at the end is no mistake here. */
static bool next_field(sb_pb *c, sb_pb_field *out) {
    sb_pb here = *c;
    uint64_t key, length;
    if (c->p == c->end || !sb_pb_varint(c, &key) || key > UINT32_MAX) return false;
    if ((key & 7) != SB_PB_BYTES) {
        *c = here;
        return sb_pb_next(c, out) == SB_PB_FIELD;
    }
    if (!sb_pb_varint(c, &length)) return false;
    size_t left = (size_t)(c->end - c->p), taken = length < left ? (size_t)length : left;
    *out = (sb_pb_field){
        .number = (uint32_t)key >> 3, .wire = SB_PB_BYTES, .bytes = sb_slice_of(c->p, taken)};
    c->p += taken;
    return true;
}

/* The n-th field (from 0) of that number. */
static bool find_field(sb_slice message, uint32_t number, uint32_t n, sb_pb_field *out) {
    sb_pb c = sb_pb_over(message);
    while (next_field(&c, out))
        if (out->number == number && n-- == 0) return true;
    return false;
}

static uint32_t small_number(sb_slice text) {
    uint64_t x;
    return sb_parse_uint64(text, &x) && x <= UINT32_MAX ? (uint32_t)x : 0;
}

static sb_image_hint hint_in(sb_slice event, const sb_ref *ref) {
    sb_image_hint hint = {0, 0};
    sb_pb_field f, width, height;
    if (ref->where != SB_IN_VALUE) return hint;
    if (!find_field(event, SB_EVENT_SUMMARY, 0, &f) || f.wire != SB_PB_BYTES) return hint;
    if (!find_field(f.bytes, SB_SUMMARY_VALUE, ref->value_index, &f) || f.wire != SB_PB_BYTES)
        return hint;
    sb_slice value = f.bytes;
    if (find_field(value, SB_VALUE_TENSOR, 0, &f) && f.wire == SB_PB_BYTES) {
        if (find_field(f.bytes, SB_TENSOR_STRING_VAL, 0, &width) && width.wire == SB_PB_BYTES)
            hint.width = small_number(width.bytes);
        if (find_field(f.bytes, SB_TENSOR_STRING_VAL, 1, &height) && height.wire == SB_PB_BYTES)
            hint.height = small_number(height.bytes);
    } else if (find_field(value, SB_VALUE_IMAGE, 0, &f) && f.wire == SB_PB_BYTES) {
        if (find_field(f.bytes, SB_IMAGE_WIDTH, 0, &width) && width.wire == SB_PB_VARINT)
            hint.width = width.u64 <= INT32_MAX ? (uint32_t)width.u64 : 0;
        if (find_field(f.bytes, SB_IMAGE_HEIGHT, 0, &height) && height.wire == SB_PB_VARINT)
            hint.height = height.u64 <= INT32_MAX ? (uint32_t)height.u64 : 0;
    }
    return hint;
}

/* From the beginning of the record, or from all of it when other values stand before the image. */
static sb_status find_hint(sb_blob_cache *blobs, sb_run *run, const sb_ref_item *item,
                           sb_arena *arena, sb_image_hint *out) {
    uint8_t bytes[PEEK];
    size_t got = 0;
    sb_status status =
        sb_blob_peek(blobs, run, item->file, &item->ref, bytes, sizeof bytes, &got, arena, NULL);
    *out = (sb_image_hint){0, 0};
    if (got > SB_RECORD_HEADER)
        *out = hint_in(sb_slice_of(bytes + SB_RECORD_HEADER, got - SB_RECORD_HEADER), &item->ref);
    if (status != SB_OK || out->width || item->ref.length < PEEK) return status;
    sb_slice payload;
    status = sb_blob_read(blobs, run, item->file, &item->ref, WHOLE, arena, &payload, NULL);
    if (status == SB_OK) *out = hint_in(payload, &item->ref);
    return status;
}

sb_status sb_image_hints(sb_blob_cache *blobs, sb_run *run, const sb_media_item *items, size_t n,
                         const sb_budget *budget, sb_arena *arena, sb_image_hint *out,
                         sb_err *err) {
    for (size_t i = 0; i < n; i++) {
        if (i % 32 == 31 && sb_budget_over(budget)) return sb_fail_timeout(err);
        sb_arena_mark mark = sb_arena_here(arena);
        sb_status status = find_hint(blobs, run, &items[i].item, arena, &out[i]);
        sb_arena_reset(arena, mark);
        if (status == SB_NOMEM) return sb_fail_nomem(err, "for sizes of images");
    }
    return SB_OK;
}
