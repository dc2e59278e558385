/* cpu.h: what this processor can do, asked once. Every tuned kernel has a plain
 * version that is compiled everywhere. */
#ifndef SB_BASE_CPU_H
#define SB_BASE_CPU_H

#include <stdbool.h>

typedef struct sb_cpu {
    bool sse42;
    bool pclmul;
    bool avx2;
    bool arm_crc32;
    bool steady_tsc; /* x86: the time stamp counter runs at one speed and never stops */
} sb_cpu;

sb_cpu sb_cpu_detect(void);

#endif
