/* tag_regex.c: patterns compiled and matched by PCRE2. */
#include "query/tag_regex.h"

#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

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

static sb_status compile(sb_tag_regex *r, sb_slice pattern, bool ascii, sb_err *err) {
    uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C;
    if (!ascii) options |= PCRE2_UCP;
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

sb_status sb_tag_regex_new(sb_tag_regex **out, const sb_alloc *alloc, sb_slice pattern,
                           const sb_regex_limits *limits, sb_err *err) {
    if (!limits) limits = &sb_regex_limits_default;
    if (pattern.n > limits->pattern)
        return sb_fail(err, SB_INVALID, 0, "a pattern of %zu bytes; %zu are allowed", pattern.n,
                       limits->pattern);
    sb_tag_regex *r = sb_alloc_zeroed(alloc, 1, sizeof *r);
    if (!r) return sb_fail_nomem(err, "for a pattern");
    r->alloc = alloc;
    sb_buf translated;
    bool ascii;
    sb_buf_init(&translated, alloc, SIZE_MAX / 2);
    sb_status status = sb_tag_regex_translate(&translated, pattern, &ascii, err);
    if (status == SB_OK) status = prepare(r, limits, err);
    if (status == SB_OK) status = compile(r, sb_buf_slice(&translated), ascii, err);
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

static int try_match(sb_tag_regex *r, sb_slice text, uint32_t options, uint32_t steps) {
    static const uint8_t nothing[1] = {0};
    pcre2_set_match_limit(r->matching, steps);
    pcre2_set_depth_limit(r->matching, steps);
    return pcre2_match(r->code, text.n ? text.p : nothing, text.n, 0, options, r->data,
                       r->matching);
}

/* PCRE2 does not say how many steps a match took, so it gets ten times as many with each try, and
 * what a try was allowed is taken from what is left for all texts. The first try is free: ordinary
 * patterns never need a second one. */
static sb_status match(sb_tag_regex *r, sb_slice text, uint32_t options, bool *matches,
                       sb_err *err) {
    uint32_t steps = r->most_steps < FIRST_STEPS ? r->most_steps : FIRST_STEPS;
    int code = try_match(r, text, options, steps);
    while (code == PCRE2_ERROR_MATCHLIMIT || code == PCRE2_ERROR_DEPTHLIMIT) {
        if (steps >= r->most_steps) break;
        steps = steps > r->most_steps / 10 ? r->most_steps : steps * 10;
        if (steps > r->steps_left) break;
        r->steps_left -= steps;
        code = try_match(r, text, options, steps);
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
