/* harness.h: what every benchmark program shares: a clock, percentiles, one JSON line a result.
 *
 *     int main(int argc, char **argv) {
 *         sb_bench b;
 *         if (!sb_bench_begin(&b, argc, argv)) return 2;
 *         for (...) {
 *             uint64_t start = sb_bench_ticks();
 *             work();
 *             sb_bench_sample(&b, start, sb_bench_ticks());
 *         }
 *         sb_bench_report_calls(&b, "scalar", "call");
 *         return sb_bench_end(&b);
 *     }
 *
 * Clock: the processor's own counter where there is one that ticks steadily (x86-64, arm64), set
 * against the system's clock at the start. What reading it costs is measured and reported beside
 * the samples, but not taken off them: the work around overlaps with a part of it, and a time that
 * is a little too long is the honest mistake. Percentiles come from a histogram whose buckets are
 * 1.6 % wide, so a sample costs an increment and a run may have any length.
 * Threads: one. Output: standard output, see sb_bench_report_*. */
#ifndef SB_BENCH_HARNESS_H
#define SB_BENCH_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define SB_BENCH_SUB_BITS 6
#define SB_BENCH_BUCKETS ((64 - SB_BENCH_SUB_BITS + 1) << SB_BENCH_SUB_BITS)

typedef struct sb_bench {
    const char *folder; /* inputs are read from here and outputs go here; ends without a slash */
    double scale;       /* how much work to do; 1 is usual */
    double ns_per_tick;
    double clock_ns; /* between two readings with nothing between them */
    bool failed;
    uint64_t samples;
    uint64_t max;
    uint64_t counts[SB_BENCH_BUCKETS];
} sb_bench;

static inline uint64_t sb_bench_ticks(void) {
#if defined(__x86_64__)
    unsigned cpu;
    return __rdtscp(&cpu); /* waits for what is before it */
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#endif
}

/* Reads the arguments [--folder PATH] [--scale X] and sets the clock. False: they make no sense. */
bool sb_bench_begin(sb_bench *b, int argc, char **argv);
/* The exit code of the program. */
int sb_bench_end(const sb_bench *b);

/* Notes that something went wrong, and says so on standard error. */
void sb_bench_fail(sb_bench *b, const char *what);

/* count scaled, at least 1. */
size_t sb_bench_count(const sb_bench *b, size_t count);

static inline uint32_t sb_bench_bucket(uint64_t x) {
    if (x < (1u << SB_BENCH_SUB_BITS)) return (uint32_t)x;
    uint32_t shift = 63u - SB_BENCH_SUB_BITS - (uint32_t)__builtin_clzll(x);
    return ((shift + 1) << SB_BENCH_SUB_BITS) +
           (uint32_t)((x >> shift) - (1u << SB_BENCH_SUB_BITS));
}

static inline void sb_bench_sample(sb_bench *b, uint64_t start, uint64_t end) {
    uint64_t ticks = end - start;
    b->counts[sb_bench_bucket(ticks)]++;
    b->samples++;
    if (ticks > b->max) b->max = ticks;
}

/* Nanoseconds between two readings. */
double sb_bench_ns(const sb_bench *b, uint64_t start, uint64_t end);

/* The collected samples as one line, and forgets them:
 * {"work": ..., "part": ..., "who": "seaboard", "unit": "ns", "value": the median, "p99": ...,
 * "clock": what of it may be the clock's} */
void sb_bench_report_calls(sb_bench *b, const char *work, const char *part);

/* One number that is not a distribution. unit "ns" is better small, "GB/s" is better large. */
void sb_bench_report(const char *work, const char *part, const char *unit, double value);

/* The time of one call of run, in nanoseconds: the best of many after one that warms up. For work
 * that is the same every time, what is above the best is the machine's other business. */
typedef void (*sb_bench_fn)(void *ud);
double sb_bench_best_ns(const sb_bench *b, sb_bench_fn run, void *ud);

/* A whole file of the folder; the program keeps it until it ends. NULL (and failed) without it. */
const uint8_t *sb_bench_read_file(sb_bench *b, const char *name, size_t *size);

#endif
