/* unicode_word.h: which characters belong to a word, as Python's regular expressions see it (\w):
 * letters, digits and other numbers of every script, and the underscore.
 *
 * TensorFlow and tensorboardX clean tags by that rule. Cost: a look-up for ASCII, else a binary
 * search over about 700 ranges. */
#ifndef SB_BASE_TEXT_UNICODE_WORD_H
#define SB_BASE_TEXT_UNICODE_WORD_H

#include <stdbool.h>
#include <stdint.h>

bool sb_unicode_word(uint32_t character);

#endif
