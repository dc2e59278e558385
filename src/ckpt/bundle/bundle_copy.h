/* bundle_copy.h: copies a checkpoint, all of it or some tensors, under the same or other names.
 *
 * Pieces of partitioned variables stay pieces, shards stay shards, and tensors come in the order in
 * which they lie in the data files: a copy of all of one of TensorFlow's has the same bytes.
 * Checksums are verified on the way. The object graph of an object-based checkpoint is changed to
 * refer to what was copied. Numbers of the other byte order are turned, and files of version 1
 * become version 2. */
#ifndef SB_CKPT_BUNDLE_BUNDLE_COPY_H
#define SB_CKPT_BUNDLE_BUNDLE_COPY_H

#include "ckpt/bundle/bundle_write.h"

typedef struct sb_bundle_copy_opts {
    /* Appends the name that a tensor gets; false: it is left out. NULL: all, as they are called. */
    bool (*rename)(void *ud, sb_slice name, sb_buf *to);
    /* Called now and then with the bytes that are done. NULL: not wanted. */
    void (*progress)(void *ud, uint64_t bytes);
    void *ud;
    bool no_sync;
} sb_bundle_copy_opts;

/* *copied (may be NULL): how many tensors. */
sb_status sb_bundle_copy(sb_bundle *b, const sb_env *env, const char *prefix,
                         const sb_bundle_copy_opts *opts, size_t *copied, sb_err *err);

#endif
