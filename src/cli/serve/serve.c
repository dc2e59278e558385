/* serve.c: `seaboard serve`, which is also what `seaboard` with nothing but options means: checks
 * the options, finds a port, opens the server and waits for a signal that ends it.
 *
 * Everything that people read goes to the error output (serve_say.c), as TensorBoard's does; the
 * standard output stays empty. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/slice.h"
#include "cli/serve/serve_int.h"
#include "cli/serve/serve_port.h"
#include "cli/serve/serve_token.h"
#include "seaboard/version.h"
#include "server/info_file.h"
#include "base/banned.h"

#define MEMORY ((size_t)64 << 20)
#define LOOK_NS 200000000L

/* ---- finding a port -------------------------------------------------------------------------- */

static int find_port(sb_serving *s) {
    const sb_serve_flags *f = s->flags;
    sb_http_bind_options where = {
        .host = f->text[SB_SERVE_host],
        .all = f->on[SB_SERVE_bind_all],
        .port = f->port,
        .tries = f->port_is_default ? SB_SERVE_PORT_TRIES : 1,
        .reuse_port = f->on[SB_SERVE_reuse_port],
    };
    sb_err why;
    if (sb_http_bind(&s->bound, &where, &why) != SB_OK) return sb_serve_say_bind_problem(s, &why);
    s->is_exposed = !s->bound.is_loopback;
    return 0;
}

/* ---- the info file --------------------------------------------------------------------------- */

static void publish_info(sb_serving *s) {
    const sb_serve_flags *f = s->flags;
    char directory[4096];
    if (!getcwd(directory, sizeof directory)) return;
    sb_buf key;
    sb_buf_init(&key, s->cli->env->alloc, MEMORY);
    sb_info_cache_key(&key, s->cli->words + 1, directory);
    const char *logdir = f->text[SB_SERVE_logdir];
    sb_server_info info = {
        .cache_key = sb_buf_slice(&key),
        .db = sb_slice_str(f->text[SB_SERVE_db]),
        .logdir = sb_slice_str(*logdir ? logdir : f->text[SB_SERVE_logdir_spec]),
        .path_prefix = sb_slice_str(f->path_prefix),
        .version = SB_LIT(SB_VERSION),
        .program = SB_LIT("seaboard"),
        .pid = getpid(),
        .port = s->bound.port,
        .start_time = (int64_t)(s->cli->env->clock->wall(s->cli->env->clock->ctx) / 1000000000u),
        .is_tls = f->text[SB_SERVE_certfile] != NULL,
    };
    sb_err why;
    if (sb_info_publish(sb_temp_dir(s->cli), &info, s->arena, &s->info_path, &why) != SB_OK) {
        s->info_path = NULL;
        fprintf(s->cli->err, "Note: notebooks won't find this server: %s\n", why.text);
    }
    sb_buf_fini(&key);
}

/* ---- the browser ----------------------------------------------------------------------------- */

static void open_browser(sb_serving *s) {
    char url[SB_SERVE_URL];
    if (!sb_serve_url(s, s->host, url)) return;
    const char *programs[] = {s->cli->variable("BROWSER"), "xdg-open", "open"};
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        if (!programs[i] || !*programs[i]) continue;
        char *argv[] = {(char *)(uintptr_t)programs[i], url, NULL};
        pid_t child;
        posix_spawnattr_t how;
        sigset_t none;
        sigemptyset(&none);
        posix_spawnattr_init(&how);
        posix_spawnattr_setsigmask(&how, &none);
        posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
        int error = posix_spawnp(&child, programs[i], NULL, &how, argv, environ);
        posix_spawnattr_destroy(&how);
        if (error == 0) return;
    }
    fputs("Note: there is no program to open a browser with (set BROWSER).\n", s->cli->err);
}

/* ---- the application ------------------------------------------------------------------------- */

/* Called several times a second while --reload_task=blocking waits for the first load. */
static bool is_interrupted(void *ud, const sb_ingest_progress *progress) {
    sb_serving *s = ud;
    struct timespec at_once = {0};
    int number = sigtimedwait(&s->signals, NULL, &at_once);
    if (number > 0) s->signal = number;
    sb_serve_show_progress(s, progress);
    return number > 0;
}

/* Does everything that the sandbox, which comes next, would forbid. The socket listens already: a
 * client that connects before the server is open waits for a moment. */
static void announce(sb_serving *s) {
    sb_serve_say_where(s);
    publish_info(s);
    if (s->flags->on[SB_SERVE_open]) open_browser(s);
}

static int open_app(sb_serving *s) {
    const sb_serve_flags *f = s->flags;
    const char *logdir = f->text[SB_SERVE_logdir];
    sb_buf flags_json;
    sb_buf_init(&flags_json, s->cli->env->alloc, MEMORY);
    sb_serve_flags_json(f, &flags_json);
    sb_buf_add_byte(&flags_json, 0);
    sb_app_opts o = {
        .env = s->cli->env,
        .ingest = {.reload_interval = f->reload_interval,
                   .threads = f->threads,
                   .no_inotify = f->on[SB_SERVE_no_inotify]},
        .memory_limit = f->memory_limit,
        .spill_dir = sb_own_directory(s->cli, "XDG_CACHE_HOME", "~/.cache", s->arena),
        .load_first = strcmp(f->text[SB_SERVE_reload_task], "blocking") == 0,
        .is_interrupted = is_interrupted,
        .interrupt_ud = s,
        .version = SB_VERSION,
        .data_location = *logdir ? logdir : f->text[SB_SERVE_logdir_spec],
        .window_title = f->text[SB_SERVE_window_title],
        .flags_json = flags_json.failed == SB_OK ? (const char *)flags_json.p : "{}",
        .compat_sampling = f->on[SB_SERVE_compat_sampling],
        .show_superseded = !f->on[SB_SERVE_purge_orphaned_data],
        .samples = f->samples,
        .sample_count = f->sample_count,
    };
    sb_err why;
    int code = sb_serve_roots(f, s->cli, s->arena, &o.ingest.roots, &o.ingest.root_count);
    if (!code) sb_serve_set_state(s, &o);
    if (!code) code = sb_serve_set_http(s, &o.http);
    if (!code) {
        announce(s);
        code = sb_serve_enter_sandbox(s, &o);
    }
    sb_status opened = code ? SB_OK : sb_app_open(&s->app, &o, &s->bound.listener, &why);
    if (opened != SB_OK && !s->signal) {
        fprintf(s->cli->err, "ERROR: " SB_SERVE_NAME ": %s\n", why.text);
        code = sb_status_exit_code(why.code);
    }
    sb_buf_fini(&flags_json);
    return code;
}

/* ---- while it runs --------------------------------------------------------------------------- */

/* Waits for one of the signals; meanwhile shows the progress of the first load. */
static void wait_for_signal(sb_serving *s) {
    sb_ingest_progress p = {.is_loading = true};
    while (p.is_loading) {
        struct timespec wait = {.tv_nsec = LOOK_NS};
        int number = sigtimedwait(&s->signals, NULL, &wait);
        if (number > 0) {
            s->signal = number;
            return;
        }
        sb_app_progress(s->app, &p);
        if (p.is_loading) sb_serve_show_progress(s, &p);
    }
    sb_cli_progress_end(s->cli);
    sb_serve_say_if_empty(s, &p);
    sb_serve_say_problems(s, &p);
    while (s->signal <= 0) s->signal = sigwaitinfo(&s->signals, NULL);
}

/* The signals that stop the server, blocked in every thread from here on. SIGHUP stays ignored when
 * it was ignored before (nohup). */
static void take_signals(sigset_t *signals) {
    struct sigaction now;
    sigemptyset(signals);
    sigaddset(signals, SIGINT);
    sigaddset(signals, SIGTERM);
    if (sigaction(SIGHUP, NULL, &now) == 0 && now.sa_handler != SIG_IGN) sigaddset(signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_IGN); /* no zombie remains of the process that starts the browser */
}

/* ---- the end --------------------------------------------------------------------------------- */

#define END_NS 800000000L

/* Ends the process when closing takes longer than people wait behind Ctrl-C: a disk that does not
 * answer, a question in the middle of a long sum. Nothing is lost: logs are only read, people's
 * notes are written in transactions, and the info file is gone by then. */
static void *end_process(void *unused) {
    (void)unused;
    struct timespec wait = {.tv_nsec = END_NS};
    while (nanosleep(&wait, &wait) != 0 && errno == EINTR) {
    }
    _exit(0);
}

static void close_in_time(sb_serving *s) {
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, end_process, NULL) == 0) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    sb_app_close(s->app);
}

static int serve_until_stopped(sb_serving *s) {
    take_signals(&s->signals);
    s->began = sb_serve_now(s);
    /* The process name, whatever the program file is called: `seaboard stop` checks it. */
    prctl(PR_SET_NAME, "seaboard");
    int code = find_port(s);
    if (code) return code;
    code = open_app(s);
    if (code || s->signal) {
        if (s->bound.listener >= 0) close(s->bound.listener);
    } else {
        wait_for_signal(s);
    }
    sb_cli_progress_end(s->cli);
    if (s->signal == SIGTERM) fputs(SB_SERVE_NAME " caught SIGTERM; exiting...\n", s->cli->err);
    if (s->info_path) unlink(s->info_path);
    pthread_sigmask(SIG_UNBLOCK, &s->signals, NULL); /* a second signal ends the process at once */
    if (s->signal)
        close_in_time(s);
    else
        sb_app_close(s->app);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int inspect_logs(sb_cli *cli, const sb_serve_flags *f) {
    char *argv[8] = {(char *)(uintptr_t) "inspect"};
    int n = 1;
    const int given[] = {SB_SERVE_logdir, SB_SERVE_event_file, SB_SERVE_tag};
    const char *const names[] = {"--logdir", "--event_file", "--tag"};
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        const char *text = f->text[given[i]];
        if (!*text) continue;
        argv[n++] = (char *)(uintptr_t)names[i];
        argv[n++] = (char *)(uintptr_t)text;
    }
    sb_args args;
    if (sb_options_parse(&sb_command_inspect, n, argv, &args, &cli->line) != SB_PARSED_RUN)
        return 2;
    return sb_command_inspect.run(cli, &args);
}

static int serve_main(sb_cli *cli, const sb_args *args) {
    sb_arena arena;
    sb_arena_init(&arena, cli->env->alloc, 64 << 10, MEMORY);
    sb_serve_flags flags;
    int code;
    /* as with `tensorboard --logdir x serve`, the only operand that is accepted is "serve" */
    if (args->rest_count && strcmp(args->rest[0], "serve") != 0) {
        sb_buf_clear(&cli->line);
        sb_cli_add_path(&cli->line, args->rest[0]);
        fprintf(
            cli->err,
            "seaboard: error: there is no place for '%.*s'; a log directory goes behind --logdir\n",
            (int)cli->line.n, (const char *)cli->line.p);
        sb_buf_clear(&cli->line);
        code = 2;
    } else if (args->options[SB_SERVE_helpfull].given) {
        sb_options_help(&sb_command_serve, &cli->line);
        sb_cli_put(cli);
        code = 0;
    } else {
        code = sb_serve_flags_read(&flags, cli, args, &arena);
        if (!code && flags.on[SB_SERVE_version_tb]) {
            sb_buf_add_str(&cli->line, SB_VERSION "\n");
            sb_cli_put(cli);
        } else if (!code && flags.on[SB_SERVE_inspect]) {
            code = inspect_logs(cli, &flags);
        } else if (!code) {
            sb_serving s = {
                .cli = cli, .arena = &arena, .flags = &flags, .bound = {.listener = -1}};
            code = serve_until_stopped(&s);
        }
    }
    sb_arena_fini(&arena);
    return code;
}

const sb_command sb_command_serve = {
    .name = "serve",
    .summary = "serves a log directory; also when only options are given: seaboard --logdir DIR",
    .operands = "",
    .max_operands = 1,
    .options = sb_serve_options,
    .option_count = SB_SERVE_FLAGS,
    .one_dash = true,
    .details = "Examples:\n"
               "  seaboard --logdir runs\n"
               "  seaboard --logdir runs --port 7007 --bind_all\n"
               "  seaboard --logdir_spec old:/data/old,new:/data/new\n",
    .run = serve_main,
};
