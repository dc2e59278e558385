/* search.h: binary search in anything that is sorted: lower bound, upper bound, partition point.
 *
 * It is a macro, so that it works on every kind of array and compiles to the loop that one would
 * write by hand: no callback, no copy of a key.
 *
 *     size_t i;
 *     SB_PARTITION_POINT(i, 0, n, ids[i] < id);            lower bound: the first one that is >= id
 *     if (i < n && ids[i] == id) ...                       found
 *     SB_PARTITION_POINT(i, 0, n, ids[i] <= id);           upper bound: the first one that is > id
 *
 * Cost: one evaluation of the condition for each halving of the range. */
#ifndef SB_BASE_SEARCH_H
#define SB_BASE_SEARCH_H

/* Sets `i` to the first index of [from, to) for which `is_before` is false, or to `to` when there
 * is none. `is_before` is an expression in `i`; it must be true up to some index and false from
 * there on. `i` is a variable of any unsigned type; `from` and `to` are evaluated once, and
 * from <= to. */
#define SB_PARTITION_POINT(i, from, to, is_before)                                                 \
    do {                                                                                           \
        __typeof__(i) sb_low_ = (from), sb_high_ = (to);                                           \
        while (sb_low_ < sb_high_) {                                                               \
            (i) = sb_low_ + (sb_high_ - sb_low_) / 2;                                              \
            if (is_before)                                                                         \
                sb_low_ = (i) + 1;                                                                 \
            else                                                                                   \
                sb_high_ = (i);                                                                    \
        }                                                                                          \
        (i) = sb_low_;                                                                             \
    } while (0)

#endif
