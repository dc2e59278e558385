/* regex.c: PCRE2 behind regex.h. */
#include "query/regex.h"

#include <stdlib.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/slice.h"
#include "base/banned.h"

#define MOST_PATTERN ((size_t)16 << 10)
#define MOST_STEPS 10000000u
#define MOST_KIBIBYTES (64u << 10)
#define MOST_NESTING 200u

struct sb_regex {
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *limits;
};

sb_status sb_regex_new(sb_regex **out, sb_slice pattern, sb_err *err) {
    if (pattern.n > MOST_PATTERN)
        return sb_fail(err, SB_INVALID, 0, "the regular expression is longer than %zu bytes",
                       MOST_PATTERN);
    sb_regex *r = calloc(1, sizeof *r);
    pcre2_compile_context *how = pcre2_compile_context_create(NULL);
    sb_status status = SB_OK;
    if (r && how) {
        int error;
        PCRE2_SIZE at;
        pcre2_set_parens_nest_limit(how, MOST_NESTING);
        r->code =
            pcre2_compile(pattern.n ? pattern.p : (PCRE2_SPTR) "", pattern.n,
                          PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C,
                          &error, &at, how);
        if (!r->code) {
            char why[160];
            pcre2_get_error_message(error, (PCRE2_UCHAR *)why, sizeof why);
            status =
                sb_fail(err, SB_INVALID, at, "no regular expression: %s (at %zu)", why, (size_t)at);
        }
    }
    pcre2_compile_context_free(how);
    if (r && r->code) {
        r->match = pcre2_match_data_create(1, NULL);
        r->limits = pcre2_match_context_create(NULL);
    }
    if (status == SB_OK && (!r || !r->match || !r->limits))
        status = sb_fail_nomem(err, "for a regular expression");
    if (status != SB_OK) {
        sb_regex_free(r);
        return status;
    }
    pcre2_set_match_limit(r->limits, MOST_STEPS);
    pcre2_set_heap_limit(r->limits, MOST_KIBIBYTES);
    *out = r;
    return SB_OK;
}

void sb_regex_free(sb_regex *r) {
    if (!r) return;
    pcre2_match_context_free(r->limits);
    pcre2_match_data_free(r->match);
    pcre2_code_free(r->code);
    free(r);
}

sb_status sb_regex_match(sb_regex *r, sb_slice text, bool at_start, sb_err *err) {
    int found = pcre2_match(r->code, text.n ? text.p : (PCRE2_SPTR) "", text.n, 0,
                            at_start ? PCRE2_ANCHORED : 0, r->match, r->limits);
    if (found >= 0) return SB_OK;
    if (found == PCRE2_ERROR_NOMATCH) return SB_NOT_FOUND;
    if (found == PCRE2_ERROR_NOMEMORY) return sb_fail_nomem(err, "for a regular expression");
    return sb_fail(err, SB_LIMIT, 0, "the regular expression takes too long");
}
