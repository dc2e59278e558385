/* export.c: `seaboard export DIR`: every point of every scalar series, exactly as it was logged.
 *
 * Reading is the columnar reader's (seaboard/reader.h): all runs, on all cores, old and new forms
 * of summaries alike; points that a restarted run wrote again are left out unless --superseded asks
 * for them. So the output is what the server shows. Memory: 24 bytes a point of the largest run,
 * and of some more runs when they are small. */
#include <stdlib.h>
#include <string.h>

#include "base/slice.h"
#include "cli/cli.h"
#include "cli/logs/tables.h"
#include "cli/serve/serve_flags.h"
#include "query/export_text.h"
#include "base/banned.h"

#define POINTS_AT_ONCE ((size_t)4096)

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
    sb_export_text text;
} exporting;

static int by_tag(const void *a, const void *b) {
    const sb_reader_columns *const *x = a, *const *y = b;
    return sb_slice_cmp((*x)->tag, (*y)->tag);
}

/* SB_CLOSED: the output cannot be written any more. */
static sb_status export_series(exporting *e, const sb_reader_columns *c) {
    sb_export_text_series(&e->text, sb_slice_str(c->run), c->tag);
    for (size_t i = 0; i < c->count; i += POINTS_AT_ONCE) {
        size_t n = c->count - i < POINTS_AT_ONCE ? c->count - i : POINTS_AT_ONCE;
        sb_export_text_points(&e->text, c->steps + i, c->wall_times + i, c->values + i, n);
        if (e->cli->line.failed) return e->cli->line.failed;
        if (!sb_cli_put(e->cli)) return SB_CLOSED;
    }
    return SB_OK;
}

static sb_status export_run(void *ud, const sb_cli_run *run, sb_err *err) {
    exporting *e = ud;
    const sb_alloc *alloc = e->cli->env->alloc;
    size_t n = run->column_n;
    if (n == 0) return SB_OK;
    const sb_reader_columns **sorted = sb_alloc_zeroed(alloc, n, sizeof *sorted);
    if (!sorted) return sb_fail_nomem(err, "for the export");
    for (size_t i = 0; i < n; i++) sorted[i] = &run->columns[i];
    qsort(sorted, n, sizeof *sorted, by_tag);
    sb_status status = SB_OK;
    for (size_t i = 0; i < n && status == SB_OK; i++) status = export_series(e, sorted[i]);
    sb_alloc_put(alloc, sorted, n * sizeof *sorted);
    return status == SB_OK || status == SB_CLOSED ? status : sb_fail_nomem(err, "for the export");
}

static void keep_run(sb_found *found, const char *name) {
    size_t n = 0;
    for (size_t i = 0; i < found->run_count; i++)
        if (sb_slice_eq(found->runs[i].name, sb_slice_str(name))) found->runs[n++] = found->runs[i];
    found->run_count = n;
}

static sb_status export_directory(sb_cli *cli, const char *path, const sb_args *args, bool json,
                                  sb_arena *arena, sb_err *err) {
    const char *run = args->options[OPTION_RUN].text, *tag = args->options[OPTION_TAG].text;
    sb_found found;
    sb_status status = sb_discover(&found, cli->env, arena, path, NULL, err);
    if (status != SB_OK) return status;
    if (run) keep_run(&found, run);
    bool all = args->options[OPTION_SUPERSEDED].given;
    sb_reader_table_opts opts =
        SB_INIT(sb_reader_table_opts, .tags = tag ? &tag : NULL, .tag_count = 1,
                .max_bytes = UINT64_MAX, .flags = all ? 0 : SB_TABLE_HIDE_SUPERSEDED);
    exporting e = {.cli = cli};
    sb_export_text_begin(&e.text, &cli->line, json, cli->env->alloc);
    status = sb_cli_read_tables(&(sb_cli_tables){.cli = cli,
                                                 .command = "export",
                                                 .runs = found.runs,
                                                 .run_count = found.run_count,
                                                 .opts = &opts,
                                                 .visit = export_run,
                                                 .ud = &e},
                                err);
    sb_export_text_end(&e.text);
    sb_cli_put(cli);
    return status == SB_CLOSED ? SB_OK : status; /* main reports an output that can't be written */
}

static int export_main(sb_cli *cli, const sb_args *args) {
    const char *format = args->options[OPTION_FORMAT].text;
    sb_err err;
    if (format && strcmp(format, "csv") != 0 && strcmp(format, "json") != 0) {
        sb_fail(&err, SB_INVALID, 0, "export: the format must be csv or json, not '%s'", format);
        return sb_cli_fail(cli, &err);
    }
    sb_arena arena;
    sb_arena_init(&arena, cli->env->alloc, 64 << 10, SIZE_MAX / 2);
    const char *path = sb_expand_home(cli, args->rest[0], &arena);
    bool json = format && strcmp(format, "json") == 0;
    sb_status status = path ? export_directory(cli, path, args, json, &arena, &err)
                            : sb_fail_nomem(&err, "for the export");
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
