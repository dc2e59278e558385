/* series.c: listing and finding series, and what every index of tags says. */
#include "server/compat/series.h"

#include "codec/plugin.h"
#include "query/markdown.h"
#include "base/banned.h"

/* ---- listing --------------------------------------------------------------------------------- */

void sb_listing_begin(sb_listing *l, sb_app *app, sb_arena *arena, const char *plugin,
                      sb_series_kind kind) {
    *l = (sb_listing){.arena = arena, .plugin = sb_slice_str(plugin), .kind = kind};
    l->status = sb_store_runs(app->store, arena, &l->runs);
    if (l->status != SB_OK) l->runs.n = 0;
}

static bool is_of(const sb_listing *l, const sb_series_info *info) {
    return info->meta->kind == l->kind && sb_slice_eq(info->meta->plugin_name, l->plugin);
}

static bool is_known_version(const sb_series_info *info) {
    int32_t version;
    return sb_plugin_version(&version, info->meta->plugin_content) == SB_OK && version == 0;
}

bool sb_listing_next(sb_listing *l) {
    while (l->status == SB_OK && l->at < l->runs.n) {
        sb_series_info *all;
        size_t count;
        sb_arena_mark mark = sb_arena_here(l->arena);
        l->run = l->runs.items[l->at++];
        l->status = sb_run_list(l->run, l->arena, &all, &count);
        if (l->status != SB_OK) return false;
        size_t seen = 0;
        l->n = 0;
        for (size_t i = 0; i < count; i++) {
            if (!is_of(l, &all[i])) continue;
            seen++;
            if (is_known_version(&all[i])) all[l->n++] = all[i];
        }
        if (seen == 0) {
            sb_arena_reset(l->arena, mark);
            continue;
        }
        sb_run_info info;
        sb_run_get_info(l->run, &info);
        l->run_name = info.name;
        l->series = all;
        return true;
    }
    return false;
}

sb_status sb_listing_end(sb_listing *l) {
    if (l->runs.items) sb_runs_release(&l->runs);
    return l->status;
}

/* ---- one of them ----------------------------------------------------------------------------- */

sb_status sb_compat_find(sb_found_series *out, sb_app *app, sb_arena *arena, sb_slice run,
                         sb_slice tag, const char *plugin, sb_series_kind kind) {
    out->run = sb_store_find_run(app->store, run);
    if (!out->run) return SB_NOT_FOUND;
    sb_status status = sb_series_take(out->run, tag, arena, &out->series);
    if (status == SB_OK) {
        const sb_series_meta *meta = out->series.meta;
        if (meta->kind == kind && sb_slice_eq(meta->plugin_name, sb_slice_str(plugin)))
            return SB_OK;
        sb_series_release(&out->series);
        status = SB_NOT_FOUND;
    }
    sb_run_release(out->run);
    return status;
}

void sb_compat_release(sb_found_series *found) {
    sb_series_release(&found->series);
    sb_run_release(found->run);
}

/* ---- sampling -------------------------------------------------------------------------------- */

/* How many points of a series TensorBoard keeps by itself. */
static uint64_t usual_count(const char *plugin) {
    static const struct {
        const char *plugin;
        uint64_t count;
    } usual[] = {{"scalars", 1000}, {"histograms", 500}, {"pr_curves", 100}};
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (strcmp(usual[i].plugin, plugin) == 0) return usual[i].count;
    return 10;
}

sb_sampling sb_compat_sampling(const sb_app *app, const char *plugin, uint64_t http_limit) {
    sb_sampling all = {.reservoir = 0, .limit = SB_NO_LIMIT};
    for (size_t i = 0; i < app->sample_count; i++) {
        if (strcmp(app->samples[i].plugin, plugin) != 0) continue;
        uint64_t count = app->samples[i].count;
        return count ? (sb_sampling){.reservoir = count, .limit = SB_NO_LIMIT} : all;
    }
    if (!app->compat_sampling) return all;
    return (sb_sampling){.reservoir = usual_count(plugin),
                         .limit = http_limit ? http_limit : SB_NO_LIMIT};
}

/* ---- what an index says ---------------------------------------------------------------------- */

sb_slice sb_compat_display_name(const sb_series_info *info) {
    if (info->meta->display_name.n || !info->meta->from_v1) return info->meta->display_name;
    return info->tag;
}

void sb_compat_add_description(sb_json *j, sb_slice markdown) {
    if (markdown.n == 0) {
        sb_json_str(j, "");
        return;
    }
    sb_buf html;
    sb_buf_init(&html, j->out->alloc, j->out->cap);
    sb_status status = sb_markdown_render(&html, markdown, NULL, NULL);
    if (status == SB_OK)
        sb_json_text(j, sb_buf_slice(&html));
    else
        sb_json_str(j, "");
    if (status == SB_NOMEM && j->out->failed == SB_OK) j->out->failed = status;
    sb_buf_fini(&html);
}

sb_status sb_compat_tag_index(sb_http_request *q, sb_http_reply *r, sb_app *app, const char *plugin,
                              sb_series_kind kind) {
    sb_listing l;
    sb_json j;
    sb_compat_json_begin(&j, r);
    sb_json_begin_object(&j);
    sb_listing_begin(&l, app, q->arena, plugin, kind);
    while (sb_listing_next(&l)) {
        sb_json_key(&j, l.run_name);
        sb_json_begin_object(&j);
        for (size_t i = 0; i < l.n; i++) {
            sb_json_key(&j, l.series[i].tag);
            sb_json_begin_object(&j);
            sb_json_key_str(&j, "displayName");
            sb_json_text(&j, sb_compat_display_name(&l.series[i]));
            sb_json_key_str(&j, "description");
            sb_compat_add_description(&j, l.series[i].meta->description);
            sb_json_end_object(&j);
        }
        sb_json_end_object(&j);
    }
    sb_json_end_object(&j);
    sb_status status = sb_listing_end(&l);
    return status == SB_OK ? sb_compat_json_end(&j, r) : status;
}

/* ---- parameters ------------------------------------------------------------------------------ */

static void add_repr_or_none(sb_buf *out, sb_slice text) {
    if (text.p)
        sb_compat_add_repr(out, text);
    else
        sb_buf_add_str(out, "None");
}

bool sb_compat_run_tag(const sb_http_request *q, sb_http_reply *r, sb_slice *run, sb_slice *tag) {
    *run = sb_http_query(q, "run");
    *tag = sb_http_query(q, "tag");
    if (run->p && tag->p) return true;
    sb_compat_invalid(r, "Both run and tag must be specified: tag=");
    sb_buf *out = sb_http_body(r);
    add_repr_or_none(out, *tag);
    sb_buf_add_str(out, ", run=");
    add_repr_or_none(out, *run);
    return false;
}
