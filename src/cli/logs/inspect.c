/* inspect.c: what is in event files, in the very words of `tensorboard --inspect`.
 *
 * A directory with event files is one unit, and so is a single file. A unit shows which tags it
 * has, by the kind of their raw value, and for every kind of event the steps it came at.
 * Differences to TensorBoard: directories and files come in byte order instead of the system's,
 * records behind a damaged one are counted too, and control characters in names are escaped.
 *
 * Reading is the columnar reader's (seaboard/reader.h), with tags as they are stored. Memory: 16
 * bytes a point of the largest unit, and 8 bytes an event. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/slice.h"
#include "cli/cli.h"
#include "cli/logs/tables.h"
#include "codec/proto/messages.h"
#include "fsio/fs.h"
#include "base/banned.h"

#define SEPARATOR "======================================================================\n"

/* In alphabetical order of their names, which is the order of the output. */
typedef enum field {
    AUDIO,
    GRAPH,
    HISTOGRAMS,
    IMAGES,
    SCALARS,
    CHECKPOINT,
    START,
    STOP,
    TENSOR,
    FIELDS,
} field;

static const struct {
    const char *name;
    sb_reader_kind kind; /* of its tags; SB_READS_NO_VALUE: it has none */
    bool lists_steps;    /* lists all steps instead of a summary */
} fields[FIELDS] = {
    [AUDIO] = {"audio", SB_READS_AUDIO, false},
    [GRAPH] = {"graph", SB_READS_NO_VALUE, false},
    [HISTOGRAMS] = {"histograms", SB_READS_HISTOGRAM, false},
    [IMAGES] = {"images", SB_READS_IMAGES, false},
    [SCALARS] = {"scalars", SB_READS_SCALAR, false},
    [CHECKPOINT] = {"sessionlog:checkpoint", SB_READS_NO_VALUE, false},
    [START] = {"sessionlog:start", SB_READS_NO_VALUE, true},
    [STOP] = {"sessionlog:stop", SB_READS_NO_VALUE, true},
    [TENSOR] = {"tensor", SB_READS_TENSOR, false},
};

/* The steps of a field in the order of its events. A step equal to the one before is left out,
 * unless all are listed. */
typedef struct steps {
    int64_t *items;
    size_t n, room;
} steps;

typedef struct unit {
    const char *name;
    const sb_cli_run *run;
    steps steps[FIELDS];
} unit;

typedef struct inspection {
    sb_cli *cli;
    const char *tag;  /* NULL: all */
    const char *file; /* the unit is this file; NULL: units are directories */
} inspection;

/* ---- collecting ------------------------------------------------------------------------------ */

static void unit_fini(unit *u, const sb_alloc *alloc) {
    for (int i = 0; i < FIELDS; i++) sb_alloc_put(alloc, u->steps[i].items, u->steps[i].room * 8);
}

static bool make_steps(steps *s, const sb_alloc *alloc, size_t n) {
    s->room = n;
    s->items = sb_alloc_zeroed(alloc, n, sizeof *s->items);
    return s->items != NULL;
}

static void add_step(steps *s, field f, int64_t step) {
    if (s->n && !fields[f].lists_steps && s->items[s->n - 1] == step) return;
    s->items[s->n++] = step;
}

/* The steps of all tags of a kind, in the order of the events: each step goes to the place of its
 * event (all values of an event have its step), then the gaps are closed. */
static bool collect_steps(unit *u, const sb_alloc *alloc, field f) {
    uint64_t events = 0;
    for (size_t i = 0; i < u->run->column_n; i++) {
        const sb_reader_columns *c = &u->run->columns[i];
        if (c->kind == fields[f].kind && c->count && c->positions[c->count - 1] >= events)
            events = c->positions[c->count - 1] + 1;
    }
    if (events == 0) return true;
    steps *s = &u->steps[f];
    bool *is_there = sb_alloc_zeroed(alloc, events, sizeof *is_there);
    if (!is_there || !make_steps(s, alloc, events)) {
        sb_alloc_put(alloc, is_there, events * sizeof *is_there);
        return false;
    }
    for (size_t i = 0; i < u->run->column_n; i++) {
        const sb_reader_columns *c = &u->run->columns[i];
        for (size_t k = 0; c->kind == fields[f].kind && k < c->count; k++) {
            s->items[c->positions[k]] = c->steps[k];
            is_there[c->positions[k]] = true;
        }
    }
    for (uint64_t i = 0; i < events; i++)
        if (is_there[i]) add_step(s, f, s->items[i]);
    sb_alloc_put(alloc, is_there, events * sizeof *is_there);
    return true;
}

static field field_of_event(const sb_reader_event *event) {
    if (event->what == SB_READS_GRAPH) return GRAPH;
    if (event->what != SB_READS_SESSION) return FIELDS;
    switch (event->number) {
    case SB_SESSION_STATUS_START:
        return START;
    case SB_SESSION_STATUS_STOP:
        return STOP;
    case SB_SESSION_STATUS_CHECKPOINT:
        return CHECKPOINT;
    default:
        return FIELDS;
    }
}

static bool collect_unit(unit *u, const sb_alloc *alloc) {
    for (field f = 0; f < FIELDS; f++) {
        if (fields[f].kind != SB_READS_NO_VALUE) {
            if (!collect_steps(u, alloc, f)) return false;
            continue;
        }
        size_t n = 0;
        for (size_t i = 0; i < u->run->event_n; i++) n += field_of_event(&u->run->events[i]) == f;
        if (n == 0) continue;
        if (!make_steps(&u->steps[f], alloc, n)) return false;
        for (size_t i = 0; i < u->run->event_n; i++)
            if (field_of_event(&u->run->events[i]) == f)
                add_step(&u->steps[f], f, u->run->events[i].step);
    }
    return true;
}

/* ---- showing --------------------------------------------------------------------------------- */

static int by_bytes(const void *a, const void *b) {
    return sb_slice_cmp(*(const sb_slice *)a, *(const sb_slice *)b);
}

static int by_number(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool show_tags(sb_cli *cli, const unit *u) {
    const sb_alloc *alloc = cli->env->alloc;
    size_t most = u->run->column_n;
    sb_slice *tags = sb_alloc_zeroed(alloc, most + 1, sizeof *tags);
    if (!tags) return false;
    for (int f = 0; f < FIELDS; f++) {
        if (fields[f].kind == SB_READS_NO_VALUE) continue;
        size_t n = 0;
        for (size_t i = 0; i < most; i++)
            if (u->run->columns[i].kind == fields[f].kind) tags[n++] = u->run->columns[i].tag;
        sb_buf_printf(&cli->line, "%s%s\n", fields[f].name, n ? "" : " -");
        if (n) qsort(tags, n, sizeof *tags, by_bytes);
        for (size_t i = 0; i < n; i++) {
            sb_buf_add_str(&cli->line, "   ");
            sb_cli_add_shown(&cli->line, tags[i], 0);
            sb_buf_add_byte(&cli->line, '\n');
            sb_cli_put(cli);
        }
    }
    sb_alloc_put(alloc, tags, (most + 1) * sizeof *tags);
    return true;
}

static void show_number(sb_cli *cli, const char *key, int64_t n) {
    sb_buf_printf(&cli->line, "   %-20s %" PRId64 "\n", key, n);
}

static void show_out_of_order(sb_cli *cli, const steps *s) {
    sb_buf_printf(&cli->line, "   %-20s [", "outoforder_steps");
    const char *before = "";
    for (size_t i = 1; i < s->n; i++) {
        if (s->items[i] >= s->items[i - 1]) continue;
        sb_buf_printf(&cli->line, "%s(%" PRId64 ", %" PRId64 ")", before, s->items[i - 1],
                      s->items[i]);
        before = ", ";
        sb_cli_put(cli);
    }
    sb_buf_add_str(&cli->line, "]\n");
}

static void show_list(sb_cli *cli, const steps *s) {
    show_out_of_order(cli, s);
    sb_buf_printf(&cli->line, "   %-20s [", "steps");
    for (size_t i = 0; i < s->n; i++)
        sb_buf_printf(&cli->line, "%s%" PRId64, i ? ", " : "", s->items[i]);
    sb_buf_add_str(&cli->line, "]\n");
}

static bool show_digest(sb_cli *cli, const steps *s) {
    const sb_alloc *alloc = cli->env->alloc;
    int64_t *ascending = sb_alloc_get(alloc, s->n * sizeof *ascending);
    if (!ascending) return false;
    memcpy(ascending, s->items, s->n * sizeof *ascending);
    qsort(ascending, s->n, sizeof *ascending, by_number);
    int64_t distinct = 1;
    for (size_t i = 1; i < s->n; i++) distinct += ascending[i] != ascending[i - 1];
    show_number(cli, "first_step", s->items[0]);
    show_number(cli, "last_step", s->items[s->n - 1]);
    show_number(cli, "max_step", ascending[s->n - 1]);
    show_number(cli, "min_step", ascending[0]);
    show_number(cli, "num_steps", distinct);
    show_out_of_order(cli, s);
    sb_alloc_put(alloc, ascending, s->n * sizeof *ascending);
    return true;
}

static bool show_statistics(sb_cli *cli, const unit *u, bool show_missing) {
    for (int f = 0; f < FIELDS; f++) {
        const steps *s = &u->steps[f];
        if (s->n) {
            sb_buf_printf(&cli->line, "%s\n", fields[f].name);
            if (fields[f].lists_steps)
                show_list(cli, s);
            else if (!show_digest(cli, s))
                return false;
        } else if (show_missing) {
            sb_buf_printf(&cli->line, "%s -\n", fields[f].name);
        }
    }
    return true;
}

static sb_status show_unit(const inspection *in, const unit *u, sb_err *err) {
    sb_cli *cli = in->cli;
    sb_cli_progress_end(cli);
    bool done = true;
    if (in->tag) {
        sb_buf_add_str(&cli->line, "Event statistics for tag ");
        sb_cli_add_path(&cli->line, in->tag);
        sb_buf_add_str(&cli->line, " in ");
    } else {
        sb_buf_add_str(&cli->line, "These tags are in ");
        sb_cli_add_path(&cli->line, u->name);
        sb_buf_add_str(&cli->line, ":\n");
        done = show_tags(cli, u);
        sb_buf_add_str(&cli->line, SEPARATOR "\nEvent statistics for ");
    }
    sb_cli_add_path(&cli->line, u->name);
    sb_buf_add_str(&cli->line, ":\n");
    done = done && show_statistics(cli, u, !in->tag);
    sb_buf_add_str(&cli->line, SEPARATOR "\n");
    sb_cli_put(cli);
    return done ? SB_OK : sb_fail_nomem(err, "while inspecting");
}

/* ---- units ----------------------------------------------------------------------------------- */

static sb_status inspect_unit(void *ud, const sb_cli_run *run, sb_err *err) {
    const inspection *in = ud;
    const sb_alloc *alloc = in->cli->env->alloc;
    unit u = {.name = in->file ? in->file : (const char *)run->found->path.p, .run = run};
    sb_status status =
        collect_unit(&u, alloc) ? show_unit(in, &u, err) : sb_fail_nomem(err, "while inspecting");
    unit_fini(&u, alloc);
    return status;
}

static sb_status inspect_runs(inspection *in, const sb_found *found, sb_err *err) {
    sb_reader_table_opts opts =
        SB_INIT(sb_reader_table_opts, .kinds = UINT32_MAX, .tags = in->tag ? &in->tag : NULL,
                .tag_count = 1, .columns = SB_COLUMN_STEPS | SB_COLUMN_POSITIONS,
                .flags = SB_TABLE_AS_STORED | (in->tag ? 0 : SB_TABLE_KEEP_EVENTS));
    return sb_cli_read_tables(&(sb_cli_tables){.cli = in->cli,
                                               .command = "inspect",
                                               .runs = found->runs,
                                               .run_count = found->run_count,
                                               .opts = &opts,
                                               .visit = inspect_unit,
                                               .ud = in},
                              err);
}

/* The order of a depth-first walk through sorted names: files in a directory come before its
 * siblings, so '/' sorts before every other character. */
static int by_walk(const void *a, const void *b) {
    const sb_found_run *x = a, *y = b;
    size_t n = x->path.n < y->path.n ? x->path.n : y->path.n;
    for (size_t i = 0; i < n; i++) {
        int p = x->path.p[i] == '/' ? 0 : x->path.p[i], q = y->path.p[i] == '/' ? 0 : y->path.p[i];
        if (p != q) return p - q;
    }
    return (x->path.n > y->path.n) - (x->path.n < y->path.n);
}

static void show_found(sb_cli *cli, const char *path, const sb_found *found) {
    if (found->run_count == 0) {
        bool looks_like_file =
            sb_is_event_file(sb_slice_str(strrchr(path, '/') ? strrchr(path, '/') : path));
        sb_buf_add_str(&cli->line,
                       looks_like_file ? "It seems that " : "No event files found within logdir ");
        sb_cli_add_path(&cli->line, path);
        sb_buf_add_str(&cli->line,
                       looks_like_file
                           ? " may be an event file instead of a logdir. If this is the case, use "
                             "--event_file instead of --logdir to pass it in.\n"
                           : "\n");
        return;
    }
    sb_buf_add_str(&cli->line, "Found event files in:\n");
    for (size_t i = 0; i < found->run_count; i++) {
        sb_cli_add_path(&cli->line, (const char *)found->runs[i].path.p);
        sb_buf_add_byte(&cli->line, '\n');
    }
    sb_buf_add_byte(&cli->line, '\n');
}

static sb_status inspect_path(inspection *in, const char *path, sb_err *err) {
    sb_arena arena;
    sb_found found;
    sb_arena_init(&arena, in->cli->env->alloc, 64 << 10, SIZE_MAX / 2);
    sb_status status = sb_discover(&found, in->cli->env, &arena, path, NULL, err);
    if (status == SB_NOT_FOUND && !in->file) status = SB_OK; /* as TensorBoard: no event files */
    if (status == SB_OK && found.is_file != !!in->file)
        status = found.is_file
                     ? sb_fail(err, SB_INVALID, 0, "%s: is a file, use --event_file for it", path)
                     : sb_fail(err, SB_INVALID, 0, "%s: is a directory, use --logdir for it", path);
    if (status == SB_OK) {
        if (found.run_count) qsort(found.runs, found.run_count, sizeof *found.runs, by_walk);
        if (!in->file) show_found(in->cli, path, &found);
        status = inspect_runs(in, &found, err);
    }
    sb_arena_fini(&arena);
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

enum { OPTION_TAG, OPTION_LOGDIR, OPTION_EVENT_FILE };

static const sb_option inspect_options[] = {
    [OPTION_TAG] = {"tag", 't', SB_OPTION_TEXT, "TAG", "shows only the steps of this tag", NULL},
    [OPTION_LOGDIR] = {"logdir", 0, SB_OPTION_TEXT, "DIR", "the same as PATH, for a directory",
                       NULL},
    [OPTION_EVENT_FILE] = {"event_file", 0, SB_OPTION_TEXT, "FILE",
                           "the same as PATH, for one file", NULL},
};

static int inspect_main(sb_cli *cli, const sb_args *args) {
    const char *logdir = args->options[OPTION_LOGDIR].text;
    const char *file = args->options[OPTION_EVENT_FILE].text;
    const char *path = args->rest_count ? args->rest[0] : NULL;
    inspection in = {.cli = cli, .tag = args->options[OPTION_TAG].text, .file = file};
    sb_err err;
    if (in.tag && !*in.tag) in.tag = NULL;
    if (!!logdir + !!file + !!path != 1) {
        sb_fail(&err, SB_INVALID, 0, "inspect: name one PATH, or one of --logdir and --event_file");
        return sb_cli_fail(cli, &err);
    }
    if (path) {
        sb_file_info info;
        int known = cli->env->fs->stat(cli->env->fs->ctx, path, &info);
        if (known < 0) {
            sb_fail_errno(&err, SB_NOT_FOUND, -known, "%s: can't look at this", path);
            return sb_cli_fail(cli, &err);
        }
        if (!info.is_dir) in.file = path;
    }
    sb_buf_add_str(&cli->line, SEPARATOR
                   "Processing event files... (this can take a few minutes)\n" SEPARATOR "\n");
    sb_cli_put(cli);
    sb_status status = inspect_path(&in, path ? path : file ? file : logdir, &err);
    sb_cli_put(cli);
    return status == SB_OK ? 0 : sb_cli_fail(cli, &err);
}

const sb_command sb_command_inspect = {
    .name = "inspect",
    .summary = "shows tags and steps of event files, as tensorboard --inspect does",
    .operands = "PATH",
    .min_operands = 0,
    .max_operands = 1,
    .options = inspect_options,
    .option_count = sizeof inspect_options / sizeof inspect_options[0],
    .details = "PATH is an event file, or a directory that is searched for them.\n",
    .run = inspect_main,
};
