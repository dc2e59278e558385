/* ps.c: `seaboard ps`: lists the running servers of this machine that have an info file. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/slice.h"
#include "cli/cli.h"
#include "cli/serve/serve_port.h"
#include "base/banned.h"

#define MEMORY ((size_t)64 << 20)

static void add_age(sb_buf *out, int64_t seconds) {
    if (seconds < 0) seconds = 0;
    if (seconds < 120)
        sb_buf_printf(out, "%" PRId64 " s", seconds);
    else if (seconds < 7200)
        sb_buf_printf(out, "%" PRId64 " min", seconds / 60);
    else if (seconds < 172800)
        sb_buf_printf(out, "%" PRId64 " h", seconds / 3600);
    else
        sb_buf_printf(out, "%" PRId64 " days", seconds / 86400);
}

static void add_server_row(sb_cli *cli, const sb_server_info *info, int64_t now) {
    char age[32];
    sb_buf text;
    sb_buf_init(&text, cli->env->alloc, 64);
    add_age(&text, now - info->start_time);
    snprintf(age, sizeof age, "%.*s", (int)text.n, (const char *)text.p);
    sb_buf_fini(&text);
    sb_buf_printf(&cli->line, "%-8" PRId64 " %-6" PRId64 " %-9s ", info->pid, info->port, age);
    sb_buf_printf(&cli->line, "%s://localhost:%" PRId64, info->is_tls ? "https" : "http",
                  info->port);
    sb_cli_add_shown(&cli->line, info->path_prefix, 200);
    sb_buf_add_str(&cli->line, "/  ");
    sb_cli_add_shown(&cli->line, info->logdir, 500);
    sb_buf_add_byte(&cli->line, '\n');
}

static int ps_main(sb_cli *cli, const sb_args *args) {
    (void)args;
    sb_arena arena;
    sb_arena_init(&arena, cli->env->alloc, 64 << 10, MEMORY);
    sb_server_info *infos;
    size_t n;
    sb_err err;
    sb_status status = sb_info_list(sb_temp_dir(cli), &arena, &infos, &n, &err);
    int64_t now = (int64_t)(cli->env->clock->wall(cli->env->clock->ctx) / 1000000000u);
    size_t shown = 0;
    for (size_t i = 0; i < n && status == SB_OK; i++) {
        if (!sb_is_our_server(&infos[i])) continue;
        if (shown++ == 0)
            sb_buf_printf(&cli->line, "%-8s %-6s %-9s %s\n", "PID", "PORT", "SINCE",
                          "URL, LOG DIRECTORY");
        add_server_row(cli, &infos[i], now);
        sb_cli_put(cli);
    }
    sb_arena_fini(&arena);
    if (status != SB_OK) return sb_cli_fail(cli, &err);
    if (!shown) fputs("No seaboard server of yours is running.\n", cli->err);
    return 0;
}

const sb_command sb_command_ps = {
    .name = "ps",
    .summary = "lists the servers that run",
    .operands = "",
    .run = ps_main,
};
