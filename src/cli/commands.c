/* commands.c: the table of sub-commands. */
#include "cli/cli.h"

#include <string.h>

#include "base/banned.h"

const sb_command *const sb_commands[] = {
    &sb_command_serve,
    &sb_command_ps,
    &sb_command_stop,
    &sb_command_export,
    &sb_command_inspect,
    &sb_command_dump,
    &sb_command_verify,
    &sb_command_ckpt,
    &sb_command_graph,
    &sb_command_profile,
    &sb_command_manual,
    &sb_command_completion,
    NULL,
};

const sb_word sb_main_words[] = {
    {"version", "shows the version"},
    {"help", "shows this page, or that of a command"},
    {NULL, NULL},
};

const sb_command *sb_command_named(const char *name) {
    for (const sb_command *const *c = sb_commands; *c; c++)
        if (strcmp((*c)->name, name) == 0) return *c;
    return NULL;
}
