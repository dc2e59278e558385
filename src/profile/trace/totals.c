/* totals.c: sums over a range of time. */
#include "profile/trace/totals.h"

#include "base/checked.h"
#include "base/search.h"
#include "base/banned.h"

int64_t sb_total_bin_edge(uint32_t i) {
    static const int64_t edges[SB_TOTAL_BINS] = {
        0,         1000000,    3000000,    10000000,    30000000,     100000000,
        300000000, 1000000000, 3000000000, 10000000000, 100000000000, 1000000000000};
    return edges[i];
}

static uint32_t bin_of(int64_t dur) {
    uint32_t i = 1;
    while (i < SB_TOTAL_BINS && dur >= sb_total_bin_edge(i)) i++;
    return i - 1;
}

typedef struct summing {
    const sb_trace *t;
    const sb_totals_ask *ask;
    sb_total *all; /* indexed by id */
    const uint8_t *marks;
    uint64_t spans;
    int64_t total;
} summing;

static sb_total *total_of(summing *s, uint32_t track, const sb_trace_span *span) {
    switch (s->ask->by) {
    case SB_BY_KIND:
        return &s->all[span->kind];
    case SB_BY_TRACK:
        return &s->all[track];
    case SB_BY_GROUP:
        return &s->all[s->t->tracks.items[track].group];
    default:
        return &s->all[span->name];
    }
}

static int64_t clipped(const sb_trace_span *s, int64_t from, int64_t to) {
    int64_t start = s->start > from ? s->start : from;
    int64_t end = sb_span_end(s) < to ? sb_span_end(s) : to;
    return end > start ? end - start : 0;
}

/* Sums up one lane. The spans of the lane below are the children, whose time is not self time. */
static void sum_lane(summing *s, uint32_t track, uint32_t lane) {
    const sb_track *k = &s->t->tracks.items[track];
    int64_t from = s->ask->from, to = s->ask->to;
    uint32_t end = k->lanes[lane + 1], i, child = 0, child_end = 0;
    SB_PARTITION_POINT(i, k->lanes[lane], end, sb_span_end(&k->spans.items[i]) < from);
    if (lane + 1 < k->lane_count && !k->is_mixed) {
        child_end = k->lanes[lane + 2];
        SB_PARTITION_POINT(child, end, child_end, sb_span_end(&k->spans.items[child]) < from);
    }
    for (; i < end && k->spans.items[i].start < to; i++) {
        const sb_trace_span *span = &k->spans.items[i];
        int64_t dur = clipped(span, from, to), below = 0, span_end = sb_span_end(span);
        if (dur == 0 && span->dur) continue;
        while (child < child_end && sb_span_end(&k->spans.items[child]) <= span->start &&
               k->spans.items[child].start < span->start)
            child++;
        for (uint32_t c = child; c < child_end && k->spans.items[c].start < span_end; c++) {
            int64_t a = span->start > from ? span->start : from;
            int64_t b = span_end < to ? span_end : to;
            sb_sum(&below, clipped(&k->spans.items[c], a, b));
        }
        if (s->marks && !s->marks[span->name]) continue;
        sb_total *t = total_of(s, track, span);
        if (t->count++ == 0 || span->dur < t->least) t->least = span->dur;
        if (span->dur > t->greatest) t->greatest = span->dur;
        t->kind = (uint8_t)span->kind;
        sb_sum(&t->total, dur);
        sb_sum(&t->self, dur > below ? dur - below : 0);
        t->bins[bin_of(span->dur)]++;
        s->spans++;
        if (lane == 0) sb_sum(&s->total, dur);
    }
}

sb_status sb_trace_totals(const sb_trace *t, const sb_totals_ask *ask, sb_totals *out,
                          sb_arena *arena, sb_err *err) {
    size_t ids = ask->by == SB_BY_NAME    ? t->names.count
                 : ask->by == SB_BY_KIND  ? SB_SPAN_KIND_COUNT
                 : ask->by == SB_BY_TRACK ? t->tracks.n
                                          : t->groups.n;
    summing s = {.t = t, .ask = ask};
    *out = (sb_totals){0};
    s.all = sb_arena_zeroed(arena, ids + 1, sizeof *s.all);
    if (ask->find.n) s.marks = sb_trace_match_names(t, ask->find, arena);
    if (!s.all || (ask->find.n && !s.marks)) return sb_fail_nomem(err, "for sums");
    for (size_t i = 0; i < ask->track_count; i++) {
        uint32_t track = ask->tracks[i];
        if (track >= t->tracks.n) continue;
        for (uint32_t lane = 0; lane < t->tracks.items[track].lane_count; lane++) {
            if (ask->is_expired && ask->is_expired(ask->ud)) return SB_TIMEOUT;
            sum_lane(&s, track, lane);
        }
    }
    out->items = s.all;
    for (size_t i = 0; i < ids; i++) {
        if (!s.all[i].count) continue;
        out->items[out->n] = s.all[i];
        out->items[out->n++].id = (uint32_t)i;
    }
    out->spans = s.spans;
    out->total = s.total;
    return SB_OK;
}
