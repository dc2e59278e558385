/* image.c: pictures from arrays of numbers, and pictures that are encoded already.
 *
 * In:  the elements as they are; the writer's thread scales and encodes them.
 * Out: TF2    one string tensor [2 + k]: width, height, k PNG files; plugin "images"
 *      TF1    one value a picture with an Image: 1 height 2 width 3 colorspace 4 file;
 *             tags TAG/image/0, /1, ..., or TAG/image when only one is asked for
 *      torch, TBX   one such value, tag as given (TBX: cleaned); a batch becomes a grid */
#include <math.h>
#include <stdio.h>

#include "base/checked.h"
#include "base/half.h"
#include "base/slice.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "media/pixels.h"
#include "media/png.h"
#include "media/sniff.h"
#include "writer/kinds/axes.h"
#include "writer/kinds/image_values.h"
#include "writer/kinds/kinds.h"

#include "base/banned.h"

#define DEFAULT_OUTPUTS 3
#define MAX_PIXELS ((uint64_t)1 << 30)
#define MAX_PICTURES 65536u
#define ROOM 256

typedef struct params {
    uint32_t max_outputs;
    char letters[SB_AXES_MAX + 1];
    sb_shape shape;
} params;

typedef struct encoded_params {
    uint32_t count, width, height;
} encoded_params;

/* ---- the caller's side ----------------------------------------------------------------------- */

static bool is_usable(sb_style style, sb_dtype dtype) {
    switch (dtype) {
    case SB_UINT8:
    case SB_HALF:
    case SB_FLOAT:
    case SB_DOUBLE:
        return true;
    case SB_BFLOAT16:
    case SB_INT8:
    case SB_INT16:
    case SB_INT32:
    case SB_INT64:
    case SB_UINT16:
    case SB_UINT32:
    case SB_UINT64:
        return style != SB_STYLE_TF1;
    case SB_BOOL:
        return !sb_style_is_tf(style);
    default:
        return false;
    }
}

static const char *default_layout(sb_style style, uint32_t rank) {
    bool tf = sb_style_is_tf(style);
    switch (rank) {
    case 4:
        return tf ? "NHWC" : "NCHW";
    case 3:
        return tf ? "HWC" : "CHW";
    default:
        return "HW";
    }
}

static int64_t size_of(const params *p, char letter) {
    const char *found = strchr(p->letters, letter);
    return found ? p->shape.dims[found - p->letters] : 1;
}

static sb_status check_axes(sb_writer *w, params *p, const char *layout) {
    sb_style style = sb_writer_style(w);
    uint32_t rank = p->shape.rank;
    bool given = layout != NULL;
    if (!layout) layout = default_layout(style, rank);
    if (!sb_axes_read(p->letters, layout, rank, "NHWC"))
        return sb_call_refuse(
            w, SB_INVALID,
            "image: %s does not name the dimensions of an array of rank %u; use the "
            "letters N, H, W, C, each once, H and W among them",
            given ? layout : "the default layout", rank);
    if (strchr(p->letters, 'N') && !strchr(p->letters, 'C') && !sb_style_is_tf(style))
        return sb_call_refuse(w, SB_INVALID, "image: a batch needs channels (C) in this style");
    int64_t n = size_of(p, 'N'), channels = size_of(p, 'C');
    if (size_of(p, 'H') == 0 || size_of(p, 'W') == 0 || channels == 0 ||
        (n == 0 && !sb_style_is_tf(style)))
        return sb_call_refuse(w, SB_INVALID, "image: a dimension is 0, so there are no pixels");
    if (channels > 4 || (channels == 2 && style == SB_STYLE_TF1))
        return sb_call_refuse(
            w, SB_INVALID, "image: %lld channels (layout %s); this style takes %s",
            (long long)channels, p->letters, style == SB_STYLE_TF1 ? "1, 3 or 4" : "1 to 4");
    if (size_of(p, 'H') > INT32_MAX || size_of(p, 'W') > INT32_MAX)
        return sb_call_refuse(w, SB_LIMIT, "image: a side is over 2147483647 pixels");
    return SB_OK;
}

/* Only the first max_outputs pictures are written, so the others are not copied. */
static void keep_first(params *p, sb_piece *elements) {
    if (p->letters[0] != 'N' || p->shape.dims[0] <= (int64_t)p->max_outputs) return;
    elements->n = elements->n / (size_t)p->shape.dims[0] * p->max_outputs;
    p->shape.dims[0] = p->max_outputs;
}

sb_status sb_image(sb_writer *w, const char *tag, const sb_array *pixels, int64_t step,
                   const sb_image_opts *opts, const sb_meta *meta) {
    sb_call call;
    sb_image_opts own = {0};
    sb_status status = sb_call_begin(w, &call, SB_CALL_IMAGE, tag, true, step, meta);
    if (status == SB_OK && opts) status = SB_READ_SIZED(w, &own, sb_image_opts, opts, 0);
    if (status != SB_OK) return status;
    params p = {.max_outputs = DEFAULT_OUTPUTS};
    if (own.max_outputs)
        p.max_outputs = own.max_outputs < UINT32_MAX ? (uint32_t)own.max_outputs : UINT32_MAX;
    sb_piece elements;
    status = sb_take_array(w, "image", pixels, false, &p.shape, &elements);
    if (status == SB_OK) status = check_axes(w, &p, own.layout);
    if (status != SB_OK) return status;
    sb_style style = sb_writer_style(w);
    if (!is_usable(style, pixels->dtype))
        return sb_call_refuse(w, SB_INVALID, "image: this style makes no pictures from %s; %s",
                              sb_dtype_name(pixels->dtype), "give uint8 or float32");
    if (sb_style_is_tf(style)) keep_first(&p, &elements);
    call.params = SB_PARAMS_SLICE(&p);
    return sb_call_put(w, &call, &elements, 1);
}

static sb_status check_encoded(sb_writer *w, const sb_slice *images, size_t count,
                               encoded_params *p) {
    if (count && !images) return sb_call_refuse(w, SB_INVALID, "image: the images are missing");
    if (count == 0) return sb_call_refuse(w, SB_INVALID, "image: no image is given");
    if (count > MAX_PICTURES)
        return sb_call_refuse(w, SB_LIMIT, "image: %zu images are too many: the most is %u", count,
                              MAX_PICTURES);
    if (count > 1 && !sb_style_is_tf(sb_writer_style(w)))
        return sb_call_refuse(w, SB_INVALID,
                              "image: this style holds one image a call, not %zu; use several tags",
                              count);
    for (size_t i = 0; i < count; i++)
        if (!images[i].n || !images[i].p)
            return sb_call_refuse(w, SB_INVALID, "image: image %zu has no bytes", i);
    if (p->width && p->height) return SB_OK;
    sb_err err;
    if (sb_media_picture_size(&p->width, &p->height, images[0], &err) != SB_OK)
        return sb_call_refuse(w, SB_INVALID,
                              "image: can't tell width and height from the bytes; give them");
    return SB_OK;
}

sb_status sb_image_encoded(sb_writer *w, const char *tag, const sb_slice *images, size_t count,
                           uint32_t width, uint32_t height, int64_t step, const sb_meta *meta) {
    sb_call call;
    sb_status status = sb_call_begin(w, &call, SB_CALL_IMAGE_ENCODED, tag, true, step, meta);
    if (status != SB_OK) return status;
    encoded_params p = {(uint32_t)count, width, height};
    status = check_encoded(w, images, count, &p);
    if (status != SB_OK) return status;
    call.params = sb_slice_of(&p, sizeof p);
    const sb_alloc *alloc = sb_writer_env(w)->alloc;
    size_t room = (count + 1) * sizeof(sb_piece), lengths_n = count * sizeof(uint64_t);
    sb_piece *pieces = sb_alloc_get(alloc, room);
    uint64_t *lengths = sb_alloc_get(alloc, lengths_n);
    if (pieces && lengths) {
        pieces[0] = (sb_piece){.p = lengths, .n = lengths_n};
        for (size_t i = 0; i < count; i++) {
            lengths[i] = images[i].n;
            pieces[i + 1] = sb_piece_of(images[i]);
        }
        status = sb_call_put(w, &call, pieces, count + 1);
    } else {
        status = sb_call_refuse(w, SB_NOMEM, "out of memory for %zu images", count);
    }
    sb_alloc_put(alloc, pieces, room);
    sb_alloc_put(alloc, lengths, lengths_n);
    return status;
}

/* ---- values ---------------------------------------------------------------------------------- */

sb_tensor_frame sb_image_tensor_begin(sb_buf *event, const sb_call *call, uint32_t width,
                                      uint32_t height, size_t count, size_t expected) {
    sb_tensor_frame f;
    char text[16];
    f.value = sb_value_begin(event, call, call->tag, expected + call->tag.n + 48);
    f.tensor = sb_pb_begin(event, SB_VALUE_TENSOR, expected + 24);
    sb_pb_add_uint(event, SB_TENSOR_DTYPE, SB_STRING);
    size_t shape = sb_pb_begin(event, SB_TENSOR_TENSOR_SHAPE, 4);
    size_t dim = sb_pb_begin(event, SB_SHAPE_DIM, 2);
    sb_pb_add_uint(event, SB_DIM_SIZE, count + 2);
    sb_pb_end(event, dim);
    sb_pb_end(event, shape);
    snprintf(text, sizeof text, "%u", width);
    sb_pb_add_bytes(event, SB_TENSOR_STRING_VAL, sb_slice_str(text));
    snprintf(text, sizeof text, "%u", height);
    sb_pb_add_bytes(event, SB_TENSOR_STRING_VAL, sb_slice_str(text));
    return f;
}

void sb_image_tensor_end(sb_encoder *e, sb_buf *event, const sb_call *call, sb_tensor_frame f) {
    sb_pb_end(event, f.tensor);
    sb_value_metadata_once(e, event, call, call->tag, SB_LIT("images"), SB_LIT(""), false);
    sb_value_end(event, f.value);
}

sb_image_frame sb_image_begin(sb_buf *event, sb_slice tag, const sb_pixel_shape *shape,
                              size_t expected) {
    sb_image_frame f;
    f.value = sb_pb_begin(event, SB_SUMMARY_VALUE, expected + tag.n + 24);
    sb_pb_add_bytes_nz(event, SB_VALUE_TAG, tag);
    f.image = sb_pb_begin(event, SB_VALUE_IMAGE, expected + 16);
    sb_pb_add_uint_nz(event, SB_IMAGE_HEIGHT, shape->height);
    sb_pb_add_uint_nz(event, SB_IMAGE_WIDTH, shape->width);
    sb_pb_add_uint_nz(event, SB_IMAGE_COLORSPACE, shape->channels);
    f.file = sb_pb_begin(event, SB_IMAGE_ENCODED_IMAGE_STRING, expected);
    return f;
}

void sb_image_end(sb_encoder *e, sb_buf *event, const sb_call *call, sb_slice tag,
                  sb_image_frame f) {
    sb_pb_end(event, f.file);
    sb_pb_end(event, f.image);
    sb_value_metadata_once(e, event, call, tag, SB_LIT(""), SB_LIT(""), false);
    sb_pb_end(event, f.value);
}

sb_slice sb_numbered_tag(sb_encoder *e, sb_slice tag, const char *kind, bool is_only, size_t i) {
    char suffix[48];
    if (is_only)
        snprintf(suffix, sizeof suffix, "/%s", kind);
    else
        snprintf(suffix, sizeof suffix, "/%s/%zu", kind, i);
    return sb_join(e, tag, sb_slice_str(suffix));
}

/* ---- encoding arrays ------------------------------------------------------------------------- */

/* An estimate of the length of a PNG file. A good estimate saves moving the bytes later. */
static size_t png_guess(size_t bytes) {
    return bytes / 2 + 64;
}

static sb_status add_png(sb_encoder *e, sb_buf *event, const uint8_t *pixels,
                         const sb_pixel_shape *shape, sb_err *err) {
    sb_png_encoder *png = sb_encoder_png(e);
    if (!png) return sb_fail_nomem(err, "for a PNG encoder");
    return sb_png_encode(event, png, pixels, shape->width, shape->height, shape->channels, err);
}

static sb_status add_tf2(sb_encoder *e, const sb_call *call, sb_buf *event, const uint8_t *pixels,
                         const sb_pixel_shape *shape, sb_err *err) {
    size_t bytes = (size_t)shape->width * shape->height * shape->channels;
    size_t guess = png_guess(bytes);
    sb_tensor_frame f = sb_image_tensor_begin(event, call, shape->width, shape->height,
                                              shape->frames, guess * shape->frames);
    for (uint32_t i = 0; i < shape->frames; i++) {
        size_t file = sb_pb_begin(event, SB_TENSOR_STRING_VAL, guess);
        sb_status status = add_png(e, event, pixels + i * bytes, shape, err);
        if (status != SB_OK) return status;
        sb_pb_end(event, file);
    }
    sb_image_tensor_end(e, event, call, f);
    return SB_OK;
}

static sb_status add_image(sb_encoder *e, const sb_call *call, sb_buf *event, sb_slice tag,
                           const uint8_t *pixels, const sb_pixel_shape *shape, sb_err *err) {
    if (!tag.p) return sb_encode_nomem(err, call);
    size_t guess = png_guess((size_t)shape->width * shape->height * shape->channels);
    sb_image_frame f = sb_image_begin(event, tag, shape, guess);
    sb_status status = add_png(e, event, pixels, shape, err);
    if (status != SB_OK) return status;
    sb_image_end(e, event, call, tag, f);
    return SB_OK;
}

static sb_status add_tf1(sb_encoder *e, const sb_call *call, sb_buf *event, const uint8_t *pixels,
                         const sb_pixel_shape *shape, bool is_only, sb_err *err) {
    size_t bytes = (size_t)shape->width * shape->height * shape->channels;
    sb_status status = SB_OK;
    sb_event_head(event, call);
    size_t summary = sb_pb_begin(event, SB_EVENT_SUMMARY, png_guess(bytes) * shape->frames);
    for (uint32_t i = 0; status == SB_OK && i < shape->frames; i++) {
        sb_slice tag = sb_numbered_tag(e, call->tag, "image", is_only, i);
        status = add_image(e, call, event, tag, pixels + i * bytes, shape, err);
    }
    sb_pb_end(event, summary);
    return status;
}

static sb_status add_torch(sb_encoder *e, const sb_call *call, sb_buf *event, const uint8_t *pixels,
                           const sb_pixel_shape *shape, sb_err *err) {
    sb_event_head(event, call);
    size_t bytes = (size_t)shape->width * shape->height * shape->channels;
    size_t summary = sb_pb_begin(event, SB_EVENT_SUMMARY, png_guess(bytes));
    sb_slice tag = sb_style_tag(e, call->tag);
    sb_status status = add_image(e, call, event, tag, pixels, shape, err);
    sb_pb_end(event, summary);
    return status;
}

static uint8_t clip_level(double level) {
    return level > 0 ? (level < 255 ? (uint8_t)level : 255) : 0; /* NaN is 0 */
}

/* tensorboardX multiplies in the array's own type, except that integers become doubles. Values out
 * of range wrap around there and are clipped here. The result is an array of bytes in the same
 * order. */
static sb_status level_tbx(sb_encoder *e, sb_array *array) {
    if (array->dtype == SB_UINT8) return SB_OK;
    sb_tensor_view view = sb_array_view(array);
    uint8_t *levels = sb_arena_get(&e->scratch, view.count);
    if (!levels) return SB_NOMEM;
    for (size_t at = 0, n; at < view.count; at += n) {
        double x[ROOM];
        n = view.count - at < ROOM ? view.count - at : ROOM;
        sb_tensor_doubles(&view, at, n, x);
        for (size_t i = 0; i < n; i++) {
            if (array->dtype == SB_FLOAT || array->dtype == SB_BFLOAT16)
                levels[at + i] = clip_level((double)((float)x[i] * 255.0f));
            else if (array->dtype == SB_HALF)
                levels[at + i] =
                    clip_level((double)sb_half_to_float(sb_float_to_half((float)x[i] * 255.0f)));
            else
                levels[at + i] = clip_level(x[i] * 255.0);
        }
    }
    array->data = levels;
    array->dtype = SB_UINT8;
    return SB_OK;
}

/* Converts the array to 8-bit pictures as the style's framework does. */
static sb_status make_pixels(sb_encoder *e, const params *p, const void *data, sb_buf *pixels,
                             sb_pixel_shape *shape, sb_err *err) {
    sb_array array = sb_shape_array(&p->shape, data), ordered;
    int64_t dims[SB_AXES_MAX];
    if (!sb_style_is_tf(e->style)) {
        if (e->style == SB_STYLE_TBX && level_tbx(e, &array) != SB_OK)
            return sb_fail_nomem(err, "for a picture");
        return sb_pixels_torch(pixels, shape, &array, sb_slice_str(p->letters), MAX_PIXELS, err);
    }
    if (sb_axes_order(&e->scratch, &array, sb_dtype_size(array.dtype), p->letters, "NHWC", dims,
                      &ordered) != SB_OK)
        return sb_fail_nomem(err, "for a picture");
    if (e->style == SB_STYLE_TF2)
        return sb_pixels_tf2(pixels, shape, &ordered, p->max_outputs, MAX_PIXELS, err);
    return sb_pixels_tf1(pixels, shape, &ordered, p->max_outputs, MAX_PIXELS, err);
}

sb_status sb_encode_image(sb_encoder *e, const sb_call *call, sb_buf *event, sb_err *err) {
    const params *p = (const void *)call->params.p;
    sb_pixel_shape shape;
    sb_buf pixels;
    sb_buf_init(&pixels, e->env->alloc, SIZE_MAX);
    sb_status status = make_pixels(e, p, call->data.p, &pixels, &shape, err);
    if (status == SB_OK) {
        if (e->style == SB_STYLE_TF2)
            status = add_tf2(e, call, event, pixels.p, &shape, err);
        else if (e->style == SB_STYLE_TF1)
            status = add_tf1(e, call, event, pixels.p, &shape, p->max_outputs == 1, err);
        else
            status = add_torch(e, call, event, pixels.p, &shape, err);
    }
    sb_buf_fini(&pixels);
    return status;
}

/* ---- encoding ready-made pictures ------------------------------------------------------------ */

/* The channels of a PNG by its colour type; other files are assumed to be RGB. */
static uint32_t channels_of(sb_slice file) {
    static const uint8_t by_type[] = {1, 3, 3, 3, 2, 3, 4};
    if (sb_media_sniff(file) != SB_MEDIA_PNG || file.n <= 25 || file.p[25] >= sizeof by_type)
        return 3;
    return by_type[file.p[25]];
}

sb_status sb_encode_image_encoded(sb_encoder *e, const sb_call *call, sb_buf *event, sb_err *err) {
    const encoded_params *p = (const void *)call->params.p;
    const uint64_t *lengths = (const void *)call->data.p;
    const uint8_t *at = call->data.p + p->count * sizeof *lengths;
    if (e->style == SB_STYLE_TF2) {
        sb_tensor_frame f =
            sb_image_tensor_begin(event, call, p->width, p->height, p->count, call->data.n);
        for (uint32_t i = 0; i < p->count; at += lengths[i++])
            sb_pb_add_bytes(event, SB_TENSOR_STRING_VAL, sb_slice_of(at, (size_t)lengths[i]));
        sb_image_tensor_end(e, event, call, f);
        return SB_OK;
    }
    sb_event_head(event, call);
    size_t summary = sb_pb_begin(event, SB_EVENT_SUMMARY, call->data.n + call->tag.n + 32);
    for (uint32_t i = 0; i < p->count; at += lengths[i++]) {
        sb_slice file = sb_slice_of(at, (size_t)lengths[i]);
        sb_slice tag = e->style == SB_STYLE_TF1
                           ? sb_numbered_tag(e, call->tag, "image", p->count == 1, i)
                           : sb_style_tag(e, call->tag);
        if (!tag.p) return sb_encode_nomem(err, call);
        sb_pixel_shape shape = {p->width, p->height, channels_of(file), 1};
        sb_image_frame f = sb_image_begin(event, tag, &shape, file.n);
        sb_buf_add_slice(event, file);
        sb_image_end(e, event, call, tag, f);
    }
    sb_pb_end(event, summary);
    return SB_OK;
}
