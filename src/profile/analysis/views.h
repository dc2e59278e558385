/* views.h: what the pages beside the timeline show of a finished trace: memory, input pipeline,
 * modules, ranks, the difference of two captures, advice. All results are in the caller's
 * arena. */
#ifndef SB_PROFILE_VIEWS_H
#define SB_PROFILE_VIEWS_H

#include "profile/analysis/analysis.h"
#include "profile/trace/totals.h"

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct sb_memory_row {
    uint32_t name; /* id of the operator's name + 1; 0: no operator encloses the allocation */
    uint64_t allocations;
    int64_t bytes, freed; /* sums over the whole capture */
    int64_t peak;         /* bytes that are allocated at the time of the device's peak */
    uint64_t peak_count;
} sb_memory_row;

typedef struct sb_memory_point {
    int64_t time, allocated, reserved;
} sb_memory_point;

typedef struct sb_memory_view {
    uint64_t events;
    int64_t peak, peak_time;
    sb_memory_point *points; /* at most `most` of them; peaks are kept */
    size_t point_count;
    sb_memory_row *rows; /* ordered by `peak`, then by `bytes`, the largest first */
    size_t row_count;
} sb_memory_view;

/* The bytes in use after an event: the file's own total, or, where it has none, `before` plus the
 * size of the event. */
int64_t sb_memory_level(const sb_memory_event *e, int64_t before);
bool sb_view_memory(const sb_trace *t, uint32_t device, size_t most, sb_memory_view *out,
                    sb_arena *arena);

/* ---- input pipeline -------------------------------------------------------------------------- */

typedef struct sb_input_row {
    uint32_t name;
    uint64_t calls, slow; /* slow: calls of more than 50 microseconds */
    int64_t total, self, greatest;
} sb_input_row;

#define SB_INPUT_PARTS 5 /* read, preprocess, enqueue, wait, other */
const char *sb_input_part_name(int part);
int sb_input_part_of(sb_slice name);

typedef struct sb_input_view {
    double share; /* of a median step, in which it only waits for input; -1: no steps */
    int64_t parts[SB_INPUT_PARTS]; /* self time of the stages of each part */
    sb_input_row *rows;            /* ordered by self time, the largest first */
    size_t row_count;
} sb_input_view;

bool sb_view_input(const sb_analysis *a, sb_input_view *out, sb_arena *arena);

/* ---- modules --------------------------------------------------------------------------------- */

typedef struct sb_module_row {
    uint32_t name;
    int32_t parent; /* index of its row; -1: it has none */
    uint32_t depth;
    uint64_t calls, operators;
    int64_t host_total, host_self, device_total, device_self;
} sb_module_row;

typedef struct sb_module_view {
    sb_module_row *rows; /* depth first: children follow their parent */
    size_t n;
} sb_module_view;

/* The modules of torch: frames named "nn.Module: ...". Kernels of the backward pass count for the
 * module whose forward operator they belong to. */
bool sb_view_modules(const sb_trace *t, sb_module_view *out, sb_arena *arena);

/* ---- ranks ----------------------------------------------------------------------------------- */

typedef struct sb_rank_row {
    uint32_t source;
    /* communication: the part of it that no compute hides */
    int64_t compute, overlap, communication, other, span;
    /* time in collectives in which this rank waits for others, and others wait for it */
    int64_t wait, awaited;
} sb_rank_row;

typedef struct sb_collective_row {
    uint32_t name;
    uint64_t calls;
    int64_t bytes, transfer, greatest;
    int64_t *wait; /* indexed by the row of the rank */
} sb_collective_row;

typedef struct sb_rank_view {
    sb_rank_row *ranks;
    size_t rank_count;
    sb_collective_row *collectives; /* ordered by total time, the largest first */
    size_t collective_count;
    int32_t straggler; /* row of the rank that the others wait for; -1: there is none */
} sb_rank_view;

/* The k-th collective of a name is the same operation on every rank of its process group; where the
 * files tell the numbers of operations, those with the same number are. The shortest duration among
 * the ranks is the transfer; what the others take longer is waiting. */
bool sb_view_ranks(const sb_analysis *a, sb_rank_view *out, sb_arena *arena);

/* A collective on one rank that waits for other ranks when it begins. */
typedef struct sb_wait {
    uint32_t track, index;
    int64_t start, wait;
    uint32_t last; /* the source of the rank that joined last */
} sb_wait;

/* The waits that overlap the window, ordered by track and time. At most `most` are returned;
 * *total counts all. */
bool sb_view_waits(const sb_trace *t, int64_t from, int64_t to, size_t most, sb_wait **out,
                   size_t *n, uint64_t *total, sb_arena *arena);
/* Corrects clock skew: if the clocks of two sources differ by more than a collective that both took
 * part in lasts, moves the times of one of them. Called by sb_trace_finish. */
bool sb_align_clocks(sb_trace *t);

/* ---- difference ------------------------------------------------------------------------------ */

typedef struct sb_difference_row {
    sb_slice name;
    uint8_t kind;
    uint64_t calls[2];
    int64_t total[2];
} sb_difference_row;

typedef struct sb_difference {
    sb_difference_row *rows; /* ordered by difference, the largest first */
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
    int64_t saves; /* picoseconds that each step would win; 0: unknown */
    double share;  /* `saves` as a share of a step */
    char text[360];
    sb_slice name;        /* the operator, the device or the rank that the advice is about */
    double value;         /* the number in the text: a share or a count */
    sb_evidence evidence; /* where `count` is not 0 */
    uint32_t tracks[SB_ADVICE_SLICES], slices[SB_ADVICE_SLICES];
    uint32_t slice_count;
    /* how many such slices there are; `tracks` and `slices` have only the longest */
    uint64_t count;
} sb_advice;

/* All advice, ordered by `saves`, the largest first. */
bool sb_view_advice(const sb_analysis *a, sb_advice **out, size_t *n, sb_arena *arena);

#endif
