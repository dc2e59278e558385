/* window.c: makes the rectangles and bars that a window shows. */
#include "profile/trace/window.h"
#include "base/checked.h"

#include <math.h>

#include "base/search.h"
#include "base/banned.h"

/* The first span of [i, end) that starts at or after `time`. It is often near, so the search is
 * galloping: steps that double, then binary search. */
static uint32_t first_from(const sb_track *k, uint32_t i, uint32_t end, int64_t time) {
    uint32_t step = 1, low = i, high;
    while (i + step < end && k->spans.items[i + step].start < time) {
        low = i + step;
        step *= 2;
        if (step > end - i) break;
    }
    high = step < end - i ? i + step : end;
    uint32_t at;
    SB_PARTITION_POINT(at, low, high, k->spans.items[at].start < time);
    return at;
}

static int64_t busy_before(const sb_track *k, uint32_t i) {
    int64_t busy = k->blocks[i / 64].busy_before;
    for (uint32_t n = i / 64 * 64; n < i; n++) sb_sum(&busy, k->spans.items[n].dur);
    return busy;
}

static uint32_t longest_of(const sb_track *k, uint32_t i, uint32_t end) {
    uint32_t best = i;
    while (i < end) {
        uint32_t n = i;
        if (i % 64 == 0 && end - i >= 64) {
            n = k->blocks[i / 64].longest;
            i += 64;
        } else {
            i++;
        }
        if (k->spans.items[n].dur > k->spans.items[best].dur) best = n;
    }
    return best;
}

static bool add_lane(const sb_track *k, uint32_t lane, const sb_window *w, double pixel,
                     sb_rects *out, const sb_alloc *alloc, uint64_t *spans) {
    uint32_t end = k->lanes[lane + 1], i;
    SB_PARTITION_POINT(i, k->lanes[lane], end, sb_span_end(&k->spans.items[i]) < w->from);
    while (i < end && k->spans.items[i].start <= w->to) {
        const sb_trace_span *s = &k->spans.items[i];
        uint32_t next = i + 1;
        if ((double)s->dur < pixel) {
            int64_t from = s->start > w->from ? s->start - w->from : 0;
            double edge = (floor((double)from / pixel) + 1) * pixel;
            next = first_from(k, i, end, w->from + (int64_t)ceil(edge));
            if (next == i) next = i + 1;
            if (next > i + 1 && (double)k->spans.items[next - 1].dur >= pixel) next--;
        }
        sb_rect *r = SB_VEC_PUSH(out, alloc, SIZE_MAX);
        if (!r) return false;
        uint32_t shown = next == i + 1 ? i : longest_of(k, i, next);
        int64_t span = sb_span_end(&k->spans.items[next - 1]) - s->start;
        *r = (sb_rect){.start = s->start,
                       .dur = span,
                       .name = k->spans.items[shown].name,
                       .index = shown,
                       .count = next - i,
                       .lane = (uint16_t)lane,
                       .kind = (uint8_t)k->spans.items[shown].kind,
                       .busy = 1};
        if (next > i + 1)
            r->busy =
                span ? (float)((double)(busy_before(k, next) - busy_before(k, i)) / (double)span)
                     : 0;
        *spans += next - i;
        i = next;
    }
    return true;
}

bool sb_window_rects(const sb_track *k, const sb_window *w, sb_rects *out, const sb_alloc *alloc,
                     uint64_t *spans) {
    double pixel = (double)(w->to - w->from) / (w->pixels ? w->pixels : 1);
    if (!(pixel >= 1)) pixel = 1;
    *spans = 0;
    for (uint32_t lane = 0; lane < k->lane_count; lane++)
        if (!add_lane(k, lane, w, pixel, out, alloc, spans)) return false;
    return true;
}

/* ---- counters -------------------------------------------------------------------------------- */

static void add_range(const sb_track *k, size_t i, size_t end, sb_count_bar *bar) {
    while (i < end) {
        if (i % 64 == 0 && end - i >= 64) {
            const sb_count_block *b = &k->count_blocks[i / 64];
            if (b->least < bar->least) bar->least = b->least;
            if (b->greatest > bar->greatest) bar->greatest = b->greatest;
            i += 64;
        } else {
            double x = k->points.items[i++].value;
            if (x < bar->least) bar->least = x;
            if (x > bar->greatest) bar->greatest = x;
        }
    }
}

bool sb_window_counts(const sb_track *k, const sb_window *w, sb_count_bars *out,
                      const sb_alloc *alloc, uint64_t *points) {
    double pixel = (double)(w->to - w->from) / (w->pixels ? w->pixels : 1);
    size_t n = k->points.n, i;
    if (!(pixel >= 1)) pixel = 1;
    *points = 0;
    SB_PARTITION_POINT(i, 0, n, k->points.items[i].time <= w->from);
    if (i) {
        sb_count_bar *b = SB_VEC_PUSH(out, alloc, SIZE_MAX);
        double x = k->points.items[i - 1].value;
        if (!b) return false;
        *b = (sb_count_bar){w->from, x, x, x};
    }
    while (i < n && k->points.items[i].time <= w->to) {
        int64_t since = k->points.items[i].time - w->from;
        double edge = (floor((double)since / pixel) + 1) * pixel;
        int64_t until = w->from + (int64_t)ceil(edge);
        size_t next;
        SB_PARTITION_POINT(next, i, n, k->points.items[next].time < until);
        if (next == i) next = i + 1;
        sb_count_bar *b = SB_VEC_PUSH(out, alloc, SIZE_MAX);
        if (!b) return false;
        *b = (sb_count_bar){k->points.items[i].time, INFINITY, -INFINITY,
                            k->points.items[next - 1].value};
        add_range(k, i, next, b);
        *points += next - i;
        i = next;
    }
    return true;
}
