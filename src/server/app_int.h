/* app_int.h: the application from inside, for the handlers in compat/ and api/.
 *
 * Everything here but the count and the server's pointer is set before the first request and never
 * changes; what it points to has its own rules for threads. */
#ifndef SB_SERVER_APP_INT_H
#define SB_SERVER_APP_INT_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "query/lines/smooth.h"
#include "query/records/blob.h"
#include "server/app.h"
#include "server/body_cache.h"
#include "server/jobs/jobs.h"
#include "server/made_cache.h"
#include "server/model_cache.h"
#include "server/profiles.h"
#include "server/state.h"
#include "server/uploads.h"
#include "store/store.h"

struct sb_app {
    const sb_env *env;
    char instance[17]; /* 16 hexadecimal digits, random: run ids and versions mean something only
                          within one process */
    sb_arena texts;    /* of all slices below */
    sb_slice version, data_location, window_title, sandbox;
    sb_slice path_prefix;
    sb_slice logdir;      /* the one directory that is read; empty: there are several */
    sb_slice environment; /* the body of /data/environment */
    bool show_superseded;
    bool compat_sampling;
    sb_app_sample *samples;
    size_t sample_count;
    sb_store *store;
    sb_ingest *ingest;
    sb_state *state;         /* people's notes */
    sb_smooth_cache *smooth; /* smoothed lines, for /api/v1 */
    sb_body_cache *bodies;
    sb_made_cache *made;    /* on disk: thumbnails and other things made from blobs */
    sb_jobs *jobs;          /* background jobs */
    sb_model_cache *models; /* of graphs */
    sb_uploads *uploads;    /* files that people sent */
    sb_profiles *profiles;  /* captures of profilers */
    sb_blob_cache *blobs;   /* open log files, for what is kept by reference */
    struct {
        _Atomic uint64_t version;     /* of the store's names, when tags were last counted */
        _Atomic uint64_t fresh_until; /* steady time */
    } count;
    /* The store publishes changes before the server is open and after it was closed. */
    pthread_mutex_t publish_mutex; /* guards both below */
    sb_http_server *server;
    uint64_t jobs_count; /* the greatest count of changes of jobs so far */
};

/* The table of all routes (routes.c). */
extern const sb_http_route sb_app_routes[];
extern const size_t sb_app_route_count;
extern const sb_http_hooks sb_app_hooks;

#endif
