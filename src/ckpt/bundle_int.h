/* bundle_int.h: a bundle from inside: bundle.c makes it from the index, bundle_read.c reads data,
 * bundle_pieces.c puts partitioned variables together. */
#ifndef SB_CKPT_BUNDLE_INT_H
#define SB_CKPT_BUNDLE_INT_H

#include "ckpt/bundle.h"

/* TensorFlow's own bound on a tensor's dimensions. */
#define SB_BUNDLE_MAX_RANK 254

struct sb_bundle {
    const sb_fs *fs;
    const sb_alloc *alloc;
    sb_bundle_limits limits;
    sb_arena arena;  /* dir, prefix, all names, shapes and extents */
    const char *dir; /* NULL: the prefix is the user's own */
    sb_slice prefix;
    uint32_t shards;
    bool is_swapped; /* the producer's byte order is not little-endian */
    sb_buf tensors;  /* of sb_bundle_tensor, in order of names */
    sb_buf pieces;   /* the same for keys of pieces */
    int file;        /* the data file that was read last; -1: none */
    uint32_t file_shard;
    uint64_t file_size;
};

/* An entry by its key among the tensors or the pieces; NULL when there is none. */
const sb_bundle_tensor *sb_bundle_entry(const sb_buf *entries, sb_slice key);

/* Bytes of one element; 0 for types that have no fixed size. */
size_t sb_bundle_width(const sb_bundle_tensor *t);

/* Appends bytes keep .. keep + n of an entry that has bytes of its own, all of which are
 * checked. */
sb_status sb_bundle_read_bytes(sb_bundle *b, const sb_bundle_tensor *t, uint64_t keep, uint64_t n,
                               sb_buf *out, sb_err *err);
/* The strings of such an entry, in the arena. */
sb_status sb_bundle_own_strings(sb_bundle *b, const sb_bundle_tensor *t, sb_arena *arena,
                                sb_slice **out, sb_err *err);

/* Opens the data file of such an entry and sees to it that the entry lies inside, and is as large
 * as its shape asks for: a lie in the index never takes more memory than a file has. */
sb_status sb_bundle_go_to(sb_bundle *b, const sb_bundle_tensor *t, sb_err *err);

/* Do the pieces of t cover it, each element once, and are they all there? */
sb_status sb_bundle_check_pieces(sb_bundle *b, const sb_bundle_tensor *t, sb_err *err);
/* Rows of a partitioned tensor into to, which has room for them. */
sb_status sb_bundle_gather(sb_bundle *b, const sb_bundle_tensor *t, uint64_t from, uint64_t rows,
                           uint8_t *to, sb_err *err);
sb_status sb_bundle_gather_strings(sb_bundle *b, const sb_bundle_tensor *t, sb_arena *arena,
                                   sb_slice *to, sb_err *err);

#endif
