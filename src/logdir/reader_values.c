/* reader_values.c: the values of a summary, in the forms of TF1 and TF2 alike.
 *
 * The metadata of a tag's first value is kept for the run, since TF1 writes it only once. What is
 * decoded lives in an arena that is emptied with every value. */
#include "base/slice.h"
#include "codec/tensor.h"
#include "logdir/reader_int.h"
#include "base/banned.h"

void sb_reader_begin_values(sb_reader *r) {
    bool has = r->event_file && r->event.what == SB_WHAT_SUMMARY;
    r->values = sb_items_of(has ? r->event.body : (sb_slice){NULL, 0}, SB_SUMMARY_VALUE);
    r->has_value = false;
}

void sb_reader_values_fini(sb_reader *r) {
    SB_VEC_FREE(&r->metadata, r->env->alloc);
    sb_intern_fini(&r->tags);
    sb_buf_fini(&r->key);
    sb_arena_fini(&r->decoded);
    sb_arena_fini(&r->metadata_text);
}

/* ---- metadata -------------------------------------------------------------------------------- */

static bool dup_text(sb_reader *r, sb_slice *text) {
    *text = sb_arena_dup(&r->metadata_text, *text);
    return text->p != NULL;
}

/* The tag's first metadata in this run: the one that is known, else the value's own. */
static sb_status metadata_of(sb_reader *r, const sb_value *value, sb_metadata *out) {
    uint32_t run = r->event_file->run, id;
    sb_slice tag = sb_value_tag(value);
    *out = (sb_metadata){0};
    sb_buf_clear(&r->key);
    sb_buf_add(&r->key, &run, sizeof run);
    sb_buf_add_slice(&r->key, tag);
    if (r->key.failed) return r->key.failed;
    id = sb_intern_find(&r->tags, sb_buf_slice(&r->key));
    if (id != SB_INTERN_NONE) {
        *out = r->metadata.items[id];
        return SB_OK;
    }
    if (!value->metadata.p) return SB_OK;
    if (sb_metadata_read(out, value->metadata) != SB_OK) {
        *out = (sb_metadata){0};
        return SB_OK; /* the value itself may still be good */
    }
    if (!SB_VEC_RESERVE(&r->metadata, r->env->alloc, 1, SIZE_MAX)) return SB_NOMEM;
    sb_metadata kept = *out;
    if (!dup_text(r, &kept.plugin_name) || !dup_text(r, &kept.content) ||
        !dup_text(r, &kept.display_name) || !dup_text(r, &kept.description))
        return SB_NOMEM;
    sb_status status = sb_intern_add(&r->tags, sb_buf_slice(&r->key), &id, NULL);
    if (status == SB_OK) r->metadata.items[r->metadata.n++] = *out = kept;
    return status;
}

/* ---- what a value is ------------------------------------------------------------------------- */

/* The class of the data counts more than the plugin's name, as in the server. */
sb_reader_kind sb_reader_promised_kind(const sb_metadata *metadata) {
    static const struct {
        const char *plugin;
        sb_reader_kind kind;
    } known[] = {
        {"scalars", SB_READS_SCALAR}, {"histograms", SB_READS_HISTOGRAM},
        {"images", SB_READS_IMAGES},  {"audio", SB_READS_AUDIO},
        {"text", SB_READS_TEXT},
    };
    sb_reader_kind kind = SB_READS_TENSOR;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (sb_slice_eq(metadata->plugin_name, sb_slice_str(known[i].plugin))) kind = known[i].kind;
    if (kind == SB_READS_SCALAR && metadata->data_class) kind = SB_READS_TENSOR;
    return metadata->data_class == SB_DATA_CLASS_SCALAR ? SB_READS_SCALAR : kind;
}

sb_reader_kind sb_reader_classify(const sb_value *value, sb_metadata *metadata, double *scalar) {
    switch (value->kind) {
    case SB_VALUE_KIND_SIMPLE:
        *scalar = (double)value->simple;
        metadata->plugin_name = SB_LIT("scalars");
        return SB_READS_SCALAR;
    case SB_VALUE_KIND_IMAGE:
        metadata->plugin_name = SB_LIT("images");
        return SB_READS_IMAGES;
    case SB_VALUE_KIND_AUDIO:
        metadata->plugin_name = SB_LIT("audio");
        return SB_READS_AUDIO;
    case SB_VALUE_KIND_HISTO:
        metadata->plugin_name = SB_LIT("histograms");
        return SB_READS_HISTOGRAM;
    case SB_VALUE_KIND_TENSOR: {
        sb_reader_kind kind = sb_reader_promised_kind(metadata);
        if (kind == SB_READS_SCALAR && !sb_scalar_of(value, scalar, NULL)) kind = SB_READS_TENSOR;
        return kind;
    }
    case SB_VALUE_KIND_OLD_HISTO:
    case SB_VALUE_KIND_NONE:
        break;
    }
    return SB_READS_NO_VALUE;
}

/* The next value that is well-formed: SB_OK, SB_END or SB_CORRUPT. */
static sb_status next_wellformed(sb_reader *r, sb_slice *encoded) {
    for (;;) {
        sb_status status = sb_items_next(&r->values, encoded);
        if (status == SB_OK && sb_value_read(&r->value, *encoded) == SB_OK) return SB_OK;
        if (status == SB_END) return SB_END;
        sb_reader_note(r, r->event_file, SB_CORRUPT, r->event_offset, r->event_size);
        if (status != SB_OK) return status;
    }
}

sb_status sb_reader_next_value(sb_reader *r, const sb_reader_value **out) {
    *out = &r->value_out;
    r->has_value = false;
    sb_arena_reset(&r->decoded, (sb_arena_mark){0});
    if (!r->event_file) return SB_END;
    sb_items before = r->values;
    sb_slice encoded;
    sb_metadata metadata;
    sb_status status = next_wellformed(r, &encoded);
    if (status == SB_CORRUPT) r->values.c.p = r->values.c.end; /* the next call says SB_END */
    if (status != SB_OK) return status;
    status = metadata_of(r, &r->value, &metadata);
    if (status != SB_OK) {
        r->values = before; /* calling again tries again */
        return status;
    }
    double scalar = 0;
    r->value_kind = sb_reader_classify(&r->value, &metadata, &scalar);
    r->value_out = (sb_reader_value){.tag = sb_value_tag(&r->value),
                                     .kind = r->value_kind,
                                     .scalar = scalar,
                                     .plugin_name = metadata.plugin_name,
                                     .plugin_content = metadata.content,
                                     .display_name = metadata.display_name,
                                     .description = metadata.description,
                                     .data_class = metadata.data_class,
                                     .encoded = encoded};
    r->has_value = true;
    return SB_OK;
}

/* ---- decoding -------------------------------------------------------------------------------- */

static sb_status room_for(sb_reader *r, size_t count, size_t size, void **out) {
    if (count > r->max_decoded / size) return SB_LIMIT;
    *out = sb_arena_get(&r->decoded, count * size);
    if (*out) return SB_OK;
    return r->decoded.held + count * size > r->max_decoded ? SB_LIMIT : SB_NOMEM;
}

static sb_status view_of(sb_reader *r, sb_tensor_view *view) {
    sb_status status = sb_tensor_read(view, r->value.body);
    return status == SB_OK && view->deep ? SB_LIMIT : status;
}

static sb_status decode_numbers(sb_reader *r, const sb_tensor_view *view, double **out) {
    void *room;
    if (!sb_dtype_numeric(view->dtype)) return SB_CORRUPT;
    sb_status status = room_for(r, view->count, sizeof(double), &room);
    if (status != SB_OK) return status;
    *out = room;
    return sb_tensor_doubles(view, 0, view->count, *out) == SB_OK ? SB_OK : SB_CORRUPT;
}

static sb_status decode_strings(sb_reader *r, const sb_tensor_view *view, sb_slice **out) {
    void *room;
    if (view->dtype != SB_STRING) return SB_CORRUPT;
    sb_status status = room_for(r, view->count, sizeof(sb_slice), &room);
    if (status != SB_OK) return status;
    *out = room;
    sb_strings strings = sb_tensor_strings(view);
    for (size_t i = 0; i < view->count; i++)
        if (!sb_strings_next(&strings, *out + i)) return SB_CORRUPT;
    return SB_OK;
}

static sb_status read_tensor(sb_reader *r, sb_reader_tensor *out) {
    sb_tensor_view view;
    void *dims;
    if (!r->has_value || r->value.kind != SB_VALUE_KIND_TENSOR) return SB_INVALID;
    sb_status status = view_of(r, &view);
    if (status == SB_OK) status = room_for(r, view.rank, sizeof(int64_t), &dims);
    if (status != SB_OK) return status;
    memcpy(dims, view.dims, view.rank * sizeof(int64_t));
    *out = (sb_reader_tensor){
        .dtype = view.dtype, .rank = view.rank, .dims = dims, .count = view.count};
    if (view.dtype == SB_STRING) {
        sb_slice *strings;
        status = decode_strings(r, &view, &strings);
        if (status == SB_OK) out->strings = strings;
        return status;
    }
    double *numbers;
    if (!sb_dtype_numeric(view.dtype)) return SB_OK; /* handles and variants: shape only */
    status = decode_numbers(r, &view, &numbers);
    if (status == SB_OK) out->numbers = numbers;
    return status;
}

sb_status sb_reader_tensor_of(sb_reader *r, const sb_reader_tensor **out) {
    *out = &r->tensor_out;
    return read_tensor(r, &r->tensor_out);
}

/* TF1's buckets as rows: without the empty ones at both ends, min and max as outer edges. */
static sb_status rows_of_buckets(sb_reader *r, sb_reader_histogram *out) {
    size_t from = 0, to = out->stored_count;
    while (from < to && out->counts[from] == 0) from++;
    while (to > from && out->counts[to - 1] == 0) to--;
    void *room;
    sb_status status = room_for(r, to - from, 3 * sizeof(double), &room);
    if (status != SB_OK) return status;
    double *rows = room;
    for (size_t i = from; i < to; i++) {
        rows[3 * (i - from)] = i == from ? out->min : out->limits[i - 1];
        rows[3 * (i - from) + 1] = i == to - 1 ? out->max : out->limits[i];
        rows[3 * (i - from) + 2] = out->counts[i];
    }
    out->rows = rows;
    out->count = to - from;
    return SB_OK;
}

static sb_status old_histogram(sb_reader *r, sb_reader_histogram *out) {
    sb_summary_histo histo;
    void *limits, *counts;
    sb_status status = sb_summary_histo_read(&histo, r->value.body);
    if (status == SB_OK) status = room_for(r, histo.limits.count, sizeof(double), &limits);
    if (status == SB_OK) status = room_for(r, histo.buckets.count, sizeof(double), &counts);
    if (status != SB_OK) return status;
    sb_doubles_copy(&histo.limits, 0, histo.limits.count, limits);
    sb_doubles_copy(&histo.buckets, 0, histo.buckets.count, counts);
    *out = (sb_reader_histogram){.stored_count = histo.limits.count,
                                 .limits = limits,
                                 .counts = counts,
                                 .min = histo.min,
                                 .max = histo.max,
                                 .num = histo.num,
                                 .sum = histo.sum,
                                 .sum_squares = histo.sum_squares};
    return rows_of_buckets(r, out);
}

static sb_status read_histogram(sb_reader *r, sb_reader_histogram *out) {
    if (!r->has_value || r->value_kind != SB_READS_HISTOGRAM) return SB_INVALID;
    if (r->value.kind == SB_VALUE_KIND_HISTO) return old_histogram(r, out);
    sb_tensor_view view;
    double *rows;
    sb_status status = view_of(r, &view);
    if (status == SB_OK) status = decode_numbers(r, &view, &rows);
    if (status != SB_OK) return status;
    if (view.count % 3 != 0) return SB_CORRUPT;
    *out = (sb_reader_histogram){.count = view.count / 3, .rows = rows};
    for (size_t i = 0; i < out->count; i++) out->num += rows[3 * i + 2];
    if (out->count) {
        out->min = rows[0];
        out->max = rows[3 * out->count - 2];
    }
    return SB_OK;
}

sb_status sb_reader_histogram_of(sb_reader *r, const sb_reader_histogram **out) {
    *out = &r->histogram_out;
    return read_histogram(r, &r->histogram_out);
}

/* Decimal digits, as width and height are written; 0 for anything else. */
static int64_t small_number(sb_slice text) {
    int64_t n = 0;
    if (text.n > 9) return 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9') return 0;
        n = 10 * n + (text.p[i] - '0');
    }
    return n;
}

static sb_status read_images(sb_reader *r, sb_reader_images *out) {
    if (!r->has_value || r->value_kind != SB_READS_IMAGES) return SB_INVALID;
    sb_status status;
    if (r->value.kind == SB_VALUE_KIND_IMAGE) {
        sb_summary_image image;
        void *one;
        status = sb_summary_image_read(&image, r->value.body);
        if (status == SB_OK) status = room_for(r, 1, sizeof(sb_slice), &one);
        if (status != SB_OK) return status;
        *(sb_slice *)one = image.encoded;
        *out = (sb_reader_images){
            .width = image.width, .height = image.height, .count = 1, .images = one};
        return SB_OK;
    }
    sb_tensor_view view;
    sb_slice *strings;
    status = view_of(r, &view);
    if (status == SB_OK) status = decode_strings(r, &view, &strings);
    if (status == SB_OK && view.count < 2) status = SB_CORRUPT;
    if (status != SB_OK) return status;
    *out = (sb_reader_images){.width = small_number(strings[0]),
                              .height = small_number(strings[1]),
                              .count = view.count - 2,
                              .images = strings + 2};
    return SB_OK;
}

sb_status sb_reader_images_of(sb_reader *r, const sb_reader_images **out) {
    *out = &r->images_out;
    return read_images(r, &r->images_out);
}

static sb_status old_audio(sb_reader *r, sb_reader_audio *out) {
    sb_summary_audio audio;
    void *one;
    sb_status status = sb_summary_audio_read(&audio, r->value.body);
    if (status == SB_OK) status = room_for(r, 1, sizeof(sb_slice), &one);
    if (status != SB_OK) return status;
    *(sb_slice *)one = audio.encoded;
    *out = (sb_reader_audio){.sample_rate = audio.sample_rate,
                             .channels = audio.channels,
                             .frames = audio.frames,
                             .content_type = audio.content_type,
                             .count = 1,
                             .clips = one};
    return SB_OK;
}

/* Rows of clip and label, or clips alone. */
static sb_status read_audio(sb_reader *r, sb_reader_audio *out) {
    if (!r->has_value || r->value_kind != SB_READS_AUDIO) return SB_INVALID;
    if (r->value.kind == SB_VALUE_KIND_AUDIO) return old_audio(r, out);
    sb_tensor_view view;
    sb_slice *strings;
    void *columns;
    sb_status status = view_of(r, &view);
    if (status == SB_OK) status = decode_strings(r, &view, &strings);
    if (status != SB_OK) return status;
    size_t rows = view.rank >= 2 ? (size_t)view.dims[0] : view.count;
    size_t stride = rows ? view.count / rows : 1;
    *out = (sb_reader_audio){.count = stride ? rows : 0, .clips = strings};
    if (stride < 2) return SB_OK;
    status = room_for(r, rows, 2 * sizeof(sb_slice), &columns);
    if (status != SB_OK) return status;
    sb_slice *clips = columns, *labels = clips + rows;
    for (size_t i = 0; i < rows; i++) {
        clips[i] = strings[i * stride];
        labels[i] = strings[i * stride + 1];
    }
    out->clips = clips;
    out->labels = labels;
    return SB_OK;
}

sb_status sb_reader_audio_of(sb_reader *r, const sb_reader_audio **out) {
    *out = &r->audio_out;
    return read_audio(r, &r->audio_out);
}
