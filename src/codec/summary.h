/* summary.h: views of a Summary, its values and what they hold.
 *
 *     sb_summary_walk values = sb_summary_over(event.body);
 *     while ((status = sb_summary_next(&values, &value)) == SB_OK) ...
 *
 * In:  borrowed encoded messages.  Out: numbers, and slices into them; nothing is copied.
 *
 *   Summary: 1 value (repeated)
 *   Value:   1 tag | 7 node_name | 9 metadata | one of: 2 simple_value float | 3 old histogram
 *            4 image | 5 histo | 6 audio | 8 tensor
 *
 * The last member of the oneof wins, whole. A known field with a foreign wire type is ignored. Text
 * is not checked to be UTF-8. Threads: a walk belongs to one thread. Cost: one pass.
 *
 * Named sb_summary_walk since seaboard/writer.h has a public function without the suffix, and the
 * writer includes both headers. */
#ifndef SB_CODEC_SUMMARY_H
#define SB_CODEC_SUMMARY_H

#include "codec/proto/messages.h"
#include "codec/proto/proto.h"

/* The numbers are those of the fields. */
typedef enum sb_value_kind {
    SB_VALUE_KIND_NONE = 0,
    SB_VALUE_KIND_SIMPLE = SB_VALUE_SIMPLE_VALUE,
    SB_VALUE_KIND_OLD_HISTO = SB_VALUE_OBSOLETE_OLD_STYLE_HISTOGRAM,
    SB_VALUE_KIND_IMAGE = SB_VALUE_IMAGE,
    SB_VALUE_KIND_HISTO = SB_VALUE_HISTO,
    SB_VALUE_KIND_AUDIO = SB_VALUE_AUDIO,
    SB_VALUE_KIND_TENSOR = SB_VALUE_TENSOR,
} sb_value_kind;

typedef struct sb_value {
    sb_slice tag;
    sb_slice node_name;
    sb_value_kind kind;
    float simple;      /* for SB_VALUE_KIND_SIMPLE */
    sb_slice body;     /* for the other kinds: an encoded message */
    sb_slice metadata; /* an encoded SummaryMetadata; .p is NULL when the field is absent */
} sb_value;

typedef struct sb_summary_walk {
    sb_pb c;
} sb_summary_walk;

static inline sb_summary_walk sb_summary_over(sb_slice summary) {
    return (sb_summary_walk){sb_pb_over(summary)};
}

/* The next value: SB_OK, SB_END, or SB_CORRUPT, after which there is nothing more to be had. */
sb_status sb_summary_next(sb_summary_walk *values, sb_value *out);

/* One encoded Summary.Value. */
sb_status sb_value_read(sb_value *out, sb_slice value);

/* The tag, or where that is empty the node name, as TensorBoard does. */
static inline sb_slice sb_value_tag(const sb_value *value) {
    return value->tag.n ? value->tag : value->node_name;
}

/* The number in a value that is a scalar in any form: simple_value, or a tensor with exactly one
 * numeric element (typed field or content, any shape). False for everything else, and for complex
 * numbers. *dtype (may be NULL) is what it was stored as. int64 and uint64 are rounded to double.
 */
bool sb_scalar_of(const sb_value *value, double *out, sb_dtype *dtype);

typedef struct sb_metadata {
    sb_slice plugin_name;
    sb_slice content; /* the plugin's own bytes, see plugin.h */
    sb_slice display_name;
    sb_slice description;
    int32_t data_class; /* SB_DATA_CLASS_...; unknown numbers are kept */
} sb_metadata;

/* An empty slice gives empty metadata. */
sb_status sb_metadata_read(sb_metadata *out, sb_slice metadata);
/* Appends it as field `number`; parts that are empty are left out. */
void sb_metadata_add(sb_buf *b, uint32_t number, const sb_metadata *metadata);

typedef struct sb_summary_image {
    int32_t height, width; /* hints; the size inside the encoded image is the right one */
    int32_t colorspace;
    sb_slice encoded;
} sb_summary_image;

sb_status sb_summary_image_read(sb_summary_image *out, sb_slice body);

typedef struct sb_summary_audio {
    float sample_rate;
    int64_t channels;
    int64_t frames;
    sb_slice encoded;
    sb_slice content_type;
} sb_summary_audio;

sb_status sb_summary_audio_read(sb_summary_audio *out, sb_slice body);

/* Repeated doubles, packed in one run, in several, or not at all. */
typedef struct sb_doubles {
    sb_slice message;
    uint32_t number;
    size_t count;
    const uint8_t *run; /* all of them in one piece, little-endian; NULL when they are scattered */
} sb_doubles;

/* Copies numbers from..from+n, which must be inside count. Cost: a memcpy from one run, otherwise a
 * pass over the message. */
void sb_doubles_copy(const sb_doubles *d, size_t from, size_t n, double *out);

typedef struct sb_summary_histo {
    double min, max;
    double num; /* not to be trusted: some writers store the bucket count */
    double sum, sum_squares;
    sb_doubles limits;  /* right edges; the left edge of the first bucket is -DBL_MAX */
    sb_doubles buckets; /* counts; has as many as limits */
} sb_summary_histo;

/* SB_CORRUPT too when there are not as many buckets as limits. */
sb_status sb_summary_histo_read(sb_summary_histo *out, sb_slice body);

#endif
