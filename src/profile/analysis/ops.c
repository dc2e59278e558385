/* ops.c: the table of operators, summed by name.
 *
 * Times are those of torch's key_averages: the total time is the sum over all calls, including
 * calls inside another call of the same name; the self time is the total without the operators
 * directly inside. The time of a kernel counts for the operator with the same external id, and for
 * all operators that enclose it. */
#include <stdlib.h>

#include "base/checked.h"
#include "base/search.h"
#include "profile/analysis/analysis.h"
#include "profile/trace/classify.h"
#include "base/banned.h"

#define MOST_CHILDREN 0x7fffffffu

/* One call of an operator on a host thread. */
typedef struct call {
    int64_t end, self;
    uint32_t track, index; /* its span */
    uint32_t parent;       /* index into the list of calls + 1; 0: none */
    uint32_t children : 31;
    uint32_t is_merged : 1; /* it counts as a part of its parent, not as a call of its own */
} call;

/* What the device did for a call. */
typedef struct device_share {
    int64_t self, total;
    uint32_t kernels, tensor_core_kernels;
} device_share;

/* The calls of one source, parents before their children, and what the device did for each; there
 * is no such list in a source without kernels of known operators. */
typedef struct call_list {
    call *items;
    size_t n, room;
    device_share *device;
} call_list;

typedef SB_VEC(uint32_t) index_list;

static const sb_trace_span *span_of(const sb_trace *t, const call *c) {
    return &t->tracks.items[c->track].spans.items[c->index];
}

static bool is_call(const sb_track *k, const sb_trace_span *s) {
    if (k->kind != SB_TRACK_THREAD || s->dur == 0) return false;
    switch (s->kind) {
    case SB_SPAN_OP:
    case SB_SPAN_XLA_OP:
    case SB_SPAN_ANNOTATION:
    case SB_SPAN_COMM:
    case SB_SPAN_INPUT:
    case SB_SPAN_OPTIMIZER:
    case SB_SPAN_STEP:
        return true;
    default:
        return false;
    }
}

/* The order of calls: by start; of those with the same start the longest comes first. */
static bool is_before(const sb_trace_span *spans, uint32_t a, uint32_t b) {
    const sb_trace_span *x = &spans[a], *y = &spans[b];
    if (x->start != y->start) return x->start < y->start;
    return x->dur != y->dur ? x->dur > y->dur : a < b;
}

static size_t run_end(const sb_trace_span *spans, const uint32_t *order, size_t i, size_t n) {
    if (i == n) return i;
    while (++i < n && is_before(spans, order[i - 1], order[i])) continue;
    return i;
}

/* Sorts spans of a track by time: merges neighbouring ascending runs until there is one. A track
 * has its spans lane by lane, so that there are as many runs as lanes. */
static bool sort_by_time(const sb_trace_span *spans, index_list *list, const sb_alloc *alloc) {
    size_t n = list->n;
    if (run_end(spans, list->items, 0, n) == n) return true;
    uint32_t *scratch = sb_alloc_get(alloc, n * sizeof *scratch);
    uint32_t *from = list->items, *to = scratch;
    if (!scratch) return false;
    while (run_end(spans, from, 0, n) < n) {
        for (size_t i = 0; i < n;) {
            size_t middle = run_end(spans, from, i, n), end = run_end(spans, from, middle, n);
            size_t k = middle;
            for (size_t at = i; at < end; at++) {
                bool takes_left = k == end || (i < middle && is_before(spans, from[i], from[k]));
                to[at] = takes_left ? from[i++] : from[k++];
            }
            i = end;
        }
        uint32_t *sorted = to;
        to = from;
        from = sorted;
    }
    if (from == scratch) memcpy(list->items, scratch, n * sizeof *scratch);
    sb_alloc_put(alloc, scratch, n * sizeof *scratch);
    return true;
}

/* Adds calls of one track, which are in order of time, to the list, and sets their parents and
 * self times. */
static void nest(const sb_trace *t, uint32_t track, const index_list *order, call_list *list) {
    const sb_trace_span *spans = t->tracks.items[track].spans.items;
    bool is_mixed = t->tracks.items[track].is_mixed;
    uint32_t open = 0; /* index of the innermost call that may still be running, + 1 */
    for (size_t i = 0; i < order->n; i++) {
        const sb_trace_span *s = &spans[order->items[i]];
        call c = {.end = sb_span_end(s), .self = s->dur, .track = track, .index = order->items[i]};
        while (open && list->items[open - 1].end <= s->start) open = list->items[open - 1].parent;
        uint32_t around = open;
        while (around && list->items[around - 1].end < c.end)
            around = list->items[around - 1].parent;
        c.parent = around;
        if (around) {
            call *p = &list->items[around - 1];
            sb_sum(&p->self, -s->dur);
            if (p->children < MOST_CHILDREN) p->children++;
        }
        list->items[list->n++] = c;
        if (!is_mixed) open = (uint32_t)list->n;
    }
}

static bool add_track(const sb_trace *t, uint32_t track, call_list *list) {
    const sb_track *k = &t->tracks.items[track];
    index_list order = {0};
    size_t n = 0;
    for (uint32_t i = 0; i < k->spans.n; i++) n += is_call(k, &k->spans.items[i]);
    if (n == 0) return true;
    bool is_done = SB_VEC_RESERVE(&order, t->alloc, n, UINT32_MAX - 1) &&
                   SB_VEC_RESERVE(list, t->alloc, n, UINT32_MAX - 1);
    for (uint32_t i = 0; is_done && i < k->spans.n; i++)
        if (is_call(k, &k->spans.items[i])) order.items[order.n++] = i;
    is_done = is_done && sort_by_time(k->spans.items, &order, t->alloc);
    if (is_done) nest(t, track, &order, list);
    SB_VEC_FREE(&order, t->alloc);
    return is_done;
}

typedef struct key {
    uint64_t external;
    int64_t start;
    uint32_t call;
} key;

static int compare_keys(const void *a, const void *b) {
    const key *x = a, *y = b;
    if (x->external != y->external) return x->external < y->external ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return (x->call > y->call) - (x->call < y->call);
}

/* The calls of one source that have an external id, sorted by it. */
static key *list_keys(const sb_trace *t, const call_list *calls, size_t *n) {
    key *keys = sb_alloc_get(t->alloc, (calls->n + 1) * sizeof *keys);
    *n = 0;
    if (!keys) return NULL;
    for (uint32_t i = 0; i < calls->n; i++) {
        const sb_trace_span *s = span_of(t, &calls->items[i]);
        const sb_extra *e = sb_span_extra(t, s);
        if (e && e->external) keys[(*n)++] = (key){e->external, s->start, i};
    }
    if (*n) qsort(keys, *n, sizeof *keys, compare_keys);
    return keys;
}

/* The call that a kernel belongs to: the last one with its external id that begins before it, as
 * ids may be used again. NULL: there is none. */
static const key *key_of(const key *keys, size_t n, uint64_t external, int64_t start) {
    size_t at;
    SB_PARTITION_POINT(at, 0, n,
                       keys[at].external < external ||
                           (keys[at].external == external && keys[at].start <= start));
    if (at && keys[at - 1].external == external) return &keys[at - 1];
    return at < n && keys[at].external == external ? &keys[at] : NULL;
}

/* Do kernels of this name use tensor cores? Remembered in `cores`, by name: 1 no, 2 yes. */
static bool uses_cores(const sb_trace *t, uint8_t *cores, uint32_t name) {
    if (!cores[name]) cores[name] = sb_kernel_uses_tensor_cores(sb_trace_name(t, name)) ? 2 : 1;
    return cores[name] == 2;
}

static void attach_kernel(const sb_trace *t, const sb_trace_span *s, uint32_t to, call_list *calls,
                          uint8_t *cores) {
    device_share *d = &calls->device[to];
    sb_sum(&d->self, s->dur);
    d->kernels++;
    d->tensor_core_kernels += uses_cores(t, cores, s->name);
    for (uint32_t i = to + 1; i; i = calls->items[i - 1].parent)
        sb_sum(&calls->device[i - 1].total, s->dur);
}

static const sb_extra *kernel_extra(const sb_trace *t, const sb_trace_span *s) {
    const sb_extra *e = sb_span_extra(t, s);
    bool is_kernel =
        s->kind == SB_SPAN_KERNEL || s->kind == SB_SPAN_COPY || s->kind == SB_SPAN_COMM;
    return e && e->external && is_kernel ? e : NULL;
}

static bool has_kernels(const sb_trace *t, uint32_t source) {
    for (size_t i = 0; i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        if (k->kind != SB_TRACK_STREAM || sb_track_source(t, k) != source) continue;
        for (size_t m = 0; m < k->spans.n; m++)
            if (kernel_extra(t, &k->spans.items[m])) return true;
    }
    return false;
}

/* Adds the time of kernels to the calls of one source that launched them. */
static bool attach_kernels(const sb_trace *t, uint32_t source, call_list *calls, uint8_t *cores) {
    if (!calls->n || !has_kernels(t, source)) return true;
    size_t n;
    calls->device = sb_alloc_zeroed(t->alloc, calls->n, sizeof *calls->device);
    key *keys = calls->device ? list_keys(t, calls, &n) : NULL;
    if (!keys) return false;
    for (size_t i = 0; i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        if (k->kind != SB_TRACK_STREAM || sb_track_source(t, k) != source) continue;
        for (size_t m = 0; m < k->spans.n; m++) {
            const sb_trace_span *s = &k->spans.items[m];
            const sb_extra *e = kernel_extra(t, s);
            const key *of = e ? key_of(keys, n, e->external, s->start) : NULL;
            if (of) attach_kernel(t, s, of->call, calls, cores);
        }
    }
    sb_alloc_put(t->alloc, keys, (calls->n + 1) * sizeof *keys);
    return true;
}

static void free_calls(call_list *calls, const sb_alloc *alloc) {
    sb_alloc_put(alloc, calls->device, calls->n * sizeof *calls->device);
    SB_VEC_FREE(calls, alloc);
}

/* An only child with the same name as its parent is merged into the parent. Parents come before
 * their children in the list. */
static void merge_same(const sb_trace *t, call_list *calls) {
    for (size_t i = 0; i < calls->n; i++) {
        call *c = &calls->items[i];
        uint32_t around = c->parent;
        while (around && calls->items[around - 1].is_merged)
            around = calls->items[around - 1].parent;
        if (!around) continue;
        call *p = &calls->items[around - 1];
        if (p->children != 1 || span_of(t, p)->name != span_of(t, c)->name) continue;
        c->is_merged = true;
        p->children = c->children;
        sb_sum(&p->self, c->self);
        if (!calls->device) continue;
        device_share *into = &calls->device[around - 1], *from = &calls->device[i];
        sb_sum(&into->self, from->self);
        into->kernels += from->kernels;
        into->tensor_core_kernels += from->tensor_core_kernels;
    }
}

/* One of the two tables: one row for each name; or one row for each name and input shape. */
typedef struct table {
    uint32_t *of_name; /* the row of a name without a shape, + 1; 0: it has none yet */
    sb_intern shaped;  /* names with a shape; their rows are in `row_of_shaped` */
    SB_VEC(uint32_t) row_of_shaped;
    SB_VEC(sb_op_row) rows;
    bool is_by_shape;
} table;

static bool open_table(const sb_trace *t, table *out, bool is_by_shape) {
    *out = (table){.is_by_shape = is_by_shape};
    sb_intern_init(&out->shaped, t->alloc, 41, UINT32_MAX - 1);
    out->of_name = sb_alloc_zeroed(t->alloc, (size_t)t->names.count + 1, sizeof *out->of_name);
    return out->of_name != NULL;
}

static void free_table(const sb_trace *t, table *of) {
    sb_alloc_put(t->alloc, of->of_name, ((size_t)t->names.count + 1) * sizeof *of->of_name);
    SB_VEC_FREE(&of->row_of_shaped, t->alloc);
    SB_VEC_FREE(&of->rows, t->alloc);
    sb_intern_fini(&of->shaped);
}

/* Where the index of a row is kept; NULL: no memory. */
static uint32_t *row_place(const sb_trace *t, table *out, uint32_t name, uint32_t shape) {
    uint32_t pair[2] = {name, shape}, id;
    bool is_new;
    if (!shape) return &out->of_name[name];
    if (sb_intern_add(&out->shaped, sb_slice_of(pair, sizeof pair), &id, &is_new) != SB_OK)
        return NULL;
    uint32_t *place = is_new ? SB_VEC_PUSH(&out->row_of_shaped, t->alloc, SIZE_MAX)
                             : &out->row_of_shaped.items[id];
    if (place && is_new) *place = 0;
    return place;
}

static sb_op_row *row_of(const sb_trace *t, table *out, uint32_t name, uint32_t shape,
                         uint8_t kind) {
    uint32_t *place = row_place(t, out, name, shape);
    if (!place) return NULL;
    if (*place) return &out->rows.items[*place - 1];
    sb_op_row *row = SB_VEC_PUSH(&out->rows, t->alloc, UINT32_MAX - 1);
    if (!row) return NULL;
    *row = (sb_op_row){.name = name, .shape = shape, .kind = kind};
    *place = (uint32_t)out->rows.n;
    return row;
}

/* Steps of torch have a number in their names: they are one row together. */
static uint32_t row_name(const sb_trace *t, const sb_trace_span *s) {
    bool is_torch_step = t->torch_steps && s->kind == SB_SPAN_STEP &&
                         sb_text_begins(sb_trace_name(t, s->name), SB_TORCH_STEP);
    return is_torch_step ? t->torch_steps - 1 : s->name;
}

static bool add_rows(const sb_trace *t, const call_list *calls, table *out) {
    for (size_t i = 0; i < calls->n; i++) {
        const call *c = &calls->items[i];
        if (c->is_merged) continue;
        const sb_trace_span *s = span_of(t, c);
        const sb_extra *e = out->is_by_shape && s->kind == SB_SPAN_OP ? sb_span_extra(t, s) : NULL;
        uint32_t shape = e ? e->text : 0;
        sb_op_row *row = row_of(t, out, row_name(t, s), shape, (uint8_t)s->kind);
        if (!row) return false;
        if (row->calls++ == 0 || s->dur > t->tracks.items[row->track].spans.items[row->index].dur) {
            row->track = c->track;
            row->index = c->index;
        }
        sb_sum(&row->host_total, s->dur);
        sb_sum(&row->host_self, c->self > 0 ? c->self : 0);
        if (!calls->device) continue;
        const device_share *d = &calls->device[i];
        sb_sum(&row->device_total, d->total);
        sb_sum(&row->device_self, d->self);
        row->kernels += d->kernels;
        row->tensor_core_kernels += d->tensor_core_kernels;
    }
    return true;
}

/* In an XSpace the kernels name their operator. */
static bool add_named_kernels(const sb_trace *t, table *out, uint8_t *cores) {
    for (uint32_t i = 0; i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        if (k->kind != SB_TRACK_STREAM) continue;
        for (uint32_t n = 0; n < k->spans.n; n++) {
            const sb_trace_span *s = &k->spans.items[n];
            const sb_extra *e = sb_span_extra(t, s);
            if (!e || !e->text || e->external) continue;
            sb_op_row *row = row_of(t, out, e->text - 1, 0, SB_SPAN_XLA_OP);
            if (!row) return false;
            if (row->calls == 0 || row->host_total == 0) {
                row->calls++;
                row->track = i;
                row->index = n;
            }
            sb_sum(&row->device_total, s->dur);
            sb_sum(&row->device_self, s->dur);
            row->kernels++;
            row->tensor_core_kernels += uses_cores(t, cores, s->name);
        }
    }
    return true;
}

static int compare_rows(const void *a, const void *b) {
    const sb_op_row *x = a, *y = b;
    int64_t p = x->device_self, q = y->device_self;
    if (p != q) return p > q ? -1 : 1;
    if (x->host_self != y->host_self) return x->host_self > y->host_self ? -1 : 1;
    if (x->name != y->name) return x->name < y->name ? -1 : 1;
    return (x->shape > y->shape) - (x->shape < y->shape);
}

static bool take_table(sb_analysis *a, table *from, sb_op_row **rows, size_t *n) {
    *rows = sb_arena_get(&a->arena, (from->rows.n + 1) * sizeof **rows);
    if (!*rows) return false;
    *n = from->rows.n;
    if (*n) {
        memcpy(*rows, from->rows.items, *n * sizeof **rows);
        qsort(*rows, *n, sizeof **rows, compare_rows);
    }
    return true;
}

static bool add_source(const sb_trace *t, uint32_t source, table *by_name, table *by_shape,
                       uint8_t *cores) {
    call_list calls = {0};
    bool is_done = true;
    for (uint32_t i = 0; i < t->tracks.n && is_done; i++)
        if (sb_track_source(t, &t->tracks.items[i]) == source) is_done = add_track(t, i, &calls);
    is_done = is_done && attach_kernels(t, source, &calls, cores);
    if (is_done) merge_same(t, &calls);
    is_done = is_done && add_rows(t, &calls, by_name) && add_rows(t, &calls, by_shape);
    free_calls(&calls, t->alloc);
    return is_done;
}

bool sb_find_ops(sb_analysis *a) {
    const sb_trace *t = a->t;
    table by_name, by_shape;
    uint8_t *cores = sb_arena_zeroed(&a->arena, (size_t)t->names.count + 1, 1);
    bool is_done = open_table(t, &by_name, false);
    is_done = open_table(t, &by_shape, true) && is_done && cores;
    for (uint32_t source = 0; source < t->sources.n && is_done; source++)
        is_done = add_source(t, source, &by_name, &by_shape, cores);
    is_done = is_done && add_named_kernels(t, &by_name, cores) &&
              add_named_kernels(t, &by_shape, cores) &&
              take_table(a, &by_name, &a->ops, &a->op_count) &&
              take_table(a, &by_shape, &a->ops_by_shape, &a->op_by_shape_count);
    for (size_t i = 0; is_done && i < a->op_count; i++) {
        sb_sum(&a->host_time, a->ops[i].host_self);
        sb_sum(&a->device_time, a->ops[i].device_self);
    }
    free_table(t, &by_name);
    free_table(t, &by_shape);
    return is_done;
}
