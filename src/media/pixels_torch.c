/* pixels_torch.c: torch's layouts: named axes, grids of a batch, tiled video, sprites.
 *
 * Every one of them is a set of planes [clip, channel, height, width], reached by a step in bytes
 * for each axis, that is laid out in a grid of equal cells. So there is one painter, and the
 * functions differ in how they name the axes, count the columns and size the canvas. */
#include "media/pixels.h"

#include "base/checked.h"
#include "base/slice.h"
#include "codec/tensor.h"
#include "media/pixels_int.h"
#include "base/banned.h"

enum { grid_columns = 8, most_axes = 5 };

enum axis { axis_n, axis_c, axis_h, axis_w, axis_t, axes };
static const char axis_letters[] = "NCHWT";

/* A view of the source. An axis that the source does not have has size 1 and step 0. */
struct planes {
    const uint8_t *p;
    size_t element;
    size_t size[axes];
    size_t step[axes];
    sb_pixel_fn *convert;
};

/* letters gives each dimension of the array its axis; it has no letter twice. */
static sb_status open_planes(struct planes *from, const sb_array *a, sb_pixel_rule rule,
                             const char *letters, sb_err *err) {
    *from = (struct planes){.p = a->data, .size = {1, 1, 1, 1, 1}};
    from->element = sb_dtype_size(a->dtype);
    from->convert = sb_pixel_rule_pick(rule, a->dtype);
    if (!from->convert) {
        return sb_fail(err, SB_INVALID, 0, "a picture cannot be made of %s",
                       sb_dtype_name(a->dtype));
    }
    if (a->rank != strlen(letters)) {
        return sb_fail(err, SB_INVALID, 0, "an array of rank %u does not have the axes %s", a->rank,
                       letters);
    }
    sb_status status = sb_pixel_dims_check(a, from->element, false, err);
    if (status != SB_OK) return status;
    size_t step = from->element;
    for (uint32_t i = a->rank; i-- > 0; step *= (size_t)a->dims[i]) {
        size_t axis = (size_t)(strchr(axis_letters, letters[i]) - axis_letters);
        from->size[axis] = (size_t)a->dims[i];
        from->step[axis] = step;
    }
    if (from->size[axis_c] > 4) {
        return sb_fail(err, SB_INVALID, 0, "a picture has 1 to 4 channels, not %zu",
                       from->size[axis_c]);
    }
    return SB_OK;
}

/* The canvas on which rows by columns cells fit exactly. */
static sb_status canvas_of(sb_pixel_shape *shape, const struct planes *from, size_t columns,
                           size_t rows, size_t channels, sb_err *err) {
    size_t width, height;
    if (!sb_mul_size(&width, columns, from->size[axis_w]) ||
        !sb_mul_size(&height, rows, from->size[axis_h]) || width > INT32_MAX ||
        height > INT32_MAX) {
        return sb_fail(err, SB_LIMIT, 0, "a grid of %zu by %zu pictures is too large", columns,
                       rows);
    }
    *shape = (sb_pixel_shape){(uint32_t)width, (uint32_t)height, (uint32_t)channels,
                              (uint32_t)from->size[axis_t]};
    return SB_OK;
}

/* Is the source a single picture whose elements are already in the order of the canvas? The array
 * has no gaps, so rows are contiguous when pixels are. */
static bool is_in_order(const struct planes *from, const sb_pixel_shape *shape) {
    return from->size[axis_n] == 1 && from->size[axis_c] == shape->channels &&
           (shape->channels == 1 || from->step[axis_c] == from->element) &&
           from->step[axis_w] == from->element * shape->channels;
}

/* Copies the cells of one frame to the canvas. A single channel of the source is repeated for all
 * channels of the canvas. */
static void paint_cells(uint8_t *canvas, const sb_pixel_shape *shape, size_t columns,
                        const struct planes *from, size_t t) {
    size_t channels = shape->channels;
    size_t canvas_row = (size_t)shape->width * channels;
    const uint8_t *source = from->p + t * from->step[axis_t];
    if (is_in_order(from, shape)) {
        from->convert(canvas, 1, source, from->element, canvas_row * shape->height);
        return;
    }
    for (size_t n = 0; n < from->size[axis_n]; n++) {
        uint8_t *cell = canvas + n / columns * from->size[axis_h] * canvas_row +
                        n % columns * from->size[axis_w] * channels;
        for (size_t c = 0; c < channels; c++) {
            const uint8_t *plane = source + n * from->step[axis_n];
            if (from->size[axis_c] > 1) plane += c * from->step[axis_c];
            for (size_t y = 0; y < from->size[axis_h]; y++) {
                from->convert(cell + y * canvas_row + c, channels, plane + y * from->step[axis_h],
                              from->step[axis_w], from->size[axis_w]);
            }
        }
    }
}

static sb_status paint_all(sb_buf *out, sb_pixel_shape *shape, const sb_pixel_shape *canvas,
                           size_t columns, const struct planes *from, uint64_t max_pixels,
                           sb_err *err) {
    uint8_t *p = NULL;
    size_t bytes = 0;
    sb_status status = sb_pixel_reserve(out, &p, &bytes, canvas, max_pixels, err);
    if (status != SB_OK) return status;
    memset(p, 0, bytes);
    for (uint32_t t = 0; t < canvas->frames; t++) {
        paint_cells(p + bytes / canvas->frames * t, canvas, columns, from, t);
    }
    out->n += bytes;
    *shape = *canvas;
    return SB_OK;
}

/* Reads the letters of a format in upper case. Each must be an axis of that rank ("HW", "HWC",
 * "HWCN") and none may occur twice, so the format is a permutation of the axes. */
static bool read_format(char letters[most_axes], sb_slice format) {
    if (format.n < 2 || format.n > 4) return false;
    memset(letters, 0, most_axes);
    for (size_t i = 0; i < format.n; i++) {
        char c = (char)(format.p[i] & ~0x20u);
        if (!memchr("HWCN", c, format.n) || strchr(letters, c)) return false;
        letters[i] = c;
    }
    return true;
}

sb_status sb_pixels_torch(sb_buf *out, sb_pixel_shape *shape, const sb_array *image,
                          sb_slice format, uint64_t max_pixels, sb_err *err) {
    char letters[most_axes];
    if (!read_format(letters, format)) {
        return sb_fail(err, SB_INVALID, 0,
                       "the axes of a picture are an order of HW, CHW or NCHW, not \"%.*s\"",
                       SB_SHOWN(format));
    }
    struct planes from;
    sb_status status = open_planes(&from, image, SB_PIXEL_TORCH, letters, err);
    if (status != SB_OK) return status;
    size_t n = from.size[axis_n];
    size_t columns = n < grid_columns ? n : grid_columns;
    size_t channels = from.size[axis_c] == 1 ? 3 : from.size[axis_c];
    sb_pixel_shape canvas;
    status = canvas_of(&canvas, &from, columns, (n + columns - 1) / columns, channels, err);
    if (status != SB_OK) return status;
    return paint_all(out, shape, &canvas, columns, &from, max_pixels, err);
}

static unsigned bit_length(size_t n) {
    unsigned bits = 0;
    for (; n; n >>= 1) bits++;
    return bits;
}

sb_status sb_pixels_torch_video(sb_buf *out, sb_pixel_shape *shape, const sb_array *video,
                                uint64_t max_pixels, sb_err *err) {
    struct planes from;
    sb_status status = open_planes(&from, video, SB_PIXEL_TORCH, "NTCHW", err);
    if (status != SB_OK) return status;
    size_t n = from.size[axis_n];
    unsigned bits = bit_length(n);
    size_t clips = (n & (n - 1)) == 0 ? n : (size_t)1 << bits;
    size_t rows = (size_t)1 << (bits - 1) / 2;
    size_t columns = clips / rows;
    sb_pixel_shape canvas;
    status = canvas_of(&canvas, &from, columns, rows, from.size[axis_c], err);
    if (status != SB_OK) return status;
    return paint_all(out, shape, &canvas, columns, &from, max_pixels, err);
}

sb_status sb_pixels_torch_sprite(sb_buf *out, sb_pixel_shape *shape, const sb_array *labels,
                                 uint64_t max_pixels, sb_err *err) {
    struct planes from;
    sb_status status = open_planes(&from, labels, SB_PIXEL_TORCH_SPRITE, "NCHW", err);
    if (status != SB_OK) return status;
    size_t n = from.size[axis_n];
    size_t columns = 1;
    while (columns * columns < n) columns++;
    size_t channels = from.size[axis_c] == 1 ? 3 : from.size[axis_c];
    sb_pixel_shape canvas;
    status = canvas_of(&canvas, &from, columns, (n + columns - 1) / columns, channels, err);
    if (status != SB_OK) return status;
    if (canvas.height < canvas.width) canvas.height = canvas.width;
    return paint_all(out, shape, &canvas, columns, &from, max_pixels, err);
}
