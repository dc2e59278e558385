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
 * A track is one row of the timeline; a slice is a stretch of time on it with a name. Slices of one
 * track may contain each other. A counter is a track of numbers. Tracks and names are made once,
 * by text, and used by their numbers after that. The result is one XSpace file, the format of
 * TensorFlow's and JAX's profilers: LOGDIR/plugins/profile/SESSION/HOST.xplane.pb. Where LOGDIR has
 * no event file an empty one is left beside it, without which TensorBoard does not see a run.
 *
 * Cost: a call takes about 15 ns. Each thread writes into memory of its own; nothing is locked or
 * allocated per call. The memory is bounded: when it is full, the oldest slices go first (or the
 * new ones are not taken, see sb_recorder_full). How many were lost is in sb_recorder_get_stats,
 * and in the file as a warning, which the profile dashboard shows.
 *
 * Threads: any number of threads may record at once, also on the same track. A slice is ended by
 * the thread that began it; for work that moves between threads use sb_recorder_span. Only stop
 * must come last. A child made by fork() records nothing through its parent's recorder.
 *
 * A recorder that is NULL is legal everywhere: the calls then do nothing, so that a program can
 * leave them in. */
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
    SB_RECORDER_KEEP_NEWEST, /* the oldest slices make room: the last moments are kept */
    SB_RECORDER_KEEP_FIRST,  /* new slices are not taken: the first moments are kept */
} sb_recorder_full;

typedef struct sb_recorder_opts {
    size_t size;         /* SB_INIT */
    const char *session; /* the folder of the recording; NULL: the local time, and a free name */
    const char *host;    /* the name of the file; NULL: the name of this machine */
    size_t memory_bytes; /* for all threads together; default 64 MiB, at most 1 GiB. A slice takes
                            48 bytes, a span, a number or an instant 24. Stopping takes up to three
                            times as much for a moment. */
    uint64_t when_full;  /* an sb_recorder_full */
} sb_recorder_opts;

typedef struct sb_recorder_stats {
    size_t size;       /* SB_INIT */
    uint64_t recorded; /* calls that are kept in memory now; a slice is two */
    uint64_t dropped;  /* calls that were lost because the memory was full */
} sb_recorder_stats;

/* opts may be NULL. The time of the recording begins here. */
SB_API sb_status sb_recorder_start(sb_recorder **out, const sb_recorder_opts *opts, sb_err *err);
/* Writes the file (logdir NULL: none) and frees r, also on failure. Slices that have not ended are
 * written up to now. The file is there completely or not at all. */
SB_API sb_status sb_recorder_stop(sb_recorder *r, const char *logdir, sb_err *err);
/* out is an SB_INIT(sb_recorder_stats); SB_INVALID when its size is not set. */
SB_API sb_status sb_recorder_get_stats(sb_recorder *r, sb_recorder_stats *out);

/* The number of a track, or of a name; the same text has the same number. Takes a lock: make them
 * before the loop. 0 when memory is out or there are more than 1 000 000: calls with that number
 * are dropped and counted. Tracks are listed in the order in which they were made. */
SB_API uint32_t sb_recorder_track(sb_recorder *r, const char *name);
SB_API uint32_t sb_recorder_name(sb_recorder *r, const char *name);

/* Begins a slice on a track, and ends the slice that this thread began last there. */
SB_API void sb_recorder_begin(sb_recorder *r, uint32_t track, uint32_t name);
SB_API void sb_recorder_end(sb_recorder *r, uint32_t track);
/* Begins a slice that is one step of training: step times are made of these. */
SB_API void sb_recorder_step(sb_recorder *r, uint32_t track, uint32_t name, int64_t step);
/* A whole slice, after the fact. start_ns is a time of sb_recorder_now. */
SB_API void sb_recorder_span(sb_recorder *r, uint32_t track, uint32_t name, uint64_t start_ns,
                             uint64_t duration_ns);
/* A moment without length. */
SB_API void sb_recorder_instant(sb_recorder *r, uint32_t track, uint32_t name);
/* The value of a counter from now on; the track's name is the counter's. */
SB_API void sb_recorder_count(sb_recorder *r, uint32_t track, double value);
/* The recorder's clock in nanoseconds: that of CLOCK_MONOTONIC. 0 for a recorder that is NULL. */
SB_API uint64_t sb_recorder_now(const sb_recorder *r);

#ifdef __cplusplus
}
#endif
#endif
