/* env.h: what code needs from the system (memory, files, clocks), passed in as an argument. Tests
 * replace the parts; the public entry points use the system's own. */
#ifndef SB_BASE_ENV_H
#define SB_BASE_ENV_H

#include <stdint.h>

#include "base/alloc.h"

struct sb_fs;

/* Nanoseconds; wall since the epoch, steady since some fixed moment. */
typedef struct sb_clock {
    uint64_t (*wall)(void *ctx);
    uint64_t (*steady)(void *ctx);
    void *ctx;
} sb_clock;

typedef struct sb_env {
    const sb_alloc *alloc;
    const struct sb_fs *fs;
    const sb_clock *clock;
} sb_env;

extern const sb_clock sb_clock_system;

/* Wall time as events carry it: seconds, exact to the microsecond. */
static inline double sb_wall_seconds(const sb_clock *clock) {
    return (double)(clock->wall(clock->ctx) / 1000u) / 1e6;
}

#endif
