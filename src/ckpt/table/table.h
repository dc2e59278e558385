/* table.h: reads the sorted table of strings that a checkpoint's .index file is.
 *
 *   file     data blocks | metaindex block | index block | footer of 48 bytes
 *   block    entries | u32 offset of each restart | u32 number of restarts
 *            then, outside of the block's size: u8 type (0 stored, 1 Snappy) | u32 masked crc32c of
 *            the block and the type
 *   entry    varint shared | varint fresh | varint value length | fresh key bytes | value
 *            key = the first `shared` bytes of the key before it + the fresh ones; at a restart
 *            shared is 0
 *   handle   varint offset | varint size, as the value of an entry of the index block
 *   footer   handle of the metaindex | handle of the index | zeros up to 40 | u64 magic
 *
 * In: the whole file, borrowed. Out: keys and values in order, one call each. Everything is
 * checked: magic, ranges, checksums, restarts, the order of keys (each is greater than the one
 * before) and of blocks (each behind the one before, so that none is read twice).
 *
 * Threads: a walk belongs to one thread.  Cost: one pass; memory for the longest key, and for one
 * unpacked block when it is compressed. */
#ifndef SB_CKPT_TABLE_TABLE_H
#define SB_CKPT_TABLE_TABLE_H

#include "base/buf.h"
#include "base/slice.h"
#include "codec/proto/proto.h"

#define SB_TABLE_FOOTER 48
#define SB_TABLE_MAGIC 0xdb4775248b80fb57u

typedef struct sb_table_limits {
    size_t max_key;      /* bytes of a key */
    size_t max_block;    /* bytes of an unpacked block */
    size_t max_unpacked; /* of all unpacked blocks together */
} sb_table_limits;

/* A block being walked. */
typedef struct sb_table_block {
    sb_slice entries;
    const uint8_t *restarts;
    size_t restart_count, restart_next;
    size_t at;
    sb_buf unpacked; /* when it was compressed */
    sb_buf key;
} sb_table_block;

typedef struct sb_table {
    const char *name; /* for messages */
    sb_slice file;
    sb_table_limits limits;
    size_t unpacked; /* bytes so far */
    size_t end;      /* of the last block that was opened: the next one lies behind it */
    sb_table_block index;
    sb_table_block data;
    bool in_data;
    sb_buf last; /* the last key of the block before */
    bool has_last;
} sb_table;

/* Begins a walk. The file and the name must outlive it. Call fini whatever the answer. */
sb_status sb_table_init(sb_table *t, const sb_alloc *alloc, const char *name, sb_slice file,
                        const sb_table_limits *limits, sb_err *err);
void sb_table_fini(sb_table *t);

/* The next entry: SB_OK, SB_END behind the last, SB_CORRUPT, SB_LIMIT, SB_NOMEM. The slices live
 * until the next call; the value lies in the file when its block is not compressed. */
sb_status sb_table_next(sb_table *t, sb_slice *key, sb_slice *value, sb_err *err);

#endif
