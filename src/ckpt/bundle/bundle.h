/* bundle.h: reads a checkpoint: TensorFlow's bundle of an index and data files (version 2).
 *
 *   PREFIX.index                 table.h: key -> BundleEntryProto; the empty key -> header
 *   PREFIX.data-SSSSS-of-NNNNN   the tensors' bytes, one behind the other, no framing
 *
 *   header   1 num_shards | 2 endianness | 3 version {1 producer, 2 min_consumer, 3 bad_consumers}
 *   entry    1 dtype | 2 shape | 3 shard_id | 4 offset | 5 size | 6 masked crc32c | 7 slices
 *
 * A variable that was saved in pieces has an entry with `slices` and no bytes of its own, and one
 * entry for each piece under an encoded key (slice_key.h). Here it is one tensor like any other.
 * Where there is no PREFIX.index, a file PREFIX of version 1 is read, or all of a sharded one,
 * whose prefix is NAME-?????-of-00002 (bundle_v1.c).
 *
 * What is read is checked: ranges against the file, the size against dtype and shape, checksums
 * over all of the tensor's bytes even when only a part is wanted. Numbers come as little-endian
 * elements, row-major, whatever the producer's byte order was.
 *
 * Threads: after open every function may be called from several threads at once, but for close.
 * Cost: open is one pass over the index; a read is one pass over the tensor's bytes. */
#ifndef SB_CKPT_BUNDLE_BUNDLE_H
#define SB_CKPT_BUNDLE_BUNDLE_H

#include "base/arena.h"
#include "base/buf.h"
#include "fsio/fs.h"

typedef struct sb_bundle sb_bundle;

typedef struct sb_bundle_limits {
    size_t max_index;  /* bytes of the index file; of a whole file of version 1 */
    size_t max_memory; /* for all names and shapes; for the values too in version 1 */
    size_t max_key;
    size_t max_slices;  /* of one tensor */
    size_t max_strings; /* bytes of one tensor of strings */
} sb_bundle_limits;

extern const sb_bundle_limits sb_bundle_default_limits;

typedef enum sb_bundle_format { SB_BUNDLE_V1 = 1, SB_BUNDLE_V2 = 2 } sb_bundle_format;

/* One tensor; lives as long as its bundle. */
typedef struct sb_bundle_tensor {
    sb_slice name; /* the key; a NUL follows */
    sb_dtype dtype;
    uint32_t rank;
    const int64_t *dims;
    uint64_t count;       /* elements */
    uint32_t slice_count; /* pieces; 0: saved whole */
    /* Where its bytes are; nowhere for a tensor in pieces. */
    uint32_t shard;
    uint32_t crc; /* masked */
    uint64_t offset, size;
    const int64_t *extents; /* start and length, a pair for each dimension of each piece */
    sb_slice v1;            /* version 1: the TensorProto of a piece */
} sb_bundle_tensor;

/* Reads the index. With dir, prefix is a path strictly beneath it (beneath.h); without, it is the
 * user's own and taken as it is. limits NULL: the defaults. SB_NOT_FOUND when there is no index;
 * SB_CORRUPT; SB_INVALID for a version or a path that is not for us; SB_LIMIT; SB_IO. */
sb_status sb_bundle_open(sb_bundle **out, const sb_fs *fs, const sb_alloc *alloc, const char *dir,
                         sb_slice prefix, const sb_bundle_limits *limits, sb_err *err);
/* NULL is legal. Nothing may be reading. */
void sb_bundle_close(sb_bundle *b);

/* In byte order of names; the pieces of a partitioned variable are not among them. */
size_t sb_bundle_count(const sb_bundle *b);
const sb_bundle_tensor *sb_bundle_at(const sb_bundle *b, size_t i);
/* NULL when there is none of that name. */
const sb_bundle_tensor *sb_bundle_find(const sb_bundle *b, sb_slice name);
uint32_t sb_bundle_shards(const sb_bundle *b);
/* As it was opened; a NUL follows. */
sb_slice sb_bundle_prefix(const sb_bundle *b);
sb_bundle_format sb_bundle_format_of(const sb_bundle *b);
bool sb_bundle_is_big_endian(const sb_bundle *b);
/* The i-th piece that is stored for partitioned variables, in order of keys; NULL behind the last.
 * Its name is the encoded key. */
const sb_bundle_tensor *sb_bundle_piece_at(const sb_bundle *b, size_t i);

/* Bytes of one element; 0 for types that have no fixed size. */
size_t sb_bundle_width(const sb_bundle_tensor *t);
/* Bytes of all elements; for strings and variants the bytes that are stored. 0 when the shape is
 * too large to be true. */
uint64_t sb_bundle_bytes(sb_bundle *b, const sb_bundle_tensor *t);

/* Appends the elements of rows from .. from + rows (of the first dimension; a scalar is one row).
 * SB_INVALID for strings and other types without elements of one size, and for rows that are not
 * there. After a failure what was appended is taken back. */
sb_status sb_bundle_read_rows(sb_bundle *b, const sb_bundle_tensor *t, uint64_t from, uint64_t rows,
                              sb_buf *out, sb_err *err);
/* How many rows there are. */
uint64_t sb_bundle_rows(const sb_bundle_tensor *t);

/* The elements of a box into the caller's memory, which has exactly n bytes. extents: start and
 * length of each dimension, -1 for all of it; NULL: the whole tensor. SB_INVALID when the box is
 * not inside the tensor or has another size. After a failure `to` holds anything. */
sb_status sb_bundle_read_box(sb_bundle *b, const sb_bundle_tensor *t, const int64_t *extents,
                             void *to, size_t n, sb_err *err);

/* Several whole tensors at once, on all processors; large ones are read in parts. */
typedef struct sb_bundle_request {
    const sb_bundle_tensor *t;
    void *to;
    size_t n; /* sb_bundle_bytes */
} sb_bundle_request;
/* threads 0: one for each processor. The first failure in the order of requests is reported. */
sb_status sb_bundle_read_many(sb_bundle *b, const sb_bundle_request *requests, size_t count,
                              unsigned threads, sb_err *err);

/* All elements in order, some at a time, in little memory: whole elements, until there are none
 * (n is 0). The bytes are valid until the next call. The checksum is over all of a tensor, or of a
 * piece, so it is only known at its end: a failure then means that what came before was damaged. */
typedef struct sb_bundle_cursor sb_bundle_cursor;
sb_status sb_bundle_cursor_open(sb_bundle_cursor **out, sb_bundle *b, const sb_bundle_tensor *t,
                                sb_err *err);
sb_status sb_bundle_cursor_next(sb_bundle_cursor *c, sb_slice *out, sb_err *err);
/* NULL is legal. */
void sb_bundle_cursor_close(sb_bundle_cursor *c);

/* The same by a callback; an answer other than SB_OK ends it. */
typedef sb_status (*sb_bundle_sink)(void *ud, const uint8_t *p, size_t n, sb_err *err);
sb_status sb_bundle_stream(sb_bundle *b, const sb_bundle_tensor *t, sb_bundle_sink sink, void *ud,
                           sb_err *err);

/* Reads all bytes of an entry (a tensor that was saved whole, or a piece) and compares its
 * checksum; nothing is kept. For a tensor in pieces: are they all there and do they cover it? */
sb_status sb_bundle_verify(sb_bundle *b, const sb_bundle_tensor *t, sb_err *err);

/* The bytes of a tensor that was saved whole, in a mapping of its data file: nothing is copied. For
 * files that nobody writes to any more (cutting a mapped file short ends the process). The bytes
 * are valid until close; they may lie at an address that is no multiple of the element's size.
 * SB_INVALID for tensors in pieces, for strings, and for numbers of the other byte order. */
sb_status sb_bundle_map(sb_bundle *b, const sb_bundle_tensor *t, bool verify, sb_slice *out,
                        sb_err *err);

/* The elements of a tensor of strings (or of variants: each a serialized message), t->count of
 * them, in the arena. */
sb_status sb_bundle_read_strings(sb_bundle *b, const sb_bundle_tensor *t, sb_arena *arena,
                                 sb_slice **out, sb_err *err);

#endif
