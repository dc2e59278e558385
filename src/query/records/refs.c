/* refs.c: lists of reference points. */
#include "query/records/refs.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/search.h"
#include "base/slice.h"
#include "base/banned.h"

static bool is_superseded(const sb_part *part, int64_t step) {
    return part->cut_step != SB_NO_CUT && step >= part->cut_step;
}

static sb_status check_kind(const sb_series *series, sb_err *err) {
    if (series->meta->kind == SB_SERIES_TENSOR || series->meta->kind == SB_SERIES_BLOBS)
        return SB_OK;
    return sb_fail(err, SB_INVALID, 0, "%.*s holds neither tensors nor blobs",
                   SB_SHOWN(series->tag));
}

static sb_ref_item *gather_items(const sb_series *series, const sb_ref_ask *ask, sb_arena *arena,
                                 size_t *n) {
    size_t all = 0, bytes;
    for (size_t i = 0; i < series->part_n; i++) all += series->parts[i].ref_n;
    if (!sb_mul_size(&bytes, all, sizeof(sb_ref_item))) return NULL;
    sb_ref_item *items = sb_arena_get(arena, bytes);
    if (!items) return NULL;
    *n = 0;
    for (size_t i = 0; i < series->part_n; i++) {
        const sb_part *part = &series->parts[i];
        for (size_t k = 0; k < part->ref_n; k++) {
            const sb_ref_point *p = &part->refs[k];
            bool superseded = is_superseded(part, p->step);
            if (superseded && !ask->show_superseded) continue;
            if (ask->is_bounded && (p->step < ask->from || p->step > ask->to)) continue;
            items[(*n)++] = (sb_ref_item){p->step, p->wall, part->file, superseded, p->ref};
        }
    }
    return items;
}

static void keep_item(sb_ref_item *items, size_t *n, const uint64_t *indices, size_t count) {
    for (size_t i = 0; i < count; i++) items[i] = items[indices[i]];
    *n = count;
}

/* ---- by step --------------------------------------------------------------------------------- */

/* Sorting must not turn equal steps round, so each item remembers where it stood. */
typedef struct placed {
    sb_ref_item item;
    size_t at;
} placed;

static int by_step_and_place(const void *a, const void *b) {
    const placed *x = a, *y = b;
    if (x->item.step != y->item.step) return x->item.step < y->item.step ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static bool is_sorted(const sb_ref_item *items, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (items[i].step <= items[i - 1].step) return false;
    return true;
}

static sb_status sort_by_step(sb_ref_item *items, size_t *n, sb_arena *arena) {
    if (is_sorted(items, *n)) return SB_OK;
    size_t bytes;
    placed *order = NULL;
    if (sb_mul_size(&bytes, *n, sizeof *order)) order = sb_arena_get(arena, bytes);
    if (!order) return SB_NOMEM;
    for (size_t i = 0; i < *n; i++) order[i] = (placed){items[i], i};
    qsort(order, *n, sizeof *order, by_step_and_place);
    size_t kept = 0;
    for (size_t i = 0; i < *n; i++) {
        if (kept && items[kept - 1].step == order[i].item.step) continue;
        items[kept++] = order[i].item;
    }
    *n = kept;
    return SB_OK;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void spread_evenly(sb_ref_item *items, size_t *n, size_t most) {
    if (most == 0 || *n <= most) return;
    for (size_t i = 0; i < most; i++) {
        /* rounded, so that the first and the last are hit */
        size_t at = most == 1 ? *n - 1 : (i * (*n - 1) + (most - 1) / 2) / (most - 1);
        items[i] = items[at];
    }
    *n = most;
}

sb_status sb_refs_list(const sb_series *series, const sb_ref_ask *ask, sb_arena *arena,
                       sb_ref_item **out, size_t *n, size_t *total, sb_err *err) {
    sb_status status = check_kind(series, err);
    if (status != SB_OK) return status;
    *out = gather_items(series, ask, arena, n);
    if (!*out) return sb_fail_nomem(err, "for a list of points");
    if (total) *total = *n;
    uint64_t *kept;
    size_t count;
    if (ask->sampling) {
        status = sb_reservoir_pick(*n, ask->sampling->reservoir, arena, &kept, &count);
        if (status == SB_OK) keep_item(*out, n, kept, count);
    }
    if (status == SB_OK && ask->by_step) status = sort_by_step(*out, n, arena);
    if (total && !ask->sampling) *total = *n;
    if (status == SB_OK && ask->sampling && ask->sampling->limit != SB_NO_LIMIT) {
        status = sb_downsample_pick(*n, ask->sampling->limit, arena, &kept, &count);
        if (status == SB_OK) keep_item(*out, n, kept, count);
    }
    if (status != SB_OK) return sb_fail_nomem(err, "for a list of points");
    spread_evenly(*out, n, ask->spread);
    return SB_OK;
}

sb_status sb_refs_find(const sb_series *series, int64_t step, sb_ref_item *out, sb_err *err) {
    sb_status status = check_kind(series, err);
    if (status != SB_OK) return status;
    for (size_t i = 0; i < series->part_n; i++) {
        const sb_part *part = &series->parts[i];
        if (is_superseded(part, step)) continue;
        for (size_t k = 0; k < part->ref_n; k++) {
            const sb_ref_point *p = &part->refs[k];
            if (p->step != step) continue;
            *out = (sb_ref_item){p->step, p->wall, part->file, false, p->ref};
            return SB_OK;
        }
    }
    return sb_fail(err, SB_NOT_FOUND, 0, "%.*s has nothing at step %lld", SB_SHOWN(series->tag),
                   (long long)step);
}

/* Points of a part are in the order of its file. */
sb_status sb_refs_find_at(const sb_series *series, uint64_t offset, uint32_t crc, sb_ref_item *out,
                          sb_err *err) {
    sb_status status = check_kind(series, err);
    if (status != SB_OK) return status;
    for (size_t i = 0; i < series->part_n; i++) {
        const sb_part *part = &series->parts[i];
        size_t k;
        SB_PARTITION_POINT(k, 0, part->ref_n, part->refs[k].ref.offset < offset);
        for (; k < part->ref_n && part->refs[k].ref.offset == offset; k++) {
            const sb_ref_point *p = &part->refs[k];
            if (p->ref.crc != crc || is_superseded(part, p->step)) continue;
            *out = (sb_ref_item){p->step, p->wall, part->file, false, p->ref};
            return SB_OK;
        }
    }
    return sb_fail(err, SB_NOT_FOUND, 0, "%.*s has nothing there", SB_SHOWN(series->tag));
}
