/* crc32c_sse42.c: the checksum with the instruction that x86 has for it since SSE4.2.
 *
 * The instruction takes three cycles but a new one can start every cycle. One stream (serial) is
 * therefore bound by latency; three streams side by side (wide) fill the gaps. Their registers are
 * joined by moving the first two over the bytes behind them, which is a carry-less multiplication
 * by a power of x:
 *
 *     in the bit-reflected form, clmul(a, b) read as eight message bytes stands for a*b*x, and the
 *     crc32 instruction multiplies its message by x^32. So to move a register over n bytes take
 *     b = x^(8n-33) mod P and let the product meet the last eight bytes of the third stream.
 *
 * Cost: about 8 bytes in 3 cycles serial, 8 bytes a cycle wide. */
#include "codec/crc32c/crc32c.h"

#include "codec/crc32c/crc32c_int.h"

#if defined(__x86_64__)

#include <wmmintrin.h>

#include "base/bytes.h"
#include "base/system/cpu.h"
#include "base/banned.h"

__attribute__((target("sse4.2"))) uint32_t sb_crc32c_sse42(uint32_t crc, const void *p, size_t n) {
    return ~sb_crc32c_serial(~crc, p, n);
}

/* a moved over the bytes that `power` stands for, as eight message bytes. */
__attribute__((target("sse4.2,pclmul"))) static inline uint64_t moved(uint64_t a, uint32_t power) {
    __m128i product =
        _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)a), _mm_cvtsi32_si128((int)power), 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

/* Three streams of `stream` bytes each (a multiple of 8) that lie one behind the other. over1 and
 * over2 move a register over one and over two streams. */
__attribute__((target("sse4.2,pclmul"), always_inline)) static inline uint64_t
three(uint64_t crc, const uint8_t *p, size_t stream, uint32_t over1, uint32_t over2) {
    uint64_t a = crc, b = 0, c = 0;
    const uint8_t *last = p + stream - 8;
    for (; p < last; p += 8) {
        a = _mm_crc32_u64(a, sb_load64(p));
        b = _mm_crc32_u64(b, sb_load64(p + stream));
        c = _mm_crc32_u64(c, sb_load64(p + 2 * stream));
    }
    a = _mm_crc32_u64(a, sb_load64(p));
    b = _mm_crc32_u64(b, sb_load64(p + stream));
    return _mm_crc32_u64(c, sb_load64(p + 2 * stream) ^ moved(a, over2) ^ moved(b, over1));
}

#define LONG_STREAM 2048
#define LONG_OVER1 0xA51B6135u
#define LONG_OVER2 0x82F89C77u
#define SHORT_STREAM 256
#define SHORT_OVER1 0xB9E02B86u
#define SHORT_OVER2 0xDD7E3B0Cu

__attribute__((target("sse4.2,pclmul"))) static uint32_t wide(uint32_t crc, const void *from,
                                                              size_t n) {
    const uint8_t *p = from;
    uint64_t now = (uint32_t)~crc;
    for (; n >= 3 * LONG_STREAM; n -= 3 * LONG_STREAM, p += 3 * LONG_STREAM)
        now = three(now, p, LONG_STREAM, LONG_OVER1, LONG_OVER2);
    for (; n >= 3 * SHORT_STREAM; n -= 3 * SHORT_STREAM, p += 3 * SHORT_STREAM)
        now = three(now, p, SHORT_STREAM, SHORT_OVER1, SHORT_OVER2);
    return ~sb_crc32c_serial(now, p, n);
}

sb_crc32c_fn sb_crc32c_sse42_kernel(void) {
    return sb_cpu_detect().sse42 ? sb_crc32c_sse42 : NULL;
}

sb_crc32c_fn sb_crc32c_sse42_wide_kernel(void) {
    sb_cpu cpu = sb_cpu_detect();
    return cpu.sse42 && cpu.pclmul ? wide : NULL;
}

#else

#include "base/banned.h"

sb_crc32c_fn sb_crc32c_sse42_kernel(void) {
    return NULL;
}

sb_crc32c_fn sb_crc32c_sse42_wide_kernel(void) {
    return NULL;
}

#endif
