/* jpeg_read.c: rows of a JPEG by libjpeg-turbo, which scales by eighths itself, at a fraction of
 * the cost. A picture that ends too early is grey below: libjpeg's way, and what browsers show. It
 * leaves by longjmp when there is nothing to show. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#include "media/view/picture_int.h"
#include "base/banned.h"

#define MOST_SCANS 256 /* of a progressive JPEG; each costs a pass over the whole picture */

typedef struct jpeg_work {
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    struct jpeg_decompress_struct jpeg;
    jmp_buf leave;
    sb_rows *rows;
    uint8_t *row;
    size_t row_bytes;
    sb_status status;
} jpeg_work;

static jpeg_work *work_of(j_common_ptr jpeg) {
    return jpeg->client_data;
}

static void on_error(j_common_ptr jpeg) {
    jpeg_work *w = work_of(jpeg);
    char text[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, text);
    if (w->status == SB_OK) w->status = sb_fail(w->rows->err, SB_CORRUPT, 0, "JPEG: %s", text);
    longjmp(w->leave, 1);
}

static void on_message(j_common_ptr jpeg, int level) {
    if (level < 0) jpeg->err->num_warnings++;
}

static void need(jpeg_work *w, sb_status status) {
    w->status = status;
    if (status != SB_OK) longjmp(w->leave, 1);
}

static void on_progress(j_common_ptr jpeg) {
    jpeg_work *w = work_of(jpeg);
    const sb_picture_ask *ask = w->rows->ask;
    if (w->jpeg.input_scan_number > MOST_SCANS)
        need(w, sb_fail(w->rows->err, SB_LIMIT, 0, "JPEG: more than %d scans", MOST_SCANS));
    if (ask->is_over && ask->is_over(ask->ud))
        need(w, sb_fail(w->rows->err, SB_TIMEOUT, 0, "decoding the picture takes too long"));
}

/* The smallest of libjpeg's sizes that is not below the one that is wanted. */
static void choose_scale(struct jpeg_decompress_struct *jpeg, const sb_picture_ask *ask) {
    uint32_t width, height;
    sb_rows_fit(ask, jpeg->image_width, jpeg->image_height, &width, &height);
    jpeg->scale_denom = 8;
    for (jpeg->scale_num = 1; jpeg->scale_num < 8; jpeg->scale_num *= 2) {
        jpeg_calc_output_dimensions(jpeg);
        if (jpeg->output_width >= width && jpeg->output_height >= height) return;
    }
}

static void read_jpeg(jpeg_work *w, sb_slice bytes) {
    struct jpeg_decompress_struct *jpeg = &w->jpeg;
    jpeg_create_decompress(jpeg);
    jpeg->client_data = w;
    jpeg->progress = &w->progress;
    jpeg_mem_src(jpeg, bytes.p, (unsigned long)bytes.n);
    jpeg_read_header(jpeg, TRUE);
    need(w, sb_rows_check(w->rows, jpeg->image_width, jpeg->image_height,
                          jpeg_has_multiple_scans(jpeg)));
    if (jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK)
        need(w, sb_fail(w->rows->err, SB_NOT_FOUND, 0,
                        "JPEG: colours for printing (CMYK) are not decoded here"));
    jpeg->out_color_space = JCS_EXT_RGBA;
    choose_scale(jpeg, w->rows->ask);
    jpeg_start_decompress(jpeg);
    need(w, sb_rows_begin(w->rows, jpeg->output_width, jpeg->output_height));
    w->row_bytes = (size_t)jpeg->output_width * 4;
    w->row = sb_alloc_get(w->rows->alloc, w->row_bytes);
    if (!w->row) need(w, sb_fail_nomem(w->rows->err, "for a row of a JPEG"));
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW row = w->row;
        jpeg_read_scanlines(jpeg, &row, 1);
        need(w, sb_rows_add(w->rows, w->row));
    }
}

sb_status sb_jpeg_rows(sb_rows *rows, sb_slice bytes) {
    jpeg_work w = {.rows = rows};
    w.jpeg.err = jpeg_std_error(&w.errors);
    w.jpeg.client_data = &w;
    w.errors.error_exit = on_error;
    w.errors.emit_message = on_message;
    w.progress.progress_monitor = on_progress;
    if (setjmp(w.leave) == 0) read_jpeg(&w, bytes);
    jpeg_destroy_decompress(&w.jpeg);
    sb_alloc_put(rows->alloc, w.row, w.row_bytes);
    return w.status;
}
