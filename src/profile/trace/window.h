/* window.h: what a time window of a track looks like at a number of pixels. The cost depends on
 * the pixels, not on the spans, and no span is left out. */
#ifndef SB_PROFILE_WINDOW_H
#define SB_PROFILE_WINDOW_H

#include "profile/trace/trace.h"

typedef struct sb_rect {
    int64_t start, dur;
    uint32_t name, index; /* of a rectangle that stands for several spans: those of the longest */
    uint32_t count;
    uint16_t lane;
    uint8_t kind;
    float busy; /* share of its time in which a span runs */
} sb_rect;

typedef struct sb_window {
    int64_t from, to;
    uint32_t pixels;
} sb_window;

typedef SB_VEC(sb_rect) sb_rects;

/* Appends the rectangles of a window, ordered by lane, then by start. Spans that are narrower than
 * a pixel and start in the same pixel of a lane become one rectangle. *spans is the number of
 * spans that all rectangles stand for. false: no memory. */
bool sb_window_rects(const sb_track *k, const sb_window *w, sb_rects *out, const sb_alloc *alloc,
                     uint64_t *spans);

typedef struct sb_count_bar {
    int64_t time;
    double least, greatest, last;
} sb_count_bar;

typedef SB_VEC(sb_count_bar) sb_count_bars;

/* The bars of a counter: one for each pixel in which the value changes. The first one is the value
 * at `from`. */
bool sb_window_counts(const sb_track *k, const sb_window *w, sb_count_bars *out,
                      const sb_alloc *alloc, uint64_t *points);

#endif
