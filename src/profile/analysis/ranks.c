/* ranks.c: how long ranks wait for each other in collectives, and clock skew between ranks. */
#include <stdlib.h>

#include "base/checked.h"
#include "profile/analysis/views.h"
#include "profile/trace/build.h"
#include "base/banned.h"

/* One collective operation on one rank: the k-th one there of its name, its group, and what else
 * the file tells of it. */
typedef struct comm {
    int64_t start, dur, bytes;
    sb_comm told; /* zero where the file tells no process group */
    uint32_t name, source, k;
    uint32_t track, index;
} comm;

typedef SB_VEC(comm) comm_list;

static int compare_told(const comm *x, const comm *y) {
    const sb_comm *a = &x->told, *b = &y->told;
    if (x->name != y->name) return x->name < y->name ? -1 : 1;
    if (a->group != b->group) return a->group < b->group ? -1 : 1;
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    if (a->to != b->to) return a->to < b->to ? -1 : 1;
    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

static int compare_by_source(const void *a, const void *b) {
    const comm *x = a, *y = b;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    int order = compare_told(x, y);
    return order ? order : (x->start > y->start) - (x->start < y->start);
}

static int compare_operations(const comm *x, const comm *y) {
    int order = compare_told(x, y);
    return order ? order : (x->k > y->k) - (x->k < y->k);
}

static int compare_by_operation(const void *a, const void *b) {
    const comm *x = a, *y = b;
    int order = compare_operations(x, y);
    return order ? order : (x->source > y->source) - (x->source < y->source);
}

/* What the file tells of the operation. A message tells the rank at its other end. */
static sb_comm told_of(const sb_trace *t, const sb_extra *e, uint32_t source) {
    if (!e || !(e->flags & SB_EXTRA_GROUP)) return (sb_comm){0};
    sb_comm told = t->comms.items[e->number];
    int64_t rank = t->sources.items[source].rank;
    if (told.from >= 0 && told.to < 0) told.to = rank;
    if (told.to >= 0 && told.from < 0) told.from = rank;
    return told;
}

/* A collective is counted once where one call of the library calls another. */
static bool is_inside_another(const sb_track *k, uint32_t index) {
    uint32_t around = sb_track_parent(k, index);
    while (around != SB_NO_INDEX && k->spans.items[around].kind != SB_SPAN_COMM)
        around = sb_track_parent(k, around);
    return around != SB_NO_INDEX;
}

/* Lists the collectives of all sources: those on devices, or, if a source has none there, those on
 * its host threads. */
static bool list_comms(const sb_trace *t, comm_list *out) {
    for (uint32_t source = 0; source < t->sources.n; source++) {
        /* an XSpace does not tell the bytes; there `second` is something else */
        bool tells_bytes = t->sources.items[source].format != SB_FORMAT_XSPACE;
        for (int kind = SB_TRACK_STREAM; kind >= SB_TRACK_THREAD; kind--) {
            size_t before = out->n;
            for (uint32_t i = 0; i < t->tracks.n; i++) {
                const sb_track *k = &t->tracks.items[i];
                if ((int)k->kind != kind || sb_track_source(t, k) != source) continue;
                for (uint32_t n = 0; n < k->spans.n; n++) {
                    const sb_trace_span *s = &k->spans.items[n];
                    const sb_extra *e = sb_span_extra(t, s);
                    if (s->kind != SB_SPAN_COMM || s->dur == 0 || is_inside_another(k, n)) continue;
                    comm *c = SB_VEC_PUSH(out, t->alloc, SIZE_MAX);
                    if (!c) return false;
                    int64_t bytes = e && tells_bytes ? e->second : 0;
                    *c = (comm){.start = s->start,
                                .dur = s->dur,
                                .bytes = bytes,
                                .told = told_of(t, e, source),
                                .name = s->name,
                                .source = source,
                                .track = i,
                                .index = n};
                }
            }
            if (out->n > before) break;
        }
    }
    if (out->n) qsort(out->items, out->n, sizeof out->items[0], compare_by_source);
    for (size_t i = 1; i < out->n; i++) {
        const comm *last = &out->items[i - 1];
        comm *c = &out->items[i];
        c->k = c->source == last->source && compare_told(c, last) == 0 ? last->k + 1 : 0;
    }
    if (out->n) qsort(out->items, out->n, sizeof out->items[0], compare_by_operation);
    return true;
}

/* Answers the index behind the entries that are the same collective on different ranks. *last is
 * the rank that joined last: its duration is the transfer, and what the others take longer than
 * that is waiting. */
static size_t end_of_collective(const comm_list *list, size_t first, const comm **last) {
    size_t end = first;
    *last = &list->items[first];
    while (end < list->n && compare_operations(&list->items[end], &list->items[first]) == 0) {
        if (list->items[end].dur < (*last)->dur) *last = &list->items[end];
        end++;
    }
    return end;
}

/* ---- clocks ---------------------------------------------------------------------------------- */

/* How much later a collective ended in one source than in another one, and how long it lasted. */
typedef struct measure {
    uint32_t source;
    int64_t off, lasts, at;
} measure;

static int compare_offs(const void *a, const void *b) {
    const measure *x = a, *y = b;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    return (x->off > y->off) - (x->off < y->off);
}

static int compare_lasts(const void *a, const void *b) {
    const measure *x = a, *y = b;
    return (x->lasts > y->lasts) - (x->lasts < y->lasts);
}

/* Walks from source to source along the collectives that they share. */
typedef struct skew_walk {
    const sb_trace *t;
    const comm_list *list;
    uint32_t *first;    /* indexed by place in the list: where its operation begins */
    bool *is_measured;  /* the same: the operation that begins here is done */
    uint32_t *mine;     /* places in the list, ordered by source */
    uint32_t *mine_end; /* indexed by source */
    uint32_t *queue;    /* sources whose skew is known, in the order in which it was found */
    uint32_t queued;
    bool *is_known;
    int64_t *skew; /* how far the clock of a source is ahead of that of the first one it is
                      connected with */
    SB_VEC(measure) measures;
} skew_walk;

static bool begin_skew_walk(skew_walk *w, const sb_trace *t, const comm_list *list,
                            sb_arena *arena) {
    size_t sources = t->sources.n, n = list->n;
    *w = (skew_walk){.t = t, .list = list};
    w->first = sb_arena_zeroed(arena, n + 1, sizeof *w->first);
    w->is_measured = sb_arena_zeroed(arena, n + 1, sizeof *w->is_measured);
    w->mine = sb_arena_zeroed(arena, n + 1, sizeof *w->mine);
    w->mine_end = sb_arena_zeroed(arena, sources + 1, sizeof *w->mine_end);
    w->queue = sb_arena_zeroed(arena, sources + 1, sizeof *w->queue);
    w->is_known = sb_arena_zeroed(arena, sources + 1, sizeof *w->is_known);
    w->skew = sb_arena_zeroed(arena, sources + 1, sizeof *w->skew);
    if (!w->first || !w->is_measured || !w->mine || !w->mine_end || !w->queue || !w->is_known ||
        !w->skew)
        return false;
    for (size_t i = 0; i < n; i++) {
        bool is_same = i && compare_operations(&list->items[i], &list->items[i - 1]) == 0;
        w->first[i] = is_same ? w->first[i - 1] : (uint32_t)i;
        w->mine_end[list->items[i].source + 1]++;
    }
    for (size_t i = 0; i < sources; i++) w->mine_end[i + 1] += w->mine_end[i];
    /* now mine_end[s] is where the places of s begin; each one put there moves it on */
    for (size_t i = 0; i < n; i++) w->mine[w->mine_end[list->items[i].source]++] = (uint32_t)i;
    return true;
}

/* Measures all sources that are not known yet and share collectives with this one. After this they
 * are all known, so that no operation is looked at twice. */
static bool measure_from(skew_walk *w, uint32_t source) {
    const comm_list *list = w->list;
    w->measures.n = 0;
    for (uint32_t p = source ? w->mine_end[source - 1] : 0; p < w->mine_end[source]; p++) {
        const comm *c = &list->items[w->mine[p]];
        uint32_t first = w->first[w->mine[p]];
        if (w->is_measured[first]) continue;
        w->is_measured[first] = true;
        for (size_t i = first; i < list->n && w->first[i] == first; i++) {
            const comm *other = &list->items[i];
            if (w->is_known[other->source]) continue;
            measure *m = SB_VEC_PUSH(&w->measures, w->t->alloc, SIZE_MAX);
            if (!m) return false;
            *m = (measure){other->source, other->start + other->dur - c->start - c->dur,
                           other->dur > c->dur ? other->dur : c->dur, other->start};
        }
    }
    return true;
}

/* A chain of files with absurd times could lead out of the 64 bits. */
static bool is_on_axis(int64_t at, int64_t skew) {
    int64_t to;
    return !__builtin_sub_overflow(at, skew, &to) && to > -INT64_MAX / 8 && to < INT64_MAX / 2;
}

/* Takes the medians of what was measured. Clocks that differ by less than a collective lasts are
 * taken as equal. */
static void add_neighbours(skew_walk *w, uint32_t source) {
    measure *all = w->measures.items;
    if (w->measures.n) qsort(all, w->measures.n, sizeof *all, compare_offs);
    for (size_t i = 0; i < w->measures.n;) {
        uint32_t other = all[i].source;
        size_t end = i;
        while (end < w->measures.n && all[end].source == other) end++;
        int64_t off = all[i + (end - i) / 2].off;
        qsort(all + i, end - i, sizeof *all, compare_lasts);
        int64_t lasts = all[i + (end - i) / 2].lasts;
        int64_t limit = lasts > 1000 * SB_PS_PER_US ? lasts : 1000 * SB_PS_PER_US;
        int64_t skew;
        if (off <= limit && off >= -limit) off = 0;
        if (!__builtin_add_overflow(w->skew[source], off, &skew) && is_on_axis(all[i].at, skew))
            w->skew[other] = skew;
        w->is_known[other] = true;
        w->queue[w->queued++] = other;
        i = end;
    }
}

static bool measure_skews(skew_walk *w) {
    bool is_done = true;
    for (uint32_t i = 0; i < w->t->sources.n && is_done; i++) {
        if (w->is_known[i]) continue;
        uint32_t at = w->queued;
        w->is_known[i] = true;
        w->queue[w->queued++] = i;
        for (; at < w->queued && is_done; at++) {
            is_done = measure_from(w, w->queue[at]);
            if (is_done) add_neighbours(w, w->queue[at]);
        }
    }
    SB_VEC_FREE(&w->measures, w->t->alloc);
    return is_done;
}

/* Where the first of all sources begins after they were moved: the axis begins there. In whole
 * nanoseconds. */
static int64_t first_of_all(const sb_trace *t) {
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        if ((k->spans.n || k->points.n) && k->first < least) least = k->first;
    }
    return least == INT64_MAX ? 0 : sb_whole_ns(least);
}

/* All ranks leave a collective at about the same time. If the ends differ by more than a
 * collective lasts, the clocks of the hosts differ. */
bool sb_align_clocks(sb_trace *t) {
    comm_list list = {0};
    skew_walk w;
    sb_arena arena;
    if (t->sources.n < 2) return true;
    sb_arena_init(&arena, t->alloc, 4096, SIZE_MAX);
    int64_t *by = sb_arena_zeroed(&arena, t->sources.n, sizeof *by);
    bool is_done =
        by && list_comms(t, &list) && begin_skew_walk(&w, t, &list, &arena) && measure_skews(&w);
    for (uint32_t i = 1; i < t->sources.n && is_done; i++) {
        by[i] = -w.skew[i];
        t->sources.items[i].skew = by[i];
        if (by[i])
            sb_trace_notef(t, SB_TRACE_ODD_SKEW, "%.*s was moved by %.3f ms",
                           SB_SHOWN(t->sources.items[i].name), (double)by[i] * 1e-9);
    }
    if (is_done) sb_move_sources(t, by);
    int64_t least = is_done ? first_of_all(t) : 0;
    for (uint32_t i = 0; least && i < t->sources.n; i++) by[i] = -least;
    if (least) sb_move_sources(t, by);
    if (t->base_ns) t->base_ns += least / 1000;
    t->origin += least;
    t->duration = 0;
    for (size_t i = 0; i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        if ((k->spans.n || k->points.n) && k->last > t->duration) t->duration = k->last;
    }
    SB_VEC_FREE(&list, t->alloc);
    sb_arena_fini(&arena);
    return is_done;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static void fill_ranks(const sb_analysis *a, sb_rank_view *v) {
    for (uint32_t i = 0; i < a->t->sources.n; i++) {
        const sb_source_parts *p = &a->sources[i];
        sb_rank_row *r = &v->ranks[i];
        int64_t exposed = p->parts[SB_PART_COMMUNICATION];
        r->source = i;
        r->span = p->to - p->from;
        r->overlap = p->communication - exposed;
        r->communication = exposed;
        r->compute = sb_intervals_inside(&p->computing, p->from, p->to) - r->overlap;
        r->other = r->span - r->compute - r->overlap - r->communication;
        if (r->compute < 0) r->compute = 0;
        if (r->other < 0) r->other = 0;
    }
}

static int compare_collectives(const void *a, const void *b) {
    const sb_collective_row *x = a, *y = b;
    if (x->transfer != y->transfer) return x->transfer > y->transfer ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

static bool fill_collectives(const sb_trace *t, const comm_list *list, sb_rank_view *v,
                             sb_arena *arena) {
    v->collectives = sb_arena_zeroed(arena, list->n + 1, sizeof *v->collectives);
    if (!v->collectives) return false;
    for (size_t i = 0; i < list->n;) {
        const comm *last;
        size_t end = end_of_collective(list, i, &last);
        sb_collective_row *row =
            v->collective_count &&
                    v->collectives[v->collective_count - 1].name == list->items[i].name
                ? &v->collectives[v->collective_count - 1]
                : &v->collectives[v->collective_count++];
        if (!row->wait) {
            row->name = list->items[i].name;
            row->wait = sb_arena_zeroed(arena, t->sources.n + 1, sizeof *row->wait);
            if (!row->wait) return false;
        }
        row->calls++;
        sb_sum(&row->bytes, list->items[i].bytes);
        sb_sum(&row->transfer, last->dur);
        for (size_t k = i; k < end; k++) {
            int64_t wait = list->items[k].dur - last->dur;
            if (list->items[k].dur > row->greatest) row->greatest = list->items[k].dur;
            sb_sum(&row->wait[list->items[k].source], wait);
            sb_sum(&v->ranks[list->items[k].source].wait, wait);
            sb_sum(&v->ranks[last->source].awaited, wait);
        }
        i = end;
    }
    if (v->collective_count)
        qsort(v->collectives, v->collective_count, sizeof *v->collectives, compare_collectives);
    return true;
}

/* Finds the straggler: the rank that others wait for longest. It is only named if they wait long,
 * and if it does not wait for them as well. */
static void find_straggler(sb_rank_view *v) {
    int64_t sum = 0, span = 0;
    int32_t best = 0;
    v->straggler = -1;
    if (v->rank_count < 2) return;
    for (size_t i = 0; i < v->rank_count; i++) {
        sb_sum(&sum, v->ranks[i].wait);
        sb_sum(&span, v->ranks[i].span);
        if (v->ranks[i].awaited > v->ranks[best].awaited) best = (int32_t)i;
    }
    int64_t others = (sum - v->ranks[best].wait) / (int64_t)(v->rank_count - 1);
    if (others > span / (int64_t)v->rank_count / 50 && others / 3 > v->ranks[best].wait)
        v->straggler = best;
}

bool sb_view_ranks(const sb_analysis *a, sb_rank_view *out, sb_arena *arena) {
    comm_list list = {0};
    *out = (sb_rank_view){.straggler = -1, .rank_count = a->t->sources.n};
    out->ranks = sb_arena_zeroed(arena, out->rank_count + 1, sizeof *out->ranks);
    bool is_done = out->ranks && list_comms(a->t, &list);
    if (is_done) fill_ranks(a, out);
    is_done = is_done && fill_collectives(a->t, &list, out, arena);
    if (is_done) find_straggler(out);
    SB_VEC_FREE(&list, a->t->alloc);
    return is_done;
}

/* ---- waits ----------------------------------------------------------------------------------- */

static int compare_waits(const void *a, const void *b) {
    const sb_wait *x = a, *y = b;
    if (x->track != y->track) return x->track < y->track ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

bool sb_view_waits(const sb_trace *t, int64_t from, int64_t to, size_t most, sb_wait **out,
                   size_t *n, uint64_t *total, sb_arena *arena) {
    comm_list list = {0};
    *n = 0;
    *total = 0;
    *out = sb_arena_get(arena, (most + 1) * sizeof **out);
    bool is_done = *out && (t->sources.n < 2 || list_comms(t, &list));
    for (size_t i = 0; is_done && i < list.n;) {
        const comm *last;
        size_t end = end_of_collective(&list, i, &last);
        for (; i < end; i++) {
            const comm *c = &list.items[i];
            int64_t wait = c->dur - last->dur;
            if (wait == 0 || c->start > to || c->start + wait < from) continue;
            if (++*total <= most)
                (*out)[(*n)++] = (sb_wait){c->track, c->index, c->start, wait, last->source};
        }
    }
    if (*n) qsort(*out, *n, sizeof **out, compare_waits);
    SB_VEC_FREE(&list, t->alloc);
    return is_done;
}
