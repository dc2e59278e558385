/* options.h: what a command accepts on its command line, described once.
 *
 * A command is one row: its name, its options, what it does. Parsing (getopt_long), the usage line,
 * the --help page, the manual page (manual.c) and the completions of shells (completion.c) are all
 * made from that row. Options may stand anywhere, may be shortened as long as they stay
 * unambiguous, and the last one of several wins. A command has at most one list option.
 *
 * Threads: parsing belongs to the main thread. */
#ifndef SB_CLI_OPTIONS_H
#define SB_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"

typedef enum sb_option_type {
    SB_OPTION_FLAG, /* takes nothing */
    SB_OPTION_TEXT, /* takes one argument */
    SB_OPTION_LIST, /* takes one argument and may be given several times; all are kept */
} sb_option_type;

typedef struct sb_option {
    const char *name; /* without the dashes */
    char letter;      /* for -x; 0: none */
    sb_option_type type;
    const char *argument; /* what the help calls its argument; NULL for flags */
    const char *help;     /* one sentence without its full stop */
    const char *choices;  /* the values that it accepts, with spaces between them; NULL: any */
} sb_option;

typedef struct sb_option_value {
    bool given;
    const char *text; /* NULL for flags */
} sb_option_value;

#define SB_MOST_OPTIONS 64
#define SB_MOST_LISTED 64

typedef struct sb_args {
    sb_option_value options[SB_MOST_OPTIONS]; /* in the order of the table */
    const char *listed[SB_MOST_LISTED];       /* all arguments of list options, as they came */
    size_t listed_count;
    char **rest; /* the operands */
    int rest_count;
} sb_args;

struct sb_cli;

typedef struct sb_command {
    const char *name;
    const char *summary;  /* one line for the list of commands */
    const char *operands; /* as the usage line shows them: "FILE", "[PATH]"; shells complete the
                             words FILE, PATH, DIR and COMMAND */
    const char *choices;  /* the values that the first operand may have; NULL: any */
    int min_operands, max_operands;
    const sb_option *options;
    size_t option_count; /* below SB_MOST_OPTIONS: every command has --help too */
    bool one_dash;       /* -name is --name, too */
    const char *details; /* more for the help page; NULL: nothing */
    int (*run)(struct sb_cli *cli, const sb_args *args); /* the exit code */
} sb_command;

typedef enum sb_parsed {
    SB_PARSED_RUN,
    SB_PARSED_HELP,  /* --help was given */
    SB_PARSED_WRONG, /* the message says why */
} sb_parsed;

/* argv[0] is the command's name. Moves operands behind options in argv. message: where a sentence
 * goes when the command line is wrong. */
sb_parsed sb_options_parse(const sb_command *command, int argc, char **argv, sb_args *out,
                           sb_buf *message);

/* Appends the whole help page of a command. */
void sb_options_help(const sb_command *command, sb_buf *out);
/* Appends "usage: seaboard dump [options] FILE". */
void sb_options_usage(const sb_command *command, sb_buf *out);

#endif
