/* views.h: questions to a finished trace beyond its timeline: memory, input pipeline, modules,
 * ranks, two captures side by side. Everything is answered into the caller's arena. */
#ifndef SB_PROFILE_VIEWS_H
#define SB_PROFILE_VIEWS_H

#include "profile/analysis/analysis.h"

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct sb_memory_row {
    uint32_t name; /* + 1; 0: nothing was around it */
    uint64_t allocations;
    int64_t bytes, freed; /* sums over the capture */
    int64_t peak;         /* held at the device's peak */
    uint64_t peak_count;
} sb_memory_row;

typedef struct sb_memory_point {
    int64_t time, allocated, reserved;
} sb_memory_point;

typedef struct sb_memory_view {
    uint64_t events;
    int64_t peak, peak_time;
    sb_memory_point *points; /* at most `most`; the greatest of each stretch is kept */
    size_t point_count;
    sb_memory_row *rows; /* by what they hold at the peak, then by bytes */
    size_t row_count;
} sb_memory_view;

/* What is allocated after an event: from the file, or by adding up. */
int64_t sb_memory_level(const sb_memory_event *e, int64_t before);
bool sb_view_memory(const sb_trace *t, uint32_t device, size_t most, sb_memory_view *out,
                    sb_arena *arena);

/* ---- input pipeline -------------------------------------------------------------------------- */

typedef struct sb_input_row {
    uint32_t name;
    uint64_t calls, slow; /* slow: over 50 microseconds */
    int64_t total, self, greatest;
} sb_input_row;

#define SB_INPUT_PARTS 5 /* read, preprocess, enqueue, wait, other */
const char *sb_input_part_name(int part);
int sb_input_part_of(sb_slice name);

typedef struct sb_input_view {
    double share; /* of the steps in which nothing but input goes on; -1: no steps */
    int64_t parts[SB_INPUT_PARTS]; /* self time */
    sb_input_row *rows;            /* by self time */
    size_t row_count;
} sb_input_view;

bool sb_view_input(const sb_analysis *a, sb_input_view *out, sb_arena *arena);

/* ---- modules --------------------------------------------------------------------------------- */

typedef struct sb_module_row {
    uint32_t name;
    int32_t parent; /* -1: none */
    uint32_t depth;
    uint64_t calls, operators;
    int64_t host_total, host_self, device_total, device_self;
} sb_module_row;

typedef struct sb_module_view {
    sb_module_row *rows; /* in tree order */
    size_t n;
} sb_module_view;

/* Modules of torch (nn.Module frames). What the backward pass launches belongs to the module whose
 * forward operator it belongs to. */
bool sb_view_modules(const sb_trace *t, sb_module_view *out, sb_arena *arena);

/* ---- ranks ----------------------------------------------------------------------------------- */

typedef struct sb_rank_row {
    uint32_t source;
    int64_t compute, overlap, communication, other, span; /* communication: what nothing hides */
    int64_t wait;                                         /* for others, inside collectives */
} sb_rank_row;

typedef struct sb_collective_row {
    uint32_t name;
    uint64_t calls;
    int64_t bytes, transfer, greatest;
    int64_t *wait; /* by rank row */
} sb_collective_row;

typedef struct sb_rank_view {
    sb_rank_row *ranks;
    size_t rank_count;
    sb_collective_row *collectives; /* by time */
    size_t collective_count;
    int32_t straggler; /* the rank that the others wait for; -1: none */
} sb_rank_view;

/* The k-th collective of a name on every rank is the same one; what the fastest of them takes is
 * the transfer, the rest is waiting. */
bool sb_view_ranks(const sb_analysis *a, sb_rank_view *out, sb_arena *arena);

/* A collective on one rank that begins with waiting for the others. */
typedef struct sb_wait {
    uint32_t track, index;
    int64_t start, wait;
    uint32_t last; /* the source that joined last */
} sb_wait;

/* Those that begin before `to` and wait until after `from`, at most `most` of `total`; in order of
 * track and time. */
bool sb_view_waits(const sb_trace *t, int64_t from, int64_t to, size_t most, sb_wait **out,
                   size_t *n, uint64_t *total, sb_arena *arena);
/* Moves clocks that differ by more than collectives last. Called by sb_trace_finish. */
bool sb_align_clocks(sb_trace *t);

/* ---- difference ------------------------------------------------------------------------------ */

typedef struct sb_difference_row {
    sb_slice name;
    uint8_t kind;
    uint64_t calls[2];
    int64_t total[2];
} sb_difference_row;

typedef struct sb_difference {
    sb_difference_row *rows; /* the largest difference first */
    size_t n;
    bool is_per_step;
} sb_difference;

typedef enum sb_difference_by {
    SB_DIFFER_OPS,
    SB_DIFFER_KERNELS,
    SB_DIFFER_MODULES
} sb_difference_by;

bool sb_view_difference(const sb_analysis *a, const sb_analysis *b, sb_difference_by by,
                        sb_difference *out, sb_arena *arena);

/* ---- advice ---------------------------------------------------------------------------------- */

#define SB_ADVICE_SLICES 20

typedef struct sb_advice {
    const char *id;
    int64_t saves; /* a step; 0: unknown */
    double share;  /* of a step */
    char text[360];
    const char *find; /* what to look for in the timeline */
    sb_slice name;    /* what it is about: an operator, a device, a rank */
    double value;     /* a figure of the text: a share or a count */
    uint32_t tracks[SB_ADVICE_SLICES], slices[SB_ADVICE_SLICES];
    uint32_t slice_count;
    uint64_t count; /* of all such slices */
} sb_advice;

/* The largest saving first. */
bool sb_view_advice(const sb_analysis *a, sb_advice **out, size_t *n, sb_arena *arena);

#endif
