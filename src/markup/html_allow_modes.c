/* html_allow_modes.c: what a tag or a text means where it stands: in the flow, in a table, between
 * its rows, between its cells, in a cell.
 *
 * These are the insertion modes of the HTML standard for a fragment inside a <div>, reduced to the
 * elements of the table, with the one habit of the reference that differs from the standard: a
 * <table> directly inside another closes that one and is itself forgotten.
 * Threads: as the tree. Cost: as the tree. */
#include "markup/html_allow_int.h"
#include "base/banned.h"

static void close_paragraph(sb_html_tree *t) {
    sb_html_close_implied(t, SB_HTML_P);
    sb_html_pop_until(t, SB_HTML_P);
}

static void close_open_paragraph(sb_html_tree *t) {
    if (sb_html_in_scope(t, SB_HTML_P, SB_HTML_ANY_SCOPE)) close_paragraph(t);
}

static void open_void(sb_html_tree *t, sb_html_tag tag, const sb_html_attrs *attrs) {
    if (sb_html_open_element(t, tag, attrs)) sb_html_pop(t);
}

static void open_formatting(sb_html_tree *t, sb_html_tag tag, const sb_html_attrs *attrs) {
    sb_html_reopen_formatting(t);
    if (sb_html_open_element(t, tag, attrs)) sb_html_push_formatting(t, sb_html_current(t));
}

static void open_anchor(sb_html_tree *t, const sb_html_attrs *attrs) {
    sb_html_id other = sb_html_find_formatting(t, SB_HTML_A);
    if (other) {
        sb_html_close_formatting(t, SB_HTML_A);
        sb_html_drop_open(t, other);
        sb_html_drop_formatting(t, other);
    }
    open_formatting(t, SB_HTML_A, attrs);
}

/* One step of an end tag; true when it has still to be taken in the mode that holds now. */
static bool close_step(sb_html_tree *t, sb_html_tag tag);

static void open_list_item(sb_html_tree *t) {
    for (uint32_t i = t->open_count; i-- > 0;) {
        sb_html_tag here = (sb_html_tag)t->nodes[t->open[i]].tag;
        if (here == SB_HTML_LI) {
            close_step(t, SB_HTML_LI);
            break;
        }
        if ((sb_html_traits[here].flags & SB_HTML_SPECIAL) && here != SB_HTML_P) break;
    }
    if (sb_html_in_scope(t, SB_HTML_P, SB_HTML_ANY_SCOPE)) close_step(t, SB_HTML_P);
    sb_html_open_element(t, SB_HTML_LI, NULL);
}

static void open_in_body(sb_html_tree *t, sb_html_tag tag, const sb_html_attrs *attrs) {
    if (tag == SB_HTML_A) {
        open_anchor(t, attrs);
        return;
    }
    if (sb_html_traits[tag].flags & SB_HTML_FORMATTING) {
        open_formatting(t, tag, attrs);
        return;
    }
    switch (tag) {
    case SB_HTML_BR:
    case SB_HTML_IMG:
        sb_html_reopen_formatting(t);
        open_void(t, tag, attrs);
        break;
    case SB_HTML_HR:
        close_open_paragraph(t);
        open_void(t, tag, attrs);
        break;
    case SB_HTML_LI:
        open_list_item(t);
        break;
    case SB_HTML_TABLE:
        close_open_paragraph(t);
        if (sb_html_open_element(t, tag, NULL)) t->mode = SB_HTML_IN_TABLE;
        break;
    case SB_HTML_TBODY:
    case SB_HTML_TD:
    case SB_HTML_TH:
    case SB_HTML_THEAD:
    case SB_HTML_TR:
        break; /* nothing outside of a table */
    default:   /* blockquote, headings, ol, p, pre, ul */
        close_open_paragraph(t);
        if ((sb_html_traits[tag].flags & SB_HTML_HEADING) &&
            (sb_html_traits[sb_html_current_tag(t)].flags & SB_HTML_HEADING))
            sb_html_pop(t);
        sb_html_open_element(t, tag, NULL);
        if (tag == SB_HTML_PRE) t->after_pre = true;
    }
}

static void close_heading(sb_html_tree *t) {
    bool any = false;
    for (sb_html_tag h = SB_HTML_H1; h <= SB_HTML_H6 && !any; h++)
        any = sb_html_in_scope(t, h, SB_HTML_ANY_SCOPE);
    if (!any) return;
    sb_html_close_implied(t, SB_HTML_NONE);
    for (bool found = false; !found && t->open_count > 1;) {
        found = sb_html_traits[sb_html_current_tag(t)].flags & SB_HTML_HEADING;
        sb_html_pop(t);
    }
}

static void close_in_body(sb_html_tree *t, sb_html_tag tag) {
    switch (tag) {
    case SB_HTML_P:
        if (!sb_html_in_scope(t, SB_HTML_P, SB_HTML_ANY_SCOPE) &&
            !sb_html_open_element(t, SB_HTML_P, NULL))
            break;
        close_paragraph(t);
        break;
    case SB_HTML_LI:
        if (!sb_html_in_scope(t, SB_HTML_LI, SB_HTML_LIST_SCOPE)) break;
        sb_html_close_implied(t, SB_HTML_LI);
        sb_html_pop_until(t, SB_HTML_LI);
        break;
    case SB_HTML_BLOCKQUOTE:
    case SB_HTML_OL:
    case SB_HTML_PRE:
    case SB_HTML_UL:
        if (tag == SB_HTML_PRE) t->after_pre = false;
        if (!sb_html_in_scope(t, tag, SB_HTML_ANY_SCOPE)) break;
        sb_html_close_implied(t, SB_HTML_NONE);
        sb_html_pop_until(t, tag);
        break;
    case SB_HTML_BR:
        sb_html_reopen_formatting(t);
        open_void(t, tag, NULL);
        break;
    default:
        if (sb_html_traits[tag].flags & SB_HTML_FORMATTING)
            sb_html_close_formatting(t, tag);
        else if (sb_html_traits[tag].flags & SB_HTML_HEADING)
            close_heading(t);
        else
            sb_html_close_other(t, tag);
    }
}

/* ---- tables ----------------------------------------------------------------------------------*/

/* Closes down to an element that may hold what comes next. */
static void clear_to(sb_html_tree *t, sb_html_tag a, sb_html_tag b) {
    while (sb_html_current_tag(t) != a && sb_html_current_tag(t) != b && t->open_count > 1)
        sb_html_pop(t);
}

static void reset_mode(sb_html_tree *t) {
    t->mode = SB_HTML_IN_BODY;
    for (uint32_t i = t->open_count; i-- > 1;) {
        switch ((sb_html_tag)t->nodes[t->open[i]].tag) {
        case SB_HTML_TD:
        case SB_HTML_TH:
            t->mode = SB_HTML_IN_CELL;
            return;
        case SB_HTML_TR:
            t->mode = SB_HTML_IN_ROW;
            return;
        case SB_HTML_TBODY:
        case SB_HTML_THEAD:
            t->mode = SB_HTML_IN_TABLE_BODY;
            return;
        case SB_HTML_TABLE:
            t->mode = SB_HTML_IN_TABLE;
            return;
        default:
            break;
        }
    }
}

static void close_table(sb_html_tree *t) {
    if (!sb_html_in_scope(t, SB_HTML_TABLE, SB_HTML_TABLE_SCOPE)) return;
    sb_html_close_implied(t, SB_HTML_NONE);
    sb_html_pop_until(t, SB_HTML_TABLE);
    reset_mode(t);
}

static void open_part(sb_html_tree *t, sb_html_tag tag, sb_html_mode mode) {
    if (sb_html_open_element(t, tag, NULL)) t->mode = mode;
}

static bool closes_body(sb_html_tag tag) {
    return tag == SB_HTML_TBODY || tag == SB_HTML_THEAD;
}

static bool cell(sb_html_tag tag) {
    return tag == SB_HTML_TD || tag == SB_HTML_TH;
}

static bool table_part(sb_html_tag tag) {
    return closes_body(tag) || cell(tag) || tag == SB_HTML_TR;
}

/* Each answers whether the tag has still to be taken, in the mode that holds now. */
static bool open_in_table(sb_html_tree *t, sb_html_tag tag, const sb_html_attrs *attrs) {
    if (tag == SB_HTML_TABLE) {
        close_step(t, SB_HTML_TABLE);
        return false;
    }
    if (!table_part(tag)) {
        t->from_table = true;
        open_in_body(t, tag, attrs);
        t->from_table = false;
        return false;
    }
    clear_to(t, SB_HTML_TABLE, SB_HTML_ROOT);
    bool group = closes_body(tag);
    open_part(t, group ? tag : SB_HTML_TBODY, SB_HTML_IN_TABLE_BODY);
    return !group && t->mode == SB_HTML_IN_TABLE_BODY;
}

static bool body_in_scope(const sb_html_tree *t) {
    return sb_html_in_scope(t, SB_HTML_TBODY, SB_HTML_TABLE_SCOPE) ||
           sb_html_in_scope(t, SB_HTML_THEAD, SB_HTML_TABLE_SCOPE);
}

static void close_row_group(sb_html_tree *t) {
    while (!closes_body(sb_html_current_tag(t)) && t->open_count > 1) sb_html_pop(t);
    sb_html_pop(t);
    t->mode = SB_HTML_IN_TABLE;
}

static bool open_in_table_body(sb_html_tree *t, sb_html_tag tag, const sb_html_attrs *attrs) {
    if (tag == SB_HTML_TR || cell(tag)) {
        while (!closes_body(sb_html_current_tag(t)) && t->open_count > 1) sb_html_pop(t);
        open_part(t, SB_HTML_TR, SB_HTML_IN_ROW);
        return tag != SB_HTML_TR && t->mode == SB_HTML_IN_ROW;
    }
    if (!closes_body(tag)) return open_in_table(t, tag, attrs);
    if (!body_in_scope(t)) return false;
    close_row_group(t);
    return true;
}

static bool close_row(sb_html_tree *t) {
    if (!sb_html_in_scope(t, SB_HTML_TR, SB_HTML_TABLE_SCOPE)) return false;
    clear_to(t, SB_HTML_TR, SB_HTML_ROOT);
    sb_html_pop(t);
    t->mode = SB_HTML_IN_TABLE_BODY;
    return true;
}

static bool open_in_row(sb_html_tree *t, sb_html_tag tag, const sb_html_attrs *attrs) {
    if (cell(tag)) {
        clear_to(t, SB_HTML_TR, SB_HTML_ROOT);
        open_part(t, tag, SB_HTML_IN_CELL);
        if (t->mode == SB_HTML_IN_CELL) sb_html_mark_formatting(t);
        return false;
    }
    if (table_part(tag)) return close_row(t);
    return open_in_table(t, tag, attrs);
}

static void close_cell(sb_html_tree *t, sb_html_tag tag) {
    sb_html_close_implied(t, tag);
    sb_html_pop_until(t, tag);
    sb_html_clear_formatting(t);
    t->mode = SB_HTML_IN_ROW;
}

static bool close_any_cell(sb_html_tree *t) {
    for (sb_html_tag tag = SB_HTML_TD; tag <= SB_HTML_TH; tag++) {
        if (!sb_html_in_scope(t, tag, SB_HTML_TABLE_SCOPE)) continue;
        close_cell(t, tag);
        return true;
    }
    return false;
}

static void take_open(sb_html_tree *t, sb_html_tag tag, const sb_html_attrs *attrs) {
    for (bool again = true; again && t->failed == SB_OK;) {
        again = false;
        switch (t->mode) {
        case SB_HTML_IN_BODY:
            open_in_body(t, tag, attrs);
            break;
        case SB_HTML_IN_TABLE:
            again = open_in_table(t, tag, attrs);
            break;
        case SB_HTML_IN_TABLE_BODY:
            again = open_in_table_body(t, tag, attrs);
            break;
        case SB_HTML_IN_ROW:
            again = open_in_row(t, tag, attrs);
            break;
        case SB_HTML_IN_CELL:
            if (table_part(tag))
                again = close_any_cell(t);
            else
                open_in_body(t, tag, attrs);
        }
    }
}

static bool close_in_table(sb_html_tree *t, sb_html_tag tag) {
    if (tag == SB_HTML_TABLE) {
        close_table(t);
    } else if (!table_part(tag)) {
        t->from_table = true;
        close_in_body(t, tag);
        t->from_table = false;
    }
    return false;
}

static bool close_in_table_body(sb_html_tree *t, sb_html_tag tag) {
    if (closes_body(tag)) {
        if (sb_html_in_scope(t, tag, SB_HTML_TABLE_SCOPE)) close_row_group(t);
        return false;
    }
    if (tag == SB_HTML_TABLE) {
        if (!body_in_scope(t)) return false;
        close_row_group(t);
        return true;
    }
    return close_in_table(t, tag);
}

static bool close_in_row(sb_html_tree *t, sb_html_tag tag) {
    if (tag == SB_HTML_TR || tag == SB_HTML_TABLE) return close_row(t) && tag == SB_HTML_TABLE;
    if (closes_body(tag)) {
        if (!sb_html_in_scope(t, tag, SB_HTML_TABLE_SCOPE)) return false;
        return close_row(t);
    }
    return close_in_table(t, tag);
}

static bool close_in_cell(sb_html_tree *t, sb_html_tag tag) {
    if (cell(tag)) {
        if (sb_html_in_scope(t, tag, SB_HTML_TABLE_SCOPE)) close_cell(t, tag);
        return false;
    }
    if (tag == SB_HTML_TABLE || table_part(tag))
        return sb_html_in_scope(t, tag, SB_HTML_TABLE_SCOPE) && close_any_cell(t);
    close_in_body(t, tag);
    return false;
}

static bool close_step(sb_html_tree *t, sb_html_tag tag) {
    switch (t->mode) {
    case SB_HTML_IN_TABLE:
        return close_in_table(t, tag);
    case SB_HTML_IN_TABLE_BODY:
        return close_in_table_body(t, tag);
    case SB_HTML_IN_ROW:
        return close_in_row(t, tag);
    case SB_HTML_IN_CELL:
        return close_in_cell(t, tag);
    default:
        close_in_body(t, tag);
        return false;
    }
}

static void take_close(sb_html_tree *t, sb_html_tag tag) {
    while (t->failed == SB_OK && close_step(t, tag)) {
    }
}

/* ---- text ------------------------------------------------------------------------------------*/

/* Text between two tags inside a table: white space stays there, anything else moves in front. */
static void flush_table_text(sb_html_tree *t, sb_slice source) {
    if (!t->has_table_text) return;
    t->has_table_text = false;
    bool blank = true;
    for (uint32_t i = 0; i < t->table_text.n && blank; i++)
        blank = sb_html_space(source.p[t->table_text.at + i]);
    if (!blank) {
        t->from_table = true;
        sb_html_reopen_formatting(t);
    }
    sb_html_add_text(t, t->table_text);
    t->from_table = false;
}

static void take_text(sb_html_tree *t, const sb_html_token *token, sb_slice source) {
    sb_html_range text = token->text;
    if (t->mode != SB_HTML_IN_BODY && t->mode != SB_HTML_IN_CELL) {
        if (t->has_table_text && t->table_text.at + t->table_text.n == text.at) {
            t->table_text.n += text.n;
            return;
        }
        flush_table_text(t, source);
        t->table_text = text;
        t->has_table_text = true;
        return;
    }
    if (token->kind == SB_HTML_TOKEN_SPACE && t->after_pre && t->mode == SB_HTML_IN_BODY) {
        t->after_pre = false;
        bool fresh = sb_html_current_tag(t) == SB_HTML_PRE && !t->nodes[sb_html_current(t)].first;
        if (fresh && source.p[text.at] == '\n') text = (sb_html_range){text.at + 1, text.n - 1};
        if (text.n == 0) return;
    }
    if (token->kind == SB_HTML_TOKEN_CHARS || t->mode == SB_HTML_IN_BODY)
        sb_html_reopen_formatting(t);
    sb_html_add_text(t, text);
}

void sb_html_take_token(sb_html_tree *t, const sb_html_token *token, sb_slice source) {
    if (token->kind == SB_HTML_TOKEN_CHARS || token->kind == SB_HTML_TOKEN_SPACE) {
        take_text(t, token, source);
        return;
    }
    flush_table_text(t, source);
    if (token->kind == SB_HTML_TOKEN_OPEN) take_open(t, token->tag, &token->attrs);
    if (token->kind == SB_HTML_TOKEN_CLOSE) take_close(t, token->tag);
}

void sb_html_take_end(sb_html_tree *t, sb_slice source) {
    flush_table_text(t, source);
}
