/* histogram.c: histograms from raw values, from given buckets and from given rows.
 *
 * In:  the values as they are; the writer's thread counts them (histogram_bins.h).
 * Out: TF2  a double tensor [buckets, 3] with plugin "histograms"
 *      others  a HistogramProto: 1 min 2 max 3 num 4 sum 5 sum_squares 6 limits 7 counts
 * Given buckets are written as a HistogramProto, given rows as a tensor, whatever the style. */
#include "base/slice.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "writer/kinds/histogram_bins.h"
#include "writer/kinds/kinds.h"

#include "base/banned.h"

#define DEFAULT_BUCKETS 30
#define MAX_BUCKETS 1000000
#define PLUGIN SB_LIT("histograms")

typedef struct params {
    uint32_t buckets;
    uint32_t max_bins;
    sb_shape shape;
} params;

typedef struct raw_params {
    uint64_t n;
    double sums[5]; /* min, max, num, sum, sum of squares */
    uint32_t is_rows;
    uint32_t spare;
} raw_params;

/* ---- the caller's side ----------------------------------------------------------------------- */

sb_status sb_histogram(sb_writer *w, const char *tag, const sb_array *values, int64_t step,
                       const sb_histogram_opts *opts, const sb_meta *meta) {
    sb_call call;
    sb_histogram_opts own = {0};
    sb_status status = sb_call_begin(w, &call, SB_CALL_HISTOGRAM, tag, true, step, meta);
    if (status == SB_OK && opts) status = SB_READ_SIZED(w, &own, sb_histogram_opts, opts, 0);
    if (status != SB_OK) return status;
    params p = {.buckets = DEFAULT_BUCKETS, .max_bins = own.max_bins};
    sb_piece elements;
    status = sb_take_array(w, "histogram", values, false, &p.shape, &elements);
    if (status != SB_OK) return status;
    if (own.buckets) p.buckets = own.buckets > 0 ? (uint32_t)own.buckets : 0;
    if (p.buckets > MAX_BUCKETS)
        return sb_call_refuse(w, SB_LIMIT, "histogram: %u buckets are too many: the most is %d",
                              p.buckets, MAX_BUCKETS);
    sb_style style = sb_writer_style(w);
    if (elements.n == 0 && !sb_style_is_tf(style))
        return sb_call_refuse(w, SB_INVALID,
                              "histogram: no values; this style has no histogram of nothing");
    call.params = SB_PARAMS_SLICE(&p);
    return sb_call_put(w, &call, &elements, 1);
}

sb_status sb_histogram_raw(sb_writer *w, const char *tag, const sb_histogram_data *data,
                           int64_t step, const sb_meta *meta) {
    sb_call call;
    sb_histogram_data own = {0};
    sb_status status = sb_call_begin(w, &call, SB_CALL_HISTOGRAM_RAW, tag, true, step, meta);
    if (status != SB_OK) return status;
    if (!data) return sb_call_refuse(w, SB_INVALID, "histogram: the data is missing");
    status = SB_READ_SIZED(w, &own, sb_histogram_data, data, 0);
    if (status != SB_OK) return status;
    if (own.n && (!own.limits || !own.counts))
        return sb_call_refuse(w, SB_INVALID, "histogram: limits or counts are missing");
    if (own.n > MAX_BUCKETS)
        return sb_call_refuse(w, SB_LIMIT, "histogram: %zu buckets are too many: the most is %d",
                              own.n, MAX_BUCKETS);
    raw_params p = {.n = own.n, .sums = {own.min, own.max, own.num, own.sum, own.sum_squares}};
    call.params = sb_slice_of(&p, sizeof p);
    const sb_piece pieces[] = {{.p = own.limits, .n = own.n * sizeof(double)},
                               {.p = own.counts, .n = own.n * sizeof(double)}};
    return sb_call_put(w, &call, pieces, 2);
}

sb_status sb_histogram_rows(sb_writer *w, const char *tag, const double *rows, size_t n,
                            int64_t step, const sb_meta *meta) {
    sb_call call;
    sb_status status = sb_call_begin(w, &call, SB_CALL_HISTOGRAM_RAW, tag, true, step, meta);
    if (status != SB_OK) return status;
    if (n && !rows) return sb_call_refuse(w, SB_INVALID, "histogram: the rows are missing");
    if (n > MAX_BUCKETS)
        return sb_call_refuse(w, SB_LIMIT, "histogram: %zu rows are too many: the most is %d", n,
                              MAX_BUCKETS);
    raw_params p = {.n = n, .is_rows = 1};
    call.params = sb_slice_of(&p, sizeof p);
    const sb_piece data = {.p = rows, .n = 3 * n * sizeof(double)};
    return sb_call_put(w, &call, &data, 1);
}

/* ---- encoding -------------------------------------------------------------------------------- */

static sb_status add_rows(sb_encoder *e, const sb_call *call, sb_buf *event, const double *rows,
                          uint64_t n) {
    const int64_t dims[] = {(int64_t)n, 3};
    const sb_array array = {rows, SB_DOUBLE, 2, dims, NULL};
    sb_value_frame frame =
        sb_value_begin(event, call, call->tag, (size_t)n * 24 + call->tag.n + 48);
    sb_status status = sb_tensor_add(event, SB_VALUE_TENSOR, &array, SB_TENSOR_CONTENT);
    sb_value_metadata_once(e, event, call, call->tag, PLUGIN, SB_LIT(""), false);
    sb_value_end(event, frame);
    return status;
}

static void add_histo(sb_encoder *e, const sb_call *call, sb_buf *event, sb_slice tag,
                      const sb_buckets *h) {
    sb_value_frame frame = sb_value_begin(event, call, tag, h->n * 16 + tag.n + 56);
    size_t histo = sb_pb_begin(event, SB_VALUE_HISTO, h->n * 16 + 51);
    sb_pb_add_double_nz(event, SB_HISTOGRAM_MIN, h->min);
    sb_pb_add_double_nz(event, SB_HISTOGRAM_MAX, h->max);
    sb_pb_add_double_nz(event, SB_HISTOGRAM_NUM, h->num);
    sb_pb_add_double_nz(event, SB_HISTOGRAM_SUM, h->sum);
    sb_pb_add_double_nz(event, SB_HISTOGRAM_SUM_SQUARES, h->sum_squares);
    if (h->n) {
        sb_pb_add_packed_doubles(event, SB_HISTOGRAM_BUCKET_LIMIT, h->limits, h->n);
        sb_pb_add_packed_doubles(event, SB_HISTOGRAM_BUCKET, h->counts, h->n);
    }
    sb_pb_end(event, histo);
    sb_value_metadata_once(e, event, call, tag, SB_LIT(""), SB_LIT(""), false);
    sb_value_end(event, frame);
}

static sb_status encode_tf2(sb_encoder *e, const sb_call *call, sb_buf *event,
                            const sb_tensor_view *values, uint32_t buckets, sb_err *err) {
    double *rows = sb_arena_zeroed(&e->scratch, 3 * (size_t)buckets, sizeof *rows);
    if (!rows) return sb_encode_nomem(err, call);
    sb_bins_rows(values, buckets, rows);
    return add_rows(e, call, event, rows, buckets);
}

sb_status sb_encode_histogram(sb_encoder *e, const sb_call *call, sb_buf *event, sb_err *err) {
    const params *p = (const void *)call->params.p;
    sb_array array = sb_shape_array(&p->shape, call->data.p);
    sb_tensor_view values = sb_array_view(&array);
    sb_buckets h;
    size_t bad = values.count;
    sb_status status;
    if (e->style == SB_STYLE_TF2) return encode_tf2(e, call, event, &values, p->buckets, err);
    if (e->style == SB_STYLE_TF1)
        status = sb_bins_tf1(&values, &e->scratch, &h, &bad);
    else
        status = sb_bins_torch(&values, p->max_bins, &e->scratch, &h);
    sb_slice tag = sb_style_tag(e, call->tag);
    if (status != SB_OK || !tag.p) return sb_encode_nomem(err, call);
    if (bad < values.count)
        return sb_fail(
            err, SB_INVALID, 0,
            "histogram '%.*s', step %lld: value %zu is NaN or infinite, which this style "
            "can't count; the histogram was not written",
            SB_SHOWN(call->tag), (long long)call->step, bad);
    if (h.n == 0)
        return sb_fail(err, SB_INVALID, 0,
                       "histogram '%.*s', step %lld: all %zu values are NaN, infinite or beyond "
                       "1e20; the histogram was not written",
                       SB_SHOWN(call->tag), (long long)call->step, values.count);
    add_histo(e, call, event, tag, &h);
    return SB_OK;
}

sb_status sb_encode_histogram_raw(sb_encoder *e, const sb_call *call, sb_buf *event, sb_err *err) {
    const raw_params *p = (const void *)call->params.p;
    const double *numbers = (const void *)call->data.p;
    (void)err;
    if (p->is_rows) return add_rows(e, call, event, numbers, p->n);
    const sb_buckets h = {p->sums[0], p->sums[1], p->sums[2],     p->sums[3],
                          p->sums[4], numbers,    numbers + p->n, (size_t)p->n};
    add_histo(e, call, event, call->tag, &h);
    return SB_OK;
}
