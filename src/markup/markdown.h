/* markdown.h: text summaries and descriptions as HTML, as TensorBoard shows them.
 *
 * In:  bytes from a log: Markdown in the dialect of Python-Markdown with tables and fenced code,
 *      which is what TensorBoard reads, or plain HTML.
 * Out: HTML that has passed the gate of html_allow.h; nothing else is ever appended.
 *
 * The same text gives the same elements, attributes and words as in TensorBoard; the known
 * differences are listed, with reasons, in tests/conformance/test_markdown.py.
 *
 * Bytes that are no UTF-8 become U+FFFD (TensorBoard answers 500 for the whole tag). NUL characters
 * are taken out of Markdown, with a comment in front that says how many, as there.
 *
 * Threads: any; nothing is shared. Cost: a few passes over the text, each linear for ordinary text;
 * deep nesting costs a pass a level, up to max_depth. */
#ifndef SB_MARKUP_MARKDOWN_H
#define SB_MARKUP_MARKDOWN_H

#include <stdbool.h>

#include "base/buf.h"

typedef struct sb_markdown_limits {
    size_t max_input;   /* bytes of all texts together */
    size_t max_output;  /* bytes of HTML appended */
    size_t max_memory;  /* bytes for the tree of each stage, and for each buffer between them */
    uint32_t max_depth; /* quotes inside each other, twice the lists; what is deeper stays text */
} sb_markdown_limits;

/* 32 MiB in, 128 MiB out, 512 MiB of memory, 100 levels. */
extern const sb_markdown_limits sb_markdown_limits_default;

/* Appends one Markdown text as HTML. On failure html is as long as it was: SB_LIMIT over a limit,
 * SB_NOMEM. limits may be NULL for the defaults. */
sb_status sb_markdown_render(sb_buf *html, sb_slice text, const sb_markdown_limits *limits,
                             sb_err *err);

/* Appends a tensor of n strings, in row-major order: rank 0 as it is, rank 1 as a table of one
 * column, rank 2 as a table, higher ranks as a warning and the first two-dimensional slice. Without
 * markdown the strings are HTML already and only pass the gate. SB_INVALID when there are fewer
 * strings than dims asks for. */
sb_status sb_text_render(sb_buf *html, const sb_slice *strings, size_t n, const uint64_t *dims,
                         size_t rank, bool markdown, const sb_markdown_limits *limits, sb_err *err);

#endif
