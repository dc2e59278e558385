/* markdown_tag.c: what a '<' inside a text begins: a link that shows its own URL or address, a tag,
 * a comment. The patterns are those of Python-Markdown.
 *
 *   <scheme://anything but < and >>          a link
 *   <name@host>, <mailto:name@host>          a link
 *   <name attributes>, </name>, <name/>      a tag, kept as the source has it for the gate
 *   <!-- -->, <? ?>, <![CDATA[ ]]>           the same; the gate drops them
 *
 * Threads: as the document. Cost: linear; an end that was not found is not looked for again. */
#include <string.h>

#include "base/slice.h"
#include "markup/markdown_int.h"
#include "base/banned.h"

static bool letter(uint8_t c) {
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static bool digit(uint8_t c) {
    return c >= '0' && c <= '9';
}

/* Bytes of white space that a pattern's \\s knows; others do not occur between attributes. */
static bool blank(uint8_t c) {
    return sb_md_space(c) && c < 0x80;
}

static const uint8_t *skip_blanks(const uint8_t *p, const uint8_t *end) {
    while (p < end && blank(*p)) p++;
    return p;
}

/* ---- links -----------------------------------------------------------------------------------*/

/* Behind the '>' of "<scheme://...>", NULL when it is none. */
static const uint8_t *autolink_end(const uint8_t *p, const uint8_t *end) {
    if (p >= end || !letter(*p)) return NULL;
    while (p < end && (letter(*p) || digit(*p) || *p == '+' || *p == '.' || *p == '-')) p++;
    if (end - p < 3 || memcmp(p, "://", 3) != 0) return NULL;
    while (p < end && *p != '<' && *p != '>') p++;
    return p < end && *p == '>' ? p + 1 : NULL;
}

static const uint8_t *mail_end(const uint8_t *p, const uint8_t *end) {
    const uint8_t *from = p, *at = NULL;
    for (; p < end && *p != '<' && *p != '>' && *p != ' '; p++) {
        if (*p == '!' && !at) return NULL;
        if (*p == '@') at = p;
    }
    return at && at > from && p < end && *p == '>' && p > at + 1 ? p + 1 : NULL;
}

/* ---- tags ------------------------------------------------------------------------------------*/

static bool name_byte(uint8_t c) {
    return !blank(c) && c != '"' && c != '\'' && c != '<' && c != '>';
}

/* An attribute's value at p; NULL when there is none. */
static const uint8_t *value_end(const uint8_t *p, const uint8_t *end) {
    if (p < end && (*p == '"' || *p == '\'')) {
        const uint8_t *close = memchr(p + 1, *p, (size_t)(end - p) - 1);
        return close ? close + 1 : NULL;
    }
    const uint8_t *from = p;
    while (p < end && name_byte(*p) && *p != '=') p++;
    return p > from ? p : NULL;
}

/* Behind the '>' of the tag whose name or '/' is at p. */
static const uint8_t *tag_end(const uint8_t *p, const uint8_t *end) {
    if (p < end && *p == '/') p++;
    if (p >= end || !letter(*p)) return NULL;
    while (p < end && name_byte(*p) && *p != '@') p++;
    for (;;) {
        const uint8_t *name = skip_blanks(p, end), *q = name;
        if (name == p) break;
        while (q < end && name_byte(*q) && *q != '=') q++;
        if (q == name || (q == name + 1 && *name == '/' && q < end && *q == '>')) break;
        p = q;
        q = skip_blanks(q, end);
        if (q >= end || *q != '=') continue;
        q = value_end(skip_blanks(q + 1, end), end);
        if (!q) return NULL;
        p = q;
    }
    p = skip_blanks(p, end);
    if (p < end && *p == '/') p++;
    return p < end && *p == '>' ? p + 1 : NULL;
}

/* Behind `close`, with no second `open` in between. */
static const uint8_t *span_end(const uint8_t *p, const uint8_t *end, const char *open,
                               const char *close, bool *none) {
    size_t n = strlen(open);
    if (*none || (size_t)(end - p) < n || memcmp(p, open, n) != 0) return NULL;
    const uint8_t *found = memmem(p + n, (size_t)(end - p) - n, close, strlen(close));
    if (!found) {
        *none = true;
        return NULL;
    }
    if (memmem(p + n, (size_t)(found - p) - n, open, n)) return NULL;
    return found + strlen(close);
}

static const uint8_t *markup_end(sb_md_inline *x, const uint8_t *p, const uint8_t *end) {
    const uint8_t *behind = span_end(p, end, "<!--", "-->", &x->no_end[0]);
    if (!behind) behind = span_end(p, end, "<?", "?>", &x->no_end[1]);
    if (!behind) behind = span_end(p, end, "<![CDATA[", "]]>", &x->no_end[2]);
    return behind ? behind : tag_end(p + 1, end);
}

const uint8_t *sb_md_translate_tag(sb_md_inline *x, const uint8_t *p, const uint8_t *end) {
    static const char mailto[] = "mailto:";
    size_t n = sizeof mailto - 1;
    const uint8_t *behind = autolink_end(p + 1, end);
    if (behind) {
        sb_md_add_link_atom(x, "", sb_slice_of(p + 1, (size_t)(behind - p) - 2));
        return behind;
    }
    behind = mail_end(p + 1, end);
    if (behind) {
        sb_slice address = sb_slice_of(p + 1, (size_t)(behind - p) - 2);
        if (address.n > n && memcmp(address.p, mailto, n) == 0)
            address = sb_slice_of(address.p + n, address.n - n);
        sb_md_add_link_atom(x, mailto, address);
        return behind;
    }
    behind = markup_end(x, p, end);
    if (behind) sb_md_add_raw_atom(x, sb_slice_of(p, (size_t)(behind - p)));
    return behind;
}
