/* made_digits.h: digits that look handwritten, for machines without the real ones.
 *
 * Strokes of a fixed shape a digit, bent, shifted, turned, of a varying pen, with a little noise:
 * 60 000 + 10 000 pictures, always the same. */
#ifndef MADE_DIGITS_H
#define MADE_DIGITS_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the four IDX files and a note that they are generated, unless they are there. On failure
 * false, with a text. */
bool made_digits_write(const char *dir, char *text, size_t n);
/* Is it a folder that made_digits_write has filled? */
bool digits_are_made(const char *dir);

#endif
