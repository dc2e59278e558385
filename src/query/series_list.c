/* series_list.c: the index of runs and tags, and which plugins have data. */
#include "query/series_list.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/intern.h"
#include "base/slice.h"
#include "base/vec.h"
#include "codec/plugin.h"
#include "base/banned.h"

static sb_series_entry entry_of(const sb_series_info *info) {
    const sb_series_meta *meta = info->meta;
    sb_series_entry e = {.tag = info->tag,
                         .plugin_name = meta->plugin_name,
                         .plugin_content = meta->plugin_content,
                         .display_name = meta->display_name,
                         .description = meta->description,
                         .kind = meta->kind,
                         .dtype = meta->dtype,
                         .id = info->id,
                         .max_count = meta->kind == SB_SERIES_BLOBS ? info->max_count : 0,
                         .points = info->points,
                         .store_version = info->version};
    if (meta->from_v1 && meta->display_name.n == 0) e.display_name = info->tag;
    if (sb_plugin_version(&e.version, meta->plugin_content) != SB_OK) e.version = -1;
    return e;
}

static bool matches_ask(const sb_list_ask *ask, const sb_series_info *info) {
    if (ask->plugin.n && !sb_slice_eq(ask->plugin, info->meta->plugin_name)) return false;
    if (ask->kind != SB_SERIES_UNKNOWN && ask->kind != info->meta->kind) return false;
    return info->version > ask->since;
}

static int compare_entry_tags(const void *a, const void *b) {
    return sb_slice_cmp(((const sb_series_entry *)a)->tag, ((const sb_series_entry *)b)->tag);
}

/* The series of one run that match. */
static sb_status list_run(sb_run *run, const sb_list_ask *ask, sb_arena *arena, sb_run_entry *out) {
    sb_series_info *all;
    size_t n, count = 0;
    *out = (sb_run_entry){.run = run};
    sb_run_get_info(run, &out->info);
    if (sb_run_list(run, arena, &all, &n) != SB_OK) return SB_NOMEM;
    for (size_t i = 0; i < n; i++) count += matches_ask(ask, &all[i]);
    if (count == 0) return SB_OK;
    size_t bytes;
    if (!sb_mul_size(&bytes, count, sizeof *out->series)) return SB_NOMEM;
    out->series = sb_arena_get(arena, bytes);
    if (!out->series) return SB_NOMEM;
    for (size_t i = 0; i < n; i++)
        if (matches_ask(ask, &all[i])) out->series[out->n++] = entry_of(&all[i]);
    if (count > 1) qsort(out->series, count, sizeof *out->series, compare_entry_tags);
    return SB_OK;
}

static sb_status list_runs(sb_series_list *out, const sb_list_ask *ask, const sb_budget *budget,
                           sb_arena *arena, sb_err *err) {
    for (size_t i = 0; i < out->held.n; i++) {
        if (sb_budget_over(budget)) return sb_fail_timeout(err);
        sb_arena_mark mark = sb_arena_here(arena);
        sb_run_entry *entry = &out->runs[out->n];
        if (list_run(out->held.items[i], ask, arena, entry) != SB_OK)
            return sb_fail_nomem(err, "for a list of series");
        if (entry->n)
            out->n++;
        else
            sb_arena_reset(arena, mark);
    }
    return SB_OK;
}

/* Only the run that is asked for, held. */
static sb_status hold_one(sb_store *store, sb_slice name, sb_arena *arena, sb_runs *out) {
    *out = (sb_runs){.items = sb_arena_get(arena, sizeof *out->items)};
    if (!out->items) return SB_NOMEM;
    out->items[0] = sb_store_find_run(store, name);
    out->n = out->items[0] != NULL;
    return SB_OK;
}

sb_status sb_series_list_read(sb_store *store, const sb_list_ask *ask, const sb_budget *budget,
                              sb_arena *arena, sb_series_list *out, sb_err *err) {
    *out = (sb_series_list){0};
    sb_status status = ask->run.n ? hold_one(store, ask->run, arena, &out->held)
                                  : sb_store_runs(store, arena, &out->held);
    if (status != SB_OK) return sb_fail_nomem(err, "for a list of runs");
    out->runs = sb_arena_zeroed(arena, out->held.n, sizeof *out->runs);
    status = out->runs ? list_runs(out, ask, budget, arena, err)
                       : sb_fail_nomem(err, "for a list of runs");
    if (status != SB_OK) sb_series_list_release(out);
    return status;
}

void sb_series_list_release(sb_series_list *list) {
    sb_runs_release(&list->held);
    *list = (sb_series_list){0};
}

uint32_t sb_samples_of(sb_series_kind kind, sb_slice plugin, uint32_t max_count) {
    if (kind != SB_SERIES_BLOBS) return 0;
    if (!sb_slice_eq(plugin, SB_LIT("images"))) return max_count;
    return max_count > 2 ? max_count - 2 : 0; /* width and height come first */
}

uint32_t sb_entry_samples(const sb_series_entry *entry) {
    return sb_samples_of(entry->kind, entry->plugin_name, entry->max_count);
}

/* ---- plugins --------------------------------------------------------------------------------- */

typedef struct plugin_counts {
    sb_intern names;
    SB_VEC(sb_plugin_count) counts; /* by the id of the name */
    sb_intern tags;
    SB_VEC(uint32_t) first_plugins; /* by the id of the tag: the first plugin that had it */
    sb_intern pairs; /* name, NUL, tag: of tags that further plugins have; usually empty */
    sb_buf key;
    sb_arena *arena;
} plugin_counts;

/* Is this the first time that the plugin has the tag? */
static sb_status note_tag(plugin_counts *c, uint32_t plugin, sb_slice name, sb_slice tag,
                          bool *is_new) {
    if (!SB_VEC_RESERVE(&c->first_plugins, c->arena->alloc, 1, SIZE_MAX)) return SB_NOMEM;
    uint32_t id;
    sb_status status = sb_intern_add(&c->tags, tag, &id, is_new);
    if (status != SB_OK) return status;
    if (*is_new) c->first_plugins.items[c->first_plugins.n++] = plugin;
    if (c->first_plugins.items[id] == plugin) return SB_OK;
    sb_buf_clear(&c->key);
    sb_buf_add_slice(&c->key, name);
    sb_buf_add_byte(&c->key, 0);
    sb_buf_add_slice(&c->key, tag);
    if (c->key.failed) return c->key.failed;
    return sb_intern_add(&c->pairs, sb_buf_slice(&c->key), &id, is_new);
}

static sb_status count_series(plugin_counts *c, const sb_series_info *info) {
    sb_slice name = info->meta->plugin_name;
    sb_alloc in_arena = sb_arena_alloc(c->arena);
    if (!SB_VEC_RESERVE(&c->counts, &in_arena, 1, SIZE_MAX)) return SB_NOMEM;
    uint32_t id;
    bool is_new;
    sb_status status = sb_intern_add(&c->names, name, &id, &is_new);
    if (status != SB_OK) return status;
    if (is_new) {
        sb_plugin_count *added = &c->counts.items[c->counts.n++];
        *added = (sb_plugin_count){.name = sb_arena_dup(c->arena, name)};
        if (!added->name.p) return SB_NOMEM;
    }
    c->counts.items[id].series++;
    status = note_tag(c, id, name, info->tag, &is_new);
    if (status == SB_OK) c->counts.items[id].tags += is_new;
    return status;
}

static sb_status count_runs(plugin_counts *c, const sb_runs *runs, const sb_budget *budget,
                            sb_arena *scratch, sb_err *err) {
    for (size_t i = 0; i < runs->n; i++) {
        if (sb_budget_over(budget)) return sb_fail_timeout(err);
        sb_arena_mark mark = sb_arena_here(scratch);
        sb_series_info *all;
        size_t n;
        sb_status status = sb_run_list(runs->items[i], scratch, &all, &n);
        for (size_t k = 0; k < n && status == SB_OK; k++) status = count_series(c, &all[k]);
        sb_arena_reset(scratch, mark);
        if (status != SB_OK) return sb_fail_nomem(err, "for counting plugins");
    }
    return SB_OK;
}

static int compare_plugin_names(const void *a, const void *b) {
    return sb_slice_cmp(((const sb_plugin_count *)a)->name, ((const sb_plugin_count *)b)->name);
}

sb_status sb_plugins_list(sb_store *store, const sb_budget *budget, sb_arena *arena,
                          sb_plugin_count **out, size_t *n, sb_err *err) {
    sb_runs runs;
    sb_arena scratch; /* lists of series come and go; the answer stays */
    plugin_counts c = {.arena = arena};
    if (sb_store_runs(store, arena, &runs) != SB_OK)
        return sb_fail_nomem(err, "for a list of runs");
    sb_arena_init(&scratch, arena->alloc, 1 << 16, SIZE_MAX / 2);
    sb_intern_init(&c.names, arena->alloc, 1, UINT32_MAX - 1);
    sb_intern_init(&c.tags, arena->alloc, 1, UINT32_MAX - 1);
    sb_intern_init(&c.pairs, arena->alloc, 1, UINT32_MAX - 1);
    sb_buf_init(&c.key, arena->alloc, SIZE_MAX / 2);
    sb_status status = count_runs(&c, &runs, budget, &scratch, err);
    *n = c.names.count;
    *out = c.counts.items;
    if (status == SB_OK && *n > 1) qsort(*out, *n, sizeof **out, compare_plugin_names);
    sb_buf_fini(&c.key);
    SB_VEC_FREE(&c.first_plugins, arena->alloc);
    sb_intern_fini(&c.pairs);
    sb_intern_fini(&c.tags);
    sb_intern_fini(&c.names);
    sb_arena_fini(&scratch);
    sb_runs_release(&runs);
    return status;
}
