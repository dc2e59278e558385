/* join.c: makes the arrows between spans, and finds the operator that encloses each memory event.
 *
 * A launch on the host and the work that it launched have the same correlation id. Arrows in the
 * file (phases s, t, f) belong to the span that runs at their time. What the events of an XSpace
 * hand to each other names its spans. */
#include <stdlib.h>

#include "base/search.h"
#include "profile/trace/build.h"
#include "base/banned.h"

#define MOST_FLOWS ((size_t)1 << 28)
#define MOST_SHARED 64u /* spans on one side of an id */

typedef struct joint {
    uint64_t key;
    int64_t start;
    uint32_t source, track, index;
    bool is_device;
} joint;

static int compare_joints(const void *a, const void *b) {
    const joint *x = a, *y = b;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    if (x->is_device != y->is_device) return x->is_device ? 1 : -1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->track != y->track) return x->track < y->track ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static bool add_flow(sb_trace *t, const sb_flow *flow) {
    sb_flow *f = SB_VEC_PUSH(&t->flows, t->alloc, MOST_FLOWS);
    if (f) *f = *flow;
    return f != NULL;
}

typedef SB_VEC(joint) joint_list;

static bool list_joints(const sb_trace *t, joint_list *out) {
    for (uint32_t i = 0; i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        if (k->kind == SB_TRACK_DERIVED || k->kind == SB_TRACK_STEPS) continue;
        for (uint32_t n = 0; n < k->spans.n; n++) {
            const sb_trace_span *s = &k->spans.items[n];
            const sb_extra *e = sb_span_extra(t, s);
            if (!e || !e->correlation) continue;
            joint *j = SB_VEC_PUSH(out, t->alloc, MOST_FLOWS);
            if (!j) return false;
            *j = (joint){.key = e->correlation,
                         .start = s->start,
                         .source = sb_track_source(t, k),
                         .track = i,
                         .index = n,
                         .is_device = k->kind == SB_TRACK_STREAM};
        }
    }
    return true;
}

/* Joins the spans of one id: first `hosts` of them on the host, then those on devices, both by
 * start. Several on the host may have the same id: the launch is the last one that begins before
 * what it launched, because an API call is inside its operator, and ids may be used again. */
static bool join_id(sb_trace *t, const joint *list, size_t hosts, size_t n) {
    const joint *last = NULL;
    bool is_reused = false;
    for (size_t k = hosts; hosts && k < n; k++) {
        size_t before;
        SB_PARTITION_POINT(before, 0, hosts, list[before].start <= list[k].start);
        const joint *from = &list[(before ? before : hosts) - 1], *to = &list[k];
        if (!add_flow(t,
                      &(sb_flow){from->track, from->index, to->track, to->index, SB_FLOW_LAUNCH}))
            return false;
        is_reused |= last && sb_span_end(&t->tracks.items[last->track].spans.items[last->index]) <=
                                 from->start;
        last = from;
    }
    if (is_reused)
        sb_trace_notef(t, SB_TRACE_ODD_REUSED, "correlation %llu", (unsigned long long)list->key);
    return true;
}

static bool join_launches(sb_trace *t) {
    joint_list list = {0};
    bool is_done = list_joints(t, &list);
    if (is_done && list.n) qsort(list.items, list.n, sizeof list.items[0], compare_joints);
    for (size_t i = 0; is_done && i < list.n;) {
        size_t end = i, hosts = 0;
        while (end < list.n && list.items[end].key == list.items[i].key &&
               list.items[end].source == list.items[i].source)
            hosts += !list.items[end++].is_device;
        is_done = join_id(t, &list.items[i], hosts, end - i);
        i = end;
    }
    SB_VEC_FREE(&list, t->alloc);
    return is_done;
}

static bool is_target(const sb_flow_end *e) {
    return e->phase == 'f' || e->phase == SB_FLOW_CONSUMES;
}

static int compare_ends(const void *a, const void *b) {
    const sb_flow_end *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    if (is_target(x) != is_target(y)) return is_target(x) - is_target(y);
    if (x->track != y->track) return x->track < y->track ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static uint32_t span_of_end(const sb_trace *t, const sb_flow_end *e) {
    const sb_track *k = &t->tracks.items[e->track];
    uint32_t innermost = sb_track_at(k, e->time), at = innermost;
    while (e->at && at != SB_NO_INDEX && k->spans.items[at].at != e->at)
        at = sb_track_parent(k, at);
    return at == SB_NO_INDEX ? innermost : at;
}

static bool join_two_ends(sb_trace *t, const sb_flow_end *from, const sb_flow_end *to) {
    uint32_t source = span_of_end(t, from), target = span_of_end(t, to);
    if (source == SB_NO_INDEX || target == SB_NO_INDEX) return true;
    if (from->track == to->track && source == target) return true;
    return add_flow(t,
                    &(sb_flow){from->track, source, to->track, target, (sb_flow_kind)from->kind});
}

static bool join_chain(sb_trace *t, const sb_flow_end *ends, size_t n) {
    for (size_t i = 0; i + 1 < n; i++)
        if (ends[i].phase != 'f' && ends[i + 1].phase != 's' &&
            !join_two_ends(t, &ends[i], &ends[i + 1]))
            return false;
    return true;
}

/* Each consuming span gets an arrow from the last span that produced before it, or, if there is
 * none, from the first one. An id that many spans share on both sides tells nothing: no arrows
 * are drawn. */
static bool join_products(sb_trace *t, const sb_flow_end *ends, size_t n) {
    const sb_flow_end *from = NULL, *latest = NULL;
    size_t consumers = 0;
    for (size_t i = 0; i < n; i++) consumers += ends[i].phase == SB_FLOW_CONSUMES;
    if (consumers >= MOST_SHARED && n - consumers >= MOST_SHARED) return true;
    for (size_t i = 0; i < n && !from; i++)
        if (ends[i].phase == SB_FLOW_PRODUCES) from = &ends[i];
    for (size_t i = 0; from && i < n; i++) {
        if (latest && latest->time < ends[i].time) from = latest;
        if (ends[i].phase == SB_FLOW_PRODUCES)
            latest = &ends[i];
        else if (!join_two_ends(t, from, &ends[i]))
            return false;
    }
    return true;
}

static bool join_ends(sb_trace *t) {
    sb_trace_build *b = t->build;
    if (b->ends.n) qsort(b->ends.items, b->ends.n, sizeof b->ends.items[0], compare_ends);
    for (size_t i = 0, end; i < b->ends.n; i = end) {
        const sb_flow_end *first = &b->ends.items[i];
        for (end = i + 1; end < b->ends.n && b->ends.items[end].key == first->key;) end++;
        bool is_product = first->phase == SB_FLOW_PRODUCES || first->phase == SB_FLOW_CONSUMES;
        if (!(is_product ? join_products : join_chain)(t, first, end - i)) return false;
    }
    return true;
}

static int compare_flows(const void *a, const void *b) {
    const sb_flow *x = a, *y = b;
    if (x->from_track != y->from_track) return x->from_track < y->from_track ? -1 : 1;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    if (x->to_track != y->to_track) return x->to_track < y->to_track ? -1 : 1;
    if (x->to != y->to) return x->to < y->to ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

/* A launch may be told by its correlation id and again as something that is handed over. */
static void drop_equal_flows(sb_trace *t) {
    size_t kept = 0;
    for (size_t i = 0; i < t->flows.n; i++) {
        const sb_flow *f = &t->flows.items[i], *last = kept ? &t->flows.items[kept - 1] : NULL;
        if (last && last->from_track == f->from_track && last->from == f->from &&
            last->to_track == f->to_track && last->to == f->to)
            continue;
        t->flows.items[kept++] = *f;
    }
    t->flows.n = kept;
}

typedef struct flow_to {
    uint32_t track, index, flow;
} flow_to;

static int compare_to(const void *a, const void *b) {
    const flow_to *x = a, *y = b;
    if (x->track != y->track) return x->track < y->track ? -1 : 1;
    if (x->index != y->index) return x->index < y->index ? -1 : 1;
    return (x->flow > y->flow) - (x->flow < y->flow);
}

static bool index_flows(sb_trace *t) {
    if (t->flows.n == 0) return true;
    qsort(t->flows.items, t->flows.n, sizeof t->flows.items[0], compare_flows);
    drop_equal_flows(t);
    size_t n = t->flows.n;
    flow_to *order = sb_alloc_get(t->alloc, n * sizeof *order);
    t->flows_by_end = sb_alloc_get(t->alloc, n * sizeof *t->flows_by_end);
    if (order && t->flows_by_end) {
        for (size_t i = 0; i < n; i++)
            order[i] = (flow_to){t->flows.items[i].to_track, t->flows.items[i].to, (uint32_t)i};
        qsort(order, n, sizeof *order, compare_to);
        for (size_t i = 0; i < n; i++) t->flows_by_end[i] = order[i].flow;
    }
    sb_alloc_put(t->alloc, order, n * sizeof *order);
    return order && t->flows_by_end;
}

size_t sb_flows_from(const sb_trace *t, uint32_t track, uint32_t index) {
    size_t i;
    SB_PARTITION_POINT(
        i, 0, t->flows.n,
        t->flows.items[i].from_track < track ||
            (t->flows.items[i].from_track == track && t->flows.items[i].from < index));
    return i;
}

size_t sb_flows_to(const sb_trace *t, uint32_t track, uint32_t index) {
    size_t i;
    SB_PARTITION_POINT(
        i, 0, t->flows.n,
        sb_flow_by_end(t, i)->to_track < track ||
            (sb_flow_by_end(t, i)->to_track == track && sb_flow_by_end(t, i)->to < index));
    return i;
}

const sb_flow *sb_flow_into(const sb_trace *t, uint32_t track, uint32_t index) {
    size_t i = sb_flows_to(t, track, index);
    const sb_flow *f = i < t->flows.n ? sb_flow_by_end(t, i) : NULL;
    return f && f->to_track == track && f->to == index ? f : NULL;
}

const sb_flow *sb_flow_out_of(const sb_trace *t, uint32_t track, uint32_t index) {
    size_t i = sb_flows_from(t, track, index);
    const sb_flow *f = i < t->flows.n ? &t->flows.items[i] : NULL;
    return f && f->from_track == track && f->from == index ? f : NULL;
}

sb_status sb_join_flows(sb_trace *t, sb_err *err) {
    return join_launches(t) && join_ends(t) && index_flows(t) ? SB_OK
                                                              : sb_fail_nomem(err, "for a trace");
}

static int compare_memory(const void *a, const void *b) {
    const sb_memory_event *x = a, *y = b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Does memory count for the span? In torch also for what programs mark, and for its own marks. */
static bool may_hold_memory(const sb_trace *t, const sb_track *k, const sb_trace_span *s) {
    bool is_mark = s->kind == SB_SPAN_ANNOTATION || s->kind == SB_SPAN_OPTIMIZER ||
                   s->kind == SB_SPAN_INPUT || s->kind == SB_SPAN_STEP;
    return s->kind == SB_SPAN_OP ||
           (is_mark && t->sources.items[sb_track_source(t, k)].format == SB_FORMAT_KINETO);
}

/* Finds the innermost operator on the same thread, and orders the events. */
void sb_join_memory(sb_trace *t) {
    for (size_t i = 0; i < t->memory.n; i++) {
        sb_memory_event *e = &t->memory.items[i];
        if (e->op || e->track == SB_NO_INDEX) continue;
        const sb_track *k = &t->tracks.items[e->track];
        uint32_t at = sb_track_at(k, e->time);
        while (at != SB_NO_INDEX && !may_hold_memory(t, k, &k->spans.items[at]))
            at = sb_track_parent(k, at);
        if (at == SB_NO_INDEX) continue;
        const sb_trace_span *s = &k->spans.items[at];
        bool is_step = s->kind == SB_SPAN_STEP && t->torch_steps;
        e->op = is_step ? t->torch_steps : s->name + 1; /* steps are one row together */
    }
    if (t->memory.n) qsort(t->memory.items, t->memory.n, sizeof t->memory.items[0], compare_memory);
    for (size_t i = 0; i < t->memory.n; i++) {
        sb_memory_device *d = &t->memory_devices.items[t->memory.items[i].device];
        if (d->n++ == 0) d->first = i;
    }
}
