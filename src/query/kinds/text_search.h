/* text_search.h: full-text search: which of many texts contain the words of a query, and a few
 * words around them.
 *
 * In:  items (refs.h) and a pattern.  Out: for each item how often it occurs and the first place,
 * in the arena. Threads: any, each with a pattern of its own.  Cost: one reading of each record,
 * many in one go, and one pass of the pattern over each text. */
#ifndef SB_QUERY_KINDS_TEXT_SEARCH_H
#define SB_QUERY_KINDS_TEXT_SEARCH_H

#include "query/records/blob.h"
#include "query/tag_regex.h"

#define SB_TEXT_HITS_MOST 10000u /* that are counted in one text */

typedef struct sb_text_hit {
    uint32_t count;                /* 0: none */
    sb_slice before, match, after; /* UTF-8, blanks and ends of lines as they are */
} sb_text_hit;

/* out has room for n. A text that cannot be read holds nothing. SB_LIMIT when the pattern takes too
 * long, SB_TIMEOUT, SB_NOMEM. *bytes (may be NULL): what was looked through is added. */
sb_status sb_texts_search(sb_blob_cache *blobs, sb_run *run, const sb_ref_item *items, size_t n,
                          size_t max_bytes, sb_tag_regex *pattern, const sb_budget *budget,
                          sb_arena *arena, sb_text_hit *out, uint64_t *bytes, sb_err *err);

#endif
