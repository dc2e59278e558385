/* video.c: clips as one animated GIF, which stands where a picture would.
 *
 * In:  [N, T, C, H, W] or another order of these letters; the N clips are tiled into one picture.
 * Out: torch, TBX  an Image value (TBX: tag cleaned) | TF1 the same, tag TAG/image
 *      TF2  a string tensor: width, height, the GIF; plugin "images" */
#include <math.h>

#include "base/slice.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "media/gif.h"
#include "media/pixels.h"
#include "writer/kinds/axes.h"
#include "writer/kinds/image_values.h"
#include "writer/kinds/kinds.h"

#include "base/banned.h"

#define DEFAULT_FPS 4.0
#define MAX_PIXELS ((uint64_t)1 << 30)
#define GIF_MAX_SIDE 65535

typedef struct params {
    double fps;
    char letters[SB_AXES_MAX + 1];
    sb_shape shape;
} params;

static bool is_usable(sb_dtype dtype) {
    return (dtype >= SB_FLOAT && dtype <= SB_INT8) || dtype == SB_INT64 || dtype == SB_BOOL ||
           dtype == SB_BFLOAT16 || dtype == SB_UINT16 || dtype == SB_HALF || dtype == SB_UINT32 ||
           dtype == SB_UINT64;
}

sb_status sb_video(sb_writer *w, const char *tag, const sb_array *frames, double fps, int64_t step,
                   const char *layout, const sb_meta *meta) {
    sb_call call;
    sb_status status = sb_call_begin(w, &call, SB_CALL_VIDEO, tag, true, step, meta);
    if (status != SB_OK) return status;
    params p = {.fps = fps == 0 ? DEFAULT_FPS : fps};
    sb_piece elements;
    status = sb_take_array(w, "video", frames, false, &p.shape, &elements);
    if (status != SB_OK) return status;
    if (!(fps >= 0) || !isfinite(fps))
        return sb_call_refuse(w, SB_INVALID, "video: %g is no number of frames a second", fps);
    if (!sb_axes_read(p.letters, layout ? layout : "NTCHW", p.shape.rank, "NTCHW"))
        return sb_call_refuse(
            w, SB_INVALID,
            "video: the layout %s does not name the dimensions of an array of rank "
            "%u; use the letters N, T, C, H, W, each once, H and W among them",
            layout ? layout : "NTCHW", p.shape.rank);
    for (uint32_t i = 0; i < p.shape.rank; i++) {
        int64_t size = p.shape.dims[i];
        if (size == 0)
            return sb_call_refuse(w, SB_INVALID, "video: dimension %c is 0, so there are no pixels",
                                  p.letters[i]);
        if (p.letters[i] == 'C' && size > 4)
            return sb_call_refuse(w, SB_INVALID, "video: %lld channels; there are 1 to 4",
                                  (long long)size);
        if ((p.letters[i] == 'H' || p.letters[i] == 'W') && size > GIF_MAX_SIDE)
            return sb_call_refuse(w, SB_LIMIT, "video: a side of %lld is too long for a GIF",
                                  (long long)size);
    }
    if (!is_usable(frames->dtype))
        return sb_call_refuse(w, SB_INVALID, "video: no pictures from %s; give uint8 or float32",
                              sb_dtype_name(frames->dtype));
    call.params = SB_PARAMS_SLICE(&p);
    return sb_call_put(w, &call, &elements, 1);
}

/* ---- encoding -------------------------------------------------------------------------------- */

static sb_status add_gif_value(sb_encoder *e, const sb_call *call, sb_buf *event,
                               const uint8_t *pixels, const sb_pixel_shape *shape, double fps,
                               sb_err *err) {
    size_t guess = (size_t)shape->width * shape->height * shape->frames / 2 + 1024;
    sb_status status;
    if (e->style == SB_STYLE_TF2) {
        sb_tensor_frame f =
            sb_image_tensor_begin(event, call, shape->width, shape->height, 1, guess);
        size_t file = sb_pb_begin(event, SB_TENSOR_STRING_VAL, guess);
        status = sb_gif_encode(event, pixels, shape, fps, e->env->alloc, err);
        sb_pb_end(event, file);
        sb_image_tensor_end(e, event, call, f);
        return status;
    }
    sb_slice tag = e->style == SB_STYLE_TF1 ? sb_numbered_tag(e, call->tag, "image", true, 0)
                                            : sb_style_tag(e, call->tag);
    if (!tag.p) return sb_encode_nomem(err, call);
    sb_event_head(event, call);
    size_t summary = sb_pb_begin(event, SB_EVENT_SUMMARY, guess + tag.n + 32);
    sb_image_frame f = sb_image_begin(event, tag, shape, guess);
    status = sb_gif_encode(event, pixels, shape, fps, e->env->alloc, err);
    sb_image_end(e, event, call, tag, f);
    sb_pb_end(event, summary);
    return status;
}

sb_status sb_encode_video(sb_encoder *e, const sb_call *call, sb_buf *event, sb_err *err) {
    const params *p = (const void *)call->params.p;
    sb_array array = sb_shape_array(&p->shape, call->data.p), ordered;
    int64_t dims[SB_AXES_MAX];
    sb_pixel_shape shape;
    sb_buf pixels;
    if (sb_axes_order(&e->scratch, &array, sb_dtype_size(array.dtype), p->letters, "NTCHW", dims,
                      &ordered) != SB_OK)
        return sb_encode_nomem(err, call);
    sb_buf_init(&pixels, e->env->alloc, SIZE_MAX);
    sb_status status = sb_pixels_torch_video(&pixels, &shape, &ordered, MAX_PIXELS, err);
    if (status == SB_OK) status = add_gif_value(e, call, event, pixels.p, &shape, p->fps, err);
    sb_buf_fini(&pixels);
    return status;
}
