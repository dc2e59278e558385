/* cpu.c: feature detection through the compiler's and the kernel's own tables. */
#include "base/system/cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

#include "base/banned.h"

sb_cpu sb_cpu_detect(void) {
    sb_cpu cpu = {0};
#if defined(__x86_64__)
    __builtin_cpu_init();
    cpu.sse42 = __builtin_cpu_supports("sse4.2") != 0;
    cpu.pclmul = __builtin_cpu_supports("pclmul") != 0;
    cpu.avx2 = __builtin_cpu_supports("avx2") != 0;
    unsigned a, b, c, d;
    cpu.steady_tsc = __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & 1u << 8) != 0;
#elif defined(__aarch64__) && defined(__linux__)
    cpu.arm_crc32 = (getauxval(AT_HWCAP) & (1ul << 7)) != 0; /* HWCAP_CRC32 */
#endif
    return cpu;
}
