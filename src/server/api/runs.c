/* runs.c: the list of runs with their state, and what changed since a version. */
#include <math.h>

#include "base/text/number.h"
#include "codec/plugin.h"
#include "codec/proto/items.h"
#include "server/api/api.h"
#include "base/banned.h"

#define STALLED_AFTER 600.0 /* seconds without news */
#define FINISHED_AFTER 3600.0
#define MAX_CHANGED_SERIES 10000u

#define START_TAG SB_LIT("_hparams_/session_start_info")
#define END_TAG SB_LIT("_hparams_/session_end_info")

/* The body of a tag's hparams content; false when the run has none. */
static bool hparams_body(sb_run *run, sb_slice tag, sb_hparams_kind kind, sb_slice *body) {
    sb_series_info info;
    sb_hparams_plugin content;
    if (sb_run_find_info(run, tag, &info) != SB_OK) return false;
    if (sb_hparams_plugin_read(&content, info.meta->plugin_content) != SB_OK) return false;
    if (content.version != 0 || content.kind != kind) return false;
    *body = content.body;
    return true;
}

static void add_any(sb_json *j, const sb_any *value) {
    switch (value->kind) {
    case SB_ANY_NUMBER:
        sb_json_double(j, value->number);
        break;
    case SB_ANY_STRING:
        sb_json_text(j, value->body);
        break;
    case SB_ANY_BOOL:
        sb_json_bool(j, value->boolean);
        break;
    default:
        break;
    }
}

static bool has_value(const sb_any *value) {
    return value->kind == SB_ANY_NUMBER || value->kind == SB_ANY_STRING ||
           value->kind == SB_ANY_BOOL;
}

static void add_hparams(sb_json *j, sb_run *run) {
    sb_slice body;
    sb_session_start_view start;
    if (!hparams_body(run, START_TAG, SB_HPARAMS_SESSION_START, &body)) return;
    if (sb_session_start_read(&start, body) != SB_OK) return;
    sb_json_key_str(j, "hparams");
    sb_json_begin_object(j);
    sb_items entries = sb_items_of(start.message, SB_SESSION_START_HPARAMS);
    sb_hparam_view hparam;
    while (sb_hparam_next(&entries, &hparam) == SB_OK) {
        if (!has_value(&hparam.value)) continue;
        sb_json_key(j, hparam.name);
        add_any(j, &hparam.value);
    }
    sb_json_end_object(j);
}

/* How the session ended, or NULL when the run does not say. */
static const char *end_status(sb_run *run) {
    sb_slice body;
    sb_session_end_view end;
    if (!hparams_body(run, END_TAG, SB_HPARAMS_SESSION_END, &body)) return NULL;
    if (sb_session_end_read(&end, body) != SB_OK) return NULL;
    switch (end.status) {
    case SB_HPARAM_STATUS_SUCCESS:
        return "success";
    case SB_HPARAM_STATUS_FAILURE:
        return "failure";
    case SB_HPARAM_STATUS_RUNNING:
        return "running";
    default:
        return "unknown";
    }
}

static const char *state_of(const sb_app *app, const sb_run_info *info, const char *ended) {
    if (info->is_loading) return "loading";
    if (ended && (ended[0] == 's' || ended[0] == 'f')) return "finished";
    double age = sb_wall_seconds(app->env->clock) - info->last_wall;
    if (!info->has_start || age > FINISHED_AFTER) return "finished";
    return age > STALLED_AFTER ? "stalled" : "running";
}

static void add_seconds(sb_json *j, const char *key, bool known, double seconds) {
    sb_json_key_str(j, key);
    if (known)
        sb_json_double(j, seconds);
    else
        sb_json_null(j);
}

void sb_api_add_run(sb_json *j, const sb_app *app, sb_run *run) {
    sb_run_info info;
    sb_run_get_info(run, &info);
    const char *ended = end_status(run);
    sb_json_begin_object(j);
    sb_json_put_uint(j, "id", info.id);
    sb_json_put_text(j, "name", info.name);
    add_seconds(j, "start", info.has_start, info.start_wall);
    add_seconds(j, "last", info.has_start, info.last_wall);
    sb_json_put_str(j, "state", state_of(app, &info, ended));
    sb_json_put_uint(j, "points", info.points);
    sb_json_put_uint(j, "series", info.series_count);
    sb_json_put_uint(j, "epoch", info.epoch);
    sb_json_put_uint(j, "version", info.version);
    sb_json_put_uint(j, "attempts", info.attempts);
    sb_json_put_uint(j, "damaged", info.damaged);
    sb_json_put_uint(j, "droppedTags", info.dropped_tags);
    add_hparams(j, run);
    if (ended) sb_json_put_str(j, "status", ended);
    sb_json_end_object(j);
}

void sb_api_add_loading(sb_json *j, sb_app *app) {
    sb_ingest_progress p;
    sb_ingest_get_progress(app->ingest, &p);
    sb_json_key_str(j, "loading");
    sb_json_begin_object(j);
    sb_json_put_bool(j, "isLoading", p.is_loading);
    sb_json_put_uint(j, "runs", p.runs);
    sb_json_put_uint(j, "files", p.files);
    sb_json_put_uint(j, "bytes", p.bytes);
    sb_json_put_uint(j, "bytesDone", p.bytes_done);
    sb_json_put_uint(j, "points", p.points);
    sb_json_put_uint(j, "problems", p.problems);
    sb_json_put_str(j, "problem", p.problem);
    sb_json_end_object(j);
}

sb_status sb_api_runs(sb_http_request *q, sb_http_reply *r, void *opaque) {
    sb_app *app = opaque;
    sb_runs runs;
    sb_json j;
    sb_api_begin(&j, r, app);
    sb_json_put_str(&j, "instance", app->instance);
    sb_status status = sb_store_runs(app->store, q->arena, &runs);
    if (status != SB_OK) return status;
    sb_json_key_str(&j, "runs");
    sb_json_begin_array(&j);
    for (size_t i = 0; i < runs.n; i++) sb_api_add_run(&j, app, runs.items[i]);
    sb_json_end_array(&j);
    sb_runs_release(&runs);
    return sb_api_end(&j, r);
}

/* ---- changes --------------------------------------------------------------------------------- */

static sb_status add_series_since(sb_json *j, sb_http_request *q, sb_run *run, uint64_t since,
                                  uint32_t *left) {
    sb_series_info *series;
    size_t n;
    sb_arena_mark mark = sb_arena_here(q->arena);
    /* One more than may be listed, to know whether there are more. */
    sb_status status = sb_run_list_since(run, since, (size_t)*left + 1, q->arena, &series, &n);
    for (size_t i = 0; status == SB_OK && i < n; i++) {
        if (*left == 0) {
            status = SB_LIMIT;
            break;
        }
        (*left)--;
        sb_json_begin_array(j);
        sb_json_uint(j, sb_run_id(run));
        sb_json_text(j, series[i].tag);
        sb_json_uint(j, series[i].points);
        sb_json_text(j, series[i].meta->plugin_name);
        sb_json_bool(j, series[i].begin_version > since);
        sb_json_end_array(j);
    }
    sb_arena_reset(q->arena, mark);
    return status;
}

/* Runs that changed first, then the series that grew in them. */
static sb_status add_changes(sb_json *j, sb_http_request *q, sb_app *app, const sb_runs *runs,
                             uint64_t since) {
    sb_json_key_str(j, "runs");
    sb_json_begin_array(j);
    for (size_t i = 0; i < runs->n; i++) {
        sb_run_info info;
        sb_run_get_info(runs->items[i], &info);
        if (info.version > since || since == 0) sb_api_add_run(j, app, runs->items[i]);
    }
    sb_json_end_array(j);
    sb_json_key_str(j, "series");
    sb_json_begin_array(j);
    uint32_t left = MAX_CHANGED_SERIES;
    sb_status status = SB_OK;
    for (size_t i = 0; since && status == SB_OK && i < runs->n; i++)
        status = add_series_since(j, q, runs->items[i], since, &left);
    sb_json_end_array(j);
    sb_json_put_bool(j, "more", status == SB_LIMIT);
    return status == SB_LIMIT ? SB_OK : status;
}

static void add_gone(sb_json *j, const sb_gone_run *gone, size_t n) {
    sb_json_key_str(j, "gone");
    sb_json_begin_array(j);
    for (size_t i = 0; i < n; i++) {
        sb_json_begin_object(j);
        sb_json_put_uint(j, "id", gone[i].id);
        sb_json_put_text(j, "name", gone[i].name);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
}

/* Does the client's version come from this process? One from another process, or from the future,
 * says nothing about what the client knows. */
static bool is_our_version(const sb_http_request *q, const sb_app *app, uint64_t since,
                           uint64_t version) {
    sb_slice instance = sb_http_query(q, "instance");
    if (instance.p && !sb_slice_eq(instance, sb_slice_str(app->instance))) return false;
    return since <= version;
}

sb_status sb_api_changes(sb_http_request *q, sb_http_reply *r, void *opaque) {
    sb_app *app = opaque;
    uint64_t since = 0;
    sb_slice text = sb_http_query(q, "since");
    if (text.p && !sb_parse_uint64(text, &since))
        return sb_api_fail(r, 400, "invalid", "since must be a version, a whole number");
    sb_json j;
    uint64_t version = sb_api_begin(&j, r, app);
    bool is_complete = is_our_version(q, app, since, version);
    /* Tombstones before runs: no run is then in both lists. */
    sb_gone_run *gone = NULL;
    size_t gone_n = 0;
    sb_status status = SB_OK;
    if (is_complete && since)
        status = sb_store_gone_runs(app->store, since, q->arena, &gone, &gone_n, &is_complete);
    sb_runs runs;
    if (status == SB_OK) status = sb_store_runs(app->store, q->arena, &runs);
    if (status != SB_OK) return status;
    if (!is_complete) since = gone_n = 0;
    sb_json_put_str(&j, "instance", app->instance);
    sb_json_put_uint(&j, "since", since);
    sb_json_put_bool(&j, "reset", !is_complete);
    sb_api_add_loading(&j, app);
    sb_json_put_uint(&j, "runCount", runs.n);
    add_gone(&j, gone, gone_n);
    status = add_changes(&j, q, app, &runs, since);
    sb_runs_release(&runs);
    return status == SB_OK ? sb_api_end(&j, r) : status;
}
