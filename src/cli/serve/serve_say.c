/* serve_say.c: what `seaboard serve` tells people: where it can be reached, why a port cannot be
 * had, how far reading is, what it could not read.
 *
 * All of it goes to the error output, as TensorBoard's does. */
#include <inttypes.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "base/slice.h"
#include "cli/serve/serve_int.h"
#include "cli/serve/serve_port.h"
#include "fsio/fs.h"
#include "seaboard/version.h"
#include "base/banned.h"

#define BIND_FAILED 255 /* TensorBoard exits with -1, which a shell sees as 255 */
#define MOST_ADDRESSES 8

/* ---- a port that cannot be had --------------------------------------------------------------- */

/* Prints TensorBoard's message, and what the user can do. */
int sb_serve_say_bind_problem(sb_serving *s, const sb_err *why) {
    FILE *err = s->cli->err;
    unsigned port = s->bound.problem_port;
    const char *host = s->flags->text[SB_SERVE_host] ? s->flags->text[SB_SERVE_host] : "localhost";
    sb_buf holder;
    sb_buf_init(&holder, s->cli->env->alloc, 4096);
    switch (s->bound.problem) {
    case SB_HTTP_BIND_BAD_PORT:
        fprintf(err,
                "ERROR: " SB_SERVE_NAME " cannot bind to port %u > 65535\n"
                "Type a port from 1024 to 65535, or --port 0 for any that is free.\n",
                port);
        break;
    case SB_HTTP_BIND_IN_USE: {
        sb_holder who = sb_port_holder(s->cli, port, s->arena);
        fprintf(err, "ERROR: " SB_SERVE_NAME " could not bind to port %u, it was already in use\n",
                port);
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
        fprintf(err,
                "ERROR: " SB_SERVE_NAME " could not bind to any port around %u (tried %d times)\n",
                s->flags->port, SB_SERVE_PORT_TRIES);
        break;
    case SB_HTTP_BIND_DENIED:
        fprintf(err, "ERROR: " SB_SERVE_NAME " must be run as superuser to bind to port %u\n",
                port);
        break;
    case SB_HTTP_BIND_NO_PORT:
        fprintf(err, "ERROR: " SB_SERVE_NAME " unable to find any open port\n");
        break;
    case SB_HTTP_BIND_NO_ADDRESS:
        fprintf(err, "ERROR: " SB_SERVE_NAME " could not bind to unavailable address %s\n", host);
        break;
    case SB_HTTP_BIND_NO_FAMILY:
        fprintf(err, "ERROR: " SB_SERVE_NAME " could not bind to unsupported address family %s\n",
                host);
        break;
    case SB_HTTP_BIND_NO_REUSE_PORT:
        fprintf(err,
                "ERROR: " SB_SERVE_NAME " --reuse_port option is not supported on this platform\n");
        break;
    default:
        fprintf(err, "ERROR: " SB_SERVE_NAME ": %s\n", why->text);
    }
    sb_buf_fini(&holder);
    return BIND_FAILED;
}

/* ---- where the server is --------------------------------------------------------------------- */

bool sb_serve_url(const sb_serving *s, const char *host, char out[SB_SERVE_URL]) {
    bool is_six = strchr(host, ':') != NULL;
    int n = snprintf(out, SB_SERVE_URL, "%s://%s%s%s:%u%s/%s%s", s->scheme, is_six ? "[" : "", host,
                     is_six ? "]" : "", s->bound.port, s->flags->path_prefix,
                     s->token ? "?token=" : "", s->token ? s->token : "");
    return n > 0 && n < SB_SERVE_URL;
}

static void say_url(sb_serving *s, const char *before, const char *host, const char *behind) {
    char url[SB_SERVE_URL];
    if (sb_serve_url(s, host, url)) fprintf(s->cli->err, "%s%s%s\n", before, url, behind);
}

static void say_why_not_6006(sb_serving *s) {
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
static bool is_everywhere(const sb_serving *s) {
    const char *host = s->flags->text[SB_SERVE_host];
    return s->flags->on[SB_SERVE_bind_all] ||
           (host && (strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0));
}

/* SSH_CONNECTION: address and port of the client, then of this machine. Printed also when the
 * server listens on all addresses: firewalls often let only SSH through. */
static void say_tunnel(sb_serving *s) {
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

void sb_serve_say_where(sb_serving *s) {
    FILE *err = s->cli->err;
    const sb_serve_flags *f = s->flags;
    bool all = f->on[SB_SERVE_bind_all];
    const char *host = f->text[SB_SERVE_host];
    if (!all && !host)
        fputs("Serving " SB_SERVE_NAME
              " on localhost; to expose to the network, use a proxy or pass --bind_all\n",
              err);
    s->host = all ? sb_reachable_name(s->arena, s->bound.port) : host && *host ? host : "localhost";
    say_url(s, SB_SERVE_NAME " " SB_VERSION " at ", s->host, " (Press CTRL+C to quit)");
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

/* ---- what it reads --------------------------------------------------------------------------- */

void sb_serve_show_progress(sb_serving *s, const sb_ingest_progress *p) {
    if (!s->cli->err_is_terminal) return;
    double seconds = (double)(sb_serve_now(s) - s->began) / 1e9;
    fprintf(s->cli->err,
            "\rReading: %" PRIu64 " runs, %" PRIu64
            " files, %.2f of %.2f GB, %.1f M points/s\033[K",
            p->runs, p->files, (double)p->bytes_done / 1e9, (double)p->bytes / 1e9,
            seconds > 0 ? (double)p->points / seconds / 1e6 : 0.0);
    fflush(s->cli->err);
    s->cli->progress_shown = true;
}

void sb_serve_say_if_empty(sb_serving *s, const sb_ingest_progress *p) {
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
void sb_serve_say_problems(sb_serving *s, const sb_ingest_progress *p) {
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
