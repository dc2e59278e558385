/* layout.c: reading and merging layouts. */
#include "query/kinds/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/slice.h"
#include "codec/proto/items.h"
#include "codec/tensor.h"
#include "query/records/value.h"
#include "base/banned.h"

/* ---- parsing --------------------------------------------------------------------------------- */

static size_t count_items(sb_slice message, uint32_t number) {
    sb_items items = sb_items_of(message, number);
    sb_slice item;
    size_t n = 0;
    while (sb_items_next(&items, &item) == SB_OK) n++;
    return n;
}

static sb_status parse_tags(sb_slice body, sb_arena *arena, sb_layout_chart *out) {
    size_t n = count_items(body, SB_MULTILINE_TAG);
    sb_items items = sb_items_of(body, SB_MULTILINE_TAG);
    sb_slice *tags = sb_arena_zeroed(arena, n, sizeof *tags);
    if (!tags) return SB_NOMEM;
    while (out->tag_n < n && sb_items_next(&items, &tags[out->tag_n]) == SB_OK) out->tag_n++;
    out->tags = tags;
    return SB_OK;
}

static sb_status parse_series(sb_slice body, sb_arena *arena, sb_layout_chart *out) {
    size_t n = count_items(body, SB_MARGIN_SERIES);
    sb_items items = sb_items_of(body, SB_MARGIN_SERIES);
    sb_margin_series *series = sb_arena_zeroed(arena, n, sizeof *series);
    if (!series) return SB_NOMEM;
    for (sb_slice item; out->series_n < n && sb_items_next(&items, &item) == SB_OK;)
        if (sb_margin_series_read(&series[out->series_n++], item) != SB_OK) return SB_CORRUPT;
    out->series = series;
    return SB_OK;
}

static sb_status parse_chart(sb_slice message, sb_arena *arena, sb_layout_chart *out) {
    sb_chart_view view;
    if (sb_chart_read(&view, message) != SB_OK) return SB_CORRUPT;
    *out = (sb_layout_chart){.title = view.title, .kind = view.kind};
    if (view.kind == SB_CHART_MULTILINE) return parse_tags(view.body, arena, out);
    if (view.kind == SB_CHART_MARGIN) return parse_series(view.body, arena, out);
    return SB_OK;
}

static sb_status parse_category(sb_slice message, sb_arena *arena, sb_layout_category *out) {
    sb_category view;
    if (sb_category_read(&view, message) != SB_OK) return SB_CORRUPT;
    size_t n = count_items(view.message, SB_CATEGORY_CHART);
    *out = (sb_layout_category){.title = view.title, .closed = view.closed};
    out->charts = sb_arena_zeroed(arena, n, sizeof *out->charts);
    if (!out->charts) return SB_NOMEM;
    sb_items items = sb_items_of(view.message, SB_CATEGORY_CHART);
    for (sb_slice item; out->n < n && sb_items_next(&items, &item) == SB_OK; out->n++) {
        sb_status status = parse_chart(item, arena, &out->charts[out->n]);
        if (status != SB_OK) return status;
    }
    return SB_OK;
}

static sb_status parse_layout(sb_slice message, sb_arena *arena, sb_layout_merged *out) {
    sb_layout view;
    if (sb_layout_read(&view, message) != SB_OK) return SB_CORRUPT;
    size_t n = count_items(view.message, SB_LAYOUT_CATEGORY);
    *out = (sb_layout_merged){.is_found = true, .version = view.version};
    out->categories = sb_arena_zeroed(arena, n, sizeof *out->categories);
    if (!out->categories) return SB_NOMEM;
    sb_items items = sb_items_of(view.message, SB_LAYOUT_CATEGORY);
    for (sb_slice item; out->n < n && sb_items_next(&items, &item) == SB_OK; out->n++) {
        sb_status status = parse_category(item, arena, &out->categories[out->n]);
        if (status != SB_OK) return status;
    }
    return SB_OK;
}

/* ---- merging --------------------------------------------------------------------------------- */

static bool same_chart(const sb_layout_chart *a, const sb_layout_chart *b) {
    if (a->kind != b->kind || a->tag_n != b->tag_n || a->series_n != b->series_n) return false;
    if (!sb_slice_eq(a->title, b->title)) return false;
    for (size_t i = 0; i < a->tag_n; i++)
        if (!sb_slice_eq(a->tags[i], b->tags[i])) return false;
    for (size_t i = 0; i < a->series_n; i++)
        if (!sb_slice_eq(a->series[i].value, b->series[i].value) ||
            !sb_slice_eq(a->series[i].lower, b->series[i].lower) ||
            !sb_slice_eq(a->series[i].upper, b->series[i].upper))
            return false;
    return true;
}

/* Those charts of `from` that `to` had not before follow its own. */
static sb_status merge_charts(sb_layout_category *to, const sb_layout_category *from,
                              sb_arena *arena) {
    sb_layout_chart *all = sb_arena_get(arena, (to->n + from->n) * sizeof *all);
    if (!all) return SB_NOMEM;
    size_t n = to->n;
    if (n) memcpy(all, to->charts, n * sizeof *all);
    for (size_t i = 0; i < from->n; i++) {
        size_t k = 0;
        while (k < to->n && !same_chart(&to->charts[k], &from->charts[i])) k++;
        if (k == to->n) all[n++] = from->charts[i];
    }
    to->charts = all;
    to->n = n;
    return SB_OK;
}

static sb_layout_category *find_category(sb_layout_merged *layout, size_t n, sb_slice title) {
    while (n-- > 0) /* of two with one title the later one, as there */
        if (sb_slice_eq(layout->categories[n].title, title)) return &layout->categories[n];
    return NULL;
}

static sb_status merge(sb_layout_merged *to, const sb_layout_merged *from, sb_arena *arena) {
    sb_layout_category *all = sb_arena_get(arena, (to->n + from->n) * sizeof *all);
    if (!all) return SB_NOMEM;
    if (to->n) memcpy(all, to->categories, to->n * sizeof *all);
    to->categories = all;
    for (size_t i = 0; i < from->n; i++) {
        sb_layout_category *known = find_category(to, to->n, from->categories[i].title);
        if (!known) {
            all[to->n++] = from->categories[i];
            continue;
        }
        sb_status status = merge_charts(known, &from->categories[i], arena);
        if (status != SB_OK) return status;
    }
    return SB_OK;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* The last layout that the run logged. SB_NOT_FOUND: it logged none. */
static sb_status read_layout(sb_run *run, sb_blob_cache *blobs, size_t max_bytes, sb_arena *arena,
                             sb_layout_merged *out) {
    sb_series series;
    sb_ref_item *items;
    size_t n = 0;
    sb_status status = sb_series_take(run, SB_LIT(SB_LAYOUT_TAG), arena, &series);
    if (status != SB_OK) return status;
    bool is_one = series.meta->kind == SB_SERIES_TENSOR &&
                  sb_slice_eq(series.meta->plugin_name, SB_LIT("custom_scalars"));
    if (is_one) status = sb_refs_list(&series, &(sb_ref_ask){0}, arena, &items, &n, NULL, NULL);
    sb_series_release(&series);
    if (status != SB_OK) return status;
    if (n == 0) return SB_NOT_FOUND;
    sb_slice payload, text;
    sb_tensor_view t;
    status = sb_blob_read(blobs, run, items[n - 1].file, &items[n - 1].ref, max_bytes, arena,
                          &payload, NULL);
    if (status == SB_OK) status = sb_ref_tensor(&items[n - 1].ref, payload, &t, NULL);
    if (status != SB_OK) return status;
    sb_strings strings = sb_tensor_strings(&t);
    if (!sb_strings_next(&strings, &text)) return SB_CORRUPT;
    return parse_layout(text, arena, out);
}

typedef struct named_run {
    sb_slice name;
    sb_run *run;
} named_run;

static int named_runs_by_name(const void *a, const void *b) {
    return sb_slice_cmp(((const named_run *)a)->name, ((const named_run *)b)->name);
}

static size_t charts_of(const sb_layout_merged *layout) {
    size_t n = 0;
    for (size_t i = 0; i < layout->n; i++) n += layout->categories[i].n;
    return n;
}

static sb_status merge_runs(const named_run *runs, size_t n, sb_blob_cache *blobs, size_t max_bytes,
                            size_t max_charts, const sb_budget *budget, sb_arena *arena,
                            sb_layout_merged *out, sb_err *err) {
    size_t unreadable = 0;
    for (size_t i = 0; i < n; i++) {
        if (sb_budget_over(budget)) return sb_fail_timeout(err);
        sb_layout_merged one;
        sb_status status = read_layout(runs[i].run, blobs, max_bytes, arena, &one);
        if (status == SB_OK && charts_of(out) + charts_of(&one) > max_charts)
            return sb_fail(err, SB_LIMIT, 0, "layouts of more than %zu charts", max_charts);
        if (status == SB_OK && !out->is_found)
            *out = one;
        else if (status == SB_OK)
            status = merge(out, &one, arena);
        if (status == SB_NOMEM) return sb_fail_nomem(err, "for a layout");
        unreadable += status != SB_OK && status != SB_NOT_FOUND;
    }
    out->unreadable = unreadable;
    return SB_OK;
}

sb_status sb_layout_merge(sb_store *store, sb_blob_cache *blobs, size_t max_bytes,
                          size_t max_charts, const sb_budget *budget, sb_arena *arena,
                          sb_layout_merged *out, sb_err *err) {
    *out = (sb_layout_merged){0};
    sb_runs held;
    if (sb_store_runs(store, arena, &held) != SB_OK)
        return sb_fail_nomem(err, "for a list of runs");
    named_run *runs = sb_arena_get(arena, held.n * sizeof *runs);
    sb_status status = runs ? SB_OK : sb_fail_nomem(err, "for a list of runs");
    for (size_t i = 0; i < held.n && status == SB_OK; i++) {
        sb_run_info info;
        sb_run_get_info(held.items[i], &info);
        runs[i] = (named_run){info.name, held.items[i]};
    }
    if (status == SB_OK) {
        if (held.n > 1) qsort(runs, held.n, sizeof *runs, named_runs_by_name);
        status = merge_runs(runs, held.n, blobs, max_bytes, max_charts, budget, arena, out, err);
    }
    sb_runs_release(&held);
    return status;
}
