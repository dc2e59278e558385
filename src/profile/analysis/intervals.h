/* intervals.h: sets of times as lists of intervals, in order of time; no two of them overlap or
 * touch, except in a list that is still to be merged. */
#ifndef SB_PROFILE_ANALYSIS_INTERVALS_H
#define SB_PROFILE_ANALYSIS_INTERVALS_H

#include <stdbool.h>

#include "base/arena.h"

typedef struct sb_interval {
    int64_t start, end;
} sb_interval;

typedef struct sb_intervals {
    sb_interval *items;
    size_t n;
} sb_intervals;

/* Sorts a list in place and joins what overlaps. Cost: n log r for a list of r ascending runs;
 * spans of a trace come lane by lane, so there are few. `alloc` gives scratch memory. false: no
 * memory; the list is then undefined. */
bool sb_intervals_merge(sb_intervals *list, const sb_alloc *alloc);

/* The times of `from` that are not in `without`; where that is all of them, they share their items.
 * false: no memory. */
bool sb_intervals_subtract(sb_intervals *out, const sb_intervals *from, const sb_intervals *without,
                           sb_arena *arena);

/* Adds the times of `more` to `into`, which shares its items if it had none. false: no memory. */
bool sb_intervals_unite(sb_intervals *into, const sb_intervals *more, sb_arena *arena);

/* How much time of the intervals is inside a window. */
int64_t sb_intervals_inside(const sb_intervals *of, int64_t from, int64_t to);

#endif
