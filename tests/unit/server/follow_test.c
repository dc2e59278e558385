/* follow_test.c: a client that lists once and then follows `changes` misses nothing, and takes
 * nothing of another server process for what it asked.
 *
 * What may go wrong is a matter of moments: a run that arrives while a listing is being made. So
 * the handlers are called directly, with an allocator for the request that lets a run arrive, or
 * go, at its n-th allocation; n goes over all of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "fsio/fs.h"
#include "server/api/api.h"
#include "server/app_int.h"
#include "server/http/reply.h"
#include "server/http/server.h"
#include "server/jobs/jobs.h"
#include "store/store_int.h"
#include "support/test.h"
#include "base/banned.h"

static const sb_series_meta scalar_meta = {
    .kind = SB_SERIES_SCALAR, .dtype = SB_FLOAT, .plugin_name = {(const uint8_t *)"scalars", 7}};

/* ---- a server over an empty directory, whose store the test fills ---------------------------- */

static sb_app *open_app(sb_test_dir *dir) {
    static const sb_env env = {&sb_alloc_libc, &sb_fs_local, &sb_clock_system};
    sb_ingest_root root = {.path = sb_test_dir_path(dir)};
    sb_app_opts o = {.env = &env,
                     .ingest = {.roots = &root, .root_count = 1, .threads = 1},
                     .load_first = true,
                     .version = "1",
                     .data_location = "logs",
                     .window_title = ""};
    sb_http_bound bound;
    sb_app *app;
    sb_err err;
    sb_http_defaults(&o.http);
    assert_ok(sb_http_bind(&bound, &(sb_http_bind_options){.tries = 1}, &err), &err);
    assert_ok(sb_app_open(&app, &o, &bound.listener, &err), &err);
    return app;
}

/* Adds a point of a tag, and the run or the series where they are new. */
static void log_point(sb_store *store, const char *name, const char *tag) {
    sb_run *run = sb_store_find_run(store, sb_slice_str(name));
    uint32_t file = 0, series;
    bool is_new;
    if (!run) {
        assert_int_equal(
            sb_store_add_run(store, sb_slice_str(name), SB_LIT("/nowhere"), &run, NULL), SB_OK);
        assert_int_equal(sb_run_add_file(run, SB_LIT("/nowhere/events"), &file, NULL), SB_OK);
    }
    assert_int_equal(sb_run_series(run, sb_slice_str(tag), &scalar_meta, &series, &is_new), SB_OK);
    sb_run_saw_time(run, file, 1, false);
    assert_int_equal(sb_run_add_scalar(run, file, series, 1, 1, 1, SB_NUMBER_REAL), SB_OK);
    assert_int_equal(sb_run_commit(run), SB_OK);
    sb_run_release(run);
}

static void drop(sb_store *store, const char *name) {
    sb_run *run = sb_store_find_run(store, sb_slice_str(name));
    assert_non_null(run);
    sb_store_drop_run(store, run);
    sb_run_release(run);
}

/* ---- an allocator during whose n-th call something happens ----------------------------------- */

typedef struct moment {
    sb_alloc alloc;
    sb_store *store;
    void (*happen)(sb_store *store);
    unsigned at, calls;
    bool has_happened;
} moment;

/* Would a loader have to wait? The thread that allocates may hold a lock of the store. */
static bool is_unlocked(sb_store *store) {
    if (pthread_mutex_trylock(&store->mutex) != 0) return false;
    bool all = true;
    for (size_t i = 0; all && i < store->runs.n; i++) {
        all = pthread_mutex_trylock(&store->runs.items[i]->mutex) == 0;
        if (all) pthread_mutex_unlock(&store->runs.items[i]->mutex);
    }
    pthread_mutex_unlock(&store->mutex);
    return all;
}

static void *resize_at_moment(void *ctx, void *p, size_t old_size, size_t new_size) {
    moment *m = ctx;
    if (m->happen && !m->has_happened && new_size && m->calls++ >= m->at && is_unlocked(m->store)) {
        m->has_happened = true;
        m->happen(m->store);
    }
    return sb_alloc_libc.resize(sb_alloc_libc.ctx, p, old_size, new_size);
}

/* ---- requests -------------------------------------------------------------------------------- */

/* The reply's JSON; given back with json_decref. */
static json_t *ask_at_moment(sb_app *app, sb_http_handler handler, const sb_http_param *query,
                             size_t query_n, moment *m) {
    m->alloc = (sb_alloc){resize_at_moment, m, NULL};
    m->store = app->store;
    sb_arena arena;
    sb_arena_init(&arena, &m->alloc, 64, 1 << 24); /* small blocks: many allocations */
    sb_reply_rules rules = {.policy = "", .reply_memory = 1 << 24};
    sb_http_request q = {.method = SB_HTTP_GET,
                         .arena = &arena,
                         .alloc = &m->alloc,
                         .clock = &sb_clock_system,
                         .deadline = UINT64_MAX,
                         .query = {query, query_n}};
    sb_http_reply r;
    sb_reply_init(&r, &q, &rules);
    assert_int_equal(handler(&q, &r, app), SB_OK);
    assert_int_equal(r.status, 200);
    json_error_t error;
    json_t *reply = json_loadb((const char *)sb_http_body(&r)->p, sb_http_body(&r)->n, 0, &error);
    assert_non_null(reply);
    sb_reply_fini(&r);
    sb_arena_fini(&arena);
    return reply;
}

static json_t *ask_changes(sb_app *app, uint64_t since, const char *instance) {
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)since);
    sb_http_param query[] = {{SB_LIT("since"), sb_slice_str(text)},
                             {SB_LIT("instance"), sb_slice_str(instance ? instance : "")}};
    return ask_at_moment(app, sb_api_changes, query, instance ? 2 : 1, &(moment){0});
}

static uint64_t version_of(const json_t *reply) {
    return (uint64_t)json_integer_value(json_object_get(reply, "version"));
}

static const char *text_of(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

/* Does the list hold an object with that value, or (key NULL) a list whose second item it is? */
static bool has(const json_t *reply, const char *list, const char *key, const char *value) {
    const json_t *items = json_object_get(reply, list);
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        const char *found = key ? text_of(item, key) : json_string_value(json_array_get(item, 1));
        if (strcmp(found, value) == 0) return true;
    }
    return false;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static char newest[32]; /* the run that arrived last, and its tag */

static void run_arrives(sb_store *store) {
    static unsigned count;
    snprintf(newest, sizeof newest, "arrived %u", count++);
    log_point(store, newest, newest);
}

static void first_run_goes(sb_store *store) {
    drop(store, "first");
}

static void add_some_runs(sb_store *store) {
    for (char name[] = "a"; *name <= 'z'; ++*name) log_point(store, name, "loss");
}

static void run_that_arrives_during_a_listing_is_listed_or_told_by_changes(void **state) {
    sb_app *app = open_app(*state);
    add_some_runs(app->store);
    const struct {
        sb_http_handler handler;
        const char *list, *key;
    } listings[] = {{sb_api_runs, "runs", "name"},
                    {sb_api_changes, "runs", "name"},
                    {sb_api_tags, "tags", "tag"}};
    for (size_t i = 0; i < SB_COUNT(listings); i++) {
        moment m = {.has_happened = true};
        for (unsigned at = 0; m.has_happened; at++) {
            m = (moment){.happen = run_arrives, .at = at};
            json_t *listed = ask_at_moment(app, listings[i].handler, NULL, 0, &m);
            json_t *told = ask_changes(app, version_of(listed), NULL);
            bool is_known =
                has(listed, listings[i].list, listings[i].key, newest) ||
                (has(told, "runs", "name", newest) && has(told, "series", NULL, newest));
            json_decref(listed);
            json_decref(told);
            if (m.has_happened && !is_known)
                fail_msg("a run that arrived at allocation %u of listing %zu is lost", at, i);
            if (m.has_happened) drop(app->store, newest); /* every listing is of the same size */
        }
    }
    sb_app_close(app);
}

static void run_that_goes_during_a_listing_is_not_listed_or_told_as_gone(void **state) {
    sb_app *app = open_app(*state);
    add_some_runs(app->store);
    moment m = {.has_happened = true};
    for (unsigned at = 0; m.has_happened; at++) {
        log_point(app->store, "first", "loss");
        m = (moment){.happen = first_run_goes, .at = at};
        json_t *listed = ask_at_moment(app, sb_api_runs, NULL, 0, &m);
        json_t *told = ask_changes(app, version_of(listed), NULL);
        bool is_known = !has(listed, "runs", "name", "first") || has(told, "gone", "name", "first");
        assert_false(has(told, "gone", "name", "a"));
        json_decref(listed);
        json_decref(told);
        if (m.has_happened && !is_known) fail_msg("the end of a run at allocation %u is lost", at);
    }
    sb_app_close(app);
}

static void series_of_changes_say_plugin_and_whether_they_are_new(void **state) {
    sb_app *app = open_app(*state);
    log_point(app->store, "run", "loss");
    uint64_t before = sb_store_version(app->store);
    log_point(app->store, "run", "loss");
    log_point(app->store, "run", "accuracy");
    json_t *told = ask_changes(app, before, NULL);
    char *series = json_dumps(json_object_get(told, "series"), JSON_COMPACT);
    assert_string_equal(series, "[[0,\"loss\",2,\"scalars\",false],"
                                "[0,\"accuracy\",1,\"scalars\",true]]");
    free(series);
    json_decref(told);
    sb_app_close(app);
}

static void version_of_another_process_resets_the_client(void **state) {
    sb_app *app = open_app(*state);
    log_point(app->store, "run", "loss");
    uint64_t version = sb_store_version(app->store);
    const struct {
        uint64_t since;
        const char *instance;
        bool is_reset;
    } cases[] = {{version, NULL, false},
                 {version, app->instance, false},
                 {version, "0123456789abcdef", true},
                 {version + 1, app->instance, true}, /* a version that was never told */
                 {0, NULL, false}};
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        json_t *told = ask_changes(app, cases[i].since, cases[i].instance);
        assert_int_equal(json_is_true(json_object_get(told, "reset")), cases[i].is_reset);
        bool has_all = cases[i].is_reset || cases[i].since == 0;
        assert_int_equal(has(told, "runs", "name", "run"), has_all);
        if (has_all) assert_int_equal(json_integer_value(json_object_get(told, "since")), 0);
        assert_string_equal(text_of(told, "instance"), app->instance);
        json_decref(told);
    }
    sb_app_close(app);
}

/* Two threads commit, and the first one is held up before it tells: its version is old by then. */
static void streams_are_told_the_newest_version_whoever_tells_last(void **state) {
    sb_app *app = open_app(*state);
    log_point(app->store, "run", "loss");
    uint64_t first = sb_store_version(app->store);
    log_point(app->store, "run", "loss");
    uint64_t second = sb_store_version(app->store);
    assert_true(second > first);
    const sb_store_opts *opts = &app->store->opts;
    opts->changed(opts->changed_ud, first);
    assert_int_equal(atomic_load(&app->server->ticker.version), second);
    sb_app_close(app);
}

static sb_status accept_args(sb_slice args, sb_err *err) {
    (void)args, (void)err;
    return SB_OK;
}

static sb_status do_nothing(sb_job *job, void *ctx, sb_err *err) {
    (void)job, (void)ctx, (void)err;
    return SB_OK;
}

/* A page that follows a job while the server is restarted must not get the result of a job that
 * somebody else submitted to the new process, nor cancel it. */
static void jobs_of_another_process_have_other_ids(void **state) {
    static const sb_job_kind kind = {"nothing", accept_args, do_nothing, NULL};
    uint64_t ids[2];
    for (int i = 0; i < 2; i++) {
        sb_app *app = open_app(*state);
        sb_err err;
        sb_job_info info;
        assert_ok(sb_jobs_submit(app->jobs, &kind, SB_LIT("{}"), SB_LIT("{}"), &ids[i], &err),
                  &err);
        assert_true(ids[i] > 0 && ids[i] < (uint64_t)1 << 53); /* JavaScript holds it exactly */
        if (i) assert_int_equal(sb_jobs_get(app->jobs, ids[0], &info), SB_NOT_FOUND);
        sb_app_close(app);
    }
    assert_true(ids[0] != ids[1]);
}

static void client_that_was_away_for_too_many_deletions_is_reset(void **state) {
    sb_app *app = open_app(*state);
    log_point(app->store, "first", "loss");
    uint64_t long_ago = sb_store_version(app->store);
    drop(app->store, "first");
    uint64_t after_first = sb_store_version(app->store);
    for (unsigned i = 0; i < SB_MAX_GONE_RUNS; i++) {
        log_point(app->store, "short-lived", "loss");
        drop(app->store, "short-lived");
    }
    json_t *told = ask_changes(app, long_ago, NULL);
    assert_true(json_is_true(json_object_get(told, "reset")));
    assert_int_equal(json_array_size(json_object_get(told, "gone")), 0);
    json_decref(told);
    told = ask_changes(app, after_first, NULL);
    assert_true(json_is_false(json_object_get(told, "reset")));
    assert_int_equal(json_array_size(json_object_get(told, "gone")), SB_MAX_GONE_RUNS);
    json_decref(told);
    sb_app_close(app);
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, sb_test_dir_setup, sb_test_dir_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIR(run_that_arrives_during_a_listing_is_listed_or_told_by_changes),
        IN_DIR(run_that_goes_during_a_listing_is_not_listed_or_told_as_gone),
        IN_DIR(series_of_changes_say_plugin_and_whether_they_are_new),
        IN_DIR(version_of_another_process_resets_the_client),
        IN_DIR(streams_are_told_the_newest_version_whoever_tells_last),
        IN_DIR(jobs_of_another_process_have_other_ids),
        IN_DIR(client_that_was_away_for_too_many_deletions_is_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
