/* bench_crc.c: every checksum kernel beside the plain reference, at the sizes that matter: a
 * scalar's record, a histogram's, an image's. */
#include <stdio.h>
#include <stdlib.h>

#include "codec/crc32c/crc32c.h"
#include "harness.h"

#include "base/banned.h"

#define ROUND_BYTES ((size_t)8 << 20) /* checksummed in one timed run */

typedef struct job {
    sb_crc32c_fn kernel;
    const uint8_t *data;
    size_t size;
    size_t rounds;
    uint32_t crc; /* kept, so that the work is not optimised away */
} job;

static void checksum(void *ud) {
    job *j = ud;
    for (size_t i = 0; i < j->rounds; i++) j->crc = j->kernel(j->crc, j->data, j->size);
}

int main(int argc, char **argv) {
    sb_bench b;
    if (!sb_bench_begin(&b, argc, argv)) return 2;
    const struct {
        const char *name;
        sb_crc32c_fn kernel;
    } kernels[] = {
        {"plain", sb_crc32c_ref},
        {"slice8", sb_crc32c_slice8_kernel()},
        {"sse42", sb_crc32c_sse42_kernel()},
        {"sse42 wide", sb_crc32c_sse42_wide_kernel()},
        {"armv8", sb_crc32c_armv8_kernel()},
        {"chosen", sb_crc32c},
    };
    const struct {
        const char *name;
        size_t size;
    } sizes[] = {{"60 B", 60}, {"1 KiB", 1024}, {"64 KiB", 65536}};

    uint8_t *data = calloc(1, 65536);
    if (!data) return 1;
    for (size_t i = 0; i < 65536; i++) data[i] = (uint8_t)(i * 131 + (i >> 8));
    uint32_t sum = 0;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        if (!kernels[k].kernel) continue;
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            size_t rounds = sb_bench_count(&b, ROUND_BYTES) / sizes[s].size + 1;
            job j = {kernels[k].kernel, data, sizes[s].size, rounds, 0};
            double ns = sb_bench_best_ns(&b, checksum, &j);
            char part[64];
            snprintf(part, sizeof part, "%s, %s", kernels[k].name, sizes[s].name);
            sb_bench_report("crc32c", part, "GB/s", (double)(rounds * sizes[s].size) / ns);
            sum ^= j.crc;
        }
    }
    free(data);
    return sum == 1 ? 1 : sb_bench_end(&b);
}
