/* inspect.c: what is in event files, in the very words of `tensorboard --inspect`.
 *
 * A directory with event files is one unit, and so is a single file. A unit shows which tags it
 * has, by the kind of their raw value, and for every kind of event the steps it came at.
 * Differences to TensorBoard: directories and files come in byte order instead of the system's,
 * records behind a damaged one are counted too, and control characters in names are escaped.
 *
 * Memory: one number an event whose step differs from the one before it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/slice.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "codec/event.h"
#include "codec/summary.h"
#include "fsio/fs.h"
#include "logdir/discover.h"
#include "logdir/tail.h"
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
    bool has_tags;
    bool lists_steps; /* lists all steps instead of a summary */
} fields[FIELDS] = {
    [AUDIO] = {"audio", true, false},
    [GRAPH] = {"graph", false, false},
    [HISTOGRAMS] = {"histograms", true, false},
    [IMAGES] = {"images", true, false},
    [SCALARS] = {"scalars", true, false},
    [CHECKPOINT] = {"sessionlog:checkpoint", false, false},
    [START] = {"sessionlog:start", false, true},
    [STOP] = {"sessionlog:stop", false, true},
    [TENSOR] = {"tensor", true, false},
};

/* A step equal to the one before is left out, unless all are listed. */
typedef SB_VEC(int64_t) steps;

typedef struct unit {
    const char *name;
    steps steps[FIELDS];
    sb_intern tags[FIELDS];
} unit;

typedef struct inspection {
    sb_cli *cli;
    const char *tag; /* NULL: all */
    uint64_t files_done, files_all, bytes;
} inspection;

/* ---- collecting ------------------------------------------------------------------------------ */

static void unit_init(unit *u, const sb_alloc *alloc, const char *name) {
    *u = (unit){.name = name};
    for (int i = 0; i < FIELDS; i++)
        sb_intern_init(&u->tags[i], alloc, 0x5eab0a2du, UINT32_MAX - 1);
}

static void unit_fini(unit *u, const sb_alloc *alloc) {
    for (int i = 0; i < FIELDS; i++) {
        SB_VEC_FREE(&u->steps[i], alloc);
        sb_intern_fini(&u->tags[i]);
    }
}

static bool add_step(unit *u, const sb_alloc *alloc, field f, int64_t step) {
    steps *s = &u->steps[f];
    if (s->n && !fields[f].lists_steps && s->items[s->n - 1] == step) return true;
    int64_t *slot = SB_VEC_PUSH(s, alloc, SIZE_MAX);
    if (slot) *slot = step;
    return slot != NULL;
}

static field field_of(sb_value_kind kind) {
    switch (kind) {
    case SB_VALUE_KIND_SIMPLE:
        return SCALARS;
    case SB_VALUE_KIND_HISTO:
        return HISTOGRAMS;
    case SB_VALUE_KIND_IMAGE:
        return IMAGES;
    case SB_VALUE_KIND_AUDIO:
        return AUDIO;
    case SB_VALUE_KIND_TENSOR:
        return TENSOR;
    case SB_VALUE_KIND_OLD_HISTO:
    case SB_VALUE_KIND_NONE:
        break;
    }
    return FIELDS;
}

static bool add_summary(const inspection *in, unit *u, const sb_event *event) {
    sb_summary_walk values = sb_summary_over(event->body);
    sb_value value;
    while (sb_summary_next(&values, &value) == SB_OK) {
        field f = field_of(value.kind);
        if (f == FIELDS) continue;
        if (in->tag && !sb_slice_eq(value.tag, sb_slice_str(in->tag))) continue;
        uint32_t id;
        if (!add_step(u, in->cli->env->alloc, f, event->step) ||
            sb_intern_add(&u->tags[f], value.tag, &id, NULL) == SB_NOMEM)
            return false;
    }
    return true;
}

static bool add_event(const inspection *in, unit *u, sb_slice payload) {
    const sb_alloc *alloc = in->cli->env->alloc;
    sb_event event;
    if (sb_event_read(&event, payload) != SB_OK) return true;
    if (event.what == SB_WHAT_SUMMARY) return add_summary(in, u, &event);
    if (in->tag) return true;
    if (event.what == SB_WHAT_GRAPH_DEF) return add_step(u, alloc, GRAPH, event.step);
    sb_session_log log;
    if (event.what != SB_WHAT_SESSION_LOG || sb_session_log_read(&log, event.body) != SB_OK)
        return true;
    switch (log.status) {
    case SB_SESSION_STATUS_START:
        return add_step(u, alloc, START, event.step);
    case SB_SESSION_STATUS_STOP:
        return add_step(u, alloc, STOP, event.step);
    case SB_SESSION_STATUS_CHECKPOINT:
        return add_step(u, alloc, CHECKPOINT, event.step);
    default:
        return true;
    }
}

static sb_status inspect_records(inspection *in, unit *u, const char *path, sb_err *err) {
    sb_tail *tail;
    sb_status status = sb_tail_open(&tail, in->cli->env, path, NULL, err);
    if (status != SB_OK) return status;
    uint32_t turn = 0;
    for (;;) {
        sb_tail_record record;
        status = sb_tail_next(tail, &record, err);
        bool damage = status == SB_BAD_LENGTH || status == SB_BAD_PAYLOAD || status == SB_LIMIT;
        if (status != SB_OK && !damage) break;
        if (status == SB_OK && !add_event(in, u, record.payload)) {
            status = sb_fail_nomem(err, "while inspecting");
            break;
        }
        if (++turn % 65536 == 0)
            sb_cli_progress(in->cli, "inspect", in->files_done, in->files_all,
                            in->bytes + record.offset);
    }
    in->files_done++;
    in->bytes += sb_tail_stats(tail).offset;
    sb_tail_close(tail);
    return status == SB_MORE || status == SB_CORRUPT ? SB_OK : status;
}

/* ---- showing --------------------------------------------------------------------------------- */

static int by_bytes(const void *a, const void *b) {
    return sb_slice_cmp(*(const sb_slice *)a, *(const sb_slice *)b);
}

static int by_number(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* A sorted copy that the caller frees; NULL when out of memory. */
static void *sorted_copy(const sb_alloc *alloc, const void *items, size_t count, size_t size,
                         int (*compare)(const void *, const void *)) {
    void *copy = sb_alloc_get(alloc, count * size);
    if (!copy) return NULL;
    memcpy(copy, items, count * size);
    qsort(copy, count, size, compare);
    return copy;
}

static bool show_tags(sb_cli *cli, const unit *u) {
    const sb_alloc *alloc = cli->env->alloc;
    for (int f = 0; f < FIELDS; f++) {
        if (!fields[f].has_tags) continue;
        uint32_t count = u->tags[f].count;
        sb_buf_printf(&cli->line, "%s%s\n", fields[f].name, count ? "" : " -");
        if (count == 0) continue;
        sb_slice *tags = sorted_copy(alloc, u->tags[f].items, count, sizeof *tags, by_bytes);
        if (!tags) return false;
        for (uint32_t i = 0; i < count; i++) {
            sb_buf_add_str(&cli->line, "   ");
            sb_cli_add_shown(&cli->line, tags[i], 0);
            sb_buf_add_byte(&cli->line, '\n');
            sb_cli_put(cli);
        }
        sb_alloc_put(alloc, tags, count * sizeof *tags);
    }
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
    int64_t *ascending = sorted_copy(alloc, s->items, s->n, sizeof *ascending, by_number);
    if (!ascending) return false;
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

static sb_status inspect_file(inspection *in, const char *path, sb_err *err) {
    unit u;
    in->files_all = 1;
    unit_init(&u, in->cli->env->alloc, path);
    sb_status status = inspect_records(in, &u, path, err);
    if (status == SB_OK) status = show_unit(in, &u, err);
    unit_fini(&u, in->cli->env->alloc);
    return status;
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

static sb_status inspect_run(inspection *in, const sb_found_run *run, sb_err *err) {
    unit u;
    unit_init(&u, in->cli->env->alloc, (const char *)run->path.p);
    sb_status status = SB_OK;
    for (size_t i = 0; i < run->file_count && status == SB_OK; i++) {
        status = inspect_records(in, &u, (const char *)run->files[i].path.p, err);
        if (status == SB_NOT_FOUND) status = SB_OK; /* the file was removed since it was found */
    }
    if (status == SB_OK) status = show_unit(in, &u, err);
    unit_fini(&u, in->cli->env->alloc);
    return status;
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

static sb_status inspect_directory(inspection *in, const char *path, sb_err *err) {
    sb_arena arena;
    sb_found found;
    sb_arena_init(&arena, in->cli->env->alloc, 64 << 10, SIZE_MAX / 2);
    sb_status status = sb_discover(&found, in->cli->env, &arena, path, NULL, err);
    if (status == SB_NOT_FOUND) status = SB_OK; /* as TensorBoard does: no event files found */
    if (status == SB_OK && found.is_file)
        status = sb_fail(err, SB_INVALID, 0, "%s: is a file, use --event_file for it", path);
    if (status == SB_OK) {
        if (found.run_count) qsort(found.runs, found.run_count, sizeof *found.runs, by_walk);
        show_found(in->cli, path, &found);
        in->files_all = found.file_count;
        for (size_t i = 0; i < found.run_count && status == SB_OK; i++)
            status = inspect_run(in, &found.runs[i], err);
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
    inspection in = {.cli = cli, .tag = args->options[OPTION_TAG].text};
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
        if (info.is_dir)
            logdir = path;
        else
            file = path;
    }
    sb_buf_add_str(&cli->line, SEPARATOR
                   "Processing event files... (this can take a few minutes)\n" SEPARATOR "\n");
    sb_cli_put(cli);
    sb_status status = file ? inspect_file(&in, file, &err) : inspect_directory(&in, logdir, &err);
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
