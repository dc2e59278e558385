/* table_write.h: writes the sorted table of strings that table.h reads, byte for byte as TensorFlow
 * does: blocks of about 256 KiB, a restart every 16 entries, nothing compressed.
 *
 * Keys are added in strictly ascending order. The whole file is built in memory. Failures (memory,
 * the cap) are kept and told by finish. Threads: a writer belongs to one. */
#ifndef SB_CKPT_TABLE_TABLE_WRITE_H
#define SB_CKPT_TABLE_TABLE_WRITE_H

#include "base/buf.h"

typedef struct sb_table_writer {
    sb_buf file;
    sb_buf block, restarts; /* the data block that is being filled */
    size_t entries;         /* since the last restart */
    sb_buf index, index_restarts;
    sb_buf last_key;
    bool is_pending; /* the last block's index entry waits for the next key */
    uint64_t offset, size;
} sb_table_writer;

void sb_table_writer_init(sb_table_writer *w, const sb_alloc *alloc, size_t cap);
void sb_table_writer_fini(sb_table_writer *w);

void sb_table_writer_add(sb_table_writer *w, sb_slice key, sb_slice value);
/* The whole file; it lives until fini. */
sb_status sb_table_writer_finish(sb_table_writer *w, sb_slice *out, sb_err *err);

#endif
