/* profile_trace.c: what XProf's trace viewer asks for, as Chrome trace events. Events have the
 * group of their track as process; "z" and the argument "uid" are the unique id, by which the
 * viewer asks for the arguments of one event. */
#include <stdio.h>

#include "base/sort_rows.h"
#include "server/compat/profile/profile_viewer.h"
#include "base/banned.h"

#define MOST_ARGS ((size_t)1 << 20) /* of one event: with more it is sent without them */

typedef struct trace_reply {
    const sb_viewer *v;
    sb_json *j;
    sb_args_reader *args;
    sb_err *err;
    uint64_t sent, points;
} trace_reply;

/* An event that says something of a process, or of a thread where tid is not negative; its argument
 * comes next. */
static void begin_metadata(sb_json *j, const char *what, uint32_t pid, int64_t tid) {
    sb_json_begin_object(j);
    sb_json_put_uint(j, "pid", pid);
    if (tid >= 0) sb_json_put_int(j, "tid", tid);
    sb_json_put_str(j, "ph", "M");
    sb_json_put_str(j, "name", what);
    sb_json_open_object(j, "args");
}

static void end_metadata(sb_json *j) {
    sb_json_end_object(j);
    sb_json_end_object(j);
}

static void add_name(sb_json *j, const char *what, uint32_t pid, int64_t tid, sb_slice name) {
    begin_metadata(j, what, pid, tid);
    sb_json_put_text(j, "name", name);
    end_metadata(j);
}

/* The order of processes and threads is that of our own timeline. */
static void add_order(sb_json *j, const char *what, uint32_t pid, int64_t tid, size_t at) {
    begin_metadata(j, what, pid, tid);
    sb_json_put_uint(j, "sort_index", at);
    end_metadata(j);
}

/* The arguments from the file, and the unique id. */
static sb_status add_args(trace_reply *p, uint32_t track, const sb_rect *event, uint64_t number) {
    sb_buf args;
    sb_slice category;
    sb_arena_mark mark = sb_arena_here(p->v->q->arena);
    sb_status status = SB_OK;
    sb_buf_init(&args, p->v->q->alloc, MOST_ARGS);
    if (p->args && number)
        status =
            sb_args_add(p->args, track, event->index, &args, &category, p->v->q->arena, p->err);
    if (status == SB_CORRUPT ||
        args.failed == SB_LIMIT) { /* its record is too large, for example */
        sb_buf_clear(&args);
        status = SB_OK;
    }
    if (status == SB_OK) status = sb_buf_check(&args, "the arguments of an event", p->err);
    sb_json_key_str(p->j, "args");
    if (args.n <= 2) {
        sb_json_begin_object(p->j);
        if (number) sb_json_put_uint(p->j, "uid", number);
        sb_json_end_object(p->j);
    } else {
        char uid[40];
        args.n--; /* the closing bracket comes after the unique id */
        int n = snprintf(uid, sizeof uid, ",\"uid\":%llu}", (unsigned long long)number);
        sb_json_raw(p->j, sb_buf_slice(&args));
        sb_buf_add(p->j->out, uid, (size_t)n);
    }
    sb_buf_fini(&args);
    sb_arena_reset(p->v->q->arena, mark);
    return status;
}

/* Arrows are drawn between events of the same `bind_id`: the unique id of the event that hands on.
 * An event has one such id, so where it was handed something itself, only that is drawn. */
static void add_arrow(trace_reply *p, uint32_t track, uint32_t index) {
    static const char *const names[] = {"launch", "forward_backward", "other"};
    const sb_trace *t = p->v->t;
    const sb_flow *in = sb_flow_into(t, track, index), *out = sb_flow_out_of(t, track, index);
    if (in && sb_flow_into(t, in->from_track, in->from)) return;
    if (!in && !out) return;
    const sb_flow *f = in ? in : out;
    sb_json_put_uint(p->j, "bind_id", p->v->numbers[f->from_track] + f->from);
    sb_json_put_str(p->j, "cat", names[f->kind]);
    sb_json_put_bool(p->j, in ? "flow_in" : "flow_out", true);
}

static sb_status add_event(trace_reply *p, uint32_t track, const sb_rect *event) {
    sb_json *j = p->j;
    uint64_t number = sb_viewer_number(p->v, track, event);
    sb_json_begin_object(j);
    sb_json_put_uint(j, "pid", p->v->t->tracks.items[track].group + 1);
    sb_json_put_uint(j, "tid", track + 1);
    sb_json_put_text(j, "name", sb_trace_name(p->v->t, event->name));
    sb_json_put_double(j, "ts", (double)(event->start + p->v->origin) * 1e-6);
    sb_json_put_double(j, "dur", event->dur ? (double)event->dur * 1e-6 : 1e-6);
    sb_json_put_str(j, "ph", "X");
    if (number) sb_json_put_uint(j, "z", number);
    if (number && p->v->is_streaming && !p->v->is_one) add_arrow(p, track, event->index);
    sb_status status = add_args(p, track, event, number);
    sb_json_end_object(j);
    p->sent++;
    return status;
}

/* Events with arguments come in the order in which their records lie in the file: so it is read
 * from begin to end. */
static sb_status add_events(trace_reply *p, uint32_t track, const sb_rects *events) {
    const sb_track *k = &p->v->t->tracks.items[track];
    size_t room = events->n * sizeof(sb_sort_row);
    sb_sort_row *order = p->args && events->n ? sb_alloc_get(p->v->q->alloc, room) : NULL;
    sb_status status = p->args && events->n && !order ? SB_NOMEM : SB_OK;
    for (size_t i = 0; order && i < events->n; i++)
        order[i] = (sb_sort_row){i, (double)k->spans.items[events->items[i].index].at, SB_LIT("")};
    if (order) sb_sort_rows(order, events->n, SB_SORT_LEAST_FIRST);
    for (size_t i = 0; i < events->n && status == SB_OK; i++) {
        bool is_slow = p->args != NULL; /* one event may share a record of megabytes with others */
        if ((is_slow || (i & 0xfff) == 0xfff) && sb_http_expired(p->v->q)) status = SB_TIMEOUT;
        if (p->j->out->failed != SB_OK) break; /* told at the end */
        if (status == SB_OK)
            status = add_event(p, track, &events->items[order ? order[i].index : i]);
    }
    if (order) sb_alloc_put(p->v->q->alloc, order, room);
    return status;
}

static void begin_counter(sb_json *j, const sb_track *k) {
    sb_json_begin_object(j);
    sb_json_put_uint(j, "pid", k->group + 1);
    sb_json_put_text(j, "name", k->name);
    sb_json_put_str(j, "ph", "C");
}

/* All points as one event: the streaming viewer takes them apart itself. */
static void add_entries(trace_reply *p, const sb_track *k, const sb_count_bars *bars) {
    begin_counter(p->j, k);
    sb_json_put_str(p->j, "event_stats", "value");
    sb_json_open_array(p->j, "entries");
    for (size_t i = 0; i < bars->n; i++) {
        sb_json_begin_array(p->j);
        sb_json_double(p->j, (double)(bars->items[i].time + p->v->origin) * 1e-6);
        sb_json_double(p->j, bars->items[i].last);
        sb_json_end_array(p->j);
    }
    sb_json_end_array(p->j);
    sb_json_end_object(p->j);
}

static void add_points(trace_reply *p, const sb_track *k, const sb_count_bars *bars) {
    for (size_t i = 0; i < bars->n; i++) {
        begin_counter(p->j, k);
        sb_json_put_double(p->j, "ts", (double)(bars->items[i].time + p->v->origin) * 1e-6);
        sb_json_open_object(p->j, "args");
        sb_json_put_double(p->j, "value", bars->items[i].last);
        sb_json_end_object(p->j);
        sb_json_end_object(p->j);
    }
}

static sb_status add_counter(trace_reply *p, const sb_track *k) {
    sb_count_bars bars = {0};
    sb_status status = sb_viewer_counts(p->v, k, &bars);
    if (status == SB_OK && bars.n && p->v->is_streaming) add_entries(p, k, &bars);
    if (status == SB_OK && !p->v->is_streaming) add_points(p, k, &bars);
    p->points += bars.n;
    SB_VEC_FREE(&bars, p->v->q->alloc);
    return status;
}

static sb_status add_track(trace_reply *p, size_t at) {
    uint32_t track = p->v->t->track_order[at];
    const sb_track *k = &p->v->t->tracks.items[track];
    sb_rects events = {0};
    if (!sb_viewer_wants_track(p->v, k)) return SB_OK;
    if (k->kind == SB_TRACK_COUNTER) return add_counter(p, k);
    sb_status status = sb_viewer_events(p->v, track, &events);
    if (events.n || !p->v->is_one) { /* one event must be the last: so the viewer finds it */
        add_name(p->j, "thread_name", k->group + 1, track + 1, k->name);
        add_order(p->j, "thread_sort_index", k->group + 1, track + 1, at);
    }
    if (status == SB_OK) status = add_events(p, track, &events);
    SB_VEC_FREE(&events, p->v->q->alloc);
    return status;
}

static void add_groups(trace_reply *p) {
    const sb_trace *t = p->v->t;
    for (uint32_t i = 0; i < t->groups.n; i++) {
        if (!sb_compat_profile_wants(p->v->q, t, t->groups.items[i].source)) continue;
        add_name(p->j, "process_name", i + 1, -1, sb_viewer_process(p->v, i));
        add_order(p->j, "process_sort_index", i + 1, -1, i);
    }
}

/* What the viewer reads beside the events, some of it without looking whether it is there. */
static void end_reply(trace_reply *p) {
    sb_json_put_bool(p->j, "filteredByVisibility", p->v->is_streaming || !p->v->is_all);
    sb_json_put_uint(p->j, "totalCounterEvents", p->points);
    sb_json_put_str(p->j, "showCounterMessage", "");
    sb_json_put_str(p->j, "codeLink", "");
    sb_json_put_bool(p->j, "useNewBackend", false);
    sb_json_open_object(p->j, "stackFrames");
    sb_json_end_object(p->j);
    sb_json_open_array(p->j, "details");
    sb_json_end_array(p->j);
    sb_json_end_object(p->j);
}

static sb_status answer_json(trace_reply *p, sb_http_reply *r) {
    sb_json j;
    sb_status status = SB_OK;
    p->j = &j;
    sb_compat_json_begin(&j, r);
    sb_json_begin_object(&j);
    sb_json_put_str(&j, "displayTimeUnit", "ns");
    sb_json_open_object(&j, "metadata");
    sb_json_put_bool(&j, "highres-ticks", true);
    sb_json_end_object(&j);
    sb_json_open_array(&j, "traceEvents");
    add_groups(p);
    for (size_t i = 0; i < p->v->t->tracks.n && status == SB_OK; i++)
        status = sb_http_expired(p->v->q) ? SB_TIMEOUT : add_track(p, i);
    if (status == SB_OK && p->v->is_one && p->sent == 0) status = SB_NOT_FOUND;
    if (status != SB_OK) return status;
    sb_json_end_array(&j);
    sb_json_open_array(&j, "fullTimespan");
    sb_json_double(&j, (double)p->v->origin * 1e-9);
    sb_json_double(&j, (double)(p->v->origin + p->v->t->duration) * 1e-9);
    sb_json_end_array(&j);
    sb_json_put_uint(&j, "returnedEventsSize", p->sent);
    end_reply(p);
    return sb_json_finish(&j, "a trace", sb_http_err(r));
}

SB_PROFILE_TOOL(trace) {
    sb_viewer v;
    (void)csv; /* a trace has no table */
    sb_status status = sb_viewer_ask(&v, q, a->t);
    if (status != SB_OK) return status;
    if (sb_slice_eq(sb_http_query(q, "format"), SB_LIT("pb")) && !sb_http_query(q, "event_name").n)
        return sb_viewer_answer_pb(&v, r);
    trace_reply p = {.v = &v, .err = sb_http_err(r)};
    if (v.has_args) status = sb_args_open(&p.args, a->t, p.err);
    if (status == SB_OK) status = answer_json(&p, r);
    sb_args_close(p.args);
    return status;
}
