/* gif.c: drives giflib's low-level writer.
 *
 *   "GIF89a" | width u16, height u16, flags | global colours, when all frames share 256
 *   21 ff 0b "NETSCAPE2.0" 03 01 00 00 00                       repeat without end
 *   for each frame:
 *     21 f9 04 flags, delay u16 in hundredths, 0, 00            what to do after the frame
 *     2c left, top, width, height u16, flags | local colours, when not shared | LZW blocks
 *   3b
 *
 * giflib takes its own memory from the C library; ours is one palette and one row of numbers. */
#include "media/gif.h"

#include <gif_lib.h>
#include <math.h>

#include "media/palette.h"
#include "base/banned.h"

enum { gif_max_side = UINT16_MAX, gif_min_delay = 2, gif_max_delay = UINT16_MAX };

struct work {
    sb_buf *out;
    const uint8_t *frames;
    const sb_pixel_shape *shape;
    double fps;
    sb_palette *palette;
    uint8_t *row; /* one row of palette indices */
    bool shared;  /* one palette for all frames */
};

static int write_bytes(GifFileType *gif, const GifByteType *p, int n) {
    struct work *w = gif->UserData;
    sb_buf_add(w->out, p, (size_t)n);
    return w->out->failed == SB_OK ? n : 0;
}

/* giflib needs a power of two colours; unused entries are black. NULL when out of memory. */
static ColorMapObject *map_of(const sb_palette *palette) {
    int n = 2;
    while ((uint32_t)n < palette->n) n *= 2;
    ColorMapObject *map = GifMakeMapObject(n, NULL);
    if (!map) return NULL;
    for (uint32_t i = 0; i < palette->n; i++) {
        map->Colors[i].Red = (GifByteType)(palette->colour[i] >> 16);
        map->Colors[i].Green = (GifByteType)(palette->colour[i] >> 8);
        map->Colors[i].Blue = (GifByteType)palette->colour[i];
    }
    return map;
}

/* The time at which frame i begins, in hundredths of a second. */
static double frame_begins(double i, double fps) {
    return round(i * 100.0 / fps);
}

static int delay_of(uint32_t i, double fps) {
    if (100.0 / fps >= gif_max_delay) return gif_max_delay;
    double delay = frame_begins((double)i + 1, fps) - frame_begins(i, fps);
    if (!(delay > gif_min_delay)) return gif_min_delay;
    return (int)delay;
}

static int put_head(GifFileType *gif, const struct work *w) {
    EGifSetGifVersion(gif, true);
    ColorMapObject *map = NULL;
    if (w->shared && !(map = map_of(w->palette))) return GIF_ERROR;
    int ok = EGifPutScreenDesc(gif, (int)w->shape->width, (int)w->shape->height, 8, 0, map);
    GifFreeMapObject(map);
    static const GifByteType repeat_for_ever[3] = {1, 0, 0};
    if (ok == GIF_OK) ok = EGifPutExtensionLeader(gif, APPLICATION_EXT_FUNC_CODE);
    if (ok == GIF_OK) ok = EGifPutExtensionBlock(gif, 11, "NETSCAPE2.0");
    if (ok == GIF_OK) ok = EGifPutExtensionBlock(gif, 3, repeat_for_ever);
    if (ok == GIF_OK) ok = EGifPutExtensionTrailer(gif);
    return ok;
}

static int put_frame(GifFileType *gif, const struct work *w, uint32_t number) {
    size_t channels = w->shape->channels;
    size_t width = w->shape->width;
    size_t count = width * w->shape->height;
    const uint8_t *pixels = w->frames + number * count * channels;
    ColorMapObject *map = NULL;
    if (!w->shared) {
        sb_palette_clear(w->palette);
        if (!sb_palette_collect(w->palette, pixels, count, channels)) {
            sb_palette_cut(w->palette, pixels, count, channels);
        }
        if (!(map = map_of(w->palette))) return GIF_ERROR;
    }
    GraphicsControlBlock control = {.DisposalMode = DISPOSE_DO_NOT,
                                    .DelayTime = delay_of(number, w->fps),
                                    .TransparentColor = NO_TRANSPARENT_COLOR};
    GifByteType bytes[4];
    EGifGCBToExtension(&control, bytes);
    int ok = EGifPutExtension(gif, GRAPHICS_EXT_FUNC_CODE, sizeof bytes, bytes);
    if (ok == GIF_OK) {
        ok = EGifPutImageDesc(gif, 0, 0, (int)width, (int)w->shape->height, false, map);
    }
    GifFreeMapObject(map);
    for (uint32_t y = 0; ok == GIF_OK && y < w->shape->height; y++) {
        sb_palette_apply(w->palette, w->row, pixels + y * width * channels, width, channels);
        ok = EGifPutLine(gif, w->row, (int)width);
    }
    return ok;
}

static sb_status put_all(struct work *w, sb_err *err) {
    size_t count = (size_t)w->shape->width * w->shape->height * w->shape->frames;
    sb_palette_clear(w->palette);
    w->shared = sb_palette_collect(w->palette, w->frames, count, w->shape->channels);
    int code = 0;
    GifFileType *gif = EGifOpen(w, write_bytes, &code);
    if (!gif) return sb_fail_nomem(err, "for a GIF picture");
    int ok = put_head(gif, w);
    for (uint32_t i = 0; ok == GIF_OK && i < w->shape->frames; i++) ok = put_frame(gif, w, i);
    if (EGifCloseFile(gif, &code) != GIF_OK) ok = GIF_ERROR;
    /* giflib does not check every write, so the failure of `out` is checked here in any case */
    if (w->out->failed != SB_OK) return sb_buf_check(w->out, "a GIF picture", err);
    return ok == GIF_OK ? SB_OK : sb_fail_nomem(err, "for a GIF picture");
}

sb_status sb_gif_encode(sb_buf *out, const uint8_t *frames, const sb_pixel_shape *shape, double fps,
                        const sb_alloc *scratch, sb_err *err) {
    if (shape->width == 0 || shape->height == 0 || shape->frames == 0 || shape->channels < 1 ||
        shape->channels > 4) {
        return sb_fail(err, SB_INVALID, 0, "%u GIF frames of %u by %u with %u channels",
                       shape->frames, shape->width, shape->height, shape->channels);
    }
    if (shape->width > gif_max_side || shape->height > gif_max_side) {
        return sb_fail(err, SB_LIMIT, 0, "a GIF frame of %u by %u: a side has at most 65535 pixels",
                       shape->width, shape->height);
    }
    if (!(fps > 0.0) || !isfinite(fps)) {
        return sb_fail(err, SB_INVALID, 0, "%g frames a second", fps);
    }
    struct work w = {.out = out, .frames = frames, .shape = shape, .fps = fps};
    size_t before = out->n;
    sb_status status = SB_OK;
    w.palette = sb_alloc_get(scratch, sizeof *w.palette);
    w.row = sb_alloc_get(scratch, shape->width);
    if (!w.palette || !w.row) {
        status = sb_fail_nomem(err, "for a GIF picture");
    } else {
        status = put_all(&w, err);
    }
    sb_alloc_put(scratch, w.palette, sizeof *w.palette);
    sb_alloc_put(scratch, w.row, shape->width);
    if (status != SB_OK) out->n = before;
    return status;
}
