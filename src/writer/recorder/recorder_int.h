/* recorder_int.h: the inside of a recorder, for src/writer/recorder and its tests.
 *
 * A call is one record of 24 bytes. A thread writes its records into chunks of its lane; a chunk
 * that is full goes to the end of the recorder's queue, and the thread takes a new one, or, when
 * the memory is used up, the oldest of the queue. When the recording stops, the records become
 * slices (collect.c), and the slices a file (xspace.c).
 *
 * Lock order: there is one lock, the recorder's. It guards names, the queue, the list of lanes and
 * which chunk a lane has. A lane's thread alone writes records, and publishes each by its chunk's
 * count. */
#ifndef SB_WRITER_RECORDER_RECORDER_INT_H
#define SB_WRITER_RECORDER_RECORDER_INT_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "base/env.h"
#include "base/intern.h"
#include "seaboard/profile.h"
#include "writer/fork_mark.h"
#include "writer/profile_file.h"

#define SB_RECORDED_NAMES_MAX 1000000u
#define SB_RECORD_CHUNK_CALLS 1364u

typedef enum sb_recorded_kind {
    SB_RECORDED_BEGIN,
    SB_RECORDED_STEP,
    SB_RECORDED_END,
    SB_RECORDED_SPAN, /* time: nanoseconds of the system's clock; value: the duration */
    SB_RECORDED_INSTANT,
    SB_RECORDED_COUNT,
    SB_RECORDED_RESET, /* another thread has the lane from here on */
} sb_recorded_kind;

typedef struct sb_recorded {
    uint64_t time;  /* ticks (see sb_ticks), but for spans */
    uint64_t value; /* the step, the duration in nanoseconds, or the bits of a double */
    uint32_t name;
    uint32_t track; /* << 3 | kind */
} sb_recorded;

typedef struct sb_record_chunk {
    struct sb_record_chunk *next; /* in the queue; when the recording stops: in the lane */
    struct sb_lane *lane;
    _Atomic uint32_t n;
    sb_recorded records[SB_RECORD_CHUNK_CALLS];
} sb_record_chunk;

/* What one thread has of one recorder. It lives until both have left it, so that a thread may end
 * while the recorder stops, or long after. */
typedef struct sb_lane {
    _Atomic(struct sb_recorder *) recorder; /* NULL: it has stopped */
    struct sb_lane *next;                   /* of the recorder */
    struct sb_lane *next_of_thread;
    sb_record_chunk *chunk;        /* being filled; NULL: there was no memory */
    sb_record_chunk *first, *last; /* all of its chunks, when the recording stops */
    _Atomic uint64_t dropped;
    _Atomic uint32_t users; /* the recorder and the thread */
    _Atomic bool is_idle;   /* its thread has ended: another one may have it */
    bool is_closed;         /* SB_RECORDER_KEEP_FIRST, and the memory is full */
} sb_lane;

/* What the process' key holds for each thread: its lanes, the newest first. */
typedef struct sb_thread_lanes {
    sb_lane *first;
} sb_thread_lanes;

/* A moment on the clock of records and on the system's. */
typedef struct sb_moment {
    uint64_t ticks;
    uint64_t ns;
} sb_moment;

struct sb_recorder {
    sb_env env;
    sb_fork_mark fork_mark;
    pthread_key_t key; /* of the threads' lists of lanes; one for the whole process */
    bool uses_counter; /* ticks are the processor's own, not nanoseconds */
    uint64_t when_full;
    size_t chunks_max;
    sb_moment start;
    uint64_t start_wall;
    char session[SB_HOST_ROOM]; /* empty: the time of the start */
    char host[SB_HOST_ROOM];
    pthread_mutex_t mutex;
    size_t chunk_count;
    sb_record_chunk *oldest, *newest; /* the queue of full chunks */
    uint64_t queued;                  /* records in it */
    uint64_t dropped;                 /* records that were in chunks that were taken again */
    sb_lane *lanes;
    sb_intern tracks, names; /* a number is the table's id + 1 */
};

/* sb_recorder_start with the world passed in; the members of env must outlive the recorder. */
sb_status sb_recorder_start_env(sb_recorder **out, const sb_recorder_opts *opts, const sb_env *env,
                                sb_err *err);

/* ---- lanes (lane.c) -------------------------------------------------------------------------- */

/* The key of the process; false when there is none left. */
bool sb_lane_key(pthread_key_t *key);
/* Room for one record in the calling thread's lane; publish it with `publish`. NULL: it is
 * lost, and counted. */
sb_recorded *sb_lane_room_slow(sb_recorder *r, sb_record_chunk **chunk);
/* Detaches the recorder from every thread; chunks go to `first` of their lanes. */
void sb_lanes_stop(sb_recorder *r);
/* Frees the chunks, and the lanes as far as their threads have left them. */
void sb_lanes_free(sb_recorder *r);

/* ---- slices (collect.c) ---------------------------------------------------------------------- */

typedef enum sb_mark_kind { SB_MARK_SLICE, SB_MARK_STEP, SB_MARK_COUNT } sb_mark_kind;

/* One event of the file. Times are picoseconds since the recording began. */
typedef struct sb_mark {
    int64_t start;
    int64_t duration;
    uint64_t value;
    uint32_t name; /* ids of the tables */
    uint32_t track;
    uint32_t kind;
    uint32_t is_open; /* while collecting: it has not ended yet */
} sb_mark;

typedef struct sb_marks {
    sb_mark *items; /* in the order of `order`: track by track, then by start, longer ones first */
    size_t n, room;
    uint32_t *order;
    size_t *track_begin; /* track i has order[track_begin[i]] .. order[track_begin[i + 1] - 1] */
    size_t track_count;
    uint64_t unfinished; /* slices without an end */
    uint64_t no_begin;   /* ends without a slice */
    uint64_t unknown;    /* calls with a number that no track or name has */
    uint64_t misplaced;  /* spans that begin before the recording or are too long */
} sb_marks;

sb_status sb_marks_collect(sb_marks *m, sb_recorder *r, sb_moment stop, sb_err *err);
void sb_marks_free(sb_marks *m, const sb_recorder *r);

/* ---- the file (xspace.c) --------------------------------------------------------------------- */

/* Appends an XSpace. */
sb_status sb_marks_encode(sb_buf *out, const sb_marks *m, const sb_recorder *r, sb_moment stop,
                          uint64_t dropped, sb_err *err);

#endif
