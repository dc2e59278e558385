/* bundle_int.h: a bundle from inside. bundle.c makes it from an index, bundle_v1.c from a file of
 * version 1, bundle_files.c opens data files, bundle_read.c reads numbers, bundle_stream.c some at
 * a time, bundle_strings.c strings, bundle_pieces.c finds the pieces of partitioned variables. */
#ifndef SB_CKPT_BUNDLE_BUNDLE_INT_H
#define SB_CKPT_BUNDLE_BUNDLE_INT_H

#include <pthread.h>

#include "base/vec.h"
#include "ckpt/bundle/box.h"
#include "ckpt/bundle/bundle.h"

/* Data files that are kept open between reads. */
#define SB_BUNDLE_OPEN_FILES 16

typedef struct sb_shard_file {
    int file; /* -1: this place is free */
    uint32_t shard;
    uint32_t users;
    uint64_t size;
    uint64_t used; /* when, as a number of uses */
} sb_shard_file;

typedef struct sb_shard_map {
    uint32_t shard;
    const uint8_t *p;
    size_t size;
} sb_shard_map;

typedef SB_VEC(sb_bundle_tensor) sb_bundle_entries;

struct sb_bundle {
    const sb_fs *fs;
    const sb_alloc *alloc;
    sb_bundle_limits limits;
    sb_arena arena;  /* dir, prefix, all names, shapes and extents */
    const char *dir; /* NULL: the prefix is the user's own */
    sb_slice prefix;
    sb_bundle_format format;
    uint32_t shards;
    bool is_swapped;           /* the producer's byte order is not little-endian */
    sb_bundle_entries tensors; /* in order of names */
    sb_bundle_entries pieces;  /* in order of their keys */
    pthread_mutex_t lock;      /* guards what follows */
    sb_shard_file files[SB_BUNDLE_OPEN_FILES];
    uint64_t uses;
    SB_VEC(sb_shard_map) maps;
};

/* Reads a table whose first entry is a header with the empty key, and hands over all entries. name:
 * of the file, for messages. */
typedef sb_status (*sb_bundle_entry_fn)(sb_bundle *b, sb_slice key, sb_slice value,
                                        const char *name, sb_err *err);
sb_status sb_bundle_walk_table(sb_bundle *b, sb_slice file, const char *name, size_t max_key,
                               sb_bundle_entry_fn header, sb_bundle_entry_fn entry, sb_err *err);

/* Adds an entry of an index: a tensor, or a piece when its key begins with a zero byte. */
sb_status sb_bundle_add_entry(sb_bundle *b, const sb_bundle_tensor *t, sb_err *err);
/* Makes the count of elements from the dims; false when they overflow or are negative. */
bool sb_bundle_count_elements(const int64_t *dims, uint32_t rank, uint64_t *count);
/* The extents of one TensorSliceProto: rank pairs of start and length at to. An extent without a
 * length is the whole dimension: length -1. */
bool sb_bundle_read_extents(sb_slice bytes, uint32_t rank, int64_t *to);
/* Reads a TensorShapeProto; false for an unknown rank, for too many and for negative dims. */
bool sb_bundle_read_shape(sb_slice bytes, int64_t dims[SB_CKPT_MAX_RANK], uint32_t *rank);

/* An entry by its key; NULL when there is none. */
const sb_bundle_tensor *sb_bundle_entry(const sb_bundle_entries *entries, sb_slice key);

/* ---- version 1 (bundle_v1.c) ----------------------------------------------------------------- */

/* Reads a table of version 1; a sharded checkpoint has several. */
sb_status sb_bundle_read_v1(sb_bundle *b, sb_slice file, const char *name, sb_err *err);
/* Puts the pieces of all tables in order. */
sb_status sb_bundle_join_v1(sb_bundle *b, sb_err *err);
/* How many files a sharded checkpoint of that name has, which is a pattern (NAME-?????-of-00002) or
 * the name of one of them; 0: the name is not of that kind. */
uint32_t sb_bundle_v1_files(sb_slice prefix);
/* The path of its i-th file; the prefix itself when there is only one. False: it is too long. */
bool sb_bundle_v1_path(sb_slice prefix, uint32_t i, char *path, size_t room);
/* The elements of a piece, row-major and little-endian, appended to out. */
sb_status sb_bundle_v1_bytes(const sb_bundle_tensor *piece, sb_buf *out, sb_err *err);
/* The strings of a piece, count of them. */
sb_status sb_bundle_v1_strings(const sb_bundle_tensor *piece, sb_slice *out, sb_err *err);

/* ---- data files (bundle_files.c) ------------------------------------------------------------- */

/* An open data file; what acquire gave goes back to release. */
typedef struct sb_shard_use {
    int file;
    int slot; /* -1: it is not kept */
} sb_shard_use;

/* Opens the data file of an entry and checks that the entry lies inside, and is as large as its
 * shape needs: a lie in the index never takes more memory than a file has. */
sb_status sb_bundle_acquire(sb_bundle *b, const sb_bundle_tensor *t, sb_shard_use *out,
                            sb_err *err);
void sb_bundle_release(sb_bundle *b, sb_shard_use use);
void sb_bundle_close_files(sb_bundle *b);
/* "PREFIX.data-00001-of-00002", with a NUL. */
sb_status sb_bundle_data_path(const sb_bundle *b, uint32_t shard, char *path, size_t room,
                              sb_err *err);

/* ---- pieces (bundle_pieces.c) ---------------------------------------------------------------- */

/* Sorts by name, and those of one name by count. The entries that each piece of a partitioned
 * variable brought (all but the name and the pieces are equal) become one. *twice: an entry whose
 * name another one has that is no piece of the same tensor; NULL: none. False: no memory. */
bool sb_bundle_sort_and_join(sb_bundle_entries *entries, sb_arena *arena,
                             const sb_bundle_tensor **twice);

/* Calls back with each piece that meets the box (starts and lengths, lengths are never -1): where
 * the common part begins in the piece and in the box, and its lengths. Checks before that the
 * pieces are there, do not overlap and cover the box. */
typedef struct sb_piece_part {
    const sb_bundle_tensor *piece;
    const int64_t *in_piece, *in_box, *length;
} sb_piece_part;
typedef sb_status (*sb_piece_fn)(void *ud, const sb_piece_part *part, sb_err *err);
sb_status sb_bundle_each_piece(sb_bundle *b, const sb_bundle_tensor *t, const int64_t *start,
                               const int64_t *length, sb_piece_fn each, void *ud, sb_err *err);

/* Turns the bytes of each number of `unit` bytes round. */
void sb_bundle_swap_units(void *p, size_t n, size_t unit);
/* The numbers of an entry as they stand in its data file, turned into little-endian. */
void sb_bundle_swap(const sb_bundle *b, const sb_bundle_tensor *t, void *p, size_t n);
/* SB_INVALID: the tensor holds something else. */
sb_status sb_bundle_no_numbers(const sb_bundle *b, const sb_bundle_tensor *t, sb_err *err);
sb_status sb_bundle_bad_checksum(const sb_bundle *b, const sb_bundle_tensor *t, sb_err *err);

#endif
