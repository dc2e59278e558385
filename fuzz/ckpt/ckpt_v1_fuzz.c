/* ckpt_v1_fuzz.c: checkpoints of version 1. Blocks get right checksums first, so that the fuzzer
 * reaches what lies behind them. Every tensor is read. */
#include <errno.h>
#include <stdlib.h>

#include "base/slice.h"
#include "ckpt/bundle/bundle.h"
#include "ckpt/table/table.h"
#include "codec/crc32c/crc32c.h"
#include "codec/proto/proto.h"
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

static void mend(uint8_t *file, size_t n, uint64_t offset, uint64_t size) {
    if (offset > n || size > n - offset || n - offset - size < 5) return;
    sb_store32(file + offset + size + 1, sb_crc32c_masked(file + offset, (size_t)size + 1));
}

/* The index block, and each block that one of its entries names. */
static void mend_all(uint8_t *file, size_t n) {
    if (n < SB_TABLE_FOOTER) return;
    sb_store64(file + n - 8, SB_TABLE_MAGIC);
    n -= SB_TABLE_FOOTER;
    sb_pb c = {file + n, file + n + 40};
    uint64_t h[4];
    for (size_t i = 0; i < 4; i++)
        if (!sb_pb_varint(&c, &h[i])) return;
    if (h[2] > n || h[3] > n - h[2]) return;
    c = sb_pb_over(sb_slice_of(file + h[2], (size_t)h[3]));
    uint64_t shared, fresh, length, offset, size;
    while (sb_pb_varint(&c, &shared) && sb_pb_varint(&c, &fresh) && sb_pb_varint(&c, &length)) {
        size_t left = (size_t)(c.end - c.p);
        if (fresh > left || length > left - fresh) break;
        sb_pb value = sb_pb_over(sb_slice_of(c.p + fresh, (size_t)length));
        if (sb_pb_varint(&value, &offset) && sb_pb_varint(&value, &size))
            mend(file, n, offset, size);
        c.p += fresh + length;
    }
    mend(file, n, h[2], h[3]);
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
    mend_all(file, size);
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
