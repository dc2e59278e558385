/* profile_trace.c: what XProf's trace viewer asks for: Chrome trace events of a window, all of them
 * or as many as there are pixels. Events have the group of their track as process. */
#include "base/text/number.h"
#include "profile/trace/window.h"
#include "server/compat/profile/profile_tools.h"
#include "base/banned.h"

#define ALL_SPANS 200000u /* up to so many are sent one by one */
#define RESOLUTION 8000

typedef struct viewer {
    sb_json *j;
    const sb_trace *t;
    sb_window window;
    bool is_all;
    sb_http_request *q;
} viewer;

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

static void add_event(const viewer *v, uint32_t track, int64_t start, int64_t dur, uint32_t name) {
    sb_json *j = v->j;
    sb_json_begin_object(j);
    sb_json_put_uint(j, "pid", v->t->tracks.items[track].group + 1);
    sb_json_put_uint(j, "tid", track + 1);
    sb_json_put_text(j, "name", sb_trace_name(v->t, name));
    sb_json_put_double(j, "ts", (double)start * 1e-6);
    sb_json_put_double(j, "dur", dur ? (double)dur * 1e-6 : 1e-6);
    sb_json_put_str(j, "ph", "X");
    sb_json_end_object(j);
}

static sb_status add_track(const viewer *v, size_t at, const sb_alloc *alloc) {
    uint32_t track = v->t->track_order[at];
    const sb_track *k = &v->t->tracks.items[track];
    sb_rects rects = {0};
    uint64_t spans;
    if (!sb_compat_profile_wants(v->q, v->t, sb_track_source(v->t, k)) || k->spans.n == 0 ||
        k->is_made)
        return SB_OK;
    add_name(v->j, "thread_name", k->group + 1, track + 1, k->name);
    add_order(v->j, "thread_sort_index", k->group + 1, track + 1, at);
    if (v->is_all) {
        for (size_t i = 0; i < k->spans.n; i++) {
            const sb_trace_span *s = &k->spans.items[i];
            if (s->start <= v->window.to && sb_span_end(s) >= v->window.from)
                add_event(v, track, s->start, s->dur, s->name);
        }
        return SB_OK;
    }
    bool is_done = sb_window_rects(k, &v->window, &rects, alloc, &spans);
    for (size_t i = 0; is_done && i < rects.n; i++)
        add_event(v, track, rects.items[i].start, rects.items[i].dur, rects.items[i].name);
    SB_VEC_FREE(&rects, alloc);
    return is_done ? SB_OK : SB_NOMEM;
}

static double number_of(sb_http_request *q, const char *key, double otherwise) {
    sb_slice text = sb_http_query(q, key);
    double x;
    return text.n && sb_parse_double(text, &x) && x > -1e9 && x < 1e9 ? x : otherwise;
}

SB_PROFILE_TOOL(trace) {
    const sb_trace *t = a->t;
    sb_json j;
    double resolution = number_of(q, "resolution", RESOLUTION);
    double end_ms = (double)t->duration * 1e-9;
    viewer v = {.j = &j, .t = t, .q = q};
    (void)csv; /* a trace has no table */
    v.window.from = (int64_t)(number_of(q, "start_time_ms", 0) * 1e9);
    v.window.to = (int64_t)(number_of(q, "end_time_ms", end_ms + 1) * 1e9);
    v.window.pixels = resolution >= 1 ? (uint32_t)resolution : RESOLUTION;
    v.is_all = resolution == 0 || t->span_count <= ALL_SPANS;
    sb_compat_json_begin(&j, r);
    sb_json_begin_object(&j);
    sb_json_put_str(&j, "displayTimeUnit", "ns");
    sb_json_open_object(&j, "metadata");
    sb_json_put_bool(&j, "highres-ticks", true);
    sb_json_end_object(&j);
    sb_json_open_array(&j, "traceEvents");
    for (uint32_t i = 0; i < t->groups.n; i++) {
        if (!sb_compat_profile_wants(q, t, t->groups.items[i].source)) continue;
        add_name(&j, "process_name", i + 1, -1, t->groups.items[i].name);
        add_order(&j, "process_sort_index", i + 1, -1, i);
    }
    sb_status status = SB_OK;
    for (size_t i = 0; i < t->tracks.n && status == SB_OK; i++) {
        status = sb_http_expired(q) ? SB_TIMEOUT : add_track(&v, i, q->alloc);
    }
    if (status != SB_OK) return status;
    sb_json_end_array(&j);
    sb_json_open_array(&j, "fullTimespan");
    sb_json_double(&j, 0);
    sb_json_double(&j, end_ms);
    sb_json_end_array(&j);
    sb_json_end_object(&j);
    return sb_json_finish(&j, "a trace", sb_http_err(r));
}
