/* parts.c: the breakdown of step time into parts. */
#include <stdlib.h>

#include "base/search.h"
#include "profile/analysis/analysis.h"
#include "base/banned.h"

static int compare_intervals(const void *a, const void *b) {
    const sb_interval *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

bool sb_intervals_merge(sb_intervals *list, sb_arena *arena) {
    size_t kept = 0;
    (void)arena;
    for (size_t i = 1; i < list->n; i++)
        if (list->items[i].start < list->items[i - 1].start) {
            qsort(list->items, list->n, sizeof list->items[0], compare_intervals);
            break;
        }
    for (size_t i = 0; i < list->n; i++) {
        sb_interval next = list->items[i];
        if (kept && next.start <= list->items[kept - 1].end) {
            if (next.end > list->items[kept - 1].end) list->items[kept - 1].end = next.end;
        } else {
            list->items[kept++] = next;
        }
    }
    list->n = kept;
    return true;
}

int64_t sb_intervals_inside(const sb_intervals *of, int64_t from, int64_t to) {
    size_t i;
    int64_t sum = 0;
    SB_PARTITION_POINT(i, 0, of->n, of->items[i].end <= from);
    for (; i < of->n && of->items[i].start < to; i++) {
        int64_t a = of->items[i].start > from ? of->items[i].start : from;
        int64_t b = of->items[i].end < to ? of->items[i].end : to;
        sum += b - a;
    }
    return sum;
}

/* The part that a span belongs to; SB_PART_COUNT: it belongs to none. */
static sb_step_part part_of(const sb_track *k, const sb_trace_span *s) {
    if (k->kind == SB_TRACK_STREAM) switch (s->kind) {
        case SB_SPAN_KERNEL:
        case SB_SPAN_XLA_OP:
            return SB_PART_COMPUTE;
        case SB_SPAN_COMM:
            return SB_PART_COMMUNICATION;
        case SB_SPAN_COPY:
            return SB_PART_COPY;
        default:
            return SB_PART_COUNT;
        }
    if (k->kind != SB_TRACK_THREAD) return SB_PART_COUNT;
    switch (s->kind) {
    case SB_SPAN_RUNTIME:
        return SB_PART_LAUNCH;
    case SB_SPAN_SYNC:
        return SB_PART_SYNC;
    case SB_SPAN_INPUT:
        return SB_PART_INPUT;
    case SB_SPAN_COMPILE:
        return SB_PART_COMPILE;
    case SB_SPAN_OPTIMIZER:
        return SB_PART_OPTIMIZER;
    case SB_SPAN_COMM:
        return SB_PART_COMMUNICATION;
    case SB_SPAN_OP:
    case SB_SPAN_XLA_OP:
        return SB_PART_HOST;
    default:
        return SB_PART_COUNT;
    }
}

typedef SB_VEC(sb_interval) interval_list;

static bool push(interval_list *list, const sb_alloc *alloc, int64_t start, int64_t end) {
    if (list->n && start <= list->items[list->n - 1].end &&
        start >= list->items[list->n - 1].start) {
        if (end > list->items[list->n - 1].end) list->items[list->n - 1].end = end;
        return true;
    }
    sb_interval *slot = SB_VEC_PUSH(list, alloc, SIZE_MAX);
    if (slot) *slot = (sb_interval){start, end};
    return slot != NULL;
}

static bool keep(sb_intervals *out, interval_list *list, sb_arena *arena) {
    sb_intervals merged = {list->items, list->n};
    sb_intervals_merge(&merged, arena);
    out->items = sb_arena_get(arena, (merged.n + 1) * sizeof *out->items);
    if (!out->items) return false;
    if (merged.n) memcpy(out->items, merged.items, merged.n * sizeof *out->items);
    out->n = merged.n;
    return true;
}

/* Finds, for one source, the times at which something of each part runs. */
static bool find_active(sb_analysis *a, uint32_t source) {
    const sb_trace *t = a->t;
    sb_source_parts *p = &a->sources[source];
    interval_list lists[SB_PART_COUNT] = {0}, device = {0}, host = {0};
    bool is_done = true;
    for (size_t i = 0; i < t->tracks.n && is_done; i++) {
        const sb_track *k = &t->tracks.items[i];
        if (sb_track_source(t, k) != source) continue;
        if (k->kind == SB_TRACK_STREAM && k->spans.n) p->has_device = true;
        for (size_t n = 0; n < k->spans.n && is_done; n++) {
            const sb_trace_span *s = &k->spans.items[n];
            sb_step_part part = s->dur ? part_of(k, s) : SB_PART_COUNT;
            if (part == SB_PART_COUNT) continue;
            is_done = push(&lists[part], t->alloc, s->start, sb_span_end(s));
            if (k->kind == SB_TRACK_STREAM)
                is_done = is_done && push(&device, t->alloc, s->start, sb_span_end(s));
            else if (part != SB_PART_SYNC)
                is_done = is_done && push(&host, t->alloc, s->start, sb_span_end(s));
        }
    }
    for (int part = 0; part < SB_PART_COUNT; part++) {
        is_done = is_done && keep(&p->active[part], &lists[part], &a->arena);
        SB_VEC_FREE(&lists[part], t->alloc);
    }
    is_done = is_done && keep(&p->device, &device, &a->arena) && keep(&p->host, &host, &a->arena);
    SB_VEC_FREE(&device, t->alloc);
    SB_VEC_FREE(&host, t->alloc);
    return is_done;
}

/* The intervals of `from` without those of `without`. Both must be sorted and merged. */
static bool subtract(sb_intervals *out, const sb_intervals *from, const sb_intervals *without,
                     sb_arena *arena) {
    out->items = sb_arena_get(arena, (from->n + without->n + 1) * sizeof *out->items);
    out->n = 0;
    if (!out->items) return false;
    size_t k = 0;
    for (size_t i = 0; i < from->n; i++) {
        int64_t start = from->items[i].start, end = from->items[i].end;
        while (k < without->n && without->items[k].end <= start) k++;
        for (size_t n = k; n < without->n && without->items[n].start < end && start < end; n++) {
            if (without->items[n].start > start)
                out->items[out->n++] = (sb_interval){start, without->items[n].start};
            if (without->items[n].end > start) start = without->items[n].end;
        }
        if (start < end) out->items[out->n++] = (sb_interval){start, end};
    }
    return true;
}

static bool unite(sb_intervals *into, const sb_intervals *more, sb_arena *arena) {
    sb_interval *items = sb_arena_get(arena, (into->n + more->n + 1) * sizeof *items);
    size_t i = 0, k = 0, n = 0;
    if (!items) return false;
    while (i < into->n || k < more->n) {
        bool takes_first =
            k == more->n || (i < into->n && into->items[i].start <= more->items[k].start);
        items[n++] = takes_first ? into->items[i++] : more->items[k++];
    }
    into->items = items;
    into->n = n;
    return sb_intervals_merge(into, arena);
}

static bool find_counts(sb_analysis *a, sb_source_parts *p) {
    sb_intervals covered = {0};
    for (int part = 0; part < SB_PART_OTHER; part++)
        if (!subtract(&p->counts[part], &p->active[part], &covered, &a->arena) ||
            !unite(&covered, &p->active[part], &a->arena))
            return false;
    return true;
}

static void find_window(sb_analysis *a, uint32_t source) {
    sb_source_parts *p = &a->sources[source];
    bool any = false;
    for (size_t i = 0; i < a->step_count; i++) {
        const sb_step *s = &a->steps[i];
        if (s->source != source) continue;
        if (!any || s->start < p->from) p->from = s->start;
        if (!any || s->start + s->dur > p->to) p->to = s->start + s->dur;
        any = true;
    }
    for (size_t i = 0; i < a->t->tracks.n && a->step_count == 0; i++) {
        const sb_track *k = &a->t->tracks.items[i];
        if (k->spans.n == 0 || sb_track_source(a->t, k) != source) continue;
        if (!any || k->first < p->from) p->from = k->first;
        if (!any || k->last > p->to) p->to = k->last;
        any = true;
    }
}

static void sum_parts(const sb_source_parts *p, int64_t from, int64_t to, int64_t *out) {
    int64_t rest = to - from;
    for (int part = 0; part < SB_PART_OTHER; part++) {
        out[part] = sb_intervals_inside(&p->counts[part], from, to);
        rest -= out[part];
    }
    out[SB_PART_OTHER] = rest > 0 ? rest : 0;
}

bool sb_find_parts(sb_analysis *a) {
    a->sources = sb_arena_zeroed(&a->arena, a->t->sources.n + 1, sizeof *a->sources);
    if (!a->sources) return false;
    for (uint32_t i = 0; i < a->t->sources.n; i++) {
        sb_source_parts *p = &a->sources[i];
        if (!find_active(a, i) || !find_counts(a, p)) return false;
        find_window(a, i);
        sum_parts(p, p->from, p->to, p->parts);
        p->device_busy = sb_intervals_inside(&p->device, p->from, p->to);
        p->host_busy = sb_intervals_inside(&p->host, p->from, p->to);
        p->communication = sb_intervals_inside(&p->active[SB_PART_COMMUNICATION], p->from, p->to);
    }
    for (size_t i = 0; i < a->step_count; i++) {
        sb_step *s = &a->steps[i];
        sum_parts(&a->sources[s->source], s->start, s->start + s->dur, s->parts);
    }
    return true;
}
