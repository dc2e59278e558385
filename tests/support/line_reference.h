/* line_reference.h: decimation the plain way, to compare the fast one with: every point is decoded
 * and looked at. All inline, so that a fuzz target needs no library. */
#ifndef SB_TESTS_SUPPORT_LINE_REFERENCE_H
#define SB_TESTS_SUPPORT_LINE_REFERENCE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query/lines/decimate.h"

/* Asks for all points. */
#define SB_ASK_ALL ((sb_scalar_ask){.from = NAN, .to = NAN})

typedef struct sb_reference_point {
    int64_t step;
    double wall, value, smoothed;
    size_t part;
    bool superseded;
} sb_reference_point;

typedef struct sb_reference_line {
    sb_reference_point *points;
    size_t n;
} sb_reference_line;

/* All points of a line's snapshot by place; superseded ones are there in any case. */
static inline sb_reference_line sb_reference_of(const sb_line *line) {
    sb_reference_line plain = {
        .points = malloc((size_t)(line->series->points + 1) * sizeof *plain.points)};
    sb_scalar_walk walk = sb_scalars_of(line->series, false);
    sb_points *block = malloc(sizeof *block);
    size_t n, part;
    while ((n = sb_scalars_next(&walk, block, &part)))
        for (size_t i = 0; i < n; i++, plain.n++)
            plain.points[plain.n] = (sb_reference_point){
                .step = block->steps[i],
                .wall = block->walls[i],
                .value = block->values[i],
                .smoothed = line->smoothed ? line->smoothed->values[plain.n] : 0,
                .part = part,
                .superseded = line->series->parts[part].cut_step != SB_NO_CUT &&
                              block->steps[i] >= line->series->parts[part].cut_step};
    free(block);
    return plain;
}

static inline double sb_reference_x(const sb_reference_point *p, sb_axis axis, double base) {
    return (sb_axis_counts_steps(axis) ? (double)p->step : p->wall) - base;
}

typedef struct sb_reference_kept {
    size_t at; /* in the line's points */
    uint8_t flags;
} sb_reference_kept;

typedef struct sb_reference_answer {
    sb_reference_kept *kept;
    size_t n;
    uint64_t in_range, without_x;
    sb_not_finite not_finite;
} sb_reference_answer;

static inline void sb_reference_keep(sb_reference_answer *a, size_t from, size_t at,
                                     uint8_t flags) {
    for (size_t i = from; i < a->n; i++)
        if (a->kept[i].at == at) {
            a->kept[i].flags |= flags;
            return;
        }
    a->kept[a->n++] = (sb_reference_kept){at, flags};
}

static inline int sb_reference_by_place(const void *a, const void *b) {
    const sb_reference_kept *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* The extreme of the finite ones among group[0..n); -1: there is none. */
static inline long sb_reference_extreme(const sb_reference_line *line, const size_t *group,
                                        size_t n, bool smoothed, bool greatest) {
    long best = -1;
    for (size_t i = 0; i < n; i++) {
        const sb_reference_point *p = &line->points[group[i]];
        double x = smoothed ? p->smoothed : p->value;
        if (!isfinite(x)) continue;
        if (best < 0) {
            best = (long)group[i];
            continue;
        }
        const sb_reference_point *b = &line->points[best];
        double y = smoothed ? b->smoothed : b->value;
        if (greatest ? x > y : x < y) best = (long)group[i];
    }
    return best;
}

static inline void sb_reference_group(const sb_reference_line *line, const size_t *group, size_t n,
                                      bool smoothed, sb_reference_answer *a) {
    size_t from = a->n;
    bool seen[3] = {false, false, false};
    sb_reference_keep(a, from, group[0], 0);
    sb_reference_keep(a, from, group[n - 1], 0);
    long least = sb_reference_extreme(line, group, n, false, false);
    long greatest = sb_reference_extreme(line, group, n, false, true);
    if (least >= 0) sb_reference_keep(a, from, (size_t)least, SB_POINT_LEAST);
    if (greatest >= 0) sb_reference_keep(a, from, (size_t)greatest, SB_POINT_GREATEST);
    if (smoothed) {
        least = sb_reference_extreme(line, group, n, true, false);
        greatest = sb_reference_extreme(line, group, n, true, true);
        if (least >= 0) sb_reference_keep(a, from, (size_t)least, 0);
        if (greatest >= 0) sb_reference_keep(a, from, (size_t)greatest, 0);
    }
    a->in_range += n;
    for (size_t i = 0; i < n; i++) {
        double x = line->points[group[i]].value;
        if (isfinite(x)) continue;
        a->not_finite.nan += isnan(x) != 0;
        a->not_finite.plus += x > 0;
        a->not_finite.minus += x < 0;
        int kind = isnan(x) ? 0 : x > 0 ? 1 : 2;
        if (!seen[kind]) sb_reference_keep(a, from, group[i], 0);
        seen[kind] = true;
    }
    qsort(a->kept + from, a->n - from, sizeof *a->kept, sb_reference_by_place);
}

/* from and to as the answer under test says it used them. */
static inline sb_reference_answer sb_reference_decimate(const sb_reference_line *plain,
                                                        const sb_line *line, sb_axis axis,
                                                        double base, double from, double to,
                                                        uint32_t pixels, double near) {
    sb_reference_answer a = {.kept = malloc((plain->n + 1) * sizeof *a.kept)};
    size_t *group = malloc((plain->n + 1) * sizeof *group);
    sb_scale scale = sb_scale_of(from, to, pixels, near);
    size_t n = 0;
    int32_t column = 0;
    bool had_group = false;
    for (size_t i = 0; i <= plain->n; i++) {
        const sb_reference_point *p = &plain->points[i];
        int32_t here = 0;
        if (i < plain->n) {
            if (p->superseded && !line->show_superseded) continue;
            double x = sb_reference_x(p, axis, base);
            if (!isfinite(x)) {
                a.without_x++;
                continue;
            }
            here = sb_scale_column(&scale, x);
        }
        const sb_reference_point *last = n ? &plain->points[group[n - 1]] : NULL;
        bool ends = n && (i == plain->n || here != column || last->superseded != p->superseded ||
                          (line->show_superseded && last->part != p->part));
        if (ends) {
            bool inside = column >= 0 && column < (int32_t)pixels;
            if (inside) sb_reference_group(plain, group, n, line->smoothed != NULL, &a);
            size_t start = a.n;
            if (!inside && had_group) sb_reference_keep(&a, start, group[0], 0);
            if (!inside && i < plain->n) sb_reference_keep(&a, start, group[n - 1], 0);
            had_group = true;
            n = 0;
        }
        if (i == plain->n) break;
        column = here;
        group[n++] = i;
    }
    free(group);
    for (size_t i = 0; i < a.n; i++) {
        const sb_reference_point *p = &plain->points[a.kept[i].at];
        if (p->superseded) a.kept[i].flags |= SB_POINT_SUPERSEDED;
        if (!isfinite(p->value)) a.kept[i].flags |= SB_POINT_NOT_FINITE;
    }
    return a;
}

static inline bool sb_reference_same_bits(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

/* Are the columns those points? The answer is the first index that differs, or -1. */
static inline long sb_reference_differs(const sb_reference_line *plain,
                                        const sb_reference_answer *a, const sb_columns *c) {
    for (size_t i = 0; i < a->n && i < c->n; i++) {
        const sb_reference_point *p = &plain->points[a->kept[i].at];
        bool same = p->step == c->steps[i] && sb_reference_same_bits(p->wall, c->walls[i]) &&
                    sb_reference_same_bits(p->value, c->values[i]) &&
                    a->kept[i].flags == c->flags[i] &&
                    (!c->smoothed || sb_reference_same_bits(p->smoothed, c->smoothed[i]));
        if (!same) return (long)i;
    }
    return a->n == c->n ? -1 : (long)(a->n < c->n ? a->n : c->n);
}

#endif
