/* parts.c: the breakdown of step time into parts.
 *
 * One rule says what hides communication; the parts of a step and the table of ranks both go by it:
 *
 * - Communication is what a source's devices communicate. Calls of the host only launch that: they
 *   count only where nothing communicates on a device, as with gloo.
 * - With a device, what its streams compute hides communication.
 * - Without a device, operators of the host hide it, except while their own thread is in a call of
 *   the communication library. So an operator that encloses such a call computes before and after
 *   it, and not while it is in there; operators of other threads do. */
#include "profile/analysis/analysis.h"
#include "profile/trace/classify.h"
#include "base/banned.h"

static bool is_operator(const sb_trace_span *s) {
    return s->kind == SB_SPAN_OP || s->kind == SB_SPAN_XLA_OP;
}

/* The part that a span belongs to; SB_PART_COUNT: it belongs to none. `launches`: communication on
 * host threads is only the launch of that on devices. */
static sb_step_part part_of(const sb_trace *t, const sb_track *k, const sb_trace_span *s,
                            bool launches) {
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
        return sb_is_input_wait(sb_trace_name(t, s->name)) ? SB_PART_INPUT : SB_PART_COUNT;
    case SB_SPAN_COMPILE:
        return SB_PART_COMPILE;
    case SB_SPAN_OPTIMIZER:
        return SB_PART_OPTIMIZER;
    case SB_SPAN_COMM:
        return launches ? SB_PART_HOST : SB_PART_COMMUNICATION;
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

static bool keep(sb_intervals *out, interval_list *list, sb_arena *arena, const sb_alloc *alloc) {
    sb_intervals merged = {list->items, list->n};
    if (!sb_intervals_merge(&merged, alloc)) return false;
    out->items = sb_arena_get(arena, (merged.n + 1) * sizeof *out->items);
    if (!out->items) return false;
    if (merged.n) memcpy(out->items, merged.items, merged.n * sizeof *out->items);
    out->n = merged.n;
    return true;
}

static bool communicates_on_device(const sb_trace *t, uint32_t source) {
    for (size_t i = 0; i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        if (k->kind != SB_TRACK_STREAM || sb_track_source(t, k) != source) continue;
        for (size_t n = 0; n < k->spans.n; n++)
            if (k->spans.items[n].kind == SB_SPAN_COMM && k->spans.items[n].dur) return true;
    }
    return false;
}

/* Finds, for one source, the times at which something of each part runs. */
static bool find_active(sb_analysis *a, uint32_t source) {
    const sb_trace *t = a->t;
    sb_source_parts *p = &a->sources[source];
    interval_list lists[SB_PART_COUNT] = {0}, device = {0}, host = {0};
    bool is_done = true, launches = communicates_on_device(t, source);
    for (size_t i = 0; i < t->tracks.n && is_done; i++) {
        const sb_track *k = &t->tracks.items[i];
        if (sb_track_source(t, k) != source) continue;
        if (k->kind == SB_TRACK_STREAM && k->spans.n) p->has_device = true;
        for (size_t n = 0; n < k->spans.n && is_done; n++) {
            const sb_trace_span *s = &k->spans.items[n];
            sb_step_part part = s->dur ? part_of(t, k, s, launches) : SB_PART_COUNT;
            bool is_ahead = s->kind == SB_SPAN_INPUT && s->dur && k->kind == SB_TRACK_THREAD &&
                            part == SB_PART_COUNT; /* input that nobody waits for yet */
            if (part == SB_PART_COUNT && !is_ahead) continue;
            if (!is_ahead) is_done = push(&lists[part], t->alloc, s->start, sb_span_end(s));
            if (k->kind == SB_TRACK_STREAM)
                is_done = is_done && push(&device, t->alloc, s->start, sb_span_end(s));
            else if (part != SB_PART_SYNC)
                is_done = is_done && push(&host, t->alloc, s->start, sb_span_end(s));
        }
    }
    for (int part = 0; part < SB_PART_COUNT; part++) {
        is_done = is_done && keep(&p->active[part], &lists[part], &a->arena, t->alloc);
        SB_VEC_FREE(&lists[part], t->alloc);
    }
    is_done = is_done && keep(&p->device, &device, &a->arena, t->alloc) &&
              keep(&p->host, &host, &a->arena, t->alloc);
    SB_VEC_FREE(&device, t->alloc);
    SB_VEC_FREE(&host, t->alloc);
    return is_done;
}

/* Adds the times at which a host thread is in an operator and not in a call of the communication
 * library. */
static bool add_computing(const sb_trace *t, const sb_track *k, interval_list *out,
                          sb_arena *arena) {
    interval_list ops = {0}, calls = {0};
    sb_intervals op_times, call_times, rest;
    bool is_done = true;
    for (size_t n = 0; n < k->spans.n && is_done; n++) {
        const sb_trace_span *s = &k->spans.items[n];
        if (s->dur == 0) continue;
        if (s->kind == SB_SPAN_COMM ||
            (is_operator(s) && sb_is_communication_call(sb_trace_name(t, s->name))))
            is_done = push(&calls, t->alloc, s->start, sb_span_end(s));
        else if (is_operator(s))
            is_done = push(&ops, t->alloc, s->start, sb_span_end(s));
    }
    is_done = is_done && keep(&op_times, &ops, arena, t->alloc) &&
              keep(&call_times, &calls, arena, t->alloc) &&
              sb_intervals_subtract(&rest, &op_times, &call_times, arena);
    for (size_t i = 0; is_done && i < rest.n; i++)
        is_done = push(out, t->alloc, rest.items[i].start, rest.items[i].end);
    SB_VEC_FREE(&ops, t->alloc);
    SB_VEC_FREE(&calls, t->alloc);
    return is_done;
}

/* The times at which a source computes, and those of its communication that this does not hide. */
static bool find_exposed(sb_analysis *a, uint32_t source) {
    const sb_trace *t = a->t;
    sb_source_parts *p = &a->sources[source];
    interval_list computing = {0};
    bool is_done = true, by_thread = !p->has_device && p->active[SB_PART_COMMUNICATION].n > 0;
    p->computing = p->active[p->has_device ? SB_PART_COMPUTE : SB_PART_HOST];
    for (size_t i = 0; by_thread && is_done && i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        if (k->kind == SB_TRACK_THREAD && sb_track_source(t, k) == source)
            is_done = add_computing(t, k, &computing, &a->arena);
    }
    if (by_thread) is_done = is_done && keep(&p->computing, &computing, &a->arena, t->alloc);
    SB_VEC_FREE(&computing, t->alloc);
    return is_done && sb_intervals_subtract(&p->exposed, &p->active[SB_PART_COMMUNICATION],
                                            &p->computing, &a->arena);
}

static bool find_counts(sb_analysis *a, sb_source_parts *p) {
    sb_intervals covered = {0};
    for (int part = 0; part < SB_PART_OTHER; part++) {
        /* what hides communication counts in its own part */
        const sb_intervals *of = part == SB_PART_COMMUNICATION ? &p->exposed : &p->active[part];
        if (!sb_intervals_subtract(&p->counts[part], of, &covered, &a->arena) ||
            !sb_intervals_unite(&covered, of, &a->arena))
            return false;
    }
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
        if (!find_active(a, i) || !find_exposed(a, i) || !find_counts(a, p)) return false;
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
