/* serve_bed.h: the whole application without a socket: a request goes in as text, the finished
 * reply comes out. For tests and fuzz targets of what handlers make of requests.
 *
 *     sb_serve_bed bed;
 *     sb_serve_bed_open(&bed, &env, path);         reads all there is first
 *     sb_serve_answer a = sb_serve_ask(&bed, "GET /data/runs", body, alloc);
 *     ... a.status, a.wire ...
 *     sb_serve_answer_fini(&a);
 *     sb_serve_bed_close(&bed);
 *
 * Requests go through the same gate, routes and hooks as real ones. All inline, so that a fuzz
 * target needs no library. Threads: ask from one. */
#ifndef SB_TESTS_SUPPORT_SERVE_BED_H
#define SB_TESTS_SUPPORT_SERVE_BED_H

#include <string.h>

#include "base/slice.h"
#include "server/app_int.h"
#include "server/http/guard/admit.h"
#include "sync.h"

typedef struct sb_serve_bed {
    sb_app app;
    sb_gate gate;
    sb_reply_rules rules;
    bool has_gate;
} sb_serve_bed;

static inline void sb_serve_bed_close(sb_serve_bed *b) {
    sb_app *app = &b->app;
    if (b->has_gate) sb_gate_fini(&b->gate);
    sb_ingest_stop(app->ingest);
    sb_profiles_free(app->profiles);
    if (app->state) sb_state_close(app->state);
    if (app->smooth) sb_smooth_cache_free(app->smooth);
    if (app->store) sb_store_free(app->store);
    if (app->bodies) sb_body_cache_free(app->bodies);
    if (app->blobs) sb_blob_cache_free(app->blobs);
}

static inline sb_status sb_serve_bed_parts(sb_serve_bed *b, const sb_env *env, const char *path) {
    sb_app *app = &b->app;
    *app = (sb_app){.env = env,
                    .version = SB_LIT("1"),
                    .data_location = sb_slice_str(path),
                    .window_title = SB_LIT(""),
                    .path_prefix = SB_LIT(""),
                    .logdir = sb_slice_str(path),
                    .environment = SB_LIT("{}")};
    sb_status status = sb_body_cache_new(&app->bodies, env->alloc, 1 << 20, NULL);
    sb_smooth_opts smooth = {.alloc = env->alloc, .line_bytes = 64 << 10, .keep_bytes = 1 << 20};
    if (status == SB_OK) status = sb_smooth_cache_new(&app->smooth, &smooth, NULL);
    if (status == SB_OK)
        status = sb_state_open(&app->state, env->alloc, NULL, sb_slice_str(path), NULL);
    if (status == SB_OK) status = sb_blob_cache_new(&app->blobs, env, 8, NULL);
    sb_store_opts store = {.alloc = env->alloc};
    if (status == SB_OK) status = sb_store_new(&app->store, &store, NULL);
    sb_ingest_root root = {NULL, path};
    sb_ingest_opts ingest = {.roots = &root, .root_count = 1, .threads = 1, .no_inotify = true};
    if (status == SB_OK) status = sb_ingest_start(&app->ingest, env, app->store, &ingest, NULL);
    if (status == SB_OK) sb_test_sync(app->ingest);
    /* No captures, and no thread that takes memory while requests are counted. */
    sb_profiles_opts profiles = {.env = env};
    if (status == SB_OK) status = sb_profiles_new(&app->profiles, &profiles, NULL);
    if (status == SB_OK) sb_profiles_stop(app->profiles);
    return status;
}

/* env and path must outlive it. On failure it is closed already. */
static inline sb_status sb_serve_bed_open(sb_serve_bed *b, const sb_env *env, const char *path) {
    *b = (sb_serve_bed){.has_gate = false};
    sb_status status = sb_serve_bed_parts(b, env, path);
    sb_http_options o;
    sb_http_defaults(&o);
    o.routes = sb_app_routes;
    o.route_count = sb_app_route_count;
    o.hooks = sb_app_hooks;
    o.app = &b->app;
    if (status == SB_OK) {
        status = sb_gate_init(&b->gate, &o, 7, NULL);
        b->has_gate = status == SB_OK;
    }
    b->rules = (sb_reply_rules){
        .policy = "p", .hooks = o.hooks, .app = &b->app, .reply_memory = 64u << 20};
    if (status != SB_OK) sb_serve_bed_close(b);
    return status;
}

typedef struct sb_serve_answer {
    sb_arena arena;
    sb_http_request request;
    sb_http_param headers[3];
    sb_http_reply reply;
    sb_reply_wire wire;
    int status; /* 0: no reply could be made */
} sb_serve_answer;

/* Runs a handler as a connection does. */
static inline sb_status sb_serve_run(sb_serve_answer *a, const sb_http_route *row, sb_app *app) {
    a->request.is_inline = row->how != SB_HTTP_POOLED;
    sb_status status = row->run(&a->request, &a->reply, app);
    if (row->how != SB_HTTP_EITHER || status != SB_MORE) return status;
    a->request.is_inline = false;
    return row->run(&a->request, &a->reply, app);
}

/* first is "METHOD target"; type is the body's. *a belongs to the caller until fini; all memory of
 * the request comes from alloc. The live stream is not answered: status 0. */
static inline void sb_serve_ask(sb_serve_bed *b, sb_serve_answer *a, sb_slice first, sb_slice type,
                                sb_slice body, const sb_alloc *alloc) {
    const uint8_t *blank = first.n ? memchr(first.p, ' ', first.n) : NULL;
    size_t word = blank ? (size_t)(blank - first.p) : first.n;
    char method[8] = "GET";
    if (word && word < sizeof method) memcpy(method, first.p, word), method[word] = 0;
    size_t skip = blank ? word + 1 : word;
    memset(a, 0, sizeof *a);
    sb_arena_init(&a->arena, alloc, 4096, 64u << 20);
    a->headers[0] = (sb_http_param){SB_LIT("Host"), SB_LIT("localhost")};
    a->headers[1] = (sb_http_param){SB_LIT("Content-Type"), type};
    a->request = (sb_http_request){.method = sb_method_of(method),
                                   .target = sb_slice_of(first.p + skip, first.n - skip),
                                   .headers = {a->headers, type.n ? 2 : 1},
                                   .peer = SB_LIT("127.0.0.1"),
                                   .peer_is_loopback = true,
                                   .arena = &a->arena,
                                   .alloc = alloc,
                                   .clock = &sb_clock_system,
                                   .deadline = UINT64_MAX};
    sb_reply_init(&a->reply, &a->request, &b->rules);
    const sb_http_route *row = NULL;
    sb_status status = SB_OK;
    sb_verdict verdict = sb_gate_admit(&b->gate, &a->request, &a->reply, &row, &status);
    a->request.body = body;
    if (verdict == SB_VERDICT_LOGIN) return;
    if (verdict == SB_VERDICT_RUN) {
        if (row->how == SB_HTTP_STREAM) return;
        status = sb_serve_run(a, row, &b->app);
    }
    sb_reply_settle(&a->reply, status);
    if (sb_reply_to_wire(&a->reply, &a->wire) == SB_OK) a->status = a->wire.status;
}

static inline void sb_serve_answer_fini(sb_serve_answer *a) {
    sb_reply_fini(&a->reply);
    sb_arena_fini(&a->arena);
}

#endif
