/* tag_clean.h: the cleaning of tags on slices; sb_tag_clean is its public face. */
#ifndef SB_WRITER_TAG_CLEAN_H
#define SB_WRITER_TAG_CLEAN_H

#include "seaboard/types.h"

/* Writes the cleaned tag, or the characters of it that fit into room bytes, whose length is
 * *stored, and returns its whole length, which is never more than tag.n. Every character that is
 * not a word character, '-', '/' or '.' becomes one '_', and so does every byte that is no UTF-8;
 * slashes at the start go. */
size_t sb_tag_clean_into(sb_slice tag, uint8_t *out, size_t room, size_t *stored);

#endif
