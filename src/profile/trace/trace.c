/* trace.c: creates and frees a trace, aligns its sources on one time axis, counts what was odd
 * about it. */
#include "profile/trace/trace.h"

#include <stdarg.h>
#include <stdio.h>

#include "profile/analysis/views.h"
#include "profile/trace/build.h"
#include "base/banned.h"

#define TEXT_CAP ((size_t)1 << 30)
#define MOST_NAMES (1u << 26)

const char *sb_span_kind_name(sb_span_kind kind) {
    static const char *const names[SB_SPAN_KIND_COUNT] = {
        "other",  "operator",      "annotation", "python", "runtime",  "kernel",
        "copy",   "communication", "input",      "sync",   "overhead", "step",
        "marker", "memory",        "module",     "xla_op", "compile",  "optimizer",
    };
    return kind < SB_SPAN_KIND_COUNT ? names[kind] : "other";
}

const char *sb_trace_format_name(sb_trace_format format) {
    static const char *const names[] = {"xplane", "kineto", "chrome", "stepstats"};
    return names[format];
}

const char *sb_trace_odd_name(sb_trace_odd odd) {
#define ODD_NAME(id, name, text) name,
    static const char *const names[] = {SB_TRACE_ODDS(ODD_NAME)};
    return names[odd];
}

const char *sb_trace_odd_text(sb_trace_odd odd) {
#define ODD_TEXT(id, name, text) text,
    static const char *const texts[] = {SB_TRACE_ODDS(ODD_TEXT)};
    return texts[odd];
}

bool sb_trace_odd_is_remark(sb_trace_odd odd) {
    return odd == SB_TRACE_ODD_CROSSING || odd == SB_TRACE_ODD_EMPTY_DEVICE ||
           odd == SB_TRACE_ODD_LONG_NAME || odd == SB_TRACE_ODD_SELF;
}

void sb_trace_note(sb_trace *t, sb_trace_odd odd, uint64_t n, sb_slice example) {
    sb_oddity *o = &t->odds[odd];
    o->n += n;
    if (o->shown == SB_TRACE_EXAMPLES || example.n == 0) return;
    if (example.n > 200) example.n = 200;
    for (uint32_t i = 0; i < o->shown; i++)
        if (sb_slice_eq(o->examples[i], example)) return;
    sb_slice copy = sb_arena_dup(&t->texts, example);
    if (copy.p) o->examples[o->shown++] = copy;
}

void sb_trace_notef(sb_trace *t, sb_trace_odd odd, const char *format, ...) {
    char text[240];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n > (int)sizeof text - 1) n = (int)sizeof text - 1;
    sb_trace_note(t, odd, 1, sb_slice_of(text, n > 0 ? (size_t)n : 0));
}

static void free_build(sb_trace *t) {
    sb_trace_build *b = t->build;
    if (!b) return;
    sb_intern_fini(&b->group_keys);
    sb_intern_fini(&b->track_keys);
    sb_intern_fini(&b->async_keys);
    SB_VEC_FREE(&b->group_of, t->alloc);
    SB_VEC_FREE(&b->track_of, t->alloc);
    SB_VEC_FREE(&b->ends, t->alloc);
    SB_VEC_FREE(&b->open, t->alloc);
    SB_VEC_FREE(&b->open_top, t->alloc);
    SB_VEC_FREE(&b->async_open, t->alloc);
    sb_alloc_put(t->alloc, b, sizeof *b);
    t->build = NULL;
}

sb_status sb_trace_new(sb_trace **out, const sb_alloc *alloc, const sb_trace_opts *opts,
                       sb_err *err) {
    sb_trace *t = sb_alloc_zeroed(alloc, 1, sizeof *t);
    sb_trace_build *b = t ? sb_alloc_zeroed(alloc, 1, sizeof *b) : NULL;
    if (!b) {
        sb_alloc_put(alloc, t, sizeof *t);
        return sb_fail_nomem(err, "for a trace");
    }
    t->alloc = alloc;
    t->build = b;
    if (opts) t->opts = *opts;
    t->spool.dir = t->opts.spool_dir;
    if (!t->opts.most_bytes) t->opts.most_bytes = (uint64_t)64 << 30;
    if (!t->opts.most_spans) t->opts.most_spans = (uint64_t)1 << 31;
    t->first_step_track = SB_NO_INDEX;
    sb_arena_init(&t->texts, alloc, 16 << 10, TEXT_CAP);
    sb_intern_init(&t->names, alloc, 11, MOST_NAMES);
    sb_intern_init(&b->group_keys, alloc, 12, 2 * SB_TRACE_MOST_TRACKS);
    sb_intern_init(&b->track_keys, alloc, 13, 4 * SB_TRACE_MOST_TRACKS);
    sb_intern_init(&b->async_keys, alloc, 14, MOST_NAMES);
    if (!SB_VEC_RESERVE(&t->extras, alloc, 1, UINT32_MAX)) {
        sb_trace_free(t);
        return sb_fail_nomem(err, "for a trace");
    }
    t->extras.items[t->extras.n++] = (sb_extra){0};
    *out = t;
    return SB_OK;
}

static void free_track(sb_track *k, const sb_alloc *alloc) {
    size_t blocks = k->spans.n / 64 + 1, count_blocks = k->points.n / 64 + 1;
    if (k->blocks) sb_alloc_put(alloc, k->blocks, blocks * sizeof *k->blocks);
    if (k->count_blocks)
        sb_alloc_put(alloc, k->count_blocks, count_blocks * sizeof *k->count_blocks);
    if (k->lanes) sb_alloc_put(alloc, k->lanes, ((size_t)k->lane_count + 1) * sizeof *k->lanes);
    SB_VEC_FREE(&k->spans, alloc);
    SB_VEC_FREE(&k->points, alloc);
}

void sb_forget_track_order(sb_trace *t) {
    if (t->track_order) sb_alloc_put(t->alloc, t->track_order, t->tracks.n * sizeof(uint32_t));
    t->track_order = NULL;
}

void sb_trace_free(sb_trace *t) {
    if (!t) return;
    const sb_alloc *alloc = t->alloc;
    free_build(t);
    for (size_t i = 0; i < t->tracks.n; i++) free_track(&t->tracks.items[i], alloc);
    for (size_t i = 0; i < t->sources.n; i++) sb_trace_bytes_close(t->sources.items[i].bytes);
    sb_trace_spool_fini(&t->spool);
    if (t->flows_by_end) sb_alloc_put(alloc, t->flows_by_end, t->flows.n * sizeof(uint32_t));
    sb_forget_track_order(t);
    SB_VEC_FREE(&t->sources, alloc);
    SB_VEC_FREE(&t->groups, alloc);
    SB_VEC_FREE(&t->tracks, alloc);
    SB_VEC_FREE(&t->extras, alloc);
    SB_VEC_FREE(&t->comms, alloc);
    SB_VEC_FREE(&t->memory, alloc);
    SB_VEC_FREE(&t->memory_devices, alloc);
    SB_VEC_FREE(&t->devices, alloc);
    SB_VEC_FREE(&t->facts, alloc);
    SB_VEC_FREE(&t->planes, alloc);
    SB_VEC_FREE(&t->modules, alloc);
    SB_VEC_FREE(&t->flows, alloc);
    sb_intern_fini(&t->names);
    sb_arena_fini(&t->texts);
    sb_alloc_put(alloc, t, sizeof *t);
}

size_t sb_trace_bytes_held(const sb_trace *t) {
    size_t n = sizeof *t + t->texts.held + t->names.names.held +
               t->names.item_room * (sizeof(sb_slice) + 8) + t->names.slot_count * 4u +
               t->extras.room * sizeof(sb_extra) + t->comms.room * sizeof(sb_comm) +
               t->memory.room * sizeof(sb_memory_event) + t->flows.room * (sizeof(sb_flow) + 4) +
               t->tracks.room * sizeof(sb_track);
    for (size_t i = 0; i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        n += k->spans.room * sizeof(sb_trace_span) + k->points.room * sizeof(sb_count_point) +
             k->spans.n / 64 * sizeof(sb_span_block);
    }
    return n;
}

/* ---- the order in which tracks are shown ----------------------------------------------------- */

static int compare_shown(const sb_trace *t, uint32_t a, uint32_t b) {
    const sb_track *x = &t->tracks.items[a], *y = &t->tracks.items[b];
    if (x->group != y->group) {
        const sb_trace_group *g = &t->groups.items[x->group], *h = &t->groups.items[y->group];
        if (g->source != h->source) return g->source < h->source ? -1 : 1;
        if (g->sort != h->sort) return g->sort < h->sort ? -1 : 1;
        return x->group < y->group ? -1 : 1;
    }
    if (x->sort != y->sort) return x->sort < y->sort ? -1 : 1;
    return (a > b) - (a < b);
}

/* A merge sort of our own, because qsort has no context argument. */
static void sort_tracks(const sb_trace *t, uint32_t *a, uint32_t *spare, size_t n) {
    if (n < 2) return;
    size_t half = n / 2, i = 0, k = half, o = 0;
    sort_tracks(t, a, spare, half);
    sort_tracks(t, a + half, spare, n - half);
    while (i < half && k < n) spare[o++] = compare_shown(t, a[k], a[i]) < 0 ? a[k++] : a[i++];
    while (i < half) spare[o++] = a[i++];
    while (k < n) spare[o++] = a[k++];
    memcpy(a, spare, n * sizeof *a);
}

sb_status sb_order_tracks(sb_trace *t, sb_err *err) {
    size_t n = t->tracks.n;
    if (n == 0) return SB_OK;
    uint32_t *spare = sb_alloc_get(t->alloc, n * sizeof *spare);
    t->track_order = sb_alloc_get(t->alloc, n * sizeof *spare);
    if (spare && t->track_order) {
        for (size_t i = 0; i < n; i++) t->track_order[i] = (uint32_t)i;
        sort_tracks(t, t->track_order, spare, n);
    }
    sb_alloc_put(t->alloc, spare, n * sizeof *spare);
    return spare && t->track_order ? SB_OK : sb_fail_nomem(err, "for a trace");
}

/* ---- one axis for all sources ---------------------------------------------------------------- */

#define NS_OF_A_YEAR INT64_C(31536000000000000)

void sb_move_sources(sb_trace *t, const int64_t *by) {
    for (size_t i = 0; i < t->tracks.n; i++) {
        sb_track *k = &t->tracks.items[i];
        int64_t mine = by[sb_track_source(t, k)];
        if (!mine || (!k->spans.n && !k->points.n)) continue;
        for (size_t n = 0; n < k->spans.n; n++) k->spans.items[n].start += mine;
        for (size_t n = 0; n < k->points.n; n++) k->points.items[n].time += mine;
        k->first += mine;
        k->last += mine;
    }
    for (size_t i = 0; i < t->memory.n; i++)
        t->memory.items[i].time += by[t->memory_devices.items[t->memory.items[i].device].source];
    for (size_t i = 0; i < t->build->ends.n; i++)
        t->build->ends.items[i].time +=
            by[sb_track_source(t, &t->tracks.items[t->build->ends.items[i].track])];
}

/* From the first to the last time of a source. */
typedef struct extent {
    int64_t first, last;
    bool any;
} extent;

static void find_extents(const sb_trace *t, extent *of) {
    for (size_t i = 0; i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        extent *e = &of[sb_track_source(t, k)];
        if (k->spans.n == 0 && k->points.n == 0) continue;
        if (!e->any || k->first < e->first) e->first = k->first;
        if (!e->any || k->last > e->last) e->last = k->last;
        e->any = true;
    }
}

/* Finds by how much each source is moved, so that all are on one time axis. Sources without
 * absolute time begin at its origin. */
static void find_moves(sb_trace *t, const extent *of, int64_t *by) {
    int64_t base = 0;
    bool any = false;
    for (size_t i = 0; i < t->sources.n; i++) {
        sb_trace_source *s = &t->sources.items[i];
        /* no clock shows such a year: the absolute time is unknown */
        if (s->base_ns < 0 || s->base_ns > INT64_MAX / 2) s->base_ns = 0;
        if (!of[i].any) continue;
        int64_t first = of[i].first;
        if (s->base_ns) {
            first = sb_whole_ns(first);
            s->base_ns += first / 1000;
        }
        by[i] = -first;
        if (s->base_ns ? !base || s->base_ns < base : !any) t->origin = first;
        if (s->base_ns && (!base || s->base_ns < base)) base = s->base_ns;
        any = true;
    }
    t->base_ns = base;
    for (size_t i = 0; i < t->sources.n; i++) {
        sb_trace_source *s = &t->sources.items[i];
        int64_t ahead = s->base_ns ? s->base_ns - base : 0;
        if (ahead > 0 && ahead < NS_OF_A_YEAR / 8)
            by[i] += ahead * 1000;
        else if (ahead > 0)
            sb_trace_notef(t, SB_TRACE_ODD_FAR,
                           "%.*s is %lld days later than the others; shown from 0",
                           SB_SHOWN(s->name), (long long)(ahead / INT64_C(86400000000000)));
        if (of[i].any && of[i].last + by[i] > t->duration) t->duration = of[i].last + by[i];
    }
}

static bool align_sources(sb_trace *t) {
    size_t n = t->sources.n + 1;
    extent *of = sb_alloc_zeroed(t->alloc, n, sizeof *of);
    int64_t *by = of ? sb_alloc_zeroed(t->alloc, n, sizeof *by) : NULL;
    if (by) {
        find_extents(t, of);
        find_moves(t, of, by);
        sb_move_sources(t, by);
    }
    sb_alloc_put(t->alloc, by, n * sizeof *by);
    sb_alloc_put(t->alloc, of, n * sizeof *of);
    return by != NULL;
}

/* Everything is read, but a large trace takes seconds more. */
static sb_status ask_whether_to_go_on(sb_trace *t, sb_err *err) {
    return sb_build_progress(t, 0) ? SB_OK : sb_fail(err, SB_CANCELLED, 0, "not wanted any more");
}

sb_status sb_trace_finish(sb_trace *t, sb_err *err) {
    if (!align_sources(t)) return sb_fail_nomem(err, "for a trace");
    sb_status status = sb_order_tracks(t, err);
    if (status == SB_OK) status = ask_whether_to_go_on(t, err);
    if (status == SB_OK) status = sb_join_flows(t, err);
    if (status == SB_OK) sb_join_memory(t);
    if (status == SB_OK) status = ask_whether_to_go_on(t, err);
    if (status == SB_OK && !sb_align_clocks(t)) status = sb_fail_nomem(err, "for a trace");
    t->span_count = 0;
    for (size_t i = 0; i < t->tracks.n; i++) t->span_count += t->tracks.items[i].spans.n;
    free_build(t);
    return status;
}
