/* markdown_source.c: makes the source even, and takes fenced code out of it.
 *
 * In:  valid UTF-8. Out: lines that end in LF, tabs as blanks to columns of four, no blanks on
 *      empty lines, an empty line at the end; every fenced block is replaced by a held place.
 * A fence is three or more ` or ~ at the start of a line, with at most a language, {attributes} or
 * hl_lines="..." behind it; the same fence alone on a line ends it. An open fence is text.
 * Threads: any. Cost: linear, and a sort of the lines that may end a fence. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/slice.h"
#include "base/text/unicode_word.h"
#include "markup/markdown_int.h"
#include "base/banned.h"

/* ---- characters ------------------------------------------------------------------------------*/

bool sb_md_space(uint32_t c) {
    if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
    return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
           c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

uint32_t sb_md_char(const uint8_t *p, const uint8_t *end, size_t *n) {
    uint8_t lead = p[0];
    *n = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 1;
    if (lead == SB_MD_ATOM) *n = 1 + SB_MD_ATOM_BYTES;
    if (*n > (size_t)(end - p)) *n = 1;
    if (lead < 0x80) return lead;
    if (*n == 1 || lead == SB_MD_ATOM) return 0x110000u + lead;
    uint32_t c = lead & (0xFFu >> (*n + 1));
    for (size_t i = 1; i < *n; i++) c = c << 6 | (p[i] & 0x3Fu);
    return c;
}

uint32_t sb_md_char_before(const uint8_t *begin, const uint8_t *p) {
    const uint8_t *at = p - 1;
    while (at > begin && (*at & 0xC0) == 0x80) at--;
    size_t n;
    return sb_md_char(at, p, &n);
}

sb_slice sb_md_left_strip(sb_slice s) {
    while (s.n) {
        size_t n;
        if (!sb_md_space(sb_md_char(s.p, s.p + s.n, &n))) break;
        s = sb_slice_of(s.p + n, s.n - n);
    }
    return s;
}

sb_slice sb_md_right_strip(sb_slice s) {
    while (s.n && sb_md_space(sb_md_char_before(s.p, s.p + s.n))) {
        do {
            s.n--;
        } while (s.n && (s.p[s.n] & 0xC0) == 0x80);
    }
    return s;
}

sb_slice sb_md_strip(sb_slice s) {
    return sb_md_right_strip(sb_md_left_strip(s));
}

size_t sb_md_spaces(const uint8_t *p, const uint8_t *end) {
    const uint8_t *q = p;
    while (q < end && *q == ' ') q++;
    return (size_t)(q - p);
}

const uint8_t *sb_md_line_end(const uint8_t *p, const uint8_t *end) {
    const uint8_t *found = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
    return found ? found : end;
}

/* ---- the document's arrays -------------------------------------------------------------------*/

void sb_md_fail(sb_md_doc *d, sb_status status) {
    if (d->failed == SB_OK) d->failed = status;
}

void *sb_md_push(sb_md_doc *d, sb_buf *array, size_t size) {
    if (!sb_buf_reserve(array, size)) {
        sb_md_fail(d, array->failed);
        return NULL;
    }
    void *element = array->p + array->n;
    memset(element, 0, size);
    array->n += size;
    return element;
}

void sb_md_hold(sb_md_doc *d, sb_buf *text, sb_md_held held) {
    size_t number = d->held.n / sizeof held;
    sb_md_held *place = sb_md_push(d, &d->held, sizeof held);
    if (!place) return;
    *place = held;
    sb_buf_add_byte(text, SB_MD_HOLD);
    sb_buf_printf(text, "%zu", number);
    sb_buf_add_byte(text, SB_MD_HOLD_END);
}

const sb_md_held *sb_md_held_at(const sb_md_doc *d, const uint8_t *p, const uint8_t *text_end,
                                const uint8_t **end) {
    size_t number = 0, count = d->held.n / sizeof(sb_md_held);
    const uint8_t *q = p;
    while (q < text_end && *q >= '0' && *q <= '9' && number < count)
        number = number * 10 + (size_t)(*q++ - '0');
    if (q == p || q >= text_end || *q != SB_MD_HOLD_END || number >= count) return NULL;
    *end = q + 1;
    return (const sb_md_held *)(const void *)d->held.p + number;
}

/* ---- even lines ------------------------------------------------------------------------------*/

typedef struct even {
    sb_buf *out;
    size_t line;   /* where the line begins in out */
    size_t column; /* in characters */
    bool blank;    /* only blanks so far */
} even;

static void end_line(even *e) {
    if (e->blank && e->line > 0) e->out->n = e->line;
    sb_buf_add_byte(e->out, '\n');
    e->line = e->out->n;
    e->column = 0;
    e->blank = true;
}

static void add_byte(even *e, uint8_t c) {
    if (c == '\t') {
        do {
            sb_buf_add_byte(e->out, ' ');
        } while (++e->column % SB_MD_TAB);
        return;
    }
    sb_buf_add_byte(e->out, c);
    e->blank = e->blank && c == ' ';
    if ((c & 0xC0) != 0x80) e->column++;
}

void sb_md_normalise(sb_md_doc *d, sb_slice text) {
    even e = {.out = &d->source, .blank = true};
    for (size_t i = 0; i < text.n && d->source.failed == SB_OK; i++) {
        uint8_t c = text.p[i];
        if (c == 0 || c == SB_MD_HOLD || c == SB_MD_HOLD_END) continue;
        if (c == '\r') {
            if (i + 1 < text.n && text.p[i + 1] == '\n') continue;
            c = '\n';
        }
        if (c == '\n')
            end_line(&e);
        else
            add_byte(&e, c);
    }
    end_line(&e);
    end_line(&e);
    sb_md_fail(d, d->source.failed);
}

/* ---- fences ----------------------------------------------------------------------------------*/

/* A line that may end a fence. */
typedef struct closer {
    size_t key; /* length and kind */
    size_t at, end;
} closer;

static size_t fence_key(const uint8_t *p, const uint8_t *end, const uint8_t **behind) {
    if (p >= end || (*p != '`' && *p != '~')) return 0;
    const uint8_t *q = p;
    while (q < end && *q == *p) q++;
    *behind = q;
    return q - p >= 3 ? (size_t)(q - p) * 2 + (*p == '~') : 0;
}

static int compare_closers(const void *a, const void *b) {
    const closer *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static void find_closers(sb_md_doc *d, sb_buf *closers) {
    const uint8_t *begin = d->source.p, *end = begin + d->source.n, *next;
    for (const uint8_t *p = begin; p < end; p = next + 1) {
        const uint8_t *line_end = sb_md_line_end(p, end), *behind;
        next = line_end;
        size_t key = fence_key(p, line_end, &behind);
        if (!key || behind + sb_md_spaces(behind, line_end) != line_end) continue;
        closer *c = sb_md_push(d, closers, sizeof *c);
        if (!c) return;
        *c = (closer){key, (size_t)(p - begin), (size_t)(line_end - begin)};
    }
    if (closers->n) qsort(closers->p, closers->n / sizeof(closer), sizeof(closer), compare_closers);
}

static const closer *next_closer(const sb_buf *closers, size_t key, size_t at) {
    const closer *list = (const closer *)(const void *)closers->p;
    size_t n = closers->n / sizeof *list, i;
    SB_PARTITION_POINT(i, 0, n, list[i].key < key || (list[i].key == key && list[i].at < at));
    return i < n && list[i].key == key ? &list[i] : NULL;
}

static const uint8_t *skip_language(const uint8_t *p, const uint8_t *end) {
    if (p < end && *p == '.') p++;
    while (p < end) {
        size_t n;
        uint32_t c = sb_md_char(p, end, &n);
        if (c != '#' && c != '.' && c != '+' && c != '-' && !sb_unicode_word(c)) break;
        p += n;
    }
    return p + sb_md_spaces(p, end);
}

/* hl_lines="1 2" and nothing behind it. */
static bool only_marked_lines(const uint8_t *p, const uint8_t *end) {
    static const char name[] = "hl_lines=";
    size_t n = sizeof name - 1;
    if ((size_t)(end - p) < n + 2 || memcmp(p, name, n) != 0) return false;
    uint8_t quote = p[n];
    if (quote != '"' && quote != '\'') return false;
    const uint8_t *close = memchr(p + n + 1, quote, (size_t)(end - p) - n - 1);
    return close && close + 1 + sb_md_spaces(close + 1, end) == end;
}

/* May this stand behind an opening fence? */
static bool fence_info(const uint8_t *p, const uint8_t *end) {
    p += sb_md_spaces(p, end);
    if (p < end && *p == '{') return end[-1] == '}' && !memchr(p, '}', (size_t)(end - p) - 1);
    const uint8_t *behind = skip_language(p, end);
    return behind == end || only_marked_lines(behind, end) || only_marked_lines(p, end);
}

void sb_md_hold_fences(sb_md_doc *d) {
    sb_buf closers;
    sb_buf_init(&closers, d->alloc, d->limits->max_memory);
    find_closers(d, &closers);
    const uint8_t *begin = d->source.p, *end = begin + d->source.n, *from = begin, *next;
    for (const uint8_t *p = begin; p < end && d->failed == SB_OK; p = next) {
        const uint8_t *line_end = sb_md_line_end(p, end), *behind;
        next = line_end + 1;
        size_t key = fence_key(p, line_end, &behind);
        if (!key || line_end == end || !fence_info(behind, line_end)) continue;
        size_t code = (size_t)(next - begin);
        const closer *c = next_closer(&closers, key, code);
        if (!c) continue;
        sb_buf_add(&d->text, from, (size_t)(p - from));
        sb_buf_add_byte(&d->text, '\n');
        sb_md_hold(d, &d->text, (sb_md_held){.fence = true, .at = code, .n = c->at - code});
        sb_buf_add_byte(&d->text, '\n');
        from = begin + c->end;
        next = from + 1;
    }
    sb_buf_add(&d->text, from, (size_t)(end - from));
    sb_buf_fini(&closers);
    sb_md_fail(d, d->text.failed);
}
