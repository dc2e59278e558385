/* checked.h: arithmetic on numbers from outside. What returns bool returns false on overflow and
 * leaves *out alone. */
#ifndef SB_BASE_CHECKED_H
#define SB_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool sb_add_size(size_t *out, size_t a, size_t b) {
    size_t sum;
    if (__builtin_add_overflow(a, b, &sum)) return false;
    *out = sum;
    return true;
}

static inline bool sb_mul_size(size_t *out, size_t a, size_t b) {
    size_t product;
    if (__builtin_mul_overflow(a, b, &product)) return false;
    *out = product;
    return true;
}

/* Adds to a sum that stays at the least or the greatest number instead of overflowing. */
static inline void sb_sum(int64_t *sum, int64_t more) {
    if (__builtin_add_overflow(*sum, more, sum)) *sum = more < 0 ? INT64_MIN : INT64_MAX;
}

/* Are n bytes at offset inside a window of size bytes? */
static inline bool sb_inside(size_t offset, size_t n, size_t size) {
    return offset <= size && n <= size - offset;
}

#endif
