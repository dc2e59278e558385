/* markdown_raw.c: takes blocks of raw HTML out of the text, so that nothing in them is Markdown.
 *
 * In:  the text behind the fences.
 * Out: the same with a held place, in a paragraph of its own, for each block element that begins a
 *      line, up to its end tag or else to the end of the text; also for comments and declarations
 *      that begin a line. Tags inside a line stay where they are.
 * The rules are those of the reference, which lets Python's html.parser walk over the text: a tag
 * is what that parser takes for one, with backquotes allowed in none.
 * Threads: any. Cost: linear. Searches that find nothing are remembered, looks ahead are
 * rationed. */
#include <string.h>

#include "base/slice.h"
#include "markup/markdown_int.h"
#include "base/banned.h"

enum { MAX_OPEN = 512, LOOKS = 1 << 20, LONG_TAG = 1024 };

/* What a declaration ends with; remembered when there is no such end in the rest of the text. */
typedef enum decl_end { END_GREATER, END_QUESTION, END_CDATA, DECL_ENDS } decl_end;

typedef struct extractor {
    sb_md_doc *doc;
    const uint8_t *begin, *end;
    const uint8_t *line;     /* where the current line begins */
    const uint8_t *seen;     /* up to where lines were counted */
    sb_buf out;              /* the text without the blocks */
    sb_buf cache;            /* the block being read */
    sb_slice open[MAX_OPEN]; /* names of elements open inside the block */
    size_t open_count;
    sb_slice loose[MAX_OPEN]; /* elements of the line that are open outside of a block */
    size_t loose_count;
    bool in_raw, in_tail;
    const uint8_t *paragraph; /* the end of the one that was looked at */
    const uint8_t *no_close;  /* no "</" between here and there */
    const uint8_t *no_tag;    /* no start tag that begins before this is complete */
    bool no_comment_end, no_end[DECL_ENDS];
    bool stumbled; /* over a "&#" */
    size_t looks;
} extractor;

/* ---- names -----------------------------------------------------------------------------------*/

static uint8_t lower(uint8_t c) {
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c + ('a' - 'A')) : c;
}

static bool is_letter(uint8_t c) {
    return lower(c) >= 'a' && lower(c) <= 'z';
}

static bool same_name(sb_slice a, sb_slice b) {
    if (a.n != b.n) return false;
    for (size_t i = 0; i < a.n; i++) {
        if (lower(a.p[i]) != lower(b.p[i])) return false;
    }
    return true;
}

static bool listed(sb_slice name, const char *list) {
    while (*list) {
        size_t n = strcspn(list, " ");
        if (same_name(name, sb_slice_of(list, n))) return true;
        list += n + (list[n] == ' ');
    }
    return false;
}

/* Is this an element that must not be in a paragraph, as the reference counts them? */
static bool block_level(const uint8_t *name, size_t n) {
    while (n && name[n - 1] == '/') n--;
    return listed(
        sb_slice_of(name, n),
        "address article aside blockquote details div dl fieldset figcaption figure footer "
        "form h1 h2 h3 h4 h5 h6 header hgroup hr main menu nav ol p pre section table ul "
        "canvas colgroup dd body dt group html iframe li legend math map noscript output "
        "object option progress script style summary tbody td textarea tfoot th thead tr "
        "video center");
}

static bool void_element(sb_slice name) {
    return listed(name, "area base br col embed hr img input link meta param source track wbr");
}

bool sb_md_html_is_block(sb_slice html) {
    if (html.n < 2 || html.p[0] != '<') return false;
    size_t from = html.p[1] == '/' ? 2 : 1, to = from;
    while (to < html.n && html.p[to] != ' ' && html.p[to] != '>') to++;
    if (to == from) return false;
    if (memchr("!?@%", html.p[from], 4)) return true;
    return block_level(html.p + from, to - from);
}

/* ---- where we are ----------------------------------------------------------------------------*/

static bool sb_html_blank(uint8_t c) {
    return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
}

static void count_lines(extractor *x, const uint8_t *to) {
    while (x->seen < to) {
        const uint8_t *end = sb_md_line_end(x->seen, to);
        if (end == to) break;
        x->line = x->seen = end + 1;
    }
    x->seen = x->seen > to ? x->seen : to;
}

static bool at_line_start(extractor *x, const uint8_t *p) {
    count_lines(x, p);
    if (p - x->line > 3) return false;
    for (const uint8_t *q = x->line; q < p; q++) {
        if (!sb_html_blank(*q)) return false;
    }
    return true;
}

/* Is the rest of this line empty and the next one too? */
static bool blank_line_follows(const extractor *x, const uint8_t *p) {
    for (int i = 0; i < 2; i++) {
        p += sb_md_spaces(p, x->end);
        if (p >= x->end || *p != '\n') return false;
        p++;
    }
    return true;
}

/* The first blank line at or behind p, or the end. */
static const uint8_t *paragraph_end(const uint8_t *p, const uint8_t *end) {
    while (p < end) {
        const uint8_t *line_end = sb_md_line_end(p, end), *q = line_end + 1;
        if (line_end == end) break;
        while (q < end && (*q == ' ' || *q == '\t')) q++;
        if (q < end && *q == '\n') return line_end;
        p = line_end + 1;
    }
    return end;
}

/* ---- what is found ---------------------------------------------------------------------------*/

static void add_data(extractor *x, const uint8_t *from, const uint8_t *to) {
    size_t n = (size_t)(to - from);
    if (n == 0) return;
    if (x->in_tail && memchr(from, '\n', n)) x->in_tail = false;
    if (x->in_raw) {
        sb_buf_add(&x->cache, from, n);
        return;
    }
    sb_buf_add(&x->out, from, n);
    if (x->loose_count && paragraph_end(from, to) < to) x->loose_count = 0;
}

static void hold_cache(extractor *x) {
    size_t at = x->doc->store.n;
    sb_md_fail(x->doc, x->cache.failed);
    sb_buf_add_slice(&x->doc->store, sb_buf_slice(&x->cache));
    sb_md_hold(x->doc, &x->out, (sb_md_held){.at = at, .n = x->cache.n});
    sb_buf_clear(&x->cache);
}

/* An element without content, a comment, a reference: html, which ends in the text at `behind`. */
static void add_empty(extractor *x, const uint8_t *at, sb_slice html, const uint8_t *behind,
                      bool block) {
    if (x->in_raw || x->in_tail) {
        sb_buf_add_slice(&x->cache, html);
        return;
    }
    if (!block || !at_line_start(x, at)) {
        sb_buf_add_slice(&x->out, html);
        return;
    }
    size_t n = x->out.n;
    bool one = n && x->out.p[n - 1] == '\n', two = n > 1 && one && x->out.p[n - 2] == '\n';
    if (one && !two) sb_buf_add_byte(&x->out, '\n');
    size_t stored = x->doc->store.n;
    sb_buf_add_slice(&x->doc->store, html);
    if (blank_line_follows(x, behind))
        sb_buf_add_byte(&x->doc->store, '\n');
    else
        x->in_tail = true;
    sb_md_hold(x->doc, &x->out, (sb_md_held){.at = stored, .n = x->doc->store.n - stored});
    sb_buf_add(&x->out, "\n\n", 2);
}

static void open_tag(extractor *x, sb_slice name, const uint8_t *at, const uint8_t *behind) {
    sb_slice html = sb_slice_of(at, (size_t)(behind - at));
    bool block = block_level(name.p, name.n);
    if (block && (x->in_tail || (at_line_start(x, at) && !x->in_raw))) {
        x->in_raw = true;
        sb_buf_add_byte(&x->out, '\n');
    }
    if (x->in_raw) {
        if (x->open_count < MAX_OPEN) x->open[x->open_count++] = name;
        sb_buf_add_slice(&x->cache, html);
        return;
    }
    sb_buf_add_slice(&x->out, html);
    if (!block && !void_element(name) && x->loose_count < MAX_OPEN)
        x->loose[x->loose_count++] = name;
}

/* Takes a name and all above it from a list; nothing when it is not there. */
static void close_name(sb_slice *list, size_t *count, sb_slice name) {
    for (size_t i = *count; i-- > 0;) {
        if (!same_name(list[i], name)) continue;
        *count = i;
        return;
    }
}

static void close_tag(extractor *x, sb_slice name, const uint8_t *at, const uint8_t *behind) {
    sb_slice html = sb_slice_of(at, (size_t)(behind - at));
    if (!x->in_raw) {
        sb_buf_add_slice(&x->out, html);
        close_name(x->loose, &x->loose_count, name);
        return;
    }
    sb_buf_add_slice(&x->cache, html);
    close_name(x->open, &x->open_count, name);
    if (x->open_count) return;
    if (blank_line_follows(x, behind))
        sb_buf_add_byte(&x->cache, '\n');
    else
        x->in_tail = true;
    x->in_raw = false;
    hold_cache(x);
    sb_buf_add(&x->out, "\n\n", 2);
}

/* ---- tags ------------------------------------------------------------------------------------*/

static const uint8_t *skip_blanks(const uint8_t *p, const uint8_t *end) {
    while (p < end && sb_html_blank(*p)) p++;
    return p;
}

static const uint8_t *name_end(const uint8_t *p, const uint8_t *end) {
    while (p < end && *p != '\t' && *p != '\n' && *p != '\r' && *p != '\f' && *p != ' ' &&
           *p != '/' && *p != '>' && *p != '`')
        p++;
    return p;
}

/* Behind the name of an attribute at p: reads "= value", if it is there. NULL: an open quote. */
static const uint8_t *skip_value(const uint8_t *p, const uint8_t *end) {
    const uint8_t *q = skip_blanks(p, end);
    if (q >= end || *q != '=') return p;
    while (q < end && *q == '=') q++;
    q = skip_blanks(q, end);
    if (q < end && (*q == '"' || *q == '\'')) {
        const uint8_t *close = memchr(q + 1, *q, (size_t)(end - q) - 1);
        return close ? close + 1 : NULL;
    }
    while (q < end && *q != '>' && *q != '`' && !sb_html_blank(*q)) q++;
    return q;
}

/* Reads the start tag at p ("<" and a letter). True when it is one: *behind is then behind its '>',
 * and *empty says whether it ends in "/>". Else *behind is where it went wrong. */
static bool start_tag(const uint8_t *p, const uint8_t *end, const uint8_t **behind, bool *empty) {
    const uint8_t *q = name_end(p + 1, end);
    *empty = false;
    for (bool may_begin = false; q < end;) {
        *behind = q;
        if (*q == '>') {
            *behind = q + 1;
            return true;
        }
        if (sb_html_blank(*q) || *q == '/') {
            *empty = *q == '/' && q + 1 < end && q[1] == '>';
            may_begin = true;
            q++;
            continue;
        }
        if (!may_begin || *q == '`') return false;
        *empty = false;
        do {
            q++;
        } while (q < end && *q != '=' && *q != '>' && *q != '/' && !sb_html_blank(*q));
        const uint8_t *value_end = skip_value(q, end);
        if (!value_end) return false;
        may_begin = value_end > q && (value_end[-1] == '"' || value_end[-1] == '\'');
        q = value_end;
    }
    *behind = end;
    return false;
}

static sb_slice name_at(const uint8_t *p, const uint8_t *end) {
    const uint8_t *q = p;
    while (q < end && *q != '\t' && *q != '\n' && *q != '\r' && *q != '\f' && *q != ' ' &&
           *q != '/' && *q != '>')
        q++;
    return sb_slice_of(p, (size_t)(q - p));
}

/* Inside <script> and <style> of a block everything is data up to the end tag. */
static const uint8_t *skip_data_element(extractor *x, sb_slice name, const uint8_t *p) {
    const uint8_t *from = p;
    while (p < x->end) {
        const uint8_t *q = memchr(p, '<', (size_t)(x->end - p));
        if (!q) break;
        p = q + 1;
        if (p >= x->end || *p != '/') continue;
        const uint8_t *n = skip_blanks(p + 1, x->end);
        if ((size_t)(x->end - n) < name.n || !same_name(sb_slice_of(n, name.n), name)) continue;
        const uint8_t *g = skip_blanks(n + name.n, x->end);
        if (g >= x->end || *g != '>') continue;
        add_data(x, from, q);
        return q;
    }
    add_data(x, from, x->end);
    return x->end;
}

static const uint8_t *read_start_tag(extractor *x, const uint8_t *p) {
    bool empty;
    const uint8_t *behind = p;
    if (p < x->no_tag || !start_tag(p, x->end, &behind, &empty)) {
        if (behind - p > LONG_TAG) x->no_tag = behind;
        add_data(x, p, p + 1);
        return p + 1;
    }
    sb_slice name = name_at(p + 1, x->end);
    sb_slice html = sb_slice_of(p, (size_t)(behind - p));
    bool hr = same_name(name, SB_LIT("hr"));
    if (empty || hr) {
        add_empty(x, p, html, behind, block_level(name.p, name.n));
        return behind;
    }
    open_tag(x, name, p, behind);
    bool data = same_name(name, SB_LIT("script")) || same_name(name, SB_LIT("style"));
    return data && x->in_raw ? skip_data_element(x, name, behind) : behind;
}

static const uint8_t *find_text(const uint8_t *p, const uint8_t *end, const char *text, size_t n) {
    return p < end ? memmem(p, (size_t)(end - p), text, n) : NULL;
}

static const uint8_t *read_end_tag(extractor *x, const uint8_t *p) {
    const uint8_t *greater = NULL;
    if (p + 2 < x->end && is_letter(p[2]) && !x->no_end[END_GREATER]) {
        greater = memchr(p + 2, '>', (size_t)(x->end - p) - 2);
        x->no_end[END_GREATER] = greater == NULL;
    }
    if (!greater) {
        add_data(x, p, p + 2);
        return p + 2;
    }
    close_tag(x, name_at(p + 2, x->end), p, greater + 1);
    return greater + 1;
}

/* ---- comments and declarations ---------------------------------------------------------------*/

/* Is one of the open elements of the line closed again before the next blank line? */
static bool loose_close_follows(extractor *x, const uint8_t *p) {
    if (p >= x->paragraph) x->paragraph = paragraph_end(p, x->end);
    const uint8_t *end = x->paragraph;
    while (p < end && p >= x->no_close && x->looks++ < LOOKS) {
        const uint8_t *q = find_text(p, end, "</", 2);
        if (!q) {
            x->no_close = end;
            return false;
        }
        const uint8_t *n = skip_blanks(q + 2, end);
        for (size_t i = 0; i < x->loose_count; i++, x->looks++) {
            sb_slice name = x->loose[i];
            if ((size_t)(end - n) < name.n || !same_name(sb_slice_of(n, name.n), name)) continue;
            const uint8_t *g = skip_blanks(n + name.n, end);
            if (g < end && *g == '>') return true;
        }
        p = q + 2;
    }
    return false;
}

static const uint8_t *read_comment(extractor *x, const uint8_t *p) {
    const uint8_t *q = x->no_comment_end ? NULL : find_text(p + 4, x->end, "--", 2);
    size_t close = 0;
    while (q && !close) {
        if (x->end - q > 2 && q[2] == '>')
            close = 3;
        else if (x->end - q > 3 && q[2] == '!' && q[3] == '>')
            close = 4;
        else
            q = find_text(q + 1, x->end, "--", 2);
    }
    if (!q) {
        x->no_comment_end = true;
        add_data(x, p, p + 1);
        return p + 1;
    }
    const uint8_t *behind = q + close;
    bool block = paragraph_end(p, q) < q || !x->loose_count || !loose_close_follows(x, behind);
    add_empty(x, p, sb_slice_of(p, (size_t)(behind - p)), behind, block);
    return behind;
}

static const uint8_t *read_declaration(extractor *x, const uint8_t *p) {
    bool question = p[1] == '?';
    if (!at_line_start(x, p) && !x->in_tail) {
        add_data(x, p, p + 2);
        return p + 2;
    }
    bool cdata = x->end - p >= 9 && memcmp(p, "<![CDATA[", 9) == 0;
    decl_end kind = question ? END_QUESTION : cdata ? END_CDATA : END_GREATER;
    const char *close = question ? "?>" : cdata ? "]]>" : ">";
    const uint8_t *q = x->no_end[kind] ? NULL : find_text(p + 2, x->end, close, strlen(close));
    if (!q) {
        x->no_end[kind] = true;
        add_data(x, p, p + 2);
        return p + 2;
    }
    const uint8_t *behind = q + strlen(close);
    sb_slice html = sb_slice_of(p, (size_t)(behind - p));
    bool doctype = html.n > 9 && same_name(sb_slice_of(p, 9), SB_LIT("<!doctype"));
    add_empty(x, p, html, behind, question || cdata || doctype);
    return behind;
}

static bool hex_digit(uint8_t c) {
    return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'f');
}

/* "&#1" with or without ';'. The reference stumbles over "&#" without a number: what is behind the
 * second one, or behind the first when no ';' follows, is all data. */
static const uint8_t *read_number(extractor *x, const uint8_t *p) {
    const uint8_t *q = p + 2;
    bool hex = q < x->end && lower(*q) == 'x';
    const uint8_t *from = q += hex;
    while (q < x->end && (hex ? hex_digit(*q) : *q >= '0' && *q <= '9')) q++;
    if (q > from && q < x->end && !hex_digit(*q)) {
        uint8_t number[32];
        size_t n = (size_t)(q - p);
        if (n < sizeof number) {
            memcpy(number, p, n);
            number[n] = ';';
            add_empty(x, p, sb_slice_of(number, n + 1), q, false);
        }
        return *q == ';' ? q + 1 : q;
    }
    bool rest = x->stumbled || !memchr(p, ';', (size_t)(x->end - p));
    x->stumbled = true;
    q = rest ? x->end : p + 2;
    add_data(x, p, q);
    return q;
}

/* "&name;" is kept together; anything else is data. */
static const uint8_t *read_reference(extractor *x, const uint8_t *p) {
    const uint8_t *q = p + 1;
    if (q < x->end && *q == '#') return read_number(x, p);
    while (q < x->end && (is_letter(*q) || (*q >= '0' && *q <= '9') || *q == '-' || *q == '.')) q++;
    if (q < x->end && *q == ';' && is_letter(p[1])) {
        add_empty(x, p, sb_slice_of(p, (size_t)(q + 1 - p)), q + 1, false);
        return q + 1;
    }
    add_data(x, p, p + 1);
    return p + 1;
}

static const uint8_t *read_markup(extractor *x, const uint8_t *p) {
    if (*p == '&') return read_reference(x, p);
    uint8_t next = p + 1 < x->end ? p[1] : 0;
    if (is_letter(next)) return read_start_tag(x, p);
    if (next == '/') return read_end_tag(x, p);
    if (x->end - p >= 4 && memcmp(p, "<!--", 4) == 0) return read_comment(x, p);
    if (next == '?' || next == '!') return read_declaration(x, p);
    add_data(x, p, p + 1);
    return p + 1;
}

static void extract(extractor *x) {
    const uint8_t *p = x->begin;
    while (p < x->end && x->out.failed == SB_OK && x->doc->failed == SB_OK) {
        const uint8_t *q = p;
        while (q < x->end && *q != '<' && *q != '&') q++;
        add_data(x, p, q);
        p = q < x->end ? read_markup(x, q) : q;
    }
    if (x->cache.n) hold_cache(x);
}

void sb_md_hold_raw(sb_md_doc *d) {
    if (!d->text.n) return;
    if (!memchr(d->text.p, '<', d->text.n) && !memmem(d->text.p, d->text.n, "&#", 2)) return;
    extractor *x = sb_arena_get(&d->arena, sizeof *x);
    if (!x) {
        sb_md_fail(d, SB_NOMEM);
        return;
    }
    *x = (extractor){.doc = d, .begin = d->text.p, .end = d->text.p + d->text.n};
    x->line = x->seen = x->paragraph = x->no_close = x->begin;
    sb_buf_init(&x->out, d->alloc, d->limits->max_memory);
    sb_buf_init(&x->cache, d->alloc, d->limits->max_memory);
    extract(x);
    sb_md_fail(d, x->out.failed);
    sb_md_fail(d, x->cache.failed);
    sb_md_fail(d, d->store.failed);
    sb_buf old = d->text;
    d->text = x->out;
    sb_buf_fini(&old);
    sb_buf_fini(&x->cache);
}
