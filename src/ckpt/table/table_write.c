/* table_write.c: blocks, their index, the footer; the byte table is in table.h. */
#include "ckpt/table/table_write.h"

#include "base/slice.h"
#include "ckpt/table/table.h"
#include "codec/crc32c/crc32c.h"
#include "codec/proto/proto.h"
#include "base/banned.h"

#define BLOCK_SIZE ((size_t)256 << 10)
#define RESTART_EVERY 16

void sb_table_writer_init(sb_table_writer *w, const sb_alloc *alloc, size_t cap) {
    *w = (sb_table_writer){0};
    sb_buf *const all[] = {&w->file,  &w->block,          &w->restarts,
                           &w->index, &w->index_restarts, &w->last_key};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sb_buf_init(all[i], alloc, cap);
}

void sb_table_writer_fini(sb_table_writer *w) {
    sb_buf_fini(&w->file);
    sb_buf_fini(&w->block);
    sb_buf_fini(&w->restarts);
    sb_buf_fini(&w->index);
    sb_buf_fini(&w->index_restarts);
    sb_buf_fini(&w->last_key);
}

static void add_u32(sb_buf *b, uint32_t x) {
    uint8_t bytes[4];
    sb_store32(bytes, x);
    sb_buf_add(b, bytes, 4);
}

static void add_block_entry(sb_buf *block, size_t shared, sb_slice key, sb_slice value) {
    sb_pb_add_varint(block, shared);
    sb_pb_add_varint(block, key.n - shared);
    sb_pb_add_varint(block, value.n);
    if (key.n > shared) sb_buf_add(block, key.p + shared, key.n - shared);
    sb_buf_add_slice(block, value);
}

/* Appends a block with its restarts, type and checksum, and empties it. */
static void put_block(sb_table_writer *w, sb_buf *block, sb_buf *restarts) {
    if (restarts->n == 0) add_u32(restarts, 0);
    uint32_t count = (uint32_t)(restarts->n / 4);
    w->offset = w->file.n;
    sb_buf_add_slice(&w->file, sb_buf_slice(block));
    sb_buf_add_slice(&w->file, sb_buf_slice(restarts));
    add_u32(&w->file, count);
    w->size = w->file.n - w->offset;
    sb_buf_add_byte(&w->file, 0); /* stored */
    if (w->file.failed == SB_OK)
        add_u32(&w->file, sb_crc32c_masked(w->file.p + w->offset, (size_t)w->size + 1));
    if (block->failed == SB_OK) block->n = 0;
    if (restarts->failed == SB_OK) restarts->n = 0;
}

static void put_data_block(sb_table_writer *w) {
    if (w->block.n == 0) return;
    put_block(w, &w->block, &w->restarts);
    w->entries = 0;
    w->is_pending = true;
}

static void put_index_entry(sb_table_writer *w, sb_slice key) {
    uint8_t handle[20];
    size_t n = sb_pb_put_varint(handle, w->offset);
    n += sb_pb_put_varint(handle + n, w->size);
    add_u32(&w->index_restarts, (uint32_t)w->index.n);
    add_block_entry(&w->index, 0, key, sb_slice_of(handle, n));
    w->is_pending = false;
}

static size_t common_bytes(sb_slice a, sb_slice b) {
    size_t n = 0;
    while (n < a.n && n < b.n && a.p[n] == b.p[n]) n++;
    return n;
}

/* A short key that is not below the last one and below the next. last_key is changed into it. */
static void put_separator(sb_table_writer *w, sb_slice next) {
    sb_buf *last = &w->last_key;
    size_t n = common_bytes(sb_buf_slice(last), next);
    if (n < last->n && n < next.n && last->p[n] < 0xFF && last->p[n] + 1 < next.p[n]) {
        last->p[n]++;
        last->n = n + 1;
    }
    put_index_entry(w, sb_buf_slice(last));
}

/* A short key that is not below the last one. */
static void put_successor(sb_table_writer *w) {
    sb_buf *last = &w->last_key;
    size_t n = 0;
    while (n < last->n && last->p[n] == 0xFF) n++;
    if (n < last->n) {
        last->p[n]++;
        last->n = n + 1;
    }
    put_index_entry(w, sb_buf_slice(last));
}

void sb_table_writer_add(sb_table_writer *w, sb_slice key, sb_slice value) {
    if (w->file.n + w->block.n && key.n + value.n >= 2 * BLOCK_SIZE) put_data_block(w);
    if (w->is_pending) put_separator(w, key);
    size_t shared = 0;
    if (w->block.n == 0 || w->entries == RESTART_EVERY) {
        add_u32(&w->restarts, (uint32_t)w->block.n);
        w->entries = 0;
    } else {
        shared = common_bytes(sb_buf_slice(&w->last_key), key);
    }
    add_block_entry(&w->block, shared, key, value);
    w->entries++;
    if (w->last_key.failed == SB_OK) w->last_key.n = 0; /* a failure is not forgotten */
    sb_buf_add_slice(&w->last_key, key);
    if (w->block.n + w->restarts.n + 4 >= BLOCK_SIZE) put_data_block(w);
}

static void add_handle(sb_buf *out, uint64_t offset, uint64_t size) {
    sb_pb_add_varint(out, offset);
    sb_pb_add_varint(out, size);
}

sb_status sb_table_writer_finish(sb_table_writer *w, sb_slice *out, sb_err *err) {
    put_data_block(w);
    if (w->is_pending) put_successor(w);
    put_block(w, &w->block, &w->restarts); /* the metaindex: empty */
    uint64_t meta_offset = w->offset, meta_size = w->size;
    put_block(w, &w->index, &w->index_restarts);
    size_t footer = w->file.n;
    add_handle(&w->file, meta_offset, meta_size);
    add_handle(&w->file, w->offset, w->size);
    while (w->file.failed == SB_OK && w->file.n < footer + 40) sb_buf_add_byte(&w->file, 0);
    uint8_t magic[8];
    sb_store64(magic, SB_TABLE_MAGIC);
    sb_buf_add(&w->file, magic, sizeof magic);
    sb_buf *const all[] = {&w->block,          &w->restarts, &w->index,
                           &w->index_restarts, &w->last_key, &w->file};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sb_status status = sb_buf_check(all[i], "a checkpoint's index", err);
        if (status != SB_OK) return status;
    }
    *out = sb_buf_slice(&w->file);
    return SB_OK;
}
