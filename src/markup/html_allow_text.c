/* html_allow_text.c: how text and attribute values are written, and which URLs may be.
 *
 * Everything from outside goes through one of the two writers below. Character references stay as
 * they are, so that "&eacute;" is shown as a letter; an '&' that begins none is escaped. In an
 * attribute value only numbers and the oldest names count, as in the reference.
 * Control characters in text become '?'.
 *
 * A URL is judged by what a browser would make of it: references are decoded, white space, control
 * characters and backquotes taken out, letters made small; then the part in front of the first ':'
 * must be an allowed scheme, unless it holds a character that no scheme may have.
 * Threads: any. Cost: one pass; a binary search a reference. */
#include <string.h>

#include "base/slice.h"
#include "markup/html_allow_int.h"
#include "base/banned.h"

enum { LONGEST_REFERENCE = 40 };

/* ---- character references --------------------------------------------------------------------*/

static bool digit_of(uint8_t c, bool hex) {
    if (c >= '0' && c <= '9') return true;
    return hex && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'));
}

/* The length of "#123;" or "#x1f;" at s, 0 when there is none; *character is its number, or
 * UINT32_MAX when that is too large. */
static size_t number_reference(sb_slice s, uint32_t *character) {
    bool hex = s.n > 1 && (s.p[1] == 'x' || s.p[1] == 'X');
    size_t first = hex ? 2 : 1, i = first;
    uint32_t value = 0;
    for (; i < s.n && digit_of(s.p[i], hex); i++) {
        uint8_t c = s.p[i];
        uint32_t digit = c <= '9' ? c - (uint32_t)'0' : (c | 0x20u) - 'a' + 10u;
        value = value > 0x110000 ? value : value * (hex ? 16 : 10) + digit;
    }
    if (i == first || i >= s.n || s.p[i] != ';') return 0;
    *character = value < 0x110000 ? value : UINT32_MAX;
    return i + 1;
}

/* The length of "name;" at s, 0 when no ';' ends it. */
static size_t name_reference(sb_slice s) {
    size_t i = 0;
    while (i < s.n && i < LONGEST_REFERENCE && s.p[i] != ';' && s.p[i] != '&' && s.p[i] != '<' &&
           s.p[i] != '=' && s.p[i] > ' ')
        i++;
    return i > 0 && i < s.n && s.p[i] == ';' ? i + 1 : 0;
}

/* How many bytes behind the '&' belong to a reference that text may keep. */
static size_t text_reference(sb_slice s) {
    uint32_t character;
    if (s.n && s.p[0] == '#') return number_reference(s, &character);
    size_t n = name_reference(s);
    return n && sb_html_entity_begins(s.p, n - 1) ? n : 0;
}

/* The same for an attribute value, with the character. */
static size_t value_reference(sb_slice s, uint32_t *character) {
    if (s.n && s.p[0] == '#') {
        size_t n = number_reference(s, character);
        return *character == 0 || *character == UINT32_MAX ? 0 : n;
    }
    size_t n = name_reference(s);
    if (n) *character = sb_html_entity_legacy(s.p, n - 1);
    return n && *character ? n : 0;
}

/* ---- writing ---------------------------------------------------------------------------------*/

static bool control(uint8_t c) {
    return c < 0x20 && c != '\t' && c != '\n' && c != '\r';
}

void sb_html_write_text(sb_buf *out, sb_slice text) {
    size_t from = 0, to = text.n;
    while (from < to && sb_html_space(text.p[from])) from++;
    while (to > from && sb_html_space(text.p[to - 1])) to--;
    size_t plain = 0;
    for (size_t i = from; i < to; i++) {
        uint8_t c = text.p[i];
        if (c != '&' && c != '<' && c != '>' && !control(c)) continue;
        sb_buf_add(out, text.p + plain, i - plain);
        plain = i + 1;
        if (c == '<') {
            sb_buf_add(out, "&lt;", 4);
        } else if (c == '>') {
            sb_buf_add(out, "&gt;", 4);
        } else if (c == '&') {
            size_t n = text_reference(sb_slice_of(text.p + i + 1, to - i - 1));
            sb_buf_add(out, n ? "&" : "&amp;", n ? 1 : 5);
        } else {
            sb_buf_add_byte(out, '?');
        }
    }
    sb_buf_add(out, text.p + plain, text.n - plain);
}

void sb_html_write_value(sb_buf *out, sb_slice value) {
    size_t plain = 0;
    for (size_t i = 0; i < value.n; i++) {
        uint8_t c = value.p[i];
        if (c != '&' && c != '<' && c != '>' && c != '"' && c != 0) continue;
        sb_buf_add(out, value.p + plain, i - plain);
        plain = i + 1;
        uint32_t character = 0;
        if (c == '<')
            sb_buf_add(out, "&lt;", 4);
        else if (c == '>')
            sb_buf_add(out, "&gt;", 4);
        else if (c == '"')
            sb_buf_add(out, "&quot;", 6);
        else if (c == 0)
            sb_buf_add(out, "\xEF\xBF\xBD", 3);
        else if (value_reference(sb_slice_of(value.p + i + 1, value.n - i - 1), &character))
            sb_buf_add_byte(out, '&');
        else
            sb_buf_add(out, "&amp;", 5);
    }
    sb_buf_add(out, value.p + plain, value.n - plain);
}

/* ---- URLs ------------------------------------------------------------------------------------*/

/* Decodes one valid UTF-8 character. */
static uint32_t character_at(sb_slice s, size_t *n) {
    uint8_t lead = s.p[0];
    *n = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (*n > s.n) *n = 1;
    if (*n == 1) return lead;
    uint32_t c = lead & (0xFFu >> (*n + 1));
    for (size_t i = 1; i < *n; i++) c = c << 6 | (s.p[i] & 0x3Fu);
    return c;
}

/* Does the check of a URL pass over this character? */
static bool invisible_in_url(uint32_t c) {
    if (c <= 0x20 || c == '`' || (c >= 0x7F && c <= 0xA0) || c == 0xFFFD) return true;
    return c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
           c == 0x202F || c == 0x205F || c == 0x3000;
}

/* The next character that counts; 0 at the end. */
static uint32_t next_in_url(sb_slice url, size_t *at) {
    while (*at < url.n) {
        size_t n;
        uint32_t c = character_at(sb_slice_of(url.p + *at, url.n - *at), &n);
        if (c == '&') {
            uint32_t character = 0;
            size_t more =
                value_reference(sb_slice_of(url.p + *at + 1, url.n - *at - 1), &character);
            if (more) {
                c = character;
                n = 1 + more;
            }
        }
        *at += n;
        if (!invisible_in_url(c)) return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
    }
    return 0;
}

static bool scheme_character(uint32_t c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
}

/* Characters that look like part of a host but turn into / ? # @ or : when it is normalised. */
static bool host_trick(uint32_t c) {
    static const uint16_t tricks[] = {0x2047, 0x2048, 0x2049, 0x2100, 0x2101, 0x2105, 0x2106,
                                      0x2A74, 0xFE13, 0xFE16, 0xFE55, 0xFE56, 0xFE5F, 0xFE6B,
                                      0xFF03, 0xFF0F, 0xFF1A, 0xFF1F, 0xFF20};
    for (size_t i = 0; i < sizeof tricks / sizeof tricks[0]; i++) {
        if (tricks[i] == c) return true;
    }
    return false;
}

/* Behind the scheme: is the host, where there is one, well-formed? */
static bool host_allowed(sb_slice url, size_t at) {
    if (next_in_url(url, &at) != '/' || next_in_url(url, &at) != '/') return true;
    bool opens = false, closes = false;
    for (;;) {
        uint32_t c = next_in_url(url, &at);
        if (c == 0 || c == '/' || c == '?' || c == '#') return opens == closes;
        if (host_trick(c)) return false;
        opens |= c == '[';
        closes |= c == ']';
    }
}

bool sb_html_url_allowed(sb_slice url) {
    char scheme[8];
    size_t n = 0, at = 0;
    for (;;) {
        uint32_t c = next_in_url(url, &at);
        if (c == ':') break;
        if (!scheme_character(c)) return host_allowed(url, 0); /* no scheme: relative */
        if (n < sizeof scheme) scheme[n] = (char)c;
        n++;
    }
    if (n == 0) return true;
    bool known = (n == 4 && memcmp(scheme, "http", 4) == 0) ||
                 (n == 5 && memcmp(scheme, "https", 5) == 0) ||
                 (n == 6 && memcmp(scheme, "mailto", 6) == 0);
    return known && host_allowed(url, at);
}
