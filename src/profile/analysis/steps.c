/* steps.c: finds the spans that are the training steps. */
#include <stdlib.h>

#include "base/checked.h"
#include "base/search.h"
#include "profile/analysis/analysis.h"
#include "profile/trace/classify.h"
#include "base/banned.h"

#define MOST_STEPS 1000000u

typedef SB_VEC(sb_step) step_list;

typedef struct search {
    const sb_trace *t;
    step_list list;
    bool has_failed;
} search;

static int64_t number_behind(sb_slice name, size_t skip, int64_t otherwise) {
    int64_t n = 0;
    size_t i = skip;
    for (; i < name.n && name.p[i] >= '0' && name.p[i] <= '9' && n < INT64_MAX / 20; i++)
        n = n * 10 + (name.p[i] - '0');
    return i > skip ? n : otherwise;
}

static void add_step(search *s, uint32_t track, uint32_t index, int64_t number) {
    const sb_track *k = &s->t->tracks.items[track];
    const sb_trace_span *span = &k->spans.items[index];
    sb_step *step = SB_VEC_PUSH(&s->list, s->t->alloc, MOST_STEPS);
    if (!step) {
        s->has_failed = s->list.n < MOST_STEPS;
        return;
    }
    *step = (sb_step){.name = span->name,
                      .source = sb_track_source(s->t, k),
                      .track = track,
                      .index = index,
                      .number = number,
                      .start = span->start,
                      .dur = span->dur};
}

static bool is_host_track(const sb_track *k) {
    return k->kind == SB_TRACK_THREAD || k->kind == SB_TRACK_ASYNC;
}

/* Steps that the program itself marked. takes_roots: take only spans that carry XProf's mark for
 * the root of a step. */
static void find_marked(search *s, bool takes_roots) {
    for (uint32_t i = 0; i < s->t->tracks.n; i++) {
        const sb_track *k = &s->t->tracks.items[i];
        if (!is_host_track(k)) continue;
        for (uint32_t n = 0; n < k->spans.n; n++) {
            const sb_trace_span *span = &k->spans.items[n];
            if (span->kind != SB_SPAN_STEP || span->dur == 0) continue;
            sb_slice name = sb_trace_name(s->t, span->name);
            const sb_extra *e = sb_span_extra(s->t, span);
            bool is_torch = sb_text_begins(name, SB_TORCH_STEP);
            bool says_root = is_torch || (e && (e->flags & SB_EXTRA_ROOT));
            if (says_root != takes_roots) continue;
            int64_t number = is_torch ? number_behind(name, 13, (int64_t)s->list.n)
                             : e && (e->flags & SB_EXTRA_HAS_NUMBER) ? e->number
                                                                     : (int64_t)s->list.n;
            add_step(s, i, n, number);
        }
    }
}

static void find_line(search *s) {
    for (uint32_t i = 0; i < s->t->tracks.n; i++) {
        const sb_track *k = &s->t->tracks.items[i];
        if (k->kind != SB_TRACK_STEPS) continue;
        for (uint32_t n = 0; n < k->spans.n; n++)
            add_step(s, i, n,
                     number_behind(sb_trace_name(s->t, k->spans.items[n].name), 0, (int64_t)n));
    }
}

/* Is it inside a function that an input pipeline calls for its elements? That is near above it. */
static bool is_of_input(const sb_trace *t, const sb_track *k, uint32_t index) {
    for (int level = 0; level < 32 && (index = sb_track_parent(k, index)) != SB_NO_INDEX; level++)
        if (sb_text_begins(sb_trace_name(t, k->spans.items[index].name),
                           "InstantiatedCapturedFunction::"))
            return true;
    return false;
}

/* All spans of a name on host threads; if there are none, those on any track. */
static void find_named(search *s, uint32_t name, bool with_input) {
    for (int host = 1; host >= 0 && s->list.n == 0; host--)
        for (uint32_t i = 0; i < s->t->tracks.n; i++) {
            const sb_track *k = &s->t->tracks.items[i];
            if (k->kind == SB_TRACK_DERIVED || is_host_track(k) != (host == 1)) continue;
            for (uint32_t n = 0; n < k->spans.n; n++)
                if (k->spans.items[n].name == name && k->spans.items[n].dur &&
                    (with_input || !is_of_input(s->t, k, n)))
                    add_step(s, i, n, (int64_t)s->list.n);
        }
}

/* Which spans may be steps: those with one of the names, and those that the other function
 * accepts. */
typedef struct candidates {
    bool (*has_name)(sb_slice name);
    bool (*is_one)(const sb_trace *, const sb_trace_span *);
    uint64_t least_count; /* a name that occurs less often is none */
    bool with_input;      /* also inside functions of input pipelines */
} candidates;

/* Among the names of the candidates, the one with the largest total time. */
static uint32_t heaviest(const sb_trace *t, sb_arena *arena, const candidates *of) {
    uint64_t *counts = sb_arena_zeroed(arena, (size_t)t->names.count + 1, sizeof *counts);
    int64_t *times = sb_arena_zeroed(arena, (size_t)t->names.count + 1, sizeof *times);
    bool *is_named = sb_arena_zeroed(arena, (size_t)t->names.count + 1, sizeof *is_named);
    uint32_t best = SB_NO_INDEX;
    if (!counts || !times || !is_named) return SB_NO_INDEX;
    for (uint32_t i = 0; i < t->names.count && of->has_name; i++)
        is_named[i] = of->has_name(sb_trace_name(t, i));
    for (uint32_t i = 0; i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        if (!is_host_track(k)) continue;
        for (uint32_t n = 0; n < k->spans.n; n++) {
            const sb_trace_span *s = &k->spans.items[n];
            if (s->dur == 0) continue;
            if (!is_named[s->name] && !(of->is_one && of->is_one(t, s))) continue;
            if (!of->with_input && is_of_input(t, k, n)) continue;
            counts[s->name]++;
            sb_sum(&times[s->name], s->dur);
        }
    }
    for (uint32_t i = 0; i < t->names.count; i++)
        if (counts[i] >= of->least_count && (best == SB_NO_INDEX || times[i] > times[best]))
            best = i;
    return best;
}

static bool is_function_name(sb_slice name) {
    return sb_slice_eq(name, SB_LIT("FunctionRun")) || sb_slice_eq(name, SB_LIT("SessionRun"));
}

static bool is_root(const sb_trace *t, const sb_trace_span *s) {
    const sb_extra *e = sb_span_extra(t, s);
    return e && (e->flags & SB_EXTRA_ROOT);
}

static bool is_module_name(sb_slice name) {
    return sb_text_begins(name, "PjitFunction(") || sb_text_has(name, "Executable::Execute") ||
           sb_text_begins(name, "XlaModule");
}

/* Is the span outermost on its track: does no other span enclose it? */
static bool is_outermost(const sb_trace *t, const sb_trace_span *s) {
    (void)t;
    return s->lane == 0 && s->kind != SB_SPAN_MARKER && s->kind != SB_SPAN_OVERHEAD;
}

static const candidates FUNCTIONS = {is_function_name, is_root, 2, false};
static const candidates MODULES = {is_module_name, NULL, 2, true};
static const candidates PERIODIC = {NULL, is_outermost, 3, true};

static int compare_steps(const void *a, const void *b) {
    const sb_step *x = a, *y = b;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return (x->dur < y->dur) - (x->dur > y->dur);
}

/* Removes steps that are inside another step. */
static void drop_inner(step_list *list) {
    size_t kept = 0;
    if (list->n) qsort(list->items, list->n, sizeof list->items[0], compare_steps);
    for (size_t i = 0; i < list->n; i++) {
        const sb_step *s = &list->items[i], *last = kept ? &list->items[kept - 1] : NULL;
        if (last && last->source == s->source && s->start < last->start + last->dur &&
            s->start + s->dur <= last->start + last->dur)
            continue;
        list->items[kept++] = *s;
    }
    list->n = kept;
}

/* Extends each step to the end of the device work that it launched. */
static void extend_steps(const sb_trace *t, step_list *list) {
    for (size_t i = 0; i < t->flows.n; i++) {
        const sb_flow *f = &t->flows.items[i];
        if (f->kind != SB_FLOW_LAUNCH) continue;
        const sb_track *from = &t->tracks.items[f->from_track], *to = &t->tracks.items[f->to_track];
        uint32_t source = sb_track_source(t, from);
        int64_t at = from->spans.items[f->from].start;
        int64_t end = sb_span_end(&to->spans.items[f->to]);
        size_t n;
        SB_PARTITION_POINT(n, 0, list->n,
                           list->items[n].source < source ||
                               (list->items[n].source == source && list->items[n].start <= at));
        if (n == 0) continue;
        sb_step *s = &list->items[n - 1];
        const sb_track *k = &t->tracks.items[s->track];
        if (s->source == source && at < sb_span_end(&k->spans.items[s->index]) &&
            end > s->start + s->dur)
            s->dur = end - s->start;
    }
}

static uint32_t step_name(const sb_trace *t, sb_slice name) {
    return sb_intern_find(&t->names, name);
}

bool sb_find_steps(sb_analysis *a, sb_slice name) {
    search s = {.t = a->t};
    uint32_t chosen = SB_NO_INDEX;
    if (name.n) {
        chosen = step_name(a->t, name);
        a->rule = SB_STEPS_NAME;
    } else {
        static const sb_step_rule rules[] = {SB_STEPS_MARKED,   SB_STEPS_KERAS,  SB_STEPS_LINE,
                                             SB_STEPS_FUNCTION, SB_STEPS_MODULE, SB_STEPS_PERIODIC};
        for (size_t i = 0; i < sizeof rules / sizeof rules[0] && s.list.n == 0; i++) {
            a->rule = rules[i];
            chosen = SB_NO_INDEX;
            if (a->rule == SB_STEPS_MARKED) find_marked(&s, true);
            if (a->rule == SB_STEPS_KERAS) find_marked(&s, false);
            if (a->rule == SB_STEPS_LINE) find_line(&s);
            if (a->rule == SB_STEPS_FUNCTION) chosen = heaviest(a->t, &a->arena, &FUNCTIONS);
            if (a->rule == SB_STEPS_MODULE) chosen = heaviest(a->t, &a->arena, &MODULES);
            if (a->rule == SB_STEPS_PERIODIC) chosen = heaviest(a->t, &a->arena, &PERIODIC);
            if (chosen != SB_NO_INDEX) find_named(&s, chosen, a->rule != SB_STEPS_FUNCTION);
        }
    }
    if (name.n && chosen != SB_NO_INDEX) find_named(&s, chosen, true);
    if (s.list.n == 0) a->rule = SB_STEPS_NONE;
    a->step_name = chosen == SB_NO_INDEX ? 0 : chosen + 1;
    drop_inner(&s.list);
    extend_steps(a->t, &s.list);
    a->steps = sb_arena_get(&a->arena, (s.list.n + 1) * sizeof *a->steps);
    bool is_done = a->steps && !s.has_failed;
    if (is_done && s.list.n) memcpy(a->steps, s.list.items, s.list.n * sizeof *a->steps);
    if (is_done) a->step_count = s.list.n;
    SB_VEC_FREE(&s.list, a->t->alloc);
    return is_done;
}
