/* profile.h: records where a program's time goes, for the profile dashboard.
 *
 *     sb_recorder *r;
 *     sb_err err;
 *     if (sb_recorder_start(&r, NULL, &err) != SB_OK) return puts(err.text), 1;
 *     uint32_t loop = sb_recorder_track(r, "training loop");
 *     uint32_t train = sb_recorder_name(r, "train"), load = sb_recorder_name(r, "load batch");
 *     for (int64_t step = 0; step < 10; step++) {
 *         sb_recorder_step(r, loop, train, step);
 *         sb_recorder_begin(r, loop, load);
 *         ...
 *         sb_recorder_end(r, loop);
 *         sb_recorder_end(r, loop);
 *     }
 *     sb_recorder_stop(r, "runs/first", &err);
 *
 * A track is one row of the timeline. A slice is a named period of time on a track; slices of one
 * track may be nested. A counter is a track of numbers. Tracks and names are registered once, by
 * text, and are referred to by their numbers after that. The result is one XSpace file, the format
 * of TensorFlow's and JAX's profilers: LOGDIR/plugins/profile/SESSION/HOST.xplane.pb. If LOGDIR has
 * no event file, an empty one is created, because TensorBoard does not find a run without one.
 *
 * Cost: a call takes about 15 ns. Each thread writes into memory of its own; nothing is locked or
 * allocated per call. The memory is bounded: when it is full, the oldest slices are overwritten (or
 * new slices are not recorded, see sb_recorder_full). The number of lost calls is in
 * sb_recorder_get_stats, and in the file as a warning, which the profile dashboard shows.
 *
 * Threads: any number of threads may record at once, also on the same track. A slice must be ended
 * by the thread that began it; for work that moves between threads use sb_recorder_span. No other
 * call may run during or after sb_recorder_stop. A child process made by fork() records nothing
 * through its parent's recorder.
 *
 * All functions accept a recorder that is NULL and then do nothing, so that the calls can stay in a
 * program that does not record. */
#ifndef SEABOARD_PROFILE_H
#define SEABOARD_PROFILE_H

#include <stdbool.h>

#include "seaboard/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sb_recorder sb_recorder;

/* What happens when the memory is full. */
typedef enum sb_recorder_full {
    SB_RECORDER_KEEP_NEWEST, /* overwrite the oldest slices: the end of the recording is kept */
    SB_RECORDER_KEEP_FIRST,  /* ignore new slices: the beginning of the recording is kept */
} sb_recorder_full;

typedef struct sb_recorder_opts {
    size_t size; /* SB_INIT */
    /* name of the folder of the recording; NULL: the local time, made unique */
    const char *session;
    const char *host; /* the name of the file; NULL: the name of this machine */
    /* limit for all threads together; default 64 MiB, at most 1 GiB. A slice takes 48 bytes; a
     * span, a number or an instant takes 24. Stopping needs up to three times as much for a short
     * time. */
    size_t memory_bytes;
    uint64_t when_full; /* an sb_recorder_full */
} sb_recorder_opts;

typedef struct sb_recorder_stats {
    size_t size;       /* SB_INIT */
    uint64_t recorded; /* calls that are kept in memory now; a slice is two */
    uint64_t dropped;  /* calls that were lost because the memory was full */
} sb_recorder_stats;

/* Starts a recording; its time begins here. opts may be NULL. */
SB_API sb_status sb_recorder_start(sb_recorder **out, const sb_recorder_opts *opts, sb_err *err);
/* Writes the file (logdir NULL: no file) and frees r, even on failure. Slices that have not ended
 * are written with the current time as their end. The file is written atomically: it is complete or
 * does not exist. */
SB_API sb_status sb_recorder_stop(sb_recorder *r, const char *logdir, sb_err *err);
/* out is an SB_INIT(sb_recorder_stats); SB_INVALID when its size is not set. */
SB_API sb_status sb_recorder_get_stats(sb_recorder *r, sb_recorder_stats *out);

/* Returns the number of a track, or of a name; the same text always gets the same number. These
 * calls take a lock, so make them before the loop. Returns 0 when memory runs out or there are more
 * than 1 000 000; calls with the number 0 are dropped and counted. Tracks are shown in the order in
 * which they were made. */
SB_API uint32_t sb_recorder_track(sb_recorder *r, const char *name);
SB_API uint32_t sb_recorder_name(sb_recorder *r, const char *name);

/* sb_recorder_begin begins a slice on a track; sb_recorder_end ends the slice that this thread
 * began last on that track. */
SB_API void sb_recorder_begin(sb_recorder *r, uint32_t track, uint32_t name);
SB_API void sb_recorder_end(sb_recorder *r, uint32_t track);
/* Begins a slice that is one training step. The profile dashboard computes step times from
 * these. */
SB_API void sb_recorder_step(sb_recorder *r, uint32_t track, uint32_t name, int64_t step);
/* Records a complete slice after it has ended. start_ns is a time of sb_recorder_now. */
SB_API void sb_recorder_span(sb_recorder *r, uint32_t track, uint32_t name, uint64_t start_ns,
                             uint64_t duration_ns);
/* Records an instant: an event without duration. */
SB_API void sb_recorder_instant(sb_recorder *r, uint32_t track, uint32_t name);
/* Sets the value of a counter from now on. The name of the track is the name of the counter. */
SB_API void sb_recorder_count(sb_recorder *r, uint32_t track, double value);
/* Returns the recorder's clock in nanoseconds, which is CLOCK_MONOTONIC; 0 when r is NULL. */
SB_API uint64_t sb_recorder_now(const sb_recorder *r);

#ifdef __cplusplus
}
#endif
#endif
