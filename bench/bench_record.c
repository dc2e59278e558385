/* bench_record.c: what recording a slice costs the program, and what saving the recording costs.
 *
 * "slice" is a begin and an end, "span" a whole slice after the fact, "counter" one number, each
 * the mean over a loop without other work, in which the memory runs full and is used again. Out:
 * profiles below the folder, which run.py removes. */
#include <pthread.h>
#include <stdio.h>

#include "harness.h"
#include "seaboard/profile.h"

#include "base/banned.h"

#define CALLS 10000000
#define THREADS 2

typedef struct work {
    sb_recorder *r;
    uint32_t track, name, counter;
    size_t calls;
} work;

static void *record_slices(void *ud) {
    const work *w = ud;
    for (size_t i = 0; i < w->calls; i++) {
        sb_recorder_begin(w->r, w->track, w->name);
        sb_recorder_end(w->r, w->track);
    }
    return NULL;
}

static void *record_spans(void *ud) {
    const work *w = ud;
    uint64_t start = sb_recorder_now(w->r);
    for (size_t i = 0; i < w->calls; i++) sb_recorder_span(w->r, w->track, w->name, start + i, 1);
    return NULL;
}

static void *record_numbers(void *ud) {
    const work *w = ud;
    for (size_t i = 0; i < w->calls; i++) sb_recorder_count(w->r, w->counter, (double)i);
    return NULL;
}

static void *record_nothing(void *ud) {
    work w = *(const work *)ud;
    w.r = NULL;
    return record_slices(&w);
}

static void measure(const sb_bench *b, work *w, void *(*run)(void *), const char *part) {
    uint64_t start = sb_bench_ticks();
    run(w);
    double ns = sb_bench_ns(b, start, sb_bench_ticks());
    sb_bench_report("recorder", part, "ns", ns / (double)w->calls);
}

/* Time of one thread's slice while another records too. */
static void measure_threads(sb_bench *b, const work *w) {
    pthread_t threads[THREADS];
    work works[THREADS];
    uint64_t start = sb_bench_ticks();
    for (int i = 0; i < THREADS; i++) {
        works[i] = *w;
        if (pthread_create(&threads[i], NULL, record_slices, &works[i]) != 0) {
            sb_bench_fail(b, "a thread can't be started");
            return;
        }
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    double ns = sb_bench_ns(b, start, sb_bench_ticks());
    sb_bench_report("recorder", "slice, two threads at once", "ns", ns / (double)w->calls);
}

int main(int argc, char **argv) {
    sb_bench b;
    if (!sb_bench_begin(&b, argc, argv)) return 2;
    sb_recorder *r;
    sb_err err;
    if (sb_recorder_start(&r, NULL, &err) != SB_OK) {
        sb_bench_fail(&b, err.text);
        return sb_bench_end(&b);
    }
    work w = {r, sb_recorder_track(r, "loop"), sb_recorder_name(r, "slice"),
              sb_recorder_track(r, "counter"), sb_bench_count(&b, CALLS)};
    measure(&b, &w, record_slices, "slice");
    measure_threads(&b, &w);
    measure(&b, &w, record_spans, "span");
    measure(&b, &w, record_numbers, "counter");
    measure(&b, &w, record_nothing, "slice, not recording");
    record_slices(&w);
    sb_recorder_stats stats = SB_INIT(sb_recorder_stats);
    sb_recorder_get_stats(r, &stats);
    uint64_t start = sb_bench_ticks();
    if (sb_recorder_stop(r, b.folder, &err) != SB_OK) sb_bench_fail(&b, err.text);
    double ns = sb_bench_ns(&b, start, sb_bench_ticks());
    if (stats.recorded)
        sb_bench_report("recorder", "saving, a slice", "ns", ns * 2 / (double)stats.recorded);
    return sb_bench_end(&b);
}
