/* export.c: `seaboard export DIR`: every point of every scalar series, exactly as it was logged.
 *
 * The directory is read as the server reads it, so what comes out is what the server serves: all
 * runs, old and new forms of summaries alike, steps that a restarted run went over again left out
 * unless --superseded asks for them. Reading uses all cores, and points beyond the memory limit go
 * to a file; writing is a stream.
 *
 *   csv    run,tag,step,wall_time,value      numbers with the fewest digits that read back the same
 *   json   one array, an object a line; NaN and infinities are the texts "NaN", "Infinity",
 * "-Infinity" */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/number.h"
#include "base/slice.h"
#include "cli/cli.h"
#include "cli/serve_flags.h"
#include "cli/serve_token.h"
#include "fsio/fs.h"
#include "ingest/ingest.h"
#include "store/store.h"
#include "base/banned.h"

#define FLUSH_BYTES ((size_t)256 << 10)
#define ARENA_CAP ((size_t)2 << 30)
#define MEMORY_LIMIT ((uint64_t)2 << 30)

enum { OPTION_RUN, OPTION_TAG, OPTION_FORMAT, OPTION_SUPERSEDED, OPTIONS };

static const sb_option options[OPTIONS] = {
    [OPTION_RUN] = {"run", 0, SB_OPTION_TEXT, "RUN", "only this run"},
    [OPTION_TAG] = {"tag", 0, SB_OPTION_TEXT, "TAG", "only this tag"},
    [OPTION_FORMAT] = {"format", 0, SB_OPTION_TEXT, "csv|json", "how to write it; csv unless told"},
    [OPTION_SUPERSEDED] = {"superseded", 0, SB_OPTION_FLAG, NULL,
                           "with the points that a restart went over again"},
};

typedef struct exporting {
    sb_cli *cli;
    const char *run, *tag;
    bool json, superseded;
    bool any;         /* something was written */
    sb_points points; /* one block of a series */
} exporting;

/* ---- writing --------------------------------------------------------------------------------- */

/* A CSV field, quoted when it must be. */
static void add_field(sb_buf *out, sb_slice text) {
    bool quoted = false;
    for (size_t i = 0; i < text.n && !quoted; i++) quoted = strchr(",\"\r\n", text.p[i]) != NULL;
    if (!quoted) {
        sb_buf_add_slice(out, text);
        return;
    }
    sb_buf_add_byte(out, '"');
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '"') sb_buf_add_byte(out, '"');
        sb_buf_add_byte(out, text.p[i]);
    }
    sb_buf_add_byte(out, '"');
}

static void add_double(sb_buf *out, double x) {
    if (!sb_buf_reserve(out, SB_NUMBER_ROOM)) return;
    out->n += sb_print_double((char *)out->p + out->n, x);
}

static void add_int(sb_buf *out, int64_t x) {
    if (!sb_buf_reserve(out, SB_NUMBER_ROOM)) return;
    out->n += sb_print_int64((char *)out->p + out->n, x);
}

/* In JSON what is no number is a text. */
static void add_number(const exporting *e, sb_buf *out, double x) {
    bool quoted = e->json && (x != x || x - x != 0);
    if (quoted) sb_buf_add_byte(out, '"');
    add_double(out, x);
    if (quoted) sb_buf_add_byte(out, '"');
}

/* What stands before the step in every line of a series. */
static void add_names(const exporting *e, sb_buf *out, sb_slice run, sb_slice tag) {
    if (e->json) {
        sb_buf_add_str(out, "{\"run\": ");
        sb_json_quote(out, run, true);
        sb_buf_add_str(out, ", \"tag\": ");
        sb_json_quote(out, tag, true);
        sb_buf_add_str(out, ", \"step\": ");
        return;
    }
    add_field(out, run);
    sb_buf_add_byte(out, ',');
    add_field(out, tag);
    sb_buf_add_byte(out, ',');
}

static void add_point(exporting *e, sb_slice names, size_t i) {
    sb_buf *out = &e->cli->line;
    if (e->json) sb_buf_add_str(out, e->any ? ",\n" : "[\n");
    e->any = true;
    sb_buf_add_slice(out, names);
    add_int(out, e->points.steps[i]);
    sb_buf_add_str(out, e->json ? ", \"wall_time\": " : ",");
    add_number(e, out, e->points.walls[i]);
    sb_buf_add_str(out, e->json ? ", \"value\": " : ",");
    add_number(e, out, e->points.values[i]);
    sb_buf_add_byte(out, e->json ? '}' : '\n');
}

/* False when the output is gone. */
static bool write_series(exporting *e, const sb_series *series, sb_slice run) {
    sb_cli *cli = e->cli;
    sb_buf names;
    sb_buf_init(&names, cli->env->alloc, (size_t)64 << 20);
    add_names(e, &names, run, series->tag);
    sb_scalar_walk walk = sb_scalars_of(series, !e->superseded);
    size_t n;
    bool fine = names.failed == SB_OK;
    while (fine && (n = sb_scalars_next(&walk, &e->points, NULL)) > 0) {
        for (size_t i = 0; i < n; i++) add_point(e, sb_buf_slice(&names), i);
        if (cli->line.n >= FLUSH_BYTES) fine = sb_cli_put(cli);
    }
    sb_buf_fini(&names);
    return fine;
}

/* ---- walking --------------------------------------------------------------------------------- */

static int by_tag(const void *a, const void *b) {
    const sb_series_info *x = a, *y = b;
    return sb_slice_cmp(x->tag, y->tag);
}

static int by_name(const void *a, const void *b) {
    sb_run_info x, y;
    sb_run_get_info(*(sb_run *const *)a, &x);
    sb_run_get_info(*(sb_run *const *)b, &y);
    return sb_slice_cmp(x.name, y.name);
}

static sb_status export_run(exporting *e, sb_run *run, sb_arena *arena) {
    sb_run_info info;
    sb_series_info *all;
    size_t n;
    sb_run_get_info(run, &info);
    if (e->run && !sb_slice_eq(info.name, sb_slice_str(e->run))) return SB_OK;
    sb_status status = sb_run_list(run, arena, &all, &n);
    if (status != SB_OK) return status;
    qsort(all, n, sizeof *all, by_tag);
    for (size_t i = 0; i < n; i++) {
        if (all[i].meta->kind != SB_SERIES_SCALAR) continue;
        if (e->tag && !sb_slice_eq(all[i].tag, sb_slice_str(e->tag))) continue;
        sb_series series;
        sb_arena_mark mark = sb_arena_here(arena);
        status = sb_series_take(run, all[i].tag, arena, &series);
        if (status == SB_NOT_FOUND) continue;
        if (status != SB_OK) return status;
        bool fine = write_series(e, &series, info.name);
        sb_series_release(&series);
        sb_arena_reset(arena, mark);
        if (!fine) return SB_CLOSED;
    }
    return SB_OK;
}

static sb_status export_store(exporting *e, sb_store *store, sb_err *err) {
    sb_arena arena;
    sb_arena_init(&arena, e->cli->env->alloc, 256 << 10, ARENA_CAP);
    sb_runs runs;
    sb_status status = sb_store_runs(store, &arena, &runs);
    if (status == SB_OK) {
        qsort(runs.items, runs.n, sizeof *runs.items, by_name);
        if (!e->json) sb_buf_add_str(&e->cli->line, "run,tag,step,wall_time,value\n");
        for (size_t i = 0; i < runs.n && status == SB_OK; i++) {
            sb_arena_mark mark = sb_arena_here(&arena);
            status = export_run(e, runs.items[i], &arena);
            sb_arena_reset(&arena, mark);
        }
        if (e->json) sb_buf_add_str(&e->cli->line, e->any ? "\n]\n" : "[]\n");
        sb_runs_release(&runs);
    }
    sb_arena_fini(&arena);
    if (status == SB_CLOSED) return SB_OK; /* main says what became of the output */
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

static int run(sb_cli *cli, const sb_args *args) {
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
    .options = options,
    .option_count = OPTIONS,
    .details = "Every point is written, with all its digits. In CSV the columns are\n"
               "run, tag, step, wall_time, value.\n",
    .run = run,
};
