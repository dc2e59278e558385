/* tag_regex.c: patterns compiled and matched by PCRE2. */
#include "query/tag_regex.h"

#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/slice.h"
#include "base/banned.h"

const sb_regex_limits sb_regex_limits_default = {
    .pattern = 64 << 10, .match = 1000000, .total = 5000000, .heap_kib = 4096};

#define FIRST_STEPS 1000u

struct sb_tag_regex {
    const sb_alloc *alloc;
    pcre2_general_context *memory;
    pcre2_compile_context *compiling;
    pcre2_match_context *matching;
    pcre2_match_data *data;
    pcre2_code *code;
    uint32_t most_steps; /* of one match */
    uint64_t steps_left; /* of all matches */
};

/* ---- memory: PCRE2 gives blocks back without their size, so it stands in front --------------- */

typedef union block {
    size_t size;
    max_align_t align;
} block;

static void *get_block(PCRE2_SIZE n, void *ud) {
    const sb_alloc *alloc = ud;
    if (n > SIZE_MAX - sizeof(block)) return NULL;
    block *b = sb_alloc_get(alloc, n + sizeof *b);
    if (!b) return NULL;
    b->size = n + sizeof *b;
    return b + 1;
}

static void put_block(void *p, void *ud) {
    if (!p) return;
    block *b = (block *)p - 1;
    sb_alloc_put(ud, b, b->size);
}

/* ---- compiling ------------------------------------------------------------------------------- */

void sb_tag_regex_free(sb_tag_regex *r) {
    if (!r) return;
    pcre2_match_data_free(r->data);
    pcre2_code_free(r->code);
    pcre2_match_context_free(r->matching);
    pcre2_compile_context_free(r->compiling);
    pcre2_general_context_free(r->memory);
    sb_alloc_put(r->alloc, r, sizeof *r);
}

static sb_status compile(sb_tag_regex *r, sb_slice pattern, uint32_t options, sb_err *err) {
    options |= PCRE2_UTF | PCRE2_MATCH_INVALID_UTF;
    int code = 0;
    PCRE2_SIZE offset = 0;
    /* A pattern of comments alone is empty by now. */
    const uint8_t *p = pattern.n ? pattern.p : (const uint8_t *)"";
    r->code = pcre2_compile(p, pattern.n, options, &code, &offset, r->compiling);
    if (r->code) return SB_OK;
    if (code == PCRE2_ERROR_HEAP_FAILED) return sb_fail_nomem(err, "for a pattern");
    PCRE2_UCHAR text[160];
    pcre2_get_error_message(code, text, sizeof text);
    return sb_fail(err, SB_INVALID, offset, "%s", (const char *)text);
}

static sb_status prepare(sb_tag_regex *r, const sb_regex_limits *limits, sb_err *err) {
    const sb_alloc *alloc = r->alloc;
    void *ud = NULL; /* PCRE2 hands it back as it got it; nothing changes an allocator */
    memcpy(&ud, &alloc, sizeof ud);
    r->memory = pcre2_general_context_create(get_block, put_block, ud);
    if (!r->memory) return sb_fail_nomem(err, "for a pattern");
    r->compiling = pcre2_compile_context_create(r->memory);
    r->matching = pcre2_match_context_create(r->memory);
    if (!r->compiling || !r->matching) return sb_fail_nomem(err, "for a pattern");
    pcre2_set_newline(r->compiling, PCRE2_NEWLINE_LF);
    pcre2_set_heap_limit(r->matching, limits->heap_kib);
    r->most_steps = limits->match;
    r->steps_left = limits->total;
    return SB_OK;
}

/* How the pattern is given to PCRE2. */
static sb_status translate(sb_buf *to, sb_slice pattern, bool is_literal, uint32_t *options,
                           sb_err *err) {
    bool ascii;
    if (is_literal) {
        sb_buf_add_slice(to, pattern);
        *options |= PCRE2_LITERAL;
        if (pattern.n == 0) return sb_fail(err, SB_INVALID, 0, "there is nothing to look for");
        return sb_buf_check(to, "a pattern", err);
    }
    sb_status status = sb_tag_regex_translate(to, pattern, &ascii, err);
    *options |= PCRE2_NEVER_BACKSLASH_C | (ascii ? 0 : PCRE2_UCP);
    return status;
}

sb_status sb_tag_regex_new_find(sb_tag_regex **out, const sb_alloc *alloc, sb_slice pattern,
                                bool is_literal, bool any_case, const sb_regex_limits *limits,
                                sb_err *err) {
    if (!limits) limits = &sb_regex_limits_default;
    if (pattern.n > limits->pattern)
        return sb_fail(err, SB_INVALID, 0, "a pattern of %zu bytes; %zu are allowed", pattern.n,
                       limits->pattern);
    sb_tag_regex *r = sb_alloc_zeroed(alloc, 1, sizeof *r);
    if (!r) return sb_fail_nomem(err, "for a pattern");
    r->alloc = alloc;
    sb_buf translated;
    uint32_t options = PCRE2_USE_OFFSET_LIMIT | (any_case ? PCRE2_CASELESS : 0);
    sb_buf_init(&translated, alloc, SIZE_MAX / 2);
    sb_status status = translate(&translated, pattern, is_literal, &options, err);
    if (status == SB_OK) status = prepare(r, limits, err);
    if (status == SB_OK) status = compile(r, sb_buf_slice(&translated), options, err);
    if (status == SB_OK) {
        r->data = pcre2_match_data_create(1, r->memory);
        if (!r->data) status = sb_fail_nomem(err, "for a pattern");
    }
    sb_buf_fini(&translated);
    if (status != SB_OK) {
        sb_tag_regex_free(r);
        return status;
    }
    *out = r;
    return SB_OK;
}

sb_status sb_tag_regex_new(sb_tag_regex **out, const sb_alloc *alloc, sb_slice pattern,
                           const sb_regex_limits *limits, sb_err *err) {
    return sb_tag_regex_new_find(out, alloc, pattern, false, false, limits, err);
}

static int try_match(sb_tag_regex *r, sb_slice text, size_t from, uint32_t options,
                     uint32_t steps) {
    static const uint8_t nothing[1] = {0};
    pcre2_set_match_limit(r->matching, steps);
    pcre2_set_depth_limit(r->matching, steps);
    return pcre2_match(r->code, text.n ? text.p : nothing, text.n, from, options, r->data,
                       r->matching);
}

/* PCRE2 does not say how many steps a match took, so it gets ten times as many with each try, and
 * what a try was allowed is taken from what is left for all texts. The first try is free: ordinary
 * patterns never need a second one. */
static sb_status match(sb_tag_regex *r, sb_slice text, uint32_t options, bool *matches,
                       sb_err *err) {
    uint32_t steps = r->most_steps < FIRST_STEPS ? r->most_steps : FIRST_STEPS;
    int code = try_match(r, text, 0, options, steps);
    while (code == PCRE2_ERROR_MATCHLIMIT || code == PCRE2_ERROR_DEPTHLIMIT) {
        if (steps >= r->most_steps) break;
        steps = steps > r->most_steps / 10 ? r->most_steps : steps * 10;
        if (steps > r->steps_left) break;
        r->steps_left -= steps;
        code = try_match(r, text, 0, options, steps);
    }
    *matches = code >= 0;
    if (code >= 0 || code == PCRE2_ERROR_NOMATCH) return SB_OK;
    if (code == PCRE2_ERROR_NOMEMORY) return sb_fail_nomem(err, "for matching");
    return sb_fail(err, SB_LIMIT, 0,
                   "the pattern takes too long; a simpler one, without nested repeats, may do");
}

sb_status sb_tag_regex_match(sb_tag_regex *r, sb_slice text, bool *matches, sb_err *err) {
    return match(r, text, PCRE2_ANCHORED, matches, err);
}

sb_status sb_tag_regex_search(sb_tag_regex *r, sb_slice text, bool *matches, sb_err *err) {
    return match(r, text, 0, matches, err);
}

/* ---- searching texts ------------------------------------------------------------------------- */

/* PCRE2 limits the steps of each place where a match may begin, not of all of them together. So a
 * text is looked through in chunks, and where a chunk takes too many steps, in ever smaller windows
 * with more steps for each place; between two windows there is time to look at the clock. A match
 * is at most as long as a chunk's overlap. */
enum { chunk_bytes = 1 << 16, chunk_overlap = 1 << 12, levels = 3 };
static const struct {
    size_t places;
    uint32_t steps;
} level_of[levels] = {{chunk_bytes, FIRST_STEPS}, {256, 10000}, {16, 200000}};

typedef struct chunk_search {
    sb_tag_regex *r;
    sb_slice chunk;
    uint32_t options;
    const sb_budget *budget;
    sb_err *err;
} chunk_search;

/* A match that begins in from..to, to excluded. */
static sb_status find_from(const chunk_search *s, size_t from, size_t to, int level) {
    pcre2_set_offset_limit(s->r->matching, to - 1);
    int code = try_match(s->r, s->chunk, from, s->options, level_of[level].steps);
    if (code >= 0) return SB_OK;
    if (code == PCRE2_ERROR_NOMATCH) return SB_NOT_FOUND;
    if (code == PCRE2_ERROR_NOMEMORY) return sb_fail_nomem(s->err, "for matching");
    if (level + 1 == levels || (code != PCRE2_ERROR_MATCHLIMIT && code != PCRE2_ERROR_DEPTHLIMIT))
        return sb_fail(s->err, SB_LIMIT, 0,
                       "the pattern takes too long; a simpler one, without nested repeats, may do");
    sb_status status = SB_NOT_FOUND;
    for (size_t at = from; at < to && status == SB_NOT_FOUND;) {
        size_t places = level_of[level + 1].places, end = to - at > places ? at + places : to;
        if (sb_budget_over(s->budget)) return sb_fail_timeout(s->err);
        status = find_from(s, at, end, level + 1);
        /* a place in the middle of a character is none */
        for (at = end; at < to && (s->chunk.p[at] & 0xc0) == 0x80;) at++;
    }
    return status;
}

sb_status sb_tag_regex_find(sb_tag_regex *r, sb_slice text, size_t from, const sb_budget *budget,
                            size_t *begin, size_t *end, sb_err *err) {
    while (from < text.n) {
        size_t left = text.n - from, n = left < chunk_bytes ? left : chunk_bytes;
        size_t places = n == left ? n : n - chunk_overlap;
        while (places < n && (text.p[from + places] & 0xc0) == 0x80) places++;
        chunk_search s = {.r = r,
                          .chunk = sb_slice_of(text.p + from, n),
                          .options = PCRE2_NOTEMPTY | (from ? PCRE2_NOTBOL : 0) |
                                     (n < left ? PCRE2_NOTEOL : 0),
                          .budget = budget,
                          .err = err};
        if (sb_budget_over(budget)) return sb_fail_timeout(err);
        sb_status status = find_from(&s, 0, places, 0);
        if (status == SB_OK) {
            const PCRE2_SIZE *found = pcre2_get_ovector_pointer(r->data);
            if (found[0] >= found[1]) return SB_NOT_FOUND; /* by \K */
            *begin = from + found[0];
            *end = from + found[1];
            return SB_OK;
        }
        if (status != SB_NOT_FOUND) return status;
        from += places;
    }
    return SB_NOT_FOUND;
}
