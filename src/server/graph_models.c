/* graph_models.c: from what a source names to the bytes of its graphs, and to their model. */
#include "server/graph_models.h"

#include <stdio.h>

#include "base/slice.h"
#include "graph/formats/graph.h"
#include "base/banned.h"

/* Bytes of graphs that a request reads: about a fifth of a second. */
#define MOST_AT_ONCE ((uint64_t)8 << 20)

sb_slice sb_json_slice(const json_t *text) {
    return json_is_string(text) ? sb_slice_of(json_string_value(text), json_string_length(text))
                                : (sb_slice){NULL, 0};
}

/* One of the graphs that a source names: from a log, or a file that was sent. */
typedef struct named {
    bool is_file;
    sb_slice file;
    sb_series series;
    bool has_series;
    sb_ref_item item;
    uint64_t bytes;
    const sb_kept_model *kept; /* of a file */
} named;

static bool is_named(const named *n) {
    return n->is_file || n->has_series;
}

static void release_all(named n[3], sb_app *app) {
    for (int i = 0; i < 3; i++) {
        if (n[i].has_series) sb_series_release(&n[i].series);
        sb_model_cache_release(app->models, n[i].kept);
    }
}

/* ---- what is named --------------------------------------------------------------------------- */

static sb_status check_ref(const json_t *ref, sb_err *err) {
    const json_t *run = json_object_get(ref, "run"), *tag = json_object_get(ref, "tag");
    bool is_log = json_is_integer(run) && json_integer_value(run) >= 0 && json_is_string(tag);
    if (is_log || json_is_string(json_object_get(ref, "file"))) return SB_OK;
    return sb_fail(err, SB_INVALID, 0, "a graph is {\"run\": its id, \"tag\"} or {\"file\"}");
}

sb_status sb_graph_source_check(const json_t *source, sb_err *err) {
    const json_t *other = json_object_get(source, "other");
    sb_status status = check_ref(json_object_get(source, "graph"), err);
    return status == SB_OK && json_is_object(other) ? check_ref(other, err) : status;
}

static sb_status take_series(named *n, sb_app *app, uint64_t id, sb_slice tag, sb_arena *arena,
                             sb_err *err) {
    sb_runs runs;
    sb_status status = sb_store_runs(app->store, arena, &runs);
    if (status != SB_OK) return status;
    status = SB_NOT_FOUND;
    for (size_t i = 0; i < runs.n; i++)
        if (sb_run_id(runs.items[i]) == id) {
            status = sb_series_take(runs.items[i], tag, arena, &n->series);
            break;
        }
    sb_runs_release(&runs);
    if (status != SB_OK) return status;
    n->has_series = true;
    status = sb_graph_blob(app, &n->series, arena, &n->item, NULL, err);
    n->bytes = status == SB_OK ? n->item.ref.length : 0;
    return status;
}

/* The key of a file's own model, in `key`. */
static sb_slice file_key(char *key, size_t room, sb_slice file) {
    int n = snprintf(key, room, "file %.*s", SB_SHOWN(file));
    return sb_slice_of(key, n < (int)room ? (size_t)n : room - 1);
}

static sb_status take_file(named *n, sb_app *app, sb_slice file, sb_err *err) {
    char key[80];
    n->is_file = true;
    n->file = file;
    n->kept = sb_model_cache_find(app->models, file_key(key, sizeof key, file));
    if (n->kept || sb_uploads_find(app->uploads, file, &n->bytes)) return SB_OK;
    return sb_fail(err, SB_REPLACED, 0,
                   "the server no longer has this file: drop it on the page again");
}

static sb_status take_named(named *n, sb_app *app, const json_t *ref, sb_arena *arena,
                            sb_err *err) {
    const json_t *file = json_object_get(ref, "file");
    if (json_is_string(file)) return take_file(n, app, sb_json_slice(file), err);
    uint64_t run = (uint64_t)json_integer_value(json_object_get(ref, "run"));
    sb_slice tag = sb_json_slice(json_object_get(ref, "tag"));
    sb_status status = take_series(n, app, run, tag, arena, err);
    return status == SB_NOT_FOUND ? sb_fail(err, status, 0, "there is no such run or tag") : status;
}

/* The graph, the other, the statistics. */
static sb_status take_all(named n[3], sb_app *app, const sb_graph_wish *wish, sb_err *err) {
    const json_t *other = json_object_get(wish->source, "other");
    const json_t *stats = json_object_get(wish->source, "stats");
    sb_status status =
        take_named(&n[0], app, json_object_get(wish->source, "graph"), wish->arena, err);
    if (status == SB_OK && json_is_object(other))
        status = take_named(&n[1], app, other, wish->arena, err);
    if (status == SB_OK && json_is_string(stats) && n[0].has_series) {
        status = take_series(&n[2], app, sb_run_id(n[0].series.run), sb_json_slice(stats),
                             wish->arena, err);
        if (status == SB_NOT_FOUND)
            status = sb_fail(err, status, 0, "the run has no such statistics");
    }
    return status;
}

/* ---- the key --------------------------------------------------------------------------------- */

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

/* Devices whose measurements don't count; NULL: no memory. */
static sb_slice *skipped_of(const sb_graph_wish *wish, size_t *n) {
    const json_t *list = json_object_get(wish->source, "skip");
    sb_slice *names = sb_arena_zeroed(wish->arena, json_array_size(list) + 1, sizeof *names);
    *n = names ? json_array_size(list) : 0;
    for (size_t i = 0; i < *n; i++) names[i] = sb_json_slice(json_array_get(list, i));
    return names;
}

static sb_status make_key(sb_buf *key, const named n[3], const sb_slice *skipped, size_t count,
                          sb_err *err) {
    for (int i = 0; i < 3; i++) add_key(key, &n[i]);
    for (size_t i = 0; i < count; i++) {
        sb_buf_add_slice(key, skipped[i]);
        sb_buf_add_byte(key, 0);
    }
    return sb_buf_check(key, "a graph", err);
}

/* ---- the model ------------------------------------------------------------------------------- */

static sb_status check_size(uint64_t bytes, const sb_graph_wish *wish, sb_err *err) {
    if (!wish->at_once || bytes <= MOST_AT_ONCE) return SB_OK;
    return sb_fail(err, SB_MORE, 0,
                   "this graph is large: submit a job of the kind \"graph\" with the same source, "
                   "then ask again");
}

static sb_model_ask ask_of(sb_app *app, const sb_graph_wish *wish) {
    return (sb_model_ask){
        .alloc = app->env->alloc, .progress = wish->progress, .progress_ud = wish->ud};
}

/* A file that is text is parsed, then made a model: about as long each. */
typedef struct half {
    const sb_graph_wish *wish;
    uint64_t at; /* 0 or 1 */
} half;

static bool tell_half(void *ud, uint64_t done, uint64_t total) {
    const half *h = ud;
    return h->wish->progress(h->wish->ud, h->at * total + done, 2 * total);
}

/* The model of a file, and its GraphDef without large values, which a comparison with another graph
 * needs. */
static sb_status make_file_model(named *n, sb_app *app, const sb_graph_wish *wish,
                                 sb_arena *scratch, sb_err *err) {
    char key[80];
    sb_buf graph, lean;
    sb_graph_file about;
    sb_model_ask ask = ask_of(app, wish);
    half now = {.wish = wish};
    sb_text_watch watch = {tell_half, &now};
    sb_model *model = NULL;
    sb_slice bytes;
    sb_status status = sb_uploads_read(app->uploads, n->file, scratch, &bytes, err);
    if (status != SB_OK) return status;
    sb_buf_init(&graph, app->env->alloc, SB_MOST_GRAPH_BYTES);
    sb_buf_init(&lean, app->env->alloc, SB_MOST_GRAPH_BYTES);
    status =
        sb_graph_file_read(&graph, bytes, &about, wish->progress ? &watch : NULL, scratch, err);
    if (status != SB_OK && wish->refused)
        *wish->refused = (sb_graph_file){.trouble = about.trouble, .fault = about.fault};
    ask.graph = about.graph;
    if (wish->progress && about.format == SB_FORMAT_GRAPH_TEXT) {
        now.at = 1;
        ask.progress = tell_half;
        ask.progress_ud = &now;
    }
    if (status == SB_OK) status = sb_model_new(&model, &ask, err);
    if (status == SB_OK) status = sb_graph_lean(&lean, about.graph, err);
    sb_buf_fini(&graph);
    about.graph = (sb_slice){NULL, 0};
    if (status != SB_OK) {
        sb_model_free(model);
        sb_buf_fini(&lean);
        return status;
    }
    n->kept =
        sb_model_cache_take(app->models, file_key(key, sizeof key, n->file), model, &lean, &about);
    return n->kept ? SB_OK : sb_fail_nomem(err, "for a graph");
}

static sb_status make_file_models(named n[3], sb_app *app, const sb_graph_wish *wish, sb_err *err) {
    sb_status status = SB_OK;
    for (int i = 0; i < 3 && status == SB_OK; i++) {
        sb_arena scratch;
        if (!n[i].is_file || n[i].kept) continue;
        status = check_size(n[i].bytes, wish, err);
        if (status != SB_OK) break;
        sb_arena_init(&scratch, app->env->alloc, 64 << 10, SB_MOST_GRAPH_BYTES);
        status = make_file_model(&n[i], app, wish, &scratch, err);
        sb_arena_fini(&scratch);
    }
    return status;
}

/* The GraphDef of a named graph; one that has to be made is put into `made`. */
static sb_status graph_of(const named *n, sb_slice *graph, sb_buf *made, sb_slice *functions,
                          sb_app *app, sb_arena *arena, sb_err *err) {
    *functions = (sb_slice){NULL, 0};
    if (!n->is_file) return sb_graph_of_series(graph, made, functions, app, &n->series, arena, err);
    *graph = n->kept->graph;
    return SB_OK;
}

/* Step statistics: those of the tag asked for, or those that came with the graph. */
static sb_status stats_of(const named n[3], sb_app *app, sb_arena *arena, sb_slice *out,
                          sb_err *err) {
    const named *from = n[2].has_series ? &n[2] : &n[0];
    sb_ref_item item;
    *out = (sb_slice){NULL, 0};
    if (!from->has_series ||
        !(sb_graph_offers_meta(from->series.tag, from->series.meta) & SB_GRAPH_PROFILE))
        return SB_OK;
    return sb_graph_blob(app, &from->series, arena, &item, out, err);
}

/* ask: with what does not come from the log. */
static sb_status make_model(sb_model **out, sb_model_ask *ask, sb_app *app, const named n[3],
                            sb_arena *arena, sb_err *err) {
    sb_buf made[2];
    for (int i = 0; i < 2; i++) sb_buf_init(&made[i], app->env->alloc, SB_MOST_GRAPH_BYTES);
    sb_status status = graph_of(&n[0], &ask->graph, &made[0], &ask->functions, app, arena, err);
    if (status == SB_OK && is_named(&n[1])) {
        status = graph_of(&n[1], &ask->other, &made[1], &(sb_slice){0}, app, arena, err);
        if (!ask->other.p) ask->other = SB_LIT("");
        ask->is_lean = n[0].is_file || n[1].is_file;
    }
    if (status == SB_NOT_FOUND) status = sb_fail(err, status, 0, "this tag holds no graph");
    if (status == SB_OK) status = stats_of(n, app, arena, &ask->metadata, err);
    if (status == SB_OK) status = sb_model_new(out, ask, err);
    for (int i = 0; i < 2; i++) sb_buf_fini(&made[i]);
    return status;
}

static sb_status find_or_make(const sb_kept_model **out, sb_app *app, named n[3],
                              const sb_graph_wish *wish, sb_err *err) {
    sb_model_ask ask = ask_of(app, wish);
    sb_model *model;
    sb_buf key;
    sb_alloc alloc = sb_arena_alloc(wish->arena);
    if (n[0].is_file && !is_named(&n[1])) {
        *out = n[0].kept;
        n[0].kept = NULL;
        return SB_OK;
    }
    ask.skipped = skipped_of(wish, &ask.skipped_count);
    if (!ask.skipped) return sb_fail_nomem(err, "for a graph");
    sb_buf_init(&key, &alloc, 1 << 20);
    sb_status status = make_key(&key, n, ask.skipped, ask.skipped_count, err);
    if (status != SB_OK) return status;
    *out = sb_model_cache_find(app->models, sb_buf_slice(&key));
    if (*out) return SB_OK;
    status = check_size(n[0].bytes + n[1].bytes + n[2].bytes, wish, err);
    if (status == SB_OK) status = make_model(&model, &ask, app, n, wish->arena, err);
    if (status != SB_OK) return status;
    *out = sb_model_cache_take(app->models, sb_buf_slice(&key), model, NULL,
                               n[0].kept ? &n[0].kept->about : NULL);
    return *out ? SB_OK : sb_fail_nomem(err, "for a graph");
}

sb_status sb_graph_model_take(const sb_kept_model **out, sb_app *app, const sb_graph_wish *wish,
                              sb_err *err) {
    named n[3] = {0};
    *out = NULL;
    sb_status status = take_all(n, app, wish, err);
    if (status == SB_OK) status = make_file_models(n, app, wish, err);
    if (status == SB_OK) status = find_or_make(out, app, n, wish, err);
    release_all(n, app);
    return status;
}

sb_status sb_graph_model_key(sb_buf *key, sb_app *app, const sb_graph_wish *wish, sb_err *err) {
    named n[3] = {0};
    size_t count;
    sb_slice *skipped = skipped_of(wish, &count);
    if (!skipped) return sb_fail_nomem(err, "for a graph");
    sb_buf_printf(key, "%llu ", (unsigned long long)sb_model_cache_evicted(app->models));
    sb_status status = take_all(n, app, wish, err);
    if (status == SB_OK) status = make_key(key, n, skipped, count, err);
    release_all(n, app);
    return status;
}
