/* ckpt.c: `seaboard ckpt VERB PATH`: looks into checkpoints, checks, converts and copies them. */
#include "cli/ckpt/ckpt.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

#include "base/slice.h"
#include "ckpt/state.h"
#include "fsio/fs.h"
#include "base/banned.h"

static const sb_ckpt_verb verbs[] = {
    {"ls", "PATH", 1, 1, sb_ckpt_ls},
    {"show", "PATH [NAME]", 1, 2, sb_ckpt_show},
    {"stats", "PATH [NAME]", 1, 2, sb_ckpt_stats},
    {"verify", "PATH", 1, 1, sb_ckpt_verify},
    {"diff", "PATH PATH", 2, 2, sb_ckpt_diff},
    {"export", "PATH OUT.npz|OUT.safetensors", 2, 2, sb_ckpt_export},
    {"import", "IN.npz|IN.safetensors PREFIX", 2, 2, sb_ckpt_import},
    {"rename", "PATH OLD NEW", 3, 3, sb_ckpt_rename},
    {"cp", "PATH PREFIX", 2, 2, sb_ckpt_cp},
};
#define VERBS (sizeof verbs / sizeof verbs[0])

static const sb_option ckpt_options[SB_CKPT_OPTIONS] = {
    [SB_CKPT_JSON] = {"json", 0, SB_OPTION_FLAG, NULL, "prints JSON", NULL},
    [SB_CKPT_LONG] = {"long", 'l', SB_OPTION_FLAG, NULL,
                      "ls: with the place in the data files and the checksum", NULL},
    [SB_CKPT_SORT] = {"sort", 0, SB_OPTION_TEXT, "name|bytes",
                      "ls: in which order; name unless told", "name bytes"},
    [SB_CKPT_ONLY] =
        {"only", 0, SB_OPTION_LIST, "PATTERN",
         "only tensors whose name matches, as in 'model/*'; may be given several times", NULL},
    [SB_CKPT_WITHOUT] = {"without", 0, SB_OPTION_TEXT, "PATTERN",
                         "leaves out tensors whose name matches", NULL},
    [SB_CKPT_OUTPUT] = {"output", 'o', SB_OPTION_TEXT, "PREFIX",
                        "rename: writes a copy instead of replacing the checkpoint", NULL},
};

/* ---- opening --------------------------------------------------------------------------------- */

/* The prefix that one of a checkpoint's files belongs to: its length. */
static size_t prefix_length(const char *path) {
    size_t n = strlen(path);
    sb_slice text = sb_slice_of(path, n);
    if (sb_slice_ends(text, SB_LIT(".index"))) return n - 6;
    if (sb_slice_ends(text, SB_LIT(".meta"))) return n - 5;
    if (n > 20 && strncmp(path + n - 20, ".data-", 6) == 0 && strncmp(path + n - 9, "-of-", 4) == 0)
        return n - 20;
    return n;
}

sb_status sb_ckpt_cli_open(sb_ckpt_cli *c, const char *path, sb_bundle **out, sb_err *err) {
    const sb_env *env = c->cli->env;
    sb_file_info info;
    sb_buf prefix;
    sb_status status = SB_OK;
    *out = NULL;
    sb_buf_init(&prefix, env->alloc, 1 << 16);
    if (env->fs->stat(env->fs->ctx, path, &info) == 0 && info.is_dir)
        status =
            sb_ckpt_latest(&prefix, NULL, env->fs, env->alloc, path, NULL, SB_CKPT_ANYWHERE, err);
    else
        sb_buf_add(&prefix, path, prefix_length(path));
    if (status == SB_OK) status = sb_buf_check(&prefix, "a path", err);
    if (status == SB_OK)
        status = sb_bundle_open(out, env->fs, env->alloc, NULL, sb_buf_slice(&prefix), NULL, err);
    sb_buf_fini(&prefix);
    return status;
}

bool sb_ckpt_cli_is_filtered(const sb_ckpt_cli *c) {
    return c->args->listed_count || c->args->options[SB_CKPT_WITHOUT].given;
}

bool sb_ckpt_cli_wants(const sb_ckpt_cli *c, sb_slice name) {
    const char *text = (const char *)name.p; /* a NUL follows */
    const char *without = c->args->options[SB_CKPT_WITHOUT].text;
    if (without && fnmatch(without, text, 0) == 0) return false;
    for (size_t i = 0; i < c->args->listed_count; i++)
        if (fnmatch(c->args->listed[i], text, 0) == 0) return true;
    return c->args->listed_count == 0;
}

/* ---- output ---------------------------------------------------------------------------------- */

void sb_ckpt_cli_add_shape(sb_buf *out, const sb_bundle_tensor *t) {
    sb_buf_add_byte(out, '[');
    for (uint32_t d = 0; d < t->rank; d++)
        sb_buf_printf(out, "%s%lld", d ? ", " : "", (long long)t->dims[d]);
    sb_buf_add_byte(out, ']');
}

void sb_ckpt_cli_add_size(sb_buf *out, uint64_t bytes) {
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    double size = (double)bytes;
    size_t unit = 0;
    for (; size >= 999.5 && unit < 6; unit++) size /= 1000;
    sb_buf_printf(out, unit ? "%.3g %s" : "%.0f %s", size, units[unit]);
}

void sb_ckpt_cli_add_number(sb_buf *out, double x) {
    if (isnan(x))
        sb_buf_add_str(out, "NaN");
    else if (isinf(x))
        sb_buf_add_str(out, x > 0 ? "Infinity" : "-Infinity");
    else
        sb_buf_printf(out, "%.6g", x);
}

int sb_ckpt_cli_put(sb_ckpt_cli *c) {
    sb_err err;
    if (sb_buf_check(&c->cli->line, "the output", &err) != SB_OK) return sb_cli_fail(c->cli, &err);
    sb_cli_put(c->cli);
    return 0;
}

void sb_ckpt_cli_progress(void *ud, uint64_t bytes) {
    sb_ckpt_cli *c = ud;
    sb_cli *cli = c->cli;
    double seconds, done = (double)(c->before + bytes) / 1e6;
    if (!sb_cli_progress_is_due(cli, &seconds)) return;
    fprintf(cli->err, "\r%s: %.0f of %.0f MB, %.0f MB/s\033[K", c->what, done, (double)c->all / 1e6,
            done / seconds);
    fflush(cli->err);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int ckpt_main(sb_cli *cli, const sb_args *args) {
    const sb_ckpt_verb *verb = NULL;
    for (size_t i = 0; i < VERBS; i++)
        if (strcmp(verbs[i].name, args->rest[0]) == 0) verb = &verbs[i];
    sb_err err;
    int count = args->rest_count - 1;
    if (!verb)
        sb_fail(&err, SB_INVALID, 0,
                "ckpt: there is no '%s'; there are ls, show, stats, verify, diff, export, import, "
                "rename and cp",
                args->rest[0]);
    else if (count < verb->min || count > verb->max)
        sb_fail(&err, SB_INVALID, 0, "usage: seaboard ckpt %s [options] %s", verb->name,
                verb->operands);
    else {
        sb_ckpt_cli c = {.cli = cli,
                         .args = args,
                         .operands = args->rest + 1,
                         .count = count,
                         .json = args->options[SB_CKPT_JSON].given};
        return verb->run(&c);
    }
    return sb_cli_fail(cli, &err);
}

const sb_command sb_command_ckpt = {
    .name = "ckpt",
    .summary = "looks into TensorFlow's checkpoints, checks, converts and copies them",
    .operands = "ls|show|stats|verify|diff|export|import|rename|cp PATH ...",
    .choices = "ls show stats verify diff export import rename cp",
    .min_operands = 1,
    .max_operands = 4,
    .options = ckpt_options,
    .option_count = SB_CKPT_OPTIONS,
    .details =
        "PATH is a prefix (run/ckpt-7), one of the checkpoint's files, or a directory, of which "
        "the\n"
        "newest checkpoint is taken. PREFIX is where a checkpoint is written.\n\n"
        "  ls PATH               names, types, shapes and bytes\n"
        "  show PATH             what kind of checkpoint it is; its files and sums\n"
        "  show PATH NAME        one tensor: values, statistics, histogram\n"
        "  stats PATH [NAME]     smallest, largest, mean, spread, zeros, NaN of every tensor\n"
        "  verify PATH           checks every byte; names what is damaged and where\n"
        "  diff PATH PATH        what is in one only, and how far the others are apart\n"
        "  export PATH OUT       every tensor into OUT.npz or OUT.safetensors\n"
        "  import IN PREFIX      a checkpoint from IN.npz or IN.safetensors, under the arrays' "
        "names\n"
        "  rename PATH OLD NEW   the tensor OLD, and all whose name begins with OLD/, are called "
        "NEW\n"
        "  cp PATH PREFIX        copies a checkpoint, or with --only and --without some of it\n\n"
        "exit code: 0 success, 1 nothing found or (diff) a difference, 2 wrong usage, 3 damaged,\n"
        "4 not readable\n",
    .run = ckpt_main,
};
