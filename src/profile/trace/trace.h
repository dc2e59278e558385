/* trace.h: a capture in memory: spans on tracks, counters, arrows, memory events, one time axis.
 *
 *     sb_trace_new(&t, alloc, opts, err)
 *     sb_trace_read(t, &file, err)          once for each file of the capture (read.h)
 *     sb_trace_finish(t, err)               sorts, gives every span its lane, joins arrows
 *     ...questions (window.h, totals.h, analysis.h); the trace does not change any more
 *     sb_trace_free(t)
 *
 * A span is 32 bytes: start, duration, name, lane, kind, and where its record lies in the file.
 * Arguments are read from there when somebody asks. Facts that joins need (correlation and the
 * like) are in `extras`, for those spans that have them.
 *
 * Times are picoseconds since `base_ns`. Within a track spans are ordered by lane, then by start.
 * Spans of one lane never overlap: so both their starts and their ends rise, and every question
 * about a window is a binary search. A span that crosses another one gets a lane of its own below.
 *
 * Sizes: what is read comes from outside, so every count has a limit; what goes beyond it is
 * counted in `odds`. Threads: reading belongs to one thread; a finished trace may be read by
 * many. */
#ifndef SB_PROFILE_TRACE_H
#define SB_PROFILE_TRACE_H

#include "base/arena.h"
#include "base/intern.h"
#include "base/slice.h"
#include "base/status.h"
#include "base/vec.h"
#include "profile/read/bytes.h"

#define SB_PS_PER_US INT64_C(1000000)
#define SB_TRACE_MOST_TRACKS 65536u
#define SB_TRACE_MOST_LANES 1024u
#define SB_TRACE_NAME_BYTES 10000u
#define SB_NO_INDEX UINT32_MAX

/* The kind of a span. It decides about the colour on the page and about how the span counts in the
 * analysis. */
typedef enum sb_span_kind {
    SB_SPAN_OTHER,
    SB_SPAN_OP,         /* an operator of the framework, on a host thread */
    SB_SPAN_ANNOTATION, /* a span that the program named itself, such as record_function */
    SB_SPAN_PYTHON,
    SB_SPAN_RUNTIME, /* a call of the device's API, such as cudaLaunchKernel */
    SB_SPAN_KERNEL,
    SB_SPAN_COPY,
    SB_SPAN_COMM,
    SB_SPAN_INPUT,
    SB_SPAN_SYNC,
    SB_SPAN_OVERHEAD, /* time that the profiler itself takes */
    SB_SPAN_STEP,
    SB_SPAN_MARKER,
    SB_SPAN_MEMORY,
    SB_SPAN_MODULE,
    SB_SPAN_XLA_OP,
    SB_SPAN_COMPILE,
    SB_SPAN_OPTIMIZER,
    SB_SPAN_KIND_COUNT,
} sb_span_kind;
const char *sb_span_kind_name(sb_span_kind kind);

typedef struct sb_trace_span {
    int64_t start;
    int64_t dur;      /* 0: an instant */
    uint64_t at : 44; /* offset of its record in the file; 0: a derived span */
    uint64_t lane : 12;
    uint64_t kind : 8;
    uint32_t name;
    uint32_t extra; /* index into `extras`; 0: it has none */
} sb_trace_span;

static inline int64_t sb_span_end(const sb_trace_span *s) {
    return s->start + s->dur;
}

#define SB_EXTRA_BACKWARD 1u /* an operator of the backward pass, run by an autograd thread */
#define SB_EXTRA_ROOT 2u     /* it marks a step; `number` is the number of the step */
#define SB_EXTRA_HAS_NUMBER 4u
#define SB_EXTRA_DEVICE_LAUNCH 8u
#define SB_EXTRA_GROUP 16u /* a collective that tells its process group; see sb_comm */

typedef struct sb_extra {
    /* the external id of torch: the same for an operator, its launches and its kernels; 0: none */
    uint64_t external;
    uint64_t correlation; /* the same for a launch and for what it launched; 0: none */
    /* the operator of a kernel, or the input shapes of an operator: id of a name + 1; 0: none */
    uint32_t text;
    uint32_t flags;
    int64_t
        /* of a step its number, of an operator its sequence number, of a Python frame its id, of a
         * copy its bytes, of a collective with SB_EXTRA_GROUP its index in `comms` */
        number;
    int64_t second; /* of a Python frame the id of its parent + 1, of a collective its bytes */
    float occupancy, blocks_per_sm;
} sb_extra;

/* What a collective says of itself: by this the ranks of one program know that they mean the same
 * one. */
typedef struct sb_comm {
    uint64_t group; /* a hash of the process group's name and ranks */
    /* the number of the operation in its group; -1: it is not told, or this is a message */
    int64_t sequence;
    int64_t to, from; /* of a message between two ranks the one that is told; else -1 */
} sb_comm;

typedef enum sb_track_kind {
    SB_TRACK_THREAD,
    SB_TRACK_STREAM,
    SB_TRACK_COUNTER,
    SB_TRACK_ASYNC,
    SB_TRACK_DERIVED,
    SB_TRACK_STEPS,
    SB_TRACK_KIND_COUNT,
} sb_track_kind;

typedef struct sb_count_point {
    int64_t time;
    double value;
} sb_count_point;

/* Index over blocks of 64 consecutive spans: the busy time of all spans before the block, and the
 * longest span in it. */
typedef struct sb_span_block {
    int64_t busy_before;
    uint32_t longest;
} sb_span_block;

typedef struct sb_count_block {
    double least, greatest;
} sb_count_block;

typedef struct sb_track {
    uint32_t group;
    sb_track_kind kind;
    bool is_made;  /* made by the analysis; downloads and totals leave it out */
    bool is_mixed; /* it has the spans of several threads, so that those inside others in time need
                      not be called by them */
    sb_slice name;
    int64_t sort; /* order within its group; equal ones keep the order of the file */
    SB_VEC(sb_trace_span) spans;
    SB_VEC(sb_count_point) points;
    uint32_t *lanes; /* index of the first span of each lane; lane_count + 1 of them */
    uint32_t lane_count;
    uint32_t instants;
    sb_span_block *blocks; /* n / 64 + 1 of them */
    sb_count_block *count_blocks;
    int64_t busy; /* time in which anything runs; on a stream, in which the device works */
    int64_t first, last;
    double least, greatest;
} sb_track;

typedef enum sb_group_kind { SB_GROUP_HOST, SB_GROUP_PROCESS, SB_GROUP_DEVICE } sb_group_kind;

typedef struct sb_trace_group {
    uint32_t parent; /* index of its parent; SB_NO_INDEX: it has none */
    uint32_t source;
    sb_group_kind kind;
    sb_slice name;
    int64_t sort;
} sb_trace_group;

/* Only XSpace: where a plane is in its file. It is read again for the arguments of spans. */
typedef struct sb_plane_place {
    uint32_t source;
    uint64_t at, n;
} sb_plane_place;

typedef enum sb_trace_format {
    SB_FORMAT_XSPACE,
    SB_FORMAT_KINETO,
    SB_FORMAT_CHROME,
    SB_FORMAT_STEP_STATS,
} sb_trace_format;
const char *sb_trace_format_name(sb_trace_format format);

typedef struct sb_device {
    uint32_t source;
    int64_t id;
    sb_slice name, capability; /* capability: such as "9.0" */
    uint64_t memory;
    uint32_t multiprocessors;
    uint32_t group; /* index of its group; SB_NO_INDEX: nothing ran on it */
} sb_device;

typedef struct sb_fact {
    uint32_t source;
    sb_slice name, value;
} sb_fact;

/* One file of the capture: that of one host or rank. */
typedef struct sb_trace_source {
    sb_slice name, path;
    sb_trace_format format;
    int64_t rank; /* -1: the file does not say */
    int64_t world;
    sb_slice backend;
    int64_t base_ns; /* Unix time of the origin of its times; 0: unknown */
    int64_t skew;    /* picoseconds by which its times were moved to correct clock skew */
    uint64_t size, read;
    sb_trace_bytes *bytes; /* put down: arguments are read by views of it */
} sb_trace_source;

typedef struct sb_memory_event {
    int64_t time;
    uint64_t address;
    int64_t bytes; /* negative: memory was freed */
    /* totals of the device after this event; -1: the file does not say */
    int64_t allocated, reserved;
    uint32_t device; /* index into memory_devices */
    uint32_t track;
    uint32_t op;    /* the operator that encloses it: id of its name + 1; 0: none */
    uint32_t order; /* its place in the file, among events of the same time */
} sb_memory_event;

typedef struct sb_memory_device {
    uint32_t source;
    sb_slice name;
    size_t first, n;  /* its events, of those in `memory` */
    int64_t capacity; /* of its allocator; here and in `peak`, 0: the file does not say */
    int64_t peak;     /* the peak since the program began, which may be before the capture */
} sb_memory_device;

typedef enum sb_flow_kind { SB_FLOW_LAUNCH, SB_FLOW_FORWARD_BACKWARD, SB_FLOW_OTHER } sb_flow_kind;

typedef struct sb_flow {
    uint32_t from_track, from, to_track, to;
    sb_flow_kind kind;
} sb_flow;

#define SB_TRACE_ODDS(X)                                                                           \
    X(CUT_FILE, "cut_file", "the file ends early")                                                 \
    X(UNREAD_FILE, "unread_file", "files that can't be read; the others are shown")                \
    X(CUT_GZIP, "cut_gzip", "the gzip archive ends early or is damaged")                           \
    X(BAD_JSON, "bad_json", "pieces of JSON that can't be read; they were skipped or repaired")    \
    X(BAD_MESSAGE, "bad_message", "messages that can't be read; they were skipped")                \
    X(NEGATIVE, "negative_duration", "spans with a negative duration; shown as instants")          \
    X(MISSING_END, "missing_end", "spans that begin and never end; shown up to the track's end")   \
    X(MISSING_BEGIN, "missing_begin", "ends without a beginning; left out")                        \
    X(CROSSING, "crossing", "spans that cross another one without nesting; shown in lanes below")  \
    X(PHASE, "unknown_phase", "events of an unknown kind; left out")                               \
    X(TRACKS, "too_many_tracks", "threads beyond 65 536; one track for each file and kind")        \
    X(DEEP, "too_deep", "spans nested more than 1 000 deep; left out")                             \
    X(FAR, "far_time", "events more than a day away from the others; left out")                    \
    X(SKEW, "clock_skew",                                                                          \
      "clocks that differ between ranks; moved so that collectives end together")                  \
    X(REUSED, "reused_id", "ids used again")                                                       \
    X(NO_POSITION, "no_position", "events that carry a count and no time; left out")               \
    X(ERROR, "capture_error", "errors that the profiler itself reports")                           \
    X(WARNING, "capture_warning", "warnings that the profiler itself reports")                     \
    X(LONG_NAME, "long_name", "names longer than 10 000 bytes; cut")                               \
    X(EMPTY_DEVICE, "empty_device", "devices on which nothing was recorded")                       \
    X(SELF, "self_below_zero", "spans whose children take longer than they do; self time is 0")

typedef enum sb_trace_odd {
#define SB_ODD_ID(id, name, text) SB_TRACE_ODD_##id,
    SB_TRACE_ODDS(SB_ODD_ID)
#undef SB_ODD_ID
        SB_TRACE_ODD_COUNT,
} sb_trace_odd;
const char *sb_trace_odd_name(sb_trace_odd odd);
const char *sb_trace_odd_text(sb_trace_odd odd);
/* Is it only a remark? Then nothing is missing and nothing was changed: many captures are like
 * this, such as those of torch with stacks, whose spans cross. */
bool sb_trace_odd_is_remark(sb_trace_odd odd);

#define SB_TRACE_EXAMPLES 5
typedef struct sb_oddity {
    uint64_t n;
    uint32_t shown;
    sb_slice examples[SB_TRACE_EXAMPLES];
} sb_oddity;

typedef struct sb_trace_opts {
    const char *spool_dir; /* where temporary files are made; NULL: /tmp */
    uint64_t most_bytes;   /* limit for one file, decompressed; 0: 64 GiB */
    uint64_t most_spans;   /* limit for all files together; 0: 1 << 31 */
    /* Is told the progress of the reading, and answers false to cancel it. May be NULL. */
    bool (*progress)(void *ud, uint64_t done, uint64_t total);
    void *ud;
} sb_trace_opts;

struct sb_trace_build; /* what is only needed while files are read (build.h) */

typedef struct sb_trace {
    const sb_alloc *alloc;
    sb_trace_opts opts;
    sb_trace_spool spool;
    sb_arena texts;
    sb_intern names;
    SB_VEC(sb_trace_source) sources;
    SB_VEC(sb_trace_group) groups;
    SB_VEC(sb_track) tracks;
    SB_VEC(sb_extra) extras; /* index 0 is not used */
    SB_VEC(sb_comm) comms;
    SB_VEC(sb_memory_event) memory; /* ordered by device, then by time */
    SB_VEC(sb_memory_device) memory_devices;
    SB_VEC(sb_device) devices;
    SB_VEC(sb_fact) facts;
    SB_VEC(sb_plane_place) planes;
    SB_VEC(uint32_t) modules; /* compiled modules, of XSpaces: ids of their names */
    SB_VEC(sb_flow) flows;    /* ordered by (from_track, from) */
    uint32_t *flows_by_end;   /* indexes into `flows`, ordered by (to_track, to) */
    uint32_t *track_order;    /* indexes of tracks in the order in which they are shown */
    sb_oddity odds[SB_TRACE_ODD_COUNT];
    int64_t base_ns; /* Unix time of the origin of the time axis; 0: unknown */
    /* the same in the times of the file: added to a time of the axis, it gives the picoseconds that
     * the earliest source itself says */
    int64_t origin;
    int64_t duration;
    uint64_t span_count;
    uint32_t first_step_track; /* the first track of steps that a reader made */
    /* the name "ProfilerStep*", under which tables have all steps of torch, as torch's own tables
     * do: its id + 1; 0: there are no such steps */
    uint32_t torch_steps;
    struct sb_trace_build *build;
} sb_trace;

sb_status sb_trace_new(sb_trace **out, const sb_alloc *alloc, const sb_trace_opts *opts,
                       sb_err *err);
void sb_trace_free(sb_trace *t);
sb_status sb_trace_finish(sb_trace *t, sb_err *err);
/* How many bytes of memory the trace takes. */
size_t sb_trace_bytes_held(const sb_trace *t);

static inline sb_slice sb_trace_name(const sb_trace *t, uint32_t name) {
    return sb_intern_name(&t->names, name);
}
static inline const sb_extra *sb_span_extra(const sb_trace *t, const sb_trace_span *s) {
    return s->extra ? &t->extras.items[s->extra] : NULL;
}
static inline uint32_t sb_track_source(const sb_trace *t, const sb_track *k) {
    return t->groups.items[k->group].source;
}
/* The arrows that leave a span begin at this index of `flows`, and those that arrive at it begin at
 * this index of `flows_by_end`; where there are none, the answer is that of a later span or the end
 * of the array. */
size_t sb_flows_from(const sb_trace *t, uint32_t track, uint32_t index);
size_t sb_flows_to(const sb_trace *t, uint32_t track, uint32_t index);
static inline const sb_flow *sb_flow_by_end(const sb_trace *t, size_t i) {
    return &t->flows.items[t->flows_by_end[i]];
}
/* The first arrow that arrives at a span, and the first that leaves it; NULL: none does. */
const sb_flow *sb_flow_into(const sb_trace *t, uint32_t track, uint32_t index);
const sb_flow *sb_flow_out_of(const sb_trace *t, uint32_t track, uint32_t index);
/* The span that encloses another one, and the deepest span that runs at a time; SB_NO_INDEX:
 * none. */
uint32_t sb_track_parent(const sb_track *k, uint32_t index);
uint32_t sb_track_at(const sb_track *k, int64_t time);
/* The self time of a span: its duration without its children. */
int64_t sb_track_self(const sb_track *k, uint32_t index, uint32_t *children);

void sb_trace_note(sb_trace *t, sb_trace_odd odd, uint64_t n, sb_slice example);
void sb_trace_notef(sb_trace *t, sb_trace_odd odd, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
