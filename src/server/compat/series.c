/* series.c: listing and finding series, and what every index of tags says. */
#include "server/compat/series.h"

#include "markup/markdown.h"
#include "base/banned.h"

/* ---- listing --------------------------------------------------------------------------------- */

static bool is_series_ask_over(void *ud) {
    return sb_http_expired(ud);
}

sb_budget sb_compat_budget(sb_http_request *q) {
    return (sb_budget){is_series_ask_over, q};
}

sb_status sb_compat_list(sb_series_list *out, sb_http_request *q, sb_http_reply *r, sb_app *app,
                         const char *plugin, sb_series_kind kind) {
    sb_list_ask ask = {.plugin = sb_slice_str(plugin), .kind = kind};
    sb_budget budget = sb_compat_budget(q);
    sb_status status =
        sb_series_list_read(app->store, &ask, &budget, q->arena, out, sb_http_err(r));
    for (size_t i = 0; status == SB_OK && i < out->n; i++) {
        sb_run_entry *run = &out->runs[i];
        size_t kept = 0;
        for (size_t k = 0; k < run->n; k++)
            if (run->series[k].version == 0) run->series[kept++] = run->series[k];
        run->n = kept;
    }
    return status;
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

/* TensorBoard's default limit on the points of a series. */
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

void sb_compat_add_tag_info(sb_json *j, const sb_series_entry *entry) {
    sb_json_put_text(j, "displayName", entry->display_name);
    sb_json_key_str(j, "description");
    sb_compat_add_description(j, entry->description);
}

sb_status sb_compat_tag_index(sb_http_request *q, sb_http_reply *r, sb_app *app, const char *plugin,
                              sb_series_kind kind) {
    sb_series_list list;
    sb_status status = sb_compat_list(&list, q, r, app, plugin, kind);
    if (status != SB_OK) return status;
    sb_json j;
    sb_compat_json_begin(&j, r);
    sb_json_begin_object(&j);
    for (size_t i = 0; i < list.n; i++) {
        const sb_run_entry *run = &list.runs[i];
        sb_json_key(&j, run->info.name);
        sb_json_begin_object(&j);
        for (size_t k = 0; k < run->n; k++) {
            sb_json_key(&j, run->series[k].tag);
            sb_json_begin_object(&j);
            sb_compat_add_tag_info(&j, &run->series[k]);
            if (kind == SB_SERIES_BLOBS)
                sb_json_put_int(&j, "samples", sb_entry_samples(&run->series[k]));
            sb_json_end_object(&j);
        }
        sb_json_end_object(&j);
    }
    sb_json_end_object(&j);
    sb_series_list_release(&list);
    return sb_compat_json_end(&j, r);
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
