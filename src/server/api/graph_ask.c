/* graph_ask.c: the model that a request is about. */
#include "server/api/graph_ask.h"

#include <stdio.h>

#include "base/text/number.h"
#include "base/banned.h"

#define ASK_BYTES ((size_t)2 << 30)

sb_slice sb_json_slice(const json_t *text) {
    return json_is_string(text) ? sb_slice_of(json_string_value(text), json_string_length(text))
                                : (sb_slice){NULL, 0};
}

/* One of the graphs that a source names: from a log, or a file that was dropped. */
typedef struct named {
    bool is_file;
    sb_slice file;
    sb_series series;
    bool has_series;
    sb_ref_item item;
    const sb_kept_model *kept; /* of a file */
} named;

static void release_named(named *n, sb_app *app) {
    if (n->has_series) sb_series_release(&n->series);
    sb_model_cache_release(app->models, n->kept);
}

static sb_status take_series(named *n, sb_http_request *q, sb_app *app, uint64_t id, sb_slice tag,
                             sb_err *err) {
    sb_run_index runs;
    sb_status status = sb_api_take_runs(&runs, q, app);
    if (status != SB_OK) return status;
    sb_run *run = id <= UINT32_MAX ? sb_api_find_run(&runs, (uint32_t)id) : NULL;
    status = run ? sb_series_take(run, tag, q->arena, &n->series) : SB_NOT_FOUND;
    sb_api_release_runs(&runs);
    if (status != SB_OK) return status;
    n->has_series = true;
    return sb_graph_blob(app, &n->series, q->arena, &n->item, NULL, err);
}

static sb_status take_named(named *n, sb_http_request *q, sb_http_reply *r, sb_app *app,
                            const json_t *ref) {
    const json_t *run = json_object_get(ref, "run"), *tag = json_object_get(ref, "tag");
    const json_t *file = json_object_get(ref, "file");
    if (json_is_string(file)) {
        char key[80];
        n->is_file = true;
        n->file = sb_json_slice(file);
        int length = snprintf(key, sizeof key, "file %.*s", SB_SHOWN(n->file));
        n->kept = length < (int)sizeof key
                      ? sb_model_cache_find(app->models, sb_slice_of(key, (size_t)length))
                      : NULL;
        if (n->kept) return SB_OK;
        sb_api_fail(r, 410, "gone",
                    "the server no longer has this file: drop it on the page again");
        return SB_END;
    }
    if (!json_is_integer(run) || json_integer_value(run) < 0 || !json_is_string(tag)) {
        sb_api_fail(r, 400, "invalid", "a graph is {\"run\": its id, \"tag\"} or {\"file\"}");
        return SB_END;
    }
    sb_status status = take_series(n, q, app, (uint64_t)json_integer_value(run), sb_json_slice(tag),
                                   sb_http_err(r));
    if (status != SB_NOT_FOUND) return status;
    sb_api_fail(r, 404, "not_found", "there is no such run or tag");
    return SB_END;
}

static void add_key(sb_buf *key, const named *n) {
    if (n->is_file) {
        sb_buf_add_str(key, "file ");
        sb_buf_add_slice(key, n->file);
    } else if (n->has_series) {
        sb_buf_printf(key, "log %u %u %llu %u ", sb_run_id(n->series.run), n->item.file,
                      (unsigned long long)n->item.ref.offset, n->item.ref.crc);
        sb_buf_add_slice(key, n->series.tag);
    }
    sb_buf_add_byte(key, 0);
}

/* The GraphDef of a named graph; of a log it is put into `out`. */
static sb_status graph_of(const named *n, sb_buf *out, sb_graph_ask *a, sb_app *app,
                          sb_slice *graph, sb_slice *functions, sb_err *err) {
    *functions = (sb_slice){NULL, 0};
    if (n->is_file) {
        *graph = n->kept->graph;
        return SB_OK;
    }
    sb_status status = sb_graph_of_series(out, functions, app, &n->series, &a->arena, err);
    *graph = sb_buf_slice(out);
    return status;
}

/* Step statistics: those of the tag asked for, or those that came with the graph. */
static sb_status stats_of(const named *graph, const named *stats, sb_graph_ask *a, sb_app *app,
                          sb_slice *out, sb_err *err) {
    const named *from = stats->has_series ? stats : graph;
    sb_ref_item item;
    *out = (sb_slice){NULL, 0};
    if (!from->has_series ||
        !(sb_graph_offers_meta(from->series.tag, from->series.meta) & SB_GRAPH_PROFILE))
        return SB_OK;
    return sb_graph_blob(app, &from->series, &a->arena, &item, out, err);
}

/* Devices whose measurements don't count; NULL: no memory. */
static sb_slice *skipped_of(sb_graph_ask *a, size_t *n) {
    const json_t *list = json_object_get(json_object_get(a->body, "source"), "skip");
    sb_slice *names = sb_arena_zeroed(&a->arena, json_array_size(list) + 1, sizeof *names);
    *n = names ? json_array_size(list) : 0;
    for (size_t i = 0; i < *n; i++) names[i] = sb_json_slice(json_array_get(list, i));
    return names;
}

static sb_status make_model(sb_graph_ask *a, sb_app *app, const named *n, sb_slice key,
                            sb_err *err) {
    sb_buf first, second;
    sb_model_ask ask = {.alloc = app->env->alloc};
    ask.skipped = skipped_of(a, &ask.skipped_count);
    if (!ask.skipped) return sb_fail_nomem(err, "for a graph");
    sb_model *model = NULL;
    sb_buf_init(&first, app->env->alloc, SB_MOST_GRAPH_BYTES);
    sb_buf_init(&second, app->env->alloc, SB_MOST_GRAPH_BYTES);
    sb_status status = graph_of(&n[0], &first, a, app, &ask.graph, &ask.functions, err);
    if (status == SB_OK && (n[1].has_series || n[1].is_file)) {
        status = graph_of(&n[1], &second, a, app, &ask.other, &(sb_slice){0}, err);
        if (!ask.other.p) ask.other = SB_LIT("");
    }
    if (status == SB_OK) status = stats_of(&n[0], &n[2], a, app, &ask.metadata, err);
    if (status == SB_OK) status = sb_model_new(&model, &ask, err);
    if (status == SB_OK) {
        a->kept = sb_model_cache_take(app->models, key, model, NULL,
                                      n[0].kept ? &n[0].kept->about : NULL);
        if (!a->kept) status = sb_fail_nomem(err, "for a graph");
    }
    sb_buf_fini(&second);
    sb_buf_fini(&first);
    return status;
}

static bool add_skipped(sb_buf *key, sb_graph_ask *a) {
    size_t n;
    const sb_slice *skipped = skipped_of(a, &n);
    for (size_t i = 0; skipped && i < n; i++) {
        sb_buf_add_slice(key, skipped[i]);
        sb_buf_add_byte(key, 0);
    }
    return skipped != NULL;
}

static sb_status find_model(sb_graph_ask *a, sb_http_request *q, sb_http_reply *r, sb_app *app) {
    const json_t *source = json_object_get(a->body, "source");
    const json_t *other = json_object_get(source, "other");
    const json_t *graph = json_object_get(source, "graph"),
                 *stats = json_object_get(source, "stats");
    named n[3] = {0}; /* the graph, the other, the statistics */
    sb_err *err = sb_http_err(r);
    sb_status status = take_named(&n[0], q, r, app, graph);
    if (status == SB_OK && json_is_object(other)) status = take_named(&n[1], q, r, app, other);
    if (status == SB_OK && json_is_string(stats) && n[0].has_series) {
        status = take_series(&n[2], q, app, sb_run_id(n[0].series.run), sb_json_slice(stats), err);
        if (status == SB_NOT_FOUND) {
            sb_api_fail(r, 404, "not_found", "the run has no such statistics");
            status = SB_END;
        }
    }
    sb_buf key;
    sb_alloc alloc = sb_arena_alloc(&a->arena);
    sb_buf_init(&key, &alloc, 1 << 20);
    for (int i = 0; status == SB_OK && i < 3; i++) add_key(&key, &n[i]);
    if (status == SB_OK && !add_skipped(&key, a)) status = sb_fail_nomem(err, "for a graph");
    if (status == SB_OK) {
        bool is_plain_file = n[0].is_file && !n[1].has_series && !n[1].is_file;
        sb_slice name = sb_buf_slice(&key);
        if (is_plain_file) {
            a->kept = n[0].kept;
            n[0].kept = NULL;
        } else {
            a->kept = sb_model_cache_find(app->models, name);
        }
        if (!a->kept) status = make_model(a, app, n, name, err);
    }
    for (int i = 0; i < 3; i++) release_named(&n[i], app);
    if (status == SB_NOT_FOUND) {
        sb_api_fail(r, 404, "not_found", "this tag holds no graph");
        status = SB_END;
    }
    return status;
}

/* Damage is told to people as such: the graph is there, but can't be read. */
static sb_status explain(sb_http_reply *r, sb_status status) {
    if (status == SB_REPLACED) {
        sb_api_fail(r, 410, "gone", "%s", sb_http_err(r)->text);
        return SB_END;
    }
    if (status != SB_CORRUPT && status != SB_INVALID) return status;
    char text[sizeof sb_http_err(r)->text];
    memcpy(text, sb_http_err(r)->text, sizeof text);
    sb_api_fail(r, 422, "corrupt", "%s", text[0] ? text : "the graph can't be read");
    return SB_END;
}

sb_status sb_graph_ask_begin(sb_graph_ask *a, sb_http_request *q, sb_http_reply *r, sb_app *app) {
    *a = (sb_graph_ask){.body = sb_api_body(q, r)};
    if (!a->body) return SB_END;
    sb_arena_init(&a->arena, app->env->alloc, 256 << 10, ASK_BYTES);
    sb_status status = explain(r, find_model(a, q, r, app));
    if (status != SB_OK) {
        sb_graph_ask_end(a, app);
        return status;
    }
    a->m = a->kept->model;
    return SB_OK;
}

void sb_graph_ask_end(sb_graph_ask *a, sb_app *app) {
    sb_model_cache_release(app->models, a->kept);
    sb_arena_fini(&a->arena);
    json_decref(a->body);
}

bool sb_graph_ask_box(const sb_graph_ask *a, sb_http_reply *r, const char *key, uint32_t *box) {
    sb_slice name = sb_json_slice(json_object_get(a->body, key));
    *box = name.p ? sb_model_find(a->m, name) : SB_BOX_NONE;
    if (*box != SB_BOX_NONE) return true;
    sb_api_fail(r, 404, "not_found", "the graph has no node %.*s", SB_SHOWN(name));
    return false;
}

uint32_t *sb_graph_ask_boxes(sb_graph_ask *a, const char *key, size_t *n) {
    const json_t *list = json_object_get(a->body, key);
    size_t count = json_array_size(list);
    uint32_t *boxes = sb_arena_get(&a->arena, (count + 1) * sizeof *boxes);
    *n = 0;
    for (size_t i = 0; boxes && i < count; i++) {
        uint32_t box = sb_model_find(a->m, sb_json_slice(json_array_get(list, i)));
        if (box != SB_BOX_NONE) boxes[(*n)++] = box;
    }
    return boxes;
}
