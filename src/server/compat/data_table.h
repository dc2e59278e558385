/* data_table.h: Google's DataTable, which the tables of XProf are: columns, rows of cells, and
 * properties whose values are all texts.
 *
 *     sb_data_begin(&out, r, csv)                    one reply: JSON, or the CSV of the first table
 *     sb_data_open_list(&out)                        where the reply is several tables
 *     sb_data_begin_table(&out, columns, n)
 *     sb_data_begin_row(&out), a cell for each column, sb_data_end_row(&out)
 *     sb_data_begin_properties(&out), sb_data_add_property(&out, "key", text)
 *     sb_data_end_table(&out)
 *     return sb_data_end(&out, r)
 *
 * The CSV has the labels of the columns as its first line and every cell in quotes, as XProf's
 * route data_csv writes it. */
#ifndef SB_SERVER_COMPAT_DATA_TABLE_H
#define SB_SERVER_COMPAT_DATA_TABLE_H

#include "server/compat/compat.h"

typedef struct sb_data_column {
    const char *id, *label, *type;
} sb_data_column;

typedef struct sb_data {
    sb_json j;
    sb_buf *csv; /* NULL: JSON */
    uint32_t tables, cells;
    bool is_list;
} sb_data;

/* `csv`: the name that the file is saved under; empty: JSON. */
void sb_data_begin(sb_data *d, sb_http_reply *r, sb_slice csv);
sb_status sb_data_end(sb_data *d, sb_http_reply *r);
void sb_data_open_list(sb_data *d);
/* A place in the list that has no table. */
void sb_data_add_nothing(sb_data *d);

void sb_data_begin_table(sb_data *d, const sb_data_column *columns, size_t n);
void sb_data_begin_row(sb_data *d);
void sb_data_add_number(sb_data *d, double x);
void sb_data_add_count(sb_data *d, uint64_t n);
void sb_data_add_bool(sb_data *d, bool x);
void sb_data_add_text(sb_data *d, sb_slice text);
void sb_data_end_row(sb_data *d);
void sb_data_begin_properties(sb_data *d);
void sb_data_add_property(sb_data *d, const char *key, sb_slice text);
void sb_data_end_table(sb_data *d);

#endif
