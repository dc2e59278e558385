/* gemm.c: panels of 6 rows and 16 columns, and the tile kernel that multiplies them.
 *
 *   A packed: for each panel of 6 rows, for each p: 6 numbers.    B packed: panels of 16 columns.
 *   A tile of 6 x 16 sums stays in registers while BLOCK numbers of a panel pair pass by.
 * What is beyond the edge of a matrix is filled with zeros in the panels. */
#include "train/kernels/gemm.h"

#include <limits.h>
#include <string.h>

#include "train/kernels/gemm_tile.h"
#if defined(SB_OPENBLAS)
#include <cblas.h>
#endif
#include "base/banned.h"

#define BLOCK 256
/* Products below this many multiplications are not worth a second thread. */
#define SMALL ((size_t)1 << 19)
/* Panels of rows that one piece of work has at most. */
#define GROUP 8

static size_t panels(size_t n, size_t width) {
    return (n + width - 1) / width;
}

size_t sb_gemm_scratch(size_t m, size_t n, size_t k) {
    return (panels(m, TILE_ROWS) * TILE_ROWS + panels(n, TILE_COLUMNS) * TILE_COLUMNS) * k *
           sizeof(float);
}

void sb_gemm_plain(const gemm *g) {
    for (size_t i = 0; i < g->m; i++)
        for (size_t j = 0; j < g->n; j++) {
            float sum = g->add ? g->c[i * g->n + j] : 0;
            for (size_t p = 0; p < g->k; p++)
                sum += g->a[i * g->a_row + p * g->a_col] * g->b[p * g->b_row + j * g->b_col];
            g->c[i * g->n + j] = sum;
        }
}

typedef struct gemm_work {
    const gemm *g;
    float *a, *b; /* packed */
    size_t a_panels, b_panels;
    size_t groups, group; /* of row panels, and how many each has */
    tile_fn *tile;
} gemm_work;

/* width rows (or columns) of length k, `step` apart, into one panel; `have` of them are real. The
 * width is a constant where this is called, so that the inner loops are unrolled. */
static inline __attribute__((always_inline)) void pack_panel(float *to, const float *from, size_t k,
                                                             size_t step, size_t next, size_t width,
                                                             size_t have) {
    if (have == width && step == 1) {
        for (size_t p = 0; p < k; p++) memcpy(to + p * width, from + p * next, width * sizeof *to);
    } else if (have == width) {
        for (size_t p = 0; p < k; p++)
            for (size_t r = 0; r < width; r++) to[p * width + r] = from[r * step + p * next];
    } else {
        memset(to, 0, k * width * sizeof *to);
        for (size_t r = 0; r < have; r++)
            for (size_t p = 0; p < k; p++) to[p * width + r] = from[r * step + p * next];
    }
}

static void pack_piece(void *work, size_t i) {
    const gemm_work *w = work;
    const gemm *g = w->g;
    if (i < w->b_panels) {
        size_t at = i * TILE_COLUMNS, left = g->n - at;
        pack_panel(w->b + at * g->k, g->b + at * g->b_col, g->k, g->b_col, g->b_row, TILE_COLUMNS,
                   left < TILE_COLUMNS ? left : TILE_COLUMNS);
    } else {
        size_t at = (i - w->b_panels) * TILE_ROWS, left = g->m - at;
        pack_panel(w->a + at * g->k, g->a + at * g->a_row, g->k, g->a_row, g->a_col, TILE_ROWS,
                   left < TILE_ROWS ? left : TILE_ROWS);
    }
}

/* One tile of C: directly, or at an edge by way of a whole tile. */
static void add_tile(const gemm_work *w, size_t row, size_t column, size_t from, size_t k,
                     bool add) {
    const gemm *g = w->g;
    const float *a = w->a + row * g->k + from * TILE_ROWS;
    const float *b = w->b + column * g->k + from * TILE_COLUMNS;
    size_t rows = g->m - row, columns = g->n - column;
    float *c = g->c + row * g->n + column;
    if (rows >= TILE_ROWS && columns >= TILE_COLUMNS) {
        w->tile(k, a, b, c, g->n, add);
        return;
    }
    float edge[TILE_ROWS * TILE_COLUMNS];
    w->tile(k, a, b, edge, TILE_COLUMNS, false);
    if (rows > TILE_ROWS) rows = TILE_ROWS;
    if (columns > TILE_COLUMNS) columns = TILE_COLUMNS;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            c[i * g->n + j] = edge[i * TILE_COLUMNS + j] + (add ? c[i * g->n + j] : 0);
}

static void multiply_piece(void *work, size_t i) {
    const gemm_work *w = work;
    size_t column = i / w->groups * TILE_COLUMNS, first = i % w->groups * w->group;
    size_t last = first + w->group < w->a_panels ? first + w->group : w->a_panels;
    for (size_t from = 0; from < w->g->k; from += BLOCK) {
        size_t k = w->g->k - from < BLOCK ? w->g->k - from : BLOCK;
        for (size_t p = first; p < last; p++)
            add_tile(w, p * TILE_ROWS, column, from, k, from > 0 || w->g->add);
    }
}

static void multiply(const gemm *g, team *t, float *scratch) {
    gemm_work w = {.g = g, .a = scratch, .tile = sb_tile_pick()};
    w.a_panels = panels(g->m, TILE_ROWS);
    w.b_panels = panels(g->n, TILE_COLUMNS);
    w.b = scratch + w.a_panels * TILE_ROWS * g->k;
    w.groups = panels(w.a_panels, GROUP);
    w.group = panels(w.a_panels, w.groups);
    if (g->m * g->n * g->k < SMALL) t = NULL;
    sb_team_run(t, w.a_panels + w.b_panels, pack_piece, &w);
    sb_team_run(t, w.b_panels * w.groups, multiply_piece, &w);
}

#if defined(SB_OPENBLAS)
/* How BLAS is told of a matrix: one of its strides is 1, the other at least the length of a row (or
 * of a column). Strides along a dimension of 1 mean nothing. */
typedef struct blas_layout {
    bool is_transposed;
    size_t leading;
} blas_layout;

static bool find_layout(blas_layout *out, size_t rows, size_t columns, size_t row, size_t column) {
    if ((column == 1 || columns == 1) && (row >= columns || rows == 1))
        *out = (blas_layout){false, rows == 1 ? columns : row};
    else if ((row == 1 || rows == 1) && (column >= rows || columns == 1))
        *out = (blas_layout){true, columns == 1 ? rows : column};
    else
        return false;
    return out->leading <= INT_MAX && rows <= INT_MAX && columns <= INT_MAX;
}

/* False: in a layout that BLAS does not know. */
static bool multiply_by_blas(const gemm *g) {
    blas_layout a, b;
    if (!find_layout(&a, g->m, g->k, g->a_row, g->a_col) ||
        !find_layout(&b, g->k, g->n, g->b_row, g->b_col))
        return false;
    cblas_sgemm(CblasRowMajor, a.is_transposed ? CblasTrans : CblasNoTrans,
                b.is_transposed ? CblasTrans : CblasNoTrans, (int)g->m, (int)g->n, (int)g->k, 1,
                g->a, (int)a.leading, g->b, (int)b.leading, g->add ? 1 : 0, g->c, (int)g->n);
    return true;
}
#endif

void sb_gemm_run(const gemm *g, team *t, void *scratch) {
    if (g->m == 0 || g->n == 0) return;
    if (g->k == 0) {
        if (!g->add) memset(g->c, 0, g->m * g->n * sizeof *g->c);
        return;
    }
#if defined(SB_OPENBLAS)
    if (multiply_by_blas(g)) return;
#endif
    multiply(g, t, scratch);
}
