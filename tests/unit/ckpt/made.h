/* made.h: index tables and bundles put together by hand, so that a test can lie in any field and
 * still have every checksum right. All inline; memory is the test's buffers. */
#ifndef SB_TESTS_UNIT_CKPT_MADE_H
#define SB_TESTS_UNIT_CKPT_MADE_H

#include "ckpt/bundle/bundle.h"
#include "ckpt/table/table.h"
#include "codec/crc32c/crc32c.h"
#include "codec/proto/messages.h"
#include "support/test.h"

static inline sb_buf made_buf(void) {
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, (size_t)64 << 20);
    return b;
}

/* Appends all elements of a tensor. */
static inline sb_status made_read(sb_bundle *b, const sb_bundle_tensor *t, sb_buf *out,
                                  sb_err *err) {
    return sb_bundle_read_rows(b, t, 0, sb_bundle_rows(t), out, err);
}

static inline void made_u32(sb_buf *b, uint32_t x) {
    uint8_t bytes[4];
    sb_store32(bytes, x);
    sb_buf_add(b, bytes, 4);
}

/* A block of entries: each one a restart. */
static inline void made_entry(sb_buf *b, uint64_t shared, sb_slice fresh, sb_slice value) {
    sb_pb_add_varint(b, shared);
    sb_pb_add_varint(b, fresh.n);
    sb_pb_add_varint(b, value.n);
    sb_buf_add_slice(b, fresh);
    sb_buf_add_slice(b, value);
}

typedef struct made_handle {
    uint64_t offset, size;
} made_handle;

/* Block bytes with type and checksum. */
static inline made_handle made_block(sb_buf *file, sb_slice block, uint8_t type) {
    made_handle h = {file->n, block.n};
    sb_buf_add_slice(file, block);
    sb_buf_add_byte(file, type);
    made_u32(file, sb_crc32c_masked(file->p + h.offset, block.n + 1));
    return h;
}

static inline void made_footer(sb_buf *file, made_handle meta, made_handle index) {
    size_t at = file->n;
    sb_pb_add_varint(file, meta.offset);
    sb_pb_add_varint(file, meta.size);
    sb_pb_add_varint(file, index.offset);
    sb_pb_add_varint(file, index.size);
    while (file->n < at + 40) sb_buf_add_byte(file, 0);
    made_u32(file, (uint32_t)SB_TABLE_MAGIC);
    made_u32(file, (uint32_t)(SB_TABLE_MAGIC >> 32));
}

/* Appends index and footer over data blocks that are there already. */
static inline void made_index(sb_buf *file, const made_handle *blocks, size_t n) {
    sb_buf index = made_buf(), restarts = made_buf();
    for (size_t i = 0; i < n; i++) {
        uint8_t value[20], key[4] = {0xFF, (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i};
        size_t m = sb_pb_put_varint(value, blocks[i].offset);
        m += sb_pb_put_varint(value + m, blocks[i].size);
        made_u32(&restarts, (uint32_t)index.n);
        made_entry(&index, 0, sb_slice_of(key, 4), sb_slice_of(value, m));
    }
    if (n == 0) made_u32(&restarts, 0);
    uint32_t count = (uint32_t)(restarts.n / 4);
    sb_buf_add_slice(&index, sb_buf_slice(&restarts));
    made_u32(&index, count);
    made_handle meta = made_block(file, SB_LIT("\0\0\0\0\1\0\0\0"), 0);
    made_footer(file, meta, made_block(file, sb_buf_slice(&index), 0));
    sb_buf_fini(&index);
    sb_buf_fini(&restarts);
}

/* A file of one data block: entries, one restart at 0. */
static inline void made_table(sb_buf *file, sb_slice entries) {
    sb_buf block = made_buf();
    sb_buf_add_slice(&block, entries);
    made_u32(&block, 0);
    made_u32(&block, 1);
    made_handle h = made_block(file, sb_buf_slice(&block), 0);
    made_index(file, &h, 1);
    sb_buf_fini(&block);
}

#endif
