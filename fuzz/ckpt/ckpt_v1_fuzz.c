/* ckpt_v1_fuzz.c: checkpoints of version 1. Blocks get right checksums first, so that the fuzzer
 * reaches what lies behind them. Every tensor is read. */
#include <errno.h>
#include <stdlib.h>

#include "base/slice.h"
#include "ckpt/bundle/bundle.h"
#include "table_bed.h"
#include "base/banned.h"

typedef struct memory {
    sb_fs fs;
    sb_slice file;
} memory;

static int open_file(void *ctx, const char *path, sb_open_mode mode) {
    (void)ctx;
    (void)mode;
    return strcmp(path, "x") == 0 ? 3 : -ENOENT;
}

static int64_t read_at(void *ctx, int file, void *to, size_t n, uint64_t offset) {
    const memory *m = ctx;
    (void)file;
    if (offset >= m->file.n) return 0;
    if (n > m->file.n - (size_t)offset) n = m->file.n - (size_t)offset;
    memcpy(to, m->file.p + offset, n);
    return (int64_t)n;
}

static int info_of(void *ctx, int file, sb_file_info *out) {
    const memory *m = ctx;
    (void)file;
    *out = (sb_file_info){.size = m->file.n, .is_file = true, .links = 1};
    return 0;
}

static int close_file(void *ctx, int file) {
    (void)ctx;
    (void)file;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const sb_bundle_limits limits = {.max_index = 1 << 20,
                                            .max_memory = 1 << 24,
                                            .max_key = 1 << 12,
                                            .max_slices = 64,
                                            .max_strings = 1 << 20};
    uint8_t *file = malloc(size ? size : 1);
    if (!file) return 0;
    if (size) memcpy(file, data, size);
    mend_table(file, size);
    memory m = {.file = sb_slice_of(file, size)};
    m.fs = (sb_fs){
        .ctx = &m, .open = open_file, .read_at = read_at, .info = info_of, .close = close_file};
    sb_bundle *b;
    sb_err err;
    if (sb_bundle_open(&b, &m.fs, &sb_alloc_libc, NULL, SB_LIT("x"), &limits, &err) == SB_OK) {
        for (size_t i = 0; i < sb_bundle_count(b) && i < 100; i++) {
            sb_buf out;
            sb_arena arena;
            sb_slice *strings;
            sb_buf_init(&out, &sb_alloc_libc, 1 << 22);
            sb_arena_init(&arena, &sb_alloc_libc, 4096, 1 << 22);
            const sb_bundle_tensor *t = sb_bundle_at(b, i);
            sb_bundle_read_rows(b, t, 0, sb_bundle_rows(t), &out, &err);
            sb_bundle_read_strings(b, sb_bundle_at(b, i), &arena, &strings, &err);
            sb_arena_fini(&arena);
            sb_buf_fini(&out);
        }
        sb_bundle_close(b);
    }
    free(file);
    return 0;
}
