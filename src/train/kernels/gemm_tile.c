/* gemm_tile.c: the tile in plain C, and with AVX2 and fused multiply-add. */
#include "train/kernels/gemm_tile.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/banned.h"

void sb_tile_any(size_t k, const float *a, const float *b, float *c, size_t stride, bool add) {
    float sum[TILE_ROWS][TILE_COLUMNS] = {{0}};
    for (size_t p = 0; p < k; p++, a += TILE_ROWS, b += TILE_COLUMNS)
        for (size_t i = 0; i < TILE_ROWS; i++)
            for (size_t j = 0; j < TILE_COLUMNS; j++) sum[i][j] += a[i] * b[j];
    for (size_t i = 0; i < TILE_ROWS; i++)
        for (size_t j = 0; j < TILE_COLUMNS; j++)
            c[i * stride + j] = sum[i][j] + (add ? c[i * stride + j] : 0);
}

#if defined(__x86_64__)

/* Twelve registers of sums, two of B, one of A. */
__attribute__((target("avx2,fma"))) static void tile_avx2(size_t k, const float *a, const float *b,
                                                          float *c, size_t stride, bool add) {
    __m256 s[TILE_ROWS][2];
#pragma GCC unroll 6
    for (int i = 0; i < TILE_ROWS; i++) s[i][0] = s[i][1] = _mm256_setzero_ps();
    for (size_t p = 0; p < k; p++, a += TILE_ROWS, b += TILE_COLUMNS) {
        __m256 b0 = _mm256_loadu_ps(b), b1 = _mm256_loadu_ps(b + 8);
#pragma GCC unroll 6
        for (int i = 0; i < TILE_ROWS; i++) {
            __m256 x = _mm256_broadcast_ss(a + i);
            s[i][0] = _mm256_fmadd_ps(x, b0, s[i][0]);
            s[i][1] = _mm256_fmadd_ps(x, b1, s[i][1]);
        }
    }
#pragma GCC unroll 6
    for (int i = 0; i < TILE_ROWS; i++) {
        float *row = c + (size_t)i * stride;
        if (add) {
            s[i][0] = _mm256_add_ps(s[i][0], _mm256_loadu_ps(row));
            s[i][1] = _mm256_add_ps(s[i][1], _mm256_loadu_ps(row + 8));
        }
        _mm256_storeu_ps(row, s[i][0]);
        _mm256_storeu_ps(row + 8, s[i][1]);
    }
}

tile_fn *sb_tile_pick(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? tile_avx2
                                                                           : sb_tile_any;
}

#else

tile_fn *sb_tile_pick(void) {
    return sb_tile_any;
}

#endif
