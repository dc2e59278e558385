/* advice.c: recommendations for slow steps. Each one names its evidence: the slices that it was
 * concluded from. The thresholds are those of XProf and of the torch plugin, where these have
 * one. */
#include <stdio.h>
#include <stdlib.h>

#include "base/checked.h"
#include "profile/analysis/views.h"
#include "profile/trace/classify.h"
#include "base/banned.h"

#define MOST_ADVICE 16
#define SHORT_KERNEL (20 * SB_PS_PER_US)

typedef struct advising {
    const sb_analysis *a;
    sb_advice *items;
    size_t n;
} advising;

static double ms(int64_t ps) {
    return (double)ps * 1e-9;
}

static sb_advice *add(advising *s, const char *id, int64_t saves) {
    if (s->n == MOST_ADVICE) return NULL;
    sb_advice *v = &s->items[s->n++];
    *v = (sb_advice){.id = id, .saves = saves};
    int64_t step = s->a->stats.median;
    v->share = step ? (double)saves / (double)step : 0;
    return v;
}

/* Stores the longest slices of a kind as evidence, and counts all of them. */
static void give_evidence(const sb_trace *t, sb_advice *v, sb_track_kind track_kind,
                          sb_span_kind kind, int64_t shorter_than) {
    v->evidence = (sb_evidence){track_kind, kind, shorter_than};
    for (uint32_t i = 0; i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        if (k->kind != track_kind) continue;
        for (uint32_t n = 0; n < k->spans.n; n++) {
            const sb_trace_span *s = &k->spans.items[n];
            if (!sb_is_evidence(t, &v->evidence, k, s)) continue;
            v->count++;
            uint32_t at = v->slice_count;
            while (at > 0 &&
                   t->tracks.items[v->tracks[at - 1]].spans.items[v->slices[at - 1]].dur < s->dur)
                at--;
            if (at == SB_ADVICE_SLICES) continue;
            uint32_t moved =
                (v->slice_count < SB_ADVICE_SLICES ? v->slice_count++ : SB_ADVICE_SLICES - 1) - at;
            memmove(&v->tracks[at + 1], &v->tracks[at], moved * sizeof v->tracks[0]);
            memmove(&v->slices[at + 1], &v->slices[at], moved * sizeof v->slices[0]);
            v->tracks[at] = i;
            v->slices[at] = n;
        }
    }
}

static double part_share(const sb_analysis *a, sb_step_part part) {
    return a->stats.median ? (double)a->stats.parts[part] / (double)a->stats.median : 0;
}

static void advise_input(advising *s) {
    double share = part_share(s->a, SB_PART_INPUT);
    if (share <= 0.05) return;
    sb_advice *v = add(s, "input", s->a->stats.parts[SB_PART_INPUT]);
    if (!v) return;
    v->value = share;
    give_evidence(s->a->t, v, SB_TRACK_THREAD, SB_SPAN_INPUT, 0);
    snprintf(v->text, sizeof v->text,
             "%.1f %% of a step (%.2f ms) is spent waiting for input, with nothing else going on. "
             "Give the input "
             "pipeline more workers, prefetch, or move work out of it.",
             share * 100, ms(v->saves));
}

static void advise_communication(advising *s) {
    double share = part_share(s->a, SB_PART_COMMUNICATION);
    if (share <= 0.10) return;
    sb_advice *v = add(s, "communication", s->a->stats.parts[SB_PART_COMMUNICATION]);
    if (!v) return;
    v->value = share;
    give_evidence(s->a->t, v, s->a->has_device ? SB_TRACK_STREAM : SB_TRACK_THREAD, SB_SPAN_COMM,
                  0);
    snprintf(v->text, sizeof v->text,
             "%.1f %% of a step (%.2f ms) is communication that no compute hides. Overlap it with "
             "the backward pass, "
             "use larger buckets, or accumulate gradients.",
             share * 100, ms(v->saves));
}

static void advise_launch(advising *s) {
    const sb_trace *t = s->a->t;
    uint64_t all = 0, shorts = 0;
    if (!s->a->has_device) return;
    for (size_t i = 0; i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        if (k->kind != SB_TRACK_STREAM) continue;
        for (size_t n = 0; n < k->spans.n; n++) {
            if (k->spans.items[n].kind != SB_SPAN_KERNEL) continue;
            all++;
            shorts += k->spans.items[n].dur < SHORT_KERNEL;
        }
    }
    int64_t cost = s->a->stats.parts[SB_PART_LAUNCH] + s->a->stats.parts[SB_PART_HOST];
    double share = s->a->stats.median ? (double)cost / (double)s->a->stats.median : 0;
    if (all == 0 || share < 0.15 || (double)shorts / (double)all < 0.5) return;
    sb_advice *v = add(s, "launch", cost);
    if (!v) return;
    v->value = (double)shorts / (double)all;
    give_evidence(t, v, SB_TRACK_STREAM, SB_SPAN_KERNEL, SHORT_KERNEL);
    snprintf(v->text, sizeof v->text,
             "The device waits %.2f ms a step while the host runs operators and launches kernels; "
             "%.0f %% of %llu kernels last under 20 us. "
             "Compile the model, use CUDA graphs, or make batches larger.",
             ms(cost), v->value * 100, (unsigned long long)all);
}

static void advise_part(advising *s, sb_step_part part, const char *id, double least,
                        sb_track_kind track, sb_span_kind kind, const char *what) {
    double share = part_share(s->a, part);
    if (share < least) return;
    sb_advice *v = add(s, id, s->a->stats.parts[part]);
    if (!v) return;
    v->value = share;
    give_evidence(s->a->t, v, track, kind, 0);
    snprintf(v->text, sizeof v->text, "%.1f %% of a step (%.2f ms) %s", share * 100, ms(v->saves),
             what);
}

static void advise_idle(advising *s) {
    const sb_analysis *a = s->a;
    if (!a->has_device || a->device_busy >= 0.5 || a->device_busy < 0) return;
    /* of a median step, as its parts beside the advice: one slow step has much of all idle time */
    const int64_t *parts = a->stats.parts;
    int64_t idle = a->stats.median - parts[SB_PART_COMPUTE] - parts[SB_PART_COMMUNICATION] -
                   parts[SB_PART_COPY];
    sb_advice *v = add(s, "idle", idle);
    if (!v) return;
    v->value = a->device_busy;
    snprintf(v->text, sizeof v->text,
             "The device is busy for only %.1f %% of the time. The host can't keep up: see what it "
             "does in the gaps.",
             a->device_busy * 100);
}

static void advise_tensor_cores(advising *s) {
    const sb_trace *t = s->a->t;
    int64_t eligible = 0;
    uint64_t used = 0;
    uint32_t worst = SB_NO_INDEX;
    bool is_able = false;
    for (size_t i = 0; i < t->devices.n; i++)
        is_able |= t->devices.items[i].group != SB_NO_INDEX && t->devices.items[i].capability.n &&
                   t->devices.items[i].capability.p[0] >= '7';
    for (size_t i = 0; i < s->a->op_count; i++) {
        const sb_op_row *row = &s->a->ops[i];
        used += row->tensor_core_kernels;
        if (!row->device_self || row->tensor_core_kernels ||
            !sb_op_may_use_tensor_cores(sb_trace_name(t, row->name)))
            continue;
        sb_sum(&eligible, row->device_self);
        if (worst == SB_NO_INDEX) worst = row->name;
    }
    if (!is_able || used || worst == SB_NO_INDEX || eligible * 10 < s->a->device_time) return;
    sb_advice *v = add(s, "tensor_cores", 0);
    if (!v) return;
    v->name = sb_trace_name(t, worst);
    v->value = (double)eligible / (double)s->a->device_time;
    snprintf(v->text, sizeof v->text,
             "No kernel looks as if it used tensor cores (a guess from names), though %.1f %% of "
             "device time is in operators "
             "that could, such as %.*s. Try automatic mixed precision.",
             v->value * 100, SB_SHOWN(v->name));
}

static void advise_memory(advising *s, sb_arena *arena) {
    const sb_trace *t = s->a->t;
    for (uint32_t i = 0; i < t->memory_devices.n; i++) {
        sb_memory_view m;
        sb_slice name = t->memory_devices.items[i].name;
        sb_arena_mark mark = sb_arena_here(arena);
        if (!sb_text_begins(name, "GPU") || !sb_view_memory(t, i, 10, &m, arena)) continue;
        sb_arena_reset(arena, mark); /* of what was found only the peak is used */
        for (size_t k = 0; k < t->devices.n; k++) {
            const sb_device *d = &t->devices.items[k];
            if (!d->memory || (double)m.peak < 0.9 * (double)d->memory) continue;
            sb_advice *v = add(s, "memory", 0);
            if (!v) return;
            v->name = d->name;
            v->value = (double)m.peak / (double)d->memory;
            snprintf(v->text, sizeof v->text,
                     "Memory peaks at %.1f %% of the %.1f GB of %.*s. Smaller batches, "
                     "checkpointed activations or sharding "
                     "keep it from running out.",
                     v->value * 100, (double)d->memory * 1e-9, SB_SHOWN(d->name));
            return;
        }
    }
}

static void advise_ranks(advising *s, sb_arena *arena) {
    sb_rank_view v;
    const sb_trace *t = s->a->t;
    if (t->sources.n < 2 || !sb_view_ranks(s->a, &v, arena) || v.straggler < 0) return;
    int64_t waits = 0;
    for (size_t i = 0; i < v.rank_count; i++) waits += v.ranks[i].wait;
    size_t steps = s->a->step_count ? s->a->step_count : 1;
    sb_advice *out = add(s, "straggler",
                         waits / (int64_t)(v.rank_count > 1 ? v.rank_count - 1 : 1) /
                             (int64_t)((steps + v.rank_count - 1) / v.rank_count));
    if (!out) return;
    out->name = t->sources.items[v.ranks[v.straggler].source].name;
    out->value = (double)v.straggler;
    give_evidence(t, out, s->a->has_device ? SB_TRACK_STREAM : SB_TRACK_THREAD, SB_SPAN_COMM, 0);
    snprintf(out->text, sizeof out->text,
             "%.*s comes last to collectives, and the others wait %.2f ms a step for it. Look at "
             "its input, its clock and "
             "its share of the work.",
             SB_SHOWN(out->name), ms(out->saves));
}

static int compare_advice(const void *a, const void *b) {
    const sb_advice *x = a, *y = b;
    return (x->saves < y->saves) - (x->saves > y->saves);
}

bool sb_view_advice(const sb_analysis *a, sb_advice **out, size_t *n, sb_arena *arena) {
    advising s = {.a = a};
    s.items = sb_arena_zeroed(arena, MOST_ADVICE, sizeof *s.items);
    if (!s.items) return false;
    if (a->step_count == 0) {
        sb_advice *v = add(&s, "no_steps", 0);
        snprintf(v->text, sizeof v->text,
                 "No steps were found. Mark them (ProfilerStep of torch's schedule, "
                 "jax.profiler.StepTraceAnnotation, "
                 "tf.profiler.experimental.Trace), or choose any slice as the step.");
    }
    advise_input(&s);
    advise_communication(&s);
    advise_launch(&s);
    advise_part(&s, SB_PART_COPY, "copies", 0.05, SB_TRACK_STREAM, SB_SPAN_COPY,
                "is copying that no compute hides. Pin host memory, copy asynchronously, or keep "
                "data on the device.");
    advise_part(&s, SB_PART_SYNC, "sync", 0.05, SB_TRACK_THREAD, SB_SPAN_SYNC,
                "is the host waiting for the device. Avoid .item(), prints and other reads inside "
                "the step.");
    advise_part(&s, SB_PART_COMPILE, "compile", 0.05, SB_TRACK_THREAD, SB_SPAN_COMPILE,
                "is compilation. Keep shapes the same, or profile later steps.");
    advise_idle(&s);
    advise_tensor_cores(&s);
    advise_memory(&s, arena);
    advise_ranks(&s, arena);
    if (s.n) qsort(s.items, s.n, sizeof *s.items, compare_advice);
    *out = s.items;
    *n = s.n;
    return true;
}
