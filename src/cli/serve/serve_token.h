/* serve_token.h: the token that lets people in, kept over restarts so that links and cookies go on
 * working. Threads: main's. */
#ifndef SB_CLI_SERVE_TOKEN_H
#define SB_CLI_SERVE_TOKEN_H

#include "base/arena.h"
#include "cli/cli.h"

/* $SEABOARD_TOKEN, else the one in $XDG_STATE_HOME/seaboard/token, which is made if it is not there
 * and which only its owner can read; a fresh one when that place can't be written. NULL after a
 * message on cli->err. */
const char *sb_serve_token(sb_cli *cli, sb_arena *arena);

/* A directory of the user's for `what` ("XDG_STATE_HOME", "~/.local/state"): "<there>/seaboard",
 * made if need be, readable by nobody else. NULL when it can't be. */
const char *sb_own_directory(sb_cli *cli, const char *what, const char *otherwise, sb_arena *arena);

#endif
