/* tags.c: all tags of all runs, each once, with the runs that have it. */
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/vec.h"
#include "markup/markdown.h"
#include "query/series_list.h"
#include "server/api/api.h"
#include "base/banned.h"

#define MAX_DESCRIPTION ((size_t)1 << 20)

typedef struct tag {
    sb_slice name;
    const sb_series_meta *meta; /* of the first run that has it */
    SB_VEC(uint32_t) runs;      /* ids */
    uint32_t max_count;         /* of all runs */
} tag;

typedef struct gathering {
    sb_http_request *q;
    sb_intern names;
    sb_alloc in_arena;
    SB_VEC(tag) tags; /* by the id of the name */
} gathering;

static tag *find_tag(gathering *g, const sb_series_info *s) {
    if (!SB_VEC_RESERVE(&g->tags, &g->in_arena, 1, SIZE_MAX)) return NULL;
    uint32_t id;
    bool is_new;
    if (sb_intern_add(&g->names, s->tag, &id, &is_new) != SB_OK) return NULL;
    if (is_new) g->tags.items[g->tags.n++] = (tag){.name = s->tag, .meta = s->meta};
    return &g->tags.items[id];
}

static sb_status gather_run(gathering *g, sb_run *run, sb_slice plugin) {
    sb_series_info *series;
    size_t n;
    sb_status status = sb_run_list(run, g->q->arena, &series, &n);
    for (size_t i = 0; status == SB_OK && i < n; i++) {
        if (plugin.p && !sb_slice_eq(series[i].meta->plugin_name, plugin)) continue;
        tag *t = find_tag(g, &series[i]);
        uint32_t *id = t ? SB_VEC_PUSH(&t->runs, &g->in_arena, SIZE_MAX) : NULL;
        if (!id) return SB_NOMEM;
        *id = sb_run_id(run);
        if (series[i].max_count > t->max_count) t->max_count = series[i].max_count;
    }
    return status;
}

static int compare_tag_names(const void *a, const void *b) {
    return sb_slice_cmp(((const tag *)a)->name, ((const tag *)b)->name);
}

/* A description that is too long to be shown is left empty; out of memory is an error. */
static sb_status add_description(sb_json *j, sb_http_request *q, sb_slice markdown) {
    if (markdown.n == 0) return SB_OK;
    sb_json_key_str(j, "description");
    sb_buf html;
    sb_buf_init(&html, q->alloc, MAX_DESCRIPTION);
    sb_status status = sb_markdown_render(&html, markdown, NULL, NULL);
    if (status == SB_OK)
        sb_json_text(j, sb_buf_slice(&html));
    else
        sb_json_str(j, "");
    sb_buf_fini(&html);
    return status == SB_NOMEM ? status : SB_OK;
}

/* What is empty is left out: there may be a million tags, and hardly any has all of it. */
static sb_status add_tag(sb_json *j, sb_http_request *q, const tag *t, size_t run_count) {
    sb_json_begin_object(j);
    sb_json_put_text(j, "tag", t->name);
    sb_json_put_text(j, "plugin", t->meta->plugin_name);
    if (t->meta->display_name.n) sb_json_put_text(j, "displayName", t->meta->display_name);
    sb_status status = add_description(j, q, t->meta->description);
    sb_json_key_str(j, "runs");
    if (t->runs.n == run_count) {
        sb_json_str(j, "all");
    } else {
        sb_json_begin_array(j);
        for (size_t i = 0; i < t->runs.n; i++) sb_json_uint(j, t->runs.items[i]);
        sb_json_end_array(j);
    }
    uint64_t samples = sb_samples_of(t->meta->kind, t->meta->plugin_name, t->max_count);
    if (samples) sb_json_put_uint(j, "samples", samples);
    sb_json_end_object(j);
    return status;
}

sb_status sb_api_tags(sb_http_request *q, sb_http_reply *r, void *opaque) {
    sb_app *app = opaque;
    sb_runs runs;
    sb_json j;
    sb_api_begin(&j, r, app);
    sb_json_put_str(&j, "instance", app->instance);
    sb_status status = sb_store_runs(app->store, q->arena, &runs);
    if (status != SB_OK) return status;
    gathering g = {.q = q, .in_arena = sb_arena_alloc(q->arena)};
    sb_intern_init(&g.names, q->alloc, (uint64_t)(uintptr_t)q, UINT32_MAX >> 3);
    sb_slice plugin = sb_http_query(q, "plugin");
    for (size_t i = 0; status == SB_OK && i < runs.n; i++)
        status = gather_run(&g, runs.items[i], plugin);
    size_t n = g.tags.n;
    if (status == SB_OK && n) qsort(g.tags.items, n, sizeof *g.tags.items, compare_tag_names);
    sb_json_key_str(&j, "tags");
    sb_json_begin_array(&j);
    for (size_t i = 0; status == SB_OK && i < n; i++)
        status = add_tag(&j, q, &g.tags.items[i], runs.n);
    sb_json_end_array(&j);
    sb_intern_fini(&g.names);
    sb_runs_release(&runs);
    return status == SB_OK ? sb_api_end(&j, r) : status;
}
