/* hparams_table.h: session groups as a table to download: CSV, LaTeX, JSON.
 *
 * Columns are the experiment's parameters, then its metrics; those that are not visible are left
 * out. The spellings are those of TensorBoard's download. Threads: no state. */
#ifndef SB_QUERY_HPARAMS_HPARAMS_TABLE_H
#define SB_QUERY_HPARAMS_HPARAMS_TABLE_H

#include "query/hparams/hparams.h"

typedef struct sb_hparams_table {
    const sb_hparams_experiment_view *experiment;
    const sb_groups_answer *groups;
    const bool *visible; /* by column; columns behind the last are not shown */
    size_t visible_n;
} sb_hparams_table;

/* Lines end with CR LF; texts are quoted where they must be. */
void sb_hparams_table_csv(const sb_hparams_table *t, sb_buf *out);
void sb_hparams_table_latex(const sb_hparams_table *t, sb_buf *out);
/* {"header": [...], "rows": [[...], ...]}, spaced as Python's json.dumps. */
sb_status sb_hparams_table_json(const sb_hparams_table *t, sb_buf *out, sb_err *err);

#endif
