/* crc32c_armv8.c: the checksum with the instructions that 64-bit ARM has for it (optional in v8.0,
 * always there from v8.1 on). They are written as assembler because gcc and clang name both the
 * builtins and the target attribute differently. */
#include "codec/crc32c/crc32c.h"

#if defined(__aarch64__)

#include "base/bytes.h"
#include "base/system/cpu.h"
#include "base/banned.h"

#define STEP(name, register_kind) ".arch_extension crc\n\t" name " %w0, %w0, %" register_kind "1"

static inline uint32_t step8(uint32_t crc, uint64_t x) {
    __asm__(STEP("crc32cx", "x") : "+r"(crc) : "r"(x));
    return crc;
}

static inline uint32_t step4(uint32_t crc, uint32_t x) {
    __asm__(STEP("crc32cw", "w") : "+r"(crc) : "r"(x));
    return crc;
}

static inline uint32_t step2(uint32_t crc, uint32_t x) {
    __asm__(STEP("crc32ch", "w") : "+r"(crc) : "r"(x));
    return crc;
}

static inline uint32_t step1(uint32_t crc, uint32_t x) {
    __asm__(STEP("crc32cb", "w") : "+r"(crc) : "r"(x));
    return crc;
}

static uint32_t armv8(uint32_t crc, const void *from, size_t n) {
    const uint8_t *p = from;
    crc = ~crc;
    for (; n >= 8; n -= 8, p += 8) crc = step8(crc, sb_load64(p));
    if (n & 4) {
        crc = step4(crc, sb_load32(p));
        p += 4;
    }
    if (n & 2) {
        crc = step2(crc, sb_load16(p));
        p += 2;
    }
    if (n & 1) crc = step1(crc, *p);
    return ~crc;
}

sb_crc32c_fn sb_crc32c_armv8_kernel(void) {
    return sb_cpu_detect().arm_crc32 ? armv8 : NULL;
}

#else

#include "base/banned.h"

sb_crc32c_fn sb_crc32c_armv8_kernel(void) {
    return NULL;
}

#endif
