/* html_allow_token.c: splits a source into tags and text, by the states of the HTML standard.
 *
 * In:  borrowed bytes. Out: tokens that point into them; nothing is copied.
 * Only what the gate needs is kept of a tag: which element, and the four attributes that any
 * element may keep. A tag whose name is not in the table is text, from its '<' to its '>'. Where
 * the source ends inside a tag, the text is kept or dropped as the reference does it:
 *   <na  <na x  <na x=y  <na x |   text
 *   <na |  <na x="y  <na x= |  <na /|   dropped to the end
 * ("|" stands for the end behind white space or '/').
 * Threads: any. Cost: every byte is looked at once. */
#include <string.h>

#include "base/slice.h"
#include "markup/html_allow_int.h"
#include "base/banned.h"

const sb_html_trait sb_html_traits[SB_HTML_TAGS] = {
#define SB_HTML_TAG_TRAIT(name, text, flags) [SB_HTML_##name] = {text, sizeof(text) - 1, flags},
    SB_HTML_TAG_MAP(SB_HTML_TAG_TRAIT)
#undef SB_HTML_TAG_TRAIT
        [SB_HTML_ROOT] = {"", 0, SB_HTML_SPECIAL | SB_HTML_SCOPE},
};

static uint8_t lower(uint8_t c) {
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c + ('a' - 'A')) : c;
}

static bool letter(uint8_t c) {
    c = lower(c);
    return c >= 'a' && c <= 'z';
}

static bool same_name(const uint8_t *name, size_t n, const char *text, size_t size) {
    if (n != size) return false;
    for (size_t i = 0; i < n; i++) {
        if (lower(name[i]) != (uint8_t)text[i]) return false;
    }
    return true;
}

/* The element with this name (any case), SB_HTML_NONE when it is not in the table. */
static sb_html_tag tag_of(const uint8_t *name, size_t n) {
    for (sb_html_tag tag = SB_HTML_NONE + 1; tag < SB_HTML_ROOT; tag++) {
        if (same_name(name, n, sb_html_traits[tag].name, sb_html_traits[tag].size)) return tag;
    }
    return SB_HTML_NONE;
}

static sb_html_range range_of(size_t from, size_t to) {
    return (sb_html_range){(uint32_t)from, (uint32_t)(to - from)};
}

static size_t skip_spaces(sb_slice s, size_t i) {
    while (i < s.n && sb_html_space(s.p[i])) i++;
    return i;
}

static size_t find_byte(sb_slice s, size_t i, uint8_t c) {
    const uint8_t *found = i < s.n ? memchr(s.p + i, c, s.n - i) : NULL;
    return found ? (size_t)(found - s.p) : s.n;
}

/* ---- attributes ------------------------------------------------------------------------------*/

/* How reading a tag ended. */
typedef enum tag_end { TAG_COMPLETE, TAG_IS_TEXT, TAG_IS_LOST } tag_end;

static void keep_attribute(sb_html_attrs *attrs, sb_slice s, sb_html_range name,
                           sb_html_range value) {
    static const struct {
        const char *text;
        size_t size;
    } names[SB_HTML_ATTRS] = {
        [SB_HTML_HREF] = {"href", 4},
        [SB_HTML_SRC] = {"src", 3},
        [SB_HTML_TITLE] = {"title", 5},
        [SB_HTML_ALT] = {"alt", 3},
    };
    for (int a = 0; a < SB_HTML_ATTRS; a++) {
        if (!same_name(s.p + name.at, name.n, names[a].text, names[a].size)) continue;
        if (attrs->has[a]) return; /* of two with one name the first counts */
        attrs->has[a] = true;
        attrs->value[a] = value;
    }
}

/* Behind the '=': reads the value. *i is then behind it. */
static tag_end read_value(sb_html_range *value, sb_slice s, size_t *i) {
    size_t at = skip_spaces(s, *i);
    if (at >= s.n) return TAG_IS_LOST;
    uint8_t c = s.p[at];
    if (c == '"' || c == '\'') {
        size_t end = find_byte(s, at + 1, c);
        if (end >= s.n) return TAG_IS_LOST;
        *value = range_of(at + 1, end);
        *i = end + 1;
        return *i < s.n ? TAG_COMPLETE : TAG_IS_LOST;
    }
    size_t end = at;
    while (end < s.n && s.p[end] != '>' && !sb_html_space(s.p[end])) end++;
    *value = range_of(at, end);
    *i = end;
    return end < s.n ? TAG_COMPLETE : TAG_IS_TEXT;
}

/* One attribute whose name begins at *i. */
static tag_end read_attribute(sb_html_attrs *attrs, sb_slice s, size_t *i) {
    size_t from = *i, end = from + 1;
    while (end < s.n && s.p[end] != '=' && s.p[end] != '>' && s.p[end] != '/' &&
           !sb_html_space(s.p[end]))
        end++;
    sb_html_range name = range_of(from, end), value = range_of(end, end);
    size_t behind = skip_spaces(s, end);
    if (behind >= s.n) return TAG_IS_TEXT;
    tag_end ended = TAG_COMPLETE;
    if (s.p[behind] == '=') {
        behind++;
        ended = read_value(&value, s, &behind);
    }
    if (ended == TAG_COMPLETE) keep_attribute(attrs, s, name, value);
    *i = behind;
    return ended;
}

/* Behind the tag's name: reads on to the '>', behind which *i is then. */
static tag_end read_attributes(sb_html_attrs *attrs, sb_slice s, size_t *i) {
    for (;;) {
        size_t at = skip_spaces(s, *i);
        if (at >= s.n) return TAG_IS_LOST;
        *i = at;
        if (s.p[at] == '>') {
            *i = at + 1;
            return TAG_COMPLETE;
        }
        if (s.p[at] == '/') {
            *i = at + 1;
            continue;
        }
        tag_end ended = read_attribute(attrs, s, i);
        if (ended != TAG_COMPLETE) return ended;
    }
}

/* ---- tokens ----------------------------------------------------------------------------------*/

static void take_text(sb_html_token *token, size_t from, size_t to) {
    token->kind = SB_HTML_TOKEN_CHARS;
    token->text = range_of(from, to);
}

/* A tag at `from` whose name begins at `name`. */
static size_t read_tag(sb_html_token *token, sb_slice s, size_t from, size_t name) {
    size_t end = name;
    while (end < s.n && !sb_html_space(s.p[end]) && s.p[end] != '/' && s.p[end] != '>') end++;
    token->tag = tag_of(s.p + name, end - name);
    size_t i = end;
    tag_end ended = end < s.n ? read_attributes(&token->attrs, s, &i) : TAG_IS_TEXT;
    if (ended == TAG_IS_LOST) {
        token->kind = SB_HTML_TOKEN_COMMENT;
        return s.n;
    }
    if (ended == TAG_IS_TEXT) i = s.n;
    if (ended == TAG_IS_TEXT || token->tag == SB_HTML_NONE) {
        take_text(token, from, i);
    } else {
        token->kind = s.p[from + 1] == '/' ? SB_HTML_TOKEN_CLOSE : SB_HTML_TOKEN_OPEN;
    }
    return i;
}

/* Behind "<!--". */
static size_t comment_end(sb_slice s, size_t i) {
    if (i < s.n && s.p[i] == '>') return i + 1;
    if (i + 1 < s.n && s.p[i] == '-' && s.p[i + 1] == '>') return i + 2;
    for (;;) {
        i = find_byte(s, i, '-');
        if (i + 2 >= s.n) return s.n;
        if (s.p[i + 1] == '-') {
            if (s.p[i + 2] == '>') return i + 3;
            if (s.p[i + 2] == '!' && i + 3 < s.n && s.p[i + 3] == '>') return i + 4;
        }
        i++;
    }
}

static size_t behind_byte(sb_slice s, size_t i, uint8_t c) {
    size_t at = find_byte(s, i, c);
    return at < s.n ? at + 1 : s.n;
}

/* "</" followed by something that begins no name: shown, unless a name in the table was meant. */
static size_t read_broken_close(sb_html_token *token, sb_slice s, size_t from) {
    size_t end = find_byte(s, from + 2, '>');
    size_t a = skip_spaces(s, from + 2), b = end;
    while (b > a && sb_html_space(s.p[b - 1])) b--;
    size_t behind = end < s.n ? end + 1 : end;
    if (a < b && tag_of(s.p + a, b - a) != SB_HTML_NONE)
        token->kind = SB_HTML_TOKEN_COMMENT;
    else
        take_text(token, from, behind);
    return behind;
}

static size_t read_markup(sb_html_token *token, sb_slice s, size_t from) {
    uint8_t next = from + 1 < s.n ? s.p[from + 1] : 0;
    if (letter(next)) return read_tag(token, s, from, from + 1);
    if (next == '/') {
        if (from + 2 >= s.n) {
            take_text(token, from, s.n);
            return s.n;
        }
        if (letter(s.p[from + 2])) return read_tag(token, s, from, from + 2);
        if (s.p[from + 2] != '>') return read_broken_close(token, s, from);
        token->kind = SB_HTML_TOKEN_COMMENT;
        return from + 3;
    }
    if (next == '!' || next == '?') {
        token->kind = SB_HTML_TOKEN_COMMENT;
        bool comment = next == '!' && s.n - from >= 4 && memcmp(s.p + from + 2, "--", 2) == 0;
        return comment ? comment_end(s, from + 4) : behind_byte(s, from + 1, '>');
    }
    take_text(token, from, next == '>' ? from + 2 : from + 1);
    return next == '>' ? from + 2 : from + 1;
}

void sb_html_next_token(sb_html_token *token, sb_slice source, size_t *at) {
    *token = (sb_html_token){.kind = SB_HTML_TOKEN_END};
    size_t from = *at;
    if (from >= source.n) return;
    uint8_t c = source.p[from];
    if (c == '<') {
        *at = read_markup(token, source, from);
        return;
    }
    size_t end = from + 1;
    if (c == 0) {
        token->kind = SB_HTML_TOKEN_COMMENT; /* a NUL is dropped */
    } else if (sb_html_space(c)) {
        end = skip_spaces(source, end);
        token->kind = SB_HTML_TOKEN_SPACE;
        token->text = range_of(from, end);
    } else {
        while (end < source.n && source.p[end] != '<' && source.p[end] != '&' && source.p[end] != 0)
            end++;
        take_text(token, from, c == '&' ? from + 1 : end);
        if (c == '&') end = from + 1;
    }
    *at = end;
}
