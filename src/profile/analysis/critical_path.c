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

/* A call of the host, and one piece of device work that it launched. */
typedef struct launched_work {
    uint32_t from_track, from;
    ended work;
} launched_work;

typedef struct walk {
    const sb_path_ask *ask;
    const sb_trace *t;
    sb_arena *arena;
    int64_t from, time; /* the step's beginning, and how far back the path is */
    end_list host, device;
    end_list by_stream;             /* the device's, by track first */
    SB_VEC(launched_work) launches; /* by call, then by the end of the work */
    uint32_t **lanes;               /* of each track: see deepest_at; NULL: not looked at yet */
    sb_path_piece piece;            /* the last one found, which may still grow; dur 0: none */
    SB_VEC(sb_path_piece) kept; /* a ring of the latest ones found, that is, the earliest ones */
    SB_VEC(sb_path_row) rows;
    sb_path_view *v;
    uint32_t track, index; /* where it goes on: a span of a device, or a thread (SB_NO_INDEX) */
    uint32_t begun;        /* the span of this thread whose beginning was just reached */
    bool is_jump;          /* from another track, and no piece was added since */
    sb_status status;
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

static int compare_launches(const void *a, const void *b) {
    const launched_work *x = a, *y = b;
    if (x->from_track != y->from_track) return x->from_track < y->from_track ? -1 : 1;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return compare_ends(&x->work, &y->work);
}

static bool is_expired(const walk *w) {
    return w->ask->is_expired && w->ask->is_expired(w->ask->ud);
}

/* Ends of one lane rise, so those inside the step are one run of it. */
static bool list_lane(walk *w, uint32_t track, uint32_t lane, int64_t to) {
    const sb_track *k = &w->t->tracks.items[track];
    const sb_trace_span *spans = k->spans.items;
    bool is_stream = k->kind == SB_TRACK_STREAM;
    uint32_t i;
    SB_PARTITION_POINT(i, k->lanes[lane], k->lanes[lane + 1], sb_span_end(&spans[i]) <= w->from);
    for (; i < k->lanes[lane + 1] && sb_span_end(&spans[i]) <= to; i++) {
        if (spans[i].dur == 0) continue;
        if (is_stream ? !is_device_work(&spans[i]) : is_container(&spans[i])) continue;
        ended *e = SB_VEC_PUSH(is_stream ? &w->device : &w->host, w->t->alloc, UINT32_MAX);
        ended *f = is_stream && e ? SB_VEC_PUSH(&w->by_stream, w->t->alloc, UINT32_MAX) : e;
        if (!f) return false;
        *e = *f = (ended){sb_span_end(&spans[i]), track, i};
    }
    return true;
}

static bool list_launches(walk *w, int64_t to) {
    const sb_trace *t = w->t;
    for (size_t i = 0; i < t->flows.n; i++) {
        const sb_flow *f = &t->flows.items[i];
        const sb_trace_span *s = &t->tracks.items[f->to_track].spans.items[f->to];
        int64_t end = sb_span_end(s);
        if (f->kind != SB_FLOW_LAUNCH || s->dur == 0 || !is_device_work(s)) continue;
        if (end <= w->from || end > to) continue;
        launched_work *l = SB_VEC_PUSH(&w->launches, t->alloc, UINT32_MAX);
        if (!l) return false;
        *l = (launched_work){f->from_track, f->from, {end, f->to_track, f->to}};
    }
    return true;
}

static sb_status list_ends(walk *w, uint32_t source, int64_t to) {
    const sb_trace *t = w->t;
    for (uint32_t i = 0; i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        if (k->kind != SB_TRACK_STREAM && k->kind != SB_TRACK_THREAD) continue;
        if (sb_track_source(t, k) != source) continue;
        if (is_expired(w)) return SB_TIMEOUT;
        for (uint32_t lane = 0; lane < k->lane_count; lane++)
            if (!list_lane(w, i, lane, to)) return SB_NOMEM;
    }
    if (!list_launches(w, to)) return SB_NOMEM;
    if (w->host.n) qsort(w->host.items, w->host.n, sizeof(ended), compare_ends);
    if (w->device.n) qsort(w->device.items, w->device.n, sizeof(ended), compare_ends);
    if (w->by_stream.n) qsort(w->by_stream.items, w->by_stream.n, sizeof(ended), compare_streams);
    if (w->launches.n)
        qsort(w->launches.items, w->launches.n, sizeof(launched_work), compare_launches);
    return SB_OK;
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

static int compare_keys(const void *a, const void *b) {
    const sb_path_row *x = a, *y = b;
    if (x->name != y->name) return x->name < y->name ? -1 : 1;
    if (x->state != y->state) return x->state < y->state ? -1 : 1;
    return (x->is_device > y->is_device) - (x->is_device < y->is_device);
}

/* Rows of the same key become one. */
static void fold_rows(walk *w) {
    sb_path_row *rows = w->rows.items;
    size_t n = 0;
    if (w->rows.n) qsort(rows, w->rows.n, sizeof *rows, compare_keys);
    for (size_t i = 0; i < w->rows.n; i++) {
        sb_path_row *same = n && compare_keys(&rows[n - 1], &rows[i]) == 0 ? &rows[n - 1] : NULL;
        if (!same) {
            rows[n++] = rows[i];
            continue;
        }
        same->pieces += rows[i].pieces;
        sb_sum(&same->dur, rows[i].dur);
        /* of equal ones the earliest: the order of sorting must not show */
        if (rows[i].longest < same->longest) continue;
        if (rows[i].longest == same->longest && rows[i].first >= same->first) continue;
        same->longest = rows[i].longest;
        same->first = rows[i].first;
        same->track = rows[i].track;
        same->index = rows[i].index;
    }
    w->rows.n = n;
}

/* Before the array of rows grows, rows of the same key become one: it stays as small as there are
 * names, however many pieces there are. */
static bool add_row(walk *w, const sb_path_piece *p) {
    const sb_track *k = &w->t->tracks.items[p->track];
    const sb_trace_span *s = p->index == SB_NO_INDEX ? NULL : &k->spans.items[p->index];
    if (w->rows.n == w->rows.room) {
        fold_rows(w);
        if (w->rows.n > w->rows.room / 2 || w->rows.room == 0)
            if (!SB_VEC_RESERVE(&w->rows, w->t->alloc, w->rows.n + 256, SIZE_MAX)) return false;
    }
    w->rows.items[w->rows.n++] = (sb_path_row){.name = s ? s->name + 1 : 0,
                                               .kind = s ? (uint8_t)s->kind : SB_SPAN_OTHER,
                                               .state = p->state,
                                               .is_device = k->kind == SB_TRACK_STREAM,
                                               .pieces = 1,
                                               .dur = p->dur,
                                               .longest = p->dur,
                                               .first = p->start,
                                               .track = p->track,
                                               .index = p->index};
    return true;
}

/* The last piece is whole: it is kept, and counted by name. */
static void end_piece(walk *w) {
    if (w->piece.dur == 0) return;
    if (w->kept.n < w->ask->most_pieces) {
        sb_path_piece *p = SB_VEC_PUSH(&w->kept, w->t->alloc, SIZE_MAX);
        if (p)
            *p = w->piece;
        else
            w->status = SB_NOMEM;
    } else if (w->kept.n) {
        w->kept.items[w->v->total % w->kept.n] = w->piece;
    }
    w->v->total++;
    if (!add_row(w, &w->piece)) w->status = SB_NOMEM;
    w->piece.dur = 0;
}

/* What the time since `from` went to. */
static void add_piece(walk *w, int64_t from, sb_path_state state, uint32_t track, uint32_t index) {
    sb_path_piece *last = &w->piece;
    if (from < w->from) from = w->from;
    if (from >= w->time) return;
    if (last->dur > 0 && last->track == track && last->index == index && last->state == state &&
        index != SB_NO_INDEX && !last->is_guess) {
        last->dur += last->start - from;
        last->start = from;
    } else {
        end_piece(w);
        *last = (sb_path_piece){from, w->time - from, track, index, state, false};
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
    w->piece.is_guess = true;
}

/* ---- arrows ---------------------------------------------------------------------------------- */

/* The arrow of a kind to a span whose beginning is the latest one before a time. */
static const sb_flow *arrow_to(const walk *w, uint32_t track, uint32_t index, sb_flow_kind kind,
                               int64_t before) {
    const sb_flow *best = NULL;
    for (size_t i = sb_flows_to(w->t, track, index); i < w->t->flows.n; i++) {
        const sb_flow *f = sb_flow_by_end(w->t, i);
        if (f->to_track != track || f->to != index) break;
        if (f->kind != kind || span_of(w, f->from_track, f->from)->start >= before) continue;
        if (w->t->tracks.items[f->from_track].kind != SB_TRACK_THREAD) continue;
        if (!best || span_of(w, f->from_track, f->from)->start >
                         span_of(w, best->from_track, best->from)->start)
            best = f;
    }
    return best;
}

/* What a call launched and then waited for: the last of it that ended in its time; NULL:
 * nothing. */
static const ended *find_awaited(const walk *w, uint32_t index, int64_t after) {
#define L w->launches.items[i]
    size_t i;
    SB_PARTITION_POINT(i, 0, w->launches.n,
                       L.from_track < w->track ||
                           (L.from_track == w->track &&
                            (L.from < index || (L.from == index && L.work.end <= w->time))));
#undef L
    const launched_work *l = i ? &w->launches.items[i - 1] : NULL;
    if (!l || l->from_track != w->track || l->from != index) return NULL;
    return l->work.end > after ? &l->work : NULL;
}

/* ---- on a thread ----------------------------------------------------------------------------- */

/* For each lane of a track, the first span that does not begin before the time of the path. That
 * time only falls, so these only move back: each span is passed once. NULL: no memory. */
static uint32_t *lanes_of(walk *w, uint32_t track) {
    const sb_track *k = &w->t->tracks.items[track];
    if (w->lanes[track]) return w->lanes[track];
    uint32_t *lanes = sb_arena_get(w->arena, (k->lane_count + 1u) * sizeof *lanes);
    for (uint32_t lane = 0; lanes && lane < k->lane_count; lane++) {
        uint32_t i;
        SB_PARTITION_POINT(i, k->lanes[lane], k->lanes[lane + 1],
                           k->spans.items[i].start < w->time);
        lanes[lane] = i;
    }
    return w->lanes[track] = lanes;
}

/* The deepest span that runs until the time of the path (SB_NO_INDEX: none), and since when nothing
 * else began or ended on the track. */
static uint32_t deepest_at(walk *w, uint32_t track, int64_t *since) {
    const sb_track *k = &w->t->tracks.items[track];
    uint32_t *lanes = lanes_of(w, track), found = SB_NO_INDEX;
    *since = INT64_MIN;
    if (!lanes) w->status = SB_NOMEM;
    for (uint32_t lane = 0; lanes && lane < k->lane_count; lane++) {
        uint32_t first = k->lanes[lane], i = lanes[lane];
        while (i > first && k->spans.items[i - 1].start >= w->time) i--;
        lanes[lane] = i;
        if (i == first) continue;
        const sb_trace_span *s = &k->spans.items[i - 1];
        bool runs = sb_span_end(s) >= w->time;
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
    uint32_t at = deepest_at(w, w->track, &since);
    if (at == SB_NO_INDEX) {
        if (!hand_over(w, since, SB_PATH_HANDOVER, SB_NO_INDEX))
            add_piece(w, since, SB_PATH_NOTHING, w->track, SB_NO_INDEX);
        return;
    }
    const sb_trace_span *s = &k->spans.items[at];
    sb_path_state state = s->kind == SB_SPAN_STEP   ? SB_PATH_NOTHING
                          : s->kind == SB_SPAN_SYNC ? SB_PATH_WAIT
                                                    : SB_PATH_WORK;
    const ended *awaited = find_awaited(w, at, since);
    if (!awaited && s->kind == SB_SPAN_SYNC) awaited = last_ended(&w->device, w->time);
    if (awaited && awaited->end > since) {
        w->v->waits++;
        add_piece(w, awaited->end, SB_PATH_WAIT, w->track, at);
        go_to_device(w, awaited);
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

static int compare_rows(const void *a, const void *b) {
    const sb_path_row *x = a, *y = b;
    if (x->dur != y->dur) return x->dur > y->dur ? -1 : 1;
    return compare_keys(x, y);
}

/* Pieces in order of time, rows the longest first; in the arena. */
static sb_status hand_out(walk *w) {
    sb_path_view *v = w->v;
    end_piece(w);
    fold_rows(w);
    if (w->status != SB_OK) return w->status;
    v->n = w->kept.n;
    v->row_count = w->rows.n;
    v->pieces = sb_arena_get(w->arena, (v->n + 1) * sizeof *v->pieces);
    v->rows = sb_arena_get(w->arena, (v->row_count + 1) * sizeof *v->rows);
    if (!v->pieces || !v->rows) return SB_NOMEM;
    for (size_t i = 0; i < v->n; i++) v->pieces[i] = w->kept.items[(v->total - 1 - i) % v->n];
    if (v->row_count == 0) return SB_OK;
    memcpy(v->rows, w->rows.items, v->row_count * sizeof *v->rows);
    qsort(v->rows, v->row_count, sizeof *v->rows, compare_rows);
    return SB_OK;
}

static sb_status walk_back(walk *w, const sb_step *step) {
    w->lanes = sb_arena_zeroed(w->arena, w->t->tracks.n + 1u, sizeof *w->lanes);
    w->status = w->lanes ? list_ends(w, step->source, w->time) : SB_NOMEM;
    if (w->status != SB_OK) return w->status;
    w->v->is_linked = w->device.n == 0 || has_launches(w);
    begin_at_the_end(w, step);
    for (uint32_t turns = 1; w->time > w->from && w->status == SB_OK; turns++) {
        if (w->index == SB_NO_INDEX)
            walk_thread(w);
        else
            walk_device(w);
        if (turns % 1024 == 0 && is_expired(w)) return SB_TIMEOUT;
    }
    return hand_out(w);
}

sb_status sb_view_path(const sb_analysis *a, const sb_path_ask *ask, sb_path_view *out,
                       sb_arena *arena, sb_err *err) {
    const sb_step *step = &a->steps[ask->step];
    const sb_alloc *alloc = a->t->alloc;
    walk w = {.ask = ask,
              .t = a->t,
              .arena = arena,
              .from = step->start,
              .time = step->start,
              .v = out,
              .begun = SB_NO_INDEX};
    *out = (sb_path_view){.step = ask->step};
    sb_sum(&w.time, step->dur);
    sb_status status = walk_back(&w, step);
    SB_VEC_FREE(&w.kept, alloc);
    SB_VEC_FREE(&w.rows, alloc);
    SB_VEC_FREE(&w.launches, alloc);
    SB_VEC_FREE(&w.host, alloc);
    SB_VEC_FREE(&w.device, alloc);
    SB_VEC_FREE(&w.by_stream, alloc);
    return status == SB_NOMEM ? sb_fail_nomem(err, "for a critical path") : status;
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
