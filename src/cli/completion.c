/* completion.c: `seaboard completion SHELL`: the script that completes seaboard's command lines in
 * bash, zsh or fish, made from the tables of commands and options.
 *
 *     source <(seaboard completion bash)
 *
 * `make install` puts the three scripts where the shells look for them. */
#include <string.h>

#include "cli/cli.h"
#include "base/banned.h"

/* What a shell can propose for an argument. */
typedef enum proposal { ANYTHING, FILES, DIRECTORIES, COMMANDS } proposal;

/* By the word that stands for the argument in the help: "FILE", "[PATH]". */
static proposal proposal_of(const char *argument) {
    if (!argument) return ANYTHING;
    if (strstr(argument, "PATH") || strstr(argument, "FILE")) return FILES;
    if (strstr(argument, "DIR")) return DIRECTORIES;
    return strstr(argument, "COMMAND") ? COMMANDS : ANYTHING;
}

/* The names of all commands, with spaces between them. */
static void add_command_names(sb_buf *out) {
    for (const sb_command *const *c = sb_commands; *c; c++)
        sb_buf_printf(out, "%s%s", c == sb_commands ? "" : " ", (*c)->name);
}

/* A text inside single quotes. `special` characters get a backslash; a quote itself is written as
 * `quote`. */
static void add_quoted(sb_buf *out, const char *text, const char *special, const char *quote) {
    for (; *text; text++) {
        if (*text == '\'') {
            sb_buf_add_str(out, quote);
            continue;
        }
        if (strchr(special, *text)) sb_buf_add_byte(out, '\\');
        sb_buf_add_byte(out, (uint8_t)*text);
    }
}

/* ---- bash ------------------------------------------------------------------------------------ */

/* One assignment: what the script proposes. */
static void add_bash_proposal(sb_buf *out, proposal what, const char *choices) {
    if (choices) {
        sb_buf_printf(out, "words='%s'", choices);
    } else if (what == COMMANDS) {
        sb_buf_add_str(out, "words='");
        add_command_names(out);
        sb_buf_add_byte(out, '\'');
    } else {
        sb_buf_add_str(out, what == FILES         ? "kind=file"
                            : what == DIRECTORIES ? "kind=directory"
                                                  : ":");
    }
    sb_buf_add_byte(out, '\n');
}

static void add_bash_command(sb_buf *out, const sb_command *c) {
    for (size_t i = 0; i < c->option_count; i++) {
        const sb_option *o = &c->options[i];
        if (o->type == SB_OPTION_FLAG) continue;
        sb_buf_printf(out, "        '%s --%s'", c->name, o->name);
        if (o->letter) sb_buf_printf(out, " | '%s -%c'", c->name, o->letter);
        sb_buf_add_str(out, ")\n            ");
        add_bash_proposal(out, proposal_of(o->argument), o->choices);
        sb_buf_add_str(out, "            ;;\n");
    }
    sb_buf_printf(out, "        '%s '*)\n            if [[ $current == -* ]]; then words='",
                  c->name);
    for (size_t i = 0; i < c->option_count; i++) sb_buf_printf(out, "--%s ", c->options[i].name);
    sb_buf_add_str(out, "--help'\n");
    if (c->choices)
        sb_buf_printf(out, "            elif [[ $COMP_CWORD -eq 2 ]]; then words='%s'\n",
                      c->choices);
    sb_buf_add_str(out, "            else ");
    add_bash_proposal(out, proposal_of(c->operands), NULL);
    sb_buf_add_str(out, "            fi ;;\n");
}

static void add_bash(sb_buf *out) {
    sb_buf_add_str(
        out, "# bash completion for seaboard, made by 'seaboard completion bash'\n"
             "_seaboard() {\n"
             "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
             "    local command=serve kind= words=\n"
             "    # bash takes --name=value for three words\n"
             "    if [[ $current == '=' ]]; then current=\n"
             "    elif [[ $previous == '=' ]]; then previous=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
             "    COMPREPLY=()\n"
             "    [[ $COMP_CWORD -gt 1 && ${COMP_WORDS[1]} != -* ]] && command=${COMP_WORDS[1]}\n"
             "    [[ $COMP_CWORD -eq 1 && $current != -* ]] && command=\n"
             "    case \"$command $previous\" in\n"
             "        ' '*) words='");
    add_command_names(out);
    for (const sb_word *word = sb_main_words; word->name; word++)
        sb_buf_printf(out, " %s", word->name);
    sb_buf_add_str(out, "' ;;\n        'help '*)\n            ");
    add_bash_proposal(out, COMMANDS, NULL);
    sb_buf_add_str(out, "            ;;\n");
    for (const sb_command *const *c = sb_commands; *c; c++) add_bash_command(out, *c);
    sb_buf_add_str(out, "    esac\n"
                        "    if [[ -n $kind ]]; then\n"
                        "        compopt -o filenames 2>/dev/null\n"
                        "        mapfile -t COMPREPLY < <(compgen -A \"$kind\" -- \"$current\")\n"
                        "    elif [[ -n $words ]]; then\n"
                        "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
                        "    fi\n"
                        "}\n"
                        "complete -F _seaboard seaboard\n");
}

/* ---- zsh ------------------------------------------------------------------------------------- */

static void add_zsh_proposal(sb_buf *out, const char *argument, const char *choices) {
    static const char *const actions[] = {
        [ANYTHING] = "", [FILES] = "_files", [DIRECTORIES] = "_files -/", [COMMANDS] = ""};
    sb_buf_add_byte(out, ':');
    add_quoted(out, argument, ":\\", "'\\''");
    sb_buf_add_byte(out, ':');
    if (choices) {
        sb_buf_printf(out, "(%s)", choices);
    } else if (proposal_of(argument) == COMMANDS) {
        sb_buf_add_byte(out, '(');
        add_command_names(out);
        sb_buf_add_byte(out, ')');
    } else {
        sb_buf_add_str(out, actions[proposal_of(argument)]);
    }
}

static void add_zsh_option(sb_buf *out, const sb_option *o) {
    bool takes = o->type != SB_OPTION_FLAG;
    sb_buf_add_str(out, " \\\n            '");
    if (o->type == SB_OPTION_LIST) sb_buf_add_byte(out, '*');
    if (o->letter)
        sb_buf_printf(out, "(-%c --%s)'{-%c,--%s%s}'", o->letter, o->name, o->letter, o->name,
                      takes ? "=" : "");
    else
        sb_buf_printf(out, "--%s%s", o->name, takes ? "=" : "");
    sb_buf_add_byte(out, '[');
    add_quoted(out, o->help, "[]:\\", "'\\''");
    sb_buf_add_byte(out, ']');
    if (takes) add_zsh_proposal(out, o->argument, o->choices);
    sb_buf_add_byte(out, '\'');
}

static void add_zsh_command(sb_buf *out, const sb_command *c) {
    sb_buf_printf(out, "        %s)\n        _arguments", c->name);
    for (size_t i = 0; i < c->option_count; i++) add_zsh_option(out, &c->options[i]);
    add_zsh_option(out, &(sb_option){.name = "help", .letter = 'h', .help = "shows the help page"});
    if (c->operands && *c->operands) {
        sb_buf_add_str(out, " \\\n            '1");
        add_zsh_proposal(out, c->operands, c->choices);
        sb_buf_add_byte(out, '\'');
        if (c->choices && proposal_of(c->operands) == FILES)
            sb_buf_add_str(out, " \\\n            '*:PATH:_files'");
    }
    sb_buf_add_str(out, " ;;\n");
}

static void add_zsh_word(sb_buf *out, const char *name, const char *summary) {
    sb_buf_printf(out, "        '%s:", name);
    add_quoted(out, summary, ":\\", "'\\''");
    sb_buf_add_str(out, "'\n");
}

static void add_zsh(sb_buf *out) {
    sb_buf_add_str(out, "#compdef seaboard\n"
                        "# zsh completion for seaboard, made by 'seaboard completion zsh'\n"
                        "_seaboard() {\n"
                        "    local -a commands=(\n");
    for (const sb_command *const *c = sb_commands; *c; c++)
        add_zsh_word(out, (*c)->name, (*c)->summary);
    for (const sb_word *word = sb_main_words; word->name; word++)
        add_zsh_word(out, word->name, word->summary);
    sb_buf_add_str(out, "    )\n"
                        "    local command=serve\n"
                        "    if [[ $words[2] != -* ]]; then\n"
                        "        if ((CURRENT == 2)); then\n"
                        "            _describe command commands\n"
                        "            return\n"
                        "        fi\n"
                        "        command=$words[2]\n"
                        "        shift words\n"
                        "        ((CURRENT--))\n"
                        "    fi\n"
                        "    case $command in\n"
                        "        help)\n"
                        "        _arguments '1");
    add_zsh_proposal(out, "COMMAND", NULL);
    sb_buf_add_str(out, "' ;;\n");
    for (const sb_command *const *c = sb_commands; *c; c++) add_zsh_command(out, *c);
    sb_buf_add_str(
        out, "    esac\n"
             "}\n"
             "# autoloaded by compinit, the file is the function; sourced, it defines it\n"
             "if [[ $funcstack[1] == _seaboard ]]; then _seaboard \"$@\"; else compdef _seaboard "
             "seaboard; fi\n");
}

/* ---- fish ------------------------------------------------------------------------------------ */

static void add_fish_start(sb_buf *out, const sb_command *c, const char *more) {
    sb_buf_printf(out, "complete -c seaboard -n '__seaboard_is %s%s'", c->name, more);
}

static void add_fish_proposal(sb_buf *out, const char *argument, const char *choices) {
    if (choices) {
        sb_buf_printf(out, " -xa '%s'", choices);
        return;
    }
    switch (proposal_of(argument)) {
    case FILES:
        sb_buf_add_str(out, " -rF");
        return;
    case DIRECTORIES:
        sb_buf_add_str(out, " -xa '(__fish_complete_directories)'");
        return;
    case COMMANDS:
        sb_buf_add_str(out, " -xa '");
        add_command_names(out);
        sb_buf_add_byte(out, '\'');
        return;
    case ANYTHING:
        sb_buf_add_str(out, " -x");
    }
}

static void add_fish_text(sb_buf *out, const char *text) {
    sb_buf_add_str(out, " -d '");
    add_quoted(out, text, "\\", "\\'");
    sb_buf_add_str(out, "'\n");
}

static void add_fish_operands(sb_buf *out, const sb_command *c) {
    if (c->choices) {
        add_fish_start(out, c, "; and __seaboard_words 2");
        add_fish_proposal(out, NULL, c->choices);
        sb_buf_add_byte(out, '\n');
    }
    if (proposal_of(c->operands) == ANYTHING) return;
    add_fish_start(out, c, c->choices ? "; and not __seaboard_words 2" : "");
    add_fish_proposal(out, c->operands, NULL);
    sb_buf_add_byte(out, '\n');
}

static void add_fish_command(sb_buf *out, const sb_command *c) {
    for (size_t i = 0; i < c->option_count; i++) {
        const sb_option *o = &c->options[i];
        add_fish_start(out, c, "");
        sb_buf_printf(out, " -l %s", o->name);
        if (o->letter) sb_buf_printf(out, " -s %c", o->letter);
        if (o->type != SB_OPTION_FLAG) add_fish_proposal(out, o->argument, o->choices);
        add_fish_text(out, o->help);
    }
    add_fish_start(out, c, "");
    sb_buf_add_str(out, " -l help -s h");
    add_fish_text(out, "shows the help page");
    add_fish_operands(out, c);
}

static void add_fish_word(sb_buf *out, const char *name, const char *summary) {
    sb_buf_printf(out, "complete -c seaboard -n '__seaboard_words 1' -a %s", name);
    add_fish_text(out, summary);
}

static void add_fish(sb_buf *out) {
    sb_buf_add_str(out,
                   "# fish completion for seaboard, made by 'seaboard completion fish'\n"
                   "function __seaboard_words # are there so many words before the cursor?\n"
                   "    test (count (commandline -opc)) -eq $argv[1]\n"
                   "end\n"
                   "function __seaboard_is # is this the command? options alone mean serve\n"
                   "    set -l words (commandline -opc)\n"
                   "    set -l command serve\n"
                   "    if test (count $words) -gt 1; and not string match -q -- '-*' $words[2]\n"
                   "        set command $words[2]\n"
                   "    end\n"
                   "    test $command = $argv[1]\n"
                   "end\n"
                   "complete -c seaboard -f\n");
    for (const sb_command *const *c = sb_commands; *c; c++)
        add_fish_word(out, (*c)->name, (*c)->summary);
    for (const sb_word *word = sb_main_words; word->name; word++)
        add_fish_word(out, word->name, word->summary);
    sb_buf_add_str(out, "complete -c seaboard -n '__seaboard_is help'");
    add_fish_proposal(out, "COMMAND", NULL);
    sb_buf_add_byte(out, '\n');
    for (const sb_command *const *c = sb_commands; *c; c++) add_fish_command(out, *c);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*add)(sb_buf *out);
} shells[] = {{"bash", add_bash}, {"zsh", add_zsh}, {"fish", add_fish}};

static int completion_main(sb_cli *cli, const sb_args *args) {
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
        if (strcmp(args->rest[0], shells[i].name) != 0) continue;
        shells[i].add(&cli->line);
        sb_cli_put(cli);
        return 0;
    }
    sb_err err;
    sb_fail(&err, SB_INVALID, 0,
            "completion: there is a script for bash, zsh and fish, not for '%s'", args->rest[0]);
    return sb_cli_fail(cli, &err);
}

const sb_command sb_command_completion = {
    .name = "completion",
    .summary = "prints a script that completes command lines in a shell",
    .operands = "bash|zsh|fish",
    .choices = "bash zsh fish",
    .min_operands = 1,
    .max_operands = 1,
    .details = "In the shell at hand, or in its start file:\n"
               "  source <(seaboard completion bash)\n"
               "  source <(seaboard completion zsh)\n"
               "  seaboard completion fish | source\n",
    .run = completion_main,
};
