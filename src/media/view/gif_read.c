/* gif_read.c: a frame of a GIF by giflib, as it stands on the screen after all frames before it.
 *
 * A GIF is a screen and a list of records: pictures, each with a place on the screen, a palette and
 * perhaps a colour that means "leave what is there", and graphic control blocks before them that
 * say for how long, and what becomes of the place afterwards: it stays, is cleared, or is what it
 * was before. */
#include <gif_lib.h>
#include <string.h>

#include "media/view/picture_int.h"
#include "base/banned.h"

typedef struct gif_work {
    GifFileType *gif;
    sb_slice left;
    uint8_t *screen, *before; /* RGBA */
    uint8_t *line;            /* colour numbers */
    size_t screen_bytes;
    uint32_t width, height;
    GraphicsControlBlock control; /* of the next frame */
    sb_err *err;
} gif_work;

static int read_gif_bytes(GifFileType *gif, GifByteType *to, int n) {
    gif_work *w = gif->UserData;
    size_t got = (size_t)n < w->left.n ? (size_t)n : w->left.n;
    memcpy(to, w->left.p, got);
    w->left.p += got;
    w->left.n -= got;
    return (int)got;
}

static sb_status gif_failed(const gif_work *w) {
    const char *text = GifErrorString(w->gif->Error);
    return sb_fail(w->err, SB_CORRUPT, 0, "GIF: %s", text ? text : "the data is damaged");
}

static sb_status open_gif(gif_work *w, sb_slice bytes) {
    int error = 0;
    w->left = bytes;
    w->gif = DGifOpen(w, read_gif_bytes, &error);
    if (w->gif) return SB_OK;
    const char *text = GifErrorString(error);
    return sb_fail(w->err, SB_CORRUPT, 0, "GIF: %s", text ? text : "the header is damaged");
}

static void close_gif(gif_work *w) {
    int error;
    if (w->gif) DGifCloseFile(w->gif, &error);
}

static void forget_control(gif_work *w) {
    w->control = (GraphicsControlBlock){.DisposalMode = DISPOSAL_UNSPECIFIED,
                                        .TransparentColor = NO_TRANSPARENT_COLOR};
}

static sb_status read_extension(gif_work *w) {
    int code;
    GifByteType *bytes;
    if (DGifGetExtension(w->gif, &code, &bytes) == GIF_ERROR) return gif_failed(w);
    while (bytes) {
        if (code == GRAPHICS_EXT_FUNC_CODE) DGifExtensionToGCB(bytes[0], bytes + 1, &w->control);
        if (DGifGetExtensionNext(w->gif, &bytes) == GIF_ERROR) return gif_failed(w);
    }
    return SB_OK;
}

/* The next picture's place, or SB_END. Extensions on the way are read. */
static sb_status next_frame(gif_work *w) {
    for (;;) {
        GifRecordType type;
        if (DGifGetRecordType(w->gif, &type) == GIF_ERROR) return gif_failed(w);
        sb_status status = SB_OK;
        if (type == TERMINATE_RECORD_TYPE) return SB_END;
        if (type == IMAGE_DESC_RECORD_TYPE)
            return DGifGetImageHeader(w->gif) == GIF_ERROR ? gif_failed(w) : SB_OK;
        if (type == EXTENSION_RECORD_TYPE) status = read_extension(w);
        if (status != SB_OK) return status;
    }
}

/* ---- counting -------------------------------------------------------------------------------- */

static sb_status skip_pixels(gif_work *w) {
    int size;
    GifByteType *block;
    if (DGifGetCode(w->gif, &size, &block) == GIF_ERROR) return gif_failed(w);
    while (block)
        if (DGifGetCodeNext(w->gif, &block) == GIF_ERROR) return gif_failed(w);
    return SB_OK;
}

static sb_status count_frames(gif_work *w, uint32_t max, uint16_t *delays, uint32_t *frames) {
    for (*frames = 0; *frames < max;) {
        forget_control(w);
        sb_status status = next_frame(w);
        if (status == SB_END) return SB_OK;
        if (status == SB_OK) status = skip_pixels(w);
        if (status != SB_OK) return *frames ? SB_OK : status; /* what is there can be shown */
        int delay = w->control.DelayTime;
        if (delays)
            delays[*frames] = delay < 0 ? 0 : delay > UINT16_MAX ? UINT16_MAX : (uint16_t)delay;
        ++*frames;
    }
    return SB_OK;
}

sb_status sb_picture_frames(sb_slice bytes, uint32_t max, uint16_t *delays, uint32_t *frames,
                            sb_err *err) {
    *frames = 1;
    if (max && delays) delays[0] = 0;
    if (bytes.n < 6 || memcmp(bytes.p, "GIF8", 4) != 0) return SB_OK;
    gif_work w = {.err = err};
    sb_status status = open_gif(&w, bytes);
    if (status == SB_OK) status = count_frames(&w, max, delays, frames);
    close_gif(&w);
    return status;
}

/* ---- drawing --------------------------------------------------------------------------------- */

static const ColorMapObject *colours_of(const GifFileType *gif) {
    return gif->Image.ColorMap ? gif->Image.ColorMap : gif->SColorMap;
}

static void draw_line(gif_work *w, uint32_t y) {
    const GifImageDesc *at = &w->gif->Image;
    const ColorMapObject *map = colours_of(w->gif);
    for (uint32_t x = 0; x < (uint32_t)at->Width; x++) {
        uint32_t to_x = (uint32_t)at->Left + x, to_y = (uint32_t)at->Top + y;
        int colour = w->line[x];
        if (to_x >= w->width || to_y >= w->height || colour == w->control.TransparentColor)
            continue;
        if (!map || colour >= map->ColorCount) continue;
        uint8_t *p = w->screen + ((size_t)to_y * w->width + to_x) * 4;
        p[0] = map->Colors[colour].Red;
        p[1] = map->Colors[colour].Green;
        p[2] = map->Colors[colour].Blue;
        p[3] = 0xff;
    }
}

/* Rows of an interlaced frame come in four passes. */
static sb_status draw_frame(gif_work *w, const sb_picture_ask *ask) {
    static const uint32_t first[] = {0, 4, 2, 1}, by[] = {8, 8, 4, 2};
    const GifImageDesc *at = &w->gif->Image;
    if (at->Width <= 0 || at->Height <= 0 || at->Width > UINT16_MAX || at->Height > UINT16_MAX ||
        at->Left < 0 || at->Top < 0)
        return sb_fail(w->err, SB_CORRUPT, 0, "GIF: a frame of %d x %d pixels", at->Width,
                       at->Height);
    for (uint32_t pass = 0; pass < (at->Interlace ? 4u : 1u); pass++)
        for (uint32_t y = at->Interlace ? first[pass] : 0; y < (uint32_t)at->Height;
             y += at->Interlace ? by[pass] : 1) {
            if (DGifGetLine(w->gif, w->line, at->Width) == GIF_ERROR) return gif_failed(w);
            draw_line(w, y);
        }
    if (ask->is_over && ask->is_over(ask->ud))
        return sb_fail(w->err, SB_TIMEOUT, 0, "decoding the picture takes too long");
    return SB_OK;
}

static void clear_frame(gif_work *w) {
    const GifImageDesc *at = &w->gif->Image;
    for (uint32_t y = (uint32_t)at->Top; y < w->height && y < (uint32_t)(at->Top + at->Height);
         y++) {
        uint32_t from = (uint32_t)at->Left, to = (uint32_t)(at->Left + at->Width);
        if (to > w->width) to = w->width;
        if (from < to)
            memset(w->screen + ((size_t)y * w->width + from) * 4, 0, (size_t)(to - from) * 4);
    }
}

static sb_status draw_until(gif_work *w, const sb_picture_ask *ask) {
    for (uint32_t i = 0;; i++) {
        forget_control(w);
        sb_status status = next_frame(w);
        if (status == SB_END)
            return sb_fail(w->err, SB_NOT_FOUND, 0, "the picture has %u frames", i);
        if (status != SB_OK) return status;
        bool is_undone = w->control.DisposalMode == DISPOSE_PREVIOUS;
        if (is_undone) memcpy(w->before, w->screen, w->screen_bytes);
        status = draw_frame(w, ask);
        if (status != SB_OK || i == ask->frame) return status;
        if (is_undone) memcpy(w->screen, w->before, w->screen_bytes);
        if (w->control.DisposalMode == DISPOSE_BACKGROUND) clear_frame(w);
    }
}

static sb_status draw_gif(sb_rows *rows, gif_work *w) {
    sb_status status =
        sb_rows_check(rows, (uint64_t)w->gif->SWidth, (uint64_t)w->gif->SHeight, true);
    if (status != SB_OK) return status;
    w->width = (uint32_t)w->gif->SWidth;
    w->height = (uint32_t)w->gif->SHeight;
    w->screen_bytes = (size_t)w->width * w->height * 4;
    w->screen = sb_alloc_zeroed(rows->alloc, w->screen_bytes, 1);
    w->before = sb_alloc_zeroed(rows->alloc, w->screen_bytes, 1);
    w->line = sb_alloc_get(rows->alloc, UINT16_MAX);
    if (!w->screen || !w->before || !w->line)
        return sb_fail_nomem(rows->err, "for the pixels of a GIF");
    status = draw_until(w, rows->ask);
    if (status == SB_OK) status = sb_rows_begin(rows, w->width, w->height);
    for (uint32_t y = 0; status == SB_OK && y < w->height; y++)
        status = sb_rows_add(rows, w->screen + (size_t)y * w->width * 4);
    return status;
}

sb_status sb_gif_rows(sb_rows *rows, sb_slice bytes) {
    gif_work w = {.err = rows->err};
    sb_status status = open_gif(&w, bytes);
    if (status == SB_OK) status = draw_gif(rows, &w);
    close_gif(&w);
    sb_alloc_put(rows->alloc, w.screen, w.screen_bytes);
    sb_alloc_put(rows->alloc, w.before, w.screen_bytes);
    sb_alloc_put(rows->alloc, w.line, UINT16_MAX);
    return status;
}
