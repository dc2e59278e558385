/* sort_rows.c: comparing rows. */
#include "base/sort_rows.h"

#include <stdlib.h>

#include "base/banned.h"

static int by_name_up(const void *a, const void *b) {
    return sb_slice_cmp(((const sb_sort_row *)a)->name, ((const sb_sort_row *)b)->name);
}

static int by_name_down(const void *a, const void *b) {
    return by_name_up(b, a);
}

static int by_key_up(const void *a, const void *b) {
    double x = ((const sb_sort_row *)a)->key, y = ((const sb_sort_row *)b)->key;
    return x != y ? (x < y ? -1 : 1) : by_name_up(a, b);
}

static int by_key_down(const void *a, const void *b) {
    double x = ((const sb_sort_row *)a)->key, y = ((const sb_sort_row *)b)->key;
    return x != y ? (x > y ? -1 : 1) : by_name_up(a, b);
}

void sb_sort_rows(sb_sort_row *rows, size_t n, sb_sort_order order) {
    if (n) qsort(rows, n, sizeof *rows, order == SB_SORT_LEAST_FIRST ? by_key_up : by_key_down);
}

void sb_sort_rows_by_name(sb_sort_row *rows, size_t n, sb_sort_order order) {
    if (n) qsort(rows, n, sizeof *rows, order == SB_SORT_LEAST_FIRST ? by_name_up : by_name_down);
}
