/* hparams_table.c: cells, and three ways to write them. */
#include "query/hparams/hparams_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/slice.h"
#include "base/text/json.h"
#include "base/text/number.h"
#include "query/csv.h"
#include "base/banned.h"

/* ---- cells ----------------------------------------------------------------------------------- */

static size_t column_count(const sb_hparams_table *t) {
    size_t all = t->experiment->hparam_n + t->experiment->metric_n;
    return t->visible_n < all ? t->visible_n : all;
}

static sb_slice title_of(const sb_hparams_table *t, size_t column) {
    const sb_hparams_experiment_view *e = t->experiment;
    if (column < e->hparam_n) {
        const sb_hparam_column *c = &e->hparams[column];
        return c->display_name.n ? c->display_name : c->name;
    }
    const sb_metric_info_view *m = &e->metrics[column - e->hparam_n];
    return m->display_name.n ? m->display_name : m->tag;
}

/* A missing parameter is an empty text, a missing metric is nothing (SB_ANY_NULL). */
static sb_any cell_of(const sb_hparams_table *t, const sb_session_group *g, size_t column) {
    const sb_hparams_experiment_view *e = t->experiment;
    if (column < e->hparam_n) {
        for (size_t i = 0; i < g->hparam_n; i++) {
            if (!sb_slice_eq(g->hparams[i].name, e->hparams[column].name)) continue;
            sb_any_kind kind = g->hparams[i].value.kind;
            bool is_plain = kind == SB_ANY_NUMBER || kind == SB_ANY_STRING || kind == SB_ANY_BOOL;
            if (is_plain) return g->hparams[i].value;
        }
        return (sb_any){.kind = SB_ANY_STRING, .body = SB_LIT("")};
    }
    const sb_metric_info_view *m = &e->metrics[column - e->hparam_n];
    for (size_t i = 0; i < g->metric_n; i++)
        if (sb_slice_eq(g->metrics[i].tag, m->tag) && sb_slice_eq(g->metrics[i].group, m->group))
            return (sb_any){.kind = SB_ANY_NUMBER, .number = g->metrics[i].value};
    return (sb_any){.kind = SB_ANY_NULL};
}

/* Row 0 holds the titles. */
static sb_any cell_at(const sb_hparams_table *t, size_t row, size_t c) {
    if (row) return cell_of(t, &t->groups->groups[row - 1], c);
    return (sb_any){.kind = SB_ANY_STRING, .body = title_of(t, c)};
}

/* ---- CSV ------------------------------------------------------------------------------------- */

/* A row with one empty field would be an empty line. */
static void add_csv_text(sb_buf *out, sb_slice text, bool is_only) {
    if (is_only && text.n == 0)
        sb_csv_add_quoted(out, text);
    else
        sb_csv_add_text(out, text);
}

/* As Python's repr, whose NaN and infinities are in lower case. */
static void add_repr(sb_buf *out, double x) {
    char text[SB_NUMBER_ROOM];
    if (isnan(x))
        sb_buf_add_str(out, "nan");
    else if (isinf(x))
        sb_buf_add_str(out, x < 0 ? "-inf" : "inf");
    else
        sb_buf_add(out, text, sb_print_double(text, x));
}

static void add_csv_cell(sb_buf *out, const sb_any *cell, bool is_only) {
    if (cell->kind == SB_ANY_NUMBER)
        add_repr(out, cell->number);
    else if (cell->kind == SB_ANY_BOOL)
        sb_buf_add_str(out, cell->boolean ? "True" : "False");
    else
        add_csv_text(out, cell->kind == SB_ANY_STRING ? cell->body : SB_LIT(""), is_only);
}

/* How many columns are shown. */
static size_t shown_count(const sb_hparams_table *t) {
    size_t shown = 0, n = column_count(t);
    for (size_t c = 0; c < n; c++) shown += t->visible[c];
    return shown;
}

void sb_hparams_table_csv(const sb_hparams_table *t, sb_buf *out) {
    size_t n = column_count(t);
    bool is_only = shown_count(t) == 1;
    for (size_t row = 0; row <= t->groups->n; row++) {
        bool any = false;
        for (size_t c = 0; c < n; c++) {
            if (!t->visible[c]) continue;
            if (any) sb_buf_add_byte(out, ',');
            any = true;
            sb_any cell = cell_at(t, row, c);
            add_csv_cell(out, &cell, is_only);
        }
        sb_buf_add_str(out, "\r\n");
    }
}

/* ---- LaTeX ----------------------------------------------------------------------------------- */

static void add_latex_text(sb_buf *out, sb_slice text) {
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '_' || text.p[i] == '%') sb_buf_add_byte(out, '\\');
        sb_buf_add_byte(out, text.p[i]);
    }
}

static void add_latex_number(sb_buf *out, double x) {
    char text[64];
    if (isnan(x)) {
        sb_buf_add_str(out, "$\\mathrm{NaN}$");
        return;
    }
    if (isinf(x)) {
        sb_buf_add_str(out, x < 0 ? "$-\\infty$" : "$+\\infty$");
        return;
    }
    snprintf(text, sizeof text, "%.3g", x);
    char *exponent = strchr(text, 'e');
    if (!exponent) {
        sb_buf_printf(out, "$%s$", text);
        return;
    }
    *exponent++ = 0;
    sb_buf_printf(out, "$%s\\cdot 10^{%ld}$", text, strtol(exponent, NULL, 10));
}

static void add_latex_cell(sb_buf *out, const sb_any *cell) {
    switch (cell->kind) {
    case SB_ANY_NUMBER:
        add_latex_number(out, cell->number);
        return;
    case SB_ANY_BOOL:
        sb_buf_printf(out, "$%d$", cell->boolean);
        return;
    case SB_ANY_STRING:
        add_latex_text(out, cell->body);
        return;
    default:
        sb_buf_add_byte(out, '-');
    }
}

void sb_hparams_table_latex(const sb_hparams_table *t, sb_buf *out) {
    size_t n = column_count(t), shown = shown_count(t);
    sb_buf_add_str(out, "\\begin{table}[tbp]\n\\begin{tabular}{");
    for (size_t c = 0; c < shown; c++) sb_buf_add_byte(out, 'l');
    sb_buf_add_str(out, "}\n");
    for (size_t row = 0; row <= t->groups->n; row++) {
        bool any = false;
        for (size_t c = 0; c < n; c++) {
            if (!t->visible[c]) continue;
            if (any) sb_buf_add_str(out, " & ");
            any = true;
            sb_any cell = cell_at(t, row, c);
            add_latex_cell(out, &cell);
        }
        sb_buf_add_str(out, row ? " \\\\\n" : " \\\\ \\hline\n");
    }
    sb_buf_add_str(out, "\\hline\n\\end{tabular}\n\\end{table}\n");
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void add_json_cell(sb_json *j, const sb_any *cell) {
    switch (cell->kind) {
    case SB_ANY_NUMBER:
        sb_json_double(j, cell->number);
        return;
    case SB_ANY_BOOL:
        sb_json_bool(j, cell->boolean);
        return;
    case SB_ANY_STRING:
        sb_json_text(j, cell->body);
        return;
    default:
        sb_json_null(j);
    }
}

sb_status sb_hparams_table_json(const sb_hparams_table *t, sb_buf *out, sb_err *err) {
    size_t n = column_count(t);
    sb_json j;
    sb_json_init(&j, out, &(sb_json_opts){.spaced = true});
    sb_json_begin_object(&j);
    sb_json_key_str(&j, "header");
    sb_json_begin_array(&j);
    for (size_t c = 0; c < n; c++)
        if (t->visible[c]) sb_json_text(&j, title_of(t, c));
    sb_json_end_array(&j);
    sb_json_key_str(&j, "rows");
    sb_json_begin_array(&j);
    for (size_t row = 0; row < t->groups->n; row++) {
        sb_json_begin_array(&j);
        for (size_t c = 0; c < n; c++) {
            if (!t->visible[c]) continue;
            sb_any cell = cell_of(t, &t->groups->groups[row], c);
            add_json_cell(&j, &cell);
        }
        sb_json_end_array(&j);
    }
    sb_json_end_array(&j);
    sb_json_end_object(&j);
    return sb_json_finish(&j, "the table", err);
}
