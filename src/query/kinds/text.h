/* text.h: text summaries: the strings of a point with their shape, and as HTML.
 *
 * In:  items (refs.h).  Out: strings in the request's arena; rendering through markdown.h, whose
 * gate every byte passes. Threads: any.  Cost: one reading of each record, many in one go. */
#ifndef SB_QUERY_KINDS_TEXT_H
#define SB_QUERY_KINDS_TEXT_H

#include "codec/tensor.h"
#include "markup/markdown.h"
#include "query/records/blob.h"

typedef struct sb_text_point {
    int64_t step;
    double wall;
    bool superseded;
    sb_status status; /* SB_OK, or why there are no strings */
    size_t n;
    const sb_slice *strings; /* row-major */
    size_t rank;
    const uint64_t *dims;
} sb_text_point;

/* The strings of many points; out has room for n. A point that cannot be read says so itself;
 * SB_TIMEOUT and SB_NOMEM end the call. */
sb_status sb_texts_read(sb_blob_cache *blobs, sb_run *run, const sb_ref_item *items, size_t n,
                        size_t max_bytes, const sb_budget *budget, sb_arena *arena,
                        sb_text_point *out, sb_err *err);

/* Appends the point as HTML: its strings as Markdown, or as HTML that only passes the gate. limits
 * may be NULL. */
sb_status sb_text_point_render(sb_buf *html, const sb_text_point *point, bool markdown,
                               const sb_markdown_limits *limits, sb_err *err);

#endif
