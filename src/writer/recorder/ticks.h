/* ticks.h: the clock of records: the processor's counter where it runs at one speed (a tenth of the
 * cost of asking the system twice a slice), else the clock that was passed in. */
#ifndef SB_WRITER_RECORDER_TICKS_H
#define SB_WRITER_RECORDER_TICKS_H

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "base/system/cpu.h"
#include "writer/recorder/recorder_int.h"

/* May ticks be the processor's? A clock that a test passes in is always asked. */
static inline bool sb_ticks_counter(const sb_env *env) {
    if (env->clock != &sb_clock_system) return false;
#if defined(__x86_64__)
    return sb_cpu_detect().steady_tsc;
#elif defined(__aarch64__)
    return true;
#else
    return false;
#endif
}

static inline uint64_t sb_ticks(const sb_recorder *r) {
    if (__builtin_expect(r->uses_counter, 1)) {
#if defined(__x86_64__)
        return __rdtsc();
#elif defined(__aarch64__)
        uint64_t ticks;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        return ticks;
#endif
    }
    return r->env.clock->steady(r->env.clock->ctx);
}

static inline sb_moment sb_moment_now(const sb_recorder *r) {
    uint64_t ns = r->env.clock->steady(r->env.clock->ctx);
    return (sb_moment){r->uses_counter ? sb_ticks(r) : ns, ns};
}

#endif
