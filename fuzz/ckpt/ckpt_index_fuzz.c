/* ckpt_index_fuzz.c: any bytes as a checkpoint's index, over a data file of any bytes.
 *
 * Input: u16 length of the data file | the data file | the index. Checksums of blocks are made
 * right first (unless a byte of the data says not to), since no fuzzer guesses them. Whatever is
 * listed must be in order and found again; whatever is read must be as large as it says. */
#include <errno.h>
#include <stdlib.h>

#include "base/slice.h"
#include "ckpt/bundle/bundle.h"
#include "codec/crc32c/crc32c.h"
#include "codec/tensor.h"
#include "table_bed.h"
#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool condition) {
    if (!condition) abort();
}

/* ---- two files in memory --------------------------------------------------------------------- */

typedef struct files {
    sb_fs fs;
    sb_slice index, data;
    int open;
} files;

static int open_file(void *ctx, const char *path, sb_open_mode mode) {
    files *f = ctx;
    size_t n = strlen(path);
    if (mode != SB_OPEN_READ) return -EROFS;
    f->open++;
    return n > 6 && strcmp(path + n - 6, ".index") == 0 ? 1 : 2;
}

static sb_slice bytes_of(const files *f, int file) {
    return file == 1 ? f->index : f->data;
}

static int64_t read_at(void *ctx, int file, void *to, size_t n, uint64_t offset) {
    sb_slice s = bytes_of(ctx, file);
    if (offset >= s.n) return 0;
    if (n > s.n - offset) n = s.n - (size_t)offset;
    memcpy(to, s.p + offset, n);
    return (int64_t)n;
}

static int info_of(void *ctx, int file, sb_file_info *out) {
    *out = (sb_file_info){.size = bytes_of(ctx, file).n, .is_file = true};
    return 0;
}

static int close_file(void *ctx, int file) {
    (void)file;
    ((files *)ctx)->open--;
    return 0;
}

/* ---- the target ------------------------------------------------------------------------------ */

static void read_tensor(sb_bundle *b, const sb_bundle_tensor *t) {
    sb_buf out;
    sb_arena arena;
    sb_slice *strings;
    sb_err err;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 20);
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1 << 22);
    if (sb_bundle_read_rows(b, t, 0, sb_bundle_rows(t), &out, &err) == SB_OK)
        check(out.n == t->count * sb_dtype_size(t->dtype));
    sb_buf_clear(&out);
    uint64_t rows = sb_bundle_rows(t);
    if (rows > 1 && sb_bundle_read_rows(b, t, 1, rows / 2, &out, &err) == SB_OK)
        check(out.n == t->count / rows * (rows / 2) * sb_dtype_size(t->dtype));
    if (sb_bundle_read_strings(b, t, &arena, &strings, &err) == SB_OK) {
        uint32_t crc = 0; /* every byte is read, so that the sanitizer looks */
        for (uint64_t i = 0; i < t->count; i++) crc = sb_crc32c(crc, strings[i].p, strings[i].n);
    }
    sb_arena_fini(&arena);
    sb_buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const sb_bundle_limits limits = {.max_index = 1 << 20,
                                            .max_memory = 1 << 22,
                                            .max_key = 1 << 12,
                                            .max_slices = 64,
                                            .max_strings = 1 << 20};
    if (size < 2) return 0;
    size_t n = sb_load16(data) < size - 2 ? sb_load16(data) : size - 2;
    size_t index_size = size - 2 - n;
    uint8_t *index = malloc(index_size ? index_size : 1);
    check(index != NULL);
    if (index_size) memcpy(index, data + 2 + n, index_size);
    if (n == 0 || data[2] != 0xFE) mend_table(index, index_size);
    files f = {.index = sb_slice_of(index, index_size), .data = sb_slice_of(data + 2, n)};
    f.fs = (sb_fs){
        .ctx = &f, .open = open_file, .read_at = read_at, .info = info_of, .close = close_file};
    sb_bundle *b;
    sb_err err = {0};
    if (sb_bundle_open(&b, &f.fs, &sb_alloc_libc, NULL, SB_LIT("x"), &limits, &err) == SB_OK) {
        for (size_t i = 0; i < sb_bundle_count(b); i++) {
            const sb_bundle_tensor *t = sb_bundle_at(b, i);
            check(sb_bundle_find(b, t->name) == t);
            check(i == 0 || sb_slice_cmp(sb_bundle_at(b, i - 1)->name, t->name) < 0);
            if (i < 100) read_tensor(b, t);
        }
        sb_bundle_close(b);
    }
    check(f.open == 0);
    free(index);
    return 0;
}
