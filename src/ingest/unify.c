/* unify.c: decodes events of every kind into points of the store. */
#include "ingest/unify.h"

#include "base/slice.h"
#include "codec/event.h"
#include "codec/summary.h"
#include "codec/tensor.h"
#include "media/glance.h"
#include "base/banned.h"

/* The record that is being decoded. */
typedef struct source {
    sb_run *run;
    uint32_t file;
    const sb_event *event;
    sb_ref ref;
    sb_unify_counts *counts;
    uint32_t scalar; /* the series of the last scalar */
    uint32_t scalars;
} source;

/* ---- what a series is ------------------------------------------------------------------------ */

/* Plugins that write new-style tensors without saying of what class. */
static const struct {
    const char *name;
    sb_series_kind kind;
} plugins[] = {
    {"scalars", SB_SERIES_SCALAR},
    {"histograms", SB_SERIES_TENSOR},
    {"text", SB_SERIES_TENSOR},
    {"hparams", SB_SERIES_TENSOR},
    {"pr_curves", SB_SERIES_TENSOR},
    {"mesh", SB_SERIES_TENSOR},
    {"custom_scalars", SB_SERIES_TENSOR},
    {"images", SB_SERIES_BLOBS},
    {"audio", SB_SERIES_BLOBS},
    {"graph_run_metadata", SB_SERIES_BLOBS},
    {"graph_run_metadata_graph", SB_SERIES_BLOBS},
    {"graph_keras_model", SB_SERIES_BLOBS},
};

static sb_series_kind kind_of_plugin(sb_slice name) {
    for (size_t i = 0; i < sizeof plugins / sizeof plugins[0]; i++)
        if (sb_slice_eq(name, sb_slice_str(plugins[i].name))) return plugins[i].kind;
    return SB_SERIES_UNKNOWN;
}

static sb_series_kind kind_of_class(int32_t data_class) {
    switch (data_class) {
    case SB_DATA_CLASS_SCALAR:
        return SB_SERIES_SCALAR;
    case SB_DATA_CLASS_TENSOR:
        return SB_SERIES_TENSOR;
    case SB_DATA_CLASS_BLOB_SEQUENCE:
        return SB_SERIES_BLOBS;
    default:
        return SB_SERIES_UNKNOWN;
    }
}

/* Old forms say by themselves what they are; the content is what TensorBoard's own migration
 * writes. */
static void describe_old(sb_series_meta *meta, sb_value_kind kind) {
    meta->from_v1 = true;
    meta->plugin_content = SB_LIT("");
    switch (kind) {
    case SB_VALUE_KIND_SIMPLE:
        meta->kind = SB_SERIES_SCALAR;
        meta->plugin_name = SB_LIT("scalars");
        break;
    case SB_VALUE_KIND_IMAGE:
        meta->kind = SB_SERIES_BLOBS;
        meta->plugin_name = SB_LIT("images");
        meta->plugin_content = SB_LIT("\x10\x01"); /* converted_to_tensor */
        break;
    case SB_VALUE_KIND_AUDIO:
        meta->kind = SB_SERIES_BLOBS;
        meta->plugin_name = SB_LIT("audio");
        meta->plugin_content = SB_LIT("\x10\x0b\x18\x01"); /* WAV, converted_to_tensor */
        break;
    default:
        meta->kind = SB_SERIES_TENSOR;
        meta->plugin_name = SB_LIT("histograms");
        break;
    }
}

static sb_series_meta describe(const sb_value *value) {
    sb_series_meta meta = {0};
    sb_metadata given;
    if (sb_metadata_read(&given, value->metadata) == SB_OK) {
        meta.plugin_name = given.plugin_name;
        meta.plugin_content = given.content;
        meta.display_name = given.display_name;
        meta.description = given.description;
        meta.kind =
            given.data_class ? kind_of_class(given.data_class) : kind_of_plugin(given.plugin_name);
    }
    if (value->kind != SB_VALUE_KIND_TENSOR && value->kind != SB_VALUE_KIND_NONE)
        describe_old(&meta, value->kind);
    double ignored;
    if (meta.kind == SB_SERIES_SCALAR) sb_scalar_of(value, &ignored, &meta.dtype);
    return meta;
}

/* ---- points ---------------------------------------------------------------------------------- */

static sb_status add_ref(source *s, uint32_t series, uint32_t count) {
    s->ref.count = count;
    s->counts->points++;
    return sb_run_add_ref(s->run, s->file, series, s->event->step, s->event->wall_time, &s->ref);
}

/* How many blobs a value holds, and the one with this index (empty: there is none); false when it
 * holds none that could be shown. */
static bool find_blobs(const sb_value *value, size_t index, uint32_t *count, sb_slice *blob) {
    sb_summary_image image;
    sb_summary_audio audio;
    *blob = (sb_slice){NULL, 0};
    if (value->kind == SB_VALUE_KIND_IMAGE) {
        *count = 3; /* width, height, image */
        if (sb_summary_image_read(&image, value->body) == SB_OK) *blob = image.encoded;
        return true;
    }
    if (value->kind == SB_VALUE_KIND_AUDIO) {
        *count = 1;
        if (sb_summary_audio_read(&audio, value->body) == SB_OK) *blob = audio.encoded;
        return true;
    }
    sb_tensor_view t;
    if (value->kind != SB_VALUE_KIND_TENSOR || sb_tensor_read(&t, value->body) != SB_OK)
        return false;
    if (t.dtype != SB_STRING || t.deep || t.rank > 2 || (t.rank && t.dims[0] > UINT32_MAX))
        return false;
    *count = t.rank ? (uint32_t)t.dims[0] : 1;
    sb_strings strings = sb_tensor_strings(&t);
    for (size_t i = 0; i <= index; i++)
        if (!sb_strings_next(&strings, blob)) *blob = (sb_slice){NULL, 0};
    return true;
}

/* Looks at the head of the point's first picture or clip. */
static sb_status add_blobs(source *s, const sb_value *value, uint32_t series,
                           const sb_series_meta *meta, uint32_t *count) {
    bool is_image = sb_slice_eq(meta->plugin_name, SB_LIT("images"));
    sb_slice blob;
    if (!find_blobs(value, is_image ? 2 : 0, count, &blob)) return SB_END;
    sb_glance seen = {0};
    if (is_image)
        seen = sb_glance_picture(blob);
    else if (sb_slice_eq(meta->plugin_name, SB_LIT("audio")))
        seen = sb_glance_clip(blob);
    s->ref.media = (uint8_t)seen.media;
    s->ref.channels = seen.channels;
    s->ref.width = seen.width_or_rate;
    s->ref.height = seen.height_or_frames;
    s->ref.bytes = seen.bytes;
    return add_ref(s, series, *count);
}

static sb_number_kind kind_of_number(sb_dtype dtype) {
    switch (dtype) {
    case SB_INT8:
    case SB_INT16:
    case SB_INT32:
    case SB_INT64:
    case SB_UINT8:
    case SB_UINT16:
    case SB_UINT32:
    case SB_UINT64:
        return SB_NUMBER_WHOLE;
    case SB_BOOL:
        return SB_NUMBER_BOOL;
    default:
        return SB_NUMBER_REAL;
    }
}

static sb_status add_point(source *s, const sb_value *value, uint32_t series,
                           const sb_series_meta *meta) {
    double number;
    sb_dtype dtype;
    uint32_t count = 0;
    sb_status status;
    bool is_old = value->kind == SB_VALUE_KIND_HISTO;
    switch (meta->kind) {
    case SB_SERIES_SCALAR:
        if (!sb_scalar_of(value, &number, &dtype)) break;
        s->counts->points++;
        s->scalar = series;
        s->scalars++;
        return sb_run_add_scalar(s->run, s->file, series, s->event->step, s->event->wall_time,
                                 number, kind_of_number(dtype));
    case SB_SERIES_TENSOR:
        /* A value without a payload is a null tensor; only hyperparameters make use of that. */
        if (value->kind == SB_VALUE_KIND_NONE && !sb_slice_eq(meta->plugin_name, SB_LIT("hparams")))
            break;
        if (value->kind != SB_VALUE_KIND_NONE && value->kind != SB_VALUE_KIND_TENSOR && !is_old)
            break;
        return add_ref(s, series, 0);
    case SB_SERIES_BLOBS:
        status = add_blobs(s, value, series, meta, &count);
        if (status == SB_END) break;
        return status;
    case SB_SERIES_UNKNOWN:
        break;
    }
    s->counts->misfits++;
    return SB_OK;
}

/* The run has reached its limit of tags. */
static sb_status leave_out(source *s) {
    s->counts->dropped++;
    return SB_OK;
}

static sb_status add_summary_value(source *s, const sb_value *value) {
    if (value->kind == SB_VALUE_KIND_OLD_HISTO) return SB_OK;
    sb_slice tag = sb_value_tag(value);
    uint32_t series;
    if (!sb_run_find(s->run, tag, &series)) {
        sb_series_meta meta = describe(value);
        bool is_new;
        sb_status status = sb_run_series(s->run, tag, &meta, &series, &is_new);
        if (status == SB_LIMIT) return leave_out(s);
        if (status != SB_OK) return status;
    }
    return add_point(s, value, series, sb_run_series_meta(s->run, series));
}

static sb_status add_summary(source *s) {
    sb_summary_walk values = sb_summary_over(s->event->body);
    sb_value value;
    sb_status status;
    s->ref.where = SB_IN_VALUE;
    for (s->ref.value_index = 0; (status = sb_summary_next(&values, &value)) == SB_OK;
         s->ref.value_index++) {
        status = add_summary_value(s, &value);
        if (status != SB_OK) return status;
    }
    if (status == SB_CORRUPT) s->counts->unreadable++;
    return SB_OK;
}

/* Graphs and run metadata have a series of their own, whose tag is invented here as TensorBoard
 * does. */
static sb_status add_whole(source *s, sb_slice tag, const char *plugin, sb_ref_where where) {
    sb_series_meta meta = {.plugin_name = sb_slice_str(plugin), .kind = SB_SERIES_BLOBS};
    uint32_t series;
    bool is_new;
    sb_status status = sb_run_series(s->run, tag, &meta, &series, &is_new);
    if (status == SB_LIMIT) return leave_out(s);
    if (status != SB_OK) return status;
    if (!sb_slice_eq(sb_run_series_meta(s->run, series)->plugin_name, meta.plugin_name)) {
        s->counts->misfits++;
        return SB_OK;
    }
    s->ref.where = (uint8_t)where;
    return add_ref(s, series, 1);
}

static sb_status add_run_metadata(source *s) {
    sb_tagged_run_metadata tagged;
    if (sb_tagged_run_metadata_read(&tagged, s->event->body) != SB_OK) {
        s->counts->unreadable++;
        return SB_OK;
    }
    return add_whole(s, tagged.tag, "graph_tagged_run_metadata", SB_IN_RUN_METADATA);
}

static sb_status add_session_log(source *s) {
    sb_session_log log;
    if (sb_session_log_read(&log, s->event->body) != SB_OK || log.status != SB_SESSION_STATUS_START)
        return SB_OK;
    return sb_run_add_start(s->run, s->file, s->event->step, s->event->wall_time);
}

static sb_status add_log_event(source *s) {
    switch (s->event->what) {
    case SB_WHAT_SUMMARY:
        return add_summary(s);
    case SB_WHAT_GRAPH_DEF:
        return add_whole(s, SB_LIT(SB_RUN_GRAPH_TAG), "graphs", SB_IN_GRAPH_DEF);
    case SB_WHAT_TAGGED_RUN_METADATA:
        return add_run_metadata(s);
    case SB_WHAT_SESSION_LOG:
        return add_session_log(s);
    default:
        return SB_OK;
    }
}

sb_status sb_unify_event(sb_run *run, uint32_t file, const sb_record *record, uint64_t offset,
                         sb_repeats *repeats, sb_unify_counts *counts) {
    sb_slice payload = record->payload;
    uint32_t series;
    sb_form_point point;
    if (repeats && sb_repeats_read(repeats, payload, &series, &point)) {
        sb_run_saw_time(run, file, point.wall_time, false);
        counts->points++;
        return sb_run_add_scalar(run, file, series, point.step, point.wall_time, point.number,
                                 SB_NUMBER_REAL); /* forms hold floats and doubles only */
    }
    sb_event event;
    if (sb_event_read(&event, payload) != SB_OK) {
        counts->unreadable++;
        return SB_OK;
    }
    sb_run_saw_time(run, file, event.wall_time, event.what == SB_WHAT_FILE_VERSION);
    source s = {
        .run = run,
        .file = file,
        .event = &event,
        .ref = {.offset = offset, .length = (uint32_t)payload.n, .crc = record->payload_crc},
        .counts = counts};
    sb_status status = add_log_event(&s);
    if (repeats && status == SB_OK && s.scalars == 1) sb_repeats_learn(repeats, s.scalar, payload);
    return status;
}
