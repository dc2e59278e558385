/* unicode_word.c: the table of word characters and the search in it. */
#include "base/text/unicode_word.h"

#include <stddef.h>

#include "base/search.h"
#include "base/banned.h"

static const struct {
    uint32_t first, last;
} ranges[] = {
#include "base/text/unicode_word.def"
};

bool sb_unicode_word(uint32_t character) {
    if (character < 0x80)
        return (character >= '0' && character <= '9') || (character >= 'A' && character <= 'Z') ||
               (character >= 'a' && character <= 'z') || character == '_';
    size_t n = sizeof ranges / sizeof ranges[0], i;
    SB_PARTITION_POINT(i, 0, n, ranges[i].last < character);
    return i < n && character >= ranges[i].first;
}
