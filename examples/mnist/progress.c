/* progress.c: draws over one line of standard error. */
#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

double now_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void progress_begin(progress *p, int64_t first, int64_t last) {
    *p = (progress){isatty(STDERR_FILENO) && isatty(STDOUT_FILENO), first, last, now_seconds(), 0};
}

void progress_draw(progress *p, int64_t step) {
    enum { WIDTH = 40 };
    double now = p->is_shown ? now_seconds() : 0;
    if (!p->is_shown || now - p->drawn < 0.1) return;
    p->drawn = now;
    int64_t done = step + 1;
    int filled = (int)(done * WIDTH / (p->last > 0 ? p->last : 1));
    double rate = (double)(done - p->first) / (now - p->started + 1e-9);
    fprintf(stderr, "\r[%.*s%.*s] %lld/%lld  %.0f steps/s ", filled,
            "########################################", WIDTH - filled,
            "........................................", (long long)done, (long long)p->last, rate);
}

void progress_clear(progress *p) {
    if (p->is_shown && p->drawn > 0) fputs("\r\033[K", stderr);
}
