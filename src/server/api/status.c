/* status.c: the state of the server and of the log directory, down to each file. */
#include "base/bytes.h"
#include "query/series_list.h"
#include "server/api/api.h"
#include "base/banned.h"

/* ---- how many tags of each plugin ------------------------------------------------------------ */

/* The counts as JSON. */
static sb_status write_plugins(sb_buf *out, sb_http_request *q, const sb_app *app, sb_err *err) {
    sb_plugin_count *plugins;
    size_t n;
    sb_budget budget = sb_api_budget(q);
    sb_status status = sb_plugins_list(app->store, &budget, q->arena, &plugins, &n, err);
    if (status != SB_OK) return status;
    sb_json j;
    sb_json_init(&j, out, NULL);
    sb_json_begin_object(&j);
    for (size_t i = 0; i < n; i++) {
        sb_json_key(&j, plugins[i].name);
        sb_json_uint(&j, plugins[i].tags);
    }
    size_t captures = app->profiles ? sb_profiles_count(app->profiles) : 0;
    if (captures) {
        sb_json_key_str(&j, "profile");
        sb_json_uint(&j, captures);
    }
    sb_json_end_object(&j);
    return sb_json_finish(&j, "plugins", err);
}

/* The version of the names whose counts are told. There may be millions of names, and new ones all
 * the time: while loading, counts may be as old as ten times what it took to make them. */
static uint64_t version_to_tell(const sb_app *app, uint64_t now) {
    sb_ingest_progress p;
    sb_ingest_get_progress(app->ingest, &p);
    bool may_be_old = p.is_loading && now < atomic_load(&app->count.fresh_until);
    return may_be_old ? atomic_load(&app->count.version) : sb_store_names_version(app->store);
}

/* Counted once for all who ask, until a name comes or goes. The version was read before the names
 * are counted: when names have changed by then, the next request has a newer version and counts
 * again. */
static sb_status add_plugins(sb_json *j, sb_http_request *q, sb_app *app, uint64_t version,
                             sb_err *err) {
    const sb_clock *clock = app->env->clock;
    uint64_t begin = clock->steady(clock->ctx);
    uint8_t key[] = "tags of plugins ________ ________";
    sb_store64(key + sizeof key - 18, version);
    sb_store64(key + sizeof key - 9, sb_profiles_count(app->profiles));
    sb_slice name = sb_slice_of(key, sizeof key);
    sb_json_key_str(j, "plugins");
    sb_body *body = sb_body_cache_find(app->bodies, name);
    if (body) {
        sb_json_raw(j, sb_body_bytes(body));
        sb_body_release(body);
        return SB_OK;
    }
    sb_buf text;
    sb_buf_init(&text, q->alloc, (size_t)1 << 20);
    sb_status status = write_plugins(&text, q, app, err);
    if (status == SB_OK) {
        sb_json_raw(j, sb_buf_slice(&text));
        body = sb_body_cache_keep(app->bodies, name, sb_buf_slice(&text));
        if (body) sb_body_release(body);
        uint64_t end = clock->steady(clock->ctx);
        atomic_store(&app->count.version, version);
        atomic_store(&app->count.fresh_until, end + 10 * (end - begin));
    }
    sb_buf_fini(&text);
    return status;
}

/* ---- files ----------------------------------------------------------------------------------- */

static const char *state_name(const sb_file_state *s) {
    if (!s->is_done) return s->trouble[0] && s->read == 0 ? "failed" : "reading";
    return s->is_live ? "live" : "idle";
}

static void add_file_state(sb_json *j, sb_slice run, const sb_file_info_view *f) {
    sb_json_begin_object(j);
    sb_json_put_text(j, "run", run);
    sb_json_put_text(j, "path", f->path);
    sb_json_put_uint(j, "size", f->state.size);
    sb_json_put_uint(j, "read", f->state.read);
    sb_json_put_uint(j, "records", f->state.records);
    sb_json_put_uint(j, "damaged", f->state.damaged);
    sb_json_put_uint(j, "lost", f->state.lost);
    sb_json_put_str(j, "state", state_name(&f->state));
    sb_json_put_str(j, "trouble", f->state.trouble);
    sb_json_end_object(j);
}

typedef struct damage {
    uint64_t files, records, bytes;
} damage;

static damage damage_of(const sb_runs *runs) {
    damage sum = {0};
    for (size_t i = 0; i < runs->n; i++) {
        sb_run_info info;
        sb_run_get_info(runs->items[i], &info);
        sum.files += info.damaged_files;
        sum.records += info.damaged;
        sum.bytes += info.lost;
    }
    return sum;
}

/* The files of the wanted run; those of all runs when none is named. */
static sb_status add_files(sb_json *j, sb_http_request *q, const sb_runs *runs, sb_slice wanted) {
    sb_status status = SB_OK;
    sb_json_key_str(j, "files");
    sb_json_begin_array(j);
    for (size_t i = 0; status == SB_OK && i < runs->n; i++) {
        sb_run_info info;
        sb_run_get_info(runs->items[i], &info);
        if (wanted.p && !sb_slice_eq(wanted, info.name)) continue;
        sb_file_info_view *files;
        size_t n;
        sb_arena_mark mark = sb_arena_here(q->arena);
        status = sb_run_files(runs->items[i], q->arena, &files, &n);
        for (size_t k = 0; k < n; k++) add_file_state(j, info.name, &files[k]);
        sb_arena_reset(q->arena, mark);
    }
    sb_json_end_array(j);
    return status;
}

static void add_damage(sb_json *j, const damage *sum) {
    sb_json_key_str(j, "damage");
    sb_json_begin_object(j);
    sb_json_put_uint(j, "files", sum->files);
    sb_json_put_uint(j, "records", sum->records);
    sb_json_put_uint(j, "bytes", sum->bytes);
    sb_json_end_object(j);
}

static void add_program(sb_json *j, const sb_app *app) {
    sb_json_key_str(j, "program");
    sb_json_begin_object(j);
    sb_json_put_text(j, "name", SB_LIT("seaboard"));
    sb_json_put_text(j, "version", app->version);
    sb_json_end_object(j);
    sb_json_put_text(j, "logdir", app->data_location);
    sb_json_put_text(j, "windowTitle", app->window_title);
    sb_json_put_text(j, "sandbox", app->sandbox);
}

static void add_memory_use(sb_json *j, const sb_app *app) {
    sb_blocks_stats stats;
    sb_store_get_stats(app->store, &stats);
    sb_json_key_str(j, "memory");
    sb_json_begin_object(j);
    sb_json_put_uint(j, "chunks", stats.memory);
    sb_json_put_uint(j, "spilled", stats.spilled);
    sb_json_put_str(j, "problem", stats.spill_error ? strerror(stats.spill_error) : "");
    sb_json_put_uint(j, "smoothed", sb_smooth_cache_bytes(app->smooth));
    sb_json_end_object(j);
}

static void add_noticed(sb_json *j, const sb_app *app) {
    sb_ingest_progress p;
    sb_ingest_get_progress(app->ingest, &p);
    sb_json_key_str(j, "noticed");
    sb_json_begin_object(j);
    sb_json_put_uint(j, "inotify", p.noticed.by_inotify);
    sb_json_put_uint(j, "polling", p.noticed.by_polling);
    sb_json_put_uint(j, "walks", p.noticed.by_walk);
    sb_json_end_object(j);
}

static void add_http(sb_json *j, sb_app *app) {
    sb_http_counts counts = {0};
    pthread_mutex_lock(&app->publish_mutex); /* the server is closed only without it */
    if (app->server) sb_http_count(app->server, &counts);
    pthread_mutex_unlock(&app->publish_mutex);
    sb_json_key_str(j, "http");
    sb_json_begin_object(j);
    sb_json_put_uint(j, "connections", counts.connections);
    sb_json_put_uint(j, "streams", counts.streams);
    sb_json_put_uint(j, "requests", counts.requests);
    sb_json_put_uint(j, "refused", counts.refused);
    sb_json_put_uint(j, "tooSlow", counts.too_slow);
    sb_json_put_uint(j, "queued", counts.queued);
    sb_json_put_uint(j, "memory", counts.memory);
    sb_json_put_uint(j, "memoryLimit", counts.memory_limit);
    sb_json_put_uint(j, "noMemory", counts.no_memory);
    sb_json_end_object(j);
}

static void add_state(sb_json *j, const sb_app *app) {
    sb_json_key_str(j, "state");
    sb_json_begin_object(j);
    sb_json_put_bool(j, "persistent", sb_state_is_persistent(app->state));
    sb_json_put_str(j, "hint", sb_state_hint(app->state));
    sb_json_end_object(j);
}

sb_status sb_api_status(sb_http_request *q, sb_http_reply *r, void *opaque) {
    sb_app *app = opaque;
    sb_runs runs;
    sb_json j;
    sb_api_begin(&j, r, app);
    sb_json_put_str(&j, "instance", app->instance);
    uint64_t names_version = version_to_tell(app, app->env->clock->steady(app->env->clock->ctx));
    sb_status status = sb_store_runs(app->store, q->arena, &runs);
    if (status != SB_OK) return status;
    sb_slice list = sb_http_query(q, "files");
    bool has_list = list.p && !sb_slice_eq(list, SB_LIT("0"));
    damage sum = damage_of(&runs);
    add_program(&j, app);
    sb_api_add_loading(&j, app);
    add_memory_use(&j, app);
    add_noticed(&j, app);
    add_http(&j, app);
    add_state(&j, app);
    status = add_plugins(&j, q, app, names_version, sb_http_err(r));
    if (status == SB_OK && has_list) status = add_files(&j, q, &runs, sb_http_query(q, "run"));
    add_damage(&j, &sum);
    sb_runs_release(&runs);
    return status == SB_OK ? sb_api_end(&j, r) : status;
}
