/* critical_path.h: which work bounds the length of a step.
 *
 * The path is walked from the end of the step to its beginning: what ended last, then what that had
 * waited for. A kernel waits for the one before it on its stream or for the call that launched it,
 * a call that synchronises waits for the device, a thread without work of its own for the thread
 * that ended last. The pieces follow each other without gaps, so together they are as long as the
 * step; what makes one of them shorter makes the step shorter, until another path is longer.
 *
 * Files say what launched a kernel, and have arrows between some threads. Other links between
 * threads or streams are guesses by who ended last; they are marked and counted. */
#ifndef SB_PROFILE_CRITICAL_PATH_H
#define SB_PROFILE_CRITICAL_PATH_H

#include "profile/analysis/analysis.h"

#define SB_PATH_STATES(X)                                                                          \
    X(WORK, "work")                                                                                \
    X(WAIT, "wait")         /* in a call that waits for the device */                              \
    X(LAUNCH, "launch")     /* between a launch and the beginning of what it launched */           \
    X(QUEUE, "queue")       /* between two pieces of work of a device */                           \
    X(HANDOVER, "handover") /* between two threads */                                              \
    X(NOTHING, "nothing")   /* nothing was recorded */

typedef enum sb_path_state {
#define SB_PATH_ID(id, name) SB_PATH_##id,
    SB_PATH_STATES(SB_PATH_ID)
#undef SB_PATH_ID
        SB_PATH_STATE_COUNT,
} sb_path_state;
const char *sb_path_state_name(sb_path_state state);

typedef struct sb_path_piece {
    int64_t start, dur;
    uint32_t track, index; /* index: SB_NO_INDEX where it is between two spans */
    sb_path_state state;
    bool is_guess; /* that it had to wait for the piece before it */
} sb_path_piece;

/* All pieces of one name, one state and one side. */
typedef struct sb_path_row {
    uint32_t name; /* + 1; 0: no span */
    uint8_t kind;
    sb_path_state state;
    bool is_device;
    uint64_t pieces;
    int64_t dur;
    int64_t longest, first; /* the longest piece: its duration, its beginning */
    uint32_t track, index;  /* and where it is */
} sb_path_row;

typedef struct sb_path_ask {
    size_t step;        /* index into the steps of the analysis */
    size_t most_pieces; /* at most so many pieces are kept, the earliest ones */
    bool (*is_expired)(void *ud);
    void *ud;
} sb_path_ask;

typedef struct sb_path_view {
    size_t step;
    sb_path_piece *pieces; /* in order of time */
    size_t n;
    uint64_t total;    /* pieces of the whole path: more than n where not all were kept */
    sb_path_row *rows; /* of all pieces, the longest first */
    size_t row_count;
    uint64_t launches, waits, arrows, guesses; /* links, by how they are known */
    bool is_linked; /* the file says what launched the work of the device, or there is none */
} sb_path_view;

/* The path of one step, in the arena. SB_TIMEOUT when `is_expired` said so.
 *
 * Cost, with n spans in the step, f arrows in the trace and p pieces on the path: n log n to sort
 * the spans by their end, then log n + log f for each piece and one look at each lane of its track.
 * Memory: 16 bytes for each host span of the step, 32 for each device span, 24 for each launch;
 * pieces and rows take what is kept of them, not what is walked over. */
sb_status sb_view_path(const sb_analysis *a, const sb_path_ask *ask, sb_path_view *out,
                       sb_arena *arena, sb_err *err);
/* The index of the step whose length is nearest to the median; SIZE_MAX: there are no steps. */
size_t sb_typical_step(const sb_analysis *a);

#endif
