/* serve_int.h: what the files of `seaboard serve` share. Threads: main's. */
#ifndef SB_CLI_SERVE_INT_H
#define SB_CLI_SERVE_INT_H

#include <signal.h>

#include "base/arena.h"
#include "cli/cli.h"
#include "cli/serve/serve_flags.h"
#include "server/app.h"

#define SB_SERVE_NAME "Seaboard"
#define SB_SERVE_PORT_TRIES 100
#define SB_SERVE_URL 4096

typedef struct sb_serving {
    sb_cli *cli;
    sb_arena *arena;
    const sb_serve_flags *flags;
    sb_http_bound bound;
    bool is_exposed;
    const char *token; /* NULL: none */
    const char *scheme;
    const char *host; /* in the URL */
    sb_app *app;
    const char *info_path; /* NULL: none was written */
    sigset_t signals;      /* that end it; blocked in every thread */
    int signal;            /* the one that came; 0: none yet */
    uint64_t began;        /* steady time */
} sb_serving;

static inline uint64_t sb_serve_now(const sb_serving *s) {
    return s->cli->env->clock->steady(s->cli->env->clock->ctx);
}

/* ---- serve_say.c ----------------------------------------------------------------------------- */

/* TensorBoard's message, and what the user can do; answers the exit code. */
int sb_serve_say_bind_problem(sb_serving *s, const sb_err *why);
/* The URL of the server under that name, with the token; false when it is too long. */
bool sb_serve_url(const sb_serving *s, const char *host, char out[SB_SERVE_URL]);
/* Prints the URLs of the server. Sets s->host. */
void sb_serve_say_where(sb_serving *s);
/* One line on a terminal, which the next call overwrites. */
void sb_serve_show_progress(sb_serving *s, const sb_ingest_progress *p);
void sb_serve_say_if_empty(sb_serving *s, const sb_ingest_progress *p);
/* What a person should know once the first reading is over. */
void sb_serve_say_problems(sb_serving *s, const sb_ingest_progress *p);

/* ---- serve_setup.c --------------------------------------------------------------------------- */

/* These answer an exit code, 0 when all went well, after a message about what did not. */
int sb_serve_set_http(sb_serving *s, sb_http_options *http);
void sb_serve_set_state(sb_serving *s, sb_app_opts *o);
/* Gives up what the server does not need; after everything else that needs more. */
int sb_serve_enter_sandbox(sb_serving *s, sb_app_opts *o);

#endif
