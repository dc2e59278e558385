/* strides.h: copies arrays of any memory layout into contiguous row-major memory.
 *
 * Callers may pass views: transposed, reversed, every second element, broadcast. Their elements are
 * gathered while the call is copied, so that everything behind the ring sees contiguous arrays
 * only.
 * Threads: no state. Cost: one pass; runs of contiguous elements are copied as blocks. */
#ifndef SB_WRITER_KINDS_STRIDES_H
#define SB_WRITER_KINDS_STRIDES_H

#include <stdbool.h>

#include "seaboard/types.h"

/* What TensorFlow allows. */
#define SB_RANK_LIMIT 254

/* Do the elements lie one after the other in row-major order? element: bytes of one. */
bool sb_strides_contiguous(const sb_array *array, size_t element);

/* Can the distance between any two elements be expressed as a ptrdiff_t? The dimensions are not
 * negative. */
bool sb_strides_in_range(const sb_array *array);

/* Copies the first n bytes of the array, in row-major order, to `to`. The array was checked with
 * sb_strides_in_range, its rank is at most SB_RANK_LIMIT, and n is at most what it holds. */
void sb_strides_copy(void *to, size_t n, const sb_array *array, size_t element);

#endif
