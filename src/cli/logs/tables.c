/* tables.c: as many runs at once as fill a batch of bytes. */
#include "cli/logs/tables.h"

#include "base/banned.h"

#define BATCH_BYTES ((uint64_t)256 << 20) /* of event files */

typedef struct progress {
    uint64_t files_done, files_all, bytes;
} progress;

/* The end of the batch that begins with run `from`: at least one run. */
static size_t end_of_batch(const sb_cli_tables *all, size_t from, progress *p) {
    uint64_t bytes = 0;
    size_t i = from;
    for (; i < all->run_count && (i == from || bytes < BATCH_BYTES); i++) {
        p->files_done += all->runs[i].file_count;
        for (size_t k = 0; k < all->runs[i].file_count; k++) bytes += all->runs[i].files[k].size;
    }
    p->bytes += bytes;
    return i;
}

/* Keeps the first file that could not be read, for the end. */
static void note_unreadable(const sb_reader_table *table, sb_status *unreadable, sb_err *err) {
    const sb_reader_gap *gap;
    for (size_t i = 0; *unreadable == SB_OK && (gap = sb_reader_table_damage(table, i)); i++)
        if (gap->kind == SB_IO)
            *unreadable = sb_fail(err, SB_IO, 0, "%s: can't be read", gap->path);
}

static sb_status visit_runs(const sb_cli_tables *all, size_t from, size_t to,
                            const sb_reader_table *table, sb_err *err) {
    sb_status status = SB_OK;
    size_t column = 0, event = 0;
    for (size_t i = from; i < to && status == SB_OK; i++) {
        const char *name = (const char *)all->runs[i].name.p;
        sb_cli_run run = {.found = &all->runs[i],
                          .columns = sb_reader_table_at(table, column),
                          .events = sb_reader_table_event(table, event)};
        const sb_reader_columns *c;
        const sb_reader_event *e;
        for (; (c = sb_reader_table_at(table, column)) && c->run == name; column++) run.column_n++;
        for (; (e = sb_reader_table_event(table, event)) && e->run == name; event++) run.event_n++;
        status = all->visit(all->ud, &run, err);
    }
    return status;
}

sb_status sb_cli_read_tables(const sb_cli_tables *all, sb_err *err) {
    const sb_env *env = all->cli->env;
    sb_status status = SB_OK, unreadable = SB_OK;
    sb_err first;
    progress p = {0};
    for (size_t i = 0; i < all->run_count; i++) p.files_all += all->runs[i].file_count;
    for (size_t from = 0, to; from < all->run_count && status == SB_OK; from = to) {
        sb_reader_table *table;
        to = end_of_batch(all, from, &p);
        status =
            sb_reader_table_read_runs(&table, env, all->runs + from, to - from, all->opts, err);
        if (status != SB_OK) break;
        sb_cli_progress(all->cli, all->command, p.files_done, p.files_all, p.bytes);
        note_unreadable(table, &unreadable, &first);
        status = visit_runs(all, from, to, table, err);
        sb_reader_table_free(table);
    }
    sb_cli_progress_end(all->cli);
    if (status == SB_OK && unreadable != SB_OK) *err = first;
    return status == SB_OK ? unreadable : status;
}
