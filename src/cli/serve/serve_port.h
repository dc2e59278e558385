/* serve_port.h: who holds a port, which servers run, where this one can be reached. What is known
 * comes from /proc and from info files; what is not is left out. Threads: main's. */
#ifndef SB_CLI_SERVE_PORT_H
#define SB_CLI_SERVE_PORT_H

#include "base/arena.h"
#include "cli/cli.h"
#include "server/info_file.h"

typedef struct sb_holder {
    int64_t pid;      /* 0: not known */
    sb_slice command; /* its command line, cut to a length fit for a message */
    sb_slice logdir;  /* what it serves, when it has an info file */
} sb_holder;

/* Who listens on a TCP port of this machine. */
sb_holder sb_port_holder(sb_cli *cli, unsigned port, sb_arena *arena);
/* Appends "pid 12 (tensorboard --logdir x), which serves /logs"; false when nothing is known. */
bool sb_add_holder(sb_buf *out, const sb_holder *holder);

/* The command line of a process, blanks between its words; empty when it can't be read. */
sb_slice sb_command_of(int64_t pid, sb_arena *arena);
/* Is it a seaboard of this user's that runs now? */
bool sb_is_our_server(const sb_server_info *info);

/* Where info files are: the first directory for temporary files that there is. */
const char *sb_temp_dir(sb_cli *cli);

/* The addresses of this machine that others may reach, as texts fit for a URL; in the arena. */
size_t sb_lan_addresses(sb_arena *arena, const char **out, size_t room);
/* This machine's full name if something answers there on that port within a second, else
 * "localhost". */
const char *sb_reachable_name(sb_arena *arena, unsigned port);

#endif
