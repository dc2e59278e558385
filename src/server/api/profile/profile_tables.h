/* profile_tables.h: rows of a profile's tables, as several routes show them. */
#ifndef SB_SERVER_API_PROFILE_TABLES_H
#define SB_SERVER_API_PROFILE_TABLES_H

#include "server/api/profile/profile_ask.h"

void sb_profile_add_op(sb_json *j, const sb_trace *t, const sb_op_row *row);

/* Paging of a table: `sort`, `descending`, `find`, `offset`, `limit`, `format`. */
typedef struct sb_table_ask {
    sb_slice sort, find;
    bool is_ascending, is_csv;
    size_t offset, limit;
} sb_table_ask;
void sb_table_ask_read(sb_table_ask *out, const sb_profile_ask *p);

/* A row while it is sorted. */
typedef struct sb_table_row {
    size_t index;
    double key;
    sb_slice name;
} sb_table_row;
/* In order of key, the greatest first, or of name where keys are equal. */
void sb_table_sort(sb_table_row *rows, size_t n, const sb_table_ask *ask);
/* Does the name hold what is looked for? */
bool sb_table_wants(const sb_table_ask *ask, sb_slice name);

#endif
