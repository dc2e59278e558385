/* critical_path.c: from the end of a step back to its beginning, by what everything waited for. */
#include "profile/analysis/critical_path.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/search.h"
#include "base/banned.h"

#define LATENCY (10 * SB_PS_PER_US) /* a kernel may begin so much later than it could: no reason */

const char *sb_path_state_name(sb_path_state state) {
    static const char *const names[] = {
#define SB_PATH_NAME(id, name) name,
        SB_PATH_STATES(SB_PATH_NAME)
#undef SB_PATH_NAME
    };
    return names[state];
}

/* ---- what ended when ------------------------------------------------------------------------- */

typedef struct ended {
    int64_t end;
    uint32_t track, index;
} ended;

typedef SB_VEC(ended) end_list;

typedef struct walk {
    const sb_trace *t;
    int64_t from, time; /* the step's beginning, and how far back the path is */
    end_list host, device;
    end_list by_stream;           /* the device's, by track first */
    SB_VEC(sb_path_piece) pieces; /* the last one first */
    sb_path_view *v;
    uint32_t track, index; /* where it goes on: a span of a device, or a thread (SB_NO_INDEX) */
    uint32_t begun;        /* the span of this thread whose beginning was just reached */
    bool is_jump;          /* from another track, and no piece was added since */
    bool is_out_of_memory;
} walk;

static int compare_ends(const void *a, const void *b) {
    const ended *x = a, *y = b;
    if (x->end != y->end) return x->end < y->end ? -1 : 1;
    if (x->track != y->track) return x->track < y->track ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static int compare_streams(const void *a, const void *b) {
    const ended *x = a, *y = b;
    if (x->track != y->track) return x->track < y->track ? -1 : 1;
    return compare_ends(a, b);
}

/* Spans around work: they tell where it belongs, not that something is done. */
static bool is_container(const sb_trace_span *s) {
    switch (s->kind) {
    case SB_SPAN_OTHER:
    case SB_SPAN_ANNOTATION:
    case SB_SPAN_PYTHON:
    case SB_SPAN_MODULE:
    case SB_SPAN_OPTIMIZER:
    case SB_SPAN_STEP:
    case SB_SPAN_MARKER:
        return true;
    default:
        return false;
    }
}

static bool is_device_work(const sb_trace_span *s) {
    return s->kind == SB_SPAN_KERNEL || s->kind == SB_SPAN_COPY || s->kind == SB_SPAN_COMM ||
           s->kind == SB_SPAN_XLA_OP;
}

static bool list_ends(walk *w, uint32_t source, int64_t to) {
    const sb_trace *t = w->t;
    for (uint32_t i = 0; i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        bool is_stream = k->kind == SB_TRACK_STREAM;
        if ((!is_stream && k->kind != SB_TRACK_THREAD) || sb_track_source(t, k) != source) continue;
        for (uint32_t n = 0; n < k->spans.n; n++) {
            const sb_trace_span *s = &k->spans.items[n];
            int64_t end = sb_span_end(s);
            if (s->dur == 0 || end <= w->from || end > to) continue;
            if (is_stream ? !is_device_work(s) : is_container(s)) continue;
            ended *e = SB_VEC_PUSH(is_stream ? &w->device : &w->host, t->alloc, UINT32_MAX);
            ended *f = is_stream ? SB_VEC_PUSH(&w->by_stream, t->alloc, UINT32_MAX) : e;
            if (!e || !f) return false;
            *e = *f = (ended){end, i, n};
        }
    }
    if (w->host.n) qsort(w->host.items, w->host.n, sizeof(ended), compare_ends);
    if (w->device.n) qsort(w->device.items, w->device.n, sizeof(ended), compare_ends);
    if (w->by_stream.n) qsort(w->by_stream.items, w->by_stream.n, sizeof(ended), compare_streams);
    return true;
}

/* The one that ended last, until a time; NULL: none. */
static const ended *last_ended(const end_list *of, int64_t until) {
    size_t i;
    SB_PARTITION_POINT(i, 0, of->n, of->items[i].end <= until);
    return i ? &of->items[i - 1] : NULL;
}

static const ended *last_of_stream(const walk *w, uint32_t track, int64_t until) {
    const end_list *of = &w->by_stream;
    size_t i;
    SB_PARTITION_POINT(i, 0, of->n,
                       of->items[i].track < track ||
                           (of->items[i].track == track && of->items[i].end <= until));
    return i && of->items[i - 1].track == track ? &of->items[i - 1] : NULL;
}

static const sb_trace_span *span_of(const walk *w, uint32_t track, uint32_t index) {
    return &w->t->tracks.items[track].spans.items[index];
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* What the time since `from` went to. */
static void add_piece(walk *w, int64_t from, sb_path_state state, uint32_t track, uint32_t index) {
    if (from < w->from) from = w->from;
    if (from >= w->time) return;
    sb_path_piece *last = w->pieces.n ? &w->pieces.items[w->pieces.n - 1] : NULL;
    if (last && last->track == track && last->index == index && last->state == state &&
        index != SB_NO_INDEX && !last->is_guess) {
        last->dur += last->start - from;
        last->start = from;
    } else {
        sb_path_piece *p = SB_VEC_PUSH(&w->pieces, w->t->alloc, SIZE_MAX);
        if (!p) {
            w->is_out_of_memory = true;
            return;
        }
        *p = (sb_path_piece){from, w->time - from, track, index, state, false};
    }
    w->time = from;
    w->is_jump = false;
    w->begun = SB_NO_INDEX;
}

static void go_to_thread(walk *w, uint32_t track) {
    w->is_jump = true;
    w->begun = SB_NO_INDEX;
    w->track = track;
    w->index = SB_NO_INDEX;
}

static void go_to_device(walk *w, const ended *e) {
    go_to_thread(w, e->track);
    w->index = e->index;
}

static void count_guess(walk *w) {
    w->v->guesses++;
    if (w->pieces.n) w->pieces.items[w->pieces.n - 1].is_guess = true;
}

/* ---- arrows ---------------------------------------------------------------------------------- */

/* The arrow of a kind to a span whose beginning is the latest one before a time. */
static const sb_flow *arrow_to(const walk *w, uint32_t track, uint32_t index, sb_flow_kind kind,
                               int64_t before) {
#define TO(n) (w->t->flows.items[w->t->flows_by_end[n]])
    const sb_flow *best = NULL;
    size_t i, n = w->t->flows.n;
    SB_PARTITION_POINT(i, 0, n,
                       TO(i).to_track < track || (TO(i).to_track == track && TO(i).to < index));
    for (; i < n && TO(i).to_track == track && TO(i).to == index; i++) {
        const sb_flow *f = &TO(i);
        if (f->kind != kind || span_of(w, f->from_track, f->from)->start >= before) continue;
        if (w->t->tracks.items[f->from_track].kind != SB_TRACK_THREAD) continue;
        if (!best || span_of(w, f->from_track, f->from)->start >
                         span_of(w, best->from_track, best->from)->start)
            best = f;
    }
#undef TO
    return best;
}

/* What a call launched and then waited for: the last of it that ended in its time. */
static bool find_awaited(const walk *w, uint32_t index, int64_t after, ended *out) {
    const sb_trace *t = w->t;
    bool is_found = false;
    size_t i;
    SB_PARTITION_POINT(
        i, 0, t->flows.n,
        t->flows.items[i].from_track < w->track ||
            (t->flows.items[i].from_track == w->track && t->flows.items[i].from < index));
    for (; i < t->flows.n && t->flows.items[i].from_track == w->track &&
           t->flows.items[i].from == index;
         i++) {
        const sb_flow *f = &t->flows.items[i];
        const sb_trace_span *s = span_of(w, f->to_track, f->to);
        int64_t end = sb_span_end(s);
        if (f->kind != SB_FLOW_LAUNCH || s->dur == 0 || !is_device_work(s)) continue;
        if (end <= after || end > w->time || (is_found && end <= out->end)) continue;
        *out = (ended){end, f->to_track, f->to};
        is_found = true;
    }
    return is_found;
}

/* ---- on a thread ----------------------------------------------------------------------------- */

/* The deepest span that runs until a time (SB_NO_INDEX: none), and since when nothing else began or
 * ended on the track. */
static uint32_t deepest_at(const sb_track *k, int64_t time, int64_t *since) {
    uint32_t found = SB_NO_INDEX;
    *since = INT64_MIN;
    for (uint32_t lane = 0; lane < k->lane_count; lane++) {
        uint32_t first = k->lanes[lane], i;
        SB_PARTITION_POINT(i, first, k->lanes[lane + 1], k->spans.items[i].start < time);
        if (i == first) continue;
        const sb_trace_span *s = &k->spans.items[i - 1];
        bool runs = sb_span_end(s) >= time;
        int64_t edge = runs ? s->start : sb_span_end(s);
        if (runs) found = i - 1;
        if (edge > *since) *since = edge;
    }
    return found;
}

/* A thread that does nothing of its own waits: by an arrow, or for who ended last. */
static bool hand_over(walk *w, int64_t since, sb_path_state state, uint32_t index) {
    if (w->begun != SB_NO_INDEX) {
        const sb_flow *f = arrow_to(w, w->track, w->begun, SB_FLOW_OTHER, w->time);
        const sb_trace_span *s = f ? span_of(w, f->from_track, f->from) : NULL;
        int64_t end = s && sb_span_end(s) < w->time ? sb_span_end(s) : w->time;
        if (f && f->from_track != w->track && end > since) {
            w->v->arrows++;
            add_piece(w, end, SB_PATH_HANDOVER, w->track, SB_NO_INDEX);
            go_to_thread(w, f->from_track);
            return true;
        }
    }
    const ended *e = last_ended(&w->host, w->time);
    if (w->is_jump || !e || e->track == w->track || e->end <= since) return false;
    add_piece(w, e->end, state, w->track, index);
    count_guess(w);
    go_to_thread(w, e->track);
    return true;
}

static void walk_thread(walk *w) {
    const sb_track *k = &w->t->tracks.items[w->track];
    int64_t since;
    uint32_t at = deepest_at(k, w->time, &since);
    ended awaited;
    if (at == SB_NO_INDEX) {
        if (!hand_over(w, since, SB_PATH_HANDOVER, SB_NO_INDEX))
            add_piece(w, since, SB_PATH_NOTHING, w->track, SB_NO_INDEX);
        return;
    }
    const sb_trace_span *s = &k->spans.items[at];
    sb_path_state state = s->kind == SB_SPAN_STEP   ? SB_PATH_NOTHING
                          : s->kind == SB_SPAN_SYNC ? SB_PATH_WAIT
                                                    : SB_PATH_WORK;
    bool is_waiting = find_awaited(w, at, since, &awaited);
    if (!is_waiting && s->kind == SB_SPAN_SYNC) {
        const ended *e = last_ended(&w->device, w->time);
        is_waiting = e && e->end > since;
        if (is_waiting) awaited = *e;
    }
    if (is_waiting) {
        w->v->waits++;
        add_piece(w, awaited.end, SB_PATH_WAIT, w->track, at);
        go_to_device(w, &awaited);
        return;
    }
    uint32_t shown = state == SB_PATH_NOTHING ? SB_NO_INDEX : at;
    if (is_container(s) && hand_over(w, since, state, shown)) return;
    add_piece(w, since, state, w->track, shown);
    if (since == s->start) w->begun = at;
}

/* ---- on a device ----------------------------------------------------------------------------- */

static void walk_device(walk *w) {
    uint32_t track = w->track, index = w->index;
    add_piece(w, span_of(w, track, index)->start, SB_PATH_WORK, track, index);
    if (w->time <= w->from) return;
    const ended *before = last_of_stream(w, track, w->time),
                *last = last_ended(&w->device, w->time);
    const sb_flow *launch = arrow_to(w, track, index, SB_FLOW_LAUNCH, w->time);
    int64_t launched = INT64_MIN, could = before ? before->end : INT64_MIN;
    if (launch) {
        launched = sb_span_end(span_of(w, launch->from_track, launch->from));
        if (launched > w->time) launched = w->time;
        if (launched > could) could = launched;
    }
    bool has_reason = could != INT64_MIN && w->time - could <= LATENCY;
    if (last && last->end > could && !has_reason) {
        add_piece(w, last->end, SB_PATH_QUEUE, track, SB_NO_INDEX);
        count_guess(w);
        go_to_device(w, last);
    } else if (launch && launched == could) {
        w->v->launches++;
        add_piece(w, launched, SB_PATH_LAUNCH, track, SB_NO_INDEX);
        go_to_thread(w, launch->from_track);
    } else if (before) {
        add_piece(w, before->end, SB_PATH_QUEUE, track, SB_NO_INDEX);
        go_to_device(w, before);
    } else {
        const ended *e = last_ended(&w->host, w->time);
        add_piece(w, e ? e->end : w->from, e ? SB_PATH_LAUNCH : SB_PATH_NOTHING, track,
                  SB_NO_INDEX);
        if (!e) return;
        count_guess(w);
        go_to_thread(w, e->track);
    }
}

static bool has_launches(const walk *w) {
    for (size_t i = 0; i < w->device.n; i++) {
        const ended *e = &w->device.items[i];
        if (arrow_to(w, e->track, e->index, SB_FLOW_LAUNCH, INT64_MAX)) return true;
    }
    return false;
}

/* ---- the whole step -------------------------------------------------------------------------- */

/* The device, where it ends last: always, where the file does not say what it was launched by; else
 * the thread of the step. */
static void begin_at_the_end(walk *w, const sb_step *step) {
    const ended *d = last_ended(&w->device, w->time), *h = last_ended(&w->host, w->time);
    bool has_thread = w->t->tracks.items[step->track].kind == SB_TRACK_THREAD;
    bool is_unknown =
        !has_thread || (d && !arrow_to(w, d->track, d->index, SB_FLOW_LAUNCH, INT64_MAX));
    if (d && (d->end == w->time || (is_unknown && (!h || h->end <= d->end)))) {
        add_piece(w, d->end, SB_PATH_NOTHING, d->track, SB_NO_INDEX);
        go_to_device(w, d);
    } else if (has_thread || h) {
        uint32_t track = has_thread ? step->track : h->track;
        if (!has_thread) add_piece(w, h->end, SB_PATH_NOTHING, track, SB_NO_INDEX);
        go_to_thread(w, track);
    } else {
        add_piece(w, w->from, SB_PATH_NOTHING, step->track, SB_NO_INDEX);
    }
    w->is_jump = false;
}

static int compare_keys(const sb_path_row *x, const sb_path_row *y) {
    if (x->name != y->name) return x->name < y->name ? -1 : 1;
    if (x->state != y->state) return x->state < y->state ? -1 : 1;
    return (x->is_device > y->is_device) - (x->is_device < y->is_device);
}

/* Of the same name the longest piece first. */
static int compare_pieces(const void *a, const void *b) {
    const sb_path_row *x = a, *y = b;
    int by_key = compare_keys(x, y);
    return by_key ? by_key : (x->dur < y->dur) - (x->dur > y->dur);
}

static int compare_rows(const void *a, const void *b) {
    const sb_path_row *x = a, *y = b;
    if (x->dur != y->dur) return x->dur > y->dur ? -1 : 1;
    return compare_keys(x, y);
}

static bool sum_by_name(const sb_trace *t, sb_path_view *v, sb_arena *arena) {
    sb_path_row *rows = sb_arena_get(arena, (v->n + 1) * sizeof *rows);
    size_t n = 0;
    if (!rows) return false;
    for (size_t i = 0; i < v->n; i++) {
        const sb_path_piece *p = &v->pieces[i];
        const sb_track *k = &t->tracks.items[p->track];
        const sb_trace_span *s = p->index == SB_NO_INDEX ? NULL : &k->spans.items[p->index];
        rows[i] = (sb_path_row){.name = s ? s->name + 1 : 0,
                                .kind = s ? (uint8_t)s->kind : SB_SPAN_OTHER,
                                .state = p->state,
                                .is_device = k->kind == SB_TRACK_STREAM,
                                .pieces = 1,
                                .dur = p->dur,
                                .track = p->track,
                                .index = p->index};
    }
    if (v->n) qsort(rows, v->n, sizeof *rows, compare_pieces);
    for (size_t i = 0; i < v->n; i++) {
        if (n && compare_keys(&rows[n - 1], &rows[i]) == 0) {
            rows[n - 1].pieces++;
            sb_sum(&rows[n - 1].dur, rows[i].dur);
        } else {
            rows[n++] = rows[i];
        }
    }
    if (n) qsort(rows, n, sizeof *rows, compare_rows);
    v->rows = rows;
    v->row_count = n;
    return true;
}

bool sb_view_path(const sb_analysis *a, size_t at, sb_path_view *out, sb_arena *arena) {
    const sb_step *step = &a->steps[at];
    walk w = {.t = a->t, .from = step->start, .time = step->start, .v = out, .begun = SB_NO_INDEX};
    *out = (sb_path_view){.step = at};
    sb_sum(&w.time, step->dur);
    bool is_done = list_ends(&w, step->source, w.time);
    out->is_linked = w.device.n == 0 || has_launches(&w);
    if (is_done) begin_at_the_end(&w, step);
    while (is_done && w.time > w.from && !w.is_out_of_memory) {
        if (w.index == SB_NO_INDEX)
            walk_thread(&w);
        else
            walk_device(&w);
    }
    out->pieces = is_done ? sb_arena_get(arena, (w.pieces.n + 1) * sizeof *out->pieces) : NULL;
    is_done = out->pieces && !w.is_out_of_memory;
    for (size_t i = 0; is_done && i < w.pieces.n; i++)
        out->pieces[out->n++] = w.pieces.items[w.pieces.n - 1 - i];
    is_done = is_done && sum_by_name(a->t, out, arena);
    SB_VEC_FREE(&w.pieces, a->t->alloc);
    SB_VEC_FREE(&w.host, a->t->alloc);
    SB_VEC_FREE(&w.device, a->t->alloc);
    SB_VEC_FREE(&w.by_stream, a->t->alloc);
    return is_done;
}

size_t sb_typical_step(const sb_analysis *a) {
    size_t best = SIZE_MAX;
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < a->step_count; i++) {
        int64_t off = llabs(a->steps[i].dur - a->stats.median);
        if (off < least) best = i;
        if (off < least) least = off;
    }
    return best;
}
