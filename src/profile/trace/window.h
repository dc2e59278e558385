/* window.h: what a window of a track looks like at so many pixels: work proportional to the pixels,
 * nothing left out. */
#ifndef SB_PROFILE_WINDOW_H
#define SB_PROFILE_WINDOW_H

#include "profile/trace/trace.h"

typedef struct sb_rect {
    int64_t start, dur;
    uint32_t name, index; /* of several: the longest */
    uint32_t count;
    uint16_t lane;
    uint8_t kind;
    float busy; /* share of its time in which something runs */
} sb_rect;

typedef struct sb_window {
    int64_t from, to;
    uint32_t pixels;
} sb_window;

typedef SB_VEC(sb_rect) sb_rects;

/* Spans narrower than a pixel that start in the same pixel of a lane become one rectangle. Appends
 * in order of lane, then start; *spans: how many they stand for. false: no memory. */
bool sb_window_rects(const sb_track *k, const sb_window *w, sb_rects *out, const sb_alloc *alloc,
                     uint64_t *spans);

typedef struct sb_count_bar {
    int64_t time;
    double least, greatest, last;
} sb_count_bar;

typedef SB_VEC(sb_count_bar) sb_count_bars;

/* A counter, one bar a pixel in which it changes; the first is the value that holds at `from`. */
bool sb_window_counts(const sb_track *k, const sb_window *w, sb_count_bars *out,
                      const sb_alloc *alloc, uint64_t *points);

#endif
