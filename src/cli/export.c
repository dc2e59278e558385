/* export.c: `seaboard export DIR`: every point of every scalar series, exactly as it was logged.
 *
 * The directory is read as the server reads it, so what comes out is what the server serves: all
 * runs, old and new forms of summaries alike, steps that a restarted run went over again left out
 * unless --superseded asks for them. Reading uses all cores, and points beyond the memory limit go
 * to a file; writing is a stream. (query/export.h) */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/slice.h"
#include "cli/cli.h"
#include "cli/serve_flags.h"
#include "cli/serve_token.h"
#include "fsio/fs.h"
#include "ingest/ingest.h"
#include "query/export.h"
#include "store/store.h"
#include "base/banned.h"

#define MEMORY_LIMIT ((uint64_t)2 << 30)

enum { OPTION_RUN, OPTION_TAG, OPTION_FORMAT, OPTION_SUPERSEDED, OPTIONS };

static const sb_option export_options[OPTIONS] = {
    [OPTION_RUN] = {"run", 0, SB_OPTION_TEXT, "RUN", "only this run", NULL},
    [OPTION_TAG] = {"tag", 0, SB_OPTION_TEXT, "TAG", "only this tag", NULL},
    [OPTION_FORMAT] = {"format", 0, SB_OPTION_TEXT, "csv|json", "output format; default: csv",
                       "csv json"},
    [OPTION_SUPERSEDED] = {"superseded", 0, SB_OPTION_FLAG, NULL,
                           "include the points that a restarted run wrote again", NULL},
};

typedef struct exporting {
    sb_cli *cli;
    const char *run, *tag;
    bool json, superseded;
} exporting;

static bool wants_run(void *ud, sb_slice run) {
    const exporting *e = ud;
    return !e->run || sb_slice_eq(run, sb_slice_str(e->run));
}

static bool wants_tag(void *ud, sb_slice tag) {
    const exporting *e = ud;
    return !e->tag || sb_slice_eq(tag, sb_slice_str(e->tag));
}

static bool flush_line(void *ud) {
    const exporting *e = ud;
    return sb_cli_put(e->cli);
}

static sb_status export_store(exporting *e, sb_store *store, sb_err *err) {
    sb_export all = {.out = &e->cli->line,
                     .json = e->json,
                     .superseded = e->superseded,
                     .wants_run = wants_run,
                     .wants_tag = wants_tag,
                     .flush = flush_line,
                     .ud = e};
    sb_status status = sb_export_all(&all, store, e->cli->env->alloc);
    if (status == SB_CLOSED) return SB_OK; /* main reports that the output cannot be written */
    if (status != SB_OK) return sb_fail(err, status, 0, "export: %s", sb_status_meaning(status));
    sb_cli_put(e->cli);
    return SB_OK;
}

static sb_status export_directory(exporting *e, const char *path, const char *spill_dir,
                                  sb_err *err) {
    const sb_env *env = e->cli->env;
    sb_store *store;
    sb_ingest *ingest;
    sb_store_opts opts = {
        .alloc = env->alloc, .memory_limit = MEMORY_LIMIT, .spill_dir = spill_dir};
    sb_ingest_root root = {.path = path};
    sb_status status = sb_store_new(&store, &opts, err);
    if (status != SB_OK) return status;
    status = sb_ingest_start(&ingest, env, store,
                             &(sb_ingest_opts){.roots = &root, .root_count = 1, .no_inotify = true},
                             err);
    if (status == SB_OK) {
        sb_ingest_sync(ingest);
        status = export_store(e, store, err);
        sb_ingest_stop(ingest);
    }
    sb_store_free(store);
    return status;
}

static int export_main(sb_cli *cli, const sb_args *args) {
    const char *format = args->options[OPTION_FORMAT].text;
    sb_err err;
    if (format && strcmp(format, "csv") != 0 && strcmp(format, "json") != 0) {
        sb_fail(&err, SB_INVALID, 0, "export: there is no format '%s'; csv and json there are",
                format);
        return sb_cli_fail(cli, &err);
    }
    sb_arena arena;
    sb_arena_init(&arena, cli->env->alloc, 4096, 1 << 20);
    exporting *e = sb_arena_zeroed(&arena, 1, sizeof *e);
    const char *path = sb_expand_home(cli, args->rest[0], &arena);
    sb_status status;
    sb_file_info info;
    int known = path ? cli->env->fs->stat(cli->env->fs->ctx, path, &info) : 0;
    if (!e || !path) {
        status = sb_fail_nomem(&err, "for the export");
    } else if (known < 0) {
        status = sb_fail_errno(&err, SB_NOT_FOUND, -known, "%s: can't look at this", path);
    } else {
        e->cli = cli;
        e->run = args->options[OPTION_RUN].text;
        e->tag = args->options[OPTION_TAG].text;
        e->superseded = args->options[OPTION_SUPERSEDED].given;
        e->json = format && strcmp(format, "json") == 0;
        status = export_directory(
            e, path, sb_own_directory(cli, "XDG_CACHE_HOME", "~/.cache", &arena), &err);
    }
    int code = status == SB_OK ? 0 : sb_cli_fail(cli, &err);
    sb_arena_fini(&arena);
    return code;
}

const sb_command sb_command_export = {
    .name = "export",
    .summary = "writes all scalar points as CSV or JSON",
    .operands = "DIR",
    .min_operands = 1,
    .max_operands = 1,
    .options = export_options,
    .option_count = OPTIONS,
    .details = "Every point is written, with all its digits. In CSV the columns are\n"
               "run, tag, step, wall_time, value.\n",
    .run = export_main,
};
