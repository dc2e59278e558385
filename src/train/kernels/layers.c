/* layers.c: matrix products, biases, convolutions and pooling.
 *
 * A convolution is a matrix product: every window of the pictures becomes a row (unfold), some
 * pictures at a time, so that the rows stay in the cache. */
#include <float.h>

#include "train/conv.h"
#include "train/kernels/gemm.h"
#include "train/ops.h"
#include "base/banned.h"

/* Numbers of unfolded windows that are made at a time. */
#define UNFOLD_MOST ((size_t)1 << 18)

static float *after(void *scratch, size_t numbers) {
    return (float *)scratch + numbers;
}

/* ---- products and biases --------------------------------------------------------------------- */

static gemm product_of(const sb_op *op) {
    const int64_t *a = input_of(op, 0)->dims.at, *b = input_of(op, 1)->dims.at;
    bool ta = sb_op_int(op, "transpose_a") != 0, tb = sb_op_int(op, "transpose_b") != 0;
    return (gemm){.m = (size_t)op->outs[0].dims.at[0],
                  .n = (size_t)op->outs[0].dims.at[1],
                  .k = (size_t)a[ta ? 0 : 1],
                  .a_row = ta ? 1 : (size_t)a[1],
                  .a_col = ta ? (size_t)a[1] : 1,
                  .b_row = tb ? 1 : (size_t)b[1],
                  .b_col = tb ? (size_t)b[1] : 1};
}

size_t sb_scratch_matmul(const sb_op *op) {
    gemm g = product_of(op);
    return sb_gemm_scratch(g.m, g.n, g.k);
}

sb_status sb_run_matmul(const op_call *c, sb_err *err) {
    gemm g = product_of(c->op);
    (void)err;
    g.a = c->in[0];
    g.b = c->in[1];
    g.c = c->out[0];
    sb_gemm_run(&g, c->team, c->scratch);
    return SB_OK;
}

sb_status sb_run_bias_add(const op_call *c, sb_err *err) {
    size_t n = input_of(c->op, 1)->count, rows = n ? c->op->outs[0].count / n : 0;
    const float *x = c->in[0], *bias = c->in[1];
    float *y = c->out[0];
    (void)err;
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < n; i++) y[r * n + i] = x[r * n + i] + bias[i];
    return SB_OK;
}

sb_status sb_run_bias_add_grad(const op_call *c, sb_err *err) {
    size_t n = c->op->outs[0].count, rows = n ? input_of(c->op, 0)->count / n : 0;
    const float *dy = c->in[0];
    float *sum = c->out[0];
    (void)err;
    for (size_t i = 0; i < n; i++) sum[i] = 0;
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < n; i++) sum[i] += dy[r * n + i];
    return SB_OK;
}

/* ---- convolutions ---------------------------------------------------------------------------- */

typedef struct window_work {
    conv_form f;
    const float *x; /* pictures */
    float *dx;      /* their gradient */
    float *rows;    /* one row a window */
} window_work;

static size_t row_length(const conv_form *f) {
    return (size_t)(f->window_height * f->window_width * f->channels);
}

static size_t rows_each(const conv_form *f) {
    return (size_t)(f->out_height * f->out_width);
}

static size_t picture_size(const conv_form *f) {
    return (size_t)(f->height * f->width * f->channels);
}

/* How many pictures are unfolded at a time. */
static size_t chunk_of(const conv_form *f) {
    size_t each = rows_each(f) * row_length(f), most = (size_t)f->images;
    size_t fits = each ? UNFOLD_MOST / each : most;
    if (fits < 1) fits = 1;
    return fits < most ? fits : most;
}

/* One line of a window: where it is in a picture, or nothing when it is outside. */
static bool line_of(const conv_form *f, int64_t oy, int64_t ox, int64_t ky, int64_t *y,
                    int64_t *from, int64_t *to) {
    int64_t left = ox * f->stride_x - f->pad_left;
    *y = oy * f->stride_y - f->pad_top + ky;
    *from = left < 0 ? -left : 0;
    *to = left + f->window_width > f->width ? f->width - left : f->window_width;
    return *y >= 0 && *y < f->height && *from < *to;
}

static void unfold_picture(void *work, size_t image) {
    const window_work *w = work;
    const conv_form *f = &w->f;
    size_t length = row_length(f), line = (size_t)(f->window_width * f->channels);
    const float *x = w->x + image * picture_size(f);
    float *row = w->rows + image * rows_each(f) * length;
    for (int64_t oy = 0; oy < f->out_height; oy++)
        for (int64_t ox = 0; ox < f->out_width; ox++, row += length)
            for (int64_t ky = 0; ky < f->window_height; ky++) {
                float *to = row + (size_t)ky * line;
                int64_t y, a, b;
                if (!line_of(f, oy, ox, ky, &y, &a, &b)) {
                    memset(to, 0, line * sizeof *to);
                    continue;
                }
                size_t head = (size_t)(a * f->channels), body = (size_t)((b - a) * f->channels);
                int64_t at = y * f->width + ox * f->stride_x - f->pad_left + a;
                memset(to, 0, head * sizeof *to);
                memcpy(to + head, x + at * f->channels, body * sizeof *to);
                memset(to + head + body, 0, (line - head - body) * sizeof *to);
            }
}

/* The opposite: adds every window's gradient to the pictures. */
static void fold_picture(void *work, size_t image) {
    const window_work *w = work;
    const conv_form *f = &w->f;
    size_t length = row_length(f), line = (size_t)(f->window_width * f->channels);
    float *dx = w->dx + image * picture_size(f);
    const float *row = w->rows + image * rows_each(f) * length;
    memset(dx, 0, picture_size(f) * sizeof *dx);
    for (int64_t oy = 0; oy < f->out_height; oy++)
        for (int64_t ox = 0; ox < f->out_width; ox++, row += length)
            for (int64_t ky = 0; ky < f->window_height; ky++) {
                int64_t y, a, b;
                if (!line_of(f, oy, ox, ky, &y, &a, &b)) continue;
                const float *from = row + (size_t)ky * line + a * f->channels;
                float *to = dx + (y * f->width + ox * f->stride_x - f->pad_left + a) * f->channels;
                size_t n = (size_t)((b - a) * f->channels);
                for (size_t i = 0; i < n; i++) to[i] += from[i];
            }
}

static conv_form form_of(const sb_op *op) {
    conv_form f;
    if (op->input_count == 3) {
        bool is_for_input = is_kind(op, OP_CONV2D_INPUT);
        const sb_dims *x = is_for_input ? &op->outs[0].dims : &input_of(op, 0)->dims;
        const sb_dims *filter = is_for_input ? &input_of(op, 1)->dims : &op->outs[0].dims;
        sb_conv_form_of(&f, op, x, filter);
    } else {
        sb_conv_form_of(&f, op, &input_of(op, 0)->dims, &input_of(op, 1)->dims);
    }
    return f;
}

static size_t unfolded(const conv_form *f) {
    return (chunk_of(f) * rows_each(f) * row_length(f) + 15) / 16 * 16;
}

size_t sb_scratch_conv2d(const sb_op *op) {
    conv_form f = form_of(op);
    return unfolded(&f) * sizeof(float) +
           sb_gemm_scratch(chunk_of(&f) * rows_each(&f), (size_t)f.outputs, row_length(&f));
}

sb_status sb_run_conv2d(const op_call *c, sb_err *err) {
    window_work w = {.f = form_of(c->op), .rows = c->scratch};
    size_t chunk = chunk_of(&w.f), rows = rows_each(&w.f), length = row_length(&w.f);
    size_t outputs = (size_t)w.f.outputs, images = (size_t)w.f.images;
    (void)err;
    for (size_t i = 0; i < images; i += chunk) {
        size_t n = images - i < chunk ? images - i : chunk;
        w.x = (const float *)c->in[0] + i * picture_size(&w.f);
        sb_team_run(c->team, n, unfold_picture, &w);
        gemm g = {n * rows, outputs, length,  w.rows, c->in[1],
                  length,   1,       outputs, 1,      (float *)c->out[0] + i * rows * outputs,
                  false};
        sb_gemm_run(&g, c->team, after(c->scratch, unfolded(&w.f)));
    }
    return SB_OK;
}

size_t sb_scratch_conv2d_input(const sb_op *op) {
    conv_form f = form_of(op);
    return unfolded(&f) * sizeof(float) +
           sb_gemm_scratch(chunk_of(&f) * rows_each(&f), row_length(&f), (size_t)f.outputs);
}

sb_status sb_run_conv2d_input(const op_call *c, sb_err *err) {
    window_work w = {.f = form_of(c->op), .rows = c->scratch};
    size_t chunk = chunk_of(&w.f), rows = rows_each(&w.f), length = row_length(&w.f);
    size_t outputs = (size_t)w.f.outputs, images = (size_t)w.f.images;
    (void)err;
    for (size_t i = 0; i < images; i += chunk) {
        size_t n = images - i < chunk ? images - i : chunk;
        const float *dy = (const float *)c->in[2] + i * rows * outputs;
        gemm g = {n * rows, length, outputs, dy, c->in[1], outputs, 1, 1, outputs, w.rows, false};
        sb_gemm_run(&g, c->team, after(c->scratch, unfolded(&w.f)));
        w.dx = (float *)c->out[0] + i * picture_size(&w.f);
        sb_team_run(c->team, n, fold_picture, &w);
    }
    return SB_OK;
}

size_t sb_scratch_conv2d_filter(const sb_op *op) {
    conv_form f = form_of(op);
    return unfolded(&f) * sizeof(float) +
           sb_gemm_scratch(row_length(&f), (size_t)f.outputs, chunk_of(&f) * rows_each(&f));
}

sb_status sb_run_conv2d_filter(const op_call *c, sb_err *err) {
    window_work w = {.f = form_of(c->op), .rows = c->scratch};
    size_t chunk = chunk_of(&w.f), rows = rows_each(&w.f), length = row_length(&w.f);
    size_t outputs = (size_t)w.f.outputs, images = (size_t)w.f.images;
    (void)err;
    if (images == 0) memset(c->out[0], 0, length * outputs * sizeof(float));
    for (size_t i = 0; i < images; i += chunk) {
        size_t n = images - i < chunk ? images - i : chunk;
        const float *dy = (const float *)c->in[2] + i * rows * outputs;
        w.x = (const float *)c->in[0] + i * picture_size(&w.f);
        sb_team_run(c->team, n, unfold_picture, &w);
        gemm g = {length, outputs, n * rows, w.rows, dy, 1, length, outputs, 1, c->out[0], i > 0};
        sb_gemm_run(&g, c->team, after(c->scratch, unfolded(&w.f)));
    }
    return SB_OK;
}

/* ---- pooling --------------------------------------------------------------------------------- */

typedef struct pool_work {
    conv_form f;
    const float *x, *dy;
    float *out; /* the maxima, or the gradient of x */
} pool_work;

/* The place of the largest number of a window in one channel: the first of equal ones. */
static int64_t largest(const conv_form *f, const float *x, int64_t oy, int64_t ox,
                       int64_t channel) {
    int64_t best = -1;
    for (int64_t ky = 0; ky < f->window_height; ky++) {
        int64_t y, a, b;
        if (!line_of(f, oy, ox, ky, &y, &a, &b)) continue;
        int64_t at = (y * f->width + ox * f->stride_x - f->pad_left + a) * f->channels + channel;
        for (; a < b; a++, at += f->channels)
            if (best < 0 || x[at] > x[best]) best = at;
    }
    return best;
}

static void pool_picture(void *work, size_t image) {
    const pool_work *w = work;
    const conv_form *f = &w->f;
    size_t pooled = rows_each(f) * (size_t)f->channels, i = image * pooled;
    const float *x = w->x + image * picture_size(f);
    float *dx = w->dy ? w->out + image * picture_size(f) : NULL;
    if (dx) memset(dx, 0, picture_size(f) * sizeof *dx);
    for (int64_t oy = 0; oy < f->out_height; oy++)
        for (int64_t ox = 0; ox < f->out_width; ox++)
            for (int64_t channel = 0; channel < f->channels; channel++, i++) {
                int64_t at = largest(f, x, oy, ox, channel);
                if (dx && at >= 0)
                    dx[at] += w->dy[i];
                else if (!dx)
                    w->out[i] = at >= 0 ? x[at] : -FLT_MAX;
            }
}

sb_status sb_run_max_pool(const op_call *c, sb_err *err) {
    pool_work w = {.x = c->in[0], .out = c->out[0]};
    (void)err;
    sb_conv_form_of(&w.f, c->op, &input_of(c->op, 0)->dims, NULL);
    sb_team_run(c->team, (size_t)w.f.images, pool_picture, &w);
    return SB_OK;
}

sb_status sb_run_max_pool_grad(const op_call *c, sb_err *err) {
    pool_work w = {.x = c->in[0], .dy = c->in[2], .out = c->out[0]};
    (void)err;
    sb_conv_form_of(&w.f, c->op, &input_of(c->op, 0)->dims, NULL);
    sb_team_run(c->team, (size_t)w.f.images, pool_picture, &w);
    return SB_OK;
}
