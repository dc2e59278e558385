/* ckpt_npz_fuzz.c: any bytes as an archive of NumPy's that is imported. The checksums of stored
 * members are made right first, so that the fuzzer reaches what lies behind them. */
#include <zlib.h>

#include "base/bytes.h"
#include "import_bed.h"
#include "base/banned.h"

/* The entry of the directory at `at`; those that make no sense are left to the reader. */
static void mend(uint8_t *p, size_t n, size_t at) {
    if (n - at < 46 || sb_load16(p + at + 10) != 0) return;
    size_t local = sb_load32(p + at + 42), size = sb_load32(p + at + 24);
    if (local > n || n - local < 30) return;
    size_t begin = local + 30 + sb_load16(p + local + 26) + sb_load16(p + local + 28);
    if (begin > n || size > n - begin) return;
    sb_store32(p + at + 16, (uint32_t)crc32_z(0, p + begin, size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *file = malloc(size ? size : 1);
    if (!file) return 0;
    if (size) memcpy(file, data, size);
    for (size_t at = 0; size >= 4 && at <= size - 4; at++)
        if (sb_load32(file + at) == 0x02014b50) mend(file, size, at);
    bed_import(sb_slice_of(file, size), "x.npz");
    free(file);
    return 0;
}
