/* profile_tables.h: what several tables of a profile share: rows in some order, a page of them, and
 * the objects that stand in more than one reply. */
#ifndef SB_SERVER_API_PROFILE_TABLES_H
#define SB_SERVER_API_PROFILE_TABLES_H

#include "base/sort_rows.h"
#include "server/api/profile/profile_ask.h"

/* Rows that a request asks for: `sort`, `descending`, `find`, `offset`, `limit`, `format`. */
typedef struct sb_profile_table {
    sb_slice sort, find;
    sb_sort_order order;
    bool is_csv; /* all rows, whatever the page */
    sb_sort_row *rows;
    size_t n;
    size_t from, to; /* the page */
} sb_profile_table;

/* An empty table with room for `most` rows, in the arena. false: no memory. */
bool sb_profile_table_init(sb_profile_table *out, sb_profile_ask *p, size_t most);
bool sb_profile_table_is_sorted_by(const sb_profile_table *table, const char *column);
/* Left out where the name does not hold what is looked for. */
void sb_profile_table_add(sb_profile_table *table, size_t index, double key, sb_slice name);
/* After the last row: sorts them, and finds the page, of at most `most` rows. */
void sb_profile_table_finish(sb_profile_table *table, size_t most);

/* Begins a reply that is saved as a file. */
sb_buf *sb_profile_begin_csv(sb_http_reply *r, const char *file);
/* Appends an object: an operator; its four times. */
void sb_profile_add_op(sb_json *j, const sb_trace *t, const sb_op_row *row);
void sb_profile_add_times(sb_json *j, int64_t host_total, int64_t host_self, int64_t device_total,
                          int64_t device_self);
/* Appends "steps": {...}, at most so many; with the parts of their time where `has_parts`. */
void sb_profile_add_steps(sb_json *j, const sb_analysis *a, size_t most, bool has_parts);
/* Appends "<key>": [{kind, ps, share}, ...]. */
void sb_profile_add_parts(sb_json *j, const char *key, const int64_t *parts);

#endif
