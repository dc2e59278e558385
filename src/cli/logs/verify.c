/* verify.c: reads every record of every event file and tells what is damaged, and where.
 *
 * Exit code: 0 all is whole, 3 something is damaged or cut, 4 something could not be read, 1
 * nothing was found, 2 wrong usage. */
#include <string.h>

#include "base/arena.h"
#include "base/slice.h"
#include "cli/cli.h"
#include "codec/event.h"
#include "logdir/discover.h"
#include "logdir/tail.h"
#include "base/banned.h"

typedef struct verification {
    sb_cli *cli;
    bool verbose;
    uint64_t files_all, files, damaged_files, unreadable;
    uint64_t records, bytes, places, lost;
    bool file_damaged;
} verification;

/* "PATH: byte 120: " */
static void begin_line(verification *v, const char *path, uint64_t offset) {
    sb_cli_progress_end(v->cli);
    sb_cli_add_path(&v->cli->line, path);
    sb_buf_printf(&v->cli->line, ": byte %llu: ", (unsigned long long)offset);
}

static void report_damage(verification *v, const char *path, uint64_t offset, uint64_t bytes,
                          const char *what) {
    begin_line(v, path, offset);
    sb_buf_printf(&v->cli->line, "%s (%llu bytes)\n", what, (unsigned long long)bytes);
    sb_cli_put(v->cli);
    v->file_damaged = true;
    v->places++;
    v->lost += bytes;
}

static const char *what_is_wrong(sb_status status) {
    switch (status) {
    case SB_BAD_PAYLOAD:
        return "a record's payload does not match its checksum";
    case SB_BAD_LENGTH:
        return "no record begins here";
    case SB_LIMIT:
        return "a record over the limit of 2 GiB, which was not checked";
    case SB_CORRUPT:
        return "the gzip archive is damaged or cut";
    case SB_MORE:
        return "the last record is cut";
    default:
        return "not readable";
    }
}

/* Reports the bytes after the last good record. */
static void report_rest(verification *v, const char *path, const sb_tail *tail) {
    sb_tail_ending rest = sb_tail_rest(tail);
    if (rest.kind != SB_OK)
        report_damage(v, path, rest.offset, rest.bytes, what_is_wrong(rest.kind));
}

/* Reads all records. SB_MORE at the end of the file, else the status that ended the reading. */
static sb_status read_records(verification *v, const char *path, sb_tail *tail, sb_err *err) {
    for (uint32_t turn = 1;; turn++) {
        sb_tail_record record;
        sb_event event;
        sb_status status = sb_tail_next(tail, &record, err);
        if (status == SB_OK) {
            v->records++;
            if (sb_event_read(&event, record.payload) != SB_OK)
                report_damage(v, path, record.offset, record.size, "a record that is no event");
        } else if (status == SB_BAD_LENGTH || status == SB_BAD_PAYLOAD || status == SB_LIMIT) {
            report_damage(v, path, record.offset, record.size, what_is_wrong(status));
        } else {
            return status;
        }
        if (turn % 65536 == 0)
            sb_cli_progress(v->cli, "verify", v->files, v->files_all, v->bytes + record.offset);
    }
}

static void verify_file(verification *v, const char *path) {
    sb_tail *tail;
    sb_err err;
    uint64_t records = v->records;
    v->file_damaged = false;
    sb_status status = sb_tail_open(&tail, v->cli->env, path, NULL, &err);
    if (status == SB_OK) {
        status = read_records(v, path, tail, &err);
        if (status == SB_MORE || status == SB_CORRUPT) {
            report_rest(v, path, tail);
            status = SB_OK;
        }
        v->bytes += sb_tail_stats(tail).size;
        sb_tail_close(tail);
    }
    v->files++;
    v->damaged_files += v->file_damaged;
    if (status != SB_OK) {
        v->unreadable++;
        sb_cli_fail(v->cli, &err);
    } else if (v->verbose && !v->file_damaged) {
        sb_cli_progress_end(v->cli);
        sb_cli_add_path(&v->cli->line, path);
        sb_buf_printf(&v->cli->line, ": whole, %llu records\n",
                      (unsigned long long)(v->records - records));
        sb_cli_put(v->cli);
    }
    sb_cli_progress(v->cli, "verify", v->files, v->files_all, v->bytes);
}

static void add_number(sb_buf *out, uint64_t n, const char *one, const char *many) {
    sb_cli_add_count(out, n);
    sb_buf_printf(out, " %s", n == 1 ? one : many);
}

static void show_summary(verification *v) {
    sb_buf *line = &v->cli->line;
    add_number(line, v->files, "file, ", "files, ");
    add_number(line, v->records, "record, ", "records, ");
    add_number(line, v->bytes, "byte: ", "bytes: ");
    if (v->places) {
        add_number(line, v->places, "damaged place in ", "damaged places in ");
        add_number(line, v->damaged_files, "file, ", "files, ");
        add_number(line, v->lost, "byte lost", "bytes lost");
    } else {
        sb_buf_add_str(line, v->unreadable ? "what could be read is whole" : "all whole");
    }
    if (v->unreadable) {
        sb_buf_add_str(line, "; not readable: ");
        sb_cli_add_count(line, v->unreadable);
    }
    sb_buf_add_byte(line, '\n');
    sb_cli_put(v->cli);
}

static int exit_code(const verification *v) {
    if (v->places) return sb_status_exit_code(SB_CORRUPT);
    if (v->unreadable) return sb_status_exit_code(SB_IO);
    return v->files ? 0 : sb_status_exit_code(SB_NOT_FOUND);
}

static int verify_found(verification *v, const sb_found *found, const char *path) {
    for (size_t i = 0; i < found->problem_count; i++) {
        sb_err err;
        sb_fail(&err, SB_IO, 0, "%s: %s", (const char *)found->problems[i].path.p,
                sb_left_out_text(found->problems[i].error));
        sb_cli_fail(v->cli, &err);
        v->unreadable++;
    }
    if (found->file_count == 0 && v->unreadable == 0) {
        sb_err err;
        sb_fail(&err, SB_NOT_FOUND, 0, "%s: no event files here; their names contain \"tfevents\"",
                path);
        return sb_cli_fail(v->cli, &err);
    }
    v->files_all = found->file_count;
    for (size_t i = 0; i < found->run_count; i++)
        for (size_t k = 0; k < found->runs[i].file_count; k++)
            verify_file(v, (const char *)found->runs[i].files[k].path.p);
    sb_cli_progress_end(v->cli);
    show_summary(v);
    return exit_code(v);
}

static const sb_option verify_options[] = {
    {"verbose", 'v', SB_OPTION_FLAG, NULL, "also names the files that are undamaged", NULL},
};

static int verify_main(sb_cli *cli, const sb_args *args) {
    verification v = {.cli = cli, .verbose = args->options[0].given};
    sb_arena arena;
    sb_found found;
    sb_err err;
    sb_arena_init(&arena, cli->env->alloc, 64 << 10, SIZE_MAX / 2);
    sb_status status = sb_discover(&found, cli->env, &arena, args->rest[0], NULL, &err);
    int code = status == SB_OK ? verify_found(&v, &found, args->rest[0]) : sb_cli_fail(cli, &err);
    sb_arena_fini(&arena);
    return code;
}

const sb_command sb_command_verify = {
    .name = "verify",
    .summary = "checks every record of event files and names what is damaged",
    .operands = "PATH",
    .min_operands = 1,
    .max_operands = 1,
    .options = verify_options,
    .option_count = sizeof verify_options / sizeof verify_options[0],
    .details =
        "PATH is an event file, or a directory that is searched for them. A record that is cut at "
        "the\nend of a file counts as damage; in a file that is still being written that is "
        "normal.\n\nexit code: 0 all whole, 1 nothing found, 3 damaged, 4 not readable\n",
    .run = verify_main,
};
