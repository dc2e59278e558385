/* markdown_translate.c: translates a text from Python-Markdown's dialect into one that md4c reads
 * with the same meaning.
 *
 * In:  one text. Out: x->translated, for md4c, with stand-in bytes (markdown_int.h):
 *   `code`         found here, by the dialect's rule, and given as an atom; a stray ` is hidden
 *   * and _        hidden: emphasis is found afterwards (markdown_emphasis.c)
 *   \              hidden before what the dialect does not escape, and at the end of a line
 *   <tag>          found by markdown_tag.c and given as an atom; a stray < is hidden
 *   [a](b c)       the blanks inside a URL are hidden
 *   start of line  guarded where CommonMark would see a block
 *   blanks         hidden at the start of a line and at the end of the text, so that they stay
 * In front stand definitions of the links that the text refers to, with numbers for their URLs.
 * Threads: as the document. Cost: linear, and a binary search for each label. */
#include <string.h>

#include "base/search.h"
#include "base/slice.h"
#include "markup/markdown_int.h"
#include "base/banned.h"

enum { MAX_LABEL = 999, MAX_URL = 2048 };

bool sb_md_worth_reading(sb_slice text) {
    for (size_t i = 0; i < text.n; i++) {
        uint8_t c = text.p[i];
        if (c == '`' || c == '[' || c == '<' || c == '&' || c == '\\') return true;
        if (c == '\n' && i > 1 && text.p[i - 1] == ' ' && text.p[i - 2] == ' ') return true;
    }
    return false;
}

/* ---- code ------------------------------------------------------------------------------------*/

/* A run of backquotes. */
typedef struct ticks {
    size_t at, n;
    size_t longest; /* the first of the longest runs from this one on */
} ticks;

static ticks *runs_of(const sb_md_inline *x, size_t *count) {
    *count = x->ticks.n / sizeof(ticks);
    return (ticks *)(void *)x->ticks.p;
}

static void find_runs(sb_md_inline *x, sb_slice text) {
    sb_buf_clear(&x->ticks);
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] != '`') continue;
        size_t from = i;
        while (i < text.n && text.p[i] == '`') i++;
        ticks *t = sb_md_push(x->doc, &x->ticks, sizeof *t);
        if (!t) return;
        *t = (ticks){.at = from, .n = i - from};
    }
    size_t count;
    ticks *runs = runs_of(x, &count);
    for (size_t i = count; i-- > 0;) {
        ticks *t = &runs[i];
        t->longest = i + 1 < count && runs[runs[i + 1].longest].n > t->n ? runs[i + 1].longest : i;
    }
    for (size_t n = 0; n < SB_MD_SHORT_RUN; n++) x->no_run[n] = count;
}

/* The first run from number i on that has n backquotes; that there is none is remembered. */
static size_t run_of_length(sb_md_inline *x, size_t i, size_t n) {
    size_t count;
    const ticks *runs = runs_of(x, &count);
    if (n < SB_MD_SHORT_RUN && i >= x->no_run[n]) return count;
    size_t at = i;
    while (at < count && runs[at].n != n) at++;
    if (at == count && n < SB_MD_SHORT_RUN) x->no_run[n] = i;
    return at;
}

/* Where code that opens with n backquotes of a run closes: *close is the place of the closing ones
 * and *size how many they are. False: it is no code. */
static bool find_code_end(sb_md_inline *x, size_t run, size_t n, size_t *close, size_t *size) {
    size_t count, next = run + 1;
    const ticks *runs = runs_of(x, &count);
    if (next >= count) return false;
    size_t same = run_of_length(x, next, n);
    if (same < count) {
        *close = runs[same].at;
        *size = n;
        return true;
    }
    const ticks *longest = &runs[runs[next].longest];
    if (longest->n >= n) return false;
    *close = longest->at;
    *size = longest->n;
    return true;
}

/* ---- links by reference ----------------------------------------------------------------------*/

static const sb_md_reference *find_reference(sb_md_inline *x, sb_slice label) {
    sb_buf_clear(&x->scratch);
    label = sb_md_strip(label);
    for (size_t i = 0; i < label.n; i++) {
        uint8_t c = label.p[i];
        if (c >= 'A' && c <= 'Z') c = (uint8_t)(c + ('a' - 'A'));
        sb_buf_add_byte(&x->scratch, c == '\n' ? ' ' : c);
    }
    sb_md_fail(x->doc, x->scratch.failed);
    sb_slice id = sb_buf_slice(&x->scratch);
    const sb_md_reference *list = (const sb_md_reference *)(const void *)x->doc->references.p;
    size_t n = x->doc->references.n / sizeof *list, i;
    SB_PARTITION_POINT(i, 0, n, sb_slice_cmp(list[i].id, id) < 0);
    return i < n && sb_slice_eq(list[i].id, id) ? &list[i] : NULL;
}

/* "[label]: number" for a label that is defined. */
static bool translate_definition(sb_md_inline *x, sb_slice label) {
    if (label.n > MAX_LABEL || !sb_md_strip(label).n) return false;
    const sb_md_reference *r = find_reference(x, label);
    if (!r) return false;
    const sb_md_reference *list = (const sb_md_reference *)(const void *)x->doc->references.p;
    sb_buf_add_byte(&x->translated, '[');
    for (size_t i = 0; i < label.n; i++) {
        uint8_t c = label.p[i];
        sb_buf_add_byte(&x->translated, c == '*'    ? SB_MD_STAR
                                        : c == '_'  ? SB_MD_LINE
                                        : c == '\n' ? ' '
                                                    : c);
    }
    sb_buf_add_str(&x->translated, "]: ");
    sb_buf_add_byte(&x->translated, SB_MD_REFERENCE);
    sb_buf_printf(&x->translated, "%zu\n", (size_t)(r - list));
    return true;
}

static void translate_definitions(sb_md_inline *x, sb_slice text) {
    if (!x->doc->references.n) return;
    const uint8_t *end = text.p + text.n, *open = NULL;
    bool any = false;
    for (const uint8_t *p = text.p; p < end; p++) {
        if (*p == '[') open = p + 1;
        if (*p != ']' || !open) continue;
        any |= translate_definition(x, sb_slice_of(open, (size_t)(p - open)));
        open = NULL;
    }
    if (any) sb_buf_add_byte(&x->translated, '\n');
}

/* ---- the text, byte for byte -----------------------------------------------------------------*/

typedef struct translator {
    sb_md_inline *x;
    const uint8_t *begin, *end;
    size_t run;                   /* the run of backquotes that comes next */
    const uint8_t *no_code;       /* backquotes before this are text */
    const uint8_t *url, *url_end; /* blanks between are hidden */
    const uint8_t *used;          /* the ']' of an id that was read with its text */
    bool used_defined;
    const uint8_t *last; /* behind this are only blanks */
    size_t open;         /* how many '[' wait */
} translator;

static void put_byte(translator *g, uint8_t c) {
    sb_buf_add_byte(&g->x->translated, c);
}

/* A line that begins with one of these may be a block to CommonMark. */
static bool needs_guard(const uint8_t *p, const uint8_t *end) {
    return p >= end || *p == '\n' || memchr("#>+-=~[0123456789", *p, 17) != NULL;
}

/* Blanks at the start of a line are hidden, so that they stay; on a line without anything else they
 * may be a line break. */
static const uint8_t *begin_line(translator *g, const uint8_t *p) {
    const uint8_t *text = p + sb_md_spaces(p, g->end);
    bool empty = text < g->end && *text == '\n';
    if (empty) put_byte(g, SB_MD_GUARD);
    for (; p < text; p++) put_byte(g, empty ? ' ' : SB_MD_BLANK);
    if (!empty && needs_guard(p, g->end)) put_byte(g, SB_MD_GUARD);
    return p;
}

static const uint8_t *translate_ticks(translator *g, const uint8_t *p) {
    if (p < g->no_code) {
        put_byte(g, SB_MD_TICK);
        return p + 1;
    }
    size_t count, at = (size_t)(p - g->begin), n = 0, close, size;
    const ticks *runs = runs_of(g->x, &count);
    while (g->run < count && runs[g->run].at + runs[g->run].n <= at) g->run++;
    while (p + n < g->end && p[n] == '`') n++;
    if (g->run >= count || !find_code_end(g->x, g->run, n, &close, &size)) {
        for (size_t i = 0; i < n; i++) put_byte(g, SB_MD_TICK);
        g->no_code = p + 2 * n;
        return p + n;
    }
    const uint8_t *from = p + size, *to = g->begin + close;
    sb_md_add_code_atom(g->x, sb_md_strip(sb_slice_of(from, (size_t)(to - from))));
    return to + size;
}

/* A '<' directly behind "](" brackets a URL and is left to md4c. */
static bool begins_url(const translator *g, const uint8_t *p) {
    while (p > g->begin && p[-1] == ' ') p--;
    return p - g->begin >= 2 && p[-1] == '(' && p[-2] == ']';
}

static const uint8_t *translate_less(translator *g, const uint8_t *p) {
    bool url = begins_url(g, p);
    const uint8_t *behind = url ? NULL : sb_md_translate_tag(g->x, p, g->end);
    if (behind) return behind;
    put_byte(g, url ? '<' : SB_MD_LESS);
    return p + 1;
}

static const uint8_t *translate_backslash(translator *g, const uint8_t *p) {
    bool escapes = g->end - p > 1 && memchr("\\`*_{}[]()>#+-.!|", p[1], 17);
    put_byte(g, escapes ? '\\' : SB_MD_BACKSLASH);
    if (escapes) put_byte(g, p[1]);
    return p + 1 + escapes;
}

/* At the "](" of a link: finds where its URL begins and ends, if there are blanks in it. */
static void find_url(translator *g, const uint8_t *p) {
    const uint8_t *from = p + 2, *q = from, *title = NULL;
    for (size_t depth = 1; q < g->end && *q != '\n' && *q != '<' && q - from < MAX_URL; q++) {
        if (*q == '(') depth++;
        if (*q == ')' && --depth == 0) break;
        if ((*q == '"' || *q == '\'') && q > from && q[-1] == ' ' && !title) title = q;
    }
    if (q >= g->end || *q != ')') return;
    const uint8_t *to = title ? title : q;
    while (from < to && *from == ' ') from++;
    while (to > from && to[-1] == ' ') to--;
    g->url = from;
    g->url_end = to;
}

/* Behind the ']' at p: is there an [id], a blank in between or not? Answers its closing ']'. */
static const uint8_t *id_behind(const translator *g, const uint8_t *p, sb_slice *id) {
    if (g->end - p > 1 && (p[1] == ' ' || p[1] == '\n')) p++;
    if (g->end - p < 3 || p[1] != '[') return NULL;
    const uint8_t *from = p + 2, *q = from;
    while (q < g->end && *q != ']' && *q != '[' && q - from <= MAX_LABEL) q++;
    *id = sb_slice_of(from, (size_t)(q - from));
    return q < g->end && *q == ']' ? q : NULL;
}

/* Links by reference are read from left to right: "[text] [id]" is one too, when the id is defined;
 * when it is not, that [id] cannot be the text of the next. */
static const uint8_t *translate_reference(translator *g, const uint8_t *p) {
    sb_slice id;
    if (p == g->used) {
        if (!g->used_defined) put_byte(g, SB_MD_GUARD);
        return p + 1;
    }
    const uint8_t *close = g->x->doc->references.n ? id_behind(g, p, &id) : NULL;
    if (!close) return p + 1;
    g->used = close;
    g->used_defined = id.n == 0 || find_reference(g->x, id);
    if (!g->used_defined) put_byte(g, SB_MD_GUARD);
    return g->used_defined && p[1] != '[' ? p + 2 : p + 1;
}

static const uint8_t *translate_bracket(translator *g, const uint8_t *p) {
    put_byte(g, *p);
    if (*p == '[') {
        g->open++;
        return p + 1;
    }
    if (!g->open) return p + 1;
    g->open--;
    bool url = g->end - p > 1 && p[1] == '(';
    if (url && p >= g->url_end) find_url(g, p);
    return url ? p + 1 : translate_reference(g, p);
}

static const uint8_t *translate_byte(translator *g, const uint8_t *p) {
    switch (*p) {
    case '*':
        put_byte(g, SB_MD_STAR);
        return p + 1;
    case '_':
        put_byte(g, SB_MD_LINE);
        return p + 1;
    case '\\':
        return translate_backslash(g, p);
    case '`':
        return translate_ticks(g, p);
    case '<':
        return translate_less(g, p);
    case '[':
    case ']':
        return translate_bracket(g, p);
    case '!': /* md4c would read "][" into "]![" */
        if (p > g->begin && p[-1] == ']') put_byte(g, SB_MD_GUARD);
        put_byte(g, '!');
        return p + 1;
    case '\n':
        put_byte(g, '\n');
        return begin_line(g, p + 1);
    case ' ':
        put_byte(g, (p >= g->url && p < g->url_end) || p >= g->last ? SB_MD_BLANK : ' ');
        return p + 1;
    default:
        put_byte(g, *p);
        return p + 1;
    }
}

void sb_md_translate(sb_md_inline *x, sb_slice text) {
    sb_buf_clear(&x->translated);
    memset(x->no_end, 0, sizeof x->no_end);
    find_runs(x, text);
    translate_definitions(x, text);
    translator g = {.x = x, .begin = text.p, .end = text.p + text.n};
    g.no_code = g.url = g.url_end = text.p;
    g.last = g.end;
    while (g.last > g.begin && g.last[-1] == ' ') g.last--;
    const uint8_t *p = begin_line(&g, text.p);
    while (p < g.end && x->doc->failed == SB_OK) p = translate_byte(&g, p);
    /* md4c 0.4.8 looks one byte too far behind "[a](b" at the end, and lets strcspn find the end of
     * a line: both meet a line feed, with a NUL behind it */
    put_byte(&g, '\n');
    put_byte(&g, 0);
    if (x->translated.failed == SB_OK) x->translated.n--;
    sb_md_fail(x->doc, x->translated.failed);
}
