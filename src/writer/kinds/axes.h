/* axes.h: arrays whose dimensions are named by letters: N pictures, T moments, H rows, W columns, C
 * channels; bringing them into another order. Threads: no state. */
#ifndef SB_WRITER_KINDS_AXES_H
#define SB_WRITER_KINDS_AXES_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"

#define SB_AXES_MAX 5

/* Reads `rank` letters in upper or lower case. False unless each is one of `allowed`, none occurs
 * twice, and H and W are among them. */
bool sb_axes_read(char out[SB_AXES_MAX + 1], const char *letters, uint32_t rank,
                  const char *allowed);

/* The array with its dimensions in the order `wanted`, which has all of its letters; a letter that
 * the array lacks becomes a dimension of size 1. Elements are copied into the arena only when they
 * have to move. dims has room for all letters of wanted and is borrowed by *out. SB_NOMEM when
 * memory is out. */
sb_status sb_axes_order(sb_arena *arena, const sb_array *in, size_t element_size,
                        const char *letters, const char *wanted, int64_t *dims, sb_array *out);

#endif
