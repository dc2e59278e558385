/* summaries.c: summary ops: how they are added, and the Summary messages that they make, as
 * TensorFlow 1 writes them. */
#include <stdio.h>

#include "codec/tensor.h"
#include "media/pixels.h"
#include "media/png.h"
#include "media/wav.h"
#include "seaboard/writer.h"
#include "train/build/build.h"
#include "train/session.h"
#include "writer/kinds/histogram_bins.h"
#include "base/banned.h"

#define DEFAULT_OUTPUTS 3
#define MAX_PIXELS ((uint64_t)1 << 28)
#define MAX_SUMMARY ((size_t)1 << 30)

/* ---- adding ---------------------------------------------------------------------------------- */

bool sb_infer_summary(sb_op *op, const op_spec *spec) {
    (void)spec;
    op->outs = sb_arena_zeroed(&op->net->arena, 1, sizeof *op->outs);
    if (!op->outs) return false;
    op->outs[0].dtype = SB_STRING;
    op->out_count = 1;
    return true;
}

/* The scope of a summary; its name without the slash is the tag. */
static const char *summary_scope(sb_net *g, const char *name, sb_slice *tag) {
    char clean[SB_TAG_MAX > 4096 ? 4096 : SB_TAG_MAX];
    if (!name || !*name || sb_tag_clean(name, clean, sizeof clean) >= sizeof clean || !*clean) {
        sb_net_fail(g, SB_INVALID, "a summary needs a name of less than %zu bytes", sizeof clean);
        return NULL;
    }
    const char *scope = sb_net_scope(g, clean);
    *tag = sb_slice_str(scope);
    if (tag->n) tag->n--;
    return scope;
}

static sb_op *keep_summary(sb_net *g, sb_op *op) {
    if (!op) return NULL;
    sb_op **slot = SB_VEC_PUSH(&g->summaries, NET_ALLOC, MAX_OPS);
    if (!slot) return sb_net_nomem(g);
    *slot = op;
    return op;
}

static bool expect_numbers(sb_net *g, const sb_op *value, const char *name) {
    sb_dtype dtype = sb_op_dtype(value);
    if (dtype == SB_FLOAT || dtype == SB_INT32 || dtype == SB_INT64) return true;
    return sb_net_fail(g, SB_INVALID, "summary '%s': %s is %s; numbers are needed", name,
                       value->name, sb_dtype_name(dtype));
}

/* A summary with a constant tag beside it. */
static sb_op *tagged(sb_net *g, op_id kind, const char *name, const char *tag_name, sb_op *value) {
    sb_slice tag;
    const char *scope = summary_scope(g, name, &tag);
    if (!scope) return NULL;
    sb_op *op = sb_net_op2(g, kind, sb_net_const_text(g, tag, tag_name), value, scope);
    sb_net_scope_end(g);
    return keep_summary(g, op);
}

sb_op *sb_net_scalar_summary(sb_net *g, const char *name, sb_op *value) {
    if (!value || !expect_numbers(g, value, name)) return NULL;
    if (value->outs[0].count != 1)
        return sb_net_fail(g, SB_INVALID, "summary '%s': %s is no single number", name,
                           sb_show_port(port_of(value)).text);
    return tagged(g, OP_SCALAR_SUMMARY, name, "tags", value);
}

sb_op *sb_net_histogram_summary(sb_net *g, const char *name, sb_op *values) {
    if (!values || !expect_numbers(g, values, name)) return NULL;
    return tagged(g, OP_HISTOGRAM_SUMMARY, name, "tag", values);
}

sb_op *sb_net_image_summary(sb_net *g, const char *name, sb_op *pixels, uint32_t max_outputs) {
    sb_slice tag;
    if (!pixels) return NULL;
    const sb_dims *dims = sb_op_dims(pixels);
    int64_t channels = dims->rank == 4 ? dims->at[3] : 0;
    bool is_image = channels == 1 || channels == 3 || channels == 4;
    sb_dtype dtype = sb_op_dtype(pixels);
    if (!is_image || (dtype != SB_FLOAT && dtype != SB_UINT8))
        return sb_net_fail(g, SB_INVALID,
                           "summary '%s': %s must be [images, height, width, 1, 3 or 4] of float32 "
                           "or uint8",
                           name, sb_show_port(port_of(pixels)).text);
    const char *scope = summary_scope(g, name, &tag);
    if (!scope) return NULL;
    const attr most = {
        .name = "max_images", .type = ATTR_INT, .i = max_outputs ? max_outputs : DEFAULT_OUTPUTS};
    sb_op *text = sb_net_const_text(g, tag, "tag");
    const port inputs[] = {port_of(text), port_of(pixels)};
    sb_op *op =
        text ? sb_net_add_op(g, OP_SPEC_ATTRS(OP_IMAGE_SUMMARY, scope, inputs, 2, &most, 1)) : NULL;
    sb_net_scope_end(g);
    return keep_summary(g, op);
}

sb_op *sb_net_audio_summary(sb_net *g, const char *name, sb_op *samples, double sample_rate,
                            uint32_t max_outputs) {
    sb_slice tag;
    if (!samples) return NULL;
    uint32_t rank = sb_op_dims(samples)->rank;
    if (sb_op_dtype(samples) != SB_FLOAT || rank < 2 || rank > 3 || !(sample_rate > 0))
        return sb_net_fail(g, SB_INVALID,
                           "summary '%s': %s must be float32 of [clips, frames] or [clips, frames, "
                           "channels], and the sample rate above 0",
                           name, sb_show_port(port_of(samples)).text);
    const char *scope = summary_scope(g, name, &tag);
    if (!scope) return NULL;
    const attr most = {
        .name = "max_outputs", .type = ATTR_INT, .i = max_outputs ? max_outputs : DEFAULT_OUTPUTS};
    sb_op *rate = sb_net_const_float(g, (float)sample_rate, "sample_rate");
    sb_op *text = sb_net_const_text(g, tag, "tag");
    const port inputs[] = {port_of(text), port_of(samples), port_of(rate)};
    sb_op *op = rate && text
                    ? sb_net_add_op(g, OP_SPEC_ATTRS(OP_AUDIO_SUMMARY, scope, inputs, 3, &most, 1))
                    : NULL;
    sb_net_scope_end(g);
    return keep_summary(g, op);
}

/* SummaryMetadata { plugin_data { plugin_name: "text" } } */
#define TEXT_METADATA SB_LIT("\x0a\x06\x0a\x04text")

sb_op *sb_net_text_summary(sb_net *g, const char *name, sb_op *strings) {
    sb_slice tag;
    if (!strings) return NULL;
    if (sb_op_dtype(strings) != SB_STRING)
        return sb_net_fail(g, SB_INVALID, "summary '%s': %s has no strings", name, strings->name);
    const char *scope = summary_scope(g, name, &tag);
    if (!scope) return NULL;
    sb_op *text = sb_net_const_text(g, tag, "tag");
    sb_op *metadata = sb_net_const_text(g, TEXT_METADATA, "serialized_summary_metadata");
    sb_op *op = sb_net_op3(g, OP_TENSOR_SUMMARY, text, strings, metadata, scope);
    sb_net_scope_end(g);
    return keep_summary(g, op);
}

sb_op *sb_net_merge_all(sb_net *g) {
    if (g->summaries.n == 0 || g->err.code != SB_OK) return NULL;
    port *inputs = sb_arena_zeroed(&g->arena, g->summaries.n, sizeof *inputs);
    if (!inputs) return sb_net_nomem(g);
    for (size_t i = 0; i < g->summaries.n; i++) inputs[i] = port_of(g->summaries.items[i]);
    sb_net_scope(g, "Merge");
    sb_op *op = sb_net_add_op(g, OP_SPEC(OP_MERGE_SUMMARY, NULL, inputs, g->summaries.n));
    sb_net_scope_end(g);
    return op;
}

/* ---- running --------------------------------------------------------------------------------- */

/* The bytes of a summary while it is made, in the session's memory for one run. */
typedef struct maker {
    sb_alloc alloc;
    sb_buf b;
} maker;

static sb_slice tag_of(const op_call *c) {
    return *(const sb_slice *)c->in[0];
}

static void begin(maker *m, const op_call *c) {
    m->alloc = sb_arena_alloc(&c->session->run_arena);
    sb_buf_init(&m->b, &m->alloc, MAX_SUMMARY);
}

static sb_status finish(maker *m, const op_call *c, sb_err *err) {
    *(sb_slice *)c->out[0] = sb_buf_slice(&m->b);
    return sb_buf_check(&m->b, c->op->name, err);
}

static sb_array input_array(const op_call *c, size_t i) {
    const op_out *o = input_of(c->op, i);
    return (sb_array){
        .data = c->in[i], .dtype = o->dtype, .rank = o->dims.rank, .dims = o->dims.at};
}

/* The numbers as histogram_bins.h wants them. */
static sb_tensor_view view_of(const op_call *c, size_t i) {
    const op_out *o = input_of(c->op, i);
    sb_tensor_view view = {.dtype = o->dtype, .rank = 1, .shape_given = true, .count = o->count};
    view.dims[0] = (int64_t)o->count;
    view.content = sb_slice_of(c->in[i], o->count * sb_dtype_size(o->dtype));
    return view;
}

static double scalar_of(const op_call *c, size_t i) {
    switch (input_of(c->op, i)->dtype) {
    case SB_INT32:
        return *(const int32_t *)c->in[i];
    case SB_INT64:
        return (double)*(const int64_t *)c->in[i];
    default:
        return (double)*(const float *)c->in[i];
    }
}

sb_status sb_run_scalar_summary(const op_call *c, sb_err *err) {
    maker m;
    begin(&m, c);
    size_t value = sb_pb_begin(&m.b, SB_SUMMARY_VALUE, tag_of(c).n + 7);
    sb_pb_add_bytes_nz(&m.b, SB_VALUE_TAG, tag_of(c));
    sb_pb_add_float(&m.b, SB_VALUE_SIMPLE_VALUE, (float)scalar_of(c, 1));
    sb_pb_end(&m.b, value);
    return finish(&m, c, err);
}

sb_status sb_run_histogram_summary(const op_call *c, sb_err *err) {
    maker m;
    sb_buckets h;
    size_t bad;
    sb_tensor_view values = view_of(c, 1);
    begin(&m, c);
    if (sb_bins_tf1(&values, &c->session->run_arena, &h, &bad) != SB_OK)
        return sb_fail_nomem(err, "for a histogram");
    if (bad < values.count)
        return sb_fail(err, SB_INVALID, 0,
                       "%s: value %zu of %s is NaN or infinite; nan in summary histogram for: %.*s",
                       c->op->name, bad, c->op->inputs[1].op->name, SB_SHOWN(tag_of(c)));
    size_t value = sb_pb_begin(&m.b, SB_SUMMARY_VALUE, h.n * 16 + tag_of(c).n + 60);
    sb_pb_add_bytes_nz(&m.b, SB_VALUE_TAG, tag_of(c));
    size_t histo = sb_pb_begin(&m.b, SB_VALUE_HISTO, h.n * 16 + 51);
    sb_pb_add_double_nz(&m.b, SB_HISTOGRAM_MIN, h.min);
    sb_pb_add_double_nz(&m.b, SB_HISTOGRAM_MAX, h.max);
    sb_pb_add_double_nz(&m.b, SB_HISTOGRAM_NUM, h.num);
    sb_pb_add_double_nz(&m.b, SB_HISTOGRAM_SUM, h.sum);
    sb_pb_add_double_nz(&m.b, SB_HISTOGRAM_SUM_SQUARES, h.sum_squares);
    sb_pb_add_packed_doubles(&m.b, SB_HISTOGRAM_BUCKET_LIMIT, h.limits, h.n);
    sb_pb_add_packed_doubles(&m.b, SB_HISTOGRAM_BUCKET, h.counts, h.n);
    sb_pb_end(&m.b, histo);
    sb_pb_end(&m.b, value);
    return finish(&m, c, err);
}

/* TAG/kind/i, or TAG/kind when only one was asked for. */
static size_t begin_numbered(maker *m, const op_call *c, const char *kind, int64_t most, size_t i,
                             size_t expected) {
    char number[32] = "";
    sb_slice tag = tag_of(c);
    if (most > 1) snprintf(number, sizeof number, "/%zu", i);
    size_t value = sb_pb_begin(&m->b, SB_SUMMARY_VALUE, expected + tag.n + 40);
    size_t text = sb_pb_begin(&m->b, SB_VALUE_TAG, tag.n + strlen(kind) + 3);
    sb_buf_add_slice(&m->b, tag);
    sb_buf_add_str(&m->b, kind);
    sb_buf_add_str(&m->b, number);
    sb_pb_end(&m->b, text);
    return value;
}

sb_status sb_run_image_summary(const op_call *c, sb_err *err) {
    maker m;
    sb_buf pixels;
    sb_pixel_shape shape;
    sb_png_encoder png;
    int64_t most = sb_op_int(c->op, "max_images");
    sb_array images = input_array(c, 1);
    begin(&m, c);
    sb_buf_init(&pixels, &m.alloc, MAX_SUMMARY);
    sb_status status = sb_pixels_tf1(&pixels, &shape, &images, (uint32_t)most, MAX_PIXELS, err);
    if (status != SB_OK) return status;
    sb_png_encoder_init(&png, NET_ALLOC, MAX_PIXELS);
    size_t each = (size_t)shape.width * shape.height * shape.channels;
    for (size_t i = 0; i < shape.frames && status == SB_OK; i++) {
        size_t value = begin_numbered(&m, c, "/image", most, i, each / 2);
        size_t image = sb_pb_begin(&m.b, SB_VALUE_IMAGE, each / 2);
        sb_pb_add_int_nz(&m.b, SB_IMAGE_HEIGHT, shape.height);
        sb_pb_add_int_nz(&m.b, SB_IMAGE_WIDTH, shape.width);
        sb_pb_add_int_nz(&m.b, SB_IMAGE_COLORSPACE, shape.channels);
        size_t file = sb_pb_begin(&m.b, SB_IMAGE_ENCODED_IMAGE_STRING, each / 2);
        status = sb_png_encode(&m.b, &png, pixels.p + i * each, shape.width, shape.height,
                               shape.channels, err);
        sb_pb_end(&m.b, file);
        sb_pb_end(&m.b, image);
        sb_pb_end(&m.b, value);
    }
    sb_png_encoder_fini(&png);
    return status == SB_OK ? finish(&m, c, err) : status;
}

sb_status sb_run_audio_summary(const op_call *c, sb_err *err) {
    maker m;
    const sb_dims *dims = &input_of(c->op, 1)->dims;
    int64_t most = sb_op_int(c->op, "max_outputs"), clips = dims->at[0];
    const int64_t form[] = {dims->at[1], dims->rank > 2 ? dims->at[2] : 1};
    float rate = *(const float *)c->in[2];
    size_t each = (size_t)(form[0] * form[1]);
    sb_status status = SB_OK;
    begin(&m, c);
    for (int64_t i = 0; i < clips && i < most && status == SB_OK; i++) {
        const sb_array clip = {.data = (const float *)c->in[1] + (size_t)i * each,
                               .dtype = SB_FLOAT,
                               .rank = 2,
                               .dims = form};
        size_t value = begin_numbered(&m, c, "/audio", most, (size_t)i, each * 2);
        size_t audio = sb_pb_begin(&m.b, SB_VALUE_AUDIO, each * 2 + 80);
        sb_pb_add_float(&m.b, SB_AUDIO_SAMPLE_RATE, rate);
        sb_pb_add_int_nz(&m.b, SB_AUDIO_NUM_CHANNELS, form[1]);
        sb_pb_add_int_nz(&m.b, SB_AUDIO_LENGTH_FRAMES, form[0]);
        size_t file = sb_pb_begin(&m.b, SB_AUDIO_ENCODED_AUDIO_STRING, each * 2 + 44);
        status = sb_wav_encode(&m.b, &clip, SB_WAV_TF, (uint32_t)rate, err);
        sb_pb_end(&m.b, file);
        sb_pb_add_bytes(&m.b, SB_AUDIO_CONTENT_TYPE, SB_LIT("audio/wav"));
        sb_pb_end(&m.b, audio);
        sb_pb_end(&m.b, value);
    }
    return status == SB_OK ? finish(&m, c, err) : status;
}

sb_status sb_run_tensor_summary(const op_call *c, sb_err *err) {
    maker m;
    sb_array tensor = input_array(c, 1);
    begin(&m, c);
    size_t value = sb_pb_begin(&m.b, SB_SUMMARY_VALUE, 200);
    sb_pb_add_bytes_nz(&m.b, SB_VALUE_TAG, tag_of(c));
    sb_status status = sb_tensor_add(&m.b, SB_VALUE_TENSOR, &tensor, SB_TENSOR_CONTENT);
    sb_pb_add_bytes(&m.b, SB_VALUE_METADATA, *(const sb_slice *)c->in[2]);
    sb_pb_end(&m.b, value);
    if (status != SB_OK)
        return sb_fail(err, status, 0, "%s: the tensor cannot be stored", c->op->name);
    return finish(&m, c, err);
}

sb_status sb_run_merge_summary(const op_call *c, sb_err *err) {
    maker m;
    begin(&m, c);
    for (uint32_t i = 0; i < c->op->input_count; i++)
        sb_buf_add_slice(&m.b, *(const sb_slice *)c->in[i]);
    return finish(&m, c, err);
}
