/* pr_curve.c: precision-recall curves from labels and predictions, or from six given rows.
 *
 * Out: a float tensor [6, n] with plugin "pr_curves", content { 2: n }.
 *      TF2, TF1    TAG/pr_curves, display name TAG unless given, tensor_content
 *      torch, TBX  TAG, float_val, n at most 127 */
#include "writer/kinds/pr_curve.h"

#include "base/slice.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "writer/kinds/kinds.h"

#include "base/banned.h"

#define TF_THRESHOLDS 201
#define TORCH_THRESHOLDS 127
#define MAX_THRESHOLDS 1000000u
#define ROWS 6

typedef struct params {
    uint64_t counts[3]; /* of labels, predictions and weights, which lie one behind the other */
    uint32_t dtypes[3];
    uint32_t thresholds;
    uint32_t is_raw; /* data: ROWS * thresholds doubles */
} params;

/* ---- the caller's side ----------------------------------------------------------------------- */

static sb_status take_input(sb_writer *w, const char *what, const sb_array *array, params *p,
                            int which, sb_piece *piece) {
    sb_shape shape;
    sb_status status = sb_take_array(w, what, array, false, &shape, piece);
    if (status != SB_OK) return status;
    p->dtypes[which] = shape.dtype;
    p->counts[which] = sb_shape_count(&shape);
    return SB_OK;
}

sb_status sb_pr_curve(sb_writer *w, const char *tag, const sb_array *labels,
                      const sb_array *predictions, const sb_array *weights, uint32_t num_thresholds,
                      int64_t step, const sb_meta *meta) {
    sb_call call;
    sb_status status = sb_call_begin(w, &call, SB_CALL_PR_CURVE, tag, true, step, meta);
    if (status != SB_OK) return status;
    params p = {.thresholds = num_thresholds, .dtypes = {SB_FLOAT, SB_FLOAT, SB_FLOAT}};
    sb_piece pieces[3] = {{.n = 0}};
    status = take_input(w, "pr_curve labels", labels, &p, 0, &pieces[0]);
    if (status == SB_OK)
        status = take_input(w, "pr_curve predictions", predictions, &p, 1, &pieces[1]);
    if (status == SB_OK && weights)
        status = take_input(w, "pr_curve weights", weights, &p, 2, &pieces[2]);
    if (status != SB_OK) return status;
    if (p.counts[0] != p.counts[1])
        return sb_call_refuse(w, SB_INVALID, "pr_curve: %llu labels for %llu predictions",
                              (unsigned long long)p.counts[0], (unsigned long long)p.counts[1]);
    if (weights && p.counts[2] != p.counts[1] && p.counts[2] != 1)
        return sb_call_refuse(w, SB_INVALID,
                              "pr_curve: %llu weights for %llu predictions; give as many, or one",
                              (unsigned long long)p.counts[2], (unsigned long long)p.counts[1]);
    bool tf = sb_style_is_tf(sb_writer_style(w));
    if (p.thresholds == 0) p.thresholds = tf ? TF_THRESHOLDS : TORCH_THRESHOLDS;
    if (!tf && p.thresholds > TORCH_THRESHOLDS) p.thresholds = TORCH_THRESHOLDS;
    if (p.thresholds < 2)
        return sb_call_refuse(w, SB_INVALID, "pr_curve: there must be two thresholds at least");
    if (p.thresholds > MAX_THRESHOLDS)
        return sb_call_refuse(w, SB_LIMIT, "pr_curve: %u thresholds are too many: the most is %u",
                              p.thresholds, MAX_THRESHOLDS);
    call.params = sb_slice_of(&p, sizeof p);
    return sb_call_put(w, &call, pieces, 3);
}

sb_status sb_pr_curve_raw(sb_writer *w, const char *tag, const double *rows, uint32_t n,
                          int64_t step, const sb_meta *meta) {
    sb_call call;
    sb_status status = sb_call_begin(w, &call, SB_CALL_PR_CURVE, tag, true, step, meta);
    if (status != SB_OK) return status;
    if (!rows || n == 0) return sb_call_refuse(w, SB_INVALID, "pr_curve: the rows are missing");
    if (n > MAX_THRESHOLDS)
        return sb_call_refuse(w, SB_LIMIT, "pr_curve: %u thresholds are too many: the most is %u",
                              n, MAX_THRESHOLDS);
    params p = {.thresholds = n, .is_raw = 1};
    call.params = sb_slice_of(&p, sizeof p);
    const sb_piece data = {.p = rows, .n = sizeof *rows * ROWS * n};
    return sb_call_put(w, &call, &data, 1);
}

/* ---- encoding -------------------------------------------------------------------------------- */

static void narrow_rows(const sb_call *call, float *rows, size_t n) {
    const double *from = (const void *)call->data.p;
    for (size_t i = 0; i < ROWS * n; i++) rows[i] = (float)from[i];
}

static sb_status compute_rows(sb_encoder *e, const sb_call *call, const params *p, float *rows) {
    double *scratch = sb_arena_get(&e->scratch, 4 * sizeof *scratch * p->thresholds);
    if (!scratch) return SB_NOMEM;
    sb_tensor_view views[3];
    const uint8_t *at = call->data.p;
    for (int i = 0; i < 3; i++) {
        const int64_t dims[] = {(int64_t)p->counts[i]};
        const sb_array array = {at, (sb_dtype)p->dtypes[i], 1, dims, NULL};
        views[i] = sb_array_view(&array);
        at += views[i].content.n;
    }
    const sb_pr_input in = {views[0], views[1], views[2]};
    if (sb_style_is_tf(e->style))
        sb_pr_curve_tf(&in, p->thresholds, scratch, rows);
    else
        sb_pr_curve_torch(&in, p->thresholds, scratch, rows);
    return SB_OK;
}

static sb_status add_curve(sb_encoder *e, const sb_call *call, sb_buf *event, const float *rows,
                           uint32_t n) {
    bool tf = sb_style_is_tf(e->style);
    sb_slice tag = tf ? sb_join(e, call->tag, SB_LIT("/pr_curves")) : call->tag;
    if (!tag.p) return SB_NOMEM;
    sb_call named = *call;
    if (tf && !named.display_name.n) named.display_name = call->tag;
    uint32_t noted = !tf && n > TORCH_THRESHOLDS ? TORCH_THRESHOLDS : n;
    uint8_t content_bytes[16] = {SB_PR_CURVE_PLUGIN_NUM_THRESHOLDS << 3 | SB_PB_VARINT};
    sb_slice content = sb_slice_of(content_bytes, 1 + sb_pb_put_varint(content_bytes + 1, noted));
    const int64_t dims[] = {ROWS, n};
    const sb_array array = {rows, SB_FLOAT, 2, dims, NULL};
    size_t expected = sizeof *rows * ROWS * n + tag.n + named.display_name.n + 48;
    sb_value_frame frame = sb_value_begin(event, call, tag, expected);
    sb_status status =
        sb_tensor_add(event, SB_VALUE_TENSOR, &array, tf ? SB_TENSOR_CONTENT : SB_TENSOR_TYPED);
    sb_value_metadata_once(e, event, &named, tag, SB_LIT("pr_curves"), content, false);
    sb_value_end(event, frame);
    return status;
}

sb_status sb_encode_pr_curve(sb_encoder *e, const sb_call *call, sb_buf *event, sb_err *err) {
    const params *p = (const void *)call->params.p;
    sb_status status = SB_OK;
    float *rows = sb_arena_get(&e->scratch, sizeof *rows * ROWS * p->thresholds);
    if (!rows) return sb_encode_nomem(err, call);
    if (p->is_raw)
        narrow_rows(call, rows, p->thresholds);
    else
        status = compute_rows(e, call, p, rows);
    if (status == SB_OK) status = add_curve(e, call, event, rows, p->thresholds);
    return status == SB_OK ? SB_OK : sb_encode_nomem(err, call);
}
