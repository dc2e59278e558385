/* group_compare.c: groups whose columns were compared with a baseline. */
#include "query/lines/group_compare.h"

#include <math.h>

#include "base/banned.h"

/* The run that groups are compared with: its value at any x, and, where the group has one value
 * for each pixel column, its values in the same columns. */
typedef struct twin {
    sb_baseline line;
    sb_spot spot;
    sb_group columns; /* none: n is 0 */
    size_t next;      /* column */
} twin;

static sb_status make_twin(twin *t, const sb_group *g, const sb_line *base, const sb_group_ask *ask,
                           const sb_budget *budget, sb_arena *arena, sb_err *err) {
    *t = (twin){0};
    sb_status status = sb_baseline_of(&t->line, base, ask->axis, budget, arena, err);
    if (status != SB_OK || g->is_exact) return status;
    sb_group_ask same = *ask;
    same.from = g->from;
    same.to = g->to;
    status = sb_group_read(base, 1, &same, budget, arena, &t->columns, err);
    if (t->columns.is_exact) t->columns.n = 0; /* fewer points than columns: interpolated */
    return status;
}

/* NaN: it is not known there. Asked by rising x. */
static double value_at(twin *t, double x) {
    const sb_group *c = &t->columns;
    while (t->next < c->n && c->x[t->next] < x) t->next++;
    if (t->next < c->n && c->x[t->next] == x) return c->mean[t->next];
    if (!sb_baseline_find(&t->line, x, &t->spot)) return NAN;
    return sb_spot_value(t->line.smoothed ? t->line.smoothed : t->line.values, &t->spot);
}

static void compare_place(sb_group *g, size_t to, size_t from, double base, sb_compare_kind kind) {
    bool is_upside_down = kind == SB_COMPARE_RATIO && base < 0;
    double size = kind == SB_COMPARE_RATIO ? fabs(base) : 1;
    double low = sb_against(kind, g->min[from], base), high = sb_against(kind, g->max[from], base);
    g->x[to] = g->x[from];
    g->count[to] = g->count[from];
    g->mean[to] = sb_against(kind, g->mean[from], base);
    g->median[to] = sb_against(kind, g->median[from], base);
    g->deviation[to] = g->deviation[from] / size;
    g->ci95[to] = g->ci95[from] / size;
    g->min[to] = is_upside_down ? high : low;
    g->max[to] = is_upside_down ? low : high;
    low = sb_against(kind, g->inner_low[from], base);
    high = sb_against(kind, g->inner_high[from], base);
    g->inner_low[to] = is_upside_down ? high : low;
    g->inner_high[to] = is_upside_down ? low : high;
}

sb_status sb_group_compare(sb_group *g, const sb_line *base, const sb_group_ask *ask,
                           sb_compare_kind kind, const sb_budget *budget, sb_arena *arena,
                           sb_err *err) {
    twin t;
    sb_status status = make_twin(&t, g, base, ask, budget, arena, err);
    if (status != SB_OK) return status;
    size_t kept = 0;
    for (size_t i = 0; i < g->n; i++) {
        double there = value_at(&t, g->x[i]);
        if (isfinite(there)) compare_place(g, kept++, i, there, kind);
    }
    g->n = kept;
    return SB_OK;
}
