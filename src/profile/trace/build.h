/* build.h: how the readers of formats fill a trace; inside the layer only.
 *
 * Times given here are picoseconds since a zero that the source chooses (`base_ns` says where that
 * is). Keys of groups and tracks are texts that are unique within a source. */
#ifndef SB_PROFILE_BUILD_H
#define SB_PROFILE_BUILD_H

#include "profile/read/bytes.h"
#include "profile/trace/trace.h"

typedef struct sb_flow_end {
    uint64_t key;
    int64_t time;
    uint32_t track;
    uint8_t phase; /* 's', 't', 'f' */
    uint8_t kind;
} sb_flow_end;

/* A span that has begun and waits for its end. */
typedef struct sb_open_span {
    uint32_t track, index;
    uint32_t below; /* the one that began before on the same track + 1 */
} sb_open_span;

typedef struct sb_trace_build {
    sb_intern group_keys, track_keys, async_keys;
    SB_VEC(uint32_t) group_of; /* by key */
    SB_VEC(uint32_t) track_of;
    SB_VEC(sb_flow_end) ends;
    SB_VEC(sb_open_span) open;
    SB_VEC(uint32_t) open_top; /* by track: index into open + 1 */
    SB_VEC(uint32_t) async_open;
    uint32_t first_track; /* of the source that is read now */
    uint32_t source;
    uint64_t done_before, total;
    bool is_cancelled;
} sb_trace_build;

/* A text of the trace's own. .p NULL: no memory. */
sb_slice sb_build_text(sb_trace *t, sb_slice text);
/* The id of a name; long ones are cut. SB_NO_INDEX: no memory. */
uint32_t sb_build_name(sb_trace *t, sb_slice name);
/* SB_NO_INDEX: no memory. */
uint32_t sb_build_group(sb_trace *t, sb_slice key, uint32_t parent, sb_group_kind kind,
                        sb_slice name);
/* The track of a key in a group; when there are too many tracks, the one for all others. */
uint32_t sb_build_track(sb_trace *t, uint32_t group, sb_slice key, sb_track_kind kind,
                        sb_slice name);
/* NULL: no memory, or too many. Valid until the next one on the track. */
sb_trace_span *sb_build_span(sb_trace *t, uint32_t track, int64_t start, int64_t dur, uint32_t name,
                             sb_span_kind kind, uint64_t at);
/* The extras of a span, made if it has none. NULL: no memory. */
sb_extra *sb_build_extra(sb_trace *t, sb_trace_span *s);
bool sb_build_point(sb_trace *t, uint32_t track, int64_t time, double value);
bool sb_build_flow_end(sb_trace *t, const sb_flow_end *end);
bool sb_build_begin(sb_trace *t, uint32_t track, int64_t start, uint32_t name, sb_span_kind kind,
                    uint64_t at);
bool sb_build_end(sb_trace *t, uint32_t track, int64_t end);
bool sb_build_fact(sb_trace *t, sb_slice name, sb_slice value);
bool sb_build_memory(sb_trace *t, const sb_memory_event *e);
uint32_t sb_build_memory_device(sb_trace *t, sb_slice name);
/* Says how far reading is; false: it was cancelled. */
bool sb_build_progress(sb_trace *t, uint64_t done);
/* After each source: closes what is open, leaves out what lies far away. */
sb_status sb_build_end_source(sb_trace *t, sb_err *err);
uint64_t sb_build_hash(sb_slice a, sb_slice b);

/* finish.c */
sb_status sb_finish_tracks(sb_trace *t, uint32_t first, sb_err *err);
/* The order in which tracks are shown; before tracks are added to a finished trace it is
 * forgotten. */
sb_status sb_order_tracks(sb_trace *t, sb_err *err);
void sb_forget_track_order(sb_trace *t);
/* join.c */
sb_status sb_join_flows(sb_trace *t, sb_err *err);
void sb_join_memory(sb_trace *t);

#endif
