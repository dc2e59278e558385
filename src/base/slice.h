/* slice.h: small helpers for borrowed bytes. */
#ifndef SB_BASE_SLICE_H
#define SB_BASE_SLICE_H

#include <stdbool.h>
#include <string.h>

#include "seaboard/types.h"

/* A slice over a string literal, usable in static tables. */
#define SB_LIT(text) ((sb_slice){(const uint8_t *)(text), sizeof(text) - 1})

/* Two arguments for a "%.*s" in a message; long text is shortened. */
#define SB_SHOWN(slice)                                                                            \
    ((int)((slice).n > 120 ? 120 : (slice).n)), ((slice).p ? (const char *)(slice).p : "")

static inline sb_slice sb_slice_of(const void *p, size_t n) {
    return (sb_slice){(const uint8_t *)p, n};
}

/* NULL gives the empty slice. */
static inline sb_slice sb_slice_str(const char *text) {
    return (sb_slice){(const uint8_t *)text, text ? strlen(text) : 0};
}

static inline bool sb_slice_eq(sb_slice a, sb_slice b) {
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool sb_slice_starts(sb_slice s, sb_slice prefix) {
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

static inline bool sb_slice_ends(sb_slice s, sb_slice suffix) {
    return s.n >= suffix.n &&
           (suffix.n == 0 || memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}

/* Byte order of unsigned characters, shorter first when one begins the other. */
static inline int sb_slice_cmp(sb_slice a, sb_slice b) {
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.p, b.p, n) : 0;
    return order ? order : (a.n > b.n) - (a.n < b.n);
}

#endif
