/* value.c: values, tensors and blobs inside records. */
#include "query/records/value.h"

#include "base/slice.h"
#include "base/text/number.h"
#include "codec/event.h"
#include "base/banned.h"

static sb_status read_event(const sb_ref *ref, sb_slice payload, sb_event *out, sb_err *err) {
    if (sb_event_read(out, payload) == SB_OK) return SB_OK;
    return sb_fail(err, SB_CORRUPT, ref->offset, "the record is no event");
}

sb_status sb_ref_value(const sb_ref *ref, sb_slice payload, sb_value *out, sb_err *err) {
    sb_event event;
    sb_status status = read_event(ref, payload, &event, err);
    if (status != SB_OK) return status;
    if (event.what == SB_WHAT_SUMMARY && ref->where == SB_IN_VALUE) {
        sb_summary_walk values = sb_summary_over(event.body);
        for (uint32_t i = 0; sb_summary_next(&values, out) == SB_OK; i++)
            if (i == ref->value_index) return SB_OK;
    }
    return sb_fail(err, SB_CORRUPT, ref->offset, "the record has no value %u", ref->value_index);
}

sb_status sb_ref_tensor(const sb_ref *ref, sb_slice payload, sb_tensor_view *out, sb_err *err) {
    sb_value value;
    sb_status status = sb_ref_value(ref, payload, &value, err);
    if (status != SB_OK) return status;
    sb_slice tensor = value.kind == SB_VALUE_KIND_NONE ? SB_TENSOR_NULL : value.body;
    bool is_one = value.kind == SB_VALUE_KIND_TENSOR || value.kind == SB_VALUE_KIND_NONE;
    if (is_one && sb_tensor_read(out, tensor) == SB_OK) return SB_OK;
    return sb_fail(err, SB_CORRUPT, ref->offset, "value %u of the record is no tensor",
                   ref->value_index);
}

/* ---- blobs ----------------------------------------------------------------------------------- */

static sb_status no_blob(const sb_ref *ref, uint32_t i, sb_err *err) {
    return sb_fail(err, SB_NOT_FOUND, ref->offset, "there is no blob %u", i);
}

static sb_status blob_of_tensor(const sb_ref *ref, const sb_value *value, uint32_t i, sb_slice *out,
                                sb_err *err) {
    sb_tensor_view t;
    if (sb_tensor_read(&t, value->body) != SB_OK || t.dtype != SB_STRING)
        return sb_fail(err, SB_CORRUPT, ref->offset, "the tensor holds no blobs");
    size_t blobs = t.rank ? (size_t)t.dims[0] : 1;
    if (i >= blobs || t.count == 0) return no_blob(ref, i, err);
    size_t stride = t.count / blobs; /* labels stand behind each clip */
    sb_strings strings = sb_tensor_strings(&t);
    for (size_t at = 0; sb_strings_next(&strings, out); at++)
        if (at == i * stride) return SB_OK;
    return no_blob(ref, i, err);
}

static sb_status decimal(int32_t x, sb_arena *arena, sb_slice *out, sb_err *err) {
    char text[SB_NUMBER_ROOM];
    *out = sb_arena_dup(arena, sb_slice_of(text, sb_print_int64(text, x)));
    return out->p ? SB_OK : sb_fail_nomem(err, "for a number");
}

static sb_status blob_of_image(const sb_ref *ref, const sb_value *value, uint32_t i,
                               sb_arena *arena, sb_slice *out, sb_err *err) {
    sb_summary_image image;
    if (sb_summary_image_read(&image, value->body) != SB_OK)
        return sb_fail(err, SB_CORRUPT, ref->offset, "the image is damaged");
    if (i == 0) return decimal(image.width, arena, out, err);
    if (i == 1) return decimal(image.height, arena, out, err);
    if (i > 2) return no_blob(ref, i, err);
    *out = image.encoded;
    return SB_OK;
}

static sb_status blob_of_audio(const sb_ref *ref, const sb_value *value, uint32_t i, sb_slice *out,
                               sb_err *err) {
    sb_summary_audio audio;
    if (sb_summary_audio_read(&audio, value->body) != SB_OK)
        return sb_fail(err, SB_CORRUPT, ref->offset, "the clip is damaged");
    if (i > 0) return no_blob(ref, i, err);
    *out = audio.encoded;
    return SB_OK;
}

/* Graphs and run metadata: the one blob is a part of the event itself. */
static sb_status blob_of_event(const sb_ref *ref, sb_slice payload, uint32_t i, sb_slice *out,
                               sb_err *err) {
    sb_event event;
    sb_status status = read_event(ref, payload, &event, err);
    if (status != SB_OK) return status;
    if (i > 0) return no_blob(ref, i, err);
    if (ref->where == SB_IN_GRAPH_DEF && event.what == SB_WHAT_GRAPH_DEF) {
        *out = event.body;
        return SB_OK;
    }
    sb_tagged_run_metadata tagged;
    if (ref->where == SB_IN_RUN_METADATA && event.what == SB_WHAT_TAGGED_RUN_METADATA &&
        sb_tagged_run_metadata_read(&tagged, event.body) == SB_OK) {
        *out = tagged.run_metadata;
        return SB_OK;
    }
    return sb_fail(err, SB_CORRUPT, ref->offset, "the record holds no graph");
}

sb_status sb_ref_blob(const sb_ref *ref, sb_slice payload, uint32_t i, sb_arena *arena,
                      sb_slice *out, sb_err *err) {
    if (ref->where != SB_IN_VALUE) return blob_of_event(ref, payload, i, out, err);
    sb_value value;
    sb_status status = sb_ref_value(ref, payload, &value, err);
    if (status != SB_OK) return status;
    switch (value.kind) {
    case SB_VALUE_KIND_TENSOR:
        return blob_of_tensor(ref, &value, i, out, err);
    case SB_VALUE_KIND_IMAGE:
        return blob_of_image(ref, &value, i, arena, out, err);
    case SB_VALUE_KIND_AUDIO:
        return blob_of_audio(ref, &value, i, out, err);
    default:
        return sb_fail(err, SB_CORRUPT, ref->offset, "the value holds no blobs");
    }
}
