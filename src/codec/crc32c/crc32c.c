/* crc32c.c: chooses the kernels, once.
 *
 * There are two choices: one for the many short inputs (a record of a scalar has some 60 bytes) and
 * one for long ones. Each is a pointer that first holds a function which looks at the processor,
 * stores its finding and goes on. Threads: any number may do that at the same moment, since all
 * find and store the same. When the build already promises SSE4.2, the short path is a plain call.
 */
#include "codec/crc32c/crc32c.h"

#include <stdatomic.h>

#include "codec/crc32c/crc32c_int.h"
#include "base/banned.h"

static sb_crc32c_fn choose_short(void) {
    sb_crc32c_fn kernel = sb_crc32c_sse42_kernel();
    if (!kernel) kernel = sb_crc32c_armv8_kernel();
    return kernel ? kernel : sb_crc32c_slice8_kernel();
}

#if defined(__x86_64__) && defined(__SSE4_2__)

#define SHORT_KERNEL sb_crc32c_sse42

#else

static uint32_t first_short(uint32_t crc, const void *p, size_t n);
static _Atomic(sb_crc32c_fn) short_kernel = first_short;

static uint32_t first_short(uint32_t crc, const void *p, size_t n) {
    sb_crc32c_fn kernel = choose_short();
    atomic_store_explicit(&short_kernel, kernel, memory_order_relaxed);
    return kernel(crc, p, n);
}

#define SHORT_KERNEL atomic_load_explicit(&short_kernel, memory_order_relaxed)

#endif

static uint32_t first_long(uint32_t crc, const void *p, size_t n);
static _Atomic(sb_crc32c_fn) long_kernel = first_long;

static uint32_t first_long(uint32_t crc, const void *p, size_t n) {
    sb_crc32c_fn kernel = sb_crc32c_sse42_wide_kernel();
    if (!kernel) kernel = choose_short();
    atomic_store_explicit(&long_kernel, kernel, memory_order_relaxed);
    return kernel(crc, p, n);
}

uint32_t sb_crc32c(uint32_t crc, const void *p, size_t n) {
    if (n < SB_CRC32C_WIDE_FROM) return SHORT_KERNEL(crc, p, n);
    return atomic_load_explicit(&long_kernel, memory_order_relaxed)(crc, p, n);
}
