/* unicode_word.c: the table of word characters and the search in it. */
#include "base/text/unicode_word.h"

#include <stddef.h>

#include "base/banned.h"

static const struct {
    uint32_t first, last;
} ranges[] = {
#include "base/text/unicode_word.def"
};

bool sb_unicode_word(uint32_t character) {
    size_t low = 0, high = sizeof ranges / sizeof ranges[0];
    if (character < 0x80)
        return (character >= '0' && character <= '9') || (character >= 'A' && character <= 'Z') ||
               (character >= 'a' && character <= 'z') || character == '_';
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (character > ranges[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sizeof ranges / sizeof ranges[0] && character >= ranges[low].first;
}
