/* histogram_steps.c: picking the points of a picture, and reading them twice. */
#include "query/kinds/histogram_steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "query/records/value.h"
#include "base/banned.h"

/* ---- picking --------------------------------------------------------------------------------- */

typedef struct placed {
    double x;
    size_t at; /* in the order of the log */
    sb_ref_item item;
} placed;

static int by_x_and_place(const void *a, const void *b) {
    const placed *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return (p->at > q->at) - (p->at < q->at);
}

/* A wall time may be anything; what is no number comes first. */
static double x_of(const sb_ref_item *item, sb_axis axis, double first_wall) {
    if (axis == SB_AXIS_STEP) return (double)item->step;
    double x = axis == SB_AXIS_RELATIVE ? item->wall - first_wall : item->wall;
    return isnan(x) ? -INFINITY : x;
}

static bool is_rising(const placed *all, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (all[i].x < all[i - 1].x) return false;
    return true;
}

/* The least k of 1, 2, 3, 4, 6, 8, 12, ... for which every k-th of n are at most `most`. */
static size_t stride_of(size_t n, size_t most) {
    for (size_t power = 1;; power *= 2) {
        if ((n - 1) / power + 1 <= most) return power;
        size_t between = power + power / 2;
        if (power > 1 && (n - 1) / between + 1 <= most) return between;
    }
}

/* The index of the point nearest to the step; of equally near ones the last. */
static size_t nearest_to(const placed *all, size_t from, size_t to, double step) {
    size_t best = from;
    double least = INFINITY;
    for (size_t i = from; i < to; i++) {
        double away = fabs((double)all[i].item.step - step);
        if (away <= least) {
            least = away;
            best = i;
        }
    }
    return best;
}

static void bound_range(const placed *all, size_t n, const sb_histo_ask *ask, size_t *from,
                        size_t *to) {
    *from = 0;
    *to = n;
    while (*from < *to && all[*from].x < ask->from) ++*from;
    while (*to > *from && all[*to - 1].x > ask->to) --*to;
}

/* Every k-th, the first, the last, the one that is asked for. */
static size_t max_picks(const sb_histo_ask *ask) {
    return (ask->most > 3 ? ask->most : 3) + 2;
}

/* Keeps the chosen ones of all[from..to) in items. */
static size_t choose(const placed *all, size_t from, size_t to, const sb_histo_ask *ask,
                     sb_ref_item *items) {
    if (from == to) return 0;
    size_t most = ask->most > 3 ? ask->most - 1 : 2; /* the last one may be extra */
    size_t stride = stride_of(to - from, most), kept = 0;
    size_t wanted = ask->has_at ? nearest_to(all, from, to, ask->at) : from;
    for (size_t i = from; i < to; i++)
        if (i % stride == 0 || i == from || i + 1 == to || i == wanted) items[kept++] = all[i].item;
    return kept;
}

/* All points of the series in the order of the axis; out gets the counts. */
static sb_status place_all(const sb_series *series, const sb_histo_ask *ask, sb_arena *arena,
                           placed **all, sb_histo_steps *out, sb_err *err) {
    sb_ref_item *items;
    size_t n;
    sb_ref_ask every = {.show_superseded = ask->show_superseded};
    sb_status status = sb_refs_list(series, &every, arena, &items, &n, NULL, err);
    if (status != SB_OK) return status;
    out->total = n;
    *all = sb_arena_zeroed(arena, n, sizeof **all);
    if (!*all) return sb_fail_nomem(err, "for a list of histograms");
    if (n) out->first_wall = items[0].wall;
    for (size_t i = 0; i < n; i++)
        (*all)[i] = (placed){x_of(&items[i], ask->axis, out->first_wall), i, items[i]};
    if (!is_rising(*all, n)) qsort(*all, n, sizeof **all, by_x_and_place);
    return SB_OK;
}

sb_status sb_histo_steps_pick(const sb_series *series, const sb_histo_ask *ask, sb_arena *arena,
                              sb_histo_steps *out, sb_err *err) {
    *out = (sb_histo_steps){.run = series->run, .first_wall = NAN};
    out->items = sb_arena_zeroed(arena, max_picks(ask), sizeof *out->items);
    if (!out->items) return sb_fail_nomem(err, "for a list of histograms");
    /* The list of all points is as long as the series; it is released again. */
    sb_arena_mark mark = sb_arena_here(arena);
    placed *all;
    sb_status status = place_all(series, ask, arena, &all, out, err);
    if (status == SB_OK && out->total) {
        size_t from, to;
        bound_range(all, (size_t)out->total, ask, &from, &to);
        out->in_range = to - from;
        out->n = choose(all, from, to, ask, out->items);
    }
    sb_arena_reset(arena, mark);
    return status;
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct reading {
    const sb_histo_steps *steps;
    sb_arena *arena;
    size_t max_rows;
    sb_histo_facts *facts; /* NULL: the second time */
    const double *edges;
    size_t bins;
    float *shares, *below, *above;
} reading;

static sb_status take_rows(const reading *r, const sb_histo_rows *rows, size_t index) {
    sb_histo_rows clean;
    sb_histo_facts facts;
    sb_status status = sb_histo_facts_of(rows, r->arena, &clean, &facts);
    if (status != SB_OK) return status;
    if (r->facts)
        r->facts[index] = facts;
    else
        sb_histo_rebin(&clean, r->edges, r->bins, r->shares + index * r->bins, &r->below[index],
                       &r->above[index]);
    return SB_OK;
}

static sb_status take_record(void *ud, size_t index, sb_status status, sb_slice payload,
                             const sb_err *err) {
    (void)err;
    reading *r = ud;
    const sb_ref_item *item = &r->steps->items[index];
    sb_arena_mark mark = sb_arena_here(r->arena);
    sb_value value;
    sb_histo_rows rows;
    if (status == SB_OK) status = sb_ref_value(&item->ref, payload, &value, NULL);
    if (status == SB_OK)
        status = sb_histo_of_value(&value, SB_HISTO_DRAWN, r->max_rows, r->arena, &rows, NULL);
    if (status == SB_OK) status = take_rows(r, &rows, index);
    sb_arena_reset(r->arena, mark);
    if (r->facts) {
        if (status != SB_OK) r->facts[index].marks = SB_HISTO_UNREADABLE;
        if (item->superseded) r->facts[index].marks |= SB_HISTO_SUPERSEDED;
    }
    return status == SB_NOMEM ? SB_NOMEM : SB_OK;
}

static sb_status read_all(reading *r, sb_blob_cache *blobs, size_t max_bytes,
                          const sb_budget *budget, sb_err *err) {
    sb_arena_mark mark = sb_arena_here(r->arena);
    r->max_rows = max_bytes / sizeof(double);
    sb_status status = sb_blob_read_many(blobs, r->steps->run, r->steps->items, r->steps->n,
                                         max_bytes, budget, r->arena, take_record, r, err);
    sb_arena_reset(r->arena, mark);
    return status == SB_NOMEM ? sb_fail_nomem(err, "for histograms") : status;
}

sb_status sb_histo_steps_read(sb_histo_steps *steps, sb_blob_cache *blobs, size_t max_bytes,
                              const sb_budget *budget, sb_arena *arena, sb_err *err) {
    steps->facts = sb_arena_zeroed(arena, steps->n + 1, sizeof *steps->facts);
    if (!steps->facts) return sb_fail_nomem(err, "for histograms");
    reading r = {.steps = steps, .arena = arena, .facts = steps->facts};
    return read_all(&r, blobs, max_bytes, budget, err);
}

sb_status sb_histo_steps_bin(const sb_histo_steps *steps, sb_blob_cache *blobs, size_t max_bytes,
                             const double *edges, size_t bins, float *shares, float *below,
                             float *above, const sb_budget *budget, sb_arena *arena, sb_err *err) {
    memset(shares, 0, steps->n * bins * sizeof *shares);
    memset(below, 0, steps->n * sizeof *below);
    memset(above, 0, steps->n * sizeof *above);
    reading r = {.steps = steps,
                 .arena = arena,
                 .edges = edges,
                 .bins = bins,
                 .shares = shares,
                 .below = below,
                 .above = above};
    return read_all(&r, blobs, max_bytes, budget, err);
}
