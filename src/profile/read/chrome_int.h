/* chrome_int.h: how events of a Chrome trace are parsed and added to the trace. Inside the layer
 * only. */
#ifndef SB_PROFILE_CHROME_INT_H
#define SB_PROFILE_CHROME_INT_H

#include "profile/read/json_scan.h"
#include "profile/trace/build.h"

#define SB_CHROME_SERIES 16

/* The arguments that are used, as slices of the text; n is 0 for those that are missing. */
typedef struct sb_chrome_args {
    sb_slice external, correlation, sequence, forward_thread, bytes, address, allocated, reserved,
        device_type, device_id, python_id, python_parent, python_module, dims, types, label, labels,
        sort_index, occupancy, blocks_per_sm, elements, dtype, step_num, hlo_op, stream, group,
        group_ranks, group_sequence, from_rank, to_rank;
    struct {
        sb_slice key, value;
    } series[SB_CHROME_SERIES]; /* only counters: all arguments that are numbers */
    uint32_t series_count;
} sb_chrome_args;

typedef struct sb_chrome_event {
    sb_slice name, category, ts, dur, pid, tid, id, scope, bind_id;
    uint8_t phase;
    bool name_has_escapes, flow_in, flow_out;
    sb_chrome_args args;
    uint64_t at;
} sb_chrome_event;

/* A name that the file gives to a process or a thread; it may come before or after the events. */
typedef struct sb_chrome_label {
    sb_slice pid, tid, value; /* tid.p is NULL for a label of the process */
    uint8_t what;             /* 'n' name, 'l' labels, 's' sort index */
} sb_chrome_label;

typedef struct sb_chrome {
    sb_trace *t;
    sb_trace_bytes *bytes;
    uint32_t host;
    int64_t base; /* microseconds that are subtracted from all times */
    bool has_base;
    uint64_t near, far;
    bool has_failed, has_looked_for_events;
    sb_buf text;
    /* the key of the last event's track: the next event is often on the same */
    uint8_t last_key[160];
    size_t last_key_n;
    uint32_t last_track;
    SB_VEC(uint16_t) kinds; /* indexed by name: kind + 1, and some bits of the category's hash */
    SB_VEC(sb_chrome_label) labels;
    int64_t window_end; /* time of the event "Record Window End" of torch */
    bool has_window_end;
    uint32_t window_end_track;
} sb_chrome;

sb_status sb_chrome_begin(sb_chrome *c, sb_trace *t, sb_trace_bytes *bytes, sb_err *err);
void sb_chrome_free(sb_chrome *c);
sb_scan_step sb_chrome_read_event(sb_chrome *c, sb_scan *s, sb_chrome_event *e);
/* Adds one event to the trace. false: no memory. */
bool sb_chrome_add_event(sb_chrome *c, const sb_chrome_event *e);
/* At the end of the file: applies the names of processes and threads. false: no memory. */
bool sb_chrome_end(sb_chrome *c);

#endif
