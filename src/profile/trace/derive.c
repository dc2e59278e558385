/* derive.c: adds derived tracks above the streams of a device: XLA modules, XLA operators,
 * framework operators.
 *
 * It walks over the kernels in order of time. Consecutive kernels with the same label make one
 * span. The end of a module also ends its operators. Copies are left out. */
#include <stdlib.h>

#include "profile/read/read.h"
#include "profile/trace/build.h"
#include "base/banned.h"

typedef struct kernel {
    int64_t start, end;
    uint32_t module, op, scope; /* ids of names + 1; 0: none */
} kernel;

typedef SB_VEC(kernel) kernel_list;

static int compare_kernels(const void *a, const void *b) {
    const kernel *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static bool list_kernels(const sb_trace *t, uint32_t group, kernel_list *out) {
    for (size_t i = 0; i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        if (k->group != group || k->kind != SB_TRACK_STREAM) continue;
        for (size_t n = 0; n < k->spans.n; n++) {
            const sb_trace_span *s = &k->spans.items[n];
            const sb_extra *e = sb_span_extra(t, s);
            if (!e || s->kind == SB_SPAN_COPY) continue;
            kernel *slot = SB_VEC_PUSH(out, t->alloc, SIZE_MAX);
            if (!slot) return false;
            *slot = (kernel){s->start, sb_span_end(s), (uint32_t)((uint64_t)e->second >> 32),
                             e->text, (uint32_t)e->second};
        }
    }
    return true;
}

static uint32_t label_of(const kernel *k, int level) {
    return level == 0 ? k->module : level == 1 ? k->op : k->scope;
}

static bool derive_line(sb_trace *t, uint32_t group, const kernel_list *list, int level) {
    static const struct {
        const char *name;
        sb_span_kind kind;
    } lines[] = {{"XLA Modules", SB_SPAN_MODULE},
                 {"XLA Ops", SB_SPAN_XLA_OP},
                 {"Framework Ops", SB_SPAN_OP}};
    uint32_t track = SB_NO_INDEX;
    sb_trace_span *open = NULL;
    uint32_t label = 0, module = 0;
    for (size_t i = 0; i < list->n; i++) {
        const kernel *k = &list->items[i];
        uint32_t mine = label_of(k, level);
        if (open && (mine != label || k->module != module)) open = NULL;
        if (!mine) continue;
        if (open) {
            if (k->end > sb_span_end(open)) open->dur = k->end - open->start;
            continue;
        }
        if (track == SB_NO_INDEX)
            track = sb_build_track(t, group, sb_slice_str(lines[level].name), SB_TRACK_DERIVED,
                                   sb_slice_str(lines[level].name));
        if (track == SB_NO_INDEX) return false;
        t->tracks.items[track].sort = -10 + level;
        open = sb_build_span(t, track, k->start, k->end - k->start, mine - 1, lines[level].kind, 0);
        if (!open) return false;
        label = mine;
        module = k->module;
    }
    return true;
}

bool sb_derive_device_lines(sb_trace *t, uint32_t group) {
    kernel_list list = {0};
    bool is_done = list_kernels(t, group, &list);
    if (is_done && list.n) qsort(list.items, list.n, sizeof list.items[0], compare_kernels);
    for (int level = 0; is_done && level < 3; level++)
        is_done = derive_line(t, group, &list, level);
    SB_VEC_FREE(&list, t->alloc);
    return is_done;
}
