/* profile.c: `seaboard profile FILE`: the overview of a capture in the terminal: steps, where their
 * time goes, the heaviest operators and kernels, what to do. The page shows the same figures. */
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/slice.h"
#include "base/text/number.h"
#include "cli/cli.h"
#include "profile/analysis/views.h"
#include "profile/find/capture.h"
#include "profile/read/read.h"
#include "seaboard/reader.h"
#include "base/banned.h"

#define NAME_COLUMN 52u
#define USUAL_ROWS 10u
#define ARENA_CAP ((size_t)8 << 30)
#define MOST_STATS ((size_t)2 << 30) /* a record of an event file is not longer */

enum { OPTION_ROWS, OPTION_STEPS };

static const sb_option profile_options[] = {
    {"rows", 'n', SB_OPTION_TEXT, "N", "shows so many operators and kernels; 10 without it", NULL},
    {"steps", 's', SB_OPTION_TEXT, "NAME", "takes all slices of that name as the steps", NULL},
};

typedef struct report {
    sb_cli *cli;
    const sb_trace *t;
    const sb_analysis *a;
    uint64_t rows;
    sb_arena *arena;
} report;

static bool tell(void *ud, uint64_t done, uint64_t total) {
    sb_cli_progress(ud, "reading the trace", done, total, done);
    return true;
}

static void add_padded_time(sb_buf *out, int64_t ps, int width) {
    double x = (double)ps;
    if (x >= 1e12)
        sb_buf_printf(out, "%*.3f s", width, x * 1e-12);
    else if (x >= 1e9)
        sb_buf_printf(out, "%*.3f ms", width, x * 1e-9);
    else
        sb_buf_printf(out, "%*.3f us", width, x * 1e-6);
    if (width && x >= 1e12) sb_buf_add_byte(out, ' ');
}

/* In a sentence. */
static void add_time(sb_buf *out, int64_t ps) {
    add_padded_time(out, ps, 0);
}

/* In a column: as wide as every other one. */
static void add_time_column(sb_buf *out, int64_t ps) {
    add_padded_time(out, ps, 9);
}

static double share_of(int64_t part, int64_t all) {
    return all ? (double)part * 100 / (double)all : 0;
}

static void put_head(const report *r) {
    sb_buf *line = &r->cli->line;
    for (size_t i = 0; i < r->t->sources.n; i++) {
        const sb_trace_source *s = &r->t->sources.items[i];
        sb_buf_printf(line, "%s: ", sb_trace_format_name(s->format));
        sb_cli_add_shown(line, s->name, 100);
        if (s->rank >= 0)
            sb_buf_printf(line, ", rank %lld of %lld", (long long)s->rank, (long long)s->world);
        sb_buf_add_byte(line, '\n');
        sb_cli_put(r->cli);
    }
    sb_cli_add_count(line, r->t->span_count);
    sb_buf_printf(line, " slices on %zu tracks in ", r->t->tracks.n);
    add_time(line, r->t->duration);
    sb_buf_add_byte(line, '\n');
    for (size_t i = 0; i < r->t->devices.n; i++) {
        const sb_device *d = &r->t->devices.items[i];
        sb_buf_add_str(line, "device: ");
        sb_cli_add_shown(line, d->name, 80);
        if (d->memory) sb_buf_printf(line, ", %.1f GB", (double)d->memory * 1e-9);
        if (d->group == SB_NO_INDEX) sb_buf_add_str(line, ", nothing ran on it");
        sb_buf_add_byte(line, '\n');
    }
    sb_cli_put(r->cli);
}

static void put_steps(const report *r) {
    const sb_step_stats *s = &r->a->stats;
    sb_buf *line = &r->cli->line;
    if (s->n == 0) {
        sb_buf_add_str(line, "\nno steps were found\n");
        sb_cli_put(r->cli);
        return;
    }
    sb_buf_printf(line, "\nsteps: %zu, found by the rule \"%s\"", s->n,
                  sb_step_rule_name(r->a->rule));
    if (r->a->step_name) {
        sb_buf_add_str(line, ": ");
        sb_cli_add_shown(line, sb_trace_name(r->t, r->a->step_name - 1), NAME_COLUMN);
    }
    sb_buf_add_str(line, "\n  median ");
    add_time(line, s->median);
    sb_buf_add_str(line, "  p95 ");
    add_time(line, s->p95);
    sb_buf_add_str(line, "  worst ");
    add_time(line, s->worst);
    sb_buf_add_byte(line, '\n');
    if (r->a->has_device)
        sb_buf_printf(line, "  the device is busy for %.1f %% of the time\n",
                      r->a->device_busy * 100);
    for (int i = 0; i < SB_PART_COUNT; i++) {
        if (!s->parts[i]) continue;
        sb_buf_printf(line, "  %-14s", sb_part_name((sb_step_part)i));
        add_time_column(line, s->parts[i]);
        sb_buf_printf(line, "  %5.1f %%\n", share_of(s->parts[i], s->median));
    }
    sb_cli_put(r->cli);
}

static void put_ops(const report *r) {
    sb_buf *line = &r->cli->line;
    bool is_device = r->a->device_time > 0;
    int64_t all = is_device ? r->a->device_time : r->a->host_time;
    uint64_t shown = 0;
    for (size_t i = 0; i < r->a->op_count && shown < r->rows; i++) {
        const sb_op_row *o = &r->a->ops[i];
        int64_t self = is_device ? o->device_self : o->host_self;
        if (o->kind == SB_SPAN_STEP || !self) continue;
        if (shown++ == 0)
            sb_buf_printf(line, "\noperators by self time of the %s\n",
                          is_device ? "device" : "host");
        sb_buf_add_str(line, "  ");
        add_time_column(line, self);
        sb_buf_printf(line, "  %5.1f %%  %8llu x  ", share_of(self, all),
                      (unsigned long long)o->calls);
        sb_cli_add_shown(line, sb_trace_name(r->t, o->name), NAME_COLUMN);
        sb_buf_add_byte(line, '\n');
    }
    sb_cli_put(r->cli);
}

static void put_kernels(const report *r) {
    sb_buf *line = &r->cli->line;
    int64_t all = 0;
    if (r->a->kernel_count == 0) return;
    for (size_t i = 0; i < r->a->kernel_count; i++) sb_sum(&all, r->a->kernels[i].total);
    sb_buf_add_str(line, "\nkernels and copies by time\n");
    for (size_t i = 0; i < r->a->kernel_count && i < r->rows; i++) {
        const sb_kernel_row *k = &r->a->kernels[i];
        sb_buf_add_str(line, "  ");
        add_time_column(line, k->total);
        sb_buf_printf(line, "  %5.1f %%  %8llu x  ", share_of(k->total, all),
                      (unsigned long long)k->calls);
        sb_cli_add_shown(line, sb_trace_name(r->t, k->name), NAME_COLUMN);
        sb_buf_add_byte(line, '\n');
    }
    sb_cli_put(r->cli);
}

static bool put_advice(const report *r) {
    sb_buf *line = &r->cli->line;
    sb_advice *items;
    size_t n;
    if (!sb_view_advice(r->a, &items, &n, r->arena)) return false;
    if (n) sb_buf_add_str(line, "\nwhat to do\n");
    for (size_t i = 0; i < n; i++) {
        sb_buf_add_str(line, "  - ");
        sb_cli_add_shown(line, sb_slice_str(items[i].text), 400);
        sb_buf_add_byte(line, '\n');
    }
    sb_cli_put(r->cli);
    return true;
}

static void put_odds(const report *r) {
    sb_buf *line = &r->cli->line;
    for (int i = 0; i < SB_TRACE_ODD_COUNT; i++) {
        const sb_oddity *o = &r->t->odds[i];
        if (o->n == 0) continue;
        sb_buf_add_str(line, "odd: ");
        sb_cli_add_count(line, o->n);
        sb_buf_printf(line, " %s:", sb_trace_odd_text((sb_trace_odd)i));
        for (uint32_t k = 0; k < o->shown && k < 2; k++) {
            sb_buf_add_byte(line, ' ');
            sb_cli_add_shown(line, o->examples[k], 60);
        }
        sb_buf_add_byte(line, '\n');
    }
    sb_cli_put(r->cli);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Step statistics that an event holds, as an encoded RunMetadata. NULL: it holds none. */
static sb_slice stats_of(sb_reader *r, const sb_reader_event *e, sb_slice *tag) {
    const sb_reader_value *value;
    const sb_reader_tensor *tensor;
    *tag = e->tag;
    if (e->what == SB_READS_RUN_METADATA) return e->body;
    while (e->what == SB_READS_SUMMARY && sb_reader_next_value(r, &value) == SB_OK) {
        *tag = value->tag;
        if (sb_slice_eq(value->plugin_name, SB_LIT("graph_run_metadata")) &&
            sb_reader_tensor_of(r, &tensor) == SB_OK && tensor->strings && tensor->count)
            return tensor->strings[0];
    }
    return (sb_slice){NULL, 0};
}

/* Reads the step statistics that were written last into an event file. */
static sb_status read_event_file(sb_cli *cli, const char *path, const sb_trace_opts *opts,
                                 sb_trace **out, sb_err *err) {
    const sb_alloc *alloc = cli->env->alloc;
    const sb_reader_event *event;
    sb_reader *reader;
    sb_slice tag;
    sb_buf name, stats;
    sb_status status = sb_reader_open(&reader, path, NULL, err);
    if (status != SB_OK) return status;
    sb_buf_init(&name, alloc, MOST_STATS);
    sb_buf_init(&stats, alloc, MOST_STATS);
    bool any = false;
    while ((status = sb_reader_next(reader, &event, err)) == SB_OK) {
        sb_slice found = stats_of(reader, event, &tag);
        if (!found.p) continue;
        any = true;
        sb_buf_clear(&name);
        sb_buf_clear(&stats);
        sb_buf_add_slice(&name, tag);
        sb_buf_add_slice(&stats, found);
    }
    sb_reader_close(reader);
    if (status == SB_MORE)
        status =
            any ? SB_OK
                : sb_fail(err, SB_CORRUPT, 0, "%s is an event file without step statistics", path);
    if (status == SB_OK) status = sb_buf_check(&stats, "step statistics", err);
    sb_trace_file file = {
        .path = "", .name = sb_buf_slice(&name), .run_metadata = sb_buf_slice(&stats)};
    if (status == SB_OK) status = sb_trace_open(out, alloc, cli->env->fs, &file, 1, opts, err);
    sb_buf_fini(&name);
    sb_buf_fini(&stats);
    return status;
}

static sb_status read_trace(sb_cli *cli, const char *path, sb_arena *arena, sb_trace **out,
                            sb_err *err) {
    sb_capture capture;
    sb_file_info info;
    sb_trace_opts opts = {.progress = tell, .ud = cli};
    const char *file = strrchr(path, '/');
    bool is_event_file = strstr(file ? file : path, "tfevents") &&
                         cli->env->fs->stat(cli->env->fs->ctx, path, &info) == 0 && info.is_file;
    if (is_event_file) return read_event_file(cli, path, &opts, out, err);
    sb_status status = sb_capture_of_path(&capture, cli->env, path, arena, err);
    if (status == SB_OK) status = sb_capture_read(&capture, cli->env, &opts, out, err);
    /* the command was used as it should be, it is the file that makes no sense */
    if (status == SB_INVALID) status = err->code = SB_CORRUPT;
    return status;
}

static int profile_main(sb_cli *cli, const sb_args *args) {
    sb_err err;
    sb_arena arena;
    sb_trace *t = NULL;
    sb_analysis *a = NULL;
    uint64_t rows = USUAL_ROWS;
    const char *wanted = args->options[OPTION_ROWS].text;
    if (wanted && (!sb_parse_uint64(sb_slice_str(wanted), &rows) || rows > 1000000)) {
        sb_fail(&err, SB_INVALID, 0, "profile: --rows takes a whole number, not '%s'", wanted);
        return sb_cli_fail(cli, &err);
    }
    sb_arena_init(&arena, cli->env->alloc, 64 << 10, ARENA_CAP);
    sb_status status = read_trace(cli, args->rest[0], &arena, &t, &err);
    sb_cli_progress_end(cli);
    sb_analysis_ask ask = {.step_name = sb_slice_str(args->options[OPTION_STEPS].text)};
    if (status == SB_OK) status = sb_analysis_new(&a, t, &ask, &err);
    if (status == SB_OK) {
        report r = {.cli = cli, .t = t, .a = a, .rows = rows, .arena = &arena};
        put_head(&r);
        put_steps(&r);
        put_ops(&r);
        put_kernels(&r);
        if (!put_advice(&r)) status = sb_fail_nomem(&err, "for advice");
        put_odds(&r);
    }
    sb_analysis_free(a);
    sb_trace_free(t);
    sb_arena_fini(&arena);
    return status == SB_OK ? 0 : sb_cli_fail(cli, &err);
}

const sb_command sb_command_profile = {
    .name = "profile",
    .summary = "shows where the time goes in a profile of TensorFlow, JAX or torch",
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .options = profile_options,
    .option_count = sizeof profile_options / sizeof profile_options[0],
    .details = "FILE is an XSpace (.xplane.pb), a Chrome or torch trace (.json, also packed with "
               "gzip),\n"
               "an event file (the last step statistics in it), or a directory: then the newest\n"
               "capture beneath it, with all its hosts and ranks.\n\n"
               "exit code: 0 read, 1 no such file or no profile beneath the directory, 2 wrong "
               "usage,\n"
               "3 the file is no profile, 4 not readable\n",
    .run = profile_main,
};
