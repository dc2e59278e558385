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

/* One call of an operator on a host thread. */
typedef struct call {
    int64_t start, end, self, device_self, device_total;
    uint64_t external;
    uint32_t track, index, parent; /* parent: index into the list of calls + 1; 0: none */
    uint32_t kernels, tensor_core_kernels;
    uint32_t name, children;
    bool is_merged; /* it counts as a part of its parent, not as a call of its own */
} call;

typedef SB_VEC(call) call_list;

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

static int compare_calls(const void *a, const void *b) {
    const call *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->end != y->end) return x->end > y->end ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Adds the calls of one track to the list, and sets their parents and self times. */
static bool add_track(const sb_trace *t, uint32_t track, call_list *list) {
    const sb_track *k = &t->tracks.items[track];
    size_t first = list->n;
    for (uint32_t n = 0; n < k->spans.n; n++) {
        const sb_trace_span *s = &k->spans.items[n];
        if (!is_call(k, s)) continue;
        const sb_extra *e = sb_span_extra(t, s);
        call *c = SB_VEC_PUSH(list, t->alloc, UINT32_MAX - 1);
        if (!c) return false;
        *c = (call){.start = s->start,
                    .end = sb_span_end(s),
                    .self = s->dur,
                    .external = e ? e->external : 0,
                    .track = track,
                    .index = n,
                    .name = s->name};
    }
    if (list->n == first) return true;
    qsort(list->items + first, list->n - first, sizeof list->items[0], compare_calls);
    uint32_t open = 0; /* index of the innermost call that may still be running, + 1 */
    for (size_t i = first; i < list->n; i++) {
        call *c = &list->items[i];
        while (open && list->items[open - 1].end <= c->start) open = list->items[open - 1].parent;
        uint32_t around = open;
        while (around && list->items[around - 1].end < c->end)
            around = list->items[around - 1].parent;
        c->parent = around;
        if (around) {
            sb_sum(&list->items[around - 1].self, -(c->end - c->start));
            list->items[around - 1].children++;
        }
        open = (uint32_t)i + 1;
    }
    return true;
}

typedef struct key {
    uint64_t external;
    uint32_t call;
} key;

static int compare_keys(const void *a, const void *b) {
    const key *x = a, *y = b;
    if (x->external != y->external) return x->external < y->external ? -1 : 1;
    return (x->call > y->call) - (x->call < y->call);
}

/* Adds the time of kernels to the calls of one source that launched them. */
static bool attach_kernels(const sb_trace *t, uint32_t source, call_list *calls) {
    key *keys = sb_alloc_get(t->alloc, (calls->n + 1) * sizeof *keys);
    size_t n = 0;
    if (!keys) return false;
    for (uint32_t i = 0; i < calls->n; i++)
        if (calls->items[i].external) keys[n++] = (key){calls->items[i].external, i};
    if (n) qsort(keys, n, sizeof *keys, compare_keys);
    for (size_t i = 0; i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        if (k->kind != SB_TRACK_STREAM || sb_track_source(t, k) != source) continue;
        for (size_t m = 0; m < k->spans.n; m++) {
            const sb_trace_span *s = &k->spans.items[m];
            const sb_extra *e = sb_span_extra(t, s);
            bool is_kernel =
                s->kind == SB_SPAN_KERNEL || s->kind == SB_SPAN_COPY || s->kind == SB_SPAN_COMM;
            size_t at;
            if (!e || !e->external || !is_kernel) continue;
            SB_PARTITION_POINT(at, 0, n, keys[at].external < e->external);
            if (at == n || keys[at].external != e->external) continue;
            call *c = &calls->items[keys[at].call];
            sb_sum(&c->device_self, s->dur);
            c->kernels++;
            c->tensor_core_kernels += sb_kernel_uses_tensor_cores(sb_trace_name(t, s->name));
            for (; c; c = c->parent ? &calls->items[c->parent - 1] : NULL)
                sb_sum(&c->device_total, s->dur);
        }
    }
    sb_alloc_put(t->alloc, keys, (calls->n + 1) * sizeof *keys);
    return true;
}

/* An only child with the same name as its parent is merged into the parent. Parents come before
 * their children in the list. */
static void merge_same(call_list *calls) {
    for (size_t i = 0; i < calls->n; i++) {
        call *c = &calls->items[i];
        uint32_t around = c->parent;
        while (around && calls->items[around - 1].is_merged)
            around = calls->items[around - 1].parent;
        if (!around) continue;
        call *p = &calls->items[around - 1];
        if (p->name != c->name || p->children != 1) continue;
        c->is_merged = true;
        p->children = c->children;
        sb_sum(&p->self, c->self);
        sb_sum(&p->device_self, c->device_self);
        p->kernels += c->kernels;
        p->tensor_core_kernels += c->tensor_core_kernels;
    }
}

/* The two tables: one row for each name; one row for each name and input shape. */
typedef struct table {
    sb_intern keys;
    SB_VEC(sb_op_row) rows;
} table;

static sb_op_row *row_of(const sb_trace *t, table *out, uint32_t name, uint32_t shape,
                         uint8_t kind) {
    uint32_t pair[2] = {name, shape}, id;
    bool is_new;
    if (sb_intern_add(&out->keys, sb_slice_of(pair, sizeof pair), &id, &is_new) != SB_OK)
        return NULL;
    if (!is_new) return &out->rows.items[id];
    sb_op_row *row = SB_VEC_PUSH(&out->rows, t->alloc, SIZE_MAX);
    if (row) *row = (sb_op_row){.name = name, .shape = shape, .kind = kind};
    return row;
}

/* Steps of torch have a number in their names: they are one row together. */
static uint32_t row_name(const sb_trace *t, const sb_trace_span *s) {
    bool is_torch_step = t->torch_steps && s->kind == SB_SPAN_STEP &&
                         sb_text_begins(sb_trace_name(t, s->name), SB_TORCH_STEP);
    return is_torch_step ? t->torch_steps - 1 : s->name;
}

static bool add_rows(const sb_trace *t, const call_list *calls, table *out, bool by_shape,
                     int64_t *odd) {
    for (size_t i = 0; i < calls->n; i++) {
        const call *c = &calls->items[i];
        if (c->is_merged) continue;
        const sb_trace_span *s = &t->tracks.items[c->track].spans.items[c->index];
        const sb_extra *e = sb_span_extra(t, s);
        uint32_t shape = by_shape && e && s->kind == SB_SPAN_OP ? e->text : 0;
        sb_op_row *row = row_of(t, out, row_name(t, s), shape, (uint8_t)s->kind);
        if (!row) return false;
        if (row->calls++ == 0 || s->dur > t->tracks.items[row->track].spans.items[row->index].dur) {
            row->track = c->track;
            row->index = c->index;
        }
        *odd += c->self < 0;
        sb_sum(&row->host_total, s->dur);
        sb_sum(&row->host_self, c->self > 0 ? c->self : 0);
        sb_sum(&row->device_total, c->device_total);
        sb_sum(&row->device_self, c->device_self);
        row->kernels += c->kernels;
        row->tensor_core_kernels += c->tensor_core_kernels;
    }
    return true;
}

/* In an XSpace the kernels name their operator. */
static bool add_named_kernels(const sb_trace *t, table *out) {
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
            row->tensor_core_kernels += sb_kernel_uses_tensor_cores(sb_trace_name(t, s->name));
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

bool sb_find_ops(sb_analysis *a) {
    const sb_trace *t = a->t;
    table by_name = {0}, by_shape = {0};
    bool is_done = true;
    int64_t odd = 0;
    sb_intern_init(&by_name.keys, t->alloc, 41, UINT32_MAX - 1);
    sb_intern_init(&by_shape.keys, t->alloc, 42, UINT32_MAX - 1);
    for (uint32_t source = 0; source < t->sources.n && is_done; source++) {
        call_list calls = {0};
        for (uint32_t i = 0; i < t->tracks.n && is_done; i++)
            if (sb_track_source(t, &t->tracks.items[i]) == source)
                is_done = add_track(t, i, &calls);
        is_done = is_done && attach_kernels(t, source, &calls);
        merge_same(&calls);
        is_done = is_done && add_rows(t, &calls, &by_name, false, &odd) &&
                  add_rows(t, &calls, &by_shape, true, &odd);
        SB_VEC_FREE(&calls, t->alloc);
    }
    is_done = is_done && add_named_kernels(t, &by_name) && add_named_kernels(t, &by_shape) &&
              take_table(a, &by_name, &a->ops, &a->op_count) &&
              take_table(a, &by_shape, &a->ops_by_shape, &a->op_by_shape_count);
    for (size_t i = 0; is_done && i < a->op_count; i++) {
        sb_sum(&a->host_time, a->ops[i].host_self);
        sb_sum(&a->device_time, a->ops[i].device_self);
    }
    SB_VEC_FREE(&by_name.rows, t->alloc);
    SB_VEC_FREE(&by_shape.rows, t->alloc);
    sb_intern_fini(&by_name.keys);
    sb_intern_fini(&by_shape.keys);
    return is_done;
}
