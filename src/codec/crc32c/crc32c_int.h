/* crc32c_int.h: the kernels by name, for the files of this module. A kernel may run only on a
 * processor that has its instructions; the functions of crc32c.h hand it out after that check. */
#ifndef SB_CODEC_CRC32C_CRC32C_INT_H
#define SB_CODEC_CRC32C_CRC32C_INT_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "codec/crc32c/crc32c.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

/* From this many bytes on three streams at once beat one. */
#define SB_CRC32C_WIDE_FROM 768

#if defined(__x86_64__)
uint32_t sb_crc32c_sse42(uint32_t crc, const void *p, size_t n);

/* One stream over the bare register, which the caller turns over before and after. */
__attribute__((target("sse4.2"))) static inline uint32_t
sb_crc32c_serial(uint64_t crc, const uint8_t *p, size_t n) {
    for (; n >= 8; n -= 8, p += 8) crc = _mm_crc32_u64(crc, sb_load64(p));
    uint32_t low = (uint32_t)crc;
    if (n & 4) {
        low = _mm_crc32_u32(low, sb_load32(p));
        p += 4;
    }
    if (n & 2) {
        low = _mm_crc32_u16(low, sb_load16(p));
        p += 2;
    }
    if (n & 1) low = _mm_crc32_u8(low, *p);
    return low;
}
#endif

/* The checksum of bytes that are mostly few, for loops over records: without a call where the build
 * promises the instruction. */
#if defined(__x86_64__) && defined(__SSE4_2__)
static inline uint32_t sb_crc32c_brief(const uint8_t *p, size_t n) {
    if (n >= SB_CRC32C_WIDE_FROM) return sb_crc32c(0, p, n);
    return ~sb_crc32c_serial(UINT32_MAX, p, n);
}
#else
static inline uint32_t sb_crc32c_brief(const uint8_t *p, size_t n) {
    return sb_crc32c(0, p, n);
}
#endif

#endif
