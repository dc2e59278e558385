/* tag_regex.h: regular expressions over tags, as Python's re.match has them: anchored at the start
 * only.
 *
 * The pattern is checked and written anew for PCRE2 where the two differ: escapes that Python does
 * not know are errors, \Z is the very end, \v is one character, brackets inside a set are
 * themselves, {,n} counts from 0, verbs and recursion do not exist. Letters, digits and blanks are
 * Unicode's. Not known: \N{...}; (?a:...) counts as (?:...); repeats above 65535 are refused.
 *
 * A pattern that takes too many steps ends with SB_LIMIT instead of occupying the server: there is
 * a limit for one text and one for all texts that a compiled pattern is matched with, since a
 * question may ask about a million tags.
 * Threads: a compiled pattern may be used by one thread at a time. */
#ifndef SB_QUERY_TAG_REGEX_H
#define SB_QUERY_TAG_REGEX_H

#include "base/buf.h"
#include "query/budget.h"

typedef struct sb_tag_regex sb_tag_regex;

typedef struct sb_regex_limits {
    size_t pattern;    /* bytes */
    uint32_t match;    /* steps of one match */
    uint64_t total;    /* steps of all matches beyond a thousand for each */
    uint32_t heap_kib; /* memory of one match */
} sb_regex_limits;

/* 64 KiB, a million steps, 5 million in all, 4 MiB. */
extern const sb_regex_limits sb_regex_limits_default;

/* SB_INVALID with a reason when it is no pattern; the empty one is none either, as TensorBoard has
 * it. limits may be NULL. alloc must outlive it. */
sb_status sb_tag_regex_new(sb_tag_regex **out, const sb_alloc *alloc, sb_slice pattern,
                           const sb_regex_limits *limits, sb_err *err);
void sb_tag_regex_free(sb_tag_regex *r);

/* SB_OK with an answer, SB_LIMIT, SB_NOMEM. */
sb_status sb_tag_regex_match(sb_tag_regex *r, sb_slice text, bool *matches, sb_err *err);
/* The same anywhere in the text, as Python's re.search. */
sb_status sb_tag_regex_search(sb_tag_regex *r, sb_slice text, bool *matches, sb_err *err);

/* ---- searching texts ------------------------------------------------------------------------- */

/* For sb_tag_regex_find: the pattern, or with is_literal these very characters; any_case: capital
 * and small letters are the same, Unicode's too. */
sb_status sb_tag_regex_new_find(sb_tag_regex **out, const sb_alloc *alloc, sb_slice pattern,
                                bool is_literal, bool any_case, const sb_regex_limits *limits,
                                sb_err *err);
/* The first match that begins at `from` or later, 1 to 4096 bytes long: *begin and *end.
 * SB_NOT_FOUND, SB_LIMIT, SB_TIMEOUT, SB_NOMEM. Bytes that are no UTF-8 match nothing. Cost: linear
 * in the length of the text. */
sb_status sb_tag_regex_find(sb_tag_regex *r, sb_slice text, size_t from, const sb_budget *budget,
                            size_t *begin, size_t *end, sb_err *err);

/* The pattern as PCRE2 is given it, for tests. *ascii: the pattern asks for ASCII classes. */
sb_status sb_tag_regex_translate(sb_buf *out, sb_slice pattern, bool *ascii, sb_err *err);

#endif
