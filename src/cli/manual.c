/* manual.c: `seaboard manual [COMMAND]`: manual pages, made from the tables of commands and
 * options.
 *
 *     seaboard manual serve | man -l -
 *
 * With --folder DIR every page is written there under the name that man looks for: seaboard.1,
 * seaboard-serve.1, ... The build does that for `make install`. The pages are plain roff with the
 * macros of man(7). */
#include <stdio.h>
#include <string.h>

#include "base/slice.h"
#include "cli/cli.h"
#include "fsio/fs.h"
#include "seaboard/version.h"
#include "base/banned.h"

enum { OPTION_FOLDER, OPTIONS };

static const sb_option manual_options[OPTIONS] = {
    [OPTION_FOLDER] = {"folder", 0, SB_OPTION_TEXT, "DIR", "writes all pages into this directory",
                       NULL},
};

/* ---- roff ------------------------------------------------------------------------------------ */

/* Text with the characters escaped that roff would interpret: a backslash, a hyphen that people
 * copy as part of an option, and a dot or a quote at the beginning of a line. */
static void add_roff(sb_buf *out, const char *text) {
    bool line_begins = true;
    for (; *text; text++) {
        if (line_begins && (*text == '.' || *text == '\'')) sb_buf_add_str(out, "\\&");
        if (*text == '\\')
            sb_buf_add_str(out, "\\e");
        else if (*text == '-')
            sb_buf_add_str(out, "\\-");
        else
            sb_buf_add_byte(out, (uint8_t)*text);
        line_begins = *text == '\n';
    }
}

static void add_heading(sb_buf *out, const char *heading) {
    sb_buf_printf(out, ".SH %s\n", heading);
}

/* A sentence: with a capital letter and a full stop. */
static void add_sentence(sb_buf *out, const char *text) {
    char first[2] = {(char)(*text >= 'a' && *text <= 'z' ? *text - 0x20 : *text), 0};
    add_roff(out, first);
    if (*text) add_roff(out, text + 1);
    sb_buf_add_str(out, ".\n");
}

/* Paragraphs as they are laid out in the help page: examples and tables keep their lines. */
static void add_details(sb_buf *out, const char *details) {
    if (!details) return;
    sb_buf_add_str(out, ".PP\n.nf\n");
    add_roff(out, details);
    sb_buf_add_str(out, ".fi\n");
}

/* "seaboard" or "seaboard-serve", in capitals for the page's title. */
static void add_title(sb_buf *out, const char *command) {
    sb_buf_add_str(out, ".TH SEABOARD");
    if (command) sb_buf_add_str(out, "\\-");
    for (const char *c = command ? command : ""; *c; c++)
        sb_buf_add_byte(out, (uint8_t)(*c >= 'a' && *c <= 'z' ? *c - 0x20 : *c));
    sb_buf_add_str(out, " 1 \"\" \"Seaboard " SB_VERSION "\" \"Seaboard Manual\"\n");
    sb_buf_add_str(out, ".nh\n.ad l\n"); /* names of options and pages are never broken */
}

static void add_exit_codes(sb_buf *out) {
#define ROW(name, text, exit_code, meaning) {SB_##name, exit_code, meaning},
    static const struct {
        sb_status status;
        int code;
        const char *meaning;
    } rows[] = {SB_STATUS_MAP(ROW)};
#undef ROW
    add_heading(out, "EXIT STATUS");
    for (int code = 0; code < 256; code++) {
        bool first = true;
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            if (rows[i].code != code || (code == 0 && rows[i].status != SB_OK)) continue;
            if (first) sb_buf_printf(out, ".TP\n.B %d\n", code);
            if (!first) sb_buf_add_str(out, "; ");
            add_roff(out, rows[i].meaning);
            first = false;
        }
        if (!first) sb_buf_add_str(out, "\n");
    }
}

static void add_see_also(sb_buf *out, const char *self) {
    add_heading(out, "SEE ALSO");
    bool any = false;
    if (self) sb_buf_add_str(out, ".BR seaboard (1)");
    any = self != NULL;
    for (const sb_command *const *c = sb_commands; *c; c++) {
        if (self && strcmp((*c)->name, self) == 0) continue;
        sb_buf_printf(out, "%s.BR seaboard\\-%s (1)", any ? ",\n" : "", (*c)->name);
        any = true;
    }
    sb_buf_add_byte(out, '\n');
}

/* ---- pages ----------------------------------------------------------------------------------- */

static void add_option(sb_buf *out, const sb_option *o) {
    sb_buf_add_str(out, ".TP\n\\fB");
    if (o->letter) sb_buf_printf(out, "\\-%c\\fR, \\fB", o->letter);
    sb_buf_add_str(out, "\\-\\-");
    add_roff(out, o->name);
    sb_buf_add_str(out, "\\fR");
    if (o->argument) {
        sb_buf_add_str(out, " \\fI");
        add_roff(out, o->argument);
        sb_buf_add_str(out, "\\fR");
    }
    sb_buf_add_byte(out, '\n');
    add_sentence(out, o->help);
    if (!o->choices) return;
    sb_buf_add_str(out, "One of: ");
    add_roff(out, o->choices);
    sb_buf_add_str(out, ".\n");
}

static void add_command_page(sb_buf *out, const sb_command *c) {
    add_title(out, c->name);
    add_heading(out, "NAME");
    sb_buf_printf(out, "seaboard\\-%s \\- ", c->name);
    add_roff(out, c->summary);
    sb_buf_add_byte(out, '\n');
    add_heading(out, "SYNOPSIS");
    sb_buf_printf(out, "\\fBseaboard %s\\fR [\\fIoptions\\fR]", c->name);
    if (c->operands && *c->operands) {
        sb_buf_add_byte(out, ' ');
        add_roff(out, c->operands);
    }
    sb_buf_add_byte(out, '\n');
    add_heading(out, "DESCRIPTION");
    add_sentence(out, c->summary);
    add_details(out, c->details);
    add_heading(out, "OPTIONS");
    for (size_t i = 0; i < c->option_count; i++) add_option(out, &c->options[i]);
    add_option(out, &(sb_option){.name = "help", .letter = 'h', .help = "shows the help page"});
    add_see_also(out, c->name);
}

static void add_word(sb_buf *out, const char *name, const char *summary) {
    sb_buf_printf(out, ".TP\n.B %s\n", name);
    add_sentence(out, summary);
}

static void add_main_page(sb_buf *out) {
    add_title(out, NULL);
    add_heading(out, "NAME");
    sb_buf_add_str(out, "seaboard \\- read, check, serve and show training logs\n");
    add_heading(out, "SYNOPSIS");
    sb_buf_add_str(out, "\\fBseaboard \\-\\-logdir\\fR \\fIDIR\\fR [\\fIoptions\\fR]\n.br\n"
                        "\\fBseaboard\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n");
    add_heading(out, "DESCRIPTION");
    sb_buf_add_str(out,
                   "Seaboard does TensorBoard's job natively. It reads and writes TensorBoard's "
                   "event files, and serves them\nas web pages and by TensorBoard's HTTP "
                   "interface. Options without a command mean\n.BR seaboard\\-serve (1).\n");
    add_heading(out, "COMMANDS");
    for (const sb_command *const *c = sb_commands; *c; c++)
        add_word(out, (*c)->name, (*c)->summary);
    for (const sb_word *word = sb_main_words; word->name; word++)
        add_word(out, word->name, word->summary);
    add_exit_codes(out);
    add_see_also(out, NULL);
}

/* ---- the command ----------------------------------------------------------------------------- */

static void add_page(sb_buf *out, const sb_command *command) {
    if (command)
        add_command_page(out, command);
    else
        add_main_page(out);
}

/* Writes the page of a command, or the main page, into the folder. */
static sb_status put_page(sb_cli *cli, const char *folder, const sb_command *command, sb_err *err) {
    sb_buf page, path;
    sb_buf_init(&page, cli->env->alloc, (size_t)1 << 20);
    sb_buf_init(&path, cli->env->alloc, (size_t)1 << 16);
    add_page(&page, command);
    sb_buf_printf(&path, "%s/seaboard%s%s.1", folder, command ? "-" : "",
                  command ? command->name : "");
    sb_buf_add_byte(&path, 0);
    sb_status status = sb_buf_check(&page, "a manual page", err);
    if (status == SB_OK) status = sb_buf_check(&path, "the path of a manual page", err);
    if (status == SB_OK)
        status = sb_fs_put(cli->env->fs, cli->env->alloc, (const char *)path.p, sb_buf_slice(&page),
                           err);
    sb_buf_fini(&path);
    sb_buf_fini(&page);
    return status;
}

static sb_status put_all_pages(sb_cli *cli, const char *folder, sb_err *err) {
    sb_status status = sb_fs_make_dirs(cli->env->fs, cli->env->alloc, folder, err);
    if (status == SB_OK) status = put_page(cli, folder, NULL, err);
    for (const sb_command *const *c = sb_commands; *c && status == SB_OK; c++)
        status = put_page(cli, folder, *c, err);
    return status;
}

static int manual_main(sb_cli *cli, const sb_args *args) {
    sb_err err;
    const char *folder = args->options[OPTION_FOLDER].text;
    const char *name = args->rest_count ? args->rest[0] : NULL;
    const sb_command *command = name ? sb_command_named(name) : NULL;
    if (name && !command) {
        sb_fail(&err, SB_NOT_FOUND, 0, "manual: there is no command '%s'", name);
        return sb_cli_fail(cli, &err);
    }
    if (folder) return put_all_pages(cli, folder, &err) == SB_OK ? 0 : sb_cli_fail(cli, &err);
    add_page(&cli->line, command);
    sb_cli_put(cli);
    return 0;
}

const sb_command sb_command_manual = {
    .name = "manual",
    .summary = "prints the manual page of seaboard, or of a command",
    .operands = "[COMMAND]",
    .max_operands = 1,
    .options = manual_options,
    .option_count = OPTIONS,
    .details = "The page is in the format of man: seaboard manual serve | man -l -\n",
    .run = manual_main,
};
