/* serve_flags.h: the options of `seaboard serve`, parsed and checked.
 *
 * The rules, their order, their words and their exit codes are TensorBoard's; what has no meaning
 * here is accepted, and a line says so. Threads: main's. */
#ifndef SB_CLI_SERVE_FLAGS_H
#define SB_CLI_SERVE_FLAGS_H

#include "cli/cli.h"
#include "server/app.h"

enum sb_serve_flag {
#define SERVE_FLAG(name, kind, argument, default_text, choices, effect, help) SB_SERVE_##name,
#include "cli/serve/serve_flags.def"
#undef SERVE_FLAG
    SB_SERVE_FLAGS,
};

extern const sb_option sb_serve_options[SB_SERVE_FLAGS];

#define SB_SERVE_MOST_SAMPLES 32

typedef struct sb_serve_flags {
    const char *text[SB_SERVE_FLAGS]; /* as given, or the default; NULL: neither */
    bool on[SB_SERVE_FLAGS];          /* switches and booleans */
    bool given[SB_SERVE_FLAGS];
    const char *const *allow_hosts;
    size_t allow_host_count;
    unsigned port;        /* the first port to try */
    bool port_is_default; /* following ports may be tried as well */
    double reload_interval;
    uint32_t threads;
    uint64_t memory_limit;
    uint64_t request_memory;     /* of all requests together */
    bool frame_is_default;       /* --allow_frame was not given */
    const char *frame_ancestors; /* NULL: everybody */
    sb_app_sample samples[SB_SERVE_MOST_SAMPLES];
    size_t sample_count;
    const char *path_prefix; /* without slashes at its end */
} sb_serve_flags;

/* 0, or the exit code after a message on cli->err. The texts are argv's or in the arena. */
int sb_serve_flags_read(sb_serve_flags *out, sb_cli *cli, const sb_args *args, sb_arena *arena);

/* Appends a JSON object with every option by name, as TensorBoard shows them. */
void sb_serve_flags_json(const sb_serve_flags *flags, sb_buf *out);

/* "2G", "512M", "1.5g", "1000000": bytes; false when it is none of these. */
bool sb_parse_size(const char *text, uint64_t *out);

/* A leading ~ or ~user as the home directory; in the arena, or path itself. NULL: no memory. */
const char *sb_expand_home(sb_cli *cli, const char *path, sb_arena *arena);

/* --logdir and --logdir_spec as roots, in the arena. 0, or the exit code after a message. */
int sb_serve_roots(const sb_serve_flags *flags, sb_cli *cli, sb_arena *arena,
                   const sb_ingest_root **out, size_t *n);

#endif
