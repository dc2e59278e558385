/* difference.c: compares two captures, name by name. */
#include <stdlib.h>

#include "base/checked.h"
#include "base/intern.h"
#include "profile/analysis/views.h"
#include "base/banned.h"

typedef struct joining {
    const sb_alloc *alloc;
    sb_intern names;
    SB_VEC(sb_difference_row) rows;
} joining;

static bool add(joining *j, sb_slice name, uint8_t kind, int side, uint64_t calls, int64_t total) {
    uint32_t id;
    bool is_new;
    if (sb_intern_add(&j->names, name, &id, &is_new) != SB_OK) return false;
    sb_difference_row *row =
        is_new ? SB_VEC_PUSH(&j->rows, j->alloc, SIZE_MAX) : &j->rows.items[id];
    if (!row) return false;
    if (is_new) *row = (sb_difference_row){.name = name, .kind = kind};
    row->calls[side] += calls;
    sb_sum(&row->total[side], total);
    return true;
}

/* is_device: both captures have a device; otherwise the time of the host is compared. */
static bool add_side(joining *j, const sb_analysis *a, sb_difference_by by, int side,
                     bool is_device, sb_arena *arena) {
    const sb_trace *t = a->t;
    if (by == SB_DIFFER_KERNELS) {
        for (size_t i = 0; i < a->kernel_count; i++)
            if (!add(j, sb_trace_name(t, a->kernels[i].name), a->kernels[i].kind, side,
                     a->kernels[i].calls, a->kernels[i].total))
                return false;
        return true;
    }
    if (by == SB_DIFFER_MODULES) {
        sb_module_view v;
        if (!sb_view_modules(t, &v, arena)) return false;
        for (size_t i = 0; i < v.n; i++)
            if (!add(j, sb_trace_name(t, v.rows[i].name), SB_SPAN_MODULE, side, v.rows[i].calls,
                     is_device ? v.rows[i].device_total : v.rows[i].host_total))
                return false;
        return true;
    }
    for (size_t i = 0; i < a->op_count; i++)
        if (!add(j, sb_trace_name(t, a->ops[i].name), a->ops[i].kind, side, a->ops[i].calls,
                 is_device ? a->ops[i].device_self : a->ops[i].host_self))
            return false;
    return true;
}

static int64_t distance(const sb_difference_row *r) {
    int64_t d = r->total[1] - r->total[0];
    return d < 0 ? -d : d;
}

static int compare_rows(const void *a, const void *b) {
    const sb_difference_row *x = a, *y = b;
    if (distance(x) != distance(y)) return distance(x) > distance(y) ? -1 : 1;
    return sb_slice_cmp(x->name, y->name);
}

bool sb_view_difference(const sb_analysis *a, const sb_analysis *b, sb_difference_by by,
                        sb_difference *out, sb_arena *arena) {
    joining j = {.alloc = a->t->alloc};
    sb_intern_init(&j.names, j.alloc, 71, UINT32_MAX - 1);
    *out = (sb_difference){.is_per_step = a->step_count && b->step_count};
    bool is_device = a->has_device && b->has_device;
    bool is_done =
        add_side(&j, a, by, 0, is_device, arena) && add_side(&j, b, by, 1, is_device, arena);
    out->rows = sb_arena_get(arena, (j.rows.n + 1) * sizeof *out->rows);
    is_done = is_done && out->rows;
    for (size_t i = 0; is_done && i < j.rows.n; i++) {
        sb_difference_row *row = &out->rows[out->n++];
        *row = j.rows.items[i];
        if (!out->is_per_step) continue;
        row->total[0] /= (int64_t)a->step_count;
        row->total[1] /= (int64_t)b->step_count;
    }
    if (is_done && out->n) qsort(out->rows, out->n, sizeof *out->rows, compare_rows);
    SB_VEC_FREE(&j.rows, j.alloc);
    sb_intern_fini(&j.names);
    return is_done;
}
