/* ranks.c: how long ranks wait for each other in collectives, and clock skew between ranks. */
#include <stdlib.h>

#include "base/checked.h"
#include "profile/analysis/views.h"
#include "base/banned.h"

/* One collective operation on one rank: the k-th one of its name on that rank. */
typedef struct comm {
    int64_t start, dur, bytes;
    uint32_t name, source, k;
    uint32_t track, index;
} comm;

typedef SB_VEC(comm) comm_list;

static int compare_by_source(const void *a, const void *b) {
    const comm *x = a, *y = b;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    if (x->name != y->name) return x->name < y->name ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

static int compare_by_name(const void *a, const void *b) {
    const comm *x = a, *y = b;
    if (x->name != y->name) return x->name < y->name ? -1 : 1;
    if (x->k != y->k) return x->k < y->k ? -1 : 1;
    return (x->source > y->source) - (x->source < y->source);
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
                    *c = (comm){s->start, s->dur, bytes, s->name, source, 0, i, n};
                }
            }
            if (out->n > before) break;
        }
    }
    if (out->n) qsort(out->items, out->n, sizeof out->items[0], compare_by_source);
    for (size_t i = 1; i < out->n; i++) {
        const comm *last = &out->items[i - 1];
        comm *c = &out->items[i];
        c->k = c->source == last->source && c->name == last->name ? last->k + 1 : 0;
    }
    if (out->n) qsort(out->items, out->n, sizeof out->items[0], compare_by_name);
    return true;
}

/* Answers the index behind the entries that are the same collective on different ranks. *last is
 * the rank that joined last: its duration is the transfer, and what the others take longer than
 * that is waiting. */
static size_t end_of_collective(const comm_list *list, size_t first, const comm **last) {
    size_t end = first;
    *last = &list->items[first];
    while (end < list->n && list->items[end].name == list->items[first].name &&
           list->items[end].k == list->items[first].k) {
        if (list->items[end].dur < (*last)->dur) *last = &list->items[end];
        end++;
    }
    return end;
}

/* ---- clocks ---------------------------------------------------------------------------------- */

static int compare_times(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

typedef SB_VEC(int64_t) time_list;

/* Two medians over the collectives: how much later they end in this source than in the first one
 * (the skew), and how long they last. */
static bool measure_skew(const sb_trace *t, const comm_list *list, uint32_t source, int64_t *skew,
                         int64_t *lasts, bool *is_known) {
    time_list off = {0}, durations = {0};
    bool is_done = true;
    for (size_t i = 0; i < list->n && is_done; i++) {
        const comm *c = &list->items[i];
        if (c->source != 0) continue;
        for (size_t k = i + 1;
             k < list->n && list->items[k].name == c->name && list->items[k].k == c->k; k++) {
            const comm *other = &list->items[k];
            if (other->source != source) continue;
            int64_t *a = SB_VEC_PUSH(&off, t->alloc, SIZE_MAX);
            int64_t *b = a ? SB_VEC_PUSH(&durations, t->alloc, SIZE_MAX) : NULL;
            is_done = b != NULL;
            if (!is_done) break;
            *a = other->start + other->dur - c->start - c->dur;
            *b = other->dur > c->dur ? other->dur : c->dur;
        }
    }
    *is_known = is_done && off.n > 0;
    if (*is_known) {
        qsort(off.items, off.n, sizeof off.items[0], compare_times);
        qsort(durations.items, durations.n, sizeof durations.items[0], compare_times);
        *skew = off.items[off.n / 2];
        *lasts = durations.items[durations.n / 2];
    }
    SB_VEC_FREE(&off, t->alloc);
    SB_VEC_FREE(&durations, t->alloc);
    return is_done;
}

static void move_source(sb_trace *t, uint32_t source, int64_t by) {
    for (size_t i = 0; i < t->tracks.n; i++) {
        sb_track *k = &t->tracks.items[i];
        if (sb_track_source(t, k) != source) continue;
        for (size_t n = 0; n < k->spans.n; n++) k->spans.items[n].start += by;
        for (size_t n = 0; n < k->points.n; n++) k->points.items[n].time += by;
        k->first += by;
        k->last += by;
    }
    for (size_t i = 0; i < t->memory.n; i++)
        if (t->memory_devices.items[t->memory.items[i].device].source == source)
            t->memory.items[i].time += by;
}

/* All ranks leave a collective at about the same time. If the ends differ by more than a
 * collective lasts, the clocks of the hosts differ. */
bool sb_align_clocks(sb_trace *t) {
    comm_list list = {0};
    if (t->sources.n < 2) return true;
    bool is_done = list_comms(t, &list);
    int64_t least = 0;
    for (uint32_t i = 1; i < t->sources.n && is_done; i++) {
        int64_t skew = 0, lasts = 0;
        bool is_known;
        is_done = measure_skew(t, &list, i, &skew, &lasts, &is_known);
        int64_t limit = lasts > 1000 * SB_PS_PER_US ? lasts : 1000 * SB_PS_PER_US;
        if (!is_done || !is_known || (skew <= limit && skew >= -limit)) continue;
        move_source(t, i, -skew);
        t->sources.items[i].skew = -skew;
        sb_trace_notef(t, SB_TRACE_ODD_SKEW, "%.*s was moved by %.3f ms",
                       SB_SHOWN(t->sources.items[i].name), (double)-skew * 1e-9);
    }
    for (size_t i = 0; i < t->tracks.n; i++)
        if (t->tracks.items[i].spans.n && t->tracks.items[i].first < least)
            least = t->tracks.items[i].first;
    for (uint32_t i = 0; least < 0 && i < t->sources.n; i++) move_source(t, i, -least);
    if (t->base_ns) t->base_ns += least / 1000;
    t->origin += least;
    t->duration = 0;
    for (size_t i = 0; i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        if ((k->spans.n || k->points.n) && k->last > t->duration) t->duration = k->last;
    }
    SB_VEC_FREE(&list, t->alloc);
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
        }
        i = end;
    }
    if (v->collective_count)
        qsort(v->collectives, v->collective_count, sizeof *v->collectives, compare_collectives);
    return true;
}

/* Finds the straggler: the rank that waits least is the one that comes last. It is only named if
 * the others wait long. */
static void find_straggler(sb_rank_view *v) {
    int64_t sum = 0, span = 0;
    int32_t best = 0;
    v->straggler = -1;
    if (v->rank_count < 2) return;
    for (size_t i = 0; i < v->rank_count; i++) {
        sb_sum(&sum, v->ranks[i].wait);
        sb_sum(&span, v->ranks[i].span);
        if (v->ranks[i].wait < v->ranks[best].wait) best = (int32_t)i;
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
