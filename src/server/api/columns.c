/* columns.c: writing the container. Failures stay in the buffer, as for every append. */
#include "server/api/columns.h"

#include <string.h>

#include "base/bytes.h"
#include "base/banned.h"

#define HEAD 16u

void sb_column_begin(sb_column_body *c, sb_buf *out, const char *magic, uint64_t version,
                     uint32_t entries, uint32_t entry_size) {
    *c = (sb_column_body){.out = out, .entry_size = entry_size, .entries = entries};
    size_t n = HEAD + (size_t)entries * entry_size;
    if (!sb_buf_reserve(out, n)) return;
    memset(out->p, 0, n);
    memcpy(out->p, magic, 4);
    sb_store32(out->p + 4, entries);
    sb_store64(out->p + 8, version);
    out->n = n;
}

/* Where a field is, or NULL after a failure. */
static uint8_t *field(sb_column_body *c, uint32_t entry, uint32_t at) {
    if (c->out->failed != SB_OK) return NULL;
    return c->out->p + HEAD + (size_t)entry * c->entry_size + at;
}

void sb_column_u32(sb_column_body *c, uint32_t entry, uint32_t at, uint32_t x) {
    uint8_t *p = field(c, entry, at);
    if (p) sb_store32(p, x);
}

void sb_column_u64(sb_column_body *c, uint32_t entry, uint32_t at, uint64_t x) {
    uint8_t *p = field(c, entry, at);
    if (p) sb_store64(p, x);
}

void sb_column_f64(sb_column_body *c, uint32_t entry, uint32_t at, double x) {
    sb_column_u64(c, entry, at, sb_double_bits(x));
}

/* Room for n bytes of a column, aligned; NULL after a failure. */
static uint8_t *begin_column(sb_column_body *c, uint32_t entry, uint32_t at, size_t n) {
    size_t pad = (8 - (c->out->n & 7)) & 7;
    if (!sb_buf_reserve(c->out, pad + n)) return NULL;
    memset(c->out->p + c->out->n, 0, pad);
    c->out->n += pad;
    uint8_t *p = c->out->p + c->out->n;
    sb_column_u32(c, entry, at, (uint32_t)(c->out->n / 8));
    c->out->n += n;
    return p;
}

void sb_column_add_doubles(sb_column_body *c, uint32_t entry, uint32_t at, const double *x,
                           size_t n) {
    uint8_t *p = begin_column(c, entry, at, n * 8);
    for (size_t i = 0; p && i < n; i++) sb_store64(p + i * 8, sb_double_bits(x[i]));
}

void sb_column_add_floats(sb_column_body *c, uint32_t entry, uint32_t at, const float *x,
                          size_t n) {
    uint8_t *p = begin_column(c, entry, at, n * 4);
    for (size_t i = 0; p && i < n; i++) sb_store32(p + i * 4, sb_float_bits(x[i]));
}

void sb_column_add_int64s(sb_column_body *c, uint32_t entry, uint32_t at, const int64_t *x,
                          size_t n) {
    uint8_t *p = begin_column(c, entry, at, n * 8);
    for (size_t i = 0; p && i < n; i++) sb_store64(p + i * 8, sb_double_bits((double)x[i]));
    if (!p) return;
    if (c->steps_n == n && n && memcmp(c->out->p + c->steps_at, p, n * 8) == 0) {
        c->out->n -= n * 8;
        sb_column_u32(c, entry, at, (uint32_t)(c->steps_at / 8));
        return;
    }
    c->steps_at = (size_t)(p - c->out->p);
    c->steps_n = n;
}

void sb_column_add_bytes(sb_column_body *c, uint32_t entry, uint32_t at, const uint8_t *x,
                         size_t n) {
    uint8_t *p = begin_column(c, entry, at, n);
    if (p && n) memcpy(p, x, n);
}

void sb_column_add_u32s(sb_column_body *c, uint32_t entry, uint32_t at, const uint32_t *x,
                        size_t n) {
    uint8_t *p = begin_column(c, entry, at, n * 4);
    for (size_t i = 0; p && i < n; i++) sb_store32(p + i * 4, x[i]);
}
