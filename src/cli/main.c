/* main.c: the seaboard command: finds the sub-command, parses its options, runs it.
 *
 * Exit codes are those of the status table: 0 success, 1 failure or nothing found, 2 a command line
 * that makes no sense, 3 damaged data, 4 the system refused. This is the only place that knows the
 * process: its streams, its arguments, its end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "fsio/fs.h"
#include "seaboard/version.h"
#include "base/banned.h"

#define WRONG_USAGE 2

static void add_overview(sb_buf *out) {
    sb_buf_add_str(out, "usage: seaboard COMMAND [options]\n\n"
                        "Seaboard reads, writes and shows training logs.\n\ncommands:\n");
    for (const sb_command *const *c = sb_commands; *c; c++)
        sb_buf_printf(out, "  %-10s %s\n", (*c)->name, (*c)->summary);
    for (const sb_word *word = sb_main_words; word->name; word++)
        sb_buf_printf(out, "  %-10s %s\n", word->name, word->summary);
    sb_buf_add_str(out, "\n'seaboard help COMMAND' tells more about one of them.\n");
}

static int unknown_command(sb_cli *cli, const char *name) {
    sb_buf_clear(&cli->line);
    sb_cli_add_path(&cli->line, name);
    sb_file_info info;
    bool is_dir = cli->env->fs->stat(cli->env->fs->ctx, name, &info) == 0 && info.is_dir;
    fprintf(cli->err, "seaboard: there is no command '%.*s'; ", (int)cli->line.n,
            (const char *)cli->line.p);
    if (is_dir)
        fprintf(cli->err, "to serve that directory: seaboard --logdir '%.*s'\n", (int)cli->line.n,
                (const char *)cli->line.p);
    else
        fputs("'seaboard help' lists them\n", cli->err);
    sb_buf_clear(&cli->line);
    return WRONG_USAGE;
}

static int show_help(sb_cli *cli, const char *name) {
    const sb_command *command = name ? sb_command_named(name) : NULL;
    if (name && !command) return unknown_command(cli, name);
    if (command)
        sb_options_help(command, &cli->line);
    else
        add_overview(&cli->line);
    sb_cli_put(cli);
    return 0;
}

static int run_command(sb_cli *cli, const sb_command *command, int argc, char **argv) {
    sb_args args;
    switch (sb_options_parse(command, argc, argv, &args, &cli->line)) {
    case SB_PARSED_HELP:
        return show_help(cli, command->name);
    case SB_PARSED_WRONG: {
        sb_buf message;
        sb_buf_init(&message, cli->env->alloc, 1 << 20);
        sb_cli_add_shown(&message, sb_buf_slice(&cli->line), 0);
        sb_buf_clear(&cli->line);
        fprintf(cli->err, "seaboard %.*s\n", (int)message.n, (const char *)message.p);
        sb_buf_fini(&message);
        return WRONG_USAGE;
    }
    case SB_PARSED_RUN:
        break;
    }
    return command->run(cli, &args);
}

static bool is_any(const char *word, const char *a, const char *b, const char *c) {
    return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

static int dispatch_command(sb_cli *cli, int argc, char **argv) {
    if (argc < 2) {
        add_overview(&cli->line);
        fwrite(cli->line.p, 1, cli->line.n, cli->err);
        return WRONG_USAGE;
    }
    if (is_any(argv[1], "version", "--version", "-V")) {
        sb_buf_printf(&cli->line, "seaboard %s\n", SB_VERSION);
        sb_cli_put(cli);
        return 0;
    }
    if (is_any(argv[1], "help", "--help", "-h")) return show_help(cli, argv[2]);
    /* options without a command mean serve, as with tensorboard */
    if (argv[1][0] == '-') return run_command(cli, &sb_command_serve, argc, argv);
    const sb_command *command = sb_command_named(argv[1]);
    if (!command) return unknown_command(cli, argv[1]);
    return run_command(cli, command, argc - 1, argv + 1);
}

/* Checks that the output was written completely. A reader that stopped early (| head) is not
 * reported as an error. */
static int close_output(sb_cli *cli, int code) {
    if (fflush(cli->out) != 0 && !cli->out_error) cli->out_error = errno;
    if (!cli->out_error) return code;
    if (cli->out_error == EPIPE) return sb_status_exit_code(SB_CLOSED);
    fprintf(cli->err, "seaboard: can't write the output: %s\n", strerror(cli->out_error));
    return sb_status_exit_code(SB_IO);
}

static const char *environment_variable(const char *name) {
    return secure_getenv(name);
}

/* A copy of argv: parsing reorders the original. */
static const char **copy_words(const sb_env *env, int argc, char **argv) {
    const char **words = sb_alloc_zeroed(env->alloc, (size_t)argc + 1, sizeof *words);
    for (int i = 0; words && i < argc; i++) words[i] = argv[i];
    return words;
}

int main(int argc, char **argv) {
    static const sb_env env = {
        .alloc = &sb_alloc_libc, .fs = &sb_fs_local, .clock = &sb_clock_system};
    const char **words = copy_words(&env, argc, argv);
    sb_cli cli = {.env = &env,
                  .out = stdout,
                  .err = stderr,
                  .err_is_terminal = isatty(2) == 1,
                  .variable = environment_variable,
                  .words = words};
    sb_buf_init(&cli.line, env.alloc, (size_t)1 << 30);
    int code = words ? dispatch_command(&cli, argc, argv) : sb_status_exit_code(SB_NOMEM);
    sb_cli_progress_end(&cli);
    sb_buf_fini(&cli.line);
    sb_alloc_put(env.alloc, words, ((size_t)argc + 1) * sizeof *words);
    return close_output(&cli, code);
}
