/* pixels.c: the checks that all pixel functions share, and the two TensorFlow versions, whose
 * pictures already lie in the order in which they are stored. */
#include "media/pixels.h"

#include <math.h>

#include "base/checked.h"
#include "base/half.h"
#include "codec/tensor.h"
#include "media/pixels_int.h"
#include "base/banned.h"

sb_status sb_pixel_dims_check(const sb_array *a, size_t size, bool may_be_empty, sb_err *err) {
    size_t total = size;
    for (uint32_t i = 0; i < a->rank; i++) {
        int64_t least = i == 0 && may_be_empty ? 0 : 1;
        if (a->dims[i] < least) {
            return sb_fail(err, SB_INVALID, 0, "a picture has no pixels: dimension %u is %lld", i,
                           (long long)a->dims[i]);
        }
        if (a->dims[i] > INT32_MAX || !sb_mul_size(&total, total, (size_t)a->dims[i])) {
            return sb_fail(err, SB_LIMIT, 0, "a picture is too large: dimension %u is %lld", i,
                           (long long)a->dims[i]);
        }
    }
    return SB_OK;
}

sb_status sb_pixel_reserve(sb_buf *out, uint8_t **p, size_t *bytes, const sb_pixel_shape *shape,
                           uint64_t max_pixels, sb_err *err) {
    size_t pixels = (size_t)shape->width;
    if (!sb_mul_size(&pixels, pixels, shape->height) ||
        !sb_mul_size(&pixels, pixels, shape->frames) || pixels > max_pixels ||
        !sb_mul_size(bytes, pixels, shape->channels)) {
        return sb_fail(err, SB_LIMIT, 0,
                       "%u pictures of %u by %u are over the limit of %llu pixels", shape->frames,
                       shape->width, shape->height, (unsigned long long)max_pixels);
    }
    if (!sb_buf_reserve(out, *bytes)) return sb_buf_check(out, "pictures", err);
    *p = out->p + out->n;
    return SB_OK;
}

/* Checks [k, height, width, channels] and computes the shape of the result. */
static sb_status khwc_shape(sb_pixel_shape *shape, const sb_array *images, size_t size,
                            uint32_t max_outputs, sb_err *err) {
    if (images->rank != 4) {
        return sb_fail(err, SB_INVALID, 0,
                       "pictures are [k, height, width, channels], not of rank %u", images->rank);
    }
    sb_status status = sb_pixel_dims_check(images, size, true, err);
    if (status != SB_OK) return status;
    const int64_t *d = images->dims;
    if (d[3] > 4) {
        return sb_fail(err, SB_INVALID, 0, "a picture has 1 to 4 channels, not %lld",
                       (long long)d[3]);
    }
    *shape = (sb_pixel_shape){.width = (uint32_t)d[2],
                              .height = (uint32_t)d[1],
                              .channels = (uint32_t)d[3],
                              .frames = d[0] < max_outputs ? (uint32_t)d[0] : max_outputs};
    return SB_OK;
}

sb_status sb_pixels_tf2(sb_buf *out, sb_pixel_shape *shape, const sb_array *images,
                        uint32_t max_outputs, uint64_t max_pixels, sb_err *err) {
    size_t size = sb_dtype_size(images->dtype);
    sb_pixel_fn *convert = sb_pixel_rule_pick(SB_PIXEL_TF2, images->dtype);
    if (!convert) {
        return sb_fail(err, SB_INVALID, 0, "a picture cannot be made of %s",
                       sb_dtype_name(images->dtype));
    }
    sb_pixel_shape kept = {0};
    sb_status status = khwc_shape(&kept, images, size, max_outputs, err);
    uint8_t *p = NULL;
    size_t bytes = 0;
    if (status == SB_OK) status = sb_pixel_reserve(out, &p, &bytes, &kept, max_pixels, err);
    if (status != SB_OK) return status;
    if (bytes) convert(p, 1, images->data, size, bytes);
    out->n += bytes;
    *shape = kept;
    return SB_OK;
}

/* Where float_value is infinite though the element is finite (a float64 beyond float32), the
 * arithmetic goes on as TensorFlow's does: the scale becomes 0. */
struct stretch {
    float scale, offset;
};

static struct stretch stretch_of(float least, float most) {
    const float zero_threshold = 1e-6f;
    if (least < 0.0f) {
        float magnitude = fmaxf(fabsf(least), fabsf(most));
        return (struct stretch){magnitude < zero_threshold ? 0.0f : 127.0f / magnitude, 128.0f};
    }
    return (struct stretch){most < zero_threshold ? 0.0f : 255.0f / most, 0.0f};
}

/* Only half's arithmetic can leave 0..255: its scale overflows for pictures below 0.004, which
 * TensorFlow then stores as black. */
static inline uint8_t tf1_cut(double x) {
    return x > 0.0 && x < 256.0 ? (uint8_t)x : 0;
}

static inline uint8_t tf1_float(float x, struct stretch s) {
    float product = x * s.scale;
    return tf1_cut((double)(product + s.offset));
}

static inline uint8_t tf1_double(double x, struct stretch s) {
    return tf1_cut(x * (double)s.scale + (double)s.offset);
}

static inline float round_half(float x) {
    return sb_half_to_float(sb_float_to_half(x));
}

static inline uint8_t tf1_half(uint16_t x, struct stretch s) {
    float product = round_half(sb_half_to_float(x) * round_half(s.scale));
    return tf1_cut((double)round_half(product + s.offset));
}

/* Converts one picture of `pixels` pixels: first finds the range of the pixels that are finite in
 * every channel, then writes the bytes. */
#define TF1_PICTURE(name, type, value, convert)                                                    \
    static bool name##_finite(const uint8_t *src, size_t channels) {                               \
        for (size_t c = 0; c < channels; c++) {                                                    \
            type x;                                                                                \
            memcpy(&x, src + c * sizeof x, sizeof x);                                              \
            if (!isfinite(value)) return false;                                                    \
        }                                                                                          \
        return true;                                                                               \
    }                                                                                              \
    static void name(uint8_t *dst, const uint8_t *src, size_t pixels, size_t channels) {           \
        static const uint8_t bad_colour[4] = {255, 0, 0, 255};                                     \
        float least = INFINITY, most = -INFINITY;                                                  \
        size_t step = channels * sizeof(type);                                                     \
        type x;                                                                                    \
        for (size_t i = 0; i < pixels; i++) {                                                      \
            if (!name##_finite(src + i * step, channels)) continue;                                \
            for (size_t c = 0; c < channels; c++) {                                                \
                memcpy(&x, src + i * step + c * sizeof x, sizeof x);                               \
                float v = (float)(value);                                                          \
                least = v < least ? v : least;                                                     \
                most = v > most ? v : most;                                                        \
            }                                                                                      \
        }                                                                                          \
        struct stretch s = stretch_of(least, most);                                                \
        for (size_t i = 0; i < pixels; i++) {                                                      \
            bool finite = name##_finite(src + i * step, channels);                                 \
            for (size_t c = 0; c < channels; c++) {                                                \
                memcpy(&x, src + i * step + c * sizeof x, sizeof x);                               \
                *dst++ = finite ? convert(x, s) : bad_colour[c];                                   \
            }                                                                                      \
        }                                                                                          \
    }
TF1_PICTURE(tf1_picture_float, float, x, tf1_float)
TF1_PICTURE(tf1_picture_double, double, x, tf1_double)
TF1_PICTURE(tf1_picture_half, uint16_t, sb_half_to_float(x), tf1_half)
#undef TF1_PICTURE

static void tf1_picture_uint8(uint8_t *dst, const uint8_t *src, size_t pixels, size_t channels) {
    memcpy(dst, src, pixels * channels);
}

typedef void tf1_fn(uint8_t *dst, const uint8_t *src, size_t pixels, size_t channels);

static tf1_fn *tf1_pick(sb_dtype dtype) {
    switch (dtype) {
    case SB_FLOAT:
        return tf1_picture_float;
    case SB_DOUBLE:
        return tf1_picture_double;
    case SB_HALF:
        return tf1_picture_half;
    case SB_UINT8:
        return tf1_picture_uint8;
    default:
        return NULL;
    }
}

sb_status sb_pixels_tf1(sb_buf *out, sb_pixel_shape *shape, const sb_array *images,
                        uint32_t max_outputs, uint64_t max_pixels, sb_err *err) {
    size_t size = sb_dtype_size(images->dtype);
    tf1_fn *convert = tf1_pick(images->dtype);
    if (!convert) {
        return sb_fail(err, SB_INVALID, 0,
                       "a picture is made of uint8, float16, float32 or float64, not of %s",
                       sb_dtype_name(images->dtype));
    }
    sb_pixel_shape kept = {0};
    sb_status status = khwc_shape(&kept, images, size, max_outputs, err);
    if (status == SB_OK && kept.channels == 2) {
        status = sb_fail(err, SB_INVALID, 0, "a picture has 1, 3 or 4 channels, not 2");
    }
    uint8_t *p = NULL;
    size_t bytes = 0;
    if (status == SB_OK) status = sb_pixel_reserve(out, &p, &bytes, &kept, max_pixels, err);
    if (status != SB_OK) return status;
    size_t pixels = (size_t)kept.width * kept.height;
    size_t picture = pixels * kept.channels;
    const uint8_t *from = images->data;
    for (uint32_t i = 0; i < kept.frames; i++) {
        convert(p + i * picture, from + i * picture * size, pixels, kept.channels);
    }
    out->n += bytes;
    *shape = kept;
    return SB_OK;
}
