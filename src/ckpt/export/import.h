/* import.h: a checkpoint from a file of another kind; what export.h writes, and more.
 *
 *   .npz          NumPy's archive, stored or deflated (zip_read.h, npy_header.h): C and Fortran
 *                 order, either byte order. Arrays of strings become tensors of strings
 *   .safetensors  a JSON header and the bytes
 *
 * The checkpoint has the arrays under their names, as TF1's Saver writes it; it is object-based
 * when the archive holds an object graph, as an exported one does.
 *
 * In: a file that may say anything; messages name the file and the array. The checkpoint appears
 * when it is whole. Memory: a few MiB of numbers at a time, all of an array of strings or in
 * Fortran order (they need their elements in another order). */
#ifndef SB_CKPT_EXPORT_IMPORT_H
#define SB_CKPT_EXPORT_IMPORT_H

#include <stdbool.h>

#include "base/env.h"
#include "base/status.h"

typedef struct sb_import_opts {
    bool (*wants)(void *ud, sb_slice name); /* NULL: all */
    /* Bytes that are done, of how many; NULL: not wanted. */
    void (*progress)(void *ud, uint64_t bytes, uint64_t all);
    void *ud;
    bool no_sync;
    uint64_t max_in_memory; /* bytes of an array that is read whole; 0: what memory there is */
} sb_import_opts;

typedef struct sb_import_result {
    size_t written; /* tensors */
    uint64_t bytes;
} sb_import_result;

/* The kind follows from the ending of path; SB_INVALID for another one. opts may be NULL. */
sb_status sb_bundle_import(const sb_env *env, const char *path, const char *prefix,
                           const sb_import_opts *opts, sb_import_result *out, sb_err *err);

#endif
