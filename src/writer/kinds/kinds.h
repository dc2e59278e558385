/* kinds.h: what the files of the summary kinds share.
 *
 * On the caller's side an array is checked and described by an sb_shape, which becomes (the end of)
 * the call's parameters; its elements become the call's data, contiguous whatever the caller's
 * strides were. On the thread's side both become an sb_array again. Threads: the first part runs on
 * any thread, the second on the writer's. */
#ifndef SB_WRITER_KINDS_KINDS_H
#define SB_WRITER_KINDS_KINDS_H

#include <stddef.h>

#include "codec/tensor.h"
#include "writer/call.h"
#include "writer/kinds/strides.h"

typedef struct sb_shape {
    uint32_t dtype;
    uint32_t rank;
    int64_t dims[SB_RANK_LIMIT]; /* only the first rank of them are copied into the call */
} sb_shape;

/* The bytes of a parameter struct whose last member is an sb_shape named shape. */
#define SB_PARAMS_SLICE(params)                                                                    \
    sb_slice_of((params), offsetof(__typeof__(*(params)), shape) + sb_shape_bytes(&(params)->shape))

static inline size_t sb_shape_bytes(const sb_shape *shape) {
    return offsetof(sb_shape, dims) + shape->rank * sizeof shape->dims[0];
}

/* ---- the caller's side ----------------------------------------------------------------------- */

/* Checks an array of numbers that is called `what` in messages: not NULL, a real number type
 * (complex is refused unless allowed), rank, dims, their product, strides, and data that is not
 * NULL when there are elements. Fills shape and the piece that copies its elements, which borrows
 * the array. */
sb_status sb_take_array(sb_writer *w, const char *what, const sb_array *array, bool complex_too,
                        sb_shape *shape, sb_piece *elements);
/* Checks and fills the shape alone, of an array of any type. *count: how many elements. */
sb_status sb_take_shape(sb_writer *w, const char *what, const sb_array *array, sb_shape *shape,
                        size_t *count);
/* Checks a text that is called `what`: not NULL unless it may be missing, valid UTF-8, not over max
 * bytes. */
sb_status sb_take_text(sb_writer *w, const char *what, const char *text, bool may_miss, size_t max,
                       sb_slice *out);
/* The number of elements of a shape that was checked before. */
size_t sb_shape_count(const sb_shape *shape);

/* ---- the encoders' side ---------------------------------------------------------------------- */

/* The array that a shape and its data describe; borrows both. */
static inline sb_array sb_shape_array(const sb_shape *shape, const void *data) {
    return (sb_array){data, (sb_dtype)shape->dtype, shape->rank, shape->dims, NULL};
}

/* An array's elements for sb_tensor_doubles and the like; the array was checked before. */
sb_tensor_view sb_array_view(const sb_array *array);

/* Must the metadata of this tag be written? TF1 writes it only once for each tag, the others
 * always. */
bool sb_metadata_due(sb_encoder *e, sb_slice tag);
/* Writes the metadata when sb_metadata_due says so. */
void sb_value_metadata_once(sb_encoder *e, sb_buf *event, const sb_call *call, sb_slice tag,
                            sb_slice plugin_name, sb_slice plugin_content, bool force);

/* The tag as tensorboardX writes it for scalars, histograms, images and videos: cleaned. Other
 * styles keep it. .p is NULL when memory is out. */
sb_slice sb_style_tag(sb_encoder *e, sb_slice tag);
/* prefix and suffix joined, in scratch; .p is NULL when memory is out. */
sb_slice sb_join(sb_encoder *e, sb_slice prefix, sb_slice suffix);

static inline bool sb_style_is_tf(sb_style style) {
    return style == SB_STYLE_TF2 || style == SB_STYLE_TF1;
}

/* The encoder's PNG encoder, made by the first call; NULL when memory is out. */
struct sb_png_encoder *sb_encoder_png(sb_encoder *e);

sb_status sb_encode_nomem(sb_err *err, const sb_call *call);

#endif
