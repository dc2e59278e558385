/* env.c: the system's clocks. */
#include "base/env.h"

#include <time.h>

#include "base/banned.h"

static uint64_t read_clock(clockid_t id) {
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t wall(void *ctx) {
    (void)ctx;
    return read_clock(CLOCK_REALTIME);
}

static uint64_t steady(void *ctx) {
    (void)ctx;
    return read_clock(CLOCK_MONOTONIC);
}

const sb_clock sb_clock_system = {wall, steady, NULL};
