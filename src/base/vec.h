/* vec.h: a growing array of elements of one type, with a cap.
 *
 *     typedef SB_VEC(int64_t) steps;          zeroed memory is an empty array
 *     int64_t *slot = SB_VEC_PUSH(&s, alloc, MOST_STEPS);
 *     if (!slot) return false;                no memory, or the cap is reached; nothing has changed
 *     *slot = step;
 *     SB_VEC_FREE(&s, alloc);
 *
 * The allocator and the cap are arguments, not fields: an array costs its owner three words. Any
 * struct with the members `items`, `n` and `room` may be given to these macros, whatever unsigned
 * type it counts with; the cap is then also what fits into that type. `v` is evaluated several
 * times. Growing moves the elements: pointers into the array are valid until the next growth.
 * Cost: amortised one copy per element. */
#ifndef SB_BASE_VEC_H
#define SB_BASE_VEC_H

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"

#define SB_VEC(type)                                                                               \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t n, room;                                                                            \
    }

/* The slow path of SB_VEC_RESERVE: resizes `items`, which has room for *room elements of `size`
 * bytes, so that n + more fit. Answers the new address and the new *room; NULL when memory is out
 * or n + more > most, and then the old block is as it was. */
void *sb_vec_grow(const sb_alloc *alloc, void *items, size_t *room, size_t n, size_t more,
                  size_t size, size_t most);

/* Makes room for `more` elements behind the last one; true when there is. At most `most` elements
 * are ever held. */
#define SB_VEC_RESERVE(v, alloc, more, most)                                                       \
    ((size_t)((v)->room - (v)->n) >= (size_t)(more) || __extension__({                             \
         size_t sb_room_ = (v)->room, sb_most_ = (most);                                           \
         size_t sb_type_most_ = (__typeof__((v)->room))-1;                                         \
         void *sb_items_ =                                                                         \
             sb_vec_grow((alloc), (v)->items, &sb_room_, (v)->n, (more), sizeof *(v)->items,       \
                         sb_most_ < sb_type_most_ ? sb_most_ : sb_type_most_);                     \
         if (sb_items_) {                                                                          \
             (v)->items = sb_items_;                                                               \
             (v)->room = (__typeof__((v)->room))sb_room_;                                          \
         }                                                                                         \
         sb_items_ != NULL;                                                                        \
     }))

/* Appends one element and answers its address; the caller fills it in. NULL on failure. */
#define SB_VEC_PUSH(v, alloc, most)                                                                \
    (SB_VEC_RESERVE(v, alloc, 1, most) ? &(v)->items[(v)->n++] : NULL)

/* Opens a gap at index `at` <= n and answers its address; the caller fills it in. NULL on
 * failure. */
#define SB_VEC_INSERT(v, alloc, at, most)                                                          \
    (SB_VEC_RESERVE(v, alloc, 1, most) ? __extension__({                                           \
        __typeof__((v)->items) sb_gap_ = (v)->items + (at);                                        \
        memmove(sb_gap_ + 1, sb_gap_, ((v)->n++ - (at)) * sizeof *sb_gap_);                        \
        sb_gap_;                                                                                   \
    })                                                                                             \
                                       : NULL)

/* Closes the gap that the element at index `at` < n leaves; the order of the others stays. */
#define SB_VEC_REMOVE(v, at)                                                                       \
    do {                                                                                           \
        __typeof__((v)->items) sb_gone_ = (v)->items + (at);                                       \
        (v)->n--;                                                                                  \
        memmove(sb_gone_, sb_gone_ + 1, ((v)->n - (at)) * sizeof *sb_gone_);                       \
    } while (0)

/* Gives the memory back; the array is empty and may be used again. */
#define SB_VEC_FREE(v, alloc)                                                                      \
    do {                                                                                           \
        sb_alloc_put((alloc), (v)->items, (v)->room * sizeof *(v)->items);                         \
        (v)->items = NULL;                                                                         \
        (v)->n = (v)->room = 0;                                                                    \
    } while (0)

#endif
