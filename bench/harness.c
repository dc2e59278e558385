/* harness.c: the clock, the histogram and the output of harness.h. */
#include "harness.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

#define REPEATS 25
#define CALIBRATION_NS 20000000u
#define CLOCK_READINGS 1001

static uint64_t system_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static uint64_t bucket_middle(uint32_t bucket) {
    uint32_t octave = bucket >> SB_BENCH_SUB_BITS;
    if (octave == 0) return bucket;
    uint64_t base = (1u << SB_BENCH_SUB_BITS) + (bucket & ((1u << SB_BENCH_SUB_BITS) - 1));
    return (base << (octave - 1)) + ((UINT64_C(1) << (octave - 1)) >> 1);
}

/* The value below which that share of the samples lies. */
static double percentile_ns(const sb_bench *b, double share) {
    uint64_t wanted = (uint64_t)((double)b->samples * share), seen = 0;
    for (uint32_t i = 0; i < SB_BENCH_BUCKETS; i++) {
        seen += b->counts[i];
        if (seen > wanted) return (double)bucket_middle(i) * b->ns_per_tick;
    }
    return (double)b->max * b->ns_per_tick;
}

static void set_clock(sb_bench *b) {
    uint64_t start_ns = system_ns(), start = sb_bench_ticks(), ns;
    do ns = system_ns() - start_ns;
    while (ns < CALIBRATION_NS);
    b->ns_per_tick = (double)ns / (double)(sb_bench_ticks() - start);

    double readings[CLOCK_READINGS];
    for (size_t i = 0; i < CLOCK_READINGS; i++) {
        uint64_t before = sb_bench_ticks();
        readings[i] = (double)(sb_bench_ticks() - before);
    }
    qsort(readings, CLOCK_READINGS, sizeof *readings, by_size);
    b->clock_ns = readings[CLOCK_READINGS / 2] * b->ns_per_tick;
}

bool sb_bench_begin(sb_bench *b, int argc, char **argv) {
    memset(b, 0, sizeof *b);
    b->folder = ".";
    b->scale = 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--folder") == 0 && i + 1 < argc)
            b->folder = argv[++i];
        else if (strcmp(argv[i], "--scale") == 0 && i + 1 < argc)
            b->scale = strtod(argv[++i], NULL);
        else
            b->scale = 0;
    }
    if (!(b->scale > 0)) {
        fprintf(stderr, "usage: %s [--folder PATH] [--scale X]\n", argv[0]);
        return false;
    }
    set_clock(b);
    return true;
}

int sb_bench_end(const sb_bench *b) {
    return b->failed;
}

void sb_bench_fail(sb_bench *b, const char *what) {
    fprintf(stderr, "%s\n", what);
    b->failed = true;
}

size_t sb_bench_count(const sb_bench *b, size_t count) {
    double scaled = (double)count * b->scale;
    return scaled < 1 ? 1 : (size_t)scaled;
}

double sb_bench_ns(const sb_bench *b, uint64_t start, uint64_t end) {
    return (double)(end - start) * b->ns_per_tick;
}

void sb_bench_report_calls(sb_bench *b, const char *work, const char *part) {
    printf("{\"work\": \"%s\", \"part\": \"%s\", \"who\": \"seaboard\", \"unit\": \"ns\", "
           "\"value\": %.3f, \"p90\": %.3f, \"p99\": %.3f, \"p999\": %.3f, \"max\": %.3f, "
           "\"samples\": %" PRIu64 ", \"clock\": %.1f}\n",
           work, part, percentile_ns(b, 0.5), percentile_ns(b, 0.9), percentile_ns(b, 0.99),
           percentile_ns(b, 0.999), (double)b->max * b->ns_per_tick, b->samples, b->clock_ns);
    fflush(stdout);
    memset(b->counts, 0, sizeof b->counts);
    b->samples = b->max = 0;
}

void sb_bench_report(const char *work, const char *part, const char *unit, double value) {
    printf("{\"work\": \"%s\", \"part\": \"%s\", \"who\": \"seaboard\", \"unit\": \"%s\", "
           "\"value\": %.4f}\n",
           work, part, unit, value);
    fflush(stdout);
}

double sb_bench_best_ns(const sb_bench *b, sb_bench_fn run, void *ud) {
    double best = 0;
    run(ud);
    for (size_t i = 0; i < REPEATS; i++) {
        uint64_t start = sb_bench_ticks();
        run(ud);
        double ns = sb_bench_ns(b, start, sb_bench_ticks());
        if (i == 0 || ns < best) best = ns;
    }
    return best;
}

const uint8_t *sb_bench_read_file(sb_bench *b, const char *name, size_t *size) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", b->folder, name);
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    long end = -1;
    if (file && fseek(file, 0, SEEK_END) == 0) end = ftell(file);
    if (end > 0) {
        *size = (size_t)end;
        data = malloc(*size);
        rewind(file);
        if (data && fread(data, 1, *size, file) != *size) {
            free(data);
            data = NULL;
        }
    }
    if (file) fclose(file);
    if (!data) sb_bench_fail(b, path);
    return data;
}
