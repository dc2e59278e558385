/* import_int.h: what the two kinds of files share: one input, one checkpoint that is written. */
#ifndef SB_CKPT_EXPORT_IMPORT_INT_H
#define SB_CKPT_EXPORT_IMPORT_INT_H

#include "ckpt/bundle/bundle_write.h"
#include "ckpt/export/import.h"

/* One read. A multiple of every element's size. */
#define SB_IMPORT_BLOCK ((size_t)1 << 20)

typedef struct sb_import_file {
    const sb_env *env;
    const sb_import_opts *opts; /* never NULL */
    sb_import_result *result;
    const char *path; /* for messages */
    int file;
    uint64_t size;
    uint64_t all; /* bytes to come, for progress */
    sb_bundle_writer *w;
    uint8_t *block; /* SB_IMPORT_BLOCK bytes */
} sb_import_file;

/* Reads the input and writes every array into the checkpoint. */
sb_status sb_import_npz(sb_import_file *x, sb_err *err);
sb_status sb_import_safetensors(sb_import_file *x, sb_err *err);

bool sb_import_wants(const sb_import_file *x, sb_slice name);
/* Numbers of the array that was begun with sb_bundle_write_begin. */
sb_status sb_import_put(sb_import_file *x, const void *p, size_t n, sb_err *err);
/* A whole array of strings; the object graph is made to refer to what is imported only. */
sb_status sb_import_strings(sb_import_file *x, const sb_bundle_item *item, uint64_t bytes,
                            sb_err *err);

#endif
