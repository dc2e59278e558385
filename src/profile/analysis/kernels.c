/* kernels.c: the table of kernels: what ran on devices, summed by name. */
#include <stdlib.h>

#include "base/checked.h"
#include "base/search.h"
#include "profile/analysis/analysis.h"
#include "base/banned.h"

typedef struct op_key {
    uint64_t external;
    int64_t start;
    uint32_t source, name;
} op_key;

typedef SB_VEC(op_key) op_keys;

static int compare_keys(const void *a, const void *b) {
    const op_key *x = a, *y = b;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    if (x->external != y->external) return x->external < y->external ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

static bool list_ops(const sb_trace *t, op_keys *out) {
    for (size_t i = 0; i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        if (k->kind != SB_TRACK_THREAD) continue;
        for (size_t n = 0; n < k->spans.n; n++) {
            const sb_trace_span *s = &k->spans.items[n];
            const sb_extra *e = sb_span_extra(t, s);
            if (!e || !e->external || s->kind != SB_SPAN_OP) continue;
            op_key *key = SB_VEC_PUSH(out, t->alloc, SIZE_MAX);
            if (!key) return false;
            *key = (op_key){e->external, s->start, sb_track_source(t, k), s->name};
        }
    }
    if (out->n) qsort(out->items, out->n, sizeof out->items[0], compare_keys);
    return true;
}

/* The operator that a kernel belongs to, as the id of its name + 1; 0: unknown. Of those with the
 * same external id it is the last one that begins before the kernel. */
static uint32_t op_of(const op_keys *ops, const sb_trace *t, const sb_trace_span *s,
                      uint32_t source) {
    const sb_extra *e = sb_span_extra(t, s);
    if (!e) return 0;
    if (!e->external) return e->text;
    const op_key wanted = {e->external, s->start, source, 0};
    size_t at;
    SB_PARTITION_POINT(at, 0, ops->n, compare_keys(&ops->items[at], &wanted) <= 0);
    for (size_t i = at ? at - 1 : 0; i < ops->n && i <= at; i++)
        if (ops->items[i].source == source && ops->items[i].external == e->external)
            return ops->items[i].name + 1;
    return 0;
}

static void add_kernel(sb_kernel_row *row, const sb_trace *t, const sb_trace_span *s,
                       uint32_t track, uint32_t index, uint32_t op) {
    const sb_extra *e = sb_span_extra(t, s);
    if (row->calls++ == 0) {
        *row =
            (sb_kernel_row){.name = s->name, .kind = (uint8_t)s->kind, .calls = 1, .least = s->dur};
        row->track = track;
        row->index = index;
    }
    if (s->dur > row->greatest) {
        row->track = track;
        row->index = index;
        row->greatest = s->dur;
    }
    if (s->dur < row->least) row->least = s->dur;
    if (op) row->op = op;
    sb_sum(&row->total, s->dur);
    if (!e) return;
    row->occupancy += (double)e->occupancy * 0.01 * (double)s->dur; /* files have it in percent */
    row->blocks_per_sm += (double)e->blocks_per_sm * (double)s->dur;
}

static int compare_rows(const void *a, const void *b) {
    const sb_kernel_row *x = a, *y = b;
    if (x->total != y->total) return x->total > y->total ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

bool sb_find_kernels(sb_analysis *a) {
    const sb_trace *t = a->t;
    op_keys ops = {0};
    sb_kernel_row *all = sb_arena_zeroed(&a->arena, (size_t)t->names.count + 1, sizeof *all);
    bool is_done = all && list_ops(t, &ops);
    for (uint32_t i = 0; is_done && i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        if (k->kind != SB_TRACK_STREAM) continue;
        for (uint32_t n = 0; n < k->spans.n; n++) {
            const sb_trace_span *s = &k->spans.items[n];
            bool counts =
                s->kind == SB_SPAN_KERNEL || s->kind == SB_SPAN_COPY || s->kind == SB_SPAN_COMM;
            if (!counts) continue;
            add_kernel(&all[s->name], t, s, i, n, op_of(&ops, t, s, sb_track_source(t, k)));
        }
    }
    for (uint32_t i = 0; is_done && i < t->names.count; i++) {
        if (!all[i].calls) continue;
        if (all[i].total) {
            all[i].occupancy /= (double)all[i].total;
            all[i].blocks_per_sm /= (double)all[i].total;
        }
        all[a->kernel_count++] = all[i];
    }
    a->kernels = all;
    if (is_done && a->kernel_count) qsort(all, a->kernel_count, sizeof *all, compare_rows);
    SB_VEC_FREE(&ops, t->alloc);
    return is_done;
}
