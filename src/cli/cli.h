/* cli.h: what every sub-command gets, and what they share: output fit for terminals, progress.
 *
 * A command writes lines into cli->line and hands them over with sb_cli_put; all text that comes
 * from files goes through sb_cli_add_shown, so that no file can send control sequences to the
 * terminal. Adding a command is a file with an sb_command and a row in commands.c. */
#ifndef SB_CLI_CLI_H
#define SB_CLI_CLI_H

#include <stdio.h>

#include "base/env.h"
#include "cli/options.h"

typedef struct sb_cli {
    const sb_env *env;
    FILE *out;
    FILE *err;
    bool err_is_terminal;
    const char *(*variable)(const char *name); /* of the environment; NULL: not set */
    const char *const *words; /* the command line as it was given, NULL at the end */
    sb_buf line;
    int out_error; /* errno of the first write that failed; 0: none did */
    /* progress */
    uint64_t began_ns, shown_ns;
    bool progress_shown;
} sb_cli;

extern const sb_command sb_command_ckpt;
extern const sb_command sb_command_completion;
extern const sb_command sb_command_dump;
extern const sb_command sb_command_export;
extern const sb_command sb_command_graph;
extern const sb_command sb_command_profile;
extern const sb_command sb_command_inspect;
extern const sb_command sb_command_manual;
extern const sb_command sb_command_ps;
extern const sb_command sb_command_serve;
extern const sb_command sb_command_stop;
extern const sb_command sb_command_verify;

/* The commands in the order of the help page; NULL at the end. */
extern const sb_command *const sb_commands[];
/* NULL when there is none of that name. */
const sb_command *sb_command_named(const char *name);

/* The words that main handles itself, beside the commands. The last row is NULL. */
typedef struct sb_word {
    const char *name, *summary;
} sb_word;
extern const sb_word sb_main_words[];

/* Writes cli->line to the output and clears it. False when the output cannot be written any more:
 * the command should stop. */
bool sb_cli_put(sb_cli *cli);

/* Appends untrusted text: control characters, characters that change the writing direction, and
 * bytes that are not UTF-8 are escaped: \n, \x1b, \u202e. max: at most this many characters, then
 * "..."; 0: all. */
void sb_cli_add_shown(sb_buf *out, sb_slice text, size_t max);
void sb_cli_add_path(sb_buf *out, const char *path);

/* Prints "seaboard: " and the text to the error output. Returns the exit code of the status. */
int sb_cli_fail(sb_cli *cli, const sb_err *err);

/* Is it time to show progress again? On terminals only, not in the first second, and at most five
 * times a second. *seconds: since the work began. */
bool sb_cli_progress_is_due(sb_cli *cli, double *seconds);
/* Shows the progress on a terminal when the work has taken longer than a second; at most five times
 * a second. */
void sb_cli_progress(sb_cli *cli, const char *what, uint64_t done, uint64_t all, uint64_t bytes);
/* Removes the progress line. */
void sb_cli_progress_end(sb_cli *cli);

/* "1 234 567": digits in groups of three. */
void sb_cli_add_count(sb_buf *out, uint64_t n);

#endif
