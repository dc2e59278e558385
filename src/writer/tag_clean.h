/* tag_clean.h: cleans tags given as slices; sb_tag_clean is the public function for it. */
#ifndef SB_WRITER_TAG_CLEAN_H
#define SB_WRITER_TAG_CLEAN_H

#include "seaboard/types.h"

/* Writes the cleaned tag, or the characters of it that fit into room bytes; *stored is how many
 * bytes were written. Returns the length of the whole cleaned tag, which is never more than tag.n.
 * Every character that is not a word character, '-', '/' or '.' becomes one '_', and so does every
 * byte that is not UTF-8; leading slashes are removed. */
size_t sb_tag_clean_into(sb_slice tag, uint8_t *out, size_t room, size_t *stored);

#endif
