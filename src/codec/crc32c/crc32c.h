/* crc32c.h: the Castagnoli checksum that guards every record, and TensorFlow's mask over it.
 *
 * sb_crc32c() picks the fastest kernel for this processor once. crc32c_ref.c is the readable
 * reference that the tests compare the others with. A crc of 0 begins; feeding pieces one after the
 * other gives the same result as feeding the whole. */
#ifndef SB_CODEC_CRC32C_CRC32C_H
#define SB_CODEC_CRC32C_CRC32C_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t (*sb_crc32c_fn)(uint32_t crc, const void *p, size_t n);

uint32_t sb_crc32c(uint32_t crc, const void *p, size_t n);

/* The checksum of two pieces one after the other, from the checksums of both and the second one's
 * length. */
uint32_t sb_crc32c_join(uint32_t first, uint32_t second, uint64_t second_bytes);

/* A crc stored beside the data it guards is rotated and shifted, so that a crc of bytes that
 * contain crcs stays good. */
static inline uint32_t sb_crc32c_mask(uint32_t crc) {
    return ((crc >> 15) | (crc << 17)) + 0xA282EAD8u;
}

static inline uint32_t sb_crc32c_masked(const void *p, size_t n) {
    return sb_crc32c_mask(sb_crc32c(0, p, n));
}

/* The kernels, for tests and benchmarks. NULL where this processor or build has no such kernel. */
uint32_t sb_crc32c_ref(uint32_t crc, const void *p, size_t n);
sb_crc32c_fn sb_crc32c_slice8_kernel(void);
sb_crc32c_fn sb_crc32c_sse42_kernel(void);      /* one stream: best below 768 bytes */
sb_crc32c_fn sb_crc32c_sse42_wide_kernel(void); /* three streams joined by carry-less multiply */
sb_crc32c_fn sb_crc32c_armv8_kernel(void);

#endif
