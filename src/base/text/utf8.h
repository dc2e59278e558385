/* utf8.h: validation and repair of UTF-8. TensorBoard's fast loader rejects a whole file for one
 * invalid byte in a tag, so nothing that we write may contain one. */
#ifndef SB_BASE_TEXT_UTF8_H
#define SB_BASE_TEXT_UTF8_H

#include <stdbool.h>

#include "base/buf.h"

/* Length in bytes of the valid character at the start of s, 0 when there is none. Surrogates,
 * over-long forms and numbers above U+10FFFF are not valid. */
size_t sb_utf8_char(sb_slice s);

/* Is all of s valid? Cost: plain ASCII is checked 8 bytes at a time. */
bool sb_utf8_valid(sb_slice s);

/* Appends one character; false for surrogates and for numbers above U+10FFFF. */
bool sb_utf8_add(sb_buf *out, uint32_t character);

/* Appends s with every invalid byte replaced by U+FFFD, as Python's errors="replace" does for
 * single bad bytes. */
void sb_utf8_repair(sb_buf *out, sb_slice s);

/* Appends s with every invalid byte as U+FFFD and its two hexadecimal digits in small letters: what
 * names of runs and tags that are no UTF-8 are shown as and asked for by. Unlike repaired ones,
 * different names stay different. */
void sb_utf8_spell(sb_buf *out, sb_slice s);

#endif
