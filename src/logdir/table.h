/* table.h: the columnar reader of seaboard/reader.h, for those who bring their own environment or
 * have listed the runs already. */
#ifndef SB_LOGDIR_TABLE_H
#define SB_LOGDIR_TABLE_H

#include "base/env.h"
#include "logdir/discover.h"
#include "seaboard/reader.h"

/* As sb_reader_table_read, with a file system, a clock and memory of the caller's. */
sb_status sb_reader_table_read_in(sb_reader_table **out, const sb_env *env, const char *path,
                                  const sb_reader_table_opts *opts, sb_err *err);
/* Only these runs, in this order, whatever opts->run says. They must outlive the table; `run` of
 * its columns, events and gaps is the same pointer as the run's name. sb_reader_table_find works
 * only when they are in byte order of their names. */
sb_status sb_reader_table_read_runs(sb_reader_table **out, const sb_env *env,
                                    const sb_found_run *runs, size_t run_count,
                                    const sb_reader_table_opts *opts, sb_err *err);

#endif
