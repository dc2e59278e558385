/* box.h: copies a box out of one row-major array into a box of another.
 *
 * A box is a range in every dimension. In memory it is a number of runs of equal length, and
 * sb_box_next gives their places in both arrays, in ascending order of the source. That order is
 * what lets a reader stream the source from a file and keep only what is wanted.
 *
 * In: shapes and ranges that were checked: the box lies inside both arrays, and the byte sizes of
 * both fit into 64 bits. Threads: a walk belongs to one. Cost: constant for each run. */
#ifndef SB_CKPT_BUNDLE_BOX_H
#define SB_CKPT_BUNDLE_BOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* TensorFlow's own bound on the number of a tensor's dimensions. */
#define SB_CKPT_MAX_RANK 254

/* Where a box lies in an array; one number for each dimension. */
typedef struct sb_box_array {
    const int64_t *dims;  /* of the array */
    const int64_t *start; /* of the box in it */
} sb_box_array;

typedef struct sb_box_walk {
    uint64_t run;        /* bytes of each run */
    uint32_t outer;      /* dimensions that are counted through; a run spans the others */
    bool is_over;        /* no run is left */
    uint64_t from_place; /* of the next run, in bytes */
    uint64_t to_place;
    uint64_t length[SB_CKPT_MAX_RANK];
    uint64_t at[SB_CKPT_MAX_RANK];
    uint64_t from_stride[SB_CKPT_MAX_RANK]; /* bytes */
    uint64_t to_stride[SB_CKPT_MAX_RANK];
} sb_box_walk;

/* length: the box's size in each dimension; width: bytes of an element. */
void sb_box_begin(sb_box_walk *w, uint32_t rank, size_t width, const int64_t *length,
                  sb_box_array from, sb_box_array to);

/* The next run: byte offsets in both arrays; false when there is none left. */
bool sb_box_next(sb_box_walk *w, uint64_t *from, uint64_t *to);

/* Copies all runs between two arrays in memory. */
void sb_box_copy(sb_box_walk *w, const uint8_t *from, uint8_t *to);

#endif
