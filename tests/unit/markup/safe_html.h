/* safe_html.h: is this HTML what the text renderer may put into a page? Looks at the bytes as a
 * browser would, with nothing of the renderer's own code, for the unit tests and the fuzz target.
 *
 * Passed are: text without a raw '<' or '>', character references, the tags and attributes of the
 * list below, properly nested, values in double quotes, URLs whose scheme is http, https, mailto or
 * none; and the one comment that tells of discarded NULs. */
#ifndef SB_TESTS_UNIT_QUERY_SAFE_HTML_H
#define SB_TESTS_UNIT_QUERY_SAFE_HTML_H

#include <stdbool.h>
#include <string.h>

#include "base/slice.h"
#include "base/text/utf8.h"

enum { SAFE_MAX_DEPTH = 1024 };

static const char *const safe_names[] = {
    "a",     "blockquote", "br", "code", "em",    "h1", "h2", "h3",  "h4",
    "h5",    "h6",         "hr", "img",  "li",    "ol", "p",  "pre", "strong",
    "table", "tbody",      "td", "th",   "thead", "tr", "ul"};

typedef struct safe_reader {
    const uint8_t *p, *end;
    const char *complaint;
    size_t open[SAFE_MAX_DEPTH];
    size_t depth;
} safe_reader;

static bool safe_takes(safe_reader *r, const char *text) {
    size_t n = strlen(text);
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, text, n) != 0) return false;
    r->p += n;
    return true;
}

static bool safe_alnum(uint8_t c) {
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Behind an '&': "name;" or "#number;". */
static bool safe_reference(const uint8_t *p, const uint8_t *end) {
    if (p < end && *p == '#') p++;
    const uint8_t *from = p;
    while (p < end && safe_alnum(*p)) p++;
    return p > from && p < end && *p == ';';
}

/* The next character of a URL as a browser reads it from an attribute; 0 at the end. */
static uint32_t safe_url_char(const uint8_t **p, const uint8_t *end) {
    if (*p >= end) return 0;
    uint32_t c = *(*p)++;
    if (c != '&' || !safe_reference(*p, end)) return c;
    const uint8_t *semicolon = memchr(*p, ';', (size_t)(end - *p));
    sb_slice name = sb_slice_of(*p, (size_t)(semicolon - *p));
    *p = semicolon + 1;
    if (name.p[0] != '#') {
        bool colon = sb_slice_eq(name, SB_LIT("colon")), tab = sb_slice_eq(name, SB_LIT("Tab"));
        return colon ? ':' : tab || sb_slice_eq(name, SB_LIT("NewLine")) ? '\t' : '?';
    }
    uint32_t value = 0;
    bool hex = name.n > 1 && (name.p[1] | 0x20) == 'x';
    for (size_t i = hex ? 2 : 1; i < name.n && value < 0x110000; i++) {
        uint32_t digit =
            name.p[i] <= '9' ? name.p[i] - (uint32_t)'0' : (name.p[i] | 0x20u) - 'a' + 10;
        value = value * (hex ? 16 : 10) + digit;
    }
    return value ? value : 0xFFFD;
}

static bool safe_url(sb_slice url) {
    const uint8_t *p = url.p, *end = p + url.n;
    char scheme[64];
    size_t n = 0;
    for (;;) {
        uint32_t c = safe_url_char(&p, end);
        if (c == '\t' || c == '\n' || c == '\r' || (n == 0 && c && c <= ' ')) continue;
        if (c == ':') break;
        bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        bool other = (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
        if (!letter && !(n && other)) return true; /* no scheme: a relative URL */
        if (n < sizeof scheme) scheme[n] = (char)(letter ? c | 0x20 : c);
        n++;
    }
    sb_slice s = sb_slice_of(scheme, n < sizeof scheme ? n : sizeof scheme);
    return n == 0 || sb_slice_eq(s, SB_LIT("http")) || sb_slice_eq(s, SB_LIT("https")) ||
           sb_slice_eq(s, SB_LIT("mailto"));
}

static void safe_complain(safe_reader *r, const char *complaint) {
    if (!r->complaint) r->complaint = complaint;
    r->p = r->end;
}

/* The number of the element whose name is at p. */
static size_t safe_name(safe_reader *r) {
    const uint8_t *from = r->p;
    while (r->p < r->end && safe_alnum(*r->p)) r->p++;
    for (size_t i = 0; i < sizeof safe_names / sizeof *safe_names; i++) {
        if (sb_slice_eq(sb_slice_of(from, (size_t)(r->p - from)), sb_slice_str(safe_names[i])))
            return i;
    }
    safe_complain(r, "an element that is not in the list");
    return 0;
}

static void safe_attribute(safe_reader *r, const char *name) {
    bool a = strcmp(name, "a") == 0, img = strcmp(name, "img") == 0, url = true;
    if (!(a && safe_takes(r, "href=\"")) && !(img && safe_takes(r, "src=\""))) {
        url = false;
        if (!((a || img) && safe_takes(r, "title=\"")) && !(img && safe_takes(r, "alt=\""))) {
            safe_complain(r, "an attribute that is not in the list");
            return;
        }
    }
    const uint8_t *from = r->p;
    for (; r->p < r->end && *r->p != '"'; r->p++) {
        if (*r->p == '<' || *r->p == '>') safe_complain(r, "a tag inside a value");
        if (*r->p == '&' && !safe_reference(r->p + 1, r->end))
            safe_complain(r, "a bare & in a value");
        if (r->complaint) return;
    }
    if (url && !safe_url(sb_slice_of(from, (size_t)(r->p - from))))
        safe_complain(r, "a URL with a scheme that is not in the list");
    if (!safe_takes(r, "\"")) safe_complain(r, "a value that does not end");
}

static void safe_tag(safe_reader *r) {
    bool close = safe_takes(r, "/");
    size_t name = safe_name(r);
    if (r->complaint) return;
    if (close) {
        if (r->depth == 0 || r->open[--r->depth] != name) safe_complain(r, "tags that cross");
        if (!safe_takes(r, ">")) safe_complain(r, "an end tag with more than a name");
        return;
    }
    while (safe_takes(r, " ")) safe_attribute(r, safe_names[name]);
    if (!safe_takes(r, ">")) safe_complain(r, "a tag that does not end");
    const char *text = safe_names[name];
    if (strcmp(text, "br") == 0 || strcmp(text, "hr") == 0 || strcmp(text, "img") == 0) return;
    if (r->depth == SAFE_MAX_DEPTH) {
        safe_complain(r, "too deep");
        return;
    }
    r->open[r->depth++] = name;
}

static bool safe_remark(safe_reader *r) {
    if (!safe_takes(r, "<!-- WARNING: discarded ")) return false;
    while (r->p < r->end && *r->p >= '0' && *r->p <= '9') r->p++;
    if (!safe_takes(r, " null bytes in markdown string after UTF-8 decoding -->\n"))
        safe_complain(r, "a comment");
    return true;
}

/* What is wrong with it; NULL when nothing is. */
static inline const char *safe_html_complaint(sb_slice html) {
    if (html.n == 0) return NULL;
    safe_reader r = {.p = html.p, .end = html.p + html.n};
    if (!sb_utf8_valid(html)) return "no UTF-8";
    while (r.p < r.end) {
        if (safe_remark(&r)) continue;
        uint8_t c = *r.p++;
        if (c == '<')
            safe_tag(&r);
        else if (c == '>')
            safe_complain(&r, "a bare >");
        else if (c == '&' && !safe_reference(r.p, r.end))
            safe_complain(&r, "a bare &");
        else if (c < 0x20 && c != '\t' && c != '\n' && c != '\f')
            safe_complain(&r, "a control character");
    }
    if (!r.complaint && r.depth) return "an element that is not closed";
    return r.complaint;
}

#endif
