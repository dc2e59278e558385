/* search.c: finds spans by a part of their name or of their arguments, or as the evidence of
 * advice. */
#include <stdlib.h>

#include "base/checked.h"
#include "profile/read/search_args.h"
#include "profile/trace/classify.h"
#include "profile/trace/totals.h"
#include "base/banned.h"

uint8_t *sb_trace_match_names(const sb_trace *t, sb_slice text, sb_arena *arena) {
    uint8_t *marks = sb_arena_zeroed(arena, (size_t)t->names.count + 1, 1);
    for (uint32_t i = 0; marks && i < t->names.count; i++)
        marks[i] = sb_text_holds(sb_trace_name(t, i), text);
    return marks;
}

static int compare_found(const void *a, const void *b) {
    const sb_found_span *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->track != y->track) return x->track < y->track ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static int compare_names(const void *a, const void *b) {
    const sb_search_name *x = a, *y = b;
    if (x->total != y->total) return x->total > y->total ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

bool sb_is_evidence(const sb_trace *t, const sb_evidence *e, const sb_track *k,
                    const sb_trace_span *s) {
    if (k->kind != e->track || s->kind != e->kind || s->dur == 0) return false;
    if (e->shorter_than && s->dur >= e->shorter_than) return false;
    return e->kind != SB_SPAN_INPUT || sb_is_input_wait(sb_trace_name(t, s->name));
}

static sb_status collect(const sb_trace *t, const sb_search_ask *ask, const uint8_t *marks,
                         sb_search_name *names, sb_found_list *list) {
    for (uint32_t i = 0; i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        if (ask->is_expired && ask->is_expired(ask->ud)) return SB_TIMEOUT;
        for (uint32_t n = 0; n < k->spans.n; n++) {
            const sb_trace_span *s = &k->spans.items[n];
            if (!marks[s->name] || s->start > ask->to || sb_span_end(s) < ask->from) continue;
            if (ask->evidence && !sb_is_evidence(t, ask->evidence, k, s)) continue;
            names[s->name].count++;
            sb_sum(&names[s->name].total, s->dur);
            sb_found_span *f = SB_VEC_PUSH(list, t->alloc, SIZE_MAX);
            if (!f) return SB_NOMEM;
            *f = (sb_found_span){i, n, s->start};
        }
    }
    return SB_OK;
}

/* Orders the names that were found by total time, the largest first. */
static void order_names(const sb_trace *t, sb_search_name *names, sb_search_result *out) {
    out->names = names;
    for (uint32_t i = 0; i < t->names.count; i++) {
        if (!names[i].count) continue;
        names[out->name_count] = names[i];
        names[out->name_count++].name = i;
    }
    if (out->name_count) qsort(names, out->name_count, sizeof *names, compare_names);
    if (out->name_count > 1000) out->name_count = 1000;
}

sb_status sb_trace_search(const sb_trace *t, const sb_search_ask *ask, sb_search_result *out,
                          sb_arena *arena, sb_err *err) {
    sb_found_list list = {0};
    uint8_t *marks = sb_trace_match_names(t, ask->text, arena);
    sb_search_name *names = sb_arena_zeroed(arena, (size_t)t->names.count + 1, sizeof *names);
    *out = (sb_search_result){0};
    if (!marks || !names) return sb_fail_nomem(err, "for a search");
    sb_status status = collect(t, ask, marks, names, &list);
    if (status == SB_OK && ask->in_args && ask->text.n && !ask->evidence)
        status = sb_search_args(t, ask, marks, &list, err);
    if (status == SB_OK) {
        if (list.n) qsort(list.items, list.n, sizeof list.items[0], compare_found);
        out->total = list.n;
        size_t from = ask->offset < list.n ? ask->offset : list.n;
        out->n = list.n - from < ask->limit ? list.n - from : ask->limit;
        out->items = sb_arena_get(arena, (out->n + 1) * sizeof *out->items);
        if (!out->items)
            status = SB_NOMEM;
        else if (out->n)
            memcpy(out->items, list.items + from, out->n * sizeof *out->items);
    }
    SB_VEC_FREE(&list, t->alloc);
    if (status != SB_OK) return status == SB_NOMEM ? sb_fail_nomem(err, "for a search") : status;
    order_names(t, names, out);
    return SB_OK;
}
