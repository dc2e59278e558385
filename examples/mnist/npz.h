/* npz.h: one array of bytes out of a .npz file (a zip archive of numpy arrays). */
#ifndef NPZ_H
#define NPZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The array `name` of uint8: [count, side, side], or [count] with side 0. *bytes is malloc'ed. On
 * failure false, with a text that names the file and the array. */
bool npz_read(const char *path, const char *name, size_t side, uint8_t **bytes, size_t *count,
              char *text, size_t n);

#endif
