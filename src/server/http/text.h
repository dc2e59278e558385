/* text.h: the small rules that every header shares: case, blanks, lists, tokens. */
#ifndef SB_SERVER_HTTP_TEXT_H
#define SB_SERVER_HTTP_TEXT_H

#include <stdbool.h>

#include "seaboard/types.h"

static inline uint8_t sb_text_lower(uint8_t c) {
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : c;
}

/* Without spaces and tabs at both ends. */
static inline sb_slice sb_text_trim(sb_slice s) {
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t')) s.p++, s.n--;
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t')) s.n--;
    return s;
}

/* Equal but for the case of ASCII letters. */
static inline bool sb_text_same_slice(sb_slice a, sb_slice b) {
    if (a.n != b.n) return false;
    for (size_t i = 0; i < a.n; i++)
        if (sb_text_lower(a.p[i]) != sb_text_lower(b.p[i])) return false;
    return true;
}

/* The same with a C string. */
bool sb_text_same(sb_slice a, const char *b);

/* Takes the next element of a comma-separated list, trimmed, off *list; commas in quotes do not
 * count, empty elements are skipped. False at the end. */
bool sb_text_next(sb_slice *list, sb_slice *element);

/* A header name or a cookie name: RFC 9110's "token". */
bool sb_text_is_token(sb_slice s);

/* Decimal digits only, at least one; false for more than a uint64_t holds. */
bool sb_text_number(sb_slice s, uint64_t *out);

#endif
