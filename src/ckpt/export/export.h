/* export.h: a checkpoint's tensors as a file of another kind.
 *
 *   .npz          NumPy's archive: a ZIP file with one NAME.npy for each tensor, not compressed.
 *                 Strings become `S` arrays (NumPy cuts trailing zero bytes off); bfloat16 and
 *                 8-bit floats become void types of their size, as NumPy itself stores them
 *   .safetensors  a JSON header and the bytes. It has no strings and no 128-bit complex numbers:
 *                 such tensors are left out and counted
 *
 * The file appears under its name when it is whole. Checksums are verified on the way. Memory: one
 * tensor of strings, or a few MiB of numbers, at a time. */
#ifndef SB_CKPT_EXPORT_EXPORT_H
#define SB_CKPT_EXPORT_EXPORT_H

#include "base/env.h"
#include "ckpt/bundle/bundle.h"

typedef struct sb_export_opts {
    bool (*wants)(void *ud, sb_slice name); /* NULL: all */
    void (*progress)(void *ud, uint64_t bytes);
    void *ud;
} sb_export_opts;

typedef struct sb_export_result {
    size_t written, left_out; /* tensors */
    uint64_t bytes;           /* of elements */
} sb_export_result;

/* The kind follows from the ending of path; SB_INVALID for another one. */
sb_status sb_bundle_export(sb_bundle *b, const sb_env *env, const char *path,
                           const sb_export_opts *opts, sb_export_result *out, sb_err *err);

#endif
