/* options.c: parses command lines by table. getopt_long does the work; its own messages are turned
 * off, since ours name the option and say what to do. */
#include "cli/options.h"

#include <assert.h>
#include <getopt.h>
#include <string.h>

#include "base/banned.h"

#define HELP_CODE 1
#define FIRST_CODE 256 /* the first code of options without a letter */

static int code_of(const sb_command *command, size_t i) {
    char letter = command->options[i].letter;
    return letter ? letter : FIRST_CODE + (int)i;
}

/* Makes getopt_long's two tables from ours. The leading ':' makes getopt distinguish a missing
 * argument from an unknown option. */
static void make_tables(const sb_command *command, struct option *longs, char *letters) {
    *letters++ = ':';
    *letters++ = 'h';
    size_t n = command->option_count;
    for (size_t i = 0; i < n; i++) {
        const sb_option *o = &command->options[i];
        int takes = o->type == SB_OPTION_FLAG ? no_argument : required_argument;
        longs[i] = (struct option){.name = o->name, .has_arg = takes, .val = code_of(command, i)};
        if (!o->letter) continue;
        *letters++ = o->letter;
        if (o->type != SB_OPTION_FLAG) *letters++ = ':';
    }
    *letters = 0;
    longs[n] = (struct option){.name = "help", .val = HELP_CODE};
    longs[n + 1] = (struct option){0};
}

static sb_parsed usage_error(const sb_command *command, sb_buf *message, const char *what,
                             const char *which) {
    sb_buf_printf(message, "%s: %s", command->name, what);
    if (which) sb_buf_printf(message, " '%s'", which);
    sb_buf_printf(message, "; see 'seaboard %s --help'", command->name);
    return SB_PARSED_WRONG;
}

static sb_parsed check_operands(const sb_command *command, const sb_args *args, sb_buf *message) {
    if (args->rest_count < command->min_operands)
        return usage_error(command, message, "something is missing:", command->operands);
    if (args->rest_count > command->max_operands)
        return usage_error(command, message, "there is no place for",
                           args->rest[command->max_operands]);
    return SB_PARSED_RUN;
}

sb_parsed sb_options_parse(const sb_command *command, int argc, char **argv, sb_args *out,
                           sb_buf *message) {
    struct option longs[SB_MOST_OPTIONS + 2];
    char letters[2 * SB_MOST_OPTIONS + 3];
    assert(command->option_count < SB_MOST_OPTIONS);
    make_tables(command, longs, letters);
    *out = (sb_args){.rest_count = 0};
    optind = 0; /* restarts GNU getopt */
    opterr = 0;
    for (;;) {
        int before = optind ? optind : 1;
        int code = command->one_dash ? getopt_long_only(argc, argv, letters, longs, NULL)
                                     : getopt_long(argc, argv, letters, longs, NULL);
        if (code == -1) break;
        if (code == 'h' || code == HELP_CODE) return SB_PARSED_HELP;
        const char *word = argv[optind > before ? optind - 1 : before];
        if (code == ':')
            return usage_error(command, message, "an argument is missing behind", word);
        if (code == '?' && strncmp(word, "--", 2) == 0 && optopt != 0)
            return usage_error(command, message, "this option takes no argument:", word);
        if (code == '?') return usage_error(command, message, "unknown or ambiguous option", word);
        size_t i = 0;
        while (code_of(command, i) != code) i++;
        out->options[i] = (sb_option_value){.given = true, .text = optarg};
        if (command->options[i].type != SB_OPTION_LIST) continue;
        if (out->listed_count == SB_MOST_LISTED)
            return usage_error(command, message, "too many of these:", word);
        out->listed[out->listed_count++] = optarg;
    }
    out->rest = argv + optind;
    out->rest_count = argc - optind;
    return check_operands(command, out, message);
}

/* ---- help ------------------------------------------------------------------------------------ */

void sb_options_usage(const sb_command *command, sb_buf *out) {
    sb_buf_printf(out, "usage: seaboard %s", command->name);
    if (command->option_count) sb_buf_add_str(out, " [options]");
    if (command->operands && *command->operands) sb_buf_printf(out, " %s", command->operands);
    sb_buf_add_byte(out, '\n');
}

static void add_option(sb_buf *out, const sb_option *o) {
    char left[64];
    char letter[8] = "    ";
    if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, o->name, o->argument ? " " : "",
             o->argument ? o->argument : "");
    sb_buf_printf(out, "  %-26s %s\n", left, o->help);
}

void sb_options_help(const sb_command *command, sb_buf *out) {
    sb_options_usage(command, out);
    sb_buf_printf(out, "\n%s.\n\noptions:\n", command->summary);
    for (size_t i = 0; i < command->option_count; i++) add_option(out, &command->options[i]);
    add_option(out, &(sb_option){.name = "help", .letter = 'h', .help = "shows this page"});
    if (command->details) sb_buf_printf(out, "\n%s", command->details);
}
