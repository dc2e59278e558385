/* serve_setup.c: from the options of `seaboard serve` to those of the server: who is let in, under
 * which names, with how much memory; where the users' notes are stored; the sandbox. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/slice.h"
#include "cli/serve/sandbox.h"
#include "cli/serve/serve_int.h"
#include "cli/serve/serve_port.h"
#include "cli/serve/serve_token.h"
#include "fsio/fs.h"
#include "base/banned.h"

#define MOST_PEM ((size_t)1 << 20)

/* ---- requests -------------------------------------------------------------------------------- */

static const char *read_pem(sb_serving *s, int flag, int *code) {
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
 * any name is accepted, since a page of another site does not have the token. Without a token a
 * page could be served under a name that its owner points here afterwards (DNS rebinding): so only
 * numeric addresses, this machine's own name and those of --allow_host are taken. */
static bool set_hosts(sb_serving *s, sb_http_options *http) {
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

int sb_serve_set_http(sb_serving *s, sb_http_options *http) {
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

/* ---- notes of users -------------------------------------------------------------------------- */

/* One file stores the users' notes for all log directories; each directory is identified by its
 * real path. */
void sb_serve_set_state(sb_serving *s, sb_app_opts *o) {
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

/* ---- the sandbox ----------------------------------------------------------------------------- */

/* The directory of a file, in the arena; NULL stays NULL. */
static const char *folder_of(sb_serving *s, const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? (const char *)sb_arena_dup(s->arena, sb_slice_of(path, (size_t)(slash - path))).p
                 : NULL;
}

int sb_serve_enter_sandbox(sb_serving *s, sb_app_opts *o) {
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
        fprintf(s->cli->err, "ERROR: " SB_SERVE_NAME ": --sandbox %s: %s\n", mode, why.text);
        return 1;
    }
    char text[SB_SANDBOX_TEXT];
    sb_sandbox_describe(&box, &state, text);
    o->sandbox = (const char *)sb_arena_dup(s->arena, sb_slice_str(text)).p;
    if (is_on) fprintf(s->cli->err, "Sandbox: %s\n", text);
    return 0;
}
