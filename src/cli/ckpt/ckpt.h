/* ckpt.h: what the verbs of `seaboard ckpt` share: options, opening, filters, progress. */
#ifndef SB_CLI_CKPT_H
#define SB_CLI_CKPT_H

#include "ckpt/bundle/bundle.h"
#include "cli/cli.h"

enum {
    SB_CKPT_JSON,
    SB_CKPT_LONG,
    SB_CKPT_SORT,
    SB_CKPT_ONLY,
    SB_CKPT_WITHOUT,
    SB_CKPT_OUTPUT,
    SB_CKPT_OPTIONS
};

typedef struct sb_ckpt_cli {
    sb_cli *cli;
    const sb_args *args;
    char **operands; /* behind the verb */
    int count;
    bool json;
    /* progress */
    const char *what;
    uint64_t all;    /* bytes to come */
    uint64_t before; /* bytes that were done before the one that reports now */
} sb_ckpt_cli;

/* One verb: `seaboard ckpt ls PATH`. */
typedef struct sb_ckpt_verb {
    const char *name;
    const char *operands; /* behind the verb */
    int min, max;
    int (*run)(sb_ckpt_cli *c);
} sb_ckpt_verb;

int sb_ckpt_ls(sb_ckpt_cli *c);
int sb_ckpt_show(sb_ckpt_cli *c);
int sb_ckpt_stats(sb_ckpt_cli *c);
int sb_ckpt_verify(sb_ckpt_cli *c);
int sb_ckpt_diff(sb_ckpt_cli *c);
int sb_ckpt_export(sb_ckpt_cli *c);
int sb_ckpt_import(sb_ckpt_cli *c);
int sb_ckpt_rename(sb_ckpt_cli *c);
int sb_ckpt_cp(sb_ckpt_cli *c);

/* Opens a checkpoint: a prefix, one of its files (PREFIX.index, .data-..., .meta), or a directory,
 * of which the newest one is taken. */
sb_status sb_ckpt_cli_open(sb_ckpt_cli *c, const char *path, sb_bundle **out, sb_err *err);

/* Is there an --only or a --without? */
bool sb_ckpt_cli_is_filtered(const sb_ckpt_cli *c);
/* Do they let this name pass? A NUL follows it. */
bool sb_ckpt_cli_wants(const sb_ckpt_cli *c, sb_slice name);

/* On a terminal, when it takes long: how far it is and how fast. */
void sb_ckpt_cli_progress(void *ud, uint64_t bytes);

/* "[784, 128]" */
void sb_ckpt_cli_add_shape(sb_buf *out, const sb_bundle_tensor *t);
/* "1.5 MB" */
void sb_ckpt_cli_add_size(sb_buf *out, uint64_t bytes);
/* A number with up to six digits. */
void sb_ckpt_cli_add_number(sb_buf *out, double x);

/* Prints the line. The exit code. */
int sb_ckpt_cli_put(sb_ckpt_cli *c);

#endif
