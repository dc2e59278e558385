/* export_int.h: what the two kinds of files share: one output that counts its bytes. */
#ifndef SB_CKPT_EXPORT_EXPORT_INT_H
#define SB_CKPT_EXPORT_EXPORT_INT_H

#include "ckpt/export/export.h"

typedef struct sb_export_file {
    sb_bundle *b;
    const sb_env *env;
    const sb_export_opts *opts;
    sb_export_result *result;
    const char *path; /* for messages */
    int file;
    uint64_t offset;
    uint32_t zip_crc; /* of the tensor that is being written */
    sb_buf gathered;  /* small writes */
} sb_export_file;

sb_status sb_export_put(sb_export_file *x, const void *p, size_t n, sb_err *err);
/* Streams a tensor's numbers; counts them as done. */
sb_status sb_export_numbers(sb_export_file *x, const sb_bundle_tensor *t, sb_err *err);
bool sb_export_wants(const sb_export_file *x, const sb_bundle_tensor *t);

sb_status sb_export_npz(sb_export_file *x, sb_err *err);
sb_status sb_export_safetensors(sb_export_file *x, sb_err *err);
/* The type that safetensors calls so; SB_NO_DTYPE: none. */
sb_dtype sb_safetensors_dtype(sb_slice name);

#endif
