/* app.c: opening and closing of the application.
 *
 * Opened in this order: the store, the background jobs, the reader (with threads of its own), the
 * HTTP server. Closed in an order in which nothing uses what is already freed: publishing to the
 * server stops, then the server (whose handlers use all others), the background jobs, the reader,
 * the store. */
#include "server/app.h"

#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/slice.h"
#include "base/text/json.h"
#include "server/app_int.h"
#include "base/banned.h"

#define TEXTS_CAP ((size_t)16 << 20)
#define OPEN_FILES 64
#define INTERRUPT_MS 100u /* how often a blocking load looks whether to go on */
#define MAX_JOBS 64
#define MADE_BYTES ((uint64_t)512 << 20) /* of thumbnails and the like on disk */
#define JOB_BYTES ((uint64_t)8 << 30)    /* of files on disk */
/* What is kept for later requests: answers up to BODIES_BYTES, smoothed lines up to
 * SMOOTH_KEEP_BYTES and SMOOTH_KEEP_PER_POINT for each point in the store. Together that is 32 MiB
 * and less than the points themselves take. */
#define BODIES_BYTES ((size_t)16 << 20)
#define SMOOTH_KEEP_BYTES ((uint64_t)16 << 20)
#define SMOOTH_KEEP_PER_POINT 7u
#define MODELS_BYTES                                                                               \
    ((size_t)256 << 20)                   /* of graphs; nothing is allocated until one is
                                                   opened */
#define UPLOADS_BYTES ((uint64_t)1 << 30) /* on disk */
#define TRACES_BYTES                                                                               \
    ((size_t)1 << 30)                           /* of profiles; nothing is allocated until one is
                                                   opened */
#define SMOOTH_LINE_BYTES ((uint64_t)256 << 20) /* a line above that is sent unsmoothed */

/* Threads that commit call this in any order: one that was held up after its commit must not put an
 * older version in the place of a newer one. So what is published is the store's version now. */
static void publish_version(void *ud, uint64_t version) {
    (void)version;
    sb_app *app = ud;
    pthread_mutex_lock(&app->publish_mutex);
    if (app->server) sb_http_publish(app->server, sb_store_version(app->store));
    pthread_mutex_unlock(&app->publish_mutex);
}

/* As above, the greatest count that was told is the newest. */
static void publish_jobs(void *ud, uint64_t count) {
    sb_app *app = ud;
    pthread_mutex_lock(&app->publish_mutex);
    if (count > app->jobs_count) app->jobs_count = count;
    if (app->server) sb_http_publish_jobs(app->server, app->jobs_count);
    pthread_mutex_unlock(&app->publish_mutex);
}

static void set_server(sb_app *app, sb_http_server *server) {
    pthread_mutex_lock(&app->publish_mutex);
    app->server = server;
    if (server) sb_http_publish(server, sb_store_version(app->store));
    if (server) sb_http_publish_jobs(server, app->jobs_count);
    pthread_mutex_unlock(&app->publish_mutex);
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* /data/environment never changes and is requested more often than any other route, so its body is
 * made once. */
static sb_status make_environment(sb_app *app, const char *flags_json, sb_err *err) {
    sb_buf out, provider;
    sb_buf_init(&out, app->env->alloc, TEXTS_CAP);
    sb_buf_init(&provider, app->env->alloc, TEXTS_CAP);
    sb_buf_printf(&provider, "Seaboard(logdir='%.*s')", SB_SHOWN(app->data_location));
    sb_json j;
    sb_json_init(&j, &out, &(sb_json_opts){.spaced = true});
    sb_json_begin_object(&j);
    sb_json_put_text(&j, "version", app->version);
    sb_json_put_text(&j, "data_location", app->data_location);
    sb_json_put_text(&j, "window_title", app->window_title);
    sb_json_put_str(&j, "experiment_name", "");
    sb_json_put_str(&j, "experiment_description", "");
    sb_json_put_int(&j, "creation_time", 0);
    sb_json_key_str(&j, "debug");
    sb_json_begin_object(&j);
    sb_json_put_text(&j, "data_provider", sb_buf_slice(&provider));
    sb_json_key_str(&j, "flags");
    sb_json_raw(&j, sb_slice_str(flags_json && *flags_json ? flags_json : "{}"));
    sb_json_end_object(&j);
    sb_json_end_object(&j);
    sb_status status = sb_json_finish(&j, "what is said of the server", err);
    if (status == SB_OK) {
        app->environment = sb_arena_dup(&app->texts, sb_buf_slice(&out));
        if (!app->environment.p) status = sb_fail_nomem(err, "for the server's texts");
    }
    sb_buf_fini(&provider);
    sb_buf_fini(&out);
    return status;
}

static sb_status copy_samples(sb_app *app, const sb_app_opts *o, sb_err *err) {
    app->show_superseded = o->show_superseded;
    app->compat_sampling = o->compat_sampling;
    app->sample_count = o->sample_count;
    app->samples = sb_arena_zeroed(&app->texts, o->sample_count + 1, sizeof *app->samples);
    if (!app->samples) return sb_fail_nomem(err, "for the server's texts");
    for (size_t i = 0; i < o->sample_count; i++) {
        sb_slice name = sb_arena_dup(&app->texts, sb_slice_str(o->samples[i].plugin));
        if (!name.p) return sb_fail_nomem(err, "for the server's texts");
        app->samples[i] = (sb_app_sample){(const char *)name.p, o->samples[i].count};
    }
    return SB_OK;
}

static sb_status copy_texts(sb_app *app, const sb_app_opts *o, sb_err *err) {
    const struct {
        sb_slice *to;
        const char *from;
    } texts[] = {
        {&app->version, o->version},
        {&app->data_location, o->data_location},
        {&app->window_title, o->window_title},
        {&app->sandbox, o->sandbox ? o->sandbox : "off"},
        {&app->path_prefix, o->http.path_prefix},
        {&app->logdir,
         o->ingest.root_count == 1 && !o->ingest.roots[0].name ? o->ingest.roots[0].path : ""},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        *texts[i].to = sb_arena_dup(&app->texts, sb_slice_str(texts[i].from));
        if (!texts[i].to->p) return sb_fail_nomem(err, "for the server's texts");
    }
    sb_status status = copy_samples(app, o, err);
    return status == SB_OK ? make_environment(app, o->flags_json, err) : status;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* A random number. Where the system has no randomness yet it is at least different in every
 * process. */
static uint64_t random_number(const sb_app *app) {
    uint64_t number;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) == sizeof number) return number;
    const sb_clock *clock = app->env->clock;
    return clock->wall(clock->ctx) ^ (uintptr_t)app ^ ((uint64_t)getpid() << 32);
}

static sb_status open_store(sb_app *app, const sb_app_opts *o, sb_err *err) {
    sb_store_opts opts = {
        .alloc = o->env->alloc,
        .memory_limit = o->memory_limit,
        .spill_dir = o->spill_dir,
        .hash_seed = random_number(app),
        .changed = publish_version,
        .changed_ud = app,
    };
    return sb_store_new(&app->store, &opts, err);
}

static sb_status open_smooth_cache(sb_app *app, const sb_app_opts *o, sb_err *err) {
    sb_smooth_opts opts = {.alloc = o->env->alloc,
                           .line_bytes = SMOOTH_LINE_BYTES,
                           .keep_bytes = SMOOTH_KEEP_BYTES,
                           .keep_per_point = SMOOTH_KEEP_PER_POINT,
                           .store = app->store};
    return sb_smooth_cache_new(&app->smooth, &opts, err);
}

/* Another process on the same port must not take its own jobs for ours: a page that follows a job
 * while the server is restarted would get the result of somebody else's, or cancel it. So the first
 * id is random. JavaScript holds numbers below 2^53 exactly: there is room for 2^20 jobs. */
static uint64_t first_job_id(const sb_app *app) {
    return (random_number(app) & UINT32_MAX) << 20 | 1;
}

/* One thread: jobs take long, and requests come first. */
static sb_status open_jobs(sb_app *app, const sb_app_opts *o, sb_err *err) {
    sb_jobs_opts opts = {
        .alloc = o->env->alloc,
        .workers = 1,
        .max_jobs = MAX_JOBS,
        .max_bytes = JOB_BYTES,
        .first_id = first_job_id(app),
        .folder = o->spill_dir,
        .ctx = app,
        .changed = publish_jobs,
        .changed_ud = app,
    };
    return sb_jobs_open(&app->jobs, &opts, err);
}

static void publish_profiles(void *ud) {
    sb_app *app = ud;
    sb_jobs_tell(app->jobs);
}

static sb_status open_profiles(sb_app *app, const sb_app_opts *o, sb_err *err) {
    size_t n = o->ingest.root_count;
    sb_capture_root *roots = sb_alloc_zeroed(o->env->alloc, n + 1, sizeof *roots);
    if (!roots) return sb_fail_nomem(err, "for the list of captures");
    for (size_t i = 0; i < n; i++)
        roots[i] = (sb_capture_root){o->ingest.roots[i].path, o->ingest.roots[i].name};
    sb_profiles_opts opts = {
        .env = o->env,
        .roots = roots,
        .root_count = n,
        .interval = o->ingest.reload_interval,
        .bytes = TRACES_BYTES,
        .spool_dir = o->spill_dir,
        .changed = publish_profiles,
        .ud = app,
    };
    sb_status status = sb_profiles_new(&app->profiles, &opts, err);
    sb_alloc_put(o->env->alloc, roots, (n + 1) * sizeof *roots);
    return status;
}

static sb_status open_server(sb_app *app, const sb_app_opts *o, int *listener, sb_err *err) {
    sb_http_options http = o->http;
    http.alloc = o->env->alloc;
    http.clock = o->env->clock;
    http.instance = app->instance;
    http.version = sb_store_version(app->store);
    http.routes = sb_app_routes;
    http.route_count = sb_app_route_count;
    http.hooks = sb_app_hooks;
    http.app = app;
    sb_http_server *server;
    sb_status status = sb_http_open(&server, &http, listener, err);
    if (status == SB_OK) set_server(app, server);
    return status;
}

static sb_status load_first(sb_app *app, const sb_app_opts *o, sb_err *err) {
    uint64_t ticket = sb_ingest_begin_sync(app->ingest);
    while (!sb_ingest_wait_sync(app->ingest, ticket, INTERRUPT_MS)) {
        sb_ingest_progress progress;
        sb_ingest_get_progress(app->ingest, &progress);
        if (o->is_interrupted && o->is_interrupted(o->interrupt_ud, &progress))
            return sb_fail(err, SB_TIMEOUT, 0, "interrupted before everything was read");
    }
    return SB_OK;
}

static sb_status open_app_parts(sb_app *app, const sb_app_opts *o, int *listener, sb_err *err) {
    sb_status status = copy_texts(app, o, err);
    if (status == SB_OK) status = sb_body_cache_new(&app->bodies, o->env->alloc, BODIES_BYTES, err);
    if (status == SB_OK)
        status = sb_made_cache_new(&app->made, o->env->alloc, o->spill_dir, MADE_BYTES, err);
    if (status == SB_OK)
        status = sb_state_open(&app->state, o->env->alloc, o->state_path,
                               sb_slice_str(o->state_set ? o->state_set : o->data_location), err);
    if (status == SB_OK) status = sb_blob_cache_new(&app->blobs, o->env, OPEN_FILES, err);
    if (status == SB_OK)
        status = sb_model_cache_new(&app->models, o->env->alloc, MODELS_BYTES, err);
    if (status == SB_OK)
        status = sb_uploads_new(&app->uploads, o->env->alloc, o->spill_dir, UPLOADS_BYTES, err);
    if (status == SB_OK) status = open_store(app, o, err);
    if (status == SB_OK) status = open_jobs(app, o, err);
    if (status == SB_OK) status = open_smooth_cache(app, o, err);
    if (status == SB_OK) status = open_profiles(app, o, err);
    if (status != SB_OK) return status;
    status = sb_ingest_start(&app->ingest, o->env, app->store, &o->ingest, err);
    if (status != SB_OK) return status;
    if (o->load_first) status = load_first(app, o, err);
    return status == SB_OK ? open_server(app, o, listener, err) : status;
}

sb_status sb_app_open(sb_app **out, const sb_app_opts *o, int *listener, sb_err *err) {
    sb_app *app = sb_alloc_zeroed(o->env->alloc, 1, sizeof *app);
    sb_status status;
    if (app) {
        app->env = o->env;
        snprintf(app->instance, sizeof app->instance, "%016llx",
                 (unsigned long long)random_number(app));
        sb_arena_init(&app->texts, o->env->alloc, 4096, TEXTS_CAP);
        pthread_mutex_init(&app->publish_mutex, NULL);
        status = open_app_parts(app, o, listener, err);
    } else {
        status = sb_fail_nomem(err, "for the server");
    }
    if (status == SB_OK) {
        *out = app;
        return SB_OK;
    }
    if (*listener >= 0) close(*listener);
    *listener = -1;
    sb_app_close(app);
    return status;
}

void sb_app_close(sb_app *app) {
    if (!app) return;
    sb_http_server *server = app->server;
    set_server(app, NULL);
    sb_http_close(server);
    sb_profiles_stop(app->profiles); /* it tells the jobs what it finds */
    sb_jobs_close(app->jobs);
    sb_profiles_free(app->profiles);
    sb_ingest_stop(app->ingest);
    sb_state_close(app->state);
    if (app->smooth) sb_smooth_cache_free(app->smooth);
    sb_store_free(app->store);
    sb_body_cache_free(app->bodies);
    sb_made_cache_free(app->made);
    sb_blob_cache_free(app->blobs);
    sb_model_cache_free(app->models);
    sb_uploads_free(app->uploads);
    pthread_mutex_destroy(&app->publish_mutex);
    sb_arena_fini(&app->texts);
    sb_alloc_put(app->env->alloc, app, sizeof *app);
}

void sb_app_progress(sb_app *app, sb_ingest_progress *out) {
    sb_ingest_get_progress(app->ingest, out);
}

int sb_app_spill_error(const sb_app *app) {
    sb_blocks_stats stats;
    sb_store_get_stats(app->store, &stats);
    return stats.spill_error;
}
