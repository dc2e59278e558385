/* summary.c: views of summaries. The byte table is in summary.h. sb_value_read and sb_scalar_of are
 * on the path of every point. */
#include "codec/summary.h"

#include "codec/plain_int.h"
#include "codec/proto/items.h"
#include "codec/proto/pick_int.h"
#include "codec/tensor.h"
#include "base/banned.h"

#define KEY(number, wire) ((number) << 3 | (wire))

static sb_status read_rest(sb_value *out, sb_pb c) {
    sb_pb_field f = {0};
    sb_pb_step step;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        if (f.wire == SB_PB_FIXED32 && f.number == SB_VALUE_SIMPLE_VALUE) {
            out->kind = SB_VALUE_KIND_SIMPLE;
            out->simple = sb_pb_float(&f);
            continue;
        }
        if (f.wire != SB_PB_BYTES) continue;
        switch (f.number) {
        case SB_VALUE_TAG:
            out->tag = f.bytes;
            break;
        case SB_VALUE_OBSOLETE_OLD_STYLE_HISTOGRAM:
        case SB_VALUE_IMAGE:
        case SB_VALUE_HISTO:
        case SB_VALUE_AUDIO:
        case SB_VALUE_TENSOR:
            out->kind = (sb_value_kind)f.number;
            out->body = f.bytes;
            break;
        case SB_VALUE_NODE_NAME:
            out->node_name = f.bytes;
            break;
        case SB_VALUE_METADATA:
            out->metadata = f.bytes;
            break;
        default:
            break;
        }
    }
    return step == SB_PB_END ? SB_OK : SB_CORRUPT;
}

sb_status sb_value_read_plain(sb_value *out, sb_slice value) {
    *out = (sb_value){.kind = SB_VALUE_KIND_NONE};
    return read_rest(out, sb_pb_over(value));
}

/* A length-delimited field with this one-byte key and a one-byte length, if that is what comes
 * next. */
static inline bool short_field(sb_pb *c, uint8_t key, sb_slice *out) {
    size_t left = (size_t)(c->end - c->p);
    if (left < 2 || c->p[0] != key || c->p[1] >= 0x80 || c->p[1] > left - 2) return false;
    *out = sb_slice_of(c->p + 2, c->p[1]);
    c->p += 2 + c->p[1];
    return true;
}

/* The two forms that nearly all values have are tried by hand: tag and simple_value; tag, tensor
 * and metadata. The general loop goes on from wherever that ended. */
sb_status sb_value_read(sb_value *out, sb_slice value) {
    *out = (sb_value){.kind = SB_VALUE_KIND_NONE};
    sb_pb c = sb_pb_over(value);
    if (short_field(&c, KEY(SB_VALUE_TAG, SB_PB_BYTES), &out->tag)) {
        if (c.end - c.p == 5 && *c.p == KEY(SB_VALUE_SIMPLE_VALUE, SB_PB_FIXED32)) {
            out->kind = SB_VALUE_KIND_SIMPLE;
            out->simple = sb_bits_float(sb_load32(c.p + 1));
            return SB_OK;
        }
        if (short_field(&c, KEY(SB_VALUE_TENSOR, SB_PB_BYTES), &out->body)) {
            out->kind = SB_VALUE_KIND_TENSOR;
            short_field(&c, KEY(SB_VALUE_METADATA, SB_PB_BYTES), &out->metadata);
        }
    }
    return c.p == c.end ? SB_OK : read_rest(out, c);
}

sb_status sb_summary_next(sb_summary_walk *values, sb_value *out) {
    sb_slice value;
    if (short_field(&values->c, KEY(SB_SUMMARY_VALUE, SB_PB_BYTES), &value))
        return sb_value_read(out, value);
    sb_pb_field f;
    sb_pb_step step;
    while ((step = sb_pb_next(&values->c, &f)) == SB_PB_FIELD)
        if (f.number == SB_SUMMARY_VALUE && f.wire == SB_PB_BYTES)
            return sb_value_read(out, f.bytes);
    return step == SB_PB_END ? SB_END : SB_CORRUPT;
}

bool sb_scalar_of(const sb_value *value, double *out, sb_dtype *dtype) {
    if (value->kind == SB_VALUE_KIND_SIMPLE) {
        *out = (double)value->simple;
        if (dtype) *dtype = SB_FLOAT;
        return true;
    }
    if (value->kind != SB_VALUE_KIND_TENSOR) return false;
    return sb_tensor_scalar(value->body, out, dtype);
}

sb_status sb_metadata_read(sb_metadata *out, sb_slice metadata) {
    static const sb_pick picks[] = {
        SB_PICK(sb_metadata, display_name, SB_METADATA_DISPLAY_NAME),
        SB_PICK(sb_metadata, description, SB_METADATA_SUMMARY_DESCRIPTION),
        SB_PICK(sb_metadata, data_class, SB_METADATA_DATA_CLASS),
    };
    static const sb_pick plugin_picks[] = {
        SB_PICK(sb_metadata, plugin_name, SB_PLUGIN_DATA_PLUGIN_NAME),
        SB_PICK(sb_metadata, content, SB_PLUGIN_DATA_CONTENT),
    };
    *out = (sb_metadata){0};
    if (SB_PICK_READ(out, metadata, picks) != SB_OK) return SB_CORRUPT;
    sb_items plugins = sb_items_of(metadata, SB_METADATA_PLUGIN_DATA);
    sb_slice plugin;
    while (sb_items_next(&plugins, &plugin) == SB_OK)
        if (SB_PICK_READ(out, plugin, plugin_picks) != SB_OK) return SB_CORRUPT;
    return SB_OK;
}

void sb_metadata_add(sb_buf *b, uint32_t number, const sb_metadata *metadata) {
    size_t at = sb_pb_begin(b, number, metadata->description.n + metadata->content.n + 64);
    if (metadata->plugin_name.n || metadata->content.n) {
        size_t plugin = sb_pb_begin(b, SB_METADATA_PLUGIN_DATA, metadata->content.n + 32);
        sb_pb_add_bytes_nz(b, SB_PLUGIN_DATA_PLUGIN_NAME, metadata->plugin_name);
        sb_pb_add_bytes_nz(b, SB_PLUGIN_DATA_CONTENT, metadata->content);
        sb_pb_end(b, plugin);
    }
    sb_pb_add_bytes_nz(b, SB_METADATA_DISPLAY_NAME, metadata->display_name);
    sb_pb_add_bytes_nz(b, SB_METADATA_SUMMARY_DESCRIPTION, metadata->description);
    sb_pb_add_int_nz(b, SB_METADATA_DATA_CLASS, metadata->data_class);
    sb_pb_end(b, at);
}

sb_status sb_summary_image_read(sb_summary_image *out, sb_slice body) {
    static const sb_pick picks[] = {
        SB_PICK(sb_summary_image, height, SB_IMAGE_HEIGHT),
        SB_PICK(sb_summary_image, width, SB_IMAGE_WIDTH),
        SB_PICK(sb_summary_image, colorspace, SB_IMAGE_COLORSPACE),
        SB_PICK(sb_summary_image, encoded, SB_IMAGE_ENCODED_IMAGE_STRING),
    };
    *out = (sb_summary_image){0};
    return SB_PICK_READ(out, body, picks);
}

sb_status sb_summary_audio_read(sb_summary_audio *out, sb_slice body) {
    static const sb_pick picks[] = {
        SB_PICK(sb_summary_audio, sample_rate, SB_AUDIO_SAMPLE_RATE),
        SB_PICK(sb_summary_audio, channels, SB_AUDIO_NUM_CHANNELS),
        SB_PICK(sb_summary_audio, frames, SB_AUDIO_LENGTH_FRAMES),
        SB_PICK(sb_summary_audio, encoded, SB_AUDIO_ENCODED_AUDIO_STRING),
        SB_PICK(sb_summary_audio, content_type, SB_AUDIO_CONTENT_TYPE),
    };
    *out = (sb_summary_audio){0};
    return SB_PICK_READ(out, body, picks);
}

/* Counts the doubles of field `d->number` and notes whether they lie in one piece. */
static bool doubles_add(sb_doubles *d, const sb_pb_field *f) {
    size_t count;
    if (f->wire != SB_PB_BYTES && f->wire != SB_PB_FIXED64) return true;
    if (!sb_pb_many_count(f, SB_PB_FIXED64, &count)) return false;
    if (count == 0) return true;
    d->run = d->count == 0 && f->wire == SB_PB_BYTES ? f->bytes.p : NULL;
    d->count += count;
    return true;
}

void sb_doubles_copy(const sb_doubles *d, size_t from, size_t n, double *out) {
    if (d->run) {
        for (size_t i = 0; i < n; i++) out[i] = sb_bits_double(sb_load64(d->run + 8 * (from + i)));
        return;
    }
    sb_pb c = sb_pb_over(d->message);
    sb_pb_field f;
    size_t at = 0;
    while (at < from + n && sb_pb_next(&c, &f) == SB_PB_FIELD) {
        if (f.number != d->number) continue;
        sb_pb_many many = sb_pb_many_of(&f, SB_PB_FIXED64);
        uint64_t bits;
        for (; at < from + n && sb_pb_many_next(&many, &bits) == SB_PB_FIELD; at++)
            if (at >= from) out[at - from] = sb_bits_double(bits);
    }
}

sb_status sb_summary_histo_read(sb_summary_histo *out, sb_slice body) {
    static const sb_pick picks[] = {
        SB_PICK(sb_summary_histo, min, SB_HISTOGRAM_MIN),
        SB_PICK(sb_summary_histo, max, SB_HISTOGRAM_MAX),
        SB_PICK(sb_summary_histo, num, SB_HISTOGRAM_NUM),
        SB_PICK(sb_summary_histo, sum, SB_HISTOGRAM_SUM),
        SB_PICK(sb_summary_histo, sum_squares, SB_HISTOGRAM_SUM_SQUARES),
    };
    *out = (sb_summary_histo){
        .limits = {.message = body, .number = SB_HISTOGRAM_BUCKET_LIMIT},
        .buckets = {.message = body, .number = SB_HISTOGRAM_BUCKET},
    };
    if (SB_PICK_READ(out, body, picks) != SB_OK) return SB_CORRUPT;
    sb_pb c = sb_pb_over(body);
    sb_pb_field f;
    while (sb_pb_next(&c, &f) == SB_PB_FIELD) {
        if (f.number == SB_HISTOGRAM_BUCKET_LIMIT && !doubles_add(&out->limits, &f))
            return SB_CORRUPT;
        if (f.number == SB_HISTOGRAM_BUCKET && !doubles_add(&out->buckets, &f)) return SB_CORRUPT;
    }
    return out->limits.count == out->buckets.count ? SB_OK : SB_CORRUPT;
}
