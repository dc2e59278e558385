/* buf.h: a growable run of bytes with a hard cap.
 *
 * Appending never fails on the spot: the first failure (no memory, over the cap) is remembered in
 * `failed` and later appends do nothing, so that an encoder is written as straight-line code and
 * checked once at the end. The bytes stay where they are until the next append. */
#ifndef SB_BASE_BUF_H
#define SB_BASE_BUF_H

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

typedef struct sb_buf {
    uint8_t *p;
    size_t n;
    size_t room;
    size_t cap;
    const sb_alloc *alloc;
    sb_status failed; /* SB_OK, SB_NOMEM or SB_LIMIT */
} sb_buf;

void sb_buf_init(sb_buf *b, const sb_alloc *alloc, size_t cap);
void sb_buf_fini(sb_buf *b);

/* Empties it, forgets a failure, keeps the memory. */
static inline void sb_buf_clear(sb_buf *b) {
    b->n = 0;
    b->failed = SB_OK;
}

/* The slow path of the functions below: true when `more` bytes may be written at p + n. */
bool sb_buf_grow(sb_buf *b, size_t more);

static inline bool sb_buf_reserve(sb_buf *b, size_t more) {
    if (b->room - b->n >= more && b->failed == SB_OK) return true;
    return sb_buf_grow(b, more);
}

static inline void sb_buf_add(sb_buf *b, const void *p, size_t n) {
    if (n == 0 || !sb_buf_reserve(b, n)) return;
    memcpy(b->p + b->n, p, n);
    b->n += n;
}

static inline void sb_buf_add_slice(sb_buf *b, sb_slice s) {
    sb_buf_add(b, s.p, s.n);
}

static inline void sb_buf_add_byte(sb_buf *b, uint8_t byte) {
    if (!sb_buf_reserve(b, 1)) return;
    b->p[b->n++] = byte;
}

void sb_buf_add_str(sb_buf *b, const char *text);
void sb_buf_printf(sb_buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline sb_slice sb_buf_slice(const sb_buf *b) {
    return (sb_slice){b->p, b->n};
}

/* SB_OK, or the remembered failure with a text that names what was being built. */
sb_status sb_buf_check(const sb_buf *b, const char *what, sb_err *err);

#endif
