/* stop.c: `seaboard stop PORT|PID`: ends servers of ours, and nothing else.
 *
 * A server is ended only when an info file of this user names it, the process is this user's and is
 * called seaboard; it gets SIGTERM and a few seconds to close. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/slice.h"
#include "base/text/number.h"
#include "cli/cli.h"
#include "cli/serve/serve_port.h"
#include "base/banned.h"

#define MEMORY ((size_t)64 << 20)
#define PATIENCE_MS 10000

/* Ends one process and waits until it has exited. The pidfd is opened before the process is checked
 * for the last time, so a process id that was reused meanwhile cannot be mistaken. */
static int end_process(sb_cli *cli, const sb_server_info *info) {
    int fd = (int)syscall(SYS_pidfd_open, (pid_t)info->pid, 0);
    int code = 1;
    if (fd < 0 || !sb_is_our_server(info)) {
        fprintf(cli->err, "seaboard: pid %" PRId64 " has ended by itself\n", info->pid);
    } else if (syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0) != 0) {
        fprintf(cli->err, "seaboard: pid %" PRId64 " can't be ended: %s\n", info->pid,
                strerror(errno));
    } else {
        struct pollfd gone = {.fd = fd, .events = POLLIN};
        if (poll(&gone, 1, PATIENCE_MS) == 1) {
            fprintf(cli->err, "Stopped pid %" PRId64 " on port %" PRId64 ".\n", info->pid,
                    info->port);
            code = 0;
        } else {
            fprintf(cli->err, "seaboard: pid %" PRId64 " was told to end and still runs\n",
                    info->pid);
        }
    }
    if (fd >= 0) close(fd);
    return code;
}

/* A process id takes precedence over a port with the same number. */
static const sb_server_info *find_server(const sb_server_info *infos, size_t n, int64_t number) {
    const sb_server_info *found = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!sb_is_our_server(&infos[i])) continue;
        if (infos[i].pid == number) return &infos[i];
        if (infos[i].port == number && !found) found = &infos[i];
    }
    return found;
}

static int stop_main(sb_cli *cli, const sb_args *args) {
    int64_t number;
    sb_err err;
    if (!sb_parse_int64(sb_slice_str(args->rest[0]), &number) || number <= 0) {
        sb_fail(&err, SB_INVALID, 0,
                "stop: '%s' is neither a port nor a process id; 'seaboard ps' lists them",
                args->rest[0]);
        return sb_cli_fail(cli, &err);
    }
    sb_arena arena;
    sb_arena_init(&arena, cli->env->alloc, 64 << 10, MEMORY);
    sb_server_info *infos;
    size_t n;
    int code;
    sb_status status = sb_info_list(sb_temp_dir(cli), &arena, &infos, &n, &err);
    const sb_server_info *found = status == SB_OK ? find_server(infos, n, number) : NULL;
    if (status == SB_OK && !found)
        status = sb_fail(&err, SB_NOT_FOUND, 0,
                         "stop: no seaboard server of yours has port or process id %" PRId64
                         "; 'seaboard ps' lists them",
                         number);
    code = found ? end_process(cli, found) : sb_cli_fail(cli, &err);
    sb_arena_fini(&arena);
    return code;
}

const sb_command sb_command_stop = {
    .name = "stop",
    .summary = "ends a server that runs",
    .operands = "PORT|PID",
    .min_operands = 1,
    .max_operands = 1,
    .run = stop_main,
};
