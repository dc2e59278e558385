/* tag_regex_python.c: a Python pattern written anew for PCRE2 (tag_regex.h says what differs).
 *
 * One pass, which does not look at nesting: PCRE2 checks that parentheses match and that there is
 * something to repeat. */
#include "base/slice.h"
#include "base/text/utf8.h"
#include "query/tag_regex.h"
#include "base/banned.h"

typedef struct translation {
    const uint8_t *p, *end;
    const uint8_t *start;
    sb_buf *out;
    sb_err *err;
    bool ascii;
    bool verbose; /* blanks and comments mean nothing */
    bool begun;   /* something stands before that is neither a flag nor a comment */
} translation;

static sb_status refuse(const translation *t, const char *why) {
    return sb_fail(t->err, SB_INVALID, (uint64_t)(t->p - t->start), "%s at position %zu", why,
                   (size_t)(t->p - t->start));
}

static bool at(const translation *t, char c) {
    return t->p < t->end && *t->p == (uint8_t)c;
}

static bool take_character(translation *t, char c) {
    if (!at(t, c)) return false;
    t->p++;
    return true;
}

static bool is_digit(uint8_t c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(uint8_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_octal(const translation *t) {
    return t->p < t->end && *t->p >= '0' && *t->p <= '7';
}

static int hex_value(uint8_t c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* One of these in the text (strchr would find the NUL too). */
static bool is_one_of(uint8_t c, const char *set) {
    for (; *set; set++)
        if (c == (uint8_t)*set) return true;
    return false;
}

static void emit_code(translation *t, uint32_t code) {
    sb_buf_printf(t->out, "\\x{%x}", code);
}

/* ---- escapes --------------------------------------------------------------------------------- */

/* Exactly `digits` hexadecimal digits. */
static sb_status hex_escape(translation *t, int digits) {
    uint32_t code = 0;
    for (int i = 0; i < digits; i++) {
        int value = t->p < t->end ? hex_value(*t->p) : -1;
        if (value < 0) return refuse(t, "incomplete escape");
        code = code * 16 + (uint32_t)value;
        t->p++;
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return refuse(t, "bad character");
    emit_code(t, code);
    return SB_OK;
}

static uint32_t octal_digits(translation *t, uint32_t code, int most) {
    for (int i = 0; i < most && is_octal(t); i++) code = code * 8 + (uint32_t)(*t->p++ - '0');
    return code;
}

/* \0 and up to two octal digits; \123; else the number of a group. */
static sb_status digit_escape(translation *t, uint8_t first, bool in_set) {
    if (in_set || first == '0') {
        if (first > '7') return refuse(t, "bad escape");
        uint32_t code = octal_digits(t, (uint32_t)(first - '0'), 2);
        if (code > 0377) return refuse(t, "octal escape out of range");
        emit_code(t, code);
        return SB_OK;
    }
    uint32_t group = (uint32_t)(first - '0');
    if (t->p < t->end && is_digit(*t->p)) {
        uint8_t second = *t->p++;
        if (first <= '7' && second <= '7' && is_octal(t)) {
            uint32_t code = group * 64 + (uint32_t)(second - '0') * 8 + (uint32_t)(*t->p++ - '0');
            if (code > 0377) return refuse(t, "octal escape out of range");
            emit_code(t, code);
            return SB_OK;
        }
        group = group * 10 + (uint32_t)(second - '0');
    }
    sb_buf_printf(t->out, "\\g{%u}", group);
    return SB_OK;
}

static sb_status letter_escape(translation *t, uint8_t c, bool in_set) {
    static const struct {
        char letter;
        uint8_t code;
    } controls[] = {{'a', 7}, {'f', 12}, {'n', 10}, {'r', 13}, {'t', 9}, {'v', 11}};
    for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++)
        if (c == (uint8_t)controls[i].letter) {
            emit_code(t, controls[i].code);
            return SB_OK;
        }
    if (c == 'x') return hex_escape(t, 2);
    if (c == 'u') return hex_escape(t, 4);
    if (c == 'U') return hex_escape(t, 8);
    if (c == 'b' && in_set) {
        emit_code(t, 8);
        return SB_OK;
    }
    if (c == 'Z' && !in_set) {
        sb_buf_add_str(t->out, "\\z");
        return SB_OK;
    }
    if (!is_one_of(c, in_set ? "dDsSwW" : "AbBdDsSwW")) return refuse(t, "bad escape");
    sb_buf_add_byte(t->out, '\\');
    sb_buf_add_byte(t->out, c);
    return SB_OK;
}

static sb_status escape(translation *t, bool in_set) {
    if (t->p == t->end) return refuse(t, "bad escape (end of pattern)");
    uint8_t c = *t->p++;
    if (is_digit(c)) return digit_escape(t, c, in_set);
    if (is_letter(c)) return letter_escape(t, c, in_set);
    if (c < 0x80) sb_buf_add_byte(t->out, '\\');
    sb_buf_add_byte(t->out, c); /* the rest of a longer character follows by itself */
    return SB_OK;
}

/* ---- sets ------------------------------------------------------------------------------------ */

static sb_status translate_set(translation *t) {
    sb_buf_add_byte(t->out, '[');
    if (take_character(t, '^')) sb_buf_add_byte(t->out, '^');
    for (bool first = true;; first = false) {
        if (t->p == t->end) return refuse(t, "unterminated character set");
        uint8_t c = *t->p++;
        if (c == ']' && !first) break;
        if (c == '\\') {
            sb_status status = escape(t, true);
            if (status != SB_OK) return status;
            continue;
        }
        if (c == '[' || c == ']') sb_buf_add_byte(t->out, '\\'); /* no classes by name */
        sb_buf_add_byte(t->out, c);
    }
    sb_buf_add_byte(t->out, ']');
    return SB_OK;
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* Flags up to ':' or ')'; the first one was not taken yet. */
static sb_status flags(translation *t) {
    sb_buf_add_str(t->out, "(?");
    bool off = false;
    while (t->p < t->end && !at(t, ':') && !at(t, ')')) {
        uint8_t c = *t->p++;
        if (c == '-' && !off) {
            off = true;
            sb_buf_add_byte(t->out, '-');
        } else if (is_one_of(c, "imsx")) {
            sb_buf_add_byte(t->out, c);
            if (c == 'x' && !off) t->verbose = true;
        } else if (c == 'a' && !off) {
            t->ascii = true;
        } else if (c != 'u' || off) {
            return refuse(t, "unknown flag");
        }
    }
    if (t->p == t->end) return refuse(t, "missing ), unterminated group");
    if (at(t, ')') && (off || t->begun))
        return refuse(t, "global flags not at the start of the expression");
    if (at(t, ':')) t->begun = true;
    sb_buf_add_byte(t->out, *t->p++);
    return SB_OK;
}

/* (?(1)yes|no) and (?(name)yes|no). */
static sb_status condition(translation *t) {
    const uint8_t *name = t->p;
    bool number = true;
    while (t->p < t->end && !at(t, ')')) number = is_digit(*t->p++) && number;
    sb_slice text = sb_slice_of(name, (size_t)(t->p - name));
    if (text.n == 0 || !take_character(t, ')')) return refuse(t, "missing group name");
    sb_buf_add_str(t->out, number ? "(?(" : "(?(<");
    sb_buf_add_slice(t->out, text);
    sb_buf_add_str(t->out, number ? ")" : ">)");
    return SB_OK;
}

static sb_status comment(translation *t) {
    while (t->p < t->end && !at(t, ')')) t->p++;
    return take_character(t, ')') ? SB_OK : refuse(t, "missing ), unterminated comment");
}

/* Behind "(?". */
static sb_status extension(translation *t) {
    if (take_character(t, '#')) return comment(t);
    if (t->p == t->end) return refuse(t, "unexpected end of pattern");
    if (!is_one_of(*t->p, "P<(:=!>")) return flags(t);
    t->begun = true;
    if (take_character(t, 'P')) {
        if (!at(t, '<') && !at(t, '=')) return refuse(t, "unknown extension");
        sb_buf_add_str(t->out, "(?P");
        return SB_OK;
    }
    if (take_character(t, '<')) {
        if (!at(t, '=') && !at(t, '!')) return refuse(t, "unknown extension");
        sb_buf_add_str(t->out, "(?<");
        return SB_OK;
    }
    if (take_character(t, '(')) return condition(t);
    sb_buf_add_str(t->out, "(?");
    sb_buf_add_byte(t->out, *t->p++);
    return SB_OK;
}

/* ---- all together ---------------------------------------------------------------------------- */

/* Behind '{': a count, or the brace itself. */
static void repeat(translation *t) {
    const uint8_t *p = t->p, *low = p;
    while (p < t->end && is_digit(*p)) p++;
    sb_slice from = sb_slice_of(low, (size_t)(p - low)), to = from;
    bool comma = p < t->end && *p == ',';
    if (comma) {
        const uint8_t *high = ++p;
        while (p < t->end && is_digit(*p)) p++;
        to = sb_slice_of(high, (size_t)(p - high));
    }
    bool is_count = p < t->end && *p == '}' && (comma || from.n);
    if (!is_count) {
        sb_buf_add_str(t->out, "\\{");
        return;
    }
    sb_buf_add_byte(t->out, '{');
    if (from.n == 0) sb_buf_add_byte(t->out, '0');
    sb_buf_add_slice(t->out, from);
    if (comma) sb_buf_add_byte(t->out, ',');
    if (comma) sb_buf_add_slice(t->out, to);
    sb_buf_add_byte(t->out, '}');
    t->p = p + 1;
}

static sb_status one(translation *t) {
    uint8_t c = *t->p++;
    if (c == '(' && take_character(t, '?')) return extension(t);
    t->begun = true;
    switch (c) {
    case '\\':
        return escape(t, false);
    case '[':
        return translate_set(t);
    case '(':
        if (at(t, '*')) return refuse(t, "nothing to repeat");
        break;
    case '{':
        repeat(t);
        return SB_OK;
    case '#':
        if (!t->verbose) break;
        while (t->p < t->end && !at(t, '\n')) t->p++;
        return SB_OK;
    default:
        break;
    }
    sb_buf_add_byte(t->out, c);
    return SB_OK;
}

sb_status sb_tag_regex_translate(sb_buf *out, sb_slice pattern, bool *ascii, sb_err *err) {
    translation t = {
        .p = pattern.p, .start = pattern.p, .end = pattern.p + pattern.n, .out = out, .err = err};
    *ascii = false;
    if (pattern.n == 0) return sb_fail(err, SB_INVALID, 0, "the pattern is empty");
    if (!sb_utf8_valid(pattern)) return sb_fail(err, SB_INVALID, 0, "the pattern is no UTF-8");
    while (t.p < t.end) {
        sb_status status = one(&t);
        if (status != SB_OK) return status;
    }
    *ascii = t.ascii;
    return sb_buf_check(out, "a pattern", err);
}
