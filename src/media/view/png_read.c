/* png_read.c: rows of a PNG by libpng. Every depth and colour type becomes 8-bit RGBA. libpng
 * leaves by longjmp when the data is damaged, so all that must be freed is in one struct. */
#include <png.h>
#include <setjmp.h>
#include <string.h>

#include "media/view/picture_int.h"
#include "base/banned.h"

#define MOST_CHUNK ((png_alloc_size_t)8 << 20)
#define MOST_CHUNKS 1000

typedef struct png_work {
    sb_rows *rows;
    sb_slice left;
    png_structp png;
    png_infop info;
    uint8_t *pixels; /* one row, or all of an interlaced picture */
    size_t pixel_bytes;
    sb_status status;
} png_work;

static void read_png_bytes(png_structp png, png_bytep to, size_t n) {
    png_work *w = png_get_io_ptr(png);
    if (n > w->left.n) png_error(png, "the data ends too early");
    memcpy(to, w->left.p, n);
    w->left.p += n;
    w->left.n -= n;
}

static void on_error(png_structp png, png_const_charp text) {
    png_work *w = png_get_error_ptr(png);
    if (w->status == SB_OK && w->rows->height)
        w->status = sb_fail(w->rows->err, SB_CORRUPT, 0, "PNG, after %u of %u rows: %s",
                            w->rows->next, w->rows->height, text);
    else if (w->status == SB_OK)
        w->status = sb_fail(w->rows->err, SB_CORRUPT, 0, "PNG: %s", text);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text) {
    (void)png;
    (void)text;
}

/* Ends the decoding with a status of our own. */
static void need(png_work *w, sb_status status) {
    w->status = status;
    if (status != SB_OK) png_longjmp(w->png, 1);
}

static void ask_for_rgba(const png_work *w) {
    png_set_expand(w->png);
    png_set_scale_16(w->png);
    png_set_gray_to_rgb(w->png);
    png_set_add_alpha(w->png, 0xff, PNG_FILLER_AFTER);
}

static uint8_t *get_pixels(png_work *w, size_t bytes) {
    w->pixels = sb_alloc_get(w->rows->alloc, bytes);
    w->pixel_bytes = bytes;
    if (!w->pixels) need(w, sb_fail_nomem(w->rows->err, "for the pixels of a PNG"));
    return w->pixels;
}

static void read_interlaced(png_work *w, uint32_t width, uint32_t height, int passes) {
    size_t row = (size_t)width * 4;
    uint8_t *all = get_pixels(w, row * height);
    memset(all, 0, row * height);
    for (int pass = 0; pass < passes; pass++)
        for (uint32_t y = 0; y < height; y++) png_read_row(w->png, all + row * y, NULL);
    for (uint32_t y = 0; y < height; y++) need(w, sb_rows_add(w->rows, all + row * y));
}

static void read_png(png_work *w) {
    png_read_info(w->png, w->info);
    uint32_t width = png_get_image_width(w->png, w->info),
             height = png_get_image_height(w->png, w->info);
    bool is_interlaced = png_get_interlace_type(w->png, w->info) != PNG_INTERLACE_NONE;
    need(w, sb_rows_check(w->rows, width, height, is_interlaced));
    ask_for_rgba(w);
    int passes = png_set_interlace_handling(w->png);
    png_read_update_info(w->png, w->info);
    if (png_get_rowbytes(w->png, w->info) != (size_t)width * 4)
        need(w, sb_fail(w->rows->err, SB_CORRUPT, 0, "PNG: a row of %zu bytes for %u pixels",
                        png_get_rowbytes(w->png, w->info), width));
    need(w, sb_rows_begin(w->rows, width, height));
    if (is_interlaced) {
        read_interlaced(w, width, height, passes);
        return;
    }
    uint8_t *row = get_pixels(w, (size_t)width * 4);
    for (uint32_t y = 0; y < height; y++) {
        png_read_row(w->png, row, NULL);
        need(w, sb_rows_add(w->rows, row));
    }
}

sb_status sb_png_rows(sb_rows *rows, sb_slice bytes) {
    png_work w = {.rows = rows, .left = bytes};
    w.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &w, on_error, on_warning);
    if (w.png) w.info = png_create_info_struct(w.png);
    if (!w.info) {
        png_destroy_read_struct(&w.png, NULL, NULL);
        return sb_fail_nomem(rows->err, "for a PNG");
    }
    png_set_read_fn(w.png, &w, read_png_bytes);
    png_set_user_limits(w.png, INT32_MAX, INT32_MAX);
    png_set_chunk_malloc_max(w.png, MOST_CHUNK);
    png_set_chunk_cache_max(w.png, MOST_CHUNKS);
    if (setjmp(png_jmpbuf(w.png)) == 0) read_png(&w);
    png_destroy_read_struct(&w.png, &w.info, NULL);
    sb_alloc_put(rows->alloc, w.pixels, w.pixel_bytes);
    return w.status;
}
