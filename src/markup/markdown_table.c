/* markdown_table.c: tables.
 *
 * In:  a block whose first line is the header and whose second has a dash group for each cell.
 * Out: a table with head and body; each row has as many cells as the header, missing ones are
 * empty. A '|' separates cells unless it is escaped or inside backquotes that close on the same
 * row. Outer '|' are left out when the header has one. Alignment is not kept: the gate would drop
 * it.
 * Threads: a document belongs to one. Cost: linear in the block, and a node for every cell. */
#include <string.h>

#include "base/slice.h"
#include "markup/markdown_int.h"
#include "base/banned.h"

static sb_slice strip_blanks(const uint8_t *p, const uint8_t *end) {
    while (p < end && *p == ' ') p++;
    while (end > p && end[-1] == ' ') end--;
    return sb_slice_of(p, (size_t)(end - p));
}

/* The row without an outer '|' at its end, and the escaped backslashes in front of it; the row's
 * own length when there is none. */
static size_t without_right_border(sb_slice row) {
    if (!row.n || row.p[row.n - 1] != '|') return row.n;
    size_t n = row.n - 1, slashes = 0;
    while (slashes < n && row.p[n - slashes - 1] == '\\') slashes++;
    return slashes % 2 ? row.n : n - slashes;
}

static bool has_right_border(sb_slice row) {
    return without_right_border(row) < row.n;
}

static sb_slice inside_borders(sb_slice row, bool borders) {
    if (!borders) return row;
    if (row.n && row.p[0] == '|') row = sb_slice_of(row.p + 1, row.n - 1);
    row.n = without_right_border(row);
    return row;
}

/* ---- cells -----------------------------------------------------------------------------------*/

typedef enum mark { MARK_NONE, MARK_PIPE, MARK_TICKS, MARK_ESCAPED_TICKS, MARK_SKIP } mark;

/* What is at i in a row: its kind and how many bytes it has. */
static mark mark_at(sb_slice row, size_t i, size_t *n) {
    uint8_t c = row.p[i];
    *n = 1;
    if (c == '|') return MARK_PIPE;
    bool escaped = c == '\\';
    if (escaped && i + 1 < row.n && (row.p[i + 1] == '\\' || row.p[i + 1] == '|')) {
        *n = 2;
        return MARK_SKIP;
    }
    size_t from = i + escaped, to = from;
    while (to < row.n && row.p[to] == '`') to++;
    if (to == from) return MARK_NONE;
    *n = to - i;
    return escaped ? MARK_ESCAPED_TICKS : MARK_TICKS;
}

typedef struct cells {
    sb_slice row;
    size_t at;
    bool done;
    uint64_t no_ticks; /* bit k: no group of k backquotes follows */
} cells;

/* The index behind the next group of exactly `size` backquotes, which closes a code span; 0 if
 * there is none. */
static size_t ticks_end(cells *c, size_t from, size_t size) {
    if (size < 64 && (c->no_ticks >> size & 1)) return 0;
    for (size_t i = from, n; i < c->row.n; i += n) {
        mark m = mark_at(c->row, i, &n);
        if (m == MARK_TICKS && n == size) return i + n;
        if (m == MARK_ESCAPED_TICKS && n - 1 == size) return i + n;
    }
    if (size < 64) c->no_ticks |= (uint64_t)1 << size;
    return 0;
}

static bool next_cell(cells *c, sb_slice *cell) {
    if (c->done) return false;
    size_t from = c->at, i = from, n;
    for (; i < c->row.n; i += n) {
        mark m = mark_at(c->row, i, &n);
        if (m == MARK_PIPE) break;
        size_t size = m == MARK_TICKS ? n : m == MARK_ESCAPED_TICKS ? n - 2 : 0;
        size_t behind = size ? ticks_end(c, i + n, size) : 0;
        if (behind) n = behind - i;
    }
    *cell = strip_blanks(c->row.p + from, c->row.p + i);
    c->done = i >= c->row.n;
    c->at = i + 1;
    return true;
}

static size_t count_cells(sb_slice row) {
    cells c = {.row = row};
    sb_slice cell;
    size_t count = 0;
    while (next_cell(&c, &cell)) count++;
    return count;
}

/* ---- tables ----------------------------------------------------------------------------------*/

static bool only_dashes(sb_slice row) {
    for (size_t i = 0; i < row.n; i++) {
        if (!memchr("|:- ", row.p[i], 4)) return false;
    }
    return true;
}

/* In a table of one column each row must have an outer '|'. */
static bool all_bordered(const uint8_t *p, const uint8_t *end) {
    for (;;) {
        const uint8_t *line_end = sb_md_line_end(p, end);
        sb_slice row = strip_blanks(p, line_end);
        if (!(row.n && row.p[0] == '|') && !has_right_border(row)) return false;
        if (line_end == end) return true;
        p = line_end + 1;
    }
}

static void add_table_row(sb_md_doc *d, sb_md_node *group, sb_md_tag tag, sb_slice row,
                          size_t columns) {
    sb_md_node *tr = sb_md_add_node(d, group, SB_MD_TR);
    cells c = {.row = row};
    for (size_t i = 0; i < columns && d->failed == SB_OK; i++) {
        sb_slice text = SB_LIT("");
        next_cell(&c, &text);
        sb_md_node *cell = sb_md_add_node(d, tr, tag);
        if (cell) sb_md_add_text(d, &cell->text, text);
    }
}

bool sb_md_take_table(sb_md_doc *d, sb_md_node *parent, sb_md_span block) {
    const uint8_t *p = block.p, *end = p + block.n, *line_end = sb_md_line_end(p, end);
    if (line_end == end) return false;
    sb_slice header = strip_blanks(p, line_end);
    bool borders = (header.n && header.p[0] == '|') || has_right_border(header);
    const uint8_t *second = line_end + 1, *second_end = sb_md_line_end(second, end);
    sb_slice dashes = inside_borders(strip_blanks(second, second_end), borders);
    if (!only_dashes(dashes)) return false;
    header = inside_borders(header, borders);
    size_t columns = count_cells(header);
    if (columns == 1 && (!borders || !all_bordered(second, end))) return false;
    if (count_cells(dashes) != columns) return false;
    sb_md_node *table = sb_md_add_node(d, parent, SB_MD_TABLE);
    sb_md_node *head = table ? sb_md_add_node(d, table, SB_MD_THEAD) : NULL;
    if (!head) return true;
    add_table_row(d, head, SB_MD_TH, header, columns);
    sb_md_node *body = sb_md_add_node(d, table, SB_MD_TBODY);
    if (!body) return true;
    if (second_end == end) add_table_row(d, body, SB_MD_TD, SB_LIT(""), columns);
    for (p = second_end; p < end && d->failed == SB_OK; p = line_end) {
        line_end = sb_md_line_end(p + 1, end);
        sb_slice row = inside_borders(strip_blanks(p + 1, line_end), borders);
        add_table_row(d, body, SB_MD_TD, row, columns);
    }
    return true;
}
