/* status.c: how the server and the log directory are, down to the single file. */
#include "base/intern.h"
#include "server/api/api.h"
#include "base/banned.h"

static void add_count(sb_json *j, const char *key, uint64_t count) {
    sb_json_key_str(j, key);
    sb_json_uint(j, count);
}

static void add_text(sb_json *j, const char *key, sb_slice text) {
    sb_json_key_str(j, key);
    sb_json_text(j, text);
}

/* ---- how many tags of each plugin ------------------------------------------------------------ */

#define MAX_PLUGINS 64u

typedef struct plugin_count {
    sb_slice name;
    uint64_t tags;
} plugin_count;

static void count_plugin(plugin_count *plugins, size_t *n, sb_slice name) {
    size_t i = 0;
    while (i < *n && !sb_slice_eq(plugins[i].name, name)) i++;
    if (i == *n) {
        if (*n == MAX_PLUGINS) return;
        plugins[(*n)++] = (plugin_count){name, 0};
    }
    plugins[i].tags++;
}

static sb_status add_plugins(sb_json *j, sb_http_request *q, const sb_runs *runs) {
    plugin_count plugins[MAX_PLUGINS];
    size_t plugin_n = 0;
    sb_intern tags;
    sb_intern_init(&tags, q->alloc, (uint64_t)(uintptr_t)q, UINT32_MAX >> 3);
    sb_status status = SB_OK;
    for (size_t i = 0; status == SB_OK && i < runs->n; i++) {
        sb_series_info *series;
        size_t n;
        sb_arena_mark mark = sb_arena_here(q->arena);
        status = sb_run_list(runs->items[i], q->arena, &series, &n);
        for (size_t k = 0; status == SB_OK && k < n; k++) {
            uint32_t id;
            bool is_new;
            status = sb_intern_add(&tags, series[k].tag, &id, &is_new);
            if (status == SB_OK && is_new)
                count_plugin(plugins, &plugin_n, series[k].meta->plugin_name);
        }
        sb_arena_reset(q->arena, mark);
    }
    sb_intern_fini(&tags);
    sb_json_key_str(j, "plugins");
    sb_json_begin_object(j);
    for (size_t i = 0; i < plugin_n; i++) {
        sb_json_key(j, plugins[i].name);
        sb_json_uint(j, plugins[i].tags);
    }
    sb_json_end_object(j);
    return status;
}

/* ---- files ----------------------------------------------------------------------------------- */

static const char *state_name(const sb_file_state *s) {
    if (!s->is_done) return s->trouble[0] && s->read == 0 ? "failed" : "reading";
    return s->is_live ? "live" : "idle";
}

static void add_file(sb_json *j, sb_slice run, const sb_file_info_view *f) {
    sb_json_begin_object(j);
    add_text(j, "run", run);
    add_text(j, "path", f->path);
    add_count(j, "size", f->state.size);
    add_count(j, "read", f->state.read);
    add_count(j, "records", f->state.records);
    add_count(j, "damaged", f->state.damaged);
    add_count(j, "lost", f->state.lost);
    sb_json_key_str(j, "state");
    sb_json_str(j, state_name(&f->state));
    sb_json_key_str(j, "trouble");
    sb_json_str(j, f->state.trouble);
    sb_json_end_object(j);
}

typedef struct damage {
    uint64_t files, records, bytes;
} damage;

/* Files of the wanted run (all when empty), and the sum of their damage. */
static sb_status add_files(sb_json *j, sb_http_request *q, const sb_runs *runs, sb_slice wanted,
                           bool list, damage *sum) {
    for (size_t i = 0; i < runs->n; i++) {
        sb_run_info info;
        sb_run_get_info(runs->items[i], &info);
        sb_file_info_view *files;
        size_t n;
        sb_arena_mark mark = sb_arena_here(q->arena);
        sb_status status = sb_run_files(runs->items[i], q->arena, &files, &n);
        if (status != SB_OK) return status;
        bool is_wanted = list && (!wanted.p || sb_slice_eq(wanted, info.name));
        for (size_t k = 0; k < n; k++) {
            sum->files += files[k].state.damaged > 0;
            sum->records += files[k].state.damaged;
            sum->bytes += files[k].state.lost;
            if (is_wanted) add_file(j, info.name, &files[k]);
        }
        sb_arena_reset(q->arena, mark);
    }
    return SB_OK;
}

static void add_damage(sb_json *j, const damage *sum) {
    sb_json_key_str(j, "damage");
    sb_json_begin_object(j);
    add_count(j, "files", sum->files);
    add_count(j, "records", sum->records);
    add_count(j, "bytes", sum->bytes);
    sb_json_end_object(j);
}

static void add_program(sb_json *j, const sb_app *app) {
    sb_json_key_str(j, "program");
    sb_json_begin_object(j);
    add_text(j, "name", SB_LIT("seaboard"));
    add_text(j, "version", app->version);
    sb_json_end_object(j);
    add_text(j, "logdir", app->data_location);
    add_text(j, "windowTitle", app->window_title);
}

static void add_memory(sb_json *j, const sb_app *app) {
    sb_blocks_stats stats;
    sb_store_get_stats(app->store, &stats);
    sb_json_key_str(j, "memory");
    sb_json_begin_object(j);
    add_count(j, "chunks", stats.memory);
    add_count(j, "spilled", stats.spilled);
    sb_json_end_object(j);
}

static void add_state(sb_json *j, const sb_app *app) {
    sb_json_key_str(j, "state");
    sb_json_begin_object(j);
    sb_json_key_str(j, "persistent");
    sb_json_bool(j, sb_state_is_persistent(app->state));
    sb_json_key_str(j, "hint");
    sb_json_str(j, sb_state_hint(app->state));
    sb_json_end_object(j);
}

sb_status sb_api_status(sb_http_request *q, sb_http_reply *r, void *opaque) {
    sb_app *app = opaque;
    sb_runs runs;
    sb_status status = sb_store_runs(app->store, q->arena, &runs);
    if (status != SB_OK) return status;
    sb_slice list = sb_http_query(q, "files");
    bool has_list = list.p && !sb_slice_eq(list, SB_LIT("0"));
    sb_json j;
    damage sum = {0};
    sb_api_begin(&j, r, app);
    add_program(&j, app);
    sb_api_add_loading(&j, app);
    add_memory(&j, app);
    add_state(&j, app);
    status = add_plugins(&j, q, &runs);
    if (has_list) {
        sb_json_key_str(&j, "files");
        sb_json_begin_array(&j);
    }
    if (status == SB_OK) status = add_files(&j, q, &runs, sb_http_query(q, "run"), has_list, &sum);
    if (has_list) sb_json_end_array(&j);
    add_damage(&j, &sum);
    sb_runs_release(&runs);
    return status == SB_OK ? sb_api_end(&j, r) : status;
}
