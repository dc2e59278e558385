/* html_allow.h: the HTML sanitizer (in this folder: the gate). All HTML from logs passes it before
 * it reaches a page.
 *
 * In:  any bytes that claim to be HTML.
 * Out: HTML that consists of the elements and attributes of a fixed table, of escaped text, and of
 *      nothing else. Safe by construction: a '<' is written in two places only, each time in front
 *      of a name from the table; everything that came from outside is escaped.
 *
 * What passes is what TensorBoard lets pass (its vendored Bleach), and the tree is built as its
 * HTML parser builds it, so that both servers show the same thing:
 *   elements    a blockquote br code em h1..h6 hr img li ol p pre strong table tbody td th thead
 *               tr ul
 *   attributes  a: href title; img: src title alt
 *   URLs        http, https, mailto, and those without a scheme
 * A tag of another name is shown as the text that it is; comments and declarations are dropped;
 * what was left open is closed, what is missing in a table is added.
 *
 * Threads: any. Cost: one pass to read, one to write; a look through the open elements a tag. */
#ifndef SB_MARKUP_HTML_ALLOW_H
#define SB_MARKUP_HTML_ALLOW_H

#include "base/buf.h"

typedef struct sb_html_limits {
    size_t max_memory;  /* bytes for the tree; over it the answer is SB_LIMIT */
    uint32_t max_depth; /* tags inside more open elements than this are left out, not their text */
} sb_html_limits;

extern const sb_html_limits sb_html_limits_default;

/* Appends the safe form of html to out. The text may be at most 2 GiB. Invalid UTF-8 is replaced
 * by U+FFFD. SB_LIMIT or SB_NOMEM leave out as long as it was. limits may be NULL. */
sb_status sb_html_clean(sb_buf *out, sb_slice html, const sb_html_limits *limits, sb_err *err);

#endif
