/* text.c: the rules of text.h. */
#include "server/http/text.h"

#include <string.h>

#include "base/slice.h"
#include "base/banned.h"

bool sb_text_same(sb_slice a, const char *b) {
    return sb_text_same_slice(a, sb_slice_str(b));
}

bool sb_text_next(sb_slice *list, sb_slice *element) {
    while (list->n) {
        size_t n = 0;
        for (bool quoted = false; n < list->n && (quoted || list->p[n] != ','); n++)
            if (list->p[n] == '"') quoted = !quoted;
        *element = sb_text_trim(sb_slice_of(list->p, n));
        size_t used = n < list->n ? n + 1 : n;
        *list = sb_slice_of(list->p + used, list->n - used);
        if (element->n) return true;
    }
    return false;
}

bool sb_text_is_token(sb_slice s) {
    if (s.n == 0) return false;
    for (size_t i = 0; i < s.n; i++) {
        uint8_t c = s.p[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_plain && (c == 0 || !strchr("!#$%&'*+-.^_`|~", c))) return false;
    }
    return true;
}

bool sb_text_number(sb_slice s, uint64_t *out) {
    if (s.n == 0) return false;
    uint64_t value = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9') return false;
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(s.p[i] - '0'), &value))
            return false;
    }
    *out = value;
    return true;
}
