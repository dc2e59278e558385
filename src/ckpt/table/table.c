/* table.c: footer, blocks, entries; the byte table is in table.h. */
#include "ckpt/table/table.h"

#include "base/checked.h"
#include "ckpt/table/snappy.h"
#include "codec/crc32c/crc32c.h"
#include "base/banned.h"

#define TRAILER 5

typedef struct handle {
    uint64_t offset, size;
} handle;

static bool read_handle(sb_pb *c, handle *out) {
    return sb_pb_varint(c, &out->offset) && sb_pb_varint(c, &out->size);
}

static size_t offset_in_file(const sb_table *t, const void *p) {
    return (size_t)((const uint8_t *)p - t->file.p);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void block_init(sb_table_block *b, const sb_alloc *alloc, const sb_table_limits *limits) {
    *b = (sb_table_block){0};
    sb_buf_init(&b->unpacked, alloc, limits->max_block);
    sb_buf_init(&b->key, alloc, limits->max_key);
}

static void block_fini(sb_table_block *b) {
    sb_buf_fini(&b->unpacked);
    sb_buf_fini(&b->key);
}

static sb_status unpack(sb_table *t, sb_table_block *b, sb_slice packed, sb_err *err) {
    uint64_t n;
    size_t place = offset_in_file(t, packed.p);
    if (!sb_snappy_length(packed, &n))
        return sb_fail(err, SB_CORRUPT, place, "%s: a compressed block without its length",
                       t->name);
    if (n > t->limits.max_block || n > t->limits.max_unpacked - t->unpacked)
        return sb_fail(err, SB_LIMIT, place, "%s: a block unpacks to %llu bytes, over the limit",
                       t->name, (unsigned long long)n);
    t->unpacked += (size_t)n;
    sb_buf_clear(&b->unpacked);
    if (!sb_buf_reserve(&b->unpacked, (size_t)n + 1))
        return sb_buf_check(&b->unpacked, "a block", err);
    if (!sb_snappy_decode(packed, b->unpacked.p, (size_t)n))
        return sb_fail(err, SB_CORRUPT, place, "%s: a compressed block is malformed", t->name);
    b->unpacked.n = (size_t)n;
    return SB_OK;
}

/* Splits a block into entries and restarts. */
static sb_status open_bytes(sb_table *t, sb_table_block *b, sb_slice bytes, size_t place,
                            sb_err *err) {
    size_t count = bytes.n < 4 ? 0 : sb_load32(bytes.p + bytes.n - 4);
    if (bytes.n < 4 || count == 0 || count > (bytes.n - 4) / 4)
        return sb_fail(err, SB_CORRUPT, place, "%s: a block's restarts don't fit into it", t->name);
    b->entries = sb_slice_of(bytes.p, bytes.n - 4 - 4 * count);
    b->restarts = bytes.p + b->entries.n;
    b->restart_count = count;
    b->restart_next = 0;
    b->at = 0;
    sb_buf_clear(&b->key);
    return SB_OK;
}

/* Checks and opens the block that a handle names. */
static sb_status open_block(sb_table *t, sb_table_block *b, handle h, sb_err *err) {
    size_t whole;
    if (h.size > SIZE_MAX - TRAILER || h.offset > t->file.n ||
        (whole = (size_t)h.size + TRAILER) > t->file.n - (size_t)h.offset)
        return sb_fail(err, SB_CORRUPT, 0, "%s: a block lies outside of the file", t->name);
    size_t place = (size_t)h.offset, size = (size_t)h.size;
    const uint8_t *p = t->file.p + place;
    if (sb_crc32c_masked(p, size + 1) != sb_load32(p + size + 1))
        return sb_fail(err, SB_CORRUPT, place, "%s: a block's checksum does not match", t->name);
    if (p[size] == 0) return open_bytes(t, b, sb_slice_of(p, size), place, err);
    if (p[size] != 1)
        return sb_fail(err, SB_CORRUPT, place, "%s: a block of unknown type %d", t->name, p[size]);
    sb_status status = unpack(t, b, sb_slice_of(p, size), err);
    return status == SB_OK ? open_bytes(t, b, sb_buf_slice(&b->unpacked), place, err) : status;
}

/* Is this entry where the restarts say one begins? A restart between entries, or one that shares,
 * would give a reader that jumps other keys than one that walks. */
static bool restarts_agree(sb_table_block *b, size_t at, uint64_t shared) {
    if (b->restart_next == b->restart_count) return true;
    size_t restart = sb_load32(b->restarts + 4 * b->restart_next);
    if (restart < at) return false;
    if (restart > at) return at != 0;
    b->restart_next++;
    return shared == 0;
}

static bool is_block_over(sb_table_block *b) {
    if (b->restart_next == b->restart_count) return true;
    /* an empty block has one restart all the same */
    return b->entries.n == 0 && b->restart_count == 1 && sb_load32(b->restarts) == 0;
}

/* The next entry of a block; SB_END behind the last. */
static sb_status next_entry(sb_table *t, sb_table_block *b, sb_slice *value, sb_err *err) {
    if (b->at == b->entries.n) {
        if (is_block_over(b)) return SB_END;
        return sb_fail(err, SB_CORRUPT, 0, "%s: a block's restarts are not its entries", t->name);
    }
    sb_pb c = {b->entries.p + b->at, b->entries.p + b->entries.n};
    uint64_t shared, fresh, length;
    if (!sb_pb_varint(&c, &shared) || !sb_pb_varint(&c, &fresh) || !sb_pb_varint(&c, &length))
        return sb_fail(err, SB_CORRUPT, b->at, "%s: an entry's lengths are cut", t->name);
    size_t left = (size_t)(c.end - c.p);
    if (fresh > left || length > left - fresh || shared > b->key.n)
        return sb_fail(err, SB_CORRUPT, b->at, "%s: an entry runs out of its block", t->name);
    if (!restarts_agree(b, b->at, shared))
        return sb_fail(err, SB_CORRUPT, b->at, "%s: a block's restarts are not its entries",
                       t->name);
    /* Greater than the key before: there the first byte that differs decides. */
    sb_slice old = sb_slice_of(b->key.p ? b->key.p + shared : NULL, b->key.n - (size_t)shared);
    sb_slice new = sb_slice_of(c.p, (size_t)fresh);
    if (b->at != 0 && sb_slice_cmp(old, new) >= 0)
        return sb_fail(err, SB_CORRUPT, b->at, "%s: its keys are not in order", t->name);
    b->key.n = (size_t)shared;
    sb_buf_add_slice(&b->key, new);
    *value = sb_slice_of(c.p + fresh, (size_t)length);
    b->at = (size_t)(c.p - b->entries.p) + (size_t)fresh + (size_t)length;
    return sb_buf_check(&b->key, "a checkpoint's key", err);
}

/* ---- the walk -------------------------------------------------------------------------------- */

sb_status sb_table_init(sb_table *t, const sb_alloc *alloc, const char *name, sb_slice file,
                        const sb_table_limits *limits, sb_err *err) {
    *t = (sb_table){.name = name, .file = file, .limits = *limits};
    block_init(&t->index, alloc, limits);
    block_init(&t->data, alloc, limits);
    sb_buf_init(&t->last, alloc, limits->max_key);
    if (file.n < SB_TABLE_FOOTER)
        return sb_fail(err, SB_CORRUPT, 0, "%s: too short to be a checkpoint's index", name);
    const uint8_t *footer = file.p + file.n - SB_TABLE_FOOTER;
    if (sb_load64(footer + 40) != SB_TABLE_MAGIC)
        return sb_fail(err, SB_CORRUPT, file.n - 8, "%s: not a checkpoint's index", name);
    sb_pb c = {footer, footer + 40};
    handle meta, index;
    if (!read_handle(&c, &meta) || !read_handle(&c, &index))
        return sb_fail(err, SB_CORRUPT, file.n - SB_TABLE_FOOTER, "%s: its footer is malformed",
                       name);
    /* No block reaches into the footer. */
    t->file.n -= SB_TABLE_FOOTER;
    return open_block(t, &t->index, index, err);
}

void sb_table_fini(sb_table *t) {
    block_fini(&t->index);
    block_fini(&t->data);
    sb_buf_fini(&t->last);
}

static sb_status next_block(sb_table *t, sb_err *err) {
    sb_slice value;
    handle h;
    sb_status status = next_entry(t, &t->index, &value, err);
    if (status != SB_OK) return status;
    sb_pb c = sb_pb_over(value);
    if (!read_handle(&c, &h))
        return sb_fail(err, SB_CORRUPT, 0, "%s: its index is malformed", t->name);
    if (h.offset < t->end)
        return sb_fail(err, SB_CORRUPT, t->end, "%s: its blocks are not in order", t->name);
    status = open_block(t, &t->data, h, err);
    if (status == SB_OK) t->end = (size_t)h.offset + (size_t)h.size + TRAILER;
    return status;
}

sb_status sb_table_next(sb_table *t, sb_slice *key, sb_slice *value, sb_err *err) {
    for (;;) {
        sb_status status;
        if (!t->in_data) {
            status = next_block(t, err);
            if (status != SB_OK) return status;
            t->in_data = true;
        }
        bool is_first = t->data.at == 0;
        status = next_entry(t, &t->data, value, err);
        if (status == SB_OK) {
            *key = sb_buf_slice(&t->data.key);
            if (is_first && t->has_last && sb_slice_cmp(sb_buf_slice(&t->last), *key) >= 0)
                return sb_fail(err, SB_CORRUPT, 0, "%s: its keys are not in order", t->name);
            return SB_OK;
        }
        if (status != SB_END) return status;
        t->in_data = false;
        if (t->data.at == 0) continue; /* an empty block has no last key */
        sb_buf_clear(&t->last);
        sb_buf_add_slice(&t->last, sb_buf_slice(&t->data.key));
        t->has_last = true;
        status = sb_buf_check(&t->last, "a checkpoint's key", err);
        if (status != SB_OK) return status;
    }
}
