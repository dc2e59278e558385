/* serve.c: `seaboard serve`, which is also what `seaboard` with nothing but options means: checks
 * the options, finds a port, says where to look, serves until it is told to stop.
 *
 * Everything that people read goes to the error output, as TensorBoard's does; the standard output
 * stays empty. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/slice.h"
#include "cli/cli.h"
#include "cli/sandbox.h"
#include "cli/serve_flags.h"
#include "cli/serve_port.h"
#include "cli/serve_token.h"
#include "fsio/fs.h"
#include "seaboard/version.h"
#include "server/app.h"
#include "server/info_file.h"
#include "base/banned.h"

#define NAME "Seaboard"
#define PORT_TRIES 100
#define BIND_FAILED 255 /* TensorBoard exits with -1, which a shell sees as 255 */
#define MEMORY ((size_t)64 << 20)
#define MOST_PEM ((size_t)1 << 20)
#define LOOK_NS 200000000L
#define MOST_ADDRESSES 8

typedef struct serving {
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
} serving;

/* ---- finding a port -------------------------------------------------------------------------- */

/* Prints TensorBoard's message, and what the user can do. */
static int say_bind_problem(serving *s, const sb_err *why) {
    FILE *err = s->cli->err;
    unsigned port = s->bound.problem_port;
    const char *host = s->flags->text[SB_SERVE_host] ? s->flags->text[SB_SERVE_host] : "localhost";
    sb_buf holder;
    sb_buf_init(&holder, s->cli->env->alloc, 4096);
    switch (s->bound.problem) {
    case SB_HTTP_BIND_BAD_PORT:
        fprintf(err,
                "ERROR: " NAME " cannot bind to port %u > 65535\n"
                "Type a port from 1024 to 65535, or --port 0 for any that is free.\n",
                port);
        break;
    case SB_HTTP_BIND_IN_USE: {
        sb_holder who = sb_port_holder(s->cli, port, s->arena);
        fprintf(err, "ERROR: " NAME " could not bind to port %u, it was already in use\n", port);
        if (sb_add_holder(&holder, &who))
            fprintf(err, "It is held by %.*s.\n", (int)holder.n, (const char *)holder.p);
        fprintf(err,
                "Either leave out --port, and the next free one is taken, or end the other:\n"
                "  seaboard stop %u     (if it is one of yours)\n",
                port);
        if (who.pid) fprintf(err, "  kill %" PRId64 "\n", who.pid);
        break;
    }
    case SB_HTTP_BIND_ALL_IN_USE:
        fprintf(err, "ERROR: " NAME " could not bind to any port around %u (tried %d times)\n",
                s->flags->port, PORT_TRIES);
        break;
    case SB_HTTP_BIND_DENIED:
        fprintf(err, "ERROR: " NAME " must be run as superuser to bind to port %u\n", port);
        break;
    case SB_HTTP_BIND_NO_PORT:
        fprintf(err, "ERROR: " NAME " unable to find any open port\n");
        break;
    case SB_HTTP_BIND_NO_ADDRESS:
        fprintf(err, "ERROR: " NAME " could not bind to unavailable address %s\n", host);
        break;
    case SB_HTTP_BIND_NO_FAMILY:
        fprintf(err, "ERROR: " NAME " could not bind to unsupported address family %s\n", host);
        break;
    case SB_HTTP_BIND_NO_REUSE_PORT:
        fprintf(err, "ERROR: " NAME " --reuse_port option is not supported on this platform\n");
        break;
    default:
        fprintf(err, "ERROR: " NAME ": %s\n", why->text);
    }
    sb_buf_fini(&holder);
    return BIND_FAILED;
}

static int find_port(serving *s) {
    const sb_serve_flags *f = s->flags;
    sb_http_bind_options where = {
        .host = f->text[SB_SERVE_host],
        .all = f->on[SB_SERVE_bind_all],
        .port = f->port,
        .tries = f->port_is_default ? PORT_TRIES : 1,
        .reuse_port = f->on[SB_SERVE_reuse_port],
    };
    sb_err why;
    if (sb_http_bind(&s->bound, &where, &why) != SB_OK) return say_bind_problem(s, &why);
    s->is_exposed = !s->bound.is_loopback;
    return 0;
}

/* ---- saying where ---------------------------------------------------------------------------- */

static void say_url(serving *s, const char *before, const char *host, const char *behind) {
    bool is_six = strchr(host, ':') != NULL;
    fprintf(s->cli->err, "%s%s://%s%s%s:%u%s/%s%s%s\n", before, s->scheme, is_six ? "[" : "", host,
            is_six ? "]" : "", s->bound.port, s->flags->path_prefix, s->token ? "?token=" : "",
            s->token ? s->token : "", behind);
}

static void say_why_not_6006(serving *s) {
    if (!s->flags->port_is_default || s->bound.port == s->flags->port) return;
    sb_holder who = sb_port_holder(s->cli, s->flags->port, s->arena);
    sb_buf text;
    sb_buf_init(&text, s->cli->env->alloc, 4096);
    if (!sb_add_holder(&text, &who)) sb_buf_add_str(&text, "somebody else");
    fprintf(s->cli->err, "Port %u is held by %.*s; using %u.\n", s->flags->port, (int)text.n,
            (const char *)text.p, s->bound.port);
    sb_buf_fini(&text);
}

/* Every address of the machine: --bind_all, or a host that means the same. */
static bool is_everywhere(const serving *s) {
    const char *host = s->flags->text[SB_SERVE_host];
    return s->flags->on[SB_SERVE_bind_all] ||
           (host && (strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0));
}

/* SSH_CONNECTION: address and port of the client, then of this machine. Printed also when the
 * server listens on all addresses: firewalls often let only SSH through. */
static void say_tunnel(serving *s) {
    const char *connection = s->cli->variable("SSH_CONNECTION");
    char server[128];
    unsigned port;
    if (!connection) return;
    const char *near = s->is_exposed && !is_everywhere(s) ? s->host : "localhost";
    if (sscanf(connection, "%*127s %*u %127s %u", server, &port) != 2) return;
    const struct passwd *me = getpwuid(geteuid());
    char more[24] = "";
    if (port != 22) snprintf(more, sizeof more, " -p %u", port);
    sb_buf shown; /* the variable is untrusted text, so it is escaped for the terminal */
    sb_buf_init(&shown, s->cli->env->alloc, 4096);
    sb_cli_add_shown(&shown, sb_slice_str(server), 0);
    fprintf(s->cli->err, "From your own machine: ssh%s -L %u:%s:%u %s@%.*s\n", more, s->bound.port,
            near, s->bound.port, me ? me->pw_name : "USER", (int)shown.n, (const char *)shown.p);
    sb_buf_fini(&shown);
}

static void say_where(serving *s) {
    FILE *err = s->cli->err;
    const sb_serve_flags *f = s->flags;
    bool all = f->on[SB_SERVE_bind_all];
    const char *host = f->text[SB_SERVE_host];
    if (!all && !host)
        fputs("Serving " NAME
              " on localhost; to expose to the network, use a proxy or pass --bind_all\n",
              err);
    s->host = all ? sb_reachable_name(s->arena, s->bound.port) : host && *host ? host : "localhost";
    say_url(s, NAME " " SB_VERSION " at ", s->host, " (Press CTRL+C to quit)");
    if (is_everywhere(s)) {
        if (!all) say_url(s, "  also at ", sb_reachable_name(s->arena, s->bound.port), "");
        const char *addresses[MOST_ADDRESSES];
        size_t n = sb_lan_addresses(s->arena, addresses, MOST_ADDRESSES);
        for (size_t i = 0; i < n; i++) say_url(s, "  also at ", addresses[i], "");
    }
    if (s->is_exposed && !s->token)
        fputs(
            "Everybody who reaches this machine can read these logs: --auth none was given.\n"
            "It answers to addresses and to this machine's name; other names need --allow_host.\n",
            err);
    say_why_not_6006(s);
    say_tunnel(s);
    fflush(err);
}

/* ---- the info file --------------------------------------------------------------------------- */

static void publish_info(serving *s) {
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

static void open_browser(serving *s) {
    char url[1024];
    bool is_six = strchr(s->host, ':') != NULL;
    int n = snprintf(url, sizeof url, "%s://%s%s%s:%u%s/%s%s", s->scheme, is_six ? "[" : "",
                     s->host, is_six ? "]" : "", s->bound.port, s->flags->path_prefix,
                     s->token ? "?token=" : "", s->token ? s->token : "");
    if (n < 0 || (size_t)n >= sizeof url) return;
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

static const char *read_pem(serving *s, int flag, int *code) {
    const char *path = s->flags->text[flag];
    if (!path) return NULL;
    sb_slice content, copy = {NULL, 0};
    sb_err why;
    path = sb_expand_home(s->cli, path, s->arena);
    if (path &&
        sb_fs_get(s->cli->env->fs, s->cli->env->alloc, path, MOST_PEM, &content, &why) == SB_OK) {
        copy = sb_arena_dup(s->arena, content);
        sb_alloc_put(s->cli->env->alloc, (void *)(uintptr_t)content.p, content.n);
    } else {
        fprintf(s->cli->err, "Error: %s\n", path ? why.text : "out of memory");
    }
    if (!copy.p) *code = 1;
    return (const char *)copy.p;
}

/* The memory of all requests together, and of one: half of that is enough for a large graph or all
 * texts of a long run. */
static void set_memory(const sb_serve_flags *f, sb_http_options *http) {
    const size_t most = (size_t)1 << 30;
    http->memory = f->request_memory < SIZE_MAX ? (size_t)f->request_memory : SIZE_MAX;
    http->request_memory = http->memory / 2 < most ? http->memory / 2 : most;
    http->reply_memory = http->request_memory;
}

/* Letters, digits, dots and hyphens: a name that a client may send back. */
static bool is_host_name(const char *text) {
    return *text &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") ==
               strlen(text);
}

/* Which names the server answers to. Beyond this machine they can't all be known: behind a token
 * any will do, since a page of somebody else's has none. Without a token a page could be served
 * under a name that its owner points here afterwards (DNS rebinding): so only numeric addresses,
 * this machine's own name and those of --allow_host are taken. */
static bool set_hosts(serving *s, sb_http_options *http) {
    const sb_serve_flags *f = s->flags;
    bool is_open = s->is_exposed && !s->token;
    http->check_host = !s->is_exposed || is_open;
    http->allow_addresses = is_open;
    http->allow_hosts = f->allow_hosts;
    http->allow_host_count = f->allow_host_count;
    if (!is_open) return true;
    const char **names = sb_arena_zeroed(s->arena, f->allow_host_count + 2, sizeof *names);
    char own[256] = "";
    if (!names) return false;
    size_t n = 0;
    for (; n < f->allow_host_count; n++) names[n] = f->allow_hosts[n];
    if (gethostname(own, sizeof own - 1) == 0 && is_host_name(own))
        names[n++] = (const char *)sb_arena_dup(s->arena, sb_slice_str(own)).p;
    const char *reachable = sb_reachable_name(s->arena, s->bound.port);
    if (reachable && is_host_name(reachable)) names[n++] = reachable;
    http->allow_hosts = names;
    http->allow_host_count = n;
    return true;
}

static int set_http(serving *s, sb_http_options *http) {
    const sb_serve_flags *f = s->flags;
    int code = 0;
    sb_http_defaults(http);
    set_memory(f, http);
    const char *auth = f->text[SB_SERVE_auth];
    bool wants_token = auth ? strcmp(auth, "token") == 0 : s->is_exposed;
    if (wants_token && !(s->token = sb_serve_token(s->cli, s->arena))) return 1;
    char cookie[32];
    snprintf(cookie, sizeof cookie, "seaboard_%u", s->bound.port);
    http->token = s->token;
    http->cookie_name = (const char *)sb_arena_dup(s->arena, sb_slice_str(cookie)).p;
    http->frame_ancestors = f->frame_is_default && s->is_exposed ? "'self'" : f->frame_ancestors;
    if (!set_hosts(s, http)) return sb_status_exit_code(SB_NOMEM);
    http->path_prefix = f->path_prefix;
    http->tls_cert = read_pem(s, SB_SERVE_certfile, &code);
    if (!code) http->tls_key = read_pem(s, SB_SERVE_keyfile, &code);
    s->scheme = http->tls_cert ? "https" : "http";
    return http->cookie_name ? code : sb_status_exit_code(SB_NOMEM);
}

/* The file of the users' notes; NULL: notes are not stored. */
static const char *state_path(serving *s) {
    const char *folder = sb_own_directory(s->cli, "XDG_STATE_HOME", "~/.local/state", s->arena);
    if (!folder) return NULL;
    size_t room = strlen(folder) + sizeof "/state.sqlite";
    char *path = sb_arena_get(s->arena, room);
    if (path) snprintf(path, room, "%s/state.sqlite", folder);
    return path;
}

/* One file stores the users' notes for all log directories; each directory is identified by its
 * real path. */
static void set_state(serving *s, sb_app_opts *o) {
    const char *folder = sb_own_directory(s->cli, "XDG_STATE_HOME", "~/.local/state", s->arena);
    size_t n = folder ? strlen(folder) + sizeof "/notes.sqlite" : 0;
    char *path = folder ? sb_arena_get(s->arena, n) : NULL;
    if (path) snprintf(path, n, "%s/notes.sqlite", folder);
    o->state_path = path;
    o->state_set = o->data_location;
    char *real = o->ingest.root_count == 1 ? realpath(o->ingest.roots[0].path, NULL) : NULL;
    sb_slice kept = real ? sb_arena_dup(s->arena, sb_slice_str(real)) : (sb_slice){NULL, 0};
    if (kept.p) o->state_set = (const char *)kept.p;
    free(real);
}

static uint64_t now_of(const serving *s) {
    return s->cli->env->clock->steady(s->cli->env->clock->ctx);
}

static void show_progress(serving *s, const sb_ingest_progress *p) {
    if (!s->cli->err_is_terminal) return;
    double seconds = (double)(now_of(s) - s->began) / 1e9;
    fprintf(s->cli->err,
            "\rReading: %" PRIu64 " runs, %" PRIu64
            " files, %.2f of %.2f GB, %.1f M points/s\033[K",
            p->runs, p->files, (double)p->bytes_done / 1e9, (double)p->bytes / 1e9,
            seconds > 0 ? (double)p->points / seconds / 1e6 : 0.0);
    fflush(s->cli->err);
    s->cli->progress_shown = true;
}

/* Called now and then while --reload_task=blocking waits for the first reading. */
static bool is_interrupted(void *ud, const sb_ingest_progress *progress) {
    serving *s = ud;
    struct timespec at_once = {0};
    int number = sigtimedwait(&s->signals, NULL, &at_once);
    if (number > 0) s->signal = number;
    show_progress(s, progress);
    return number > 0;
}

/* Everything that needs more than the server itself: the sandbox comes next. The socket listens
 * already, so whoever is told of it here only waits for a moment. */
static void announce(serving *s) {
    say_where(s);
    publish_info(s);
    if (s->flags->on[SB_SERVE_open]) open_browser(s);
}

/* The directory of a file, in the arena; NULL stays NULL. */
static const char *folder_of(serving *s, const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? (const char *)sb_arena_dup(s->arena, sb_slice_of(path, (size_t)(slash - path))).p
                 : NULL;
}

static int enter_sandbox(serving *s, sb_app_opts *o) {
    const char *mode = s->flags->text[SB_SERVE_sandbox];
    bool is_on = strcmp(mode, "on") == 0;
    o->sandbox = "off";
    if (strcmp(mode, "off") == 0) return 0;
    const char **roots = sb_arena_zeroed(s->arena, o->ingest.root_count + 1, sizeof *roots);
    if (!roots) return sb_status_exit_code(SB_NOMEM);
    for (size_t i = 0; i < o->ingest.root_count; i++) roots[i] = o->ingest.roots[i].path;
    const char *own[] = {o->spill_dir, folder_of(s, o->state_path), folder_of(s, s->info_path)};
    sb_sandbox box = {.bounds_reading = is_on,
                      .read = roots,
                      .read_count = o->ingest.root_count,
                      .write = own,
                      .write_count = sizeof own / sizeof own[0]};
    sb_sandbox_state state;
    sb_err why;
    sb_status status = sb_sandbox_enter(&box, &state, &why);
    if (status == SB_OK && is_on && !state.landlock)
        status = sb_fail(&why, SB_INVALID, 0,
                         "this kernel has no Landlock; --sandbox auto uses what it has");
    if (status != SB_OK) {
        fprintf(s->cli->err, "ERROR: " NAME ": --sandbox %s: %s\n", mode, why.text);
        return 1;
    }
    char text[SB_SANDBOX_TEXT];
    sb_sandbox_describe(&box, &state, text);
    o->sandbox = (const char *)sb_arena_dup(s->arena, sb_slice_str(text)).p;
    if (is_on) fprintf(s->cli->err, "Sandbox: %s\n", text);
    return 0;
}

static int open_app(serving *s) {
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
        .state_path = state_path(s),
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
    if (!code) set_state(s, &o);
    if (!code) code = set_http(s, &o.http);
    if (!code) {
        announce(s);
        code = enter_sandbox(s, &o);
    }
    sb_status opened = code ? SB_OK : sb_app_open(&s->app, &o, &s->bound.listener, &why);
    if (opened != SB_OK && !s->signal) {
        fprintf(s->cli->err, "ERROR: " NAME ": %s\n", why.text);
        code = sb_status_exit_code(why.code);
    }
    sb_buf_fini(&flags_json);
    return code;
}

/* ---- while it runs --------------------------------------------------------------------------- */

static void say_if_empty(serving *s, const sb_ingest_progress *p) {
    if (p->runs) return;
    const char *logdir = s->flags->text[SB_SERVE_logdir];
    sb_buf_clear(&s->cli->line);
    sb_cli_add_path(&s->cli->line, *logdir ? logdir : s->flags->text[SB_SERVE_logdir_spec]);
    sb_file_info info;
    const char *path = *logdir ? sb_expand_home(s->cli, logdir, s->arena) : NULL;
    bool is_missing = path && s->cli->env->fs->stat(s->cli->env->fs->ctx, path, &info) < 0;
    fprintf(s->cli->err, "%.*s %s; event files are shown when they come.\n", (int)s->cli->line.n,
            (const char *)s->cli->line.p,
            is_missing ? "does not exist yet" : "holds no event files yet");
    sb_buf_clear(&s->cli->line);
}

/* What a person should know once the first reading is over. */
static void say_problems(serving *s, const sb_ingest_progress *p) {
    if (p->problems)
        fprintf(s->cli->err, "Note: %" PRIu64 " director%s could not be searched, e.g. %s\n",
                p->problems, p->problems == 1 ? "y" : "ies", p->problem);
    int error = sb_app_spill_error(s->app);
    if (error)
        fprintf(s->cli->err,
                "Note: points beyond --memory_limit stay in memory; the cache directory takes no "
                "more: %s\n",
                strerror(error));
}

/* Waits for one of the signals; meanwhile shows the progress of the first load. */
static void wait_for_signal(serving *s) {
    sb_ingest_progress p = {.is_loading = true};
    while (p.is_loading) {
        struct timespec wait = {.tv_nsec = LOOK_NS};
        int number = sigtimedwait(&s->signals, NULL, &wait);
        if (number > 0) {
            s->signal = number;
            return;
        }
        sb_app_progress(s->app, &p);
        if (p.is_loading) show_progress(s, &p);
    }
    sb_cli_progress_end(s->cli);
    say_if_empty(s, &p);
    say_problems(s, &p);
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

static void close_in_time(serving *s) {
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, end_process, NULL) == 0) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    sb_app_close(s->app);
}

static int serve_until_stopped(serving *s) {
    take_signals(&s->signals);
    s->began = now_of(s);
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
    if (s->signal == SIGTERM) fputs(NAME " caught SIGTERM; exiting...\n", s->cli->err);
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
            serving s = {.cli = cli, .arena = &arena, .flags = &flags, .bound = {.listener = -1}};
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
