/* intervals.c: sorting, joining and subtracting sets of times. */
#include "profile/analysis/intervals.h"

#include <string.h>

#include "base/search.h"
#include "base/banned.h"

/* Appends an interval to an ascending run that begins at index `first`, or joins it to the last
 * one of the run. */
static void append(sb_intervals *out, size_t first, sb_interval next) {
    if (out->n > first && next.start <= out->items[out->n - 1].end) {
        if (next.end > out->items[out->n - 1].end) out->items[out->n - 1].end = next.end;
    } else {
        out->items[out->n++] = next;
    }
}

/* The end of the ascending run that begins at index i. */
static size_t run_end(const sb_intervals *list, size_t i) {
    if (i == list->n) return i;
    while (++i < list->n && list->items[i].start >= list->items[i - 1].start) continue;
    return i;
}

/* Merges each two neighbouring runs of `from` into one run of `out`. */
static void merge_pairs(const sb_intervals *from, sb_intervals *out) {
    out->n = 0;
    for (size_t i = 0; i < from->n;) {
        size_t middle = run_end(from, i), end = run_end(from, middle), k = middle, first = out->n;
        while (i < middle || k < end) {
            bool takes_left =
                k == end || (i < middle && from->items[i].start <= from->items[k].start);
            append(out, first, takes_left ? from->items[i++] : from->items[k++]);
        }
        i = end;
    }
}

/* Joins what overlaps in a sorted list. */
static void join(sb_intervals *list) {
    sb_intervals joined = {list->items, 0};
    for (size_t i = 0; i < list->n; i++) append(&joined, 0, list->items[i]);
    list->n = joined.n;
}

bool sb_intervals_merge(sb_intervals *list, const sb_alloc *alloc) {
    size_t n = list->n;
    if (run_end(list, 0) < n) {
        sb_intervals scratch = {sb_alloc_get(alloc, n * sizeof *scratch.items), 0};
        sb_intervals *from = list, *to = &scratch;
        if (!scratch.items) return false;
        while (run_end(from, 0) < from->n) {
            merge_pairs(from, to);
            sb_intervals *sorted = to;
            to = from;
            from = sorted;
        }
        if (from != list) {
            memcpy(list->items, scratch.items, scratch.n * sizeof *scratch.items);
            list->n = scratch.n;
        }
        sb_alloc_put(alloc, scratch.items, n * sizeof *scratch.items);
    }
    join(list);
    return true;
}

bool sb_intervals_subtract(sb_intervals *out, const sb_intervals *from, const sb_intervals *without,
                           sb_arena *arena) {
    /* these are read only: what stays as it is needs no copy */
    if (from->n == 0 || without->n == 0) {
        *out = *from;
        return true;
    }
    out->items = sb_arena_get(arena, (from->n + without->n + 1) * sizeof *out->items);
    out->n = 0;
    if (!out->items) return false;
    size_t k = 0;
    for (size_t i = 0; i < from->n; i++) {
        int64_t start = from->items[i].start, end = from->items[i].end;
        while (k < without->n && without->items[k].end <= start) k++;
        for (size_t n = k; n < without->n && without->items[n].start < end && start < end; n++) {
            if (without->items[n].start > start)
                out->items[out->n++] = (sb_interval){start, without->items[n].start};
            if (without->items[n].end > start) start = without->items[n].end;
        }
        if (start < end) out->items[out->n++] = (sb_interval){start, end};
    }
    return true;
}

bool sb_intervals_unite(sb_intervals *into, const sb_intervals *more, sb_arena *arena) {
    if (more->n == 0) return true;
    if (into->n == 0) {
        *into = *more;
        return true;
    }
    sb_intervals both = {sb_arena_get(arena, (into->n + more->n + 1) * sizeof *both.items), 0};
    size_t i = 0, k = 0;
    if (!both.items) return false;
    while (i < into->n || k < more->n) {
        bool takes_first =
            k == more->n || (i < into->n && into->items[i].start <= more->items[k].start);
        append(&both, 0, takes_first ? into->items[i++] : more->items[k++]);
    }
    *into = both;
    return true;
}

int64_t sb_intervals_inside(const sb_intervals *of, int64_t from, int64_t to) {
    size_t i;
    int64_t sum = 0;
    SB_PARTITION_POINT(i, 0, of->n, of->items[i].end <= from);
    for (; i < of->n && of->items[i].start < to; i++) {
        int64_t a = of->items[i].start > from ? of->items[i].start : from;
        int64_t b = of->items[i].end < to ? of->items[i].end : to;
        sum += b - a;
    }
    return sum;
}
