/* build.h: how the readers add to a trace. Inside the layer only.
 *
 * Times are picoseconds since an origin that each source chooses; `base_ns` of the source says
 * when that is. Groups and tracks have keys: texts that are unique within a source. */
#ifndef SB_PROFILE_BUILD_H
#define SB_PROFILE_BUILD_H

#include "profile/read/bytes.h"
#include "profile/trace/trace.h"

/* One end of an arrow. Ends of the phases 's', 't' and 'f' with the same key are a chain in order
 * of time; what is produced goes from there to each span that consumes it. */
#define SB_FLOW_PRODUCES 'p'
#define SB_FLOW_CONSUMES 'c'
typedef struct sb_flow_end {
    uint64_t key;
    int64_t time;
    uint64_t at; /* of its span, as in sb_trace_span; 0: the innermost span at that time */
    uint32_t track;
    uint8_t phase; /* 's', 't', 'f'; SB_FLOW_PRODUCES, SB_FLOW_CONSUMES */
    uint8_t kind;
} sb_flow_end;

/* The duration, until the file ends, of a span beside the threads that has begun and not ended. */
#define SB_STILL_OPEN INT64_C(-1)

/* A span that has begun and waits for its end. */
typedef struct sb_open_span {
    uint32_t track, index;
    uint32_t below; /* index of the open span that encloses this one, + 1; 0: none */
} sb_open_span;

typedef struct sb_trace_build {
    sb_intern group_keys, track_keys, async_keys;
    SB_VEC(uint32_t) group_of; /* indexed by the id of the key */
    SB_VEC(uint32_t) track_of;
    SB_VEC(sb_flow_end) ends;
    SB_VEC(sb_open_span) open;
    /* indexed by track: the innermost open span, as an index into `open` + 1 */
    SB_VEC(uint32_t) open_top;
    SB_VEC(uint32_t) async_open;
    /* of the source that is being read: its first track, memory event and end of an arrow */
    uint32_t first_track;
    size_t first_memory, first_end;
    /* its tracks that take what is beyond the limit, by kind; SB_NO_INDEX: none yet */
    uint32_t rest[SB_TRACK_KIND_COUNT];
    uint32_t source;
    uint64_t done_before, total;
    bool is_cancelled;
} sb_trace_build;

/* Copies a text into the trace. .p is NULL if there is no memory. */
sb_slice sb_build_text(sb_trace *t, sb_slice text);
/* The id of a name. Names that are too long are cut. SB_NO_INDEX: no memory. */
uint32_t sb_build_name(sb_trace *t, sb_slice name);
/* Begins the next source, which was just added. */
void sb_build_begin_source(sb_trace *t);
/* Finds or adds a group. If there are too many, answers the one above. SB_NO_INDEX: no memory. */
uint32_t sb_build_group(sb_trace *t, sb_slice key, uint32_t parent, sb_group_kind kind,
                        sb_slice name);
/* Finds or adds a track. If there are too many tracks, answers the one of this source that takes
 * all others of the kind. */
uint32_t sb_build_track(sb_trace *t, uint32_t group, sb_slice key, sb_track_kind kind,
                        sb_slice name);
/* Adds a span. The pointer is valid until the next span of the track is added. NULL: no memory, or
 * there are too many spans. */
sb_trace_span *sb_build_span(sb_trace *t, uint32_t track, int64_t start, int64_t dur, uint32_t name,
                             sb_span_kind kind, uint64_t at);
/* The extras of a span; adds them if it has none. NULL: no memory. */
sb_extra *sb_build_extra(sb_trace *t, sb_trace_span *s);
bool sb_build_point(sb_trace *t, uint32_t track, int64_t time, double value);
bool sb_build_flow_end(sb_trace *t, const sb_flow_end *end);
bool sb_build_begin(sb_trace *t, uint32_t track, int64_t start, uint32_t name, sb_span_kind kind,
                    uint64_t at);
bool sb_build_end(sb_trace *t, uint32_t track, int64_t end);
bool sb_build_fact(sb_trace *t, sb_slice name, sb_slice value);
bool sb_build_memory(sb_trace *t, const sb_memory_event *e);
uint32_t sb_build_memory_device(sb_trace *t, sb_slice name);
/* Reports the progress of the reading. false: it was cancelled. */
bool sb_build_progress(sb_trace *t, uint64_t done);
/* Called after each source: ends spans that are still open, and leaves out events whose time is
 * far from all others. */
sb_status sb_build_end_source(sb_trace *t, sb_err *err);
uint64_t sb_build_hash(sb_slice a, sb_slice b);

/* Without what is below a nanosecond: never later, also where the time is negative. */
static inline int64_t sb_whole_ns(int64_t ps) {
    return ps - (ps % 1000 + 1000) % 1000;
}
/* trace.c: adds to all times of each source what `by` has for it. */
void sb_move_sources(sb_trace *t, const int64_t *by);
/* finish.c */
sb_status sb_finish_tracks(sb_trace *t, uint32_t first, sb_err *err);
/* Makes the order in which tracks are shown. It must be forgotten before tracks are added to a
 * finished trace. */
sb_status sb_order_tracks(sb_trace *t, sb_err *err);
void sb_forget_track_order(sb_trace *t);
/* join.c */
sb_status sb_join_flows(sb_trace *t, sb_err *err);
void sb_join_memory(sb_trace *t);

#endif
