/* idle.c: why a device is idle. Adds a derived track above the streams of a device with one span
 * for every gap, named by what the host did in that time. */
#include <stdlib.h>

#include "profile/analysis/analysis.h"
#include "profile/trace/build.h"
#include "base/banned.h"

#define MOST_GAPS ((size_t)UINT32_MAX - 1) /* as many as a track may have spans */

static const struct {
    sb_span_kind kind;
    const char *name;
} CAUSES[SB_PART_COUNT] = {
    [SB_PART_INPUT] = {SB_SPAN_INPUT, "idle: waiting for input"},
    [SB_PART_COMPILE] = {SB_SPAN_COMPILE, "idle: compilation"},
    [SB_PART_SYNC] = {SB_SPAN_SYNC, "idle: synchronisation"},
    [SB_PART_LAUNCH] = {SB_SPAN_RUNTIME, "idle: kernel launch"},
    [SB_PART_OPTIMIZER] = {SB_SPAN_OPTIMIZER, "idle: optimizer on the host"},
    [SB_PART_HOST] = {SB_SPAN_OP, "idle: operators on the host"},
    [SB_PART_OTHER] = {SB_SPAN_OTHER, "idle: nothing recorded on the host"},
};

typedef struct stretch {
    sb_interval when;
    sb_step_part part;
} stretch;

typedef SB_VEC(stretch) stretch_list;

static int compare_stretches(const void *a, const void *b) {
    const stretch *x = a, *y = b;
    return (x->when.start > y->when.start) - (x->when.start < y->when.start);
}

/* Lists the intervals of all parts of a source in order of time. They do not overlap. */
static bool list_parts(const sb_source_parts *p, stretch_list *out, const sb_alloc *alloc) {
    for (int part = 0; part < SB_PART_OTHER; part++)
        for (size_t i = 0; i < p->counts[part].n; i++) {
            stretch *s = SB_VEC_PUSH(out, alloc, MOST_GAPS);
            if (!s) return false;
            *s = (stretch){p->counts[part].items[i], (sb_step_part)part};
        }
    if (out->n) qsort(out->items, out->n, sizeof out->items[0], compare_stretches);
    return true;
}

/* The group of the device. If a source has several devices, the group above them. */
static uint32_t group_of(const sb_trace *t, uint32_t source) {
    uint32_t found = SB_NO_INDEX;
    for (size_t i = 0; i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        if (k->kind != SB_TRACK_STREAM || !k->spans.n || sb_track_source(t, k) != source) continue;
        if (found != SB_NO_INDEX && found != k->group) return t->groups.items[found].parent;
        found = k->group;
    }
    return found;
}

typedef struct filling {
    sb_trace *t;
    sb_track *k;
    int64_t from, to; /* time before the first and after the last step is not a gap */
    uint32_t names[SB_PART_COUNT];
} filling;

static bool add_gap(filling *f, int64_t start, int64_t end, sb_step_part part) {
    if (start < f->from) start = f->from;
    if (end > f->to) end = f->to;
    if (start >= end) return true;
    sb_trace_span *last = f->k->spans.n ? &f->k->spans.items[f->k->spans.n - 1] : NULL;
    if (last && last->name == f->names[part] && sb_span_end(last) == start) {
        last->dur += end - start;
        return true;
    }
    sb_trace_span *s = SB_VEC_PUSH(&f->k->spans, f->t->alloc, MOST_GAPS);
    if (s)
        *s = (sb_trace_span){.start = start,
                             .dur = end - start,
                             .kind = (uint64_t)CAUSES[part].kind & 0xff,
                             .name = f->names[part]};
    return s != NULL;
}

static bool fill(filling *f, const stretch_list *list) {
    int64_t at = f->from;
    for (size_t i = 0; i < list->n; i++) {
        const stretch *s = &list->items[i];
        if (s->when.start > at && !add_gap(f, at, s->when.start, SB_PART_OTHER)) return false;
        if (s->part >= SB_PART_INPUT && !add_gap(f, s->when.start, s->when.end, s->part))
            return false;
        if (s->when.end > at) at = s->when.end;
    }
    return add_gap(f, at, f->to, SB_PART_OTHER);
}

static bool name_causes(filling *f) {
    for (int part = SB_PART_INPUT; part < SB_PART_COUNT; part++) {
        f->names[part] = sb_build_name(f->t, sb_slice_str(CAUSES[part].name));
        if (f->names[part] == SB_NO_INDEX) return false;
    }
    return true;
}

static bool add_track(sb_trace *t, const sb_source_parts *p, uint32_t group) {
    sb_track *k = SB_VEC_PUSH(&t->tracks, t->alloc, SB_TRACE_MOST_TRACKS);
    stretch_list list = {0};
    /* there are too many tracks already: the idle track is left out */
    if (!k) return t->tracks.n >= SB_TRACE_MOST_TRACKS;
    *k = (sb_track){.group = group,
                    .kind = SB_TRACK_DERIVED,
                    .is_made = true,
                    .name = SB_LIT("Idle"),
                    .sort = INT64_MIN};
    filling f = {.t = t, .k = k, .from = p->from, .to = p->to};
    bool is_done = name_causes(&f) && list_parts(p, &list, t->alloc) && fill(&f, &list);
    t->span_count += k->spans.n;
    SB_VEC_FREE(&list, t->alloc);
    return is_done;
}

sb_status sb_trace_add_idle(sb_trace *t, const sb_analysis *a, sb_err *err) {
    uint32_t before = (uint32_t)t->tracks.n;
    bool is_done = true;
    sb_forget_track_order(t);
    for (uint32_t i = 0; is_done && i < t->sources.n; i++) {
        uint32_t group = a->sources[i].has_device ? group_of(t, i) : SB_NO_INDEX;
        if (group != SB_NO_INDEX) is_done = add_track(t, &a->sources[i], group);
    }
    if (!is_done) return sb_fail_nomem(err, "for a trace");
    sb_status status = sb_finish_tracks(t, before, err);
    return status == SB_OK ? sb_order_tracks(t, err) : status;
}
