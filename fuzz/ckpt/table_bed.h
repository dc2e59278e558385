/* table_bed.h: right checksums for a table of any bytes, since no fuzzer guesses them. */
#ifndef SB_FUZZ_TABLE_BED_H
#define SB_FUZZ_TABLE_BED_H

#include "base/slice.h"
#include "ckpt/table/table.h"
#include "codec/crc32c/crc32c.h"
#include "codec/proto/proto.h"

static inline void mend_block(uint8_t *file, size_t n, uint64_t offset, uint64_t size) {
    if (offset > n || size > n - offset || n - offset - size < 5) return;
    sb_store32(file + offset + size + 1, sb_crc32c_masked(file + offset, (size_t)size + 1));
}

/* Makes the checksums of the index block, and of each block that one of its entries seems to name,
 * right. */
static inline void mend_table(uint8_t *file, size_t n) {
    if (n < SB_TABLE_FOOTER) return;
    sb_store64(file + n - 8, SB_TABLE_MAGIC);
    n -= SB_TABLE_FOOTER;
    sb_pb c = {file + n, file + n + 40};
    uint64_t h[4];
    for (size_t i = 0; i < 4; i++)
        if (!sb_pb_varint(&c, &h[i])) return;
    if (h[2] > n || h[3] > n - h[2]) return;
    c = sb_pb_over(sb_slice_of(file + h[2], (size_t)h[3]));
    uint64_t shared, fresh, length, offset, size;
    while (sb_pb_varint(&c, &shared) && sb_pb_varint(&c, &fresh) && sb_pb_varint(&c, &length)) {
        size_t left = (size_t)(c.end - c.p);
        if (fresh > left || length > left - fresh) break;
        sb_pb value = sb_pb_over(sb_slice_of(c.p + fresh, (size_t)length));
        if (sb_pb_varint(&value, &offset) && sb_pb_varint(&value, &size))
            mend_block(file, n, offset, size);
        c.p += fresh + length;
    }
    mend_block(file, n, h[2], h[3]);
}

#endif
