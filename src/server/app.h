/* app.h: the application: a log directory that is read, kept and served, from start to stop.
 *
 *     sb_http_bind(&bound, ...);
 *     sb_app_open(&app, &opts, &bound.listener, &err);    answers from now on, reads meanwhile
 *     ...
 *     sb_app_close(app);
 *
 * The texts of the options are copied. The server answers before anything is read; with load_first
 * it opens only when all that is there has been read.
 *
 * Threads: open and close belong to one thread; the rest may be called from any. */
#ifndef SB_SERVER_APP_H
#define SB_SERVER_APP_H

#include "base/env.h"
#include "ingest/ingest.h"
#include "server/http/http.h"

typedef struct sb_app sb_app;

/* How many points of a plugin's series the compatible API shows. */
typedef struct sb_app_sample {
    const char *plugin;
    uint64_t count; /* 0: all */
} sb_app_sample;

typedef struct sb_app_opts {
    const sb_env *env;
    /* the data */
    sb_ingest_opts ingest;
    uint64_t memory_limit; /* for points; 0: none */
    const char *spill_dir; /* where points beyond it go; NULL: nowhere, they stay in memory */
    bool load_first;       /* the first reading is over before anything is answered */
    /* Asked while load_first waits; true ends that, and sb_app_open fails with SB_TIMEOUT. May be
     * NULL. */
    bool (*is_interrupted)(void *ud, const sb_ingest_progress *progress);
    void *interrupt_ud;
    const char *state_path; /* the file of people's notes; NULL: they are kept in memory only */
    const char *state_set;  /* whose notes these are: the log directory's real path */
    /* what the server tells about itself */
    const char *version;
    const char *data_location; /* as the user wrote it */
    const char *window_title;
    const char
        *flags_json; /* a JSON object with every option by name; copied into /data/environment */
    const char *sandbox;  /* what the process gave up, in words; NULL: nothing */
    bool show_superseded; /* /data also serves points that a later attempt of the run superseded */
    /* TensorBoard's sampling; without any, /data serves every point */
    bool compat_sampling; /* plugins that samples does not name have TensorBoard's default limits */
    const sb_app_sample *samples;
    size_t sample_count;
    /* access control and limits; routes, hooks and app are set here */
    sb_http_options http;
} sb_app_opts;

/* The listening socket is closed by the application, also when this fails. */
sb_status sb_app_open(sb_app **out, const sb_app_opts *opts, int *listener, sb_err *err);
/* NULL is allowed. */
void sb_app_close(sb_app *app);

/* The progress of reading the log directory. */
void sb_app_progress(sb_app *app, sb_ingest_progress *out);
/* Why points beyond the memory limit can't be moved to the cache directory: an errno; 0: they
 * can. */
int sb_app_spill_error(const sb_app *app);

#endif
