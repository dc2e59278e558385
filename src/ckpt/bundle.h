/* bundle.h: reads a checkpoint: TensorFlow's bundle of an index and data files (version 2).
 *
 *   PREFIX.index                 table.h: key -> BundleEntryProto; the empty key -> header
 *   PREFIX.data-SSSSS-of-NNNNN   the tensors' bytes, one behind the other, no framing
 *
 *   header   1 num_shards | 2 endianness | 3 version {1 producer, 2 min_consumer, 3 bad_consumers}
 *   entry    1 dtype | 2 shape | 3 shard_id | 4 offset | 5 size | 6 masked crc32c | 7 slices
 *
 * A variable that was saved in pieces has an entry with `slices` and no bytes of its own, and one
 * entry a piece under an encoded key (slice_key.h). Here it is one tensor like any other.
 *
 * What is read is checked: ranges against the file, the size against dtype and shape, checksums
 * over all of the tensor's bytes even when only a part is wanted. Numbers come as the machine's
 * little-endian elements, row-major, whatever the producer's byte order was.
 *
 * Threads: after open a bundle never changes but for its open files: one thread at a time.
 * Cost: open is one pass over the index; a read is one pass over the tensor's bytes. */
#ifndef SB_CKPT_BUNDLE_H
#define SB_CKPT_BUNDLE_H

#include "base/arena.h"
#include "base/buf.h"
#include "fsio/fs.h"

typedef struct sb_bundle sb_bundle;

typedef struct sb_bundle_limits {
    size_t max_index;  /* bytes of the index file */
    size_t max_memory; /* for all names and shapes */
    size_t max_key;
    size_t max_slices;  /* of one tensor */
    size_t max_strings; /* bytes of one tensor of strings */
} sb_bundle_limits;

extern const sb_bundle_limits sb_bundle_default_limits;

/* One tensor; lives as long as its bundle. */
typedef struct sb_bundle_tensor {
    sb_slice name; /* the key; a NUL follows */
    sb_dtype dtype;
    uint32_t rank;
    const int64_t *dims;
    uint64_t count;       /* elements */
    uint32_t slice_count; /* pieces; 0: saved whole */
    /* for bundle.c */
    uint32_t shard;
    uint32_t crc; /* masked */
    uint64_t offset, size;
    const int64_t *extents; /* start and length, a pair a dimension, rank pairs a piece */
} sb_bundle_tensor;

/* Reads the index. With dir, prefix is a path strictly beneath it (beneath.h); without, it is the
 * user's own and taken as it is. limits NULL: the defaults. SB_NOT_FOUND when there is no index;
 * SB_CORRUPT; SB_INVALID for a version or a path that is not for us; SB_LIMIT; SB_IO. */
sb_status sb_bundle_open(sb_bundle **out, const sb_fs *fs, const sb_alloc *alloc, const char *dir,
                         sb_slice prefix, const sb_bundle_limits *limits, sb_err *err);
/* NULL is legal. */
void sb_bundle_close(sb_bundle *b);

/* In byte order of names; the pieces of a partitioned variable are not among them. */
size_t sb_bundle_count(const sb_bundle *b);
const sb_bundle_tensor *sb_bundle_at(const sb_bundle *b, size_t i);
/* NULL when there is none of that name. */
const sb_bundle_tensor *sb_bundle_find(const sb_bundle *b, sb_slice name);
uint32_t sb_bundle_shards(const sb_bundle *b);

/* Appends the elements of rows from .. from + rows (of the first dimension; a scalar is one row),
 * or of all of them with sb_bundle_read. SB_INVALID for strings and other types without elements
 * of one size, and for rows that are not there. After a failure what was appended is taken back. */
sb_status sb_bundle_read(sb_bundle *b, const sb_bundle_tensor *t, sb_buf *out, sb_err *err);
sb_status sb_bundle_read_rows(sb_bundle *b, const sb_bundle_tensor *t, uint64_t from, uint64_t rows,
                              sb_buf *out, sb_err *err);
/* How many rows there are. */
uint64_t sb_bundle_rows(const sb_bundle_tensor *t);

/* The elements of a tensor of strings (or of variants: each a serialized message), t->count of
 * them, in the arena. */
sb_status sb_bundle_read_strings(sb_bundle *b, const sb_bundle_tensor *t, sb_arena *arena,
                                 sb_slice **out, sb_err *err);

#endif
