/* profile_viewer.h: one question of XProf's trace viewer: which events of which tracks it wants.
 * The answer is JSON (profile_trace.c) or a protobuf message (profile_trace_pb.c).
 *
 * A question is one of four: the whole trace, a window of it, the events whose names begin with a
 * text (`search_prefix`), or one event with all that is known of it (`event_name`). In the first
 * two events that are narrower than a pixel are sent as one, unless the trace is small. */
#ifndef SB_SERVER_COMPAT_PROFILE_VIEWER_H
#define SB_SERVER_COMPAT_PROFILE_VIEWER_H

#include "profile/read/read.h"
#include "profile/trace/window.h"
#include "server/compat/profile/profile_tools.h"

typedef struct sb_viewer {
    sb_http_request *q;
    const sb_trace *t;
    int64_t origin;          /* what is added to times: as XProf, an XSpace is shown with its own */
    sb_window window;        /* without it */
    bool is_all;             /* no events are sent as one */
    bool is_streaming;       /* the viewer asks again when it is zoomed, or an event is clicked */
    bool has_args;           /* arguments are sent with the events */
    const uint64_t *numbers; /* by track: the unique id of its first event; ids begin at 1 */
    /* by id of a name: is it wanted? NULL: all are */
    const uint8_t *names;
    bool is_one;                /* one event is wanted, or those that can't be told from it: */
    uint64_t one;               /* its unique id; 0: not told */
    int64_t one_start, one_dur; /* its times, where the id is not told; INT64_MIN: any */
} sb_viewer;

/* SB_NOT_FOUND: no event has the name that is asked for. */
sb_status sb_viewer_ask(sb_viewer *v, sb_http_request *q, const sb_trace *t);
/* The name of a group as a process: for the streaming viewer the name of its host comes first, by
 * which that knows whom to ask for an event's arguments. Lives as long as the request. */
sb_slice sb_viewer_process(const sb_viewer *v, uint32_t group);
/* Is it a track that has events of the hosts that are asked for? */
bool sb_viewer_wants_track(const sb_viewer *v, const sb_track *k);
/* Appends the events of a track. Those that stand for one span have its `index`, and no event is
 * left out: SB_OK, SB_NOMEM or SB_TIMEOUT. */
sb_status sb_viewer_events(const sb_viewer *v, uint32_t track, sb_rects *out);
/* The unique id of an event; 0: it stands for several spans. */
uint64_t sb_viewer_number(const sb_viewer *v, uint32_t track, const sb_rect *event);
/* The points of a counter, or as many as there are pixels. */
sb_status sb_viewer_counts(const sb_viewer *v, const sb_track *k, sb_count_bars *out);

/* profile_trace_pb.c: the answer as the message xprof.TraceDataResponse, packed with zstd. */
sb_status sb_viewer_answer_pb(const sb_viewer *v, sb_http_reply *r);

#endif
