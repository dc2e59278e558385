/* finish.c: sorts the spans of each track by time, gives each one its lane, and builds the index
 * over them.
 *
 * A span goes into the first lane below all spans that are still running when it begins. For spans
 * that nest, this is the nesting depth. A span that crosses another one gets a lane below, so both
 * are drawn in full length. Where spans cross in a chain, such as kernels of a stream that each
 * begin before the last one has ended, or steps of torch with stacks, they take turns in the lanes
 * below what encloses them: else each would be a lane further down. */
#include <math.h>
#include <stdlib.h>

#include "base/checked.h"
#include "base/search.h"
#include "profile/trace/build.h"
#include "base/banned.h"

/* Orders spans by start; of spans with the same start the longest comes first. */
static int compare_spans(const void *a, const void *b) {
    const sb_trace_span *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->dur != y->dur) return x->dur > y->dur ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static bool is_sorted(const sb_track *k) {
    for (size_t i = 1; i < k->spans.n; i++)
        if (compare_spans(&k->spans.items[i - 1], &k->spans.items[i]) > 0) return false;
    return true;
}

/* Does the span make its track busy? On a stream only work of the device does, not the annotations
 * of the host that torch draws around it, and not waiting. Nor does a marker of a stretch of
 * time. */
static bool is_busy(const sb_track *k, const sb_trace_span *s) {
    if (s->kind == SB_SPAN_MARKER) return false;
    return k->kind != SB_TRACK_STREAM || s->kind == SB_SPAN_KERNEL || s->kind == SB_SPAN_COPY ||
           s->kind == SB_SPAN_COMM || s->kind == SB_SPAN_XLA_OP;
}

static void count_busy(sb_track *k, const sb_trace_span *s, int64_t *until) {
    int64_t end = sb_span_end(s), from = s->start > *until ? s->start : *until;
    if (!is_busy(k, s) || end <= from) return;
    sb_sum(&k->busy, end - from);
    *until = end;
}

/* The lane of a span that crosses the one above: the first in which nothing runs any more, below
 * the spans that enclose it. */
static uint32_t lane_of_crossing(const int64_t *ends, uint32_t open, const sb_trace_span *s) {
    uint32_t found = open;
    for (uint32_t lane = open; lane > 0 && ends[lane - 1] < sb_span_end(s); lane--)
        if (ends[lane - 1] <= s->start) found = lane - 1;
    return found;
}

/* Gives every span its lane, and answers how many lanes there are. */
static uint32_t give_lanes(sb_trace *t, sb_track *k) {
    int64_t ends[SB_TRACE_MOST_LANES];
    uint32_t open = 0, most = 0; /* spans may still run in the lanes 0 to open - 1 */
    size_t kept = 0;
    int64_t busy_until = INT64_MIN;
    for (size_t i = 0; i < k->spans.n; i++) {
        sb_trace_span s = k->spans.items[i];
        count_busy(k, &s, &busy_until);
        while (open && ends[open - 1] <= s.start) open--;
        int64_t end = sb_span_end(&s);
        bool is_crossing = open && ends[open - 1] < end && s.dur;
        uint32_t lane = is_crossing ? lane_of_crossing(ends, open, &s) : open;
        if (lane == SB_TRACE_MOST_LANES) {
            sb_trace_note(t, SB_TRACE_ODD_DEEP, 1, sb_trace_name(t, s.name));
            continue;
        }
        if (is_crossing) sb_trace_note(t, SB_TRACE_ODD_CROSSING, 1, sb_trace_name(t, s.name));
        s.lane = lane & 0xfff;
        if (s.dur == 0)
            k->instants++;
        else
            ends[lane] = end;
        if (s.dur && lane == open) open++;
        if (s.lane + 1u > most) most = (uint32_t)s.lane + 1u;
        k->spans.items[kept++] = s;
    }
    k->spans.n = kept;
    return most;
}

/* Orders the spans by lane. Within a lane they stay in order of time. */
static bool order_lanes(sb_trace *t, sb_track *k, uint32_t lanes) {
    size_t n = k->spans.n;
    k->lanes = sb_alloc_zeroed(t->alloc, (size_t)lanes + 1, sizeof *k->lanes);
    if (!k->lanes) return false;
    k->lane_count = lanes;
    for (size_t i = 0; i < n; i++) k->lanes[k->spans.items[i].lane + 1u]++;
    for (uint32_t i = 0; i < lanes; i++) k->lanes[i + 1] += k->lanes[i];
    sb_trace_span *sorted = sb_alloc_get(t->alloc, n * sizeof *sorted);
    uint32_t *next = sb_alloc_get(t->alloc, (size_t)lanes * sizeof *next);
    if (sorted && next) {
        memcpy(next, k->lanes, (size_t)lanes * sizeof *next);
        for (size_t i = 0; i < n; i++) sorted[next[k->spans.items[i].lane]++] = k->spans.items[i];
        sb_alloc_put(t->alloc, k->spans.items, k->spans.room * sizeof *sorted);
        k->spans.items = sorted;
        k->spans.room = n;
    } else {
        sb_alloc_put(t->alloc, sorted, n * sizeof *sorted);
    }
    sb_alloc_put(t->alloc, next, (size_t)lanes * sizeof *next);
    return sorted && next;
}

static bool index_spans(sb_trace *t, sb_track *k) {
    size_t n = k->spans.n;
    int64_t busy = 0;
    k->blocks = sb_alloc_zeroed(t->alloc, n / 64 + 1, sizeof *k->blocks);
    if (!k->blocks) return false;
    for (size_t i = 0; i < n; i++) {
        sb_span_block *b = &k->blocks[i / 64];
        const sb_trace_span *s = &k->spans.items[i];
        if (i % 64 == 0) *b = (sb_span_block){busy, (uint32_t)i};
        if (s->dur > k->spans.items[b->longest].dur) b->longest = (uint32_t)i;
        sb_sum(&busy, s->dur);
        if (i == 0 || s->start < k->first) k->first = s->start;
        if (i == 0 || sb_span_end(s) > k->last) k->last = sb_span_end(s);
    }
    if (n % 64 == 0) k->blocks[n / 64] = (sb_span_block){busy, n ? (uint32_t)n - 1 : 0};
    return true;
}

static int compare_points(const void *a, const void *b) {
    const sb_count_point *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

static bool index_points(sb_trace *t, sb_track *k) {
    size_t n = k->points.n;
    k->count_blocks = sb_alloc_zeroed(t->alloc, n / 64 + 1, sizeof *k->count_blocks);
    if (!k->count_blocks) return false;
    for (size_t i = 1; i < n; i++)
        if (k->points.items[i].time < k->points.items[i - 1].time) {
            qsort(k->points.items, n, sizeof k->points.items[0], compare_points);
            break;
        }
    k->least = INFINITY;
    k->greatest = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        double x = k->points.items[i].value;
        sb_count_block *b = &k->count_blocks[i / 64];
        if (i % 64 == 0) *b = (sb_count_block){INFINITY, -INFINITY};
        if (x < b->least) b->least = x;
        if (x > b->greatest) b->greatest = x;
        if (x < k->least) k->least = x;
        if (x > k->greatest) k->greatest = x;
    }
    int64_t first = k->points.items[0].time, last = k->points.items[n - 1].time;
    if (k->spans.n == 0 || first < k->first) k->first = first;
    if (k->spans.n == 0 || last > k->last) k->last = last;
    return true;
}

static bool finish_track(sb_trace *t, sb_track *k) {
    if (k->spans.n && !is_sorted(k))
        qsort(k->spans.items, k->spans.n, sizeof k->spans.items[0], compare_spans);
    uint32_t lanes = k->spans.n ? give_lanes(t, k) : 0;
    if (k->spans.n && (!order_lanes(t, k, lanes) || !index_spans(t, k))) return false;
    return k->points.n == 0 || index_points(t, k);
}

sb_status sb_finish_tracks(sb_trace *t, uint32_t first, sb_err *err) {
    for (size_t i = first; i < t->tracks.n; i++)
        if (!finish_track(t, &t->tracks.items[i])) return sb_fail_nomem(err, "for a trace");
    return SB_OK;
}

/* ---- neighbours ------------------------------------------------------------------------------ */

uint32_t sb_track_parent(const sb_track *k, uint32_t index) {
    const sb_trace_span *s = &k->spans.items[index];
    for (uint32_t lane = k->is_mixed ? 0 : (uint32_t)s->lane; lane-- > 0;) {
        uint32_t i;
        SB_PARTITION_POINT(i, k->lanes[lane], k->lanes[lane + 1],
                           k->spans.items[i].start <= s->start);
        if (i == k->lanes[lane]) continue;
        const sb_trace_span *p = &k->spans.items[i - 1];
        if (p->dur && sb_span_end(p) >= sb_span_end(s)) return i - 1;
    }
    return SB_NO_INDEX;
}

uint32_t sb_track_at(const sb_track *k, int64_t time) {
    for (uint32_t lane = k->lane_count; lane-- > 0;) {
        uint32_t i;
        SB_PARTITION_POINT(i, k->lanes[lane], k->lanes[lane + 1], k->spans.items[i].start <= time);
        if (i == k->lanes[lane]) continue;
        const sb_trace_span *s = &k->spans.items[i - 1];
        if (sb_span_end(s) > time || s->start == time) return i - 1;
    }
    return SB_NO_INDEX;
}

int64_t sb_track_self(const sb_track *k, uint32_t index, uint32_t *children) {
    const sb_trace_span *s = &k->spans.items[index];
    int64_t self = s->dur, end = sb_span_end(s);
    uint32_t lane = (uint32_t)s->lane + 1, i, n = 0;
    if (lane < k->lane_count && s->dur && !k->is_mixed) {
        SB_PARTITION_POINT(i, k->lanes[lane], k->lanes[lane + 1],
                           k->spans.items[i].start < s->start &&
                               sb_span_end(&k->spans.items[i]) <= s->start);
        for (; i < k->lanes[lane + 1] && k->spans.items[i].start < end; i++, n++) {
            const sb_trace_span *c = &k->spans.items[i];
            int64_t from = c->start > s->start ? c->start : s->start;
            int64_t to = sb_span_end(c) < end ? sb_span_end(c) : end;
            if (to > from) sb_sum(&self, -(to - from));
        }
    }
    if (children) *children = n;
    return self > 0 ? self : 0;
}
