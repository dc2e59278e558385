/* mesh.c: meshes and point clouds: vertices, and faces and colours where given.
 *
 * Out: a tensor [batch, points, 3] a part with plugin "mesh", content
 *      2 name 3 part 5 config (JSON) 6 shape 7 parts that exist, as bits
 *      TF2    an event a part; float32, int32, uint8 in tensor_content; TAG_VERTEX, _FACE, _COLOR
 *      TF1    one event; the same; display name TAG unless given
 *      torch  one event; all float32 in float_val; the same tags
 *      TBX    as torch, but tags TAG_1, _2, _3, config "null" when there is none, no bits */
#include "base/checked.h"
#include "base/slice.h"
#include "codec/plugin.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "writer/kinds/kinds.h"

#include "base/banned.h"

#define MAX_CONFIG ((size_t)16 << 20)
#define PARTS 3

/* The parts in the order of their content types, which is the order of writing. */
enum { VERTEX, FACE, COLOR };

typedef struct part {
    uint32_t is_there;
    uint32_t dtype;
    int64_t dims[3];
} part;

typedef struct params {
    part parts[PARTS];
    uint32_t written; /* bit i: part i is written by this call */
    uint32_t has_config;
    uint64_t config_n; /* data: config, then the written parts' elements, one behind the other */
} params;

/* ---- the caller's side ----------------------------------------------------------------------- */

static sb_status take_part(sb_writer *w, const char *what, const sb_array *array, part *out,
                           sb_piece *elements) {
    sb_shape shape;
    *elements = (sb_piece){.n = 0};
    if (!array) return SB_OK;
    sb_status status = sb_take_array(w, what, array, false, &shape, elements);
    if (status != SB_OK) return status;
    if (shape.rank != 3 || shape.dims[2] != 3)
        return sb_call_refuse(w, SB_INVALID, "%s: the shape must be [batch, n, 3]", what);
    for (int i = 0; i < 3; i++)
        if (shape.dims[i] > INT32_MAX)
            return sb_call_refuse(w, SB_LIMIT, "%s: dimension %d is over 2147483647", what, i);
    out->is_there = 1;
    out->dtype = shape.dtype;
    memcpy(out->dims, shape.dims, sizeof out->dims);
    return SB_OK;
}

static sb_status put_parts(sb_writer *w, sb_call *call, params *p, uint32_t written,
                           sb_slice config, const sb_piece elements[PARTS]) {
    sb_piece pieces[PARTS + 1] = {sb_piece_of(config)};
    size_t count = 1;
    p->written = written;
    for (int i = 0; i < PARTS; i++)
        if (written & 1u << i) pieces[count++] = elements[i];
    call->params = sb_slice_of(p, sizeof *p);
    return sb_call_put(w, call, pieces, count);
}

sb_status sb_mesh(sb_writer *w, const char *tag, const sb_array *vertices, const sb_array *colors,
                  const sb_array *faces, const char *config, int64_t step, const sb_meta *meta) {
    sb_call call;
    sb_status status = sb_call_begin(w, &call, SB_CALL_MESH, tag, true, step, meta);
    if (status != SB_OK) return status;
    params p = {.has_config = config != NULL};
    sb_slice json;
    sb_piece elements[PARTS];
    if (!vertices) return sb_call_refuse(w, SB_INVALID, "mesh: the vertices are missing");
    status = take_part(w, "mesh vertices", vertices, &p.parts[VERTEX], &elements[VERTEX]);
    if (status == SB_OK)
        status = take_part(w, "mesh faces", faces, &p.parts[FACE], &elements[FACE]);
    if (status == SB_OK)
        status = take_part(w, "mesh colors", colors, &p.parts[COLOR], &elements[COLOR]);
    if (status == SB_OK)
        status = sb_take_text(w, "mesh: the config", config, true, MAX_CONFIG, &json);
    if (status != SB_OK) return status;
    p.config_n = json.n;
    if (sb_writer_style(w) != SB_STYLE_TF2) return put_parts(w, &call, &p, 7, json, elements);
    for (int i = 0; status == SB_OK && i < PARTS; i++)
        if (p.parts[i].is_there) status = put_parts(w, &call, &p, 1u << i, json, elements);
    return status;
}

/* ---- encoding -------------------------------------------------------------------------------- */

static uint8_t to_byte(double x) {
    return x > 0 ? (x < 255 ? (uint8_t)x : 255) : 0; /* NaN is 0 */
}

static int32_t to_int32(double x) {
    if (!(x > -2147483649.0)) return x <= -2147483649.0 ? INT32_MIN : 0;
    return x < 2147483648.0 ? (int32_t)x : INT32_MAX;
}

static void store_as(sb_dtype dtype, uint8_t *to, double x) {
    float as_float = (float)x;
    int32_t as_int = dtype == SB_INT32 ? to_int32(x) : 0;
    if (dtype == SB_UINT8)
        *to = to_byte(x);
    else
        memcpy(to, dtype == SB_INT32 ? (const void *)&as_int : (const void *)&as_float, 4);
}

/* The part's elements in the dtype in which the style stores them; a copy where they differ. */
static sb_status convert_part(sb_encoder *e, sb_array *array, sb_dtype dtype) {
    if (array->dtype == dtype) return SB_OK;
    sb_tensor_view view = sb_array_view(array);
    size_t size = sb_dtype_size(dtype);
    uint8_t *to = sb_arena_get(&e->scratch, view.count * size);
    if (!to) return SB_NOMEM;
    for (size_t at = 0, n; at < view.count; at += n) {
        double x[256];
        n = view.count - at < 256 ? view.count - at : 256;
        sb_tensor_doubles(&view, at, n, x);
        for (size_t i = 0; i < n; i++) store_as(dtype, to + (at + i) * size, x[i]);
    }
    array->data = to;
    array->dtype = dtype;
    return SB_OK;
}

typedef struct names {
    sb_slice tag;     /* of the value */
    sb_slice content; /* of its plugin data */
} names;

static sb_status make_names(sb_encoder *e, const sb_call *call, const params *p, int which,
                            sb_buf *content, names *out) {
    static const char *const suffixes[2][PARTS] = {{"_VERTEX", "_FACE", "_COLOR"},
                                                   {"_1", "_2", "_3"}};
    bool tbx = e->style == SB_STYLE_TBX;
    const part *of = &p->parts[which];
    sb_mesh_plugin plugin = {
        .name = call->tag,
        .content_type = which + 1,
        .json_config = p->has_config ? sb_slice_of(call->data.p, (size_t)p->config_n)
                       : tbx         ? SB_LIT("null")
                                     : SB_LIT("{}"),
        .rank = 3,
    };
    for (int i = 0; i < 3; i++) plugin.shape[i] = (int32_t)of->dims[i];
    for (int i = 0; i < PARTS && !tbx; i++)
        if (p->parts[i].is_there) plugin.components |= 1u << (i + 1);
    sb_buf_clear(content);
    sb_mesh_plugin_add(content, &plugin);
    out->content = sb_buf_slice(content);
    out->tag = sb_join(e, call->tag, sb_slice_str(suffixes[tbx][which]));
    return content->failed || !out->tag.p ? SB_NOMEM : SB_OK;
}

static sb_status add_part(sb_encoder *e, const sb_call *call, sb_buf *event, const params *p,
                          int which, const uint8_t *from, sb_buf *content) {
    static const sb_dtype dtypes[PARTS] = {SB_FLOAT, SB_INT32, SB_UINT8};
    bool tf = sb_style_is_tf(e->style);
    const part *of = &p->parts[which];
    sb_array array = {from, (sb_dtype)of->dtype, 3, of->dims, NULL};
    names n;
    if (make_names(e, call, p, which, content, &n) != SB_OK ||
        convert_part(e, &array, tf ? dtypes[which] : SB_FLOAT) != SB_OK)
        return SB_NOMEM;
    sb_call named = *call;
    if (e->style == SB_STYLE_TF1 && !named.display_name.n) named.display_name = call->tag;
    size_t value = sb_pb_begin(event, SB_SUMMARY_VALUE,
                               sb_array_view(&array).content.n + n.tag.n + n.content.n + 40);
    sb_pb_add_bytes_nz(event, SB_VALUE_TAG, n.tag);
    sb_status status =
        sb_tensor_add(event, SB_VALUE_TENSOR, &array, tf ? SB_TENSOR_CONTENT : SB_TENSOR_TYPED);
    sb_value_metadata_once(e, event, &named, n.tag, SB_LIT("mesh"), n.content, false);
    sb_pb_end(event, value);
    return status;
}

sb_status sb_encode_mesh(sb_encoder *e, const sb_call *call, sb_buf *event, sb_err *err) {
    const params *p = (const void *)call->params.p;
    const uint8_t *at = call->data.p + p->config_n;
    sb_status status = SB_OK;
    sb_buf content;
    sb_buf_init(&content, e->env->alloc, MAX_CONFIG + SB_TAG_MAX + 1024);
    sb_event_head(event, call);
    size_t summary = sb_pb_begin(event, SB_EVENT_SUMMARY, call->data.n + 256);
    for (int i = 0; status == SB_OK && i < PARTS; i++) {
        const part *of = &p->parts[i];
        if (!of->is_there || !(p->written & 1u << i)) continue;
        status = add_part(e, call, event, p, i, at, &content);
        at +=
            (size_t)(of->dims[0] * of->dims[1] * of->dims[2]) * sb_dtype_size((sb_dtype)of->dtype);
    }
    sb_pb_end(event, summary);
    sb_buf_fini(&content);
    return status == SB_OK ? SB_OK : sb_encode_nomem(err, call);
}
