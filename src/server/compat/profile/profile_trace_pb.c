/* profile_trace_pb.c: the trace for XProf's newer viewer: the message xprof.TraceDataResponse in
 * one zstd frame.
 *
 * A series has the events of one thread, ordered by start: `deltas` are starts less the start
 * before, in picoseconds, `durations` picoseconds, `name_refs` places in `interned_strings`, whose
 * first is empty; `event_metadata` has one item for each event. */
#include <stdlib.h>
#include <zstd.h>

#include "codec/proto/proto.h"
#include "server/compat/profile/profile_viewer.h"
#include "base/banned.h"

#define MOST_BYTES ((size_t)1 << 30)
#define ZSTD_LEVEL 1

enum response_field {
    COMPLETE_EVENTS = 1,
    COUNTER_EVENTS = 2,
    METADATA = 4,
    STRINGS = 5,
    SPAN_START = 7,
    SPAN_END = 8
};
enum series_field {
    SERIES_METADATA = 1,
    DELTAS = 2,
    DURATIONS = 3,
    NAME_REFS = 4,
    EVENT_METADATA = 5
};
enum series_metadata_field { PROCESS_ID = 1, THREAD_ID = 2, NAME_REF = 3, EVENT_STATS_REF = 4 };
enum event_metadata_field { SERIAL = 4, COUNTER_DOUBLE = 5 };
enum process_field {
    PROCESS_NAME = 1,
    PROCESS_NUMBER = 2,
    PROCESS_ORDER = 3,
    THREADS = 4,
    PROCESSES = 1
};

typedef struct packing {
    const sb_viewer *v;
    sb_buf *out;
    sb_buf strings;
    uint32_t *refs; /* by id of a name: its place in `strings`; 0: it has none yet */
    uint32_t ref_count;
    int64_t origin; /* that of the viewer; 0 instead of a negative one, which can't be told */
} packing;

static uint32_t add_string(packing *p, sb_slice text) {
    sb_pb_add_bytes(&p->strings, STRINGS, text);
    return p->ref_count++;
}

static uint32_t ref_of(packing *p, uint32_t name) {
    if (!p->refs[name]) p->refs[name] = add_string(p, sb_trace_name(p->v->t, name));
    return p->refs[name];
}

static void add_series_metadata(packing *p, uint32_t track, uint32_t name_ref) {
    size_t at = sb_pb_begin(p->out, SERIES_METADATA, 16);
    sb_pb_add_uint(p->out, PROCESS_ID, p->v->t->tracks.items[track].group + 1);
    sb_pb_add_uint(p->out, THREAD_ID, track + 1);
    sb_pb_add_uint_nz(p->out, NAME_REF, name_ref);
    sb_pb_end(p->out, at);
}

static uint64_t delta_of(int64_t time, int64_t *before) {
    int64_t now = time < *before ? *before : time; /* no time is before the capture's first */
    uint64_t delta = (uint64_t)(now - *before);
    *before = now;
    return delta;
}

static int compare_starts(const void *a, const void *b) {
    const sb_rect *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return (x->lane > y->lane) - (x->lane < y->lane);
}

static void add_series(packing *p, uint32_t track, sb_rects *events) {
    sb_buf *out = p->out;
    int64_t before = 0;
    qsort(events->items, events->n, sizeof events->items[0], compare_starts);
    size_t series = sb_pb_begin(out, COMPLETE_EVENTS, events->n * 16);
    add_series_metadata(p, track, 0);
    size_t at = sb_pb_begin(out, DELTAS, events->n * 4);
    for (size_t i = 0; i < events->n; i++)
        sb_pb_add_varint(out, delta_of(events->items[i].start + p->origin, &before));
    sb_pb_end(out, at);
    at = sb_pb_begin(out, DURATIONS, events->n * 4);
    for (size_t i = 0; i < events->n; i++)
        sb_pb_add_varint(out, (uint64_t)(events->items[i].dur ? events->items[i].dur : 1));
    sb_pb_end(out, at);
    at = sb_pb_begin(out, NAME_REFS, events->n * 2);
    for (size_t i = 0; i < events->n; i++) sb_pb_add_varint(out, ref_of(p, events->items[i].name));
    sb_pb_end(out, at);
    for (size_t i = 0; i < events->n; i++) {
        uint64_t number = sb_viewer_number(p->v, track, &events->items[i]);
        at = sb_pb_begin(out, EVENT_METADATA, 8);
        if (number <= UINT32_MAX) sb_pb_add_uint_nz(out, SERIAL, number);
        sb_pb_end(out, at);
    }
    sb_pb_end(out, series);
}

static void add_counter(packing *p, uint32_t track, const sb_count_bars *bars) {
    sb_buf *out = p->out;
    int64_t before = 0;
    size_t series = sb_pb_begin(out, COUNTER_EVENTS, bars->n * 16);
    add_series_metadata(p, track, add_string(p, p->v->t->tracks.items[track].name));
    size_t at = sb_pb_begin(out, DELTAS, bars->n * 4);
    for (size_t i = 0; i < bars->n; i++)
        sb_pb_add_varint(out, delta_of(bars->items[i].time + p->origin, &before));
    sb_pb_end(out, at);
    for (size_t i = 0; i < bars->n; i++) {
        at = sb_pb_begin(out, EVENT_METADATA, 9);
        sb_pb_add_double(out, COUNTER_DOUBLE, bars->items[i].last);
        sb_pb_end(out, at);
    }
    sb_pb_end(out, series);
}

static sb_status add_track(packing *p, uint32_t track) {
    const sb_track *k = &p->v->t->tracks.items[track];
    sb_rects events = {0};
    sb_count_bars bars = {0};
    if (!sb_viewer_wants_track(p->v, k)) return SB_OK;
    sb_status status = k->kind == SB_TRACK_COUNTER ? sb_viewer_counts(p->v, k, &bars)
                                                   : sb_viewer_events(p->v, track, &events);
    if (status == SB_OK && events.n) add_series(p, track, &events);
    if (status == SB_OK && bars.n) add_counter(p, track, &bars);
    SB_VEC_FREE(&events, p->v->q->alloc);
    SB_VEC_FREE(&bars, p->v->q->alloc);
    return status;
}

/* The tracks of a group come one after another in the order of tracks: where they begin in it, by
 * group. NULL: no memory. */
static uint32_t *find_first_tracks(const sb_trace *t, sb_arena *arena) {
    uint32_t *first = sb_arena_zeroed(arena, t->groups.n + 1, sizeof *first);
    for (uint32_t i = (uint32_t)t->tracks.n; first && i-- > 0;)
        first[t->tracks.items[t->track_order[i]].group] = i;
    return first;
}

static bool add_processes(packing *p) {
    const sb_trace *t = p->v->t;
    uint32_t *first = find_first_tracks(t, p->v->q->arena);
    if (!first) return false;
    size_t all = sb_pb_begin(p->out, METADATA, 1000);
    for (uint32_t g = 0; g < t->groups.n; g++) {
        if (!sb_compat_profile_wants(p->v->q, t, t->groups.items[g].source)) continue;
        size_t process = sb_pb_begin(p->out, PROCESSES, 200);
        sb_pb_add_bytes(p->out, PROCESS_NAME, sb_viewer_process(p->v, g));
        sb_pb_add_uint(p->out, PROCESS_NUMBER, g + 1);
        sb_pb_add_uint(p->out, PROCESS_ORDER, g);
        for (uint32_t i = first[g]; i < t->tracks.n; i++) {
            uint32_t track = t->track_order[i];
            const sb_track *k = &t->tracks.items[track];
            if (k->group != g) break;
            if (k->kind == SB_TRACK_COUNTER || !sb_viewer_wants_track(p->v, k)) continue;
            size_t thread = sb_pb_begin(p->out, THREADS, 40);
            sb_pb_add_bytes(p->out, PROCESS_NAME, k->name);
            sb_pb_add_uint(p->out, PROCESS_NUMBER, track + 1);
            sb_pb_add_uint(p->out, PROCESS_ORDER, i);
            sb_pb_end(p->out, thread);
        }
        sb_pb_end(p->out, process);
    }
    sb_pb_end(p->out, all);
    return true;
}

static sb_status pack(const sb_buf *message, sb_http_reply *r) {
    sb_buf *body = sb_http_body(r);
    size_t room = ZSTD_compressBound(message->n);
    if (!sb_buf_reserve(body, room)) return sb_buf_check(body, "a trace", sb_http_err(r));
    size_t n = ZSTD_compress(body->p, room, message->p, message->n, ZSTD_LEVEL);
    if (ZSTD_isError(n)) return sb_fail_nomem(sb_http_err(r), "to pack a trace");
    body->n = n;
    sb_http_type(r, "application/octet-stream");
    sb_http_compress(r, SB_HTTP_CODING_NO);
    return SB_OK;
}

sb_status sb_viewer_answer_pb(const sb_viewer *v, sb_http_reply *r) {
    sb_buf message;
    packing p = {.v = v, .out = &message, .origin = v->origin > 0 ? v->origin : 0};
    sb_status status = SB_OK;
    p.refs = sb_arena_zeroed(v->q->arena, (size_t)v->t->names.count + 1, sizeof *p.refs);
    if (!p.refs) return SB_NOMEM;
    sb_buf_init(&message, v->q->alloc, MOST_BYTES);
    sb_buf_init(&p.strings, v->q->alloc, MOST_BYTES);
    add_string(&p, SB_LIT(""));
    for (uint32_t i = 0; i < v->t->tracks.n && status == SB_OK; i++)
        status = sb_http_expired(v->q) ? SB_TIMEOUT : add_track(&p, v->t->track_order[i]);
    if (status == SB_OK && !add_processes(&p)) status = SB_NOMEM;
    sb_buf_add_slice(&message, sb_buf_slice(&p.strings));
    sb_pb_add_uint(&message, SPAN_START, (uint64_t)p.origin);
    sb_pb_add_uint(&message, SPAN_END, (uint64_t)(p.origin + v->t->duration));
    if (status == SB_OK) status = sb_buf_check(&p.strings, "the names of a trace", sb_http_err(r));
    if (status == SB_OK) status = sb_buf_check(&message, "a trace", sb_http_err(r));
    if (status == SB_OK) status = pack(&message, r);
    sb_buf_fini(&p.strings);
    sb_buf_fini(&message);
    return status;
}
