/* tables.h: a log directory through the columnar reader (seaboard/reader.h), some runs at a time,
 * so that memory is bounded by the largest run and progress can be shown. */
#ifndef SB_CLI_TABLES_H
#define SB_CLI_TABLES_H

#include "cli/cli.h"
#include "logdir/table.h"

/* One run with everything that was read of it. */
typedef struct sb_cli_run {
    const sb_found_run *found;
    const sb_reader_columns *columns;
    size_t column_n;
    const sb_reader_event *events; /* those that are not summaries, with SB_TABLE_KEEP_EVENTS */
    size_t event_n;
} sb_cli_run;

typedef struct sb_cli_tables {
    sb_cli *cli;
    const char *command; /* for the progress */
    const sb_found_run *runs;
    size_t run_count;
    const sb_reader_table_opts *opts;
    /* Called for one run after the other. Anything but SB_OK ends the reading. */
    sb_status (*visit)(void *ud, const sb_cli_run *run, sb_err *err);
    void *ud;
} sb_cli_tables;

/* What visit answered; SB_IO after everything else when a file can't be read; SB_NOMEM;
 * SB_LIMIT. */
sb_status sb_cli_read_tables(const sb_cli_tables *all, sb_err *err);

#endif
