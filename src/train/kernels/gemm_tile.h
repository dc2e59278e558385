/* gemm_tile.h: the innermost loop of a matrix product: a tile of sums from two panels. */
#ifndef SB_TRAIN_KERNELS_GEMM_TILE_H
#define SB_TRAIN_KERNELS_GEMM_TILE_H

#include <stdbool.h>
#include <stddef.h>

enum { TILE_ROWS = 6, TILE_COLUMNS = 16 };

/* c[6][16], rows `stride` numbers apart, = (add: c +) the sum over p of a[p][6] times b[p][16]. */
typedef void tile_fn(size_t k, const float *a, const float *b, float *c, size_t stride, bool add);

tile_fn sb_tile_any; /* any processor */
/* The fastest one for this processor. */
tile_fn *sb_tile_pick(void);

#endif
