/* serve_flags.c: parsing and checking of serve_flags.def. */
#include "cli/serve/serve_flags.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/slice.h"
#include "base/text/json.h"
#include "base/text/number.h"
#include "base/banned.h"

#define WRONG_USAGE 2
#define FAILED 1
#define DEFAULT_PORT 6006
#define LEAST_REQUEST_MEMORY ((uint64_t)16 << 20)

typedef enum kind { TEXT, LIST, SWITCH, BOOL, INT, REAL, WORD } kind;
typedef enum effect { OURS, NONE } effect;

static const struct {
    const char *name;
    kind kind;
    const char *otherwise; /* the default */
    const char *choices;
    effect effect;
} table[SB_SERVE_FLAGS] = {
#define SERVE_FLAG(name, kind, argument, default_text, choices, effect, help)                      \
    [SB_SERVE_##name] = {#name, kind, default_text, choices, effect},
#include "cli/serve/serve_flags.def"
#undef SERVE_FLAG
};

#define TYPE_OF(kind)                                                                              \
    ((kind) == SWITCH ? SB_OPTION_FLAG : (kind) == LIST ? SB_OPTION_LIST : SB_OPTION_TEXT)
#define CHOICES_OF(kind, choices) ((kind) == BOOL ? "true false" : (choices))
const sb_option sb_serve_options[SB_SERVE_FLAGS] = {
#define SERVE_FLAG(name, kind, argument, default_text, choices, effect, help)                      \
    [SB_SERVE_##name] = {#name,         SB_SERVE_##name == SB_SERVE_verbosity ? 'v' : 0,           \
                         TYPE_OF(kind), argument,                                                  \
                         help,          CHOICES_OF(kind, choices)},
#include "cli/serve/serve_flags.def"
#undef SERVE_FLAG
};

/* ---- messages -------------------------------------------------------------------------------- */

/* Reports an argument that is not valid, in the format of Python's argparse. Exit code 2. */
__attribute__((format(printf, 3, 4))) static int bad_argument(sb_cli *cli, int flag,
                                                              const char *format, ...) {
    va_list args;
    fprintf(cli->err, "seaboard: error: argument --%s: ", table[flag].name);
    va_start(args, format);
    vfprintf(cli->err, format, args);
    va_end(args);
    fputc('\n', cli->err);
    return WRONG_USAGE;
}

/* Reports options that cannot be combined. Exit code 1. */
static int bad_flags(sb_cli *cli, const char *text) {
    fprintf(cli->err, "Error: %s\n", text);
    return FAILED;
}

/* ---- single values --------------------------------------------------------------------------- */

bool sb_parse_size(const char *text, uint64_t *out) {
    size_t n = strlen(text);
    unsigned shift = 0;
    if (n && (text[n - 1] == 'B' || text[n - 1] == 'b')) n--;
    if (n && (text[n - 1] == 'i')) n--;
    const char *units = "kmgt";
    const char *unit = n ? strchr(units, text[n - 1] | 0x20) : NULL;
    if (unit && *unit) {
        shift = 10 * (unsigned)(unit - units + 1);
        n--;
    }
    double value;
    if (!sb_parse_double(sb_slice_of(text, n), &value) || !(value >= 0)) return false;
    value *= (double)((uint64_t)1 << shift);
    if (value >= 0x1p63) return false;
    *out = (uint64_t)value;
    return true;
}

static bool is_choice(const char *choices, const char *text) {
    size_t n = strlen(text);
    for (const char *at = choices; *at; at += *at == ' ') {
        size_t word = strcspn(at, " ");
        if (word == n && strncmp(at, text, n) == 0) return true;
        at += word;
    }
    return false;
}

static int check_value(sb_serve_flags *f, sb_cli *cli, int i) {
    const char *text = f->text[i];
    int64_t integer;
    double real;
    switch (table[i].kind) {
    case BOOL:
        f->on[i] = text && strcasecmp(text, "true") == 0;
        if (!text || f->on[i] || strcasecmp(text, "false") == 0) return 0;
        return bad_argument(cli, i, "invalid choice: '%s' (choose from True, False)", text);
    case WORD:
        if (!text || is_choice(table[i].choices, text)) return 0;
        return bad_argument(cli, i, "invalid choice: '%s' (choose from: %s)", text,
                            table[i].choices);
    case INT:
        if (sb_parse_int64(sb_slice_str(text), &integer)) return 0;
        return bad_argument(cli, i, "invalid int value: '%s'", text);
    case REAL:
        if (!sb_parse_double(sb_slice_str(text), &real))
            return bad_argument(cli, i, "invalid float value: '%s'", text);
        if (real >= 0) return 0;
        return bad_argument(cli, i, "must be non-negative: %s", text);
    default:
        return 0;
    }
}

/* People type "==6007" and ":6007"; the message shows what they meant. */
static int read_port(sb_serve_flags *f, sb_cli *cli) {
    const char *text = f->text[SB_SERVE_port];
    int64_t port;
    f->port_is_default = strcmp(text, "default") == 0;
    f->port = DEFAULT_PORT;
    if (f->port_is_default) return 0;
    if (sb_parse_int64(sb_slice_str(text), &port)) {
        if (port < 0)
            return bad_argument(cli, SB_SERVE_port,
                                "%s is below 0; 0 lets the system choose a free port", text);
        f->port = port > UINT32_MAX ? UINT32_MAX : (unsigned)port;
        return 0;
    }
    const char *digits = text + strcspn(text, "0123456789");
    size_t n = strspn(digits, "0123456789");
    if (n && n <= 5 && digits[n] == 0)
        return bad_argument(cli, SB_SERVE_port, "'%s' is no number; type --port %s", text, digits);
    return bad_argument(cli, SB_SERVE_port,
                        "'%s' is no number; type --port 6006, or --port 0 for any free one", text);
}

/* ---- samples_per_plugin ---------------------------------------------------------------------- */

static int read_samples(sb_serve_flags *f, sb_cli *cli, sb_arena *arena) {
    const char *spec = f->text[SB_SERVE_samples_per_plugin];
    for (const char *at = spec; *at; at += *at == ',') {
        size_t n = strcspn(at, ",");
        sb_slice token = sb_slice_of(at, n);
        at += n;
        if (n == 0) continue;
        const uint8_t *equals = memchr(token.p, '=', n);
        uint64_t count;
        size_t name = equals ? (size_t)(equals - token.p) : 0;
        if (!equals || !sb_parse_uint64(sb_slice_of(equals + 1, n - name - 1), &count))
            return bad_argument(cli, SB_SERVE_samples_per_plugin,
                                "'%.*s' is not of the form name=number", SB_SHOWN(token));
        if (f->sample_count == SB_SERVE_MOST_SAMPLES)
            return bad_argument(cli, SB_SERVE_samples_per_plugin, "more than %d plugins",
                                SB_SERVE_MOST_SAMPLES);
        sb_slice copy = sb_arena_dup(arena, sb_slice_of(token.p, name));
        if (!copy.p) return sb_status_exit_code(SB_NOMEM);
        f->samples[f->sample_count++] = (sb_app_sample){(const char *)copy.p, count};
    }
    return 0;
}

/* The machine's memory; a guess where the system does not say. */
static uint64_t all_memory(void) {
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : (uint64_t)4 << 30;
}

static int read_size(sb_cli *cli, int flag, const char *text, uint64_t otherwise, uint64_t *out) {
    *out = otherwise;
    if (!*text || sb_parse_size(text, out)) return 0;
    return bad_argument(cli, flag, "'%s' is no size; type 2G, or 512M", text);
}

static int read_numbers(sb_serve_flags *f, sb_cli *cli) {
    int64_t threads = 0;
    sb_parse_double(sb_slice_str(f->text[SB_SERVE_reload_interval]), &f->reload_interval);
    sb_parse_int64(sb_slice_str(f->text[SB_SERVE_max_reload_threads]), &threads);
    f->threads = threads < 0 ? 0 : threads > 256 ? 256 : (uint32_t)threads;
    int code = read_size(cli, SB_SERVE_memory_limit, f->text[SB_SERVE_memory_limit],
                         all_memory() / 4, &f->memory_limit);
    if (code) return code;
    code = read_size(cli, SB_SERVE_request_memory, f->text[SB_SERVE_request_memory],
                     all_memory() / 8, &f->request_memory);
    if (code || f->request_memory >= LEAST_REQUEST_MEMORY) return code;
    return bad_argument(cli, SB_SERVE_request_memory, "at least 16M are needed");
}

/* ---- what goes together ---------------------------------------------------------------------- */

/* The message for the first conflict between options, in TensorBoard's order; NULL when there is
 * none. */
static const char *flag_conflict(const sb_serve_flags *f) {
    const char *logdir = f->text[SB_SERVE_logdir], *spec = f->text[SB_SERVE_logdir_spec];
    bool inspect = f->on[SB_SERVE_inspect];
    const char *event_file = f->text[SB_SERVE_event_file];
    if (inspect && *spec) return "--logdir_spec is not supported with --inspect.";
    if (inspect && *logdir && *event_file)
        return "Must specify either --logdir or --event_file, but not both.";
    if (inspect && !*logdir && !*event_file) return "Must specify either --logdir or --event_file.";
    if (inspect) return NULL;
    if (*logdir && *spec) return "May not specify both --logdir and --logdir_spec";
    bool elsewhere = *f->text[SB_SERVE_db] || *f->text[SB_SERVE_grpc_data_provider];
    if (!*logdir && !*spec && elsewhere)
        return "Seaboard reads log directories itself, without a database or a data server.\n"
               "For example `seaboard --logdir mylogdir`.";
    if (!*logdir && !*spec)
        return "A logdir must be specified. For example `seaboard --logdir mylogdir` or\n"
               "`seaboard --logdir_spec name1:dir1,name2:dir2`. Run `seaboard --helpfull` for "
               "details and examples.";
    if (f->text[SB_SERVE_host] && *f->text[SB_SERVE_host] && f->on[SB_SERVE_bind_all])
        return "Must not specify both --host and --bind_all.";
    if (strcmp(f->text[SB_SERVE_load_fast], "true") == 0 && f->on[SB_SERVE_detect_file_replacement])
        return "Must not specify both --load_fast=true and --detect_file_replacement=true";
    if (!f->text[SB_SERVE_certfile] != !f->text[SB_SERVE_keyfile])
        return "TLS needs both --certfile and --keyfile.";
    if (strcmp(f->text[SB_SERVE_reload_task], "blocking") == 0 && f->reload_interval > 0)
        return "--reload_task=blocking reads once; it needs --reload_interval=0.";
    return NULL;
}

static bool is_origin_text(const char *text) {
    return strspn(text,
                  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:/*[], ") ==
           strlen(text);
}

/* --allow_frame in the words of a content security policy; NULL stays for everybody. */
static int read_frame(sb_serve_flags *f, sb_cli *cli, sb_arena *arena) {
    const char *who = f->text[SB_SERVE_allow_frame];
    f->frame_is_default = !*who;
    if (!*who || strcmp(who, "any") == 0) return 0;
    if (strcmp(who, "self") == 0 || strcmp(who, "none") == 0) {
        f->frame_ancestors = *who == 's' ? "'self'" : "'none'";
        return 0;
    }
    if (!strstr(who, "://") || !is_origin_text(who))
        return bad_argument(cli, SB_SERVE_allow_frame,
                            "'%s' is none of any, self, none and https://hub.example", who);
    char *words = sb_arena_get(arena, strlen(who) + sizeof "'self' ");
    if (!words) return sb_status_exit_code(SB_NOMEM);
    snprintf(words, strlen(who) + sizeof "'self' ", "'self' %s", who);
    for (char *at = words; *at; at++)
        if (*at == ',') *at = ' ';
    f->frame_ancestors = words;
    return 0;
}

static int check_prefix(sb_serve_flags *f, sb_cli *cli, sb_arena *arena) {
    sb_slice prefix = sb_slice_str(f->text[SB_SERVE_path_prefix]);
    while (prefix.n && prefix.p[prefix.n - 1] == '/') prefix.n--;
    f->path_prefix = (const char *)sb_arena_dup(arena, prefix).p;
    if (!f->path_prefix) return sb_status_exit_code(SB_NOMEM);
    if (prefix.n == 0 || prefix.p[0] == '/') return 0;
    fprintf(cli->err, "Error: Path prefix must start with slash, but got: '%s'.\n", f->path_prefix);
    return FAILED;
}

/* Prints one line that lists all given options that have no effect. */
static void say_what_has_no_effect(const sb_serve_flags *f, sb_cli *cli) {
    bool any = false;
    for (int i = 0; i < SB_SERVE_FLAGS; i++) {
        if (!f->given[i] || table[i].effect != NONE) continue;
        fprintf(cli->err, "%s--%s", any ? ", " : "Note: no effect here: ", table[i].name);
        fprintf(cli->err, " (%s)", sb_serve_options[i].help);
        any = true;
    }
    if (any) fputs("\n", cli->err);
}

int sb_serve_flags_read(sb_serve_flags *f, sb_cli *cli, const sb_args *args, sb_arena *arena) {
    *f = (sb_serve_flags){.allow_hosts = args->listed, .allow_host_count = args->listed_count};
    for (int i = 0; i < SB_SERVE_FLAGS; i++) {
        const sb_option_value *value = &args->options[i];
        f->given[i] = value->given;
        f->text[i] = value->given ? value->text : table[i].otherwise;
        if (table[i].kind == SWITCH) f->on[i] = value->given;
        int code = check_value(f, cli, i);
        if (code) return code;
    }
    int code = read_port(f, cli);
    if (!code) code = read_samples(f, cli, arena);
    if (!code) code = read_numbers(f, cli);
    if (!code) code = read_frame(f, cli, arena);
    if (code || f->on[SB_SERVE_version_tb]) return code;
    const char *wrong = flag_conflict(f);
    if (wrong) return bad_flags(cli, wrong);
    code = check_prefix(f, cli, arena);
    if (!code) say_what_has_no_effect(f, cli);
    return code;
}

/* ---- as JSON --------------------------------------------------------------------------------- */

static void add_json(const sb_serve_flags *f, sb_json *j, int i) {
    const char *text = f->text[i];
    double real = 0;
    int64_t integer = 0;
    switch (table[i].kind) {
    case SWITCH:
        sb_json_bool(j, f->on[i]);
        return;
    case BOOL:
        if (text)
            sb_json_bool(j, f->on[i]);
        else
            sb_json_null(j);
        return;
    case INT:
        sb_parse_int64(sb_slice_str(text), &integer);
        sb_json_int(j, integer);
        return;
    case REAL:
        sb_parse_double(sb_slice_str(text), &real);
        sb_json_double(j, real);
        return;
    case LIST:
        sb_json_begin_array(j);
        for (size_t k = 0; k < f->allow_host_count; k++) sb_json_str(j, f->allow_hosts[k]);
        sb_json_end_array(j);
        return;
    default:
        if (text)
            sb_json_str(j, text);
        else
            sb_json_null(j);
    }
}

void sb_serve_flags_json(const sb_serve_flags *f, sb_buf *out) {
    sb_json j;
    sb_json_init(&j, out, &(sb_json_opts){.spaced = true});
    sb_json_begin_object(&j);
    for (int i = 0; i < SB_SERVE_FLAGS; i++) {
        if (i == SB_SERVE_keyfile) continue; /* private */
        sb_json_key_str(&j, table[i].name);
        if (i == SB_SERVE_port && f->port_is_default)
            sb_json_null(&j);
        else if (i == SB_SERVE_port)
            sb_json_int(&j, f->port);
        else
            add_json(f, &j, i);
    }
    sb_json_key_str(&j, "__tensorboard_subcommand");
    sb_json_str(&j, "serve");
    sb_json_end_object(&j);
}

/* ---- directories ----------------------------------------------------------------------------- */

const char *sb_expand_home(sb_cli *cli, const char *path, sb_arena *arena) {
    if (path[0] != '~') return path;
    size_t n = strcspn(path, "/");
    sb_slice user = sb_arena_dup(arena, sb_slice_of(path + 1, n - 1));
    if (!user.p) return NULL;
    const char *home = user.n ? NULL : cli->variable("HOME");
    if (!home || !*home) {
        const struct passwd *entry = user.n ? getpwnam((const char *)user.p) : getpwuid(geteuid());
        home = entry ? entry->pw_dir : NULL;
    }
    if (!home) return path; /* unchanged for an unknown user, as Python's expanduser does */
    size_t home_n = strlen(home), rest = strlen(path + n);
    char *out = sb_arena_get(arena, home_n + rest + 1);
    if (!out) return NULL;
    memcpy(out, home, home_n);
    memcpy(out + home_n, path + n, rest + 1);
    return out;
}

/* Does the text begin with "scheme://"? That is how TensorBoard distinguishes a URI from a path. */
static bool is_uri(const char *text) {
    size_t n = 0;
    bool first = (text[0] | 0x20) >= 'a' && (text[0] | 0x20) <= 'z';
    while ((text[n] >= '0' && text[n] <= '9') || text[n] == '.' ||
           ((text[n] | 0x20) >= 'a' && (text[n] | 0x20) <= 'z'))
        n++;
    return first && strncmp(text + n, "://", 3) == 0;
}

static int refuse_uri(sb_cli *cli, const char *text) {
    fprintf(cli->err,
            "Error: %s: only directories of this machine can be read. A bucket can be "
            "mounted, with gcsfuse or s3fs for example.\n",
            text);
    return FAILED;
}

static int one_root(sb_cli *cli, sb_arena *arena, char *item, sb_ingest_root *out) {
    if (is_uri(item)) return refuse_uri(cli, item);
    char *colon = item[0] == '/' ? NULL : strchr(item, ':');
    const char *path = colon ? colon + 1 : item;
    if (colon) *colon = 0;
    if (colon && is_uri(path)) return refuse_uri(cli, path);
    path = sb_expand_home(cli, path, arena);
    if (!path) return sb_status_exit_code(SB_NOMEM);
    char *real = realpath(path, NULL);
    if (real) path = (const char *)sb_arena_dup(arena, sb_slice_str(real)).p;
    free(real);
    if (!path) return sb_status_exit_code(SB_NOMEM);
    *out = (sb_ingest_root){.name = colon && *item ? item : NULL, .path = path};
    return 0;
}

/* The same directory under the same name twice is one root. */
static bool is_repeated(const sb_ingest_root *roots, size_t n, const sb_ingest_root *root) {
    for (size_t i = 0; i < n; i++) {
        bool same_name = roots[i].name && root->name ? strcmp(roots[i].name, root->name) == 0
                                                     : roots[i].name == root->name;
        if (same_name && strcmp(roots[i].path, root->path) == 0) return true;
    }
    return false;
}

int sb_serve_roots(const sb_serve_flags *f, sb_cli *cli, sb_arena *arena,
                   const sb_ingest_root **out, size_t *n) {
    const char *logdir = f->text[SB_SERVE_logdir], *spec = f->text[SB_SERVE_logdir_spec];
    size_t most = 1;
    for (const char *at = spec; *at; at++) most += *at == ',';
    sb_ingest_root *roots = sb_arena_zeroed(arena, most, sizeof *roots);
    char *copy = (char *)(uintptr_t)sb_arena_dup(arena, sb_slice_str(spec)).p;
    if (!roots || !copy) return sb_status_exit_code(SB_NOMEM);
    *out = roots;
    *n = 0;
    if (*logdir) {
        if (is_uri(logdir)) return refuse_uri(cli, logdir);
        roots[0].path = sb_expand_home(cli, logdir, arena);
        *n = 1;
        return roots[0].path ? 0 : sb_status_exit_code(SB_NOMEM);
    }
    while (copy) {
        char *item = copy;
        copy = strchr(copy, ',');
        if (copy) *copy++ = 0;
        if (!*item) continue;
        int code = one_root(cli, arena, item, &roots[*n]);
        if (code) return code;
        if (!is_repeated(roots, *n, &roots[*n])) ++*n;
    }
    return 0;
}
