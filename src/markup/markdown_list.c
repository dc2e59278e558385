/* markdown_list.c: lists, and what is indented below them.
 *
 * In:  a block that begins with "-", "+", "*" or "1." and a blank, or one that is indented by four
 *      and follows a list. Out: items in the tree, their content parsed as blocks of its own.
 * As in the reference: the kind of a list is that of its first item; two or three blanks in front
 * of an item do not nest; an item is loose (a paragraph) when a blank line stood in front of it or
 * of the next one.
 * Threads: a document belongs to one. Cost: linear in the block. */
#include <string.h>

#include "base/slice.h"
#include "markup/markdown_int.h"
#include "base/banned.h"

/* The text behind the mark of an item at p, NULL when it is none. *ordered is its kind. */
static uint8_t *item_text(uint8_t *p, const uint8_t *line_end, bool *ordered) {
    if (p >= line_end) return NULL;
    *ordered = *p >= '0' && *p <= '9';
    if (*ordered) {
        while (p < line_end && *p >= '0' && *p <= '9') p++;
        if (p >= line_end || *p != '.') return NULL;
    } else if (*p != '-' && *p != '+' && *p != '*') {
        return NULL;
    }
    size_t blanks = sb_md_spaces(++p, line_end);
    return blanks ? p + blanks : NULL;
}

bool sb_md_is_list(sb_md_span block, bool *ordered) {
    const uint8_t *end = block.p + block.n, *line_end = sb_md_line_end(block.p, end);
    size_t blanks = sb_md_spaces(block.p, line_end);
    return blanks < SB_MD_TAB && item_text(block.p + blanks, line_end, ordered) != NULL;
}

static bool is_a_list(const sb_md_node *node) {
    return node && (node->tag == SB_MD_UL || node->tag == SB_MD_OL);
}

/* The text of an item becomes its first paragraph. */
static void loosen(sb_md_doc *d, sb_md_node *item) {
    if (!sb_md_has_text(&item->text)) return;
    sb_md_node *p = sb_md_insert_first(d, item, SB_MD_P);
    if (p) sb_md_move_text(&p->text, &item->text);
}

static void loosen_last(sb_md_doc *d, sb_md_node *list) {
    sb_md_node *item = list->last;
    if (!item) return;
    loosen(d, item);
    if (!item->last || !sb_md_has_text(&item->last->tail)) return;
    sb_md_node *before = item->last, *p = sb_md_add_node(d, item, SB_MD_P);
    if (!p) return;
    sb_md_move_text(&p->text, &before->tail);
    sb_md_text_left_strip(&p->text);
}

/* One item of a block: from its text to the line in front of the next. */
typedef struct item {
    sb_md_span text;
    bool nested; /* still indented: belongs to the item before */
} item;

/* Reads the item at *p and moves *p to the next. */
static item next_item(uint8_t **p, uint8_t *end) {
    uint8_t *line_end = *p + (sb_md_line_end(*p, end) - *p);
    bool ordered;
    size_t blanks = sb_md_spaces(*p, line_end);
    uint8_t *text = blanks < SB_MD_TAB ? item_text(*p + blanks, line_end, &ordered) : NULL;
    item it = {.nested = text == NULL};
    uint8_t *from = text ? text : *p;
    uint8_t *to = line_end;
    while (to < end) {
        uint8_t *line = to + 1, *next_end = line + (sb_md_line_end(line, end) - line);
        blanks = sb_md_spaces(line, next_end);
        bool mark = blanks < 2 * SB_MD_TAB && item_text(line + blanks, next_end, &ordered);
        bool begins = mark && (blanks < SB_MD_TAB || !it.nested);
        if (begins) break;
        to = next_end;
    }
    it.text = (sb_md_span){from, (size_t)(to - from)};
    *p = to < end ? to + 1 : end;
    return it;
}

void sb_md_take_list(sb_md_doc *d, sb_md_place place, sb_md_span block, bool ordered) {
    uint8_t *p = block.p, *end = p + block.n;
    sb_md_node *list = place.parent->last;
    uint32_t depth = place.depth + 1;
    if (is_a_list(list)) {
        loosen_last(d, list);
        item it = next_item(&p, end);
        sb_md_node *li = sb_md_add_node(d, list, SB_MD_LI);
        if (!li) return;
        sb_md_parse_block(d, (sb_md_place){li, SB_MD_IN_LOOSE_LIST, depth}, it.text);
    } else if (is_a_list(place.parent)) {
        list = place.parent;
    } else {
        list = sb_md_add_node(d, place.parent, ordered ? SB_MD_OL : SB_MD_UL);
    }
    while (list && p < end && d->failed == SB_OK) {
        item it = next_item(&p, end);
        sb_md_node *li = it.nested && list->last ? list->last : sb_md_add_node(d, list, SB_MD_LI);
        if (li) sb_md_parse_block(d, (sb_md_place){li, SB_MD_IN_LIST, depth}, it.text);
    }
}

/* ---- indented below a list -------------------------------------------------------------------*/

bool sb_md_is_list_child(sb_md_place place, sb_md_span block) {
    return sb_md_starts_tab(block) && place.state != SB_MD_DETABBED &&
           (place.parent->tag == SB_MD_LI || is_a_list(place.parent->last));
}

/* Which list or item the indentation points at. */
static sb_md_node *find_level(sb_md_place place, sb_md_span block, size_t *level) {
    size_t indent = sb_md_spaces(block.p, block.p + block.n) / SB_MD_TAB;
    sb_md_node *node = place.parent;
    *level = place.state == SB_MD_IN_LIST ? 1 : 0;
    while (indent > *level) {
        sb_md_node *child = node->last;
        if (!is_a_list(child) && !(child && child->tag == SB_MD_LI)) break;
        if (is_a_list(child)) ++*level;
        node = child;
    }
    return node;
}

void sb_md_take_list_child(sb_md_doc *d, sb_md_place place, sb_md_span block) {
    size_t level;
    sb_md_node *found = find_level(place, block, &level);
    if (level) sb_md_loose_detab(&block, level);
    sb_md_place inside = {place.parent, SB_MD_DETABBED, place.depth + 1};
    if (place.parent->tag == SB_MD_LI) {
        if (is_a_list(place.parent->last)) inside.parent = place.parent->last;
        sb_md_parse_block(d, inside, block);
    } else if (found->tag == SB_MD_LI) {
        inside.parent = found;
        sb_md_parse_block(d, inside, block);
    } else if (found->last && found->last->tag == SB_MD_LI) {
        inside.parent = found->last;
        loosen(d, inside.parent);
        sb_md_parse_chunk(d, inside, block);
    } else {
        inside.parent = sb_md_add_node(d, found, SB_MD_LI);
        if (inside.parent) sb_md_parse_block(d, inside, block);
    }
}
