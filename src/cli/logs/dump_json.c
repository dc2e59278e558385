/* dump_json.c: one record as one line of JSON. */
#include "cli/logs/dump_json.h"

#include "base/slice.h"
#include "base/text/json.h"
#include "codec/proto/describe.h"
#include "codec/record.h"
#include "codec/tensor.h"
#include "base/banned.h"

#define SHOWN_BYTES 64   /* of a blob */
#define SHOWN_ITEMS 1024 /* of a tensor */

const char *sb_dump_kind(sb_reader_kind kind) {
    static const char *const names[] = {
        [SB_READS_NO_VALUE] = "no value",   [SB_READS_SCALAR] = "scalar",
        [SB_READS_HISTOGRAM] = "histogram", [SB_READS_IMAGES] = "images",
        [SB_READS_AUDIO] = "audio",         [SB_READS_TEXT] = "text",
        [SB_READS_TENSOR] = "tensor",
    };
    return names[kind];
}

static void add_uint(sb_json *j, const char *key, uint64_t n) {
    sb_json_key_str(j, key);
    sb_json_uint(j, n);
}

static void add_str(sb_json *j, const char *key, const char *text) {
    sb_json_key_str(j, key);
    sb_json_str(j, text);
}

static void add_double(sb_json *j, const char *key, double x) {
    sb_json_key_str(j, key);
    sb_json_double(j, x);
}

/* ---- values ---------------------------------------------------------------------------------- */

static sb_status add_histogram(sb_json *j, sb_reader *r) {
    const sb_reader_histogram *h;
    sb_status status = sb_reader_histogram_of(r, &h);
    if (status != SB_OK) return status;
    add_double(j, "min", h->min);
    add_double(j, "max", h->max);
    add_double(j, "num", h->num);
    sb_json_key_str(j, "rows");
    sb_json_begin_array(j);
    for (size_t i = 0; i < h->count; i++) {
        sb_json_begin_array(j);
        for (size_t k = 0; k < 3; k++) sb_json_double(j, h->rows[3 * i + k]);
        sb_json_end_array(j);
    }
    sb_json_end_array(j);
    return SB_OK;
}

/* How long each blob is. */
static void add_sizes(sb_json *j, const sb_slice *blobs, size_t count) {
    sb_json_key_str(j, "bytes");
    sb_json_begin_array(j);
    for (size_t i = 0; i < count; i++) sb_json_uint(j, blobs[i].n);
    sb_json_end_array(j);
}

static sb_status add_images(sb_json *j, sb_reader *r) {
    const sb_reader_images *images;
    sb_status status = sb_reader_images_of(r, &images);
    if (status != SB_OK) return status;
    add_uint(j, "width", (uint64_t)images->width);
    add_uint(j, "height", (uint64_t)images->height);
    add_sizes(j, images->images, images->count);
    return SB_OK;
}

static sb_status add_audio(sb_json *j, sb_reader *r) {
    const sb_reader_audio *audio;
    sb_status status = sb_reader_audio_of(r, &audio);
    if (status != SB_OK) return status;
    add_sizes(j, audio->clips, audio->count);
    return SB_OK;
}

static sb_status add_tensor(sb_json *j, sb_reader *r, sb_reader_kind kind) {
    const sb_reader_tensor *t;
    sb_status status = sb_reader_tensor_of(r, &t);
    if (status != SB_OK) return status;
    add_str(j, "dtype", sb_dtype_name(t->dtype));
    sb_json_key_str(j, "shape");
    sb_json_begin_array(j);
    for (uint32_t i = 0; i < t->rank; i++) sb_json_int(j, t->dims[i]);
    sb_json_end_array(j);
    if (t->strings && kind == SB_READS_TENSOR) {
        add_sizes(j, t->strings,
                  t->count); /* usually serialized messages; "event" shows their beginning */
        return SB_OK;
    }
    sb_json_key_str(j, "items"); /* only the first elements are shown */
    sb_json_begin_array(j);
    for (size_t i = 0; i < t->count && i < SHOWN_ITEMS; i++) {
        if (t->strings)
            sb_json_text(j, t->strings[i]);
        else if (t->numbers)
            sb_json_double(j, t->numbers[i]);
    }
    sb_json_end_array(j);
    return SB_OK;
}

/* Appends the content of a value by its kind. */
static sb_status add_content(sb_json *j, sb_reader *r, const sb_reader_value *value) {
    switch (value->kind) {
    case SB_READS_SCALAR:
        add_double(j, "value", value->scalar);
        return SB_OK;
    case SB_READS_HISTOGRAM:
        return add_histogram(j, r);
    case SB_READS_IMAGES:
        return add_images(j, r);
    case SB_READS_AUDIO:
        return add_audio(j, r);
    case SB_READS_TEXT:
    case SB_READS_TENSOR:
        return add_tensor(j, r, value->kind);
    case SB_READS_NO_VALUE:
        break;
    }
    return SB_OK;
}

static void add_values(sb_json *j, sb_reader *r) {
    const sb_reader_value *value;
    sb_json_key_str(j, "values");
    sb_json_begin_array(j);
    while (sb_reader_next_value(r, &value) == SB_OK) {
        sb_json_begin_object(j);
        sb_json_key_str(j, "tag");
        sb_json_text(j, value->tag);
        add_str(j, "kind", sb_dump_kind(value->kind));
        sb_json_key_str(j, "plugin");
        sb_json_text(j, value->plugin_name);
        sb_status status = add_content(j, r, value);
        if (status != SB_OK) add_str(j, "malformed", sb_status_name(status));
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
}

/* ---- records --------------------------------------------------------------------------------- */

static void begin_record(sb_json *j, sb_buf *out, uint64_t offset, uint64_t size,
                         const char *status) {
    sb_json_init(j, out, &(sb_json_opts){.spaced = true});
    sb_json_begin_object(j);
    add_uint(j, "offset", offset);
    add_uint(j, "size", size);
    add_str(j, "status", status);
}

sb_status sb_dump_json_event(sb_buf *out, sb_reader *reader, const sb_reader_event *event,
                             sb_err *err) {
    sb_buf described;
    sb_buf_init(&described, out->alloc, out->cap);
    sb_status status = sb_describe(&described, SB_MSG_EVENT, event->record,
                                   &(sb_describe_opts){.max_bytes = SHOWN_BYTES}, err);
    bool malformed = status == SB_CORRUPT || status == SB_LIMIT;
    if (status == SB_OK || malformed) {
        sb_json j;
        begin_record(&j, out, event->offset, event->record.n + SB_RECORD_OVERHEAD, "ok");
        add_str(&j, "length_crc", "ok");
        add_str(&j, "payload_crc", "ok");
        add_double(&j, "wall_time", event->wall_time);
        sb_json_key_str(&j, "step");
        sb_json_int(&j, event->step);
        if (event->what == SB_READS_SUMMARY) add_values(&j, reader);
        sb_json_key_str(&j, "event");
        if (malformed)
            sb_json_null(&j);
        else
            sb_json_raw(&j, sb_buf_slice(&described));
        sb_json_end_object(&j);
        sb_buf_add_byte(out, '\n');
        status = SB_OK;
    }
    sb_buf_fini(&described);
    return status;
}

void sb_dump_json_gap(sb_buf *out, const sb_reader_gap *gap) {
    sb_json j;
    begin_record(&j, out, gap->offset, gap->bytes,
                 gap->kind == SB_MORE ? "cut" : sb_status_name(gap->kind));
    if (gap->kind == SB_BAD_LENGTH) add_str(&j, "length_crc", "bad");
    if (gap->kind == SB_BAD_PAYLOAD) {
        add_str(&j, "length_crc", "ok");
        add_str(&j, "payload_crc", "bad");
    }
    sb_json_end_object(&j);
    sb_buf_add_byte(out, '\n');
}
