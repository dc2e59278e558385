/* gemm.h: C = A B for matrices of float32 in any layout: the one product that all layers use.
 *
 * Both factors are copied into panels first, so that the inner loop reads memory in order; the
 * order of additions depends on the sizes only, not on the number of threads. sb_gemm_plain is the
 * same in three loops, for tests and for reading. */
#ifndef SB_TRAIN_KERNELS_GEMM_H
#define SB_TRAIN_KERNELS_GEMM_H

#include <stdbool.h>

#include "train/team.h"

typedef struct gemm {
    size_t m, n, k; /* C is m x n, A is m x k */
    const float *a, *b;
    size_t a_row, a_col; /* element (i, p) of A is a[i * a_row + p * a_col]; B likewise */
    size_t b_row, b_col;
    float *c; /* rows of n numbers, without gaps */
    bool add; /* to what C holds */
} gemm;

/* Bytes that sb_gemm_run needs at scratch. */
size_t sb_gemm_scratch(size_t m, size_t n, size_t k);
void sb_gemm_run(const gemm *g, team *t, void *scratch);
void sb_gemm_plain(const gemm *g);

#endif
