/* histogram_bins.c: the three ways of counting.
 *
 * Edges of the growing buckets: v = 1e-12, 1.1 v, 1.1 (1.1 v), ... while v < 1e20: 774 of them,
 * rounded at every step as the frameworks do. With their negatives and 0 between them:
 *
 *   limits:  0: -DBL_MAX | 1..774: negatives | 775: 0 | 776..1549: positives | 1550: DBL_MAX
 *   torch's bin i lies between limits i + 1 and i + 2, for i = 0 .. 1547
 *
 * The bucket of x is the index of the first limit that is greater than x. A table over the exponent
 * and four bits of the fraction gives the number of edges below; since edges grow faster than a
 * sixteenth of an octave, at most one more lies before x. */
#include "writer/kinds/histogram_bins.h"

#include <float.h>
#include <math.h>

#include "base/bytes.h"

#include "base/banned.h"

#define EDGES 774
#define LIMITS (2 * EDGES + 3)
#define ZERO_LIMIT (EDGES + 1)
#define TORCH_BINS (2 * EDGES)
/* The slots of the table: sixteen for each octave from 2^-41 to 2^68, a range that contains all
 * edges. */
#define PLACES (16 * (41 + 68))
#define FIRST_PLACE (16 * (1023 - 41))
/* Numbers are read in blocks: this many at once, which is also numpy's block of pairwise sums. */
#define BLOCK 128

/* ---- equal widths ---------------------------------------------------------------------------- */

typedef struct range {
    double min, max; /* both are NaN when one of the values is NaN */
} range;

/* NaN wins, as in Eigen's and numpy's reductions. */
static void widen(range *r, const double *x, size_t n) {
    double min = r->min, max = r->max;
    bool has_nan = false;
    for (size_t i = 0; i < n; i++) {
        min = x[i] < min ? x[i] : min;
        max = x[i] > max ? x[i] : max;
        has_nan |= x[i] != x[i];
    }
    *r = has_nan ? (range){NAN, NAN} : (range){min, max};
}

static range range_of(const sb_tensor_view *values) {
    range r = {INFINITY, -INFINITY};
    double x[BLOCK];
    for (size_t at = 0, n; at < values->count; at += n) {
        n = values->count - at < BLOCK ? values->count - at : BLOCK;
        sb_tensor_doubles(values, at, n, x);
        widen(&r, x, n);
    }
    return r;
}

static void count_rows(const sb_tensor_view *values, double min, double width, uint32_t buckets,
                       double *rows) {
    double x[BLOCK];
    for (size_t at = 0, n; at < values->count; at += n) {
        n = values->count - at < BLOCK ? values->count - at : BLOCK;
        sb_tensor_doubles(values, at, n, x);
        for (size_t i = 0; i < n; i++) {
            double place = floor((x[i] - min) / width);
            /* Also false for NaN. Rounding may put the largest value one row too far. */
            if (!(place >= 0)) continue;
            size_t row = place < (double)buckets ? (size_t)place : buckets - 1;
            rows[3 * row + 2] += 1;
        }
    }
}

void sb_bins_rows(const sb_tensor_view *values, uint32_t buckets, double *rows) {
    memset(rows, 0, 3 * sizeof *rows * buckets);
    if (values->count == 0 || buckets == 0) return;
    range r = range_of(values);
    double span = r.max - r.min, width = span / (double)buckets;
    if (span == 0 || width == 0) { /* also when the width is too small for a double */
        for (uint32_t i = 0; i < buckets; i++) rows[3 * i] = rows[3 * i + 1] = r.max;
        rows[3 * (size_t)(buckets - 1) + 2] = (double)values->count;
        return;
    }
    for (uint32_t i = 0; i < buckets; i++) {
        rows[3 * i] = i ? r.min + width * (double)i : r.min;
        rows[3 * i + 1] = i + 1 < buckets ? r.min + width * (double)(i + 1) : r.max;
    }
    count_rows(values, r.min, width, buckets, rows);
}

/* ---- growing widths -------------------------------------------------------------------------- */

typedef struct growing {
    double edges[EDGES + 1]; /* ends with a NaN, which no value is greater than */
    uint16_t first[PLACES];  /* how many edges are below the smallest number of each slot */
    double counts[LIMITS];
} growing;

static growing *growing_new(sb_arena *arena) {
    growing *g = sb_arena_zeroed(arena, 1, sizeof *g);
    if (!g) return NULL;
    double v = 1e-12;
    for (size_t i = 0; i < EDGES; i++, v *= 1.1) g->edges[i] = v;
    g->edges[EDGES] = NAN;
    uint16_t below = 0;
    for (size_t place = 0; place < PLACES; place++) {
        double least = sb_bits_double((uint64_t)(place + FIRST_PLACE) << 48);
        while (below < EDGES && g->edges[below] < least) below++;
        g->first[place] = below;
    }
    return g;
}

static double limit_at(const growing *g, size_t i) {
    if (i == 0) return -DBL_MAX;
    if (i < ZERO_LIMIT) return -g->edges[EDGES - i];
    if (i == ZERO_LIMIT) return 0;
    return i < LIMITS - 1 ? g->edges[i - ZERO_LIMIT - 1] : DBL_MAX;
}

/* How many edges are known to be below |x|. */
static size_t edges_below(const growing *g, double x) {
    uint64_t place = sb_double_bits(x) >> 48 & 0x7fff;
    if (place < FIRST_PLACE) return 0;
    place -= FIRST_PLACE;
    return g->first[place < PLACES ? place : PLACES - 1];
}

/* The first limit greater than x, which is not NaN; the last one when there is none. */
static size_t limit_above(const growing *g, double x) {
    size_t i = edges_below(g, x);
    if (x < 0) return ZERO_LIMIT - (i + (g->edges[i] < -x));
    return ZERO_LIMIT + 1 + i + (g->edges[i] <= x);
}

/* The buckets that are being collected; there is room for a fixed number. */
typedef struct gathered {
    double *limits, *counts;
    size_t n;
} gathered;

static bool gather_in(gathered *b, sb_arena *arena, size_t room) {
    b->limits = sb_arena_zeroed(arena, room, sizeof *b->limits);
    b->counts = sb_arena_zeroed(arena, room, sizeof *b->counts);
    b->n = 0;
    return b->limits && b->counts;
}

static void add_bucket(gathered *b, double limit, double count) {
    b->limits[b->n] = limit;
    b->counts[b->n++] = count;
}

/* ---- TensorFlow 1 ---------------------------------------------------------------------------- */

sb_status sb_bins_tf1(const sb_tensor_view *values, sb_arena *arena, sb_buckets *out, size_t *bad) {
    growing *g = growing_new(arena);
    gathered b;
    if (!g || !gather_in(&b, arena, LIMITS)) return SB_NOMEM;
    double sum = 0, squares = 0, x[BLOCK];
    range r = {DBL_MAX, -DBL_MAX};
    *bad = values->count;
    for (size_t at = 0, n; at < values->count; at += n) {
        n = values->count - at < BLOCK ? values->count - at : BLOCK;
        sb_tensor_doubles(values, at, n, x);
        for (size_t i = 0; i < n; i++) {
            if (!isfinite(x[i])) {
                *bad = at + i;
                return SB_OK;
            }
            g->counts[limit_above(g, x[i])] += 1;
            sum += x[i];
            squares += x[i] * x[i];
        }
        widen(&r, x, n);
    }
    for (size_t i = 0; i < LIMITS; i++) {
        size_t last = i;
        if (g->counts[i] == 0)
            while (last + 1 < LIMITS && g->counts[last + 1] == 0) last++;
        add_bucket(&b, limit_at(g, last), g->counts[i]);
        i = last;
    }
    *out = (sb_buckets){r.min, r.max, (double)values->count, sum, squares, b.limits, b.counts, b.n};
    return SB_OK;
}

/* ---- torch ----------------------------------------------------------------------------------- */

typedef struct sums {
    double plain, squares;
} sums;

/* numpy's sum of a block: eight running sums, joined as a tree, then what is left. */
static double block_sum(const double *x, size_t n) {
    double sum = 0;
    size_t at = 0;
    if (n >= 8) {
        double r[8];
        memcpy(r, x, sizeof r);
        for (at = 8; at + 8 <= n; at += 8)
            for (size_t i = 0; i < 8; i++) r[i] += x[at + i];
        sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    }
    for (; at < n; at++) sum += x[at];
    return sum;
}

typedef struct torch_pass {
    const sb_tensor_view *values;
    growing *g;
    range r;
} torch_pass;

static void count_torch(growing *g, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (isnan(x[i])) continue;
        size_t limit = limit_above(g, x[i]);
        /* The last bin includes its right edge. */
        if (limit == LIMITS - 1 && x[i] == g->edges[EDGES - 1]) limit--;
        g->counts[limit] += 1;
    }
}

/* Recursive; the depth is the logarithm of n. */
static sums take_torch(torch_pass *pass, size_t from, size_t n) {
    if (n > BLOCK) {
        size_t half = n / 2 - n / 2 % 8;
        sums a = take_torch(pass, from, half);
        sums b = take_torch(pass, from + half, n - half);
        return (sums){a.plain + b.plain, a.squares + b.squares};
    }
    double x[BLOCK];
    sb_tensor_doubles(pass->values, from, n, x);
    count_torch(pass->g, x, n);
    widen(&pass->r, x, n);
    sums result = {block_sum(x, n), 0};
    for (size_t i = 0; i < n; i++) x[i] *= x[i];
    result.squares = block_sum(x, n);
    return result;
}

/* Merges every `factor` neighbouring bins; returns how many are left. */
static size_t join_bins(double *counts, size_t factor) {
    size_t joined = 0;
    for (size_t i = 0; i < TORCH_BINS; i += factor, joined++) {
        double sum = 0;
        for (size_t j = i; j < i + factor && j < TORCH_BINS; j++) sum += counts[j];
        counts[joined] = sum;
    }
    return joined;
}

sb_status sb_bins_torch(const sb_tensor_view *values, uint32_t max_bins, sb_arena *arena,
                        sb_buckets *out) {
    growing *g = growing_new(arena);
    gathered b;
    if (!g || !gather_in(&b, arena, TORCH_BINS + 1)) return SB_NOMEM;
    torch_pass pass = {values, g, {INFINITY, -INFINITY}};
    sums total = take_torch(&pass, 0, values->count);
    double *counts = g->counts + 2;
    size_t bins = TORCH_BINS, factor = 1;
    if (max_bins && bins > max_bins) {
        factor = bins / max_bins;
        bins = join_bins(counts, factor);
    }
    size_t start = 0, end = bins;
    while (start < bins && counts[start] == 0) start++;
    while (end > start && counts[end - 1] == 0) end--;
    for (size_t i = start; i <= end && start < end; i++) {
        double edge = limit_at(g, i < bins ? 1 + i * factor : LIMITS - 2);
        add_bucket(&b, edge, i == start ? 0 : counts[i - 1]);
    }
    total.plain += 0.0; /* numpy begins at 0, so that -0 never comes out */
    *out = (sb_buckets){
        pass.r.min, pass.r.max, (double)values->count, total.plain, total.squares, b.limits,
        b.counts,   b.n};
    return SB_OK;
}
