/* dump.c: every record of one event file, for people or (--json) for programs, one object a line.
 *
 * Stands on the public reader: what it can't show, users of the library can't have either. Damage
 * comes in its place between the records. Blobs are shortened. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/slice.h"
#include "base/text/number.h"
#include "cli/cli.h"
#include "cli/logs/dump_json.h"
#include "codec/record.h"
#include "codec/tensor.h"
#include "fsio/fs.h"
#include "seaboard/reader.h"
#include "base/banned.h"

#define SHOWN_TEXT 120  /* characters of a text */
#define SHOWN_NUMBERS 8 /* elements of a tensor */
#define SHOWN_STRINGS 4

typedef struct dumping {
    sb_cli *cli;
    sb_reader *reader;
    bool json;
    size_t gaps_shown;
    bool damaged;
} dumping;

static void add_double(sb_buf *out, double x) {
    char digits[SB_NUMBER_ROOM];
    sb_buf_add(out, digits, sb_print_double(digits, x));
}

/* ---- for people ------------------------------------------------------------------------------ */

/* "1700000000.25 (2023-11-14 22:13:20 UTC)" */
static void add_time(sb_buf *out, double seconds) {
    add_double(out, seconds);
    if (!(seconds >= -6e10 && seconds <= 2.5e11)) return; /* the year has more than four digits */
    time_t whole = (time_t)floor(seconds);
    struct tm parts;
    char text[40];
    if (gmtime_r(&whole, &parts) && strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts))
        sb_buf_printf(out, " (%s)", text);
}

static void add_text(sb_buf *out, sb_slice text) {
    sb_buf_add_byte(out, '"');
    sb_cli_add_shown(out, text, SHOWN_TEXT);
    sb_buf_add_byte(out, '"');
}

static void add_histogram(sb_buf *out, sb_reader *r) {
    const sb_reader_histogram *h;
    sb_status status = sb_reader_histogram_of(r, &h);
    if (status != SB_OK) {
        sb_buf_printf(out, "malformed (%s)", sb_status_name(status));
        return;
    }
    sb_buf_printf(out, "%zu buckets", h->count);
    if (h->count == 0) return;
    sb_buf_add_str(out, ", ");
    add_double(out, h->num);
    sb_buf_add_str(out, " numbers from ");
    add_double(out, h->min);
    sb_buf_add_str(out, " to ");
    add_double(out, h->max);
}

static void add_blobs(sb_buf *out, const sb_slice *blobs, size_t count) {
    for (size_t i = 0; i < count && i < SHOWN_STRINGS; i++)
        sb_buf_printf(out, ", %zu bytes", blobs[i].n);
    if (count > SHOWN_STRINGS) sb_buf_add_str(out, ", ...");
}

static void add_images(sb_buf *out, sb_reader *r) {
    const sb_reader_images *images;
    sb_status status = sb_reader_images_of(r, &images);
    if (status != SB_OK) {
        sb_buf_printf(out, "malformed (%s)", sb_status_name(status));
        return;
    }
    sb_buf_printf(out, "%zu of %" PRId64 " x %" PRId64, images->count, images->width,
                  images->height);
    add_blobs(out, images->images, images->count);
}

static void add_audio(sb_buf *out, sb_reader *r) {
    const sb_reader_audio *audio;
    sb_status status = sb_reader_audio_of(r, &audio);
    if (status != SB_OK) {
        sb_buf_printf(out, "malformed (%s)", sb_status_name(status));
        return;
    }
    sb_buf_printf(out, "%zu clips", audio->count);
    add_blobs(out, audio->clips, audio->count);
}

static void add_tensor(sb_buf *out, sb_reader *r) {
    const sb_reader_tensor *t;
    sb_status status = sb_reader_tensor_of(r, &t);
    if (status != SB_OK) {
        sb_buf_printf(out, "malformed (%s)", sb_status_name(status));
        return;
    }
    sb_buf_printf(out, "%s [", sb_dtype_name(t->dtype));
    for (uint32_t i = 0; i < t->rank; i++)
        sb_buf_printf(out, "%s%" PRId64, i ? ", " : "", t->dims[i]);
    sb_buf_add_str(out, "]:");
    size_t most = t->strings ? SHOWN_STRINGS : SHOWN_NUMBERS;
    for (size_t i = 0; i < t->count && i < most && (t->strings || t->numbers); i++) {
        sb_buf_add_byte(out, ' ');
        if (t->strings)
            add_text(out, t->strings[i]);
        else
            add_double(out, t->numbers[i]);
    }
    if (t->count > most) sb_buf_add_str(out, " ...");
}

static void add_value_line(sb_buf *out, sb_reader *r, const sb_reader_value *value) {
    sb_buf_add_str(out, "    ");
    add_text(out, value->tag);
    sb_buf_printf(out, " %s ", sb_dump_kind(value->kind));
    switch (value->kind) {
    case SB_READS_SCALAR:
        add_double(out, value->scalar);
        break;
    case SB_READS_HISTOGRAM:
        add_histogram(out, r);
        break;
    case SB_READS_IMAGES:
        add_images(out, r);
        break;
    case SB_READS_AUDIO:
        add_audio(out, r);
        break;
    case SB_READS_TEXT:
    case SB_READS_TENSOR:
        add_tensor(out, r);
        break;
    case SB_READS_NO_VALUE:
        break;
    }
    bool told = value->kind != SB_READS_TENSOR && value->kind != SB_READS_NO_VALUE;
    if (!told && value->plugin_name.n) {
        sb_buf_add_str(out, ", plugin ");
        add_text(out, value->plugin_name);
    }
    sb_buf_add_byte(out, '\n');
}

static void add_what(sb_buf *out, const sb_reader_event *e) {
    static const char *const session[] = {"?", "start", "stop", "checkpoint"};
    switch (e->what) {
    case SB_READS_FILE_VERSION:
        sb_buf_add_str(out, ", file version ");
        add_text(out, e->body);
        if (e->writer.n) {
            sb_buf_add_str(out, " by ");
            add_text(out, e->writer);
        }
        break;
    case SB_READS_GRAPH:
        sb_buf_printf(out, ", graph of %zu bytes", e->body.n);
        break;
    case SB_READS_META_GRAPH:
        sb_buf_printf(out, ", meta graph of %zu bytes", e->body.n);
        break;
    case SB_READS_RUN_METADATA:
        sb_buf_add_str(out, ", run metadata ");
        add_text(out, e->tag);
        sb_buf_printf(out, " of %zu bytes", e->body.n);
        break;
    case SB_READS_SESSION:
        sb_buf_printf(out, ", session %s",
                      session[e->number >= 1 && e->number <= 3 ? e->number : 0]);
        if (e->checkpoint_path.n) {
            sb_buf_add_byte(out, ' ');
            add_text(out, e->checkpoint_path);
        }
        break;
    case SB_READS_LOG_MESSAGE:
        sb_buf_printf(out, ", message of level %d: ", (int)e->number);
        add_text(out, e->body);
        break;
    case SB_READS_SUMMARY:
    case SB_READS_NOTHING:
        break;
    }
}

static void show_event(dumping *d, const sb_reader_event *e) {
    sb_buf *out = &d->cli->line;
    sb_buf_printf(out, "byte %" PRIu64 ": %zu bytes, checksums ok, step %" PRId64 ", time ",
                  e->offset, e->record.n + SB_RECORD_OVERHEAD, e->step);
    add_time(out, e->wall_time);
    add_what(out, e);
    sb_buf_add_byte(out, '\n');
    const sb_reader_value *value;
    sb_status status;
    while ((status = sb_reader_next_value(d->reader, &value)) == SB_OK) {
        add_value_line(out, d->reader, value);
        sb_cli_put(d->cli);
    }
    if (status != SB_END) sb_buf_printf(out, "    the rest is %s\n", sb_status_name(status));
}

static void show_gap(dumping *d, const sb_reader_gap *gap) {
    sb_buf *out = &d->cli->line;
    sb_buf_printf(out, "byte %" PRIu64 ": %" PRIu64 " bytes, ", gap->offset, gap->bytes);
    switch (gap->kind) {
    case SB_BAD_PAYLOAD:
        sb_buf_add_str(out, "payload checksum bad\n");
        break;
    case SB_BAD_LENGTH:
        sb_buf_add_str(out, "length checksum bad: no record begins here\n");
        break;
    case SB_MORE:
        sb_buf_add_str(out, "a record that is cut\n");
        break;
    case SB_CORRUPT:
        sb_buf_add_str(out, "not an event, or a damaged archive\n");
        break;
    default:
        sb_buf_printf(out, "%s\n", sb_status_meaning(gap->kind));
        break;
    }
}

/* ---- both ------------------------------------------------------------------------------------ */

static void tell_gap(dumping *d, const sb_reader_gap *gap) {
    if (d->json)
        sb_dump_json_gap(&d->cli->line, gap);
    else
        show_gap(d, gap);
    if (gap->kind != SB_MORE)
        d->damaged =
            true; /* the last record of a file that is being written is usually incomplete */
    sb_cli_put(d->cli);
}

/* Reports the gaps that were found since the last call. */
static void tell_gaps(dumping *d) {
    const sb_reader_gap *gap;
    while ((gap = sb_reader_damage(d->reader, d->gaps_shown)) != NULL) {
        tell_gap(d, gap);
        d->gaps_shown++;
    }
}

static sb_status dump_all(dumping *d, sb_err *err) {
    for (;;) {
        const sb_reader_event *event;
        sb_status status = sb_reader_next(d->reader, &event, err);
        tell_gaps(d);
        if (status == SB_MORE) break;
        if (status == SB_OK && d->json)
            status = sb_dump_json_event(&d->cli->line, d->reader, event, err);
        else if (status == SB_OK)
            show_event(d, event);
        if (status != SB_OK) return status;
        if (d->cli->line.failed) return sb_buf_check(&d->cli->line, "a line of the output", err);
        if (!sb_cli_put(d->cli)) return SB_OK; /* main reports the reason */
    }
    const sb_reader_gap *gap;
    for (size_t i = 0; (gap = sb_reader_unfinished(d->reader, i)) != NULL; i++) tell_gap(d, gap);
    uint64_t all = sb_reader_damage_count(d->reader);
    if (all > d->gaps_shown)
        return sb_fail(err, SB_LIMIT, 0, "%" PRIu64 " more damaged places are not shown",
                       all - d->gaps_shown);
    return SB_OK;
}

static const sb_option dump_options[] = {
    {"json", 'j', SB_OPTION_FLAG, NULL, "one JSON object per line, for programs", NULL},
};

static int dump_main(sb_cli *cli, const sb_args *args) {
    dumping d = {.cli = cli, .json = args->options[0].given};
    sb_err err;
    sb_file_info info;
    const char *path = args->rest[0];
    if (cli->env->fs->stat(cli->env->fs->ctx, path, &info) == 0 && info.is_dir) {
        sb_fail(&err, SB_INVALID, 0, "%s: is a directory; dump shows one file, inspect shows many",
                path);
        return sb_cli_fail(cli, &err);
    }
    sb_status status = sb_reader_open(&d.reader, path, NULL, &err);
    if (status == SB_OK) {
        status = dump_all(&d, &err);
        sb_reader_close(d.reader);
    }
    if (status != SB_OK) return sb_cli_fail(cli, &err);
    return d.damaged ? sb_status_exit_code(SB_CORRUPT) : 0;
}

const sb_command sb_command_dump = {
    .name = "dump",
    .summary = "shows every record of an event file: place, checksums, step, time, values",
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .options = dump_options,
    .option_count = sizeof dump_options / sizeof dump_options[0],
    .details =
        "With --json each line is an object with offset, size, status, and, for a good record, "
        "wall_time,\nstep and event: the Event in protobuf's JSON, with long blobs shortened.\n"
        "\nexit code: 0 all whole, 3 damaged (which is shown in its place)\n",
    .run = dump_main,
};
