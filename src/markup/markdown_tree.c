/* markdown_tree.c: the tree that the blocks make, and how it is written as HTML.
 *
 * Nodes and pieces live in the document's arena and are never freed one by one. Texts are kept in
 * pieces, so that adding to a paragraph or to a code block costs what is added.
 * Line feeds between elements are written where the reference writes them.
 * Threads: a document belongs to one. Cost: one pass to write; as deep as lists and quotes nest. */
#include <string.h>

#include "base/slice.h"
#include "markup/markdown_int.h"
#include "base/banned.h"

static void *new_in_document(sb_md_doc *d, size_t size) {
    void *p = sb_arena_zeroed(&d->arena, 1, size);
    if (!p) sb_md_fail(d, d->arena.held + size > d->arena.cap / 2 ? SB_LIMIT : SB_NOMEM);
    return p;
}

sb_md_node *sb_md_add_node(sb_md_doc *d, sb_md_node *parent, sb_md_tag tag) {
    sb_md_node *node = new_in_document(d, sizeof *node);
    if (!node) return NULL;
    node->tag = tag;
    *(parent->last ? &parent->last->next : &parent->first) = node;
    parent->last = node;
    return node;
}

sb_md_node *sb_md_insert_first(sb_md_doc *d, sb_md_node *parent, sb_md_tag tag) {
    sb_md_node *node = new_in_document(d, sizeof *node);
    if (!node) return NULL;
    node->tag = tag;
    node->next = parent->first;
    parent->first = node;
    if (!parent->last) parent->last = node;
    return node;
}

void sb_md_add_text(sb_md_doc *d, sb_md_text *text, sb_slice more) {
    if (more.n == 0) return;
    sb_md_piece *piece = new_in_document(d, sizeof *piece);
    if (!piece) return;
    piece->text = more;
    *(text->last ? &text->last->next : &text->first) = piece;
    text->last = piece;
}

void sb_md_move_text(sb_md_text *to, sb_md_text *from) {
    *to = *from;
    *from = (sb_md_text){NULL, NULL};
}

void sb_md_text_left_strip(sb_md_text *text) {
    while (text->first) {
        text->first->text = sb_md_left_strip(text->first->text);
        if (text->first->text.n) return;
        text->first = text->first->next;
    }
    text->last = NULL;
}

/* ---- writing ---------------------------------------------------------------------------------*/

static const char *const names[] = {
    [SB_MD_P] = "p",         [SB_MD_H1] = "h1",
    [SB_MD_H1 + 1] = "h2",   [SB_MD_H1 + 2] = "h3",
    [SB_MD_H1 + 3] = "h4",   [SB_MD_H1 + 4] = "h5",
    [SB_MD_H1 + 5] = "h6",   [SB_MD_QUOTE] = "blockquote",
    [SB_MD_UL] = "ul",       [SB_MD_OL] = "ol",
    [SB_MD_LI] = "li",       [SB_MD_TABLE] = "table",
    [SB_MD_THEAD] = "thead", [SB_MD_TBODY] = "tbody",
    [SB_MD_TR] = "tr",       [SB_MD_TH] = "th",
    [SB_MD_TD] = "td",
};

static bool blank(const sb_md_text *text) {
    for (const sb_md_piece *piece = text->first; piece; piece = piece->next) {
        if (sb_md_strip(piece->text).n) return false;
    }
    return true;
}

/* Trailing white space of a code block goes, one line feed comes. */
static void write_code_block(sb_md_doc *d, sb_buf *out, const sb_md_text *text) {
    sb_buf_add_str(out, "<pre><code>");
    size_t from = out->n;
    for (const sb_md_piece *piece = text->first; piece; piece = piece->next)
        sb_md_write_code(d, out, piece->text);
    if (out->failed != SB_OK) return;
    out->n = from + sb_md_right_strip(sb_slice_of(out->p + from, out->n - from)).n;
    sb_buf_add_str(out, "\n</code></pre>");
}

static void write_node(sb_md_inline *x, sb_buf *out, const sb_md_node *node);

static void write_children(sb_md_inline *x, sb_buf *out, const sb_md_node *node) {
    for (const sb_md_node *child = node->first; child; child = child->next) {
        write_node(x, out, child);
        if (blank(&child->tail))
            sb_buf_add_byte(out, '\n');
        else
            sb_md_inline_write(x, out, &child->tail, false);
    }
}

static void write_node(sb_md_inline *x, sb_buf *out, const sb_md_node *node) {
    if (x->doc->failed != SB_OK || out->failed != SB_OK) return;
    if (node->tag == SB_MD_P) {
        sb_md_inline_write(x, out, &node->text, true);
        return;
    }
    if (node->tag == SB_MD_CODE) {
        write_code_block(x->doc, out, &node->text);
        return;
    }
    if (node->tag == SB_MD_RULE) {
        sb_buf_add_str(out, "<hr>");
        return;
    }
    sb_buf_add_byte(out, '<');
    sb_buf_add_str(out, names[node->tag]);
    sb_buf_add_byte(out, '>');
    if (!blank(&node->text))
        sb_md_inline_write(x, out, &node->text, false);
    else if (node->first)
        sb_buf_add_byte(out, '\n');
    write_children(x, out, node);
    sb_buf_add(out, "</", 2);
    sb_buf_add_str(out, names[node->tag]);
    sb_buf_add_byte(out, '>');
}

void sb_md_write(sb_md_doc *d, sb_buf *out, const sb_md_node *root) {
    sb_md_inline x;
    sb_md_inline_init(&x, d);
    size_t from = out->n;
    write_children(&x, out, root);
    sb_md_inline_fini(&x);
    if (out->failed == SB_OK && out->n > from)
        out->n = from + sb_md_right_strip(sb_slice_of(out->p + from, out->n - from)).n;
    sb_md_fail(d, out->failed);
}

/* ---- held places -----------------------------------------------------------------------------*/

bool sb_md_held_is_block(const sb_md_doc *d, const sb_md_held *held) {
    return held->fence || sb_md_html_is_block(sb_slice_of(d->store.p + held->at, held->n));
}

void sb_md_write_held(sb_md_doc *d, sb_buf *out, const sb_md_held *held) {
    if (held->fence) {
        sb_buf_add_str(out, "<pre><code>");
        sb_md_write_code(d, out, sb_slice_of(d->source.p + held->at, held->n));
        sb_buf_add_str(out, "</code></pre>");
        return;
    }
    const uint8_t *p = d->store.p + held->at, *end = p + held->n;
    while (p < end) {
        const uint8_t *q = memchr(p, SB_MD_HOLD, (size_t)(end - p));
        sb_buf_add(out, p, (size_t)((q ? q : end) - p));
        if (!q) return;
        /* Only fences were taken out before raw HTML, so this goes one level down. */
        const sb_md_held *inner = sb_md_held_at(d, q + 1, end, &p);
        if (inner && inner->fence)
            sb_md_write_held(d, out, inner);
        else
            p = inner ? p : q + 1;
    }
}
