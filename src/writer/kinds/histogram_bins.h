/* histogram_bins.h: from numbers to buckets, as each framework counts them. Pure: no style, no
 * events.
 *
 * In:  a view of the numbers, of any real type.  Out: rows, or sums and buckets.
 * NaN and infinite values are legal everywhere unless said; nothing here converts a number to an
 * integer that could not hold it. Threads: no state. Cost: one pass and a few compares a value; two
 * passes for the rows. */
#ifndef SB_WRITER_KINDS_HISTOGRAM_BINS_H
#define SB_WRITER_KINDS_HISTOGRAM_BINS_H

#include "base/arena.h"
#include "codec/tensor.h"

/* tf.summary.histogram: `buckets` rows of left edge, right edge, count.
 *   no values               all zero
 *   all values the same     every edge is that value, the last row counts them all
 *   otherwise               equal widths from the smallest to the largest value
 * A value that is NaN, or whose place is not a number since an edge is infinite, is not counted;
 * the edges are then what the arithmetic gives, as in TensorFlow. */
void sb_bins_rows(const sb_tensor_view *values, uint32_t buckets, double *rows);

/* A HistogramProto's numbers. limits are right edges. Counting puts both arrays into the arena. */
typedef struct sb_buckets {
    double min, max, num, sum, sum_squares;
    const double *limits;
    const double *counts;
    size_t n;
} sb_buckets;

/* Both use edges that grow by a tenth from 1e-12 to 1e20, and their mirror images.
 *
 * tf.compat.v1.summary.histogram: a bucket below and above all edges; runs of empty buckets are
 * joined. Sums are made in order. *bad is the index of the first value that is NaN or infinite, and
 * values->count when there is none; with one the result is not to be used. SB_NOMEM or SB_OK. */
sb_status sb_bins_tf1(const sb_tensor_view *values, sb_arena *arena, sb_buckets *out, size_t *bad);

/* torch and tensorboardX: no such outer buckets, so that NaN and what is beyond 1e20 is in the sums
 * but in no bucket. Only the range with values is kept, behind one empty bucket. max_bins (0: none)
 * joins neighbours until there are about that many. Sums are made pairwise, as numpy does.
 * out->n is 0 when no value fell into a bucket. SB_NOMEM or SB_OK. */
sb_status sb_bins_torch(const sb_tensor_view *values, uint32_t max_bins, sb_arena *arena,
                        sb_buckets *out);

#endif
