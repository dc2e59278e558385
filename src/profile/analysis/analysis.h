/* analysis.h: what a trace means: steps, where their time goes, operators, kernels.
 *
 *     sb_analysis_new(&a, trace, NULL, err)
 *
 * Made once for a trace and then only read. Steps are found by the first rule that gives any: spans
 * that the program marked (ProfilerStep of torch, step annotations of JAX, batches of Keras), the
 * device's line of steps, runs of a function or of a compiled module, the heaviest span that
 * repeats; or all spans of a name that a person chose.
 *
 * Every moment of a step belongs to one part: the first of the list below that is going on. So what
 * the device hides of the host, or compute hides of communication, is not counted twice. Where no
 * device computes, operators of the host hide communication (the rule is in parts.c).
 *
 * Threads: a finished analysis may be read by many. */
#ifndef SB_PROFILE_ANALYSIS_H
#define SB_PROFILE_ANALYSIS_H

#include "profile/analysis/intervals.h"
#include "profile/trace/trace.h"

#define SB_PARTS(X)                                                                                \
    X(COMPUTE, "compute")                                                                          \
    X(COMMUNICATION, "communication")                                                              \
    X(COPY, "copy")                                                                                \
    X(INPUT, "input")                                                                              \
    X(COMPILE, "compile")                                                                          \
    X(SYNC, "sync")                                                                                \
    X(LAUNCH, "launch")                                                                            \
    X(OPTIMIZER, "optimizer")                                                                      \
    X(HOST, "host")                                                                                \
    X(OTHER, "other")

typedef enum sb_step_part {
#define SB_PART_ID(id, name) SB_PART_##id,
    SB_PARTS(SB_PART_ID)
#undef SB_PART_ID
        SB_PART_COUNT,
} sb_step_part;
const char *sb_part_name(sb_step_part part);

#define SB_STEP_RULES(X)                                                                           \
    X(NONE, "none")                                                                                \
    X(MARKED, "marked")                                                                            \
    X(KERAS, "keras")                                                                              \
    X(LINE, "steps_line")                                                                          \
    X(FUNCTION, "function")                                                                        \
    X(MODULE, "module")                                                                            \
    X(PERIODIC, "periodic")                                                                        \
    X(NAME, "name")

typedef enum sb_step_rule {
#define SB_RULE_ID(id, name) SB_STEPS_##id,
    SB_STEP_RULES(SB_RULE_ID)
#undef SB_RULE_ID
} sb_step_rule;
const char *sb_step_rule_name(sb_step_rule rule);

typedef struct sb_step {
    uint32_t name;
    uint32_t source, track, index;
    int64_t number;
    int64_t start, dur; /* the step ends when the last work that it launched has ended */
    int64_t parts[SB_PART_COUNT];
} sb_step;

/* The parts of one source. `active`: the times at which something of this part runs. `counts`:
 * those of them at which no part that comes before it in the list runs. */
typedef struct sb_source_parts {
    sb_intervals active[SB_PART_COUNT];
    sb_intervals counts[SB_PART_COUNT];
    sb_intervals computing; /* what hides communication */
    sb_intervals exposed;   /* communication that nothing hides */
    sb_intervals device;    /* times at which anything runs on a device */
    sb_intervals host;      /* a host thread does something, other than to wait for the device */
    bool has_device;
    /* from the start of the first step to the end of the last one; without steps, the whole
     * capture */
    int64_t from, to;
    int64_t parts[SB_PART_COUNT];
    int64_t device_busy, host_busy;
    int64_t communication; /* all communication, also what compute hides */
} sb_source_parts;

typedef struct sb_op_row {
    uint32_t name, shape; /* shape: id of a name + 1; 0: the file has no shapes */
    uint8_t kind;
    uint64_t calls;
    int64_t host_total, host_self, device_total, device_self;
    uint64_t kernels, tensor_core_kernels;
    uint32_t track, index; /* the longest call */
} sb_op_row;

typedef struct sb_kernel_row {
    uint32_t name, op; /* op: id of the operator's name + 1; 0: unknown */
    uint8_t kind;
    uint64_t calls;
    int64_t total, least, greatest;
    double occupancy; /* from 0 to 1; this and the next are means, weighted by duration */
    double blocks_per_sm;
    uint32_t track, index; /* the longest call */
} sb_kernel_row;

typedef struct sb_step_stats {
    size_t n;
    int64_t median, p95, worst, mean, deviation;
    /* the median of each part, scaled so that their sum is the median step */
    int64_t parts[SB_PART_COUNT];
} sb_step_stats;

typedef struct sb_analysis {
    const sb_trace *t;
    sb_arena arena;
    sb_step_rule rule;
    uint32_t step_name; /* for rules that go by name: the id of that name + 1 */
    sb_step *steps;     /* ordered by source, then by start */
    size_t step_count;
    sb_step_stats stats;
    sb_source_parts *sources;
    bool has_device;
    double device_busy; /* busy share of the time from the first step to the last; -1: no device */
    double host_busy;   /* the same of the host; -1: there is no time */
    sb_op_row *ops, *ops_by_shape;
    size_t op_count, op_by_shape_count;
    sb_kernel_row *kernels;
    size_t kernel_count;
    int64_t host_time, device_time; /* sums of self times over all operators */
} sb_analysis;

typedef struct sb_analysis_ask {
    sb_slice step_name; /* spans of this name are taken as steps; empty: the rules find the steps */
} sb_analysis_ask;

sb_status sb_analysis_new(sb_analysis **out, const sb_trace *t, const sb_analysis_ask *ask,
                          sb_err *err);
void sb_analysis_free(sb_analysis *a);
/* Adds a derived track to every device, with one span for every gap in its work, named by what the
 * host did in that time. It changes the trace, so it is called once, before other threads see it.
 * If it fails, the trace can only be freed. */
sb_status sb_trace_add_idle(sb_trace *t, const sb_analysis *a, sb_err *err);

/* The steps of the analysis, for use inside the layer. false: no memory. */
bool sb_find_steps(sb_analysis *a, sb_slice name);
bool sb_find_parts(sb_analysis *a);
bool sb_find_ops(sb_analysis *a);
bool sb_find_kernels(sb_analysis *a);

#endif
