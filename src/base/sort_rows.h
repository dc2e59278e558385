/* sort_rows.h: the order of a table's rows: by a number, or by name.
 *
 * The rows themselves stay where they are; what is sorted says where each of them is. */
#ifndef SB_BASE_SORT_ROWS_H
#define SB_BASE_SORT_ROWS_H

#include "base/slice.h"

typedef struct sb_sort_row {
    size_t index; /* of the row that it stands for */
    double key;   /* the same for all rows: the order is that of the names */
    sb_slice name;
} sb_sort_row;

typedef enum sb_sort_order { SB_SORT_GREATEST_FIRST, SB_SORT_LEAST_FIRST } sb_sort_order;

/* Rows of the same key are in order of name, from A to Z. A key must not be NaN. */
void sb_sort_rows(sb_sort_row *rows, size_t n, sb_sort_order order);
/* By name alone; SB_SORT_GREATEST_FIRST is from Z to A. */
void sb_sort_rows_by_name(sb_sort_row *rows, size_t n, sb_sort_order order);

#endif
