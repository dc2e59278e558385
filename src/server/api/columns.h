/* columns.h: the binary container of /api/v1: a head, a table of entries, then columns.
 *
 *     0 magic (4 bytes) | 4 u32 entries | 8 u64 store version | 16 entries of one size | columns,
 *     aligned to 8
 *
 * Little-endian. Offsets of columns are in units of 8 bytes from the start of the body, 0: none.
 * Threads: belongs to the handler. */
#ifndef SB_SERVER_API_COLUMNS_H
#define SB_SERVER_API_COLUMNS_H

#include "base/buf.h"

typedef struct sb_column_body {
    sb_buf *out;
    uint32_t entry_size;
    uint32_t entries;
    size_t steps_at, steps_n; /* the last column of integers */
} sb_column_body;

/* Writes the head and room for all entries, zeroed. */
void sb_column_begin(sb_column_body *c, sb_buf *out, const char *magic, uint64_t version,
                     uint32_t entries, uint32_t entry_size);

/* Fields of an entry, at their offset in it. */
void sb_column_u32(sb_column_body *c, uint32_t entry, uint32_t at, uint32_t x);
void sb_column_u64(sb_column_body *c, uint32_t entry, uint32_t at, uint64_t x);
void sb_column_f64(sb_column_body *c, uint32_t entry, uint32_t at, double x);

/* Appends a column and writes its offset into the entry. Integers that equal the last column of
 * integers are not sent twice: the entry points at that one (runs of a sweep have the same
 * steps). */
void sb_column_add_doubles(sb_column_body *c, uint32_t entry, uint32_t at, const double *x,
                           size_t n);
void sb_column_add_floats(sb_column_body *c, uint32_t entry, uint32_t at, const float *x, size_t n);
void sb_column_add_int64s(sb_column_body *c, uint32_t entry, uint32_t at, const int64_t *x,
                          size_t n);
void sb_column_add_bytes(sb_column_body *c, uint32_t entry, uint32_t at, const uint8_t *x,
                         size_t n);
void sb_column_add_u32s(sb_column_body *c, uint32_t entry, uint32_t at, const uint32_t *x,
                        size_t n);

#endif
