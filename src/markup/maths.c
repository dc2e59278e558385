/* maths.c: one pass over the text, line by line for code, character by character for formulas. */
#include "markup/maths.h"

#include "base/slice.h"
#include "base/vec.h"
#include "base/banned.h"

typedef struct scan {
    const uint8_t *p, *end;
    sb_buf *out;
    sb_formulas *found;
    const sb_alloc *alloc;
    sb_status status;
} scan;

static bool is_blank(uint8_t c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool has(const scan *s, const uint8_t *at, const char *text, size_t n) {
    return (size_t)(s->end - at) >= n && memcmp(at, text, n) == 0;
}

/* Where the text that ends a formula begins; NULL: nowhere near, or a blank line comes before. */
static const uint8_t *find_end(const scan *s, const uint8_t *from, const char *close, size_t n) {
    const uint8_t *most =
        (size_t)(s->end - from) > SB_MATHS_LONGEST ? from + SB_MATHS_LONGEST : s->end;
    for (const uint8_t *p = from; p < most; p++) {
        if (has(s, p, close, n)) return p;
        if (*p == '\\' && p + 1 < most && close[0] == '$') p++; /* \$ is no end */
        if (*p == '\n') {
            const uint8_t *next = p + 1;
            while (next < most && (*next == ' ' || *next == '\t' || *next == '\r')) next++;
            if (next < most && *next == '\n') return NULL;
        }
    }
    return NULL;
}

/* Puts a mark in place of the formula and goes on behind it; false: it stays text. */
static bool take(scan *s, const uint8_t *from, const uint8_t *to, size_t close, bool display) {
    bool is_empty = true;
    for (const uint8_t *p = from; p < to; p++) is_empty = is_empty && is_blank(*p);
    if (is_empty || s->found->n >= SB_MATHS_MOST) return false;
    sb_formula *slot = SB_VEC_PUSH(s->found, s->alloc, SB_MATHS_MOST);
    if (!slot) {
        s->status = SB_NOMEM;
        return false;
    }
    *slot = (sb_formula){sb_slice_of(from, (size_t)(to - from)), display};
    sb_buf_printf(s->out, "\xee\x80\x80%zu\xee\x80\x81", s->found->n - 1);
    s->p = to + close;
    return true;
}

static bool take_between(scan *s, const char *open, const char *close, bool display) {
    if (!has(s, s->p, open, 2)) return false;
    const uint8_t *end = find_end(s, s->p + 2, close, 2);
    return end && take(s, s->p + 2, end, 2, display);
}

static bool take_dollars(scan *s) {
    if (has(s, s->p, "$$", 2)) return take_between(s, "$$", "$$", true);
    const uint8_t *from = s->p + 1;
    if (from == s->end || is_blank(*from)) return false;
    const uint8_t *end = find_end(s, from, "$", 1);
    if (!end || is_blank(end[-1])) return false;
    if (end + 1 < s->end && end[1] >= '0' && end[1] <= '9') return false;
    return take(s, from, end, 1, false);
}

static void copy_to(scan *s, const uint8_t *to) {
    sb_buf_add(s->out, s->p, (size_t)(to - s->p));
    s->p = to;
}

/* Code between runs of as many backticks; a run without a partner is text. */
static void copy_code(scan *s) {
    const uint8_t *p = s->p;
    while (p < s->end && *p == '`') p++;
    size_t ticks = (size_t)(p - s->p);
    const uint8_t *behind = p;
    while (p < s->end) {
        const uint8_t *run = memchr(p, '`', (size_t)(s->end - p));
        if (!run) break;
        p = run;
        while (p < s->end && *p == '`') p++;
        if ((size_t)(p - run) == ticks) {
            copy_to(s, p);
            return;
        }
    }
    copy_to(s, behind);
}

static const uint8_t *line_end(const scan *s, const uint8_t *from) {
    const uint8_t *p = memchr(from, '\n', (size_t)(s->end - from));
    return p ? p + 1 : s->end;
}

/* How many of `c` a line begins with, behind up to three blanks. */
static size_t fence_of(const scan *s, const uint8_t *from, uint8_t c) {
    const uint8_t *p = from;
    while (p < s->end && p - from < 3 && *p == ' ') p++;
    const uint8_t *begin = p;
    while (p < s->end && *p == c) p++;
    return (size_t)(p - begin);
}

/* At the beginning of a line: copies code that is fenced or indented; true when there was some. */
static bool copy_code_lines(scan *s) {
    if (*s->p == '\t' || has(s, s->p, "    ", 4)) {
        copy_to(s, line_end(s, s->p));
        return true;
    }
    for (int k = 0; k < 2; k++) {
        uint8_t c = k ? '~' : '`';
        size_t ticks = fence_of(s, s->p, c);
        if (ticks < 3) continue;
        const uint8_t *p = line_end(s, s->p);
        while (p < s->end && fence_of(s, p, c) < ticks) p = line_end(s, p);
        if (p == s->end) return false; /* never closed: no fence */
        copy_to(s, line_end(s, p));
        return true;
    }
    return false;
}

sb_status sb_maths_take(sb_buf *out, sb_slice text, sb_formulas *found, const sb_alloc *alloc) {
    scan s = {text.p, text.p + text.n, out, found, alloc, SB_OK};
    bool is_line_begin = true;
    while (s.p < s.end && s.status == SB_OK) {
        if (is_line_begin && copy_code_lines(&s)) continue;
        uint8_t c = *s.p;
        is_line_begin = c == '\n';
        if (c == '`') {
            copy_code(&s);
        } else if (c == '$' && take_dollars(&s)) {
            continue;
        } else if (c == '\\' && (take_between(&s, "\\(", "\\)", false) ||
                                 take_between(&s, "\\[", "\\]", true))) {
            continue;
        } else if (c == '\\' && s.end - s.p > 1) {
            copy_to(&s, s.p + 2); /* \$ */
            is_line_begin = s.p[-1] == '\n';
        } else {
            copy_to(&s, s.p + 1);
        }
    }
    return s.status;
}
