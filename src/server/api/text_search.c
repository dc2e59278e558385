/* text_search.c: full-text search in all texts of all runs.
 *
 * Bounded: a request looks through so many bytes and finds so many texts, then says where to go on.
 * Runs are looked through in order of their start, tags of a run by name, texts newest first. */
#include "query/kinds/text_search.h"
#include "query/series_list.h"
#include "server/api/one_series.h"
#include "base/banned.h"

#define MAX_FOUND 200u
#define MAX_BYTES ((uint64_t)128 << 20)
#define BATCH 128u

typedef struct search {
    sb_http_request *q;
    sb_http_reply *r;
    sb_app *app;
    sb_json *j;
    sb_tag_regex *pattern;
    const json_t *runs; /* ids; NULL: all */
    uint64_t skip;      /* texts that were looked through by earlier requests */
    uint64_t most;
    uint64_t total, searched, hits, found, bytes;
    bool is_full;
    sb_budget budget;
} search;

static bool wants(const json_t *runs, uint32_t id) {
    if (!runs) return true;
    for (size_t i = 0; i < json_array_size(runs); i++)
        if (json_integer_value(json_array_get(runs, i)) == (json_int_t)id) return true;
    return false;
}

static void add_found(search *s, uint32_t run, sb_slice tag, const sb_ref_item *item,
                      const sb_text_hit *hit) {
    sb_json_begin_object(s->j);
    sb_json_put_uint(s->j, "run", run);
    sb_json_put_text(s->j, "tag", tag);
    sb_api_add_point_head(s->j, item->step, item->wall);
    sb_json_put_uint(s->j, "count", hit->count);
    sb_json_put_text(s->j, "before", hit->before);
    sb_json_put_text(s->j, "match", hit->match);
    sb_json_put_text(s->j, "after", hit->after);
    sb_json_end_object(s->j);
    s->hits += hit->count;
    s->found++;
}

/* n texts, newest first. */
static sb_status search_batch(search *s, const sb_series *series, const sb_ref_item *items,
                              size_t n) {
    sb_text_hit hits[BATCH];
    sb_status status =
        sb_texts_search(s->app->blobs, series->run, items, n, SB_MAX_SMALL_RECORD, s->pattern,
                        &s->budget, s->q->arena, hits, &s->bytes, sb_http_err(s->r));
    if (status != SB_OK) return status;
    for (size_t i = 0; i < n && !s->is_full; i++) {
        s->searched++;
        if (hits[i].count) add_found(s, sb_run_id(series->run), series->tag, &items[i], &hits[i]);
        s->is_full = s->found >= s->most;
    }
    s->is_full = s->is_full || s->bytes >= MAX_BYTES;
    return SB_OK;
}

static sb_status search_series(search *s, const sb_series *series) {
    sb_ref_item *items;
    size_t n;
    sb_status status =
        sb_refs_list(series, &(sb_ref_ask){0}, s->q->arena, &items, &n, NULL, sb_http_err(s->r));
    if (status != SB_OK) return status;
    size_t first = s->total >= s->skip      ? 0
                   : s->skip - s->total < n ? (size_t)(s->skip - s->total)
                                            : n;
    s->total += n;
    for (size_t i = 0; i < n / 2; i++) {
        sb_ref_item kept = items[i];
        items[i] = items[n - 1 - i];
        items[n - 1 - i] = kept;
    }
    for (size_t at = first; at < n && !s->is_full && status == SB_OK; at += BATCH) {
        size_t count = n - at < BATCH ? n - at : BATCH;
        sb_arena_mark mark = sb_arena_here(s->q->arena);
        status = search_batch(s, series, items + at, count);
        sb_arena_reset(s->q->arena, mark);
    }
    return status;
}

static sb_status search_all(search *s, const sb_series_list *list) {
    for (size_t i = 0; i < list->n; i++) {
        const sb_run_entry *run = &list->runs[i];
        if (!wants(s->runs, run->info.id)) continue;
        for (size_t k = 0; k < run->n; k++) {
            sb_series series;
            sb_arena_mark mark = sb_arena_here(s->q->arena);
            sb_status status = sb_series_take(run->run, run->series[k].tag, s->q->arena, &series);
            if (status == SB_NOT_FOUND) continue;
            if (status != SB_OK) return status;
            status = search_series(s, &series);
            sb_series_release(&series);
            sb_arena_reset(s->q->arena, mark);
            if (status != SB_OK) return status;
        }
    }
    return SB_OK;
}

static sb_status answer_search(search *s) {
    sb_series_list list;
    sb_list_ask ask = {.plugin = SB_LIT("text"), .kind = SB_SERIES_TENSOR};
    sb_status status =
        sb_series_list_read(s->app->store, &ask, &s->budget, s->q->arena, &list, sb_http_err(s->r));
    if (status != SB_OK) return status;
    sb_json_key_str(s->j, "found");
    sb_json_begin_array(s->j);
    status = search_all(s, &list);
    sb_series_list_release(&list);
    if (status == SB_LIMIT) return sb_api_fail(s->r, 400, "invalid", "%s", sb_http_err(s->r)->text);
    if (status != SB_OK) return status;
    sb_json_end_array(s->j);
    sb_json_put_uint(s->j, "total", s->total);
    sb_json_put_uint(s->j, "searched", s->searched);
    sb_json_put_uint(s->j, "hits", s->hits);
    uint64_t done = s->skip + s->searched;
    if (done < s->total) sb_json_put_uint(s->j, "next", done);
    return sb_api_end(s->j, s->r);
}

/* A whole number of the body; false: it is something else. */
static bool read_count(const json_t *body, const char *key, uint64_t most, uint64_t *out) {
    const json_t *value = json_object_get(body, key);
    if (!value) return true;
    if (!json_is_integer(value) || json_integer_value(value) < 0) return false;
    *out = (uint64_t)json_integer_value(value);
    return *out <= most;
}

static sb_status begin_search(search *s, const json_t *body) {
    const json_t *text = json_object_get(body, "text");
    s->runs = json_object_get(body, "runs");
    s->most = MAX_FOUND;
    if (!json_is_string(text) || (s->runs && !json_is_array(s->runs)) ||
        !read_count(body, "max", MAX_FOUND, &s->most) ||
        !read_count(body, "skip", UINT64_MAX, &s->skip) || s->most == 0)
        return sb_api_fail(s->r, 400, "invalid",
                           "\"text\" is needed; \"runs\" is a list of ids, \"max\" 1 to %u, "
                           "\"skip\" a whole number",
                           MAX_FOUND);
    sb_slice pattern = sb_slice_of(json_string_value(text), json_string_length(text));
    sb_status status = sb_tag_regex_new_find(
        &s->pattern, s->q->alloc, pattern, !json_is_true(json_object_get(body, "regex")),
        !json_is_true(json_object_get(body, "case")), NULL, sb_http_err(s->r));
    if (status == SB_INVALID)
        return sb_api_fail(s->r, 400, "invalid", "no pattern: %s", sb_http_err(s->r)->text);
    if (status != SB_OK) return status;
    status = answer_search(s);
    sb_tag_regex_free(s->pattern);
    return status;
}

sb_status sb_api_text_search(sb_http_request *q, sb_http_reply *r, void *app) {
    json_t *body = sb_api_body(q, r);
    if (!body) return SB_OK;
    sb_json j;
    sb_api_begin(&j, r, app);
    search s = {.q = q, .r = r, .app = app, .j = &j, .budget = sb_api_budget(q)};
    sb_status status = begin_search(&s, body);
    json_decref(body);
    return status;
}
