/* compare.c: differences and structural similarity, row by row. */
#include "media/view/compare.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

#define MOST_RADIUS 5u
#define MOST_WINDOW (2 * MOST_RADIUS + 1)
#define SIGMA 1.5

static sb_status check_sizes(const sb_picture *a, const sb_picture *b, sb_err *err) {
    if (a->width == b->width && a->height == b->height) return SB_OK;
    return sb_fail(err, SB_INVALID, 0,
                   "%u x %u and %u x %u pixels: only pictures of one size can be compared",
                   a->width, a->height, b->width, b->height);
}

/* A channel on white. */
static uint32_t on_white(const uint8_t *p, int channel) {
    return ((uint32_t)p[channel] * p[3] + 255u * (255u - p[3]) + 127u) / 255u;
}

/* ---- SSIM ------------------------------------------------------------------------------------ */

enum { SUM_A, SUM_B, SUM_AA, SUM_BB, SUM_AB, SUMS };

typedef struct ssim {
    uint32_t width, radius, window;
    uint32_t columns; /* places of the window in a row */
    double weights[MOST_WINDOW];
    double *luma[2]; /* of the row, of a and b */
    double *sums;    /* the last `window` rows, of each SUMS * columns */
    size_t bytes;    /* of the block that holds all of these */
    double total;
    uint64_t places;
} ssim;

static sb_status begin_ssim(ssim *s, const sb_picture *a, const sb_alloc *alloc, sb_err *err) {
    uint32_t least = a->width < a->height ? a->width : a->height;
    *s = (ssim){.width = a->width,
                .radius = (least - 1) / 2 < MOST_RADIUS ? (least - 1) / 2 : MOST_RADIUS};
    s->window = 2 * s->radius + 1;
    s->columns = s->width - 2 * s->radius;
    double sum = 0;
    for (uint32_t i = 0; i < s->window; i++) {
        double d = (double)i - s->radius;
        sum += s->weights[i] = exp(-d * d / (2 * SIGMA * SIGMA));
    }
    for (uint32_t i = 0; i < s->window; i++) s->weights[i] /= sum;
    s->bytes = (2 * (size_t)s->width + (size_t)s->window * SUMS * s->columns) * sizeof(double);
    s->luma[0] = sb_alloc_get(alloc, s->bytes);
    if (!s->luma[0]) return sb_fail_nomem(err, "for a comparison");
    s->luma[1] = s->luma[0] + s->width;
    s->sums = s->luma[1] + s->width;
    return SB_OK;
}

static void sum_across(const ssim *s, double *to) {
    for (uint32_t x = 0; x < s->columns; x++) {
        double sum[SUMS] = {0};
        for (uint32_t i = 0; i < s->window; i++) {
            double w = s->weights[i], a = s->luma[0][x + i], b = s->luma[1][x + i];
            sum[SUM_A] += w * a;
            sum[SUM_B] += w * b;
            sum[SUM_AA] += w * a * a;
            sum[SUM_BB] += w * b * b;
            sum[SUM_AB] += w * a * b;
        }
        for (uint32_t k = 0; k < SUMS; k++) to[k * s->columns + x] = sum[k];
    }
}

static double similarity(const double sum[SUMS]) {
    const double c1 = 0.01 * 255 * 0.01 * 255, c2 = 0.03 * 255 * 0.03 * 255;
    double a = sum[SUM_A], b = sum[SUM_B];
    double var_a = sum[SUM_AA] - a * a, var_b = sum[SUM_BB] - b * b, cov = sum[SUM_AB] - a * b;
    return ((2 * a * b + c1) * (2 * cov + c2)) / ((a * a + b * b + c1) * (var_a + var_b + c2));
}

/* The luma of row y is there. */
static void add_ssim_row(ssim *s, uint32_t y) {
    size_t row = (size_t)SUMS * s->columns;
    sum_across(s, s->sums + (y % s->window) * row);
    if (y + 1 < s->window) return;
    for (uint32_t x = 0; x < s->columns; x++) {
        double sum[SUMS] = {0};
        for (uint32_t i = 0; i < s->window; i++) {
            const double *from = s->sums + ((y + 1 + i) % s->window) * row + x;
            for (uint32_t k = 0; k < SUMS; k++) sum[k] += s->weights[i] * from[k * s->columns];
        }
        s->total += similarity(sum);
        s->places++;
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

typedef struct totals {
    uint64_t squares, differences, visible;
    uint32_t largest;
} totals;

static void add_pixel(totals *t, ssim *s, uint32_t x, const uint8_t *a, const uint8_t *b) {
    uint32_t most = 0, of_a[3], of_b[3];
    for (int k = 0; k < 3; k++) {
        of_a[k] = on_white(a, k);
        of_b[k] = on_white(b, k);
        uint32_t d = of_a[k] > of_b[k] ? of_a[k] - of_b[k] : of_b[k] - of_a[k];
        t->squares += (uint64_t)d * d;
        t->differences += d;
        if (d > most) most = d;
    }
    if (most > t->largest) t->largest = most;
    t->visible += most > sb_compare_visible;
    s->luma[0][x] = 0.299 * of_a[0] + 0.587 * of_a[1] + 0.114 * of_a[2];
    s->luma[1][x] = 0.299 * of_b[0] + 0.587 * of_b[1] + 0.114 * of_b[2];
}

sb_status sb_pictures_compare(sb_comparison *out, const sb_picture *a, const sb_picture *b,
                              const sb_alloc *alloc, sb_err *err) {
    ssim s;
    totals t = {0};
    sb_status status = check_sizes(a, b, err);
    if (status == SB_OK) status = begin_ssim(&s, a, alloc, err);
    if (status != SB_OK) return status;
    for (uint32_t y = 0; y < a->height; y++) {
        size_t row = (size_t)y * a->width * 4;
        for (uint32_t x = 0; x < a->width; x++)
            add_pixel(&t, &s, x, a->rgba + row + 4 * x, b->rgba + row + 4 * x);
        add_ssim_row(&s, y);
    }
    double pixels = (double)a->width * a->height;
    out->psnr = t.squares ? 10 * log10(255.0 * 255.0 * 3 * pixels / (double)t.squares) : INFINITY;
    out->ssim = s.total / (double)s.places;
    out->mean = (double)t.differences / (3 * pixels);
    out->largest = t.largest;
    out->share = (double)t.visible / pixels;
    sb_alloc_put(alloc, s.luma[0], s.bytes);
    return SB_OK;
}

sb_status sb_pictures_difference(sb_picture *out, const sb_picture *a, const sb_picture *b,
                                 uint32_t full, const sb_alloc *alloc, sb_err *err) {
    static const uint8_t orange[] = {0xe0, 0x65, 0x1a};
    sb_status status = check_sizes(a, b, err);
    if (status != SB_OK) return status;
    size_t pixels = (size_t)a->width * a->height;
    *out = (sb_picture){a->width, a->height, sb_alloc_get(alloc, pixels * 4), alloc};
    if (!out->rgba) return sb_fail_nomem(err, "for a picture of differences");
    for (size_t i = 0; i < pixels; i++) {
        uint32_t most = 0;
        for (int k = 0; k < 3; k++) {
            uint32_t of_a = on_white(a->rgba + 4 * i, k), of_b = on_white(b->rgba + 4 * i, k);
            uint32_t d = of_a > of_b ? of_a - of_b : of_b - of_a;
            if (d > most) most = d;
        }
        memcpy(out->rgba + 4 * i, orange, sizeof orange);
        out->rgba[4 * i + 3] = (uint8_t)(most >= full ? 255 : most * 255 / full);
    }
    return SB_OK;
}
